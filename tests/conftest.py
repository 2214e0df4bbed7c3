"""Tests share nothing with the user's cache, and nothing with each other.

`pytest` without paths leaves out what is marked `exhaustive`, to end within some minutes on two cores; `pytest tests`,
or any other path, runs all of it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("ci", derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
settings.register_profile("long", settings.get_profile("ci"), derandomize=False, max_examples=20_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


_EXHAUSTIVE = frozenset(("browser", "soundness"))
_SHORT = pytest.StashKey[bool]()


def pytest_configure(config: pytest.Config) -> None:
    given = getattr(config, "workerinput", None)  # of pytest-xdist, whose workers are given the paths of `testpaths`
    short = config.args_source is pytest.Config.ArgsSource.TESTPATHS and not config.option.markexpr
    config.stash[_SHORT] = short if given is None else given["short"]


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    node.workerinput["short"] = node.config.stash[_SHORT]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent.name in _EXHAUSTIVE:
            item.add_marker("exhaustive")
    if config.stash[_SHORT]:
        left_out = [item for item in items if item.get_closest_marker("exhaustive")]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not item.get_closest_marker("exhaustive")]


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
