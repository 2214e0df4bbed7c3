"""A headless Chromium for the tests: the one on `PATH`, else the one that playwright brought."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, Error, sync_playwright

_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


@contextmanager
def chromium() -> Iterator[Browser]:
    """Skips the test where there is none, unless `CUDAFIX_REQUIRE_CHROMIUM` is set."""
    with sync_playwright() as playwright:
        found = next(filter(None, map(shutil.which, _NAMES)), None)
        try:
            browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        except Error:
            if os.environ.get("CUDAFIX_REQUIRE_CHROMIUM"):
                raise
            pytest.skip("no Chromium: install `chromium-headless-shell`, or run `playwright install chromium`")
        yield browser
        browser.close()
