"""Statements whose set is brought down to a box or to algebra, and those for which it cannot be.

Each row names the step in words after which a few numbers are left, or why none can be. What
decides is run here again; nothing is quoted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import pandas as pd

from signalbook.words import show
from signallab.conditioning import all_depths, identities, towards_the_fixed_point
from signallab.decomposed import certificates as decomposed
from signallab.gradients import certificates as gradients
from signallab.gradients import identities as of_gradients
from signallab.isometry import identities as of_isometry
from signallab.kernels import orders
from signallab.meanfield import identities as of_meanfield
from signallab.orthogonality import exact_layer
from signallab.rank import certificates as rank
from signallab.rank import identities as of_rank
from signalprop.certify import Identity, Proof

__all__ = [
    "OF_CORRELATIONS",
    "OF_GRADIENTS",
    "OF_KERNELS",
    "OF_MEANFIELD",
    "OF_ORTHOGONALITY",
    "OF_RANK",
    "OTHERS",
    "Reduction",
    "decided",
]


@dataclass(frozen=True)
class Reduction:
    """A statement by its ID, the step that leaves few numbers, and what then decides.

    ``by`` is None where neither a box nor algebra is left; ``step`` then says why.
    """

    id: str
    step: str
    by: Callable[[], Proof | Identity | list[Proof] | list[Identity]] | None = None


#: What ORTH says of one layer, in its order.
OF_ORTHOGONALITY = (
    Reduction(
        "ORTH-T1",
        "two samples: one layer shrinks by 1 − ⅔α for every α, so that width and depth drop out",
        exact_layer.theorem_1_for_two_samples,
    ),
    Reduction(
        "ORTH-L4",
        "excesses over the smallest entry are not negative; for all n",
        exact_layer.lemma_4,
    ),
    Reduction(
        "ORTH-L6",
        "a mean of independent matrices of norm one; for all n and widths, no box needed",
        exact_layer.lemma_6,
    ),
    Reduction(
        "ORTH-L7",
        "Weyl's inequality and Lemma 6; for all n and widths",
        lambda: [*exact_layer.lemma_6(), exact_layer.lemma_7()],
    ),
    Reduction(
        "ORTH-L8",
        "the worst spectrum has equal larger entries; 1/n and one ratio are left",
        exact_layer.lemma_8,
    ),
    Reduction(
        "ORTH-L9",
        "it speaks of all pairs of random variables, which no finite number of parameters "
        "describes; it fails, where the mean does not exist and no ball can hold it",
    ),
    Reduction(
        "ORTH-L10",
        "the logarithm of the integrand; for all n, θ and δ",
        exact_layer.convexity,
    ),
)

#: What COND says of correlations and norms, layer by layer.
OF_CORRELATIONS = (
    Reduction(
        "COND-L22",
        "a layer is below a parabola that rises; induction, for all activations and depths",
        all_depths.decay,
    ),
    Reduction(
        "COND-T5",
        "an average of terms, each an iterate of that parabola at most; the attained bound too, "
        "since terms rise and the least slope weighs late ones most",
        all_depths.best_tangent_kernel,
    ),
    Reduction(
        "COND-T11",
        "the rate: three ranges of correlations, order by order, and induction",
        towards_the_fixed_point.geometric_rate,
    ),
    Reduction(
        "COND-T11",
        "the rate in the end: the factor of a layer, and how far it is from the slope",
        towards_the_fixed_point.rate_in_the_end,
    ),
    Reduction("COND-T11", "the power of the depth: a limit, which no layer reaches"),
    Reduction(
        "COND-L36",
        "the inverse of the distance grows in each layer, order by order",
        towards_the_fixed_point.critical_depth,
    ),
    Reduction(
        "COND-T37",
        "a mean of functions of the squared norm, each of which rises and is concave",
        identities.norms_come_to_one,
    ),
    Reduction(
        "COND-T42",
        "its waiting time rounded up: a first coefficient that rises with the norm, less than its "
        "root does, one odd layer, and induction",
        all_depths.other_lengths,
    ),
    Reduction(
        "COND-Tab-mu",
        "closed forms of duals: their derivatives, for all correlations",
        identities.duals_of_the_table,
    ),
)

#: What KER says of all kernel maps, order by order.
OF_KERNELS = (
    Reduction(
        "KER-T5.8",
        "no mean: a sum over orders whose terms have one sign, and one layer is enough",
        orders.odds_shrink,
    ),
    Reduction(
        "KER-T5.11.2",
        "a mean and a slope below 1: the difference quotient of each order is at most its slope",
        orders.geometric_fall,
    ),
    Reduction(
        "KER-T5.11.3",
        "slope 1: the inverse of the distance grows in each layer, order by order",
        orders.growth_of_the_inverse_distance,
    ),
    Reduction(
        "KER-T5.11.4",
        "mended: the series about the fixed point above it, slopes and mirror images below",
        orders.repaired_case_4,
    ),
    Reduction(
        "KER-D5.4",
        "the generating function, for all orders",
        orders.recurrence_of_hermite,
    ),
    Reduction(
        "KER-R5.13",
        "the map of the cube in closed form, and odd orders at −1",
        orders.fixed_by_depth,
    ),
)

#: Of the other documents: what was asked for a box, or had an integral in one variable.
OTHERS = (
    Reduction(
        "DEC-D1",
        "γ(X) is the least of finitely many arcs: a definition, with no inequality to prove",
    ),
    Reduction(
        "DEC-T3.1",
        "two points in the plane: one angle, for which the mean is a rational function of the arcs",
        decomposed.rows_for_two_points,
    ),
    Reduction(
        "DEC-T13",
        "the means of ReLU are the same closed forms for every n and width; it fails there",
    ),
    Reduction(
        "RANK-L15",
        "at most one, for every matrix: pairs of eigenvalues, one at a time",
        rank.pairs_of_eigenvalues,
    ),
    Reduction(
        "RANK-E17",
        "a limit in the width, of spectra of any number of entries; it fails",
    ),
    Reduction(
        "GRAD-TC.4",
        "the rotations of the plane, with the exact growth: one eigenvalue is left",
        gradients.growth_in_the_plane,
    ),
    Reduction(
        "GRAD-T6.1",
        "an absolute constant that is not named: with C = 32, which a case of the proof has, the "
        "two rates of Lemma C.9 and one exponential",
        of_gradients.all_layers,
    ),
    Reduction(
        "GRAD-LC.17",
        "all gaps: a sum over eigenvalues whose terms have one sign",
        gradients.least_eigenvalue,
    ),
    Reduction(
        "GRAD-LC.17",
        "small gaps: the least eigenvalue is left, and an interval for it",
        gradients.least_eigenvalue_at_small_gaps,
    ),
)

#: Displays of RANK.
OF_RANK = (
    Reduction("RANK-L1", "pairs of eigenvalues, one at a time", of_rank.ratio_and_rank),
    Reduction(
        "RANK-L2",
        "what the eigenvalues below the threshold leave, and Lemma 1 for the others",
        of_rank.ratio_and_soft_rank,
    ),
    Reduction(
        "RANK-L6",
        "(37) to (45): each unit takes the sign of another twice; for all d, N and odd F",
        of_rank.signs_of_units,
    ),
    Reduction(
        "RANK-L11",
        "(28) to (36): an exchange of two units, beside a third; for all d, N and F",
        of_rank.order_of_units,
    ),
    Reduction(
        "RANK-L12",
        "(68) to (79): sums over indices, one index at a time; for all d and all M",
        of_rank.drift_of_the_norm,
    ),
    Reduction(
        "RANK-P13",
        "(49), mended, and (50): traces by their names; for all d",
        of_rank.rows_of_one_norm,
    ),
    Reduction(
        "RANK-E14",
        "(83) and (84), mended: slopes at rank one; for all d and small γ",
        of_rank.near_rank_one,
    ),
    Reduction(
        "RANK-L20",
        "(95), mended: one sample; (98) to (101): pairs of samples; for all d, N and B",
        of_rank.bound_of_the_change,
    ),
    Reduction(
        "RANK-L7",
        "Lemma 21: the bound of Lemma 20 at the largest step, in which d and B cancel",
        of_rank.signs_stay,
    ),
    Reduction(
        "RANK-T3",
        "a mean under a law that is known by its networks alone: there is nothing to enclose",
    ),
)

#: Displays of MF.
OF_MEANFIELD = (
    Reduction(
        "MF-D3.1",
        "the normalized neuron: two sums over the batch; for all n",
        of_meanfield.normalized_neurons,
    ),
    Reduction(
        "MF-D3.3",
        "the recursion at symmetric matrices: products of two numbers each; for all n",
        of_meanfield.symmetric_matrices,
    ),
    Reduction(
        "MF-C3.1",
        "linear networks, mended: the fixed point and that it is singular; for all n",
        of_meanfield.fixed_point_of_linear_networks,
    ),
    Reduction(
        "MF-C3.2",
        "the growth of six activations: slopes of one sign on the whole line",
        of_meanfield.growth,
    ),
    Reduction(
        "MF-F3.1",
        "no normalization: moments of a layer, over pairs of rows and of eigenvalues; for all d",
        of_meanfield.wishart_step,
    ),
    Reduction(
        "MF-P3.7",
        "(3.8): what a rate leaves of a distance; for every chain",
        of_meanfield.rate_and_triangle,
    ),
    Reduction(
        "MF-LB.1",
        "(B.11) to (B.14), the last mended, and (B.25): the exponent in a new variable",
        of_meanfield.change_of_variables,
    ),
    Reduction(
        "MF-LB.3",
        "(B.45), mended: the radius at which both terms are alike",
        of_meanfield.choice_of_the_radius,
    ),
    Reduction(
        "MF-D3.4",
        "what an event gains from one state; for all laws and all kernels",
        of_meanfield.laws_do_not_move_apart,
    ),
    Reduction(
        "MF-T3.2",
        "a constant that is not named, for networks of every width: no number to enclose",
    ),
)

#: Displays of ISO and GRAD.
OF_GRADIENTS = (
    Reduction(
        "ISO-L4.2",
        "part 2): the two means, one value at a time; for all n",
        of_isometry.two_means,
    ),
    Reduction(
        "ISO-F4.1",
        "two vectors: two lengths and a sine",
        of_isometry.two_vectors,
    ),
    Reduction(
        "ISO-P4.4",
        "(4.4), (4.5), (4.6) and (4.7), the last two mended: three sums; for all n and d",
        of_isometry.printed_gain,
    ),
    Reduction(
        "GRAD-EC.25",
        "(C.25), mended, to (C.31): three pairings, with d as a symbol",
        of_gradients.weingarten,
    ),
    Reduction(
        "GRAD-TC.4",
        "(C.16) to (C.39): tangents, three equations for the moments, and the sum S; for all d",
        of_gradients.expected_growth,
    ),
    Reduction(
        "GRAD-CC.6",
        "(C.41) to (C.46), mended: the same, and Jensen's inequality; for all d",
        of_gradients.corollary,
    ),
    Reduction(
        "GRAD-LC.9",
        "(C.48) to (C.50), from a sharper start: each eigenvalue alone, then d − 2; for all d",
        of_gradients.both_regimes,
    ),
    Reduction(
        "GRAD-CC.19",
        "(C.131), mended: two entries and the sum of all other squares; for all d",
        of_gradients.spectrum_of_the_jacobian,
    ),
    Reduction(
        "GRAD-LC.11",
        "(C.143) to (C.146): two logits and the sum of all others",
        of_gradients.cross_entropy,
    ),
    Reduction(
        "GRAD-TC.10",
        "(C.78) is the chain rule, and (C.79) the norm of a product; no symbols are left in them",
    ),
)


def decided(rows: Iterable[Reduction]) -> pd.DataFrame:
    """Return a row a statement: the step in words, and what decides, run now.

    Columns are ``statement``, ``step``, ``decided by`` and, if there are boxes, ``least margin``.

    >>> decided([Reduction("ORTH-L4", "for all n", exact_layer.lemma_4)])["decided by"].item()
    'one identity'
    """
    found = pd.DataFrame([_row(row) for row in rows])
    return found.loc[:, (found != "").any()]


def _row(row: Reduction) -> dict[str, str]:
    told = {"statement": row.id, "step": row.step, "decided by": "neither", "least margin": ""}
    if row.by is None:
        return told
    found = row.by()
    several = found if isinstance(found, list) else [found]
    proofs = [proof for proof in several if isinstance(proof, Proof)]
    if not proofs:
        return told | {"decided by": _counted(len(several), "identity", "identities")}
    boxes = _counted(sum(proof.boxes for proof in proofs), "box", "boxes")
    within = 1 if sum(proof.seconds for proof in proofs) < 1 else 10  # the same in every build
    return told | {
        "decided by": f"{boxes}, less than {within} s",
        "least margin": show(min(proof.margin for proof in proofs), 2),
    }


def _counted(number: int, one: str, many: str) -> str:
    return f"one {one}" if number == 1 else f"{number} {many}"
