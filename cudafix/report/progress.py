"""A progress bar on standard error for runs that take a while: on a terminal only, and gone when it is done."""

from __future__ import annotations

import os
import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress

_AFTER = 0.8  # seconds: what is done by then needs no bar
_EVERY = 0.1


class Bar:
    """Call it with what is done and what there is to do, in any unit."""

    def __init__(self) -> None:
        self._shows = sys.stderr.isatty() and os.environ.get("TERM") not in ("dumb", "unknown")
        self._start = self._last = time.monotonic()
        self._progress: Progress | None = None

    def __call__(self, done: float, total: float) -> None:
        now = time.monotonic()
        if not self._shows or now - self._start < _AFTER or now - self._last < _EVERY:
            return
        self._last = now
        if self._progress is None:
            self._progress = _progress(total)
        self._progress.update(self._progress.task_ids[0], completed=done, total=total)
        self._progress.refresh()

    def __enter__(self) -> Bar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._progress is not None:
            self._progress.stop()


def _progress(total: float) -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = TextColumn("proving"), BarColumn(), TextColumn("{task.percentage:3.0f} %"), TimeRemainingColumn()
    # no thread of its own: worker processes are forked while it is shown
    progress = Progress(*columns, console=Console(file=sys.stderr), transient=True, auto_refresh=False)
    progress.add_task("", total=total)
    progress.start()
    return progress
