"""What is to be built, run and compared: data that one machine writes and another carries out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from enum import Enum
from pathlib import Path
from typing import Any

from cudafix.findings import Edit
from cudafix.verify.compare import Comparison

FORMAT = 1


class PlanError(Exception):
    """A plan or a result file that cannot be used; one line that names the file."""


class Kind(str, Enum):
    """What a variant of a program is: the four are held to different things."""

    BEFORE = "before"
    AFTER = "after"
    WRONG = "wrong"
    """A rewrite that must not pass."""
    MUTANT = "mutant"
    """After without one of the waits that were inserted."""


@dataclass(frozen=True)
class Variant:
    """The program with other texts: `files` holds those that differ from before, by path.

    `about` says what is wrong with it. `rejected` are the static checker's reasons against it. `shows`: must a run
    reveal it (True), must it not (False), or is that luck (None)?
    """

    name: str
    kind: Kind
    files: Mapping[str, bytes]
    about: str = ""
    rejected: tuple[str, ...] = ()
    shows: bool | None = None
    compiles: bool = True


@dataclass(frozen=True)
class Fix:
    """Edits of before that land together or not at all, named by the place of the allocation."""

    name: str
    edits: tuple[Edit, ...]


@dataclass(frozen=True)
class Subject:
    """One program: how it is built and run (shell commands, in the root of its tree), and what has to hold.

    `exit` is the exit code of before and after. `outputs` are files that it writes. `faulty`: before itself is wrong
    (it races, or does not compile), so that after has to hold on its own. `leaks`: ask for leaks. `clean`: the
    detector must find nothing in before. `strict`: no verdict of the detector, and noise, are faults. `hashes`
    identify the texts and commands.
    """

    name: str
    build: str
    run: str
    variants: tuple[Variant, ...]
    fixes: tuple[Fix, ...] = ()
    exit: int = 0
    outputs: tuple[str, ...] = ()
    comparison: Comparison = field(default_factory=Comparison)
    faulty: bool = False
    leaks: bool = True
    clean: bool = False
    strict: bool = False
    hashes: Mapping[str, str] = field(default_factory=dict)

    def variant(self, kind: Kind) -> Variant | None:
        """The first variant of this kind."""
        return next((variant for variant in self.variants if variant.kind is kind), None)


@dataclass(frozen=True)
class Settings:
    """How a plan is carried out. `seconds` is the limit of one run (of the detector: ten times that), `build_seconds`
    of one build, `output` of what one command may print, in bytes; `jobs` is the number of programs on the GPU at one
    time, except for timings; `schedules` runs after with late streams (`preload.py`).
    """

    rounds: int = 5
    seconds: float = 120
    build_seconds: float = 1800
    output: int = 64 * 2**20
    jobs: int = 1
    launcher: tuple[str, ...] = ()
    schedules: bool = True


@dataclass(frozen=True)
class Plan:
    """Subjects with their trees: `<folder of the plan>/trees/<number of the subject>/before`."""

    settings: Settings
    subjects: tuple[Subject, ...]


def tree(folder: Path, plan: Plan, subject: Subject) -> Path:
    """Where the tree of a subject's before stands; those of the other variants stand beside it."""
    return folder / "trees" / str(plan.subjects.index(subject))


def dumped(plan: Plan) -> dict[str, Any]:
    """The plan as an object for JSON, without the texts of before."""
    data = asdict(plan)
    for subject in data["subjects"]:
        for variant in subject["variants"]:
            variant["kind"] = variant["kind"].value
            # Latin-1 gives every byte a character, and back
            variant["files"] = {path: text.decode("latin-1") for path, text in variant["files"].items()}
        for fix in subject["fixes"]:
            fix["edits"] = [(path, start, end, text.decode("latin-1")) for path, start, end, text in fix["edits"]]
    return data


def loaded(data: dict[str, Any]) -> Plan:
    """The plan of such an object. Raises `KeyError`, `TypeError` or `ValueError` for any other."""
    settings = data["settings"]
    subjects = tuple(_subject(item) for item in data["subjects"])
    return Plan(Settings(**{**settings, "launcher": tuple(settings["launcher"])}), subjects)


def save(path: Path, plan: Plan) -> None:
    """Write a plan to a file."""
    path.write_text(json.dumps({"format": FORMAT, "plan": dumped(plan)}, indent=1), encoding="utf-8")


def load(path: Path) -> Plan:
    """Read a plan. Raises `PlanError`."""
    data = read(path)
    try:
        return loaded(data["plan"])
    except (KeyError, TypeError, ValueError) as error:
        raise PlanError(f"{path}: not a plan of this version of cudafix: {error}") from error


def read(path: Path) -> dict[str, Any]:
    """The object in a JSON file of our format. Raises `PlanError`."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise PlanError(f"{path}: cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise PlanError(f"{path}: not JSON: {error}") from error
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise PlanError(f"{path}: not written by `cudafix verify` of this version")
    return data


def _subject(data: dict[str, Any]) -> Subject:
    variants = tuple(
        Variant(
            **{
                **item,
                "kind": Kind(item["kind"]),
                "files": {path: text.encode("latin-1") for path, text in item["files"].items()},
                "rejected": tuple(item["rejected"]),
            }
        )
        for item in data["variants"]
    )
    fixes = tuple(
        Fix(item["name"], tuple(Edit(path, start, end, text.encode("latin-1")) for path, start, end, text in edits))
        for item in data["fixes"]
        for edits in (item["edits"],)
    )
    how = data["comparison"]
    comparison = replace(Comparison(**how), streams=tuple(how["streams"]), ignore=tuple(how["ignore"]))
    rest = {**data, "outputs": tuple(data["outputs"])}
    return Subject(**{**rest, "variants": variants, "fixes": fixes, "comparison": comparison})
