"""A plan as a folder: `plan.json`, the trees, and for another machine a runner that needs Python and `nvcc`."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import cudafix
from cudafix.verify import plan as plans
from cudafix.verify.plan import Kind, Plan, PlanError, Subject

SHIPPED = (
    "__init__.py",
    "findings.py",
    "interrupts.py",
    "rewrite/__init__.py",
    "rewrite/edits.py",
    *(
        f"verify/{name}"
        for name in (
            "__init__.py",
            "bisect.py",
            "compare.py",
            "detector.py",
            "execute.py",
            "judge.py",
            "machine.py",
            "nvcc.py",
            "plan.py",
            "preload.cpp",
            "preload.py",
            "process.py",
            "result.py",
            "runner.py",
            "scratch.py",
            "timing.py",
            "trial.py",
        )
    ),
)
"""What the runner is made of: the standard library and these files of the package."""

_RUN = '''"""Carry out the plan beside this file: see `python3 run.py --help`."""

import sys
from pathlib import Path

if sys.version_info < (3, 10):
    sys.exit("run.py: needs Python 3.10 or newer")
sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

from cudafix.verify.runner import main

sys.exit(main(Path(__file__).resolve().parent))
'''

Origin = Callable[[Subject, Path], None]
"""Writes the tree of a subject's before into a folder that does not exist yet."""


def write(plan: Plan, folder: Path, origin: Origin) -> None:
    """Make the folder hold the plan and the tree of each before. Raises `PlanError` if it is not empty."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise PlanError(f"{folder}: is not empty")
        for subject in plan.subjects:
            origin(subject, plans.tree(folder, plan, subject) / "before")
        plans.save(folder / "plan.json", plan)
    except OSError as error:
        raise PlanError(f"{folder}: cannot be written: {error.strerror}") from error


def add_runner(plan: Plan, folder: Path) -> None:
    """Add what another machine needs, and the trees of after for people to look at."""
    for subject in plan.subjects:
        place = plans.tree(folder, plan, subject)
        after = subject.variant(Kind.AFTER)
        if after:
            shutil.copytree(place / "before", place / "after", symlinks=True)
            _overwrite(place / "after", after.files)
    package = Path(cudafix.__file__).parent
    for name in SHIPPED:
        target = folder / "cudafix" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(package / name, target)
    (folder / "run.py").write_text(_RUN, encoding="utf-8")


def _overwrite(folder: Path, files: Mapping[str, bytes]) -> None:
    for path, data in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
