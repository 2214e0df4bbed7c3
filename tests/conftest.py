"""Tests share nothing with the user's cache, and nothing with each other.

`pytest -m 'not exhaustive'` leaves out the tables and random programs of `soundness`, the browser, and long runs.
"""

from __future__ import annotations

import gc
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

gc.set_threshold(100_000, 20, 20)  # looking for garbage in what an analysis keeps takes a quarter of the time
settings.register_profile("ci", derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
settings.register_profile("long", settings.get_profile("ci"), derandomize=False, max_examples=20_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


_EXHAUSTIVE = frozenset(("browser", "soundness"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent.name in _EXHAUSTIVE:
            item.add_marker("exhaustive")


@pytest.fixture(autouse=True)
def _cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("CUDAFIX_CACHE_DIR", str(folder))
    return folder


@pytest.fixture(autouse=True)
def _state(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path_factory.mktemp("state")
    monkeypatch.setenv("CUDAFIX_STATE_DIR", str(folder))
    return folder
