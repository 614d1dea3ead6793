"""What an executed notebook carries besides its pages: claims and the data of figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["CERTIFICATE", "CLAIMS", "FIGURE", "certificates_in", "claims_in", "figures_in", "part"]

CERTIFICATE = "application/vnd.signalbook.certificate+json"
CLAIMS = "application/vnd.signalbook.claims+json"
FIGURE = "application/vnd.signalbook.figure+json"


def claims_in(cells: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the claims that the cells reported, in order, each with its certificate, if any."""
    cells = list(cells)
    certificates = {part(certificate): certificate for certificate in certificates_in(cells)}
    return [
        {**claim, "certificate": certificates[part(claim)]}
        if part(claim) in certificates
        else claim
        for claims in _parts(cells, CLAIMS)
        for claim in claims
    ]


def certificates_in(cells: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the certificates that the cells reported, in order."""
    return _parts(cells, CERTIFICATE)


def part(said: Mapping[str, Any]) -> tuple[str, str, str]:
    """What a claim or a certificate is about: the ID, the piece of it, the display of a proof."""
    return said["id"], said.get("about", ""), said.get("in_proof", "")


def figures_in(cells: Iterable[dict[str, Any]]) -> list[dict[str, str]]:
    """Return the name, the CSV text and the narrow drawing of all that the cells show, in order."""
    return _parts(cells, FIGURE)


def _parts(cells: Iterable[dict[str, Any]], mime: str) -> list[Any]:
    data = [output.get("data", {}) for cell in cells for output in cell.get("outputs", [])]
    return [bundle[mime] for bundle in data if mime in bundle]
