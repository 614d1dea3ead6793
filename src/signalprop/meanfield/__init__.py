"""Mean-field maps of networks with batch normalization (MF): fixed points, rates, simulation."""

from .fixed_point import FixedPoint, fixed_point
from .sampling import gram_map, gram_path
from .sphere import PairRule, pair_rule

__all__ = ["FixedPoint", "PairRule", "fixed_point", "gram_map", "gram_path", "pair_rule"]
