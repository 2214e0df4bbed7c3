"""Where the time of a first `cudafix check` goes, phase by phase, in processor time of one process.

    python benchmarks/phases.py TREE

A phase does not count what other phases do within it.
"""

from __future__ import annotations

import functools
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

START = time.process_time()

from cudafix.pipeline import driver, programs  # noqa: E402
from cudafix.pipeline.cluster import Cluster  # noqa: E402
from cudafix.pipeline.tree import Tree, Variant  # noqa: E402
from cudafix.project import build, discovery  # noqa: E402
from cudafix.project.config import Config  # noqa: E402
from cudafix.report import selection  # noqa: E402 this import is a phase

LOADED = time.process_time()


class Clock:
    """Processor time by phase."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self._running: list[str] = ["other"]
        self._since = time.process_time()

    def _turn(self) -> None:
        now = time.process_time()
        self.seconds[self._running[-1]] += now - self._since
        self._since = now

    def phase(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, as a phase."""

        @functools.wraps(function)
        def timed(*args: Any, **kwargs: Any) -> Any:
            self._turn()
            self._running.append(name)
            try:
                return function(*args, **kwargs)
            finally:
                self._turn()
                self._running.pop()

        return timed

    def watch(self, owner: Any, attribute: str, name: str) -> None:
        """Make an attribute of a module or a class a phase."""
        found = owner.__dict__[attribute]
        if isinstance(found, property):
            assert found.fget is not None
            setattr(owner, attribute, property(self.phase(name, found.fget)))
        else:
            setattr(owner, attribute, self.phase(name, found))


def measure(tree: str) -> dict[str, float]:
    """Seconds by phase, the longest first."""
    clock = Clock()
    for owner, attribute, name in (
        (discovery, "discover", "find and read files"),
        (build, "default_streams", "build files"),
        (programs, "clusters_of", "link programs"),
        (driver, "clusters_of", "link programs"),
        (Tree, "variants_of", "configurations and parsing"),
        (Variant, "module", "lowering"),
        (Variant, "declarations", "lowering"),
        (Cluster, "__init__", "roots and views"),
        (Cluster, "survey", "survey: the programs as they are"),
        (Cluster, "_plan", "plan: repairs and their proofs"),
        (Cluster, "_defects", "defects"),
        (Cluster, "_validate", "validation of the rewritten text"),
        (selection, "select", "selection"),
    ):
        clock.watch(owner, attribute, name)
    found = discovery.discover([tree], Config())
    streams = build.default_streams(found.files, Config(), [tree])
    config = Config(per_thread=streams.per_thread, perhaps_per_thread=streams.perhaps)
    selection.select(driver.analyze(found.files, config), config)
    clock.phase("other", lambda: None)()
    return {"start and imports": LOADED, **dict(sorted(clock.seconds.items(), key=lambda item: -item[1]))}


def main() -> None:
    (tree,) = sys.argv[1:]
    seconds = measure(tree)
    whole = sum(seconds.values())
    print(f"| {Path(tree).name}, {whole:.1f} s | s | % |\n|---|---|---|")
    for name, spent in seconds.items():
        print(f"| {name} | {spent:.2f} | {100 * spent / whole:.0f} |")


if __name__ == "__main__":
    main()
