"""No metric turns into NaN, 0 or infinity because of the units that its input comes in."""

import numpy as np
import pytest
import torch

from signalprop import metrics as M

X = np.random.default_rng(0).standard_normal((4, 6))
PSD = X @ X.T

INVARIANT = {
    "isometry": M.isometry,
    "isometry_gap": M.isometry_gap,
    "condition_number": M.condition_number,
    "lyapunov_gap": M.lyapunov_gap,
    "orthogonality_gap": M.orthogonality_gap,
    "rank_ratio": M.rank_ratio,
    "rank": M.rank,
    "angles": M.angles,
    "cosine_similarity": M.cosine_similarity,
    "mean_absolute_cosine": M.mean_absolute_cosine,
    "gradient_alignment": M.gradient_alignment,
    "sign_class_volumes": lambda x: M.sign_class_volumes(x[..., :2]),
}
OF_GRAM = {"condition_number": M.gram_condition_number, "gap": M.gram_isometry_gap}
SCALES = [(1e-300, np.float64), (1e-200, np.float64), (1e200, np.float64), (1e300, np.float64)]
SCALES += [(1e-30, np.float32), (1e30, np.float32)]


@pytest.mark.parametrize(("scale", "kind"), SCALES)
@pytest.mark.parametrize("metric", INVARIANT.values(), ids=INVARIANT)
def test_invariant_metrics_do_not_see_the_scale(metric, scale, kind):
    expected, rtol = metric(X), 1e-10 if kind is np.float64 else 1e-4
    np.testing.assert_allclose(metric((scale * X).astype(kind)), expected, rtol=rtol, atol=rtol)


@pytest.mark.parametrize(("scale", "kind"), SCALES)
@pytest.mark.parametrize("metric", OF_GRAM.values(), ids=OF_GRAM)
def test_metrics_of_a_gram_matrix_do_not_see_the_scale(metric, scale, kind):
    rtol = 1e-10 if kind is np.float64 else 1e-3
    value = metric((scale * PSD).astype(kind))
    np.testing.assert_allclose(value, metric(PSD), rtol=rtol)
    with pytest.raises(ValueError, match="symmetric"):
        metric((scale * X[:, :4]).astype(kind))


@pytest.mark.parametrize("matrix", [1e154, 1e155, 1e200, 1e300])
def test_one_huge_batch_does_not_spoil_its_neighbours(matrix):
    x = np.stack([X, matrix * X, X / matrix])
    np.testing.assert_allclose(M.orthogonality_gap(x), M.orthogonality_gap(X), rtol=1e-12)


@pytest.mark.parametrize(
    "metric",
    [M.gram, M.second_moment, M.second_moment_eigenvalues, M.regularity_terms],
    ids=lambda f: f.__name__,
)
@pytest.mark.parametrize(("scale", "kind"), [(1e200, np.float64), (1e30, np.float32)])
def test_values_beyond_the_type_are_refused(metric, scale, kind):
    with pytest.raises(ValueError, match=r"beyond the largest .*: scale x down first"):
        metric((scale * X).astype(kind))


def test_regularity_terms_that_vanish_are_refused():
    with pytest.raises(ValueError, match=r"below the least .*: scale x up first"):
        M.regularity_terms(1e-200 * X)
    assert M.regularity_terms(np.zeros((2, 2))) == (0, 0)


def test_soft_rank_counts_at_any_scale():
    assert M.soft_rank(1e200 * X, tau=0.5) == 4
    assert M.soft_rank(1e-200 * X, tau=0.5) == 0
    assert M.soft_rank(1e200 * X, tau=0.0) == 4
    assert M.soft_rank(np.diag([1e180, 1.0]), tau=0.25) == 2


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize(
    "metric", [*INVARIANT.values(), M.gram, M.second_moment_eigenvalues, M.soft_rank]
)
def test_half_precision_is_computed_in_single(metric, kind):
    x = torch.from_numpy(X).to(kind)
    np.testing.assert_allclose(metric(x), metric(x.double()), rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize(
    "metric", [*INVARIANT.values(), M.gram, M.second_moment_eigenvalues, M.soft_rank]
)
def test_masked_arrays_are_refused(metric):
    with pytest.raises(ValueError, match="must not be a masked array"):
        metric(np.ma.masked_array(X[:, :2], mask=X[:, :2] > 1))
