"""A user's own tree: a clean copy of it, and its fixes as a subject of a verification."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from cudafix.findings import Finding
from cudafix.verify.plan import Fix, PlanError

_CACHE = "CMakeCache.txt"
"""A folder that holds this was configured by CMake, for the tree where it stands and no other."""


def copy(root: Path, target: Path, also: Sequence[str]) -> None:
    """Copy what belongs to the tree: in a git repository what git does not ignore, elsewhere all but build folders.

    `also` are files and folders below `root` that are copied even so: data that git ignores. Raises `PlanError`.
    """
    for path in dict.fromkeys((*_listed(root), *_wanted(root, also))):
        source, place = root / path, target / path
        if not os.path.lexists(source):
            continue  # deleted, and git does not know it yet
        place.parent.mkdir(parents=True, exist_ok=True)
        try:
            shutil.copy2(source, place, follow_symlinks=False)
        except OSError as error:
            raise PlanError(f"{source}: cannot be copied: {error.strerror}") from error
    target.mkdir(parents=True, exist_ok=True)


def _listed(root: Path) -> list[str]:
    command = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        run = subprocess.run(command, capture_output=True, check=False)
    except OSError:
        return list(_walked(root, ""))
    if run.returncode or not run.stdout:  # no repository, or a folder that its repository ignores
        return list(_walked(root, ""))
    found: list[str] = []
    for name in map(os.fsdecode, filter(None, run.stdout.split(b"\0"))):
        path = root / name
        if path.is_dir() and not path.is_symlink():  # a submodule, or a repository in the repository
            found += [os.path.join(name, inner) for inner in _listed(path)]
        else:
            found.append(name)
    return found


def _walked(root: Path, folder: str) -> Iterator[str]:
    with os.scandir(root / folder) as entries:
        listed = sorted(entries, key=lambda entry: entry.name)
    if any(entry.name == _CACHE for entry in listed):
        return
    for entry in listed:
        path = os.path.join(folder, entry.name)
        if entry.is_dir(follow_symlinks=False):
            if entry.name != ".git":
                yield from _walked(root, path)
        elif entry.is_symlink() or entry.is_file():  # of links in a circle nobody can say more
            yield path


def _wanted(root: Path, also: Sequence[str]) -> Iterator[str]:
    for name in also:
        path = root / name
        inside = os.path.relpath(os.path.abspath(path), root)
        if inside.startswith(os.pardir):
            raise PlanError(f"{name}: not below {root}")
        if path.is_dir():
            yield from (str(file.relative_to(root)) for file in sorted(path.rglob("*")) if not file.is_dir())
        elif path.exists():
            yield inside
        else:
            raise PlanError(f"{name}: no such file or folder")


def fixes(sources: Mapping[str, bytes], findings: Sequence[Finding]) -> tuple[Fix, ...]:
    """The fixes that land together, named by the places of what they fix, as `--except` takes them."""
    groups: dict[object, list[Finding]] = {}
    for number, finding in enumerate(findings):
        if finding.edits:
            groups.setdefault(finding.group or f"alone {number}", []).append(finding)
    return tuple(
        Fix(
            " ".join(dict.fromkeys(_place(sources, finding) for finding in group)),
            tuple(dict.fromkeys(edit for finding in group for edit in finding.edits)),
        )
        for group in groups.values()
    )


def _place(sources: Mapping[str, bytes], finding: Finding) -> str:
    line = sources[finding.path].count(b"\n", 0, finding.offset) + 1
    return f"{finding.path}:{line}"


def hashes(files: Mapping[str, bytes], how: object) -> dict[str, str]:
    """SHA-256 of each file that is rewritten, and of how the program is built and run."""
    found = {path: hashlib.sha256(data).hexdigest() for path, data in files.items()}
    return {**found, "how": hashlib.sha256(repr(how).encode()).hexdigest()}
