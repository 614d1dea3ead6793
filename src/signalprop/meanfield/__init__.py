"""Mean-field maps of networks with batch normalization (MF): fixed points, rates, simulation."""

from signalprop.meanfield.fixed_point import FixedPoint, fixed_point
from signalprop.meanfield.sampling import gram_map, gram_path
from signalprop.meanfield.sphere import PairRule, pair_rule

__all__ = ["FixedPoint", "PairRule", "fixed_point", "gram_map", "gram_path", "pair_rule"]
