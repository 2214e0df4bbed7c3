"""A headless Chromium for the tests: the one on `PATH`, else the one that playwright brought."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, Error, sync_playwright

_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


def need_chromium() -> None:
    """Skip the module that asks, with one line, where there is none; with `CUDAFIX_REQUIRE_CHROMIUM` its tests fail."""
    if _on_path() or os.environ.get("CUDAFIX_REQUIRE_CHROMIUM"):
        return
    try:
        with chromium():
            pass
    except Error:
        pytest.skip(
            "no Chromium: install `chromium-headless-shell`, or run `playwright install chromium`",
            allow_module_level=True,
        )


@contextmanager
def chromium() -> Iterator[Browser]:
    """Raises playwright's `Error` where there is none."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=_on_path(), args=["--no-sandbox"])
        yield browser
        browser.close()


def _on_path() -> str | None:
    return next(filter(None, map(shutil.which, _NAMES)), None)
