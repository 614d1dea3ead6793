import math

import numpy as np
import pytest
import torch
from scipy import stats

import signalprop as sp
from signalprop.weights import LAWS, Law, as_law

LAWS_WITH_MOMENTS = {name: make() for name, make in LAWS.items()} | {
    "student_t(10)": sp.student_t(10),
    "uniform(mean=0.5)": sp.uniform(mean=0.5),
    "gaussian(2.0, mean=1)": sp.gaussian(2.0, mean=1.0),
}


@pytest.mark.parametrize("law", LAWS_WITH_MOMENTS.values(), ids=LAWS_WITH_MOMENTS)
@pytest.mark.parametrize("shape", [(8, 8), (5, 12), (12, 5)])
def test_mean_and_variance(law, shape):
    w = law.sample(*shape, sp.Stream(1).runs(2000)).numpy()
    variance = law.variance(shape[1], shape[0])
    mean = law.mean * math.sqrt(variance)
    z = (w - mean) / math.sqrt(variance)
    assert abs(z.mean()) < 6 / math.sqrt(z.size)
    squares = (z**2).mean(axis=(1, 2))  # by matrix: entries of one may depend on each other
    assert abs(squares.mean() - 1) < 6 * squares.std() / math.sqrt(len(w)) + 1e-12


def test_variances_by_shape():
    assert sp.gaussian().variance(10, 20) == 1 / 10
    assert sp.he().variance(10, 20) == 2 / 10
    assert sp.xavier().variance(10, 20) == 2 / 30
    assert sp.uniform("4/(d+d')").variance(10, 20) == 4 / 30
    assert sp.gaussian("1.7/d").variance(10, 20) == 1.7 / 10
    for bad in ("1.7/dd", "d/1.7", "-1/d", "x/d", "inf/d"):
        with pytest.raises(ValueError, match=r"variance must be .* such as '1\.7/d'"):
            sp.gaussian(bad)
    assert sp.pytorch_default().variance(10, 20) == pytest.approx(1 / 30)
    assert sp.uniform().variance(10, 20) == 1
    assert sp.orthogonal().variance(10, 20) == 1 / 20


@pytest.mark.parametrize(
    ("law", "distribution"),
    [
        (sp.gaussian(4.0), stats.norm(scale=2)),
        (sp.uniform(), stats.uniform(-math.sqrt(3), 2 * math.sqrt(3))),
        (sp.one_sided_uniform(), stats.uniform(0, 2 / math.sqrt(50))),
        (sp.student_t(3, 1.0), stats.t(3, scale=1 / math.sqrt(3))),
    ],
)
def test_entries_follow_their_law(law, distribution):
    w = law.sample(40, 50, sp.Stream(0).runs(5)).numpy().ravel()
    assert stats.kstest(w, distribution.cdf).pvalue > 1e-6


def test_supports_are_exact():
    generators = sp.Stream(0).runs(50)
    assert sp.uniform().sample(9, 9, generators).abs().max() <= math.sqrt(3)
    one_sided = sp.one_sided_uniform().sample(9, 9, generators)
    assert one_sided.min() >= 0
    assert one_sided.max() <= 2 / 3
    assert set(sp.rademacher(1.0).sample(9, 9, generators).unique().tolist()) == {-1.0, 1.0}
    sparse = sp.sparse().sample(9, 9, generators)
    values, counts = sparse.round(decimals=12).unique(return_counts=True)
    assert values.tolist() == [-1.0, 0.0, 1.0]
    assert stats.chisquare(counts, sparse.numel() * np.array([1, 16, 1]) / 18).pvalue > 1e-6


def test_pytorch_default_is_what_torch_starts_from():
    torch.manual_seed(0)
    torchs = torch.nn.Linear(50, 400).weight.detach().numpy().ravel()
    ours = sp.pytorch_default().sample(400, 50, sp.Stream(0).runs(1)).numpy().ravel()
    assert stats.ks_2samp(torchs, ours).pvalue > 1e-6


@pytest.mark.parametrize("shape", [(6, 6), (4, 9), (9, 4), (1, 1)])
def test_orthogonal_matrices_are_orthogonal_and_haar(shape):
    w = sp.orthogonal().sample(*shape, sp.Stream(0).runs(4000)).numpy()
    small = w if shape[0] <= shape[1] else w.swapaxes(1, 2)
    identity = np.broadcast_to(np.eye(min(shape)), (4000, min(shape), min(shape)))
    np.testing.assert_allclose(small @ small.swapaxes(1, 2), identity, atol=1e-12)
    # Haar matrices have no preferred sign or place: each entry squared is Beta(1/2, (d-1)/2).
    assert abs(w.mean(axis=0)).max() < 6 / math.sqrt(4000 * max(shape))
    if max(shape) > 1:
        beta = stats.beta(0.5, (max(shape) - 1) / 2)
        for i, j in ((0, 0), (-1, -1), (0, -1)):
            assert stats.kstest(w[:, i, j] ** 2, beta.cdf).pvalue > 1e-6


@pytest.mark.parametrize("law", LAWS_WITH_MOMENTS.values(), ids=LAWS_WITH_MOMENTS)
def test_a_stack_holds_the_same_numbers_as_one_matrix_after_another(law):
    stack, one = np.empty((3, 4, 5)), np.empty((4, 5))
    law.fill(stack, sp.Stream(0).numpy())
    generator = sp.Stream(0).numpy()
    for matrix in stack:
        law.fill(one, generator)
        np.testing.assert_array_equal(matrix, one)


def test_runs_are_their_own():
    w = sp.uniform().sample(3, 3, sp.Stream(0).runs(4))
    again = sp.uniform().sample(3, 3, [sp.Stream(0).numpy(2)], dtype=torch.float32)
    torch.testing.assert_close(again[0], w[2].float(), rtol=0, atol=0)


def test_kernels_count_their_pixels():
    stream = sp.Stream(0)
    kernel = sp.he().fill_(torch.empty(64, 16, 3, 3), stream)
    assert float(kernel.var()) == pytest.approx(2 / (16 * 9), rel=0.05)
    torch.manual_seed(0)
    reference = torch.nn.init.xavier_normal_(torch.empty(64, 16, 3, 3))
    xavier = sp.xavier().fill_(torch.empty(64, 16, 3, 3), stream)
    assert float(xavier.var()) == pytest.approx(float(reference.var()), rel=0.1)
    flat = sp.orthogonal().fill_(torch.empty(8, 3, 5, 5, dtype=torch.float64), stream).flatten(1)
    torch.testing.assert_close(flat @ flat.T, torch.eye(8, dtype=torch.float64))
    layer = torch.nn.Linear(5, 4)
    assert sp.gaussian().fill_(layer.weight, stream) is layer.weight


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: as_law("gauss"), "gaussian, he, one_sided_uniform"),
        (lambda: sp.gaussian("1/n"), "1/d, 2/d"),
        (lambda: sp.gaussian(0.0), "variance must be positive"),
        (lambda: sp.uniform(mean=math.nan), "mean must be finite"),
        (lambda: sp.student_t(2), "df must exceed 2"),
        (lambda: sp.gaussian().sample(0, 3, []), "sizes"),
        (lambda: sp.gaussian().fill_(torch.empty(3), sp.Stream(0)), r"\(out, in, \.\.\.\)"),
        (lambda: Law("cauchy", 1.0), "entries must be one of"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_law_of_ones_own_draws_matrix_by_matrix():
    law = as_law(lambda n, m, generator: generator.random((n, m)))
    assert law == as_law(law)
    assert not law.is_gaussian
    streams = sp.Stream(0).runs(2)
    expected = [sp.Stream(0).numpy(run).random((3, 4)) for run in range(2)]
    np.testing.assert_array_equal(law.sample(3, 4, streams), expected)
    two = np.empty((2, 3, 4))
    law.fill(two, sp.Stream(0).numpy(0))
    np.testing.assert_array_equal(two, sp.Stream(0).numpy(0).random((2, 3, 4)))
    with pytest.raises(ValueError, match=r"finite, \(3, 4\), got shape \(4,\)"):
        sp.weights.own(lambda n, m, generator: np.ones(m)).sample(3, 4, streams)
    with pytest.raises(ValueError, match="weights must be finite"):
        sp.weights.own(lambda n, m, generator: np.full((n, m), np.nan)).sample(3, 4, streams)
    with pytest.raises(ValueError, match="draw must be a function"):
        sp.weights.own("gaussian")
    with pytest.raises(ValueError, match="bias='zero'"):
        law.variance(3, 4)


def test_laws_without_numbers_are_refused():
    with pytest.raises(ValueError, match="df must be finite"):
        sp.student_t(df=math.inf)
    with pytest.raises(ValueError, match="must give a finite mean"):
        sp.gaussian(1e300, mean=1e200)


@pytest.mark.parametrize("shape", [(2,), (0, 3), (3, 0), (2, 3, 0, 5)])
def test_tensors_that_hold_no_weights_are_refused(shape):
    with pytest.raises(ValueError, match=r"tensor must be \(out, in, ...\), each at least 1, got"):
        sp.weights.xavier().fill_(torch.empty(shape), sp.Stream(0))
