"""How numbers, times, verdicts and formulas appear on pages."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from markupsafe import Markup, escape

__all__ = ["badge", "duration", "plain", "show", "slug", "typeset"]


def slug(text: str) -> str:
    """A verdict or ID as part of an address or a class name.

    >>> slug("holds with slack"), slug("KER-T5.11.1")
    ('holds-with-slack', 'ker-t5-11-1')
    """
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def badge(verdict: str, proved: bool = False) -> Markup:
    """A verdict as a coloured word; ``proved`` says that a machine proved it on its whole set.

    >>> print(badge("holds", proved=True))
    <span class="sb-badge sb-holds">holds (proved)</span>
    """
    said = f"{verdict} (proved)" if proved else verdict
    return Markup('<span class="sb-badge sb-{}">{}</span>').format(slug(verdict), said)


def show(value: Any, digits: int = 4) -> str:
    """A number, text or collection as pages show it; nothing where there is no value.

    Minus signs are true ones, and powers of ten are raised.

    >>> show(0.123456), show([0.1, 0.2]), show(None), show(float("nan")), show(1500.0)
    ('0.1235', '0.1, 0.2', '', '', '1500')
    >>> show(-0.5), show(3.1e13, 2), show(2.5e-7)
    ('−0.5', '3.1·10¹³', '2.5·10⁻⁷')
    """
    value = plain(value)
    if value is None or value == "not a number":
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return str(value).replace("-", "−")
    if isinstance(value, float):
        return _decimal(value, digits)
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {show(item, digits)}" for name, item in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(show(item, digits) for item in value)
    return str(value)


def duration(seconds: float) -> str:
    """A time as people say it.

    >>> duration(12.3), duration(200), duration(7260), duration(86400)
    ('12 s', '3 min 20 s', '2 h 1 min', '24 h')
    """
    total = round(seconds) if seconds < 3600 else 60 * round(seconds / 60)
    hours, rest = divmod(total, 3600)
    units = [(hours, "h"), (rest // 60, "min"), (rest % 60, "s")]
    return " ".join(f"{number} {unit}" for number, unit in units if number) or "0 s"


def typeset(text: str) -> Markup:
    """Text as HTML, with ``$...$`` as a formula: the one place where text becomes markup.

    >>> print(typeset("$a < b$ & c"))
    <span class="math notranslate nohighlight">\\(a &lt; b\\)</span> &amp; c
    """
    formula = r'<span class="math notranslate nohighlight">\\(\1\\)</span>'
    return Markup(re.sub(r"\$([^$]+)\$", formula, str(escape(text))))


def plain(value: Any) -> Any:
    """``value`` in JSON types; infinities become words, since JSON has no number for them.

    >>> plain({"x": np.float64(2.0), "y": (1, np.inf)})
    {'x': 2.0, 'y': [1, 'infinite']}
    """
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "not a number" if math.isnan(value) else ("infinite" if value > 0 else "-infinite")
    if value is None or isinstance(value, str | int | float | bool):
        return value
    return str(value)


RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def _decimal(value: float, digits: int) -> str:
    whole = len(str(int(abs(value)))) if abs(value) < 1e6 else 0  # 12345.0 is no 1.234e+04
    text = f"{value:.{max(digits, whole)}g}"
    mantissa, _, power = text.partition("e")
    if power:
        text = f"{mantissa}·10{str(int(power)).translate(RAISED)}"
    return text.replace("-", "−")
