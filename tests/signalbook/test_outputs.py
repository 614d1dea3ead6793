"""What an executed notebook carries, in the order of its cells."""

from signalbook.outputs import CLAIMS, FIGURE, claims_in, figures_in


def cell(*bundles):
    return {"outputs": [{"data": bundle} for bundle in bundles]}


def test_claims_and_figures_in_order_and_nothing_else():
    one, two, three = ({"id": name} for name in "abc")
    figure, table = {"name": "gap", "csv": "x"}, {"name": "rows", "csv": "y"}
    cells = [
        {"source": "# text"},
        cell({CLAIMS: [one, two], "text/html": "card"}, {FIGURE: figure}),
        {"outputs": [{"name": "stdout", "text": "printed"}]},
        cell({FIGURE: table, "text/plain": "rows"}, {CLAIMS: [three]}),
    ]
    assert claims_in(cells) == [one, two, three]
    assert figures_in(cells) == [figure, table]
    assert claims_in([]) == figures_in([{"source": ""}]) == []
