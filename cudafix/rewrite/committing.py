"""Fixes as commits of git: all of them or none.

The hooks of the repository run, as the user's own commits have them. A commit holds exactly the bytes that were proved:
where a hook fails, or changes a file, the branch, the index and the files are as before.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from cudafix import interrupts
from cudafix.findings import Problem
from cudafix.rewrite import writing

_UNDER_WAY = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply")


class Step(NamedTuple):
    """One commit: its message, and the files that it changes, as they are then."""

    message: str
    after: Mapping[str, bytes]


class Made(NamedTuple):
    """The commits as a range of git, and their number; or what went wrong, and then nothing is written."""

    range: str = ""
    number: int = 0
    problems: Sequence[Problem] = ()


def unfit(paths: Sequence[str]) -> list[Problem]:
    """Why some files cannot be committed; what git does not hold yet is one reason."""
    roots = {writing.tree_of(Path(os.path.realpath(path)).parent) for path in paths}
    for root in roots:
        if not (root / ".git").exists():
            return [Problem(str(root), "is no git repository: `--commit` has nowhere to commit to")]
    if len(roots) > 1:
        return [Problem(str(max(roots)), "lies in another git repository: `--commit` works in one at a time")]
    for root in roots:
        try:
            _git(root, "rev-parse", "--verify", "HEAD^{commit}")
        except OSError as error:
            return [Problem(str(root), f"git cannot be run: {error.strerror}")]
        except subprocess.CalledProcessError:
            return [Problem(str(root), "has no commit yet: `--commit` needs one to stand on")]
        found = [name for name in _UNDER_WAY if _exists(root, name)]
        if found:
            return [Problem(str(root), f"a merge, a rebase or the like is under way ({found[0]}): finish it first")]
    return writing.dirty(paths)


def commit(before: Mapping[str, bytes], steps: Sequence[Step]) -> Made:
    """Write and commit the steps, in their order. `before` holds the bytes that were analysed."""
    paths = list(dict.fromkeys(path for step in steps for path in step.after))
    if not paths:
        return Made()
    problems = unfit(paths)
    if problems:
        return Made(problems=problems)
    root = writing.tree_of(Path(os.path.realpath(paths[0])).parent)
    head = _git(root, "rev-parse", "HEAD").strip()
    now, wrote = dict(before), False
    with interrupts.raised():
        try:
            for step in steps:
                problems = writing.replace(now, step.after)
                wrote = wrote or not problems
                problems = problems or _commit(root, step)
                if problems:
                    return Made(problems=[*problems, *(_back(root, head, before, paths) if wrote else ())])
                now.update(step.after)
            made = f"{_short(root, head)}..{_short(root, 'HEAD')}"
            writing.mark_committed(made)
        except KeyboardInterrupt:
            with interrupts.deferred():
                list(_back(root, head, before, paths))
            raise
    return Made(made, len(steps))


def _commit(root: Path, step: Step) -> list[Problem]:
    real = [os.path.realpath(path) for path in step.after]
    try:
        _git(root, "add", "--", *real)
        _git(root, "commit", "-q", "-F", "-", text=step.message)
        if changed := _changed(root):
            return [Problem(changed[0], "is changed by a hook of the commit; nothing was written")]
    except OSError as error:
        return [Problem(str(root), f"git cannot be run: {error.strerror}; nothing was written")]
    except subprocess.CalledProcessError as error:
        said = [line for line in os.fsdecode(error.stderr or error.stdout or b"").splitlines() if line.strip()]
        why = f": {said[-1].strip()}" if said else ""
        return [Problem(str(root), f"git refuses the commit{why}; nothing was written")]
    for path, content in step.after.items():
        if Path(path).read_bytes() != content:  # a hook may change a file and commit it too
            return [Problem(path, "is changed by a hook of the commit; nothing was written")]
    return []


def _back(root: Path, head: str, before: Mapping[str, bytes], paths: Sequence[str]) -> Iterator[Problem]:
    """The files, the index and the branch as they were. Whatever else is changed, hooks have changed since."""
    try:
        _git(root, "reset", "-q", "--mixed", head)
        for path in paths:
            if path not in before:
                with suppress(FileNotFoundError):
                    os.unlink(path)
            elif Path(path).read_bytes() != before[path]:
                Path(os.path.realpath(path)).write_bytes(before[path])
        others = _changed(root)
        if others:
            _git(root, "checkout", "-q", head, "--", *(os.path.join(root, path) for path in others))
    except (OSError, subprocess.CalledProcessError):
        yield Problem(str(root), f"is left half done: `git reset --hard {head}` takes it back")
    writing.forget()


def _exists(root: Path, name: str) -> bool:
    return Path(root, _git(root, "rev-parse", "--git-path", name).strip()).exists()


def _short(root: Path, commit: str) -> str:
    return _git(root, "rev-parse", "--short", commit).strip()


def _changed(root: Path) -> list[str]:
    """The tracked files that differ from the last commit."""
    shown = _git(root, "status", "--porcelain", "-z", "--no-renames", "--untracked-files=no")
    return [entry[3:] for entry in shown.split("\0") if entry]


def _git(root: Path, *arguments: str, text: str = "") -> str:
    """What git prints. Raises `OSError` and `subprocess.CalledProcessError`."""
    command, pipe = ["git", "-C", str(root), *arguments], subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        try:
            output, errors = process.communicate(text.encode("utf-8", "surrogateescape"))
        except BaseException:
            process.terminate()  # unlike a kill, it lets git take its locks back
            process.wait()
            raise
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command, output, errors)
    return os.fsdecode(output)
