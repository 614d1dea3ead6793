"""Sides of the certified counterexamples, each beside an evaluation in doubles."""

from fractions import Fraction

import numpy as np
import pytest
from flint import arb

import signalprop as sp
from signallab.conditioning import (
    benign_overfitting,
    inputs_of_other_lengths,
    normrelu,
    normrelu_theorem,
    one_relu_layer,
    statistical_queries,
    tangent_condition_number,
    tangent_kernel,
    training_the_top_layer,
    unequal_lengths,
)
from signallab.conditioning import certificates as certified
from signalprop import theory


def sides(found):
    return float(found.left), float(found.right)


@pytest.mark.parametrize("gamma", [Fraction(1, 2), Fraction(3, 2), Fraction(2)])
def test_moments_of_norm_relu(gamma):
    mean, square = certified.norm_relu(gamma)
    assert float(square) == pytest.approx(theory.cond_norm_relu_length(float(gamma)), rel=1e-12)
    bias = theory.cond_norm_relu_bias(float(gamma))
    assert float(mean**2 / square) == pytest.approx(bias, abs=1e-15)


def test_printed_digits():
    length = theory.cond_norm_relu_length(0.5)
    assert sides(certified.norm_transfer_in_print()) == pytest.approx((length, 0.53995))
    assert sides(certified.rate_below_one_in_print()) == pytest.approx((2 * length - 1, 0.07985))


def test_relu():
    k = sp.KernelMap(sp.activations.relu)
    squares = np.asarray(k.hermite_coefficients(3)) ** 2
    assert sides(certified.series_of_relu()) == pytest.approx((squares[2], 2 * squares[2]))
    assert float(certified.odd_coefficient_of_relu().right) == pytest.approx(squares[3], abs=1e-12)


def test_normalized_activations():
    phi = sp.activations.relu.standardized()
    assert sides(certified.outputs_of_the_normalized()) == pytest.approx((1, float(phi(1.0))))
    found = certified.mean_of_the_normalized()
    both = (float(phi(1.0)) + float(phi(-1.0))) / 2
    relu = sp.activations.relu
    scale, mean = phi.scale, relu.mean
    assert sides(found) == pytest.approx((2 * both, scale * (2 * 0.5 - mean)))


def test_kernels():
    left, right = sides(certified.index_of_the_slope())
    assert (left, right) == pytest.approx((0.49 - 0.7 * 2 * 0.49, 0.49 + 2 * 0.49))
    assert sides(certified.norm_of_one_sample(5)) == (0.2, 0)


@pytest.mark.parametrize("gamma", [0.5, 0.8, 1.0, 1.7, 2.0])
def test_derivatives_of_norm_relu(gamma):
    h = 1e-4
    for ours, form in (
        (certified._norm_transfer, theory.cond_norm_relu_length),
        (certified._mean, theory.cond_norm_relu_mean),
    ):
        low, here, high = (float(form(gamma + k * h)) for k in (-1, 0, 1))
        value, slope, bend = (float(x.mid()) for x in ours(arb(gamma)))
        assert value == pytest.approx(here, abs=1e-12)
        assert slope == pytest.approx((high - low) / (2 * h), rel=1e-6)
        assert bend == pytest.approx((high - 2 * here + low) / h**2, rel=1e-4)
    low, here, high = (theory.cond_norm_relu_bias(gamma + k * h) for k in (-1, 0, 1))
    bend = float(certified._bend_of_the_bias(arb(gamma)).mid())
    assert bend == pytest.approx((high - 2 * here + low) / h**2, rel=1e-3)


def test_shapes_of_norm_relu_are_proved():
    for proofs in (certified.bends_of_norm_relu(), certified.rises_of_norm_relu()):
        assert all(proof.margin > 0 for proof in proofs)
    grid = np.linspace(0.5, 2, 200)
    least = min(float(certified._bend_of_the_bias(arb(g)).mid()) for g in grid)
    assert certified.bends_of_norm_relu()[1].margin <= least


@pytest.mark.parametrize(
    ("found", "case"),
    [
        (certified.first_step_of_case_two(), tangent_kernel.end_of_case_two(0.01, 0.05, 0)),
        (certified.the_half(), tangent_condition_number.half(0.3, 0.001)),
        (certified.a_rare_label(), benign_overfitting.residuals(0.1)),
        (
            certified.first_coefficient_of_tanh(),
            unequal_lengths.first_coefficient("tanh", 0.0, squared=False),
        ),
        (certified.chance_of_a_miss(), one_relu_layer.misses(2, 0.001)),
        (certified.chance_of_a_miss(5, Fraction(1, 2)), one_relu_layer.misses(5, 0.5)),
        (certified.sum_of_biases(), normrelu_theorem.sum_of_biases("below", 1.0)),
        (
            certified.square_of_a_constant_query(),
            statistical_queries.small_second_moment(100, 1.0, 0.2),
        ),
    ],
)
def test_sides_are_those_of_the_chapters(found, case):
    assert sides(found) == pytest.approx((float(case.left), float(case.right)), rel=1e-6)


def test_signs():
    moments = statistical_queries.moments("even sign", 41, 10, np.array([0.5]))
    assert moments["mean"][-1, 0] >= statistical_queries.even_floor(41)
    found = sides(certified.mean_cosine_of_even_signs())
    right = 101 * np.exp(-20)
    assert found == pytest.approx((statistical_queries.even_floor(401), right))
    assert sides(certified.mean_size_of_cosines()) == pytest.approx((1 / 401, right))
    case = statistical_queries.bars("lopsided sign", 5, 2, -23 / 25)
    assert sides(certified.size_of_the_mean()) == pytest.approx((case.left, case.right), rel=1e-6)
    with pytest.raises(ValueError, match="the sides must refute"):
        certified.size_of_the_mean(start=Fraction(1, 2))  # here the step holds


@pytest.mark.parametrize("percent", [-100, -92, -20, 0, 45, 99, 100])
def test_the_dual_of_the_lopsided_sign(percent):
    found = certified._dual_of_the_lopsided_sign(Fraction(percent, 100))
    exact = statistical_queries.dual("lopsided sign", np.array([percent / 100]))
    assert float(found) == pytest.approx(float(exact[0]), abs=1e-12)


def test_one_relu_layer():
    angle = float(np.degrees(np.arccos(0.6)))
    case = one_relu_layer.kink(angle)
    assert sides(certified.no_sign_suffices()) == pytest.approx((case.left, case.right))


def test_denominators_from_one():
    case = normrelu_theorem.one_input(0.5, 0.001, whole=False)
    left, right = sides(certified.denominators_from_one())
    assert right == pytest.approx(case.right, rel=1e-6)
    assert right < left < case.left


def test_the_sigmoid():
    phi = sp.activations.sigmoid.normalized()
    assert sides(certified.sigmoid_at_zero()) == pytest.approx((float(phi(0.0)), 0))
    case = inputs_of_other_lengths.hypotheses("sigmoid", phi)
    assert (case.left > case.right).any()
    assert sides(certified.rate_of_one()) == (1, 1)
    assert sp.KernelMap(phi).fixed_point().value == 1


def test_every_start_arrives_under_a_shift_of_one():
    right = float(certified.all_starts_arrive().right)
    starts = np.append(np.geomspace(1e-9, 1e12, 53), 0.999)
    after = np.asarray(sp.LengthMap(inputs_of_other_lengths.shifted_relu(1.0))(starts))
    factors = abs((after - 1) / (starts - 1))
    assert factors.max() == pytest.approx(right, rel=1e-5)
    at_zero = certified.all_starts_arrive(Fraction(4))  # the smallest norms have the larger factor
    m = (2 * np.pi) ** -0.5
    assert float(at_zero.right) == pytest.approx((8 * m - 0.5) / (16.5 - 8 * m))
    assert certified.all_starts_arrive(Fraction(4, 5)).right < 1


@pytest.mark.parametrize("shift", [Fraction(1, 10), Fraction(79, 100)])
def test_a_start_may_not_arrive_under_a_little_shift(shift):
    case = inputs_of_other_lengths.stays_away(1e6, float(shift), 3000)
    assert case.left <= case.right
    with pytest.raises(ValueError, match="must refute"):
        certified.all_starts_arrive(shift)


def test_descent_is_slow_for_many_inputs():
    n, steps = 100, 100
    top = np.linspace(0.2, 3, n)  # eigenvalues
    factors = (1 - 2 * top / top.max() / n) ** (2 * steps)
    left, right = sides(certified.a_slow_descent(n, steps))
    assert right < left <= factors.min() * (1 + 1e-12)
    ends = 1.0, 2.0
    factor = (1 - 2 * 2 / sum(ends) * ends[1] / n) ** (2 * steps)
    left, right = sides(certified.a_slow_descent_of_all_layers(n, steps, Fraction(1, 2)))
    assert right < left < factor
    left, right = sides(certified.steps_of_all_layers(200))
    assert 10 * np.log(10) == pytest.approx(right)
    assert (1 - 4 / 200) ** (2 * left) == pytest.approx(0.1)


def test_single_inputs():
    steps = training_the_top_layer.sgd_steps(np.eye(8), 0.5, 0.5)
    left, right = sides(certified.steps_of_single_inputs(8, constant=1))
    assert right < left <= steps
    assert sides(certified.smallest_eigenvalue(50)) == (5, 1)
    assert sides(certified.factors_of_the_chain()) == (2, 1.75)
    assert sides(certified.risk_without_a_signal(5)) == (0.2, 0)


def test_noise_in_few_dimensions():
    assert sides(certified.noise_in_few_dimensions()) == (0, 0)


@pytest.mark.parametrize("gamma", [0.5, 1.0, 1.9])
def test_coefficient_of_norm_relu(gamma):
    found = float(certified._coefficient(arb(gamma)))
    assert found == pytest.approx(normrelu_theorem.coefficient(gamma), abs=1e-9)


def test_digits_and_chords_are_proved():
    digits = (
        *certified.printed_numbers_of_norm_relu(),
        *certified.printed_constants_of_norm_relu(),
    )
    assert all(0 < proof.margin < 0.5 for proof in digits)
    assert certified.chords_of_the_bias().margin > 0
    mu = normrelu_theorem.coefficient(1.0)
    least = min(normrelu_theorem.coefficient(g) for g in np.linspace(0.996, 1.004, 9)) - mu / 2
    assert 0 < certified.coefficient_near_one().margin <= least


@pytest.mark.parametrize(
    ("value", "printed", "found"),
    [
        ("0.53998877", "0.5399", "cut off"),
        ("0.53998877", "0.5400", "rounded"),
        ("0.53998877", "0.5401", "neither"),
        ("-1.62088", "-1.6209", "rounded"),
        ("-1.62088", "-1.6208", "cut off"),
        ("-1.62088", "-1.6207", "neither"),
        ("0.0799775", "0.0798", "neither"),
    ],
)
def test_a_number_is_rounded_or_cut_off(value, printed, found):
    assert certified.reading(arb(value), printed) == found


def test_a_number_in_the_middle_is_not_read():
    with pytest.raises(ArithmeticError, match="known better"):
        certified.reading(arb("0.25", "0.01"), "0.2")


def test_digits_of_norm_relu_are_those_of_the_formulas():
    rows = certified.digits_of_norm_relu().set_index("number")
    found = [float(text.strip("[").split(" ")[0]) for text in rows["enclosed"]]
    names = ["λ", "b", "norm transfer at 0.5", "its slope at 1", "bias at 0.5", "bias at 2"]
    expected = [normrelu.numbers()[name] for name in names]
    assert found == pytest.approx([*expected, *normrelu_theorem.constants().values()], rel=1e-6)
    assert list(rows.index[rows["printed by"] == "cut off"]) == ["norm transfer at ½"]
    assert list(rows.index[rows["printed by"] == "neither"]) == ["bias at ½", "rate below 1"]
