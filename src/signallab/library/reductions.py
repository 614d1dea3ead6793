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
from signallab.kernels import orders
from signallab.orthogonality import exact_layer
from signallab.rank import certificates as rank
from signalprop.certify import Identity, Proof

__all__ = ["OF_CORRELATIONS", "OF_ORTHOGONALITY", "OTHERS", "Reduction", "decided"]


@dataclass(frozen=True)
class Reduction:
    """A statement by its ID, the step that leaves few numbers, and what then decides.

    ``by`` is None where no box is left; ``step`` then says why.
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

#: What COND and KER say of correlations and norms, layer by layer.
OF_CORRELATIONS = (
    Reduction(
        "COND-L22",
        "a layer is below a parabola that rises; induction, for all activations and depths",
        all_depths.decay,
    ),
    Reduction(
        "COND-T5",
        "an average of terms, each of which is an iterate of that parabola at most",
        all_depths.tangent_kernel,
    ),
    Reduction(
        "COND-T11",
        "the rate: three ranges of correlations, order by order, and induction",
        towards_the_fixed_point.geometric_rate,
    ),
    Reduction(
        "COND-T11",
        "the rate in the end, and the power of the depth: limits, which no layer reaches",
    ),
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
        "its coefficient at norms near 1 rests on the whole activation, which no finite number of "
        "parameters describes",
    ),
    Reduction(
        "COND-Tab-mu",
        "closed forms of duals: their derivatives, for all correlations",
        identities.duals_of_the_table,
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
        "the rotations of the plane: one eigenvalue is left (for more dimensions it has as many "
        "free eigenvalues, and rests on Jensen's inequality)",
        gradients.growth_in_the_plane,
    ),
    Reduction(
        "GRAD-T6.1",
        "an absolute constant that is not named: no number to enclose",
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
    Reduction(
        "ISO-P4.4",
        "it is the inequality of the two means, for any number of lengths: no box, and none needed",
    ),
)


def decided(rows: Iterable[Reduction]) -> pd.DataFrame:
    """Return a row a statement: the step in words, and what decides, run now.

    Columns are ``statement``, ``step``, ``decided by`` and ``least margin``.

    >>> decided([Reduction("ORTH-L4", "for all n", exact_layer.lemma_4)])["decided by"].item()
    'one identity'
    """
    return pd.DataFrame([_row(row) for row in rows])


def _row(row: Reduction) -> dict[str, str]:
    told = {"statement": row.id, "step": row.step, "decided by": "no box", "least margin": ""}
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
