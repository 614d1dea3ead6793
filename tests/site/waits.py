"""Waiting for a page whose content-security policy forbids `eval`."""

from __future__ import annotations

import time
from typing import Any

from playwright.sync_api import Page

SECONDS = 30


def wait_until(page: Page, condition: str, arg: Any = None) -> None:
    """Wait until an expression, or a function of ``arg``, is true on the page.

    Playwright's own ``wait_for_function`` looks again from within the page, where the policy
    refuses it: it works only for what is true at once.
    """
    end = time.monotonic() + SECONDS
    while not page.evaluate(condition, arg):
        assert time.monotonic() < end, f"not within {SECONDS} s: {condition}"
        page.wait_for_timeout(20)
