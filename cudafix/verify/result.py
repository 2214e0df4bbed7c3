"""What was seen when a plan was carried out: data, no verdict."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from cudafix.verify import plan as plans
from cudafix.verify.detector import Detected
from cudafix.verify.plan import FORMAT, Plan, PlanError, read
from cudafix.verify.timing import Timing


@dataclass(frozen=True)
class Observation:
    """What one variant did.

    `compiler` is what the build said where it failed. `exit` and `ended` are the exit code and how the run ended, in
    words. `differs` says how a run differs from the good variant's first run ("" not at all, None: never ran), `noise`
    how its own runs differ. `digest` hashes what was compared, `excerpt` is the end of its output. `schedules` says
    for each schedule how the run with late streams differs. `missing` are named outputs that it did not write. `peak`
    is the most device memory in bytes that its processes had (`preload.py`).
    """

    compiler: str = ""
    exit: int | None = None
    ended: str = ""
    differs: str | None = None
    noise: str = ""
    digest: str = ""
    excerpt: str = ""
    detected: Detected | None = None
    schedules: Mapping[str, str] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    peak: int | None = None


@dataclass(frozen=True)
class Result:
    """What was seen of one subject. `hashes` are those of the plan.

    `smallest` names the fixes of the smallest set that breaks. `notes` say what could not be checked, and why.
    """

    name: str
    hashes: Mapping[str, str]
    observations: Mapping[str, Observation]
    timing: Timing | None = None
    smallest: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Results:
    """All results of one machine, and the plan that it carried out; `machine` is what `Machine.described` says."""

    plan: Plan
    machine: Mapping[str, str]
    results: tuple[Result, ...]


def may_write(path: Path) -> None:
    """Whether a file is not there, or holds results or a record of cudafix. Raises `PlanError`."""
    if path.is_dir() or (os.path.lexists(path) and not path.is_file()):
        raise PlanError(f"{path}: not a regular file")
    if path.exists():
        data = json.loads(path.read_bytes() or b"null") if path.suffix == ".json" else None
        if not isinstance(data, dict) or not ({"plan", "format"} <= data.keys() or {"case", "hashes"} <= data.keys()):
            raise PlanError(f"{path}: is there already and was not written by `cudafix verify`; it is left as it is")


def save(path: Path, plan: Plan, machine: Mapping[str, str], results: Sequence[Result]) -> None:
    """Write the file whole or not at all."""
    data = {"format": FORMAT, "plan": plans.dumped(plan), "machine": dict(machine)}
    write(path, json.dumps({**data, "results": [asdict(one) for one in results]}, indent=1))


def write(path: Path, text: str) -> None:
    """Replace a file by new text, whole or not at all. Raises `PlanError` where it is none that cudafix wrote."""
    try:
        may_write(path)
    except ValueError:
        raise PlanError(
            f"{path}: is there already and was not written by `cudafix verify`; it is left as it is"
        ) from None
    handle, name = tempfile.mkstemp(prefix=".cudafix-", suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def load(path: Path) -> Results:
    """Read a results file. Raises `PlanError`."""
    data = read(path)
    try:
        found = tuple(result(item) for item in data["results"])
        return Results(plans.loaded(data["plan"]), data["machine"], found)
    except (KeyError, TypeError, ValueError) as error:
        raise PlanError(f"{path}: not results of this version of cudafix: {error}") from error


def result(data: dict[str, Any]) -> Result:
    """One result, from its JSON object."""
    timing = data["timing"]
    rest = {
        "observations": {name: _observation(item) for name, item in data["observations"].items()},
        "timing": Timing(**timing) if timing else None,
        "smallest": tuple(data["smallest"]),
        "notes": tuple(data["notes"]),
    }
    return Result(**{**data, **rest})


def _observation(data: dict[str, Any]) -> Observation:
    seen = data["detected"]
    detected = Detected(**{**seen, "lines": tuple(seen["lines"])}) if seen else None
    return Observation(**{**data, "detected": detected, "missing": tuple(data["missing"])})
