"""Random chains ``h -> layers(skip + gamma W before(h))``: recipe, run, measurement."""

from signalprop.chains.chain import Chain
from signalprop.chains.measurement import Measurement, TimeAverage
from signalprop.chains.path import Path
from signalprop.chains.volumes import log_volumes

__all__ = ["Chain", "Measurement", "Path", "TimeAverage", "log_volumes"]
