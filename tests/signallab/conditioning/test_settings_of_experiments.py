"""The printed settings: against the passage, conflicts by hand, sums of rates in closed form."""

import pytest

from signallab.conditioning import settings_of_experiments as lab

#: Appendix I.3 sentence by sentence, as it is printed: figure, network, depth, then the rates.
PASSAGE = """
1 fully-connected 32 batch-norm 0.005 layer-norm 0.003 NormReLU 0.0009
1 ResNet 32 batch-norm 0.1 layer-norm 0.05 NormReLU 0.001
3 fully-connected 32 batch-norm 0.01 layer-norm 0.001 NormReLU 0.0009
3 fully-connected 64 batch-norm 0.007 layer-norm 0.001 NormReLU 0.0009
4 ResNet 32 batch-norm 0.1 NormReLU 0.009
4 ResNet 110 batch-norm 0.05 NormReLU 0.005
5 ResNet 110 Fixup 0.1 NormReLU 0.005
7 fully-connected 32 NormReLU 0.001 SELU 0.001
7 fully-connected 64 NormReLU 0.0005 SELU 0.0005
8 ResNet 32 NormReLU 0.01 SELU 0.01
8 ResNet 110 NormReLU 0.009 SELU 0.009
"""


def test_rates_are_those_of_the_appendix():
    expected = {
        (figure, network.replace("-", " "), int(depth), method.replace("-", " ")): float(rate)
        for figure, network, depth, *rates in map(str.split, PASSAGE.strip().splitlines())
        for method, rate in zip(rates[::2], rates[1::2], strict=True)
    }
    columns = ["figure", "network", "depth", "method"]
    assert lab.printed().set_index(columns)["rate"].to_dict() == expected


def test_conflicts_are_the_networks_with_several_rates():
    found = lab.conflicts().set_index(["network", "depth", "method"])
    assert set(found.index) == {
        ("fully connected", 32, "batch norm"),
        ("fully connected", 32, "layer norm"),
        ("fully connected", 32, "NormReLU"),
        ("fully connected", 64, "NormReLU"),
        ("ResNet", 32, "NormReLU"),
        ("ResNet", 110, "NormReLU"),
    }
    row = found.loc[("ResNet", 32, "NormReLU")]
    assert row["largest / smallest"] == pytest.approx(10)
    assert row["rates"] == "0.001 (Figure 1), 0.009 (Figure 4), 0.01 (Figure 8)"


def test_sums_of_rates_are_geometric():
    sums = lab.rate_sums(epochs=300, epoch=390, every=100)
    assert sums.sum() == pytest.approx(100 / 0.9)
    # The first epoch ends within the fourth hundred.
    assert sums[0] == pytest.approx(100 * 1.11 + 90 * 1e-3)
    late = 1 - sums[0] / sums.sum()
    assert lab.late_share(300, 390, 100) == pytest.approx(late)
    case = lab.later(300, 390, 100)
    assert case.left > case.right == pytest.approx(late)
    assert lab.later(300, 390, 39000).right > 0.98
