"""The race, access and leak detector: `compute-sanitizer --tool memcheck --track-stream-ordered-races all`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from cudafix.verify.process import Ran

CAUGHT = 77
"""Exit code that the detector is told to give when it found something."""
STARTS = 300
"""Seconds that a program may take until it first uses CUDA."""
VERDICTS = ("", "nothing", "api", "leak", "memory")
"""From no verdict to the worst: see `Detected.caught`."""
_TELLING = re.compile(r"(ERROR|LEAK|RACECHECK) SUMMARY|race|Invalid|Leaked|Program hit|illegal", re.IGNORECASE)
_LEAKED = re.compile(r"LEAK SUMMARY: (\d+) bytes? leaked")

Run = Callable[[Sequence[str], Mapping[str, str]], Ran]
"""Runs the program with these words in front of its command, and these variables in its environment."""


@dataclass(frozen=True)
class Detected:
    """`caught` is the worst that was found.

    "nothing"; "api", calls that returned an error, which a program may intend and handle; "leak", memory that is not
    freed at the end; "memory", a race or a bad access; "" where there is no verdict, and `lines` say why. `leaked`
    counts bytes, None where nobody counted.
    `early` says that what was caught is gone once the program's streams are created early, which adds no order: the
    detector does not know that a blocking stream waits for earlier work of the legacy stream (docs/FACTS.md).
    """

    caught: str
    leaked: int | None
    lines: tuple[str, ...]
    early: bool = False


def watch(tool: str, run: Run, leaks: bool) -> Detected:
    """Ask the detector about one program, with the leak check if `leaks`."""
    options = [tool, "--tool", "memcheck", "--track-stream-ordered-races", "all", "--target-processes", "all"]
    # an interpreter may import for longer than the 10 s that the tool waits for a program by default
    options += ["--launch-timeout", str(STARTS), "--error-exitcode", str(CAUGHT)]
    ran = run([*options, "--leak-check", "full"] if leaks else options, {})
    lines = [line for data in (ran.stdout, ran.stderr) for line in data.decode(errors="replace").splitlines()]
    telling = [line.strip("= ") for line in lines if line.startswith("=====") and _TELLING.search(line)]
    found = [int(match.group(1)) for line in telling if (match := _LEAKED.search(line))]
    leaked = sum(found) if found else None
    shown = tuple([*telling[:5], *telling[-1:]] if len(telling) > 6 else telling)
    if ran.exit is None:
        return Detected("", leaked, (*shown, ran.stopped))
    if not any("ERROR SUMMARY" in line for line in telling):
        return Detected("", leaked, tuple(lines[-3:]))
    if ran.exit != CAUGHT:
        return Detected("nothing", leaked, shown)
    # errors that the program provokes and handles, and leaks, would hide a race behind the same exit code
    again = run([*options, "--report-api-errors", "no"], {})
    return Detected("memory" if again.exit == CAUGHT else "leak" if leaked else "api", leaked, shown)


def worse(one: str, other: str) -> bool:
    """Whether the first verdict is worse than the second."""
    return VERDICTS.index(one) > VERDICTS.index(other)
