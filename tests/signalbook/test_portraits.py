"""Phase portraits: bounds that hold, numbers beside the picture, maps as the script reads them."""

import json
import re

import matplotlib.pyplot as plt
import numpy as np
import pytest

from signalbook import portraits
from signalprop import KernelMap
from signalprop import activations as A


@pytest.mark.parametrize(
    "phi", [A.tanh, A.sigmoid, A.relu, A.exp, A.gelu, A.step], ids=lambda phi: phi.name
)
@pytest.mark.parametrize("rho0", [-0.9, 0.0, 0.999])
def test_the_bound_of_each_case_holds(phi, rho0):
    kernel = KernelMap(phi.normalized())
    distance = kernel.approach(rho0, 40)
    assert (distance - 1e-14 <= portraits.bound(kernel, rho0, 40) * (1 + 1e-9)).all()


def test_a_figure_comes_with_its_trajectories():
    phi = A.relu.normalized()
    bound = portraits.bound(KernelMap(phi), -0.5, 5)
    fig, data = portraits.draw([portraits.Portrait("ReLU", phi, -0.5, bound)] * 2)
    plt.close(fig)
    assert len(fig.axes) == 6
    assert len(data) == 12
    assert data["correlation"].to_numpy()[:6] == pytest.approx(KernelMap(phi).iterate(-0.5, 5))


@pytest.mark.parametrize(("phi", "power"), [(A.tanh, 1.0), (A.step, 0.5)], ids=["smooth", "jump"])
@pytest.mark.slow
def test_the_script_gets_the_map_back(phi, power):
    html = portraits.interactive({"it": phi}, [2.0])._repr_html_()
    entry = json.loads(re.search(r">(.*)</script>", html)[1])["it"]["2"]
    steps = len(entry["values"]) - 1
    gaps = 1 - np.cos(np.arange(1, steps + 1) * np.pi / steps)
    expected = KernelMap(phi.gained(2.0).standardized()).complement(gaps)
    assert entry["power"] == power
    assert np.array(entry["values"][1:]) * gaps**power == pytest.approx(expected, rel=1e-8)
