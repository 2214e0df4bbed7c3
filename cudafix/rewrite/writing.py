"""Writing the fixes: all files or none, whatever happens in between, and back again with `cudafix undo`.

Before the first file changes, the old bytes of all of them and a journal are on the disk, in the user's state folder
(or in `CUDAFIX_STATE_DIR`), one place for each tree. Each file is replaced by a rename, so at any moment it is the old
or the new one. The journal is done when the last one is new. A run that was killed leaves a journal that is not: the
next `apply` or `undo` in this tree first gives those files their old bytes back.

A tree is the git repository around the current folder, else the current folder itself. One command at a time writes in
it (`alone`), and nothing is written if any file that was analysed has changed since.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import shutil
import stat
import subprocess
import sys
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import platformdirs

from cudafix import interrupts
from cudafix.findings import Problem
from cudafix.project.files import Files

_LISTED = 5  # files that a message names


@dataclass(frozen=True, slots=True)
class _File:
    """One file that is written. `real` is where its bytes are, `temporary` the new ones beside it; `before` is empty
    for a file that is made.
    """

    path: str
    real: str
    temporary: str
    before: str
    after: str


class _Journal:
    """One `apply`: what it writes, and the old bytes."""

    def __init__(self, folder: Path, files: list[_File], done: bool, committed: str = "") -> None:
        self.folder = folder
        self.files = files
        self.done = done
        self.committed = committed  # the commits that hold what was written, as a range of git

    @classmethod
    def read(cls, folder: Path) -> _Journal | None:
        """None if it was not begun: nothing is written before the journal is."""
        try:
            content: dict[str, Any] = json.loads((folder / "journal.json").read_bytes())
            files = [_File(**file) for file in content["files"]]
            return cls(folder, files, bool(content["done"]), content.get("committed", ""))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def save(self) -> None:
        content = {
            "done": self.done,
            "committed": self.committed,
            "files": [{name: getattr(file, name) for name in _File.__slots__} for file in self.files],
        }
        temporary = self.folder / "journal.tmp"
        _write(temporary, json.dumps(content).encode("utf-8", "surrogateescape"))
        os.replace(temporary, self.folder / "journal.json")
        _sync_folder(self.folder)

    def old(self, file: _File) -> bytes:
        return (self.folder / file.before).read_bytes()

    def remove(self) -> None:
        with contextlib.suppress(OSError):  # without it the folder is no journal
            os.unlink(self.folder / "journal.json")
        shutil.rmtree(self.folder, ignore_errors=True)


def tree_of(folder: Path) -> Path:
    """The git repository around a folder, else the folder."""
    real = Path(os.path.realpath(folder))
    return next((each for each in (real, *real.parents) if (each / ".git").exists()), real)


class BusyError(click.ClickException):
    """Another cudafix works on the same tree."""


_locked: dict[Path, int] = {}  # the open files of the locks that this process has


@contextmanager
def alone(paths: Iterable[str] = ()) -> Iterator[None]:
    """Be the only one that writes in the tree of the current folder and in those of `paths`, from the first look at
    them to the last byte. Raises `BusyError` at once if another one does. The system takes a lock back from a process
    that ends, however it ends.
    """
    here = [Path.cwd(), *(Path(path) if os.path.isdir(path) else Path(path).parent for path in paths)]
    with _locks({tree_of(folder) for folder in here}):
        yield


@contextmanager
def _locks(trees: Iterable[Path]) -> Iterator[None]:
    trees, mine = sorted(set(trees)), list[Path]()
    try:
        for file in sorted({_place_of(tree).with_suffix(".lock") for tree in trees} - _locked.keys()):
            try:
                file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                handle = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
            except OSError as error:
                raise click.ClickException(f"{file}: the undo record cannot be written: {error.strerror}") from None
            mine.append(file)
            _locked[file] = handle
            _lock(handle)
        with _folders(trees):
            yield
    finally:
        for file in mine:
            os.close(_locked.pop(file))


_held: set[Path] = set()  # the trees that this process has locked


@contextmanager
def _folders(trees: Iterable[Path]) -> Iterator[None]:
    """Hold the folders themselves too, where the system can: another user has another state folder."""
    with contextlib.ExitStack() as stack:
        for tree in trees if sys.platform != "win32" else ():
            if tree in _held:
                continue
            with contextlib.suppress(OSError):  # a folder that cannot be read, or a file system without locks
                handle = os.open(tree, os.O_RDONLY)
                stack.callback(os.close, handle)
                _hold(handle)
                _held.add(tree)
                stack.callback(_held.discard, tree)
        yield


def _hold(handle: int) -> None:
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise BusyError("another cudafix is writing here; nothing was written") from None


def _lock(handle: int) -> None:
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            # a lock of the process, which its workers do not inherit (fcntl(2), "Advisory record locking")
            fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EACCES, errno.EAGAIN, errno.EDEADLK):
            raise BusyError("another cudafix is writing here; nothing was written") from None
        raise click.ClickException(f"the tree cannot be locked: {error.strerror}") from None


def replace(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> list[Problem]:
    """Replace the files in `after` by their new bytes: each whole or not at all, and all or none.

    `before` holds the bytes that were analysed; a file that it lacks is made, and must not be there. If any file of
    `before` no longer has them, or one that is written is read-only, or is a symbolic link that leads out of its tree,
    nothing is written. A link within the tree stays, and the file behind it is written. If a replacement fails after
    others succeeded, those get their old bytes back. The file mode is kept, and
    the owner where the user may give files away. Returns what went wrong.
    """
    if not after:
        return []
    trees = {tree_of(Path.cwd()), *(tree_of(Path(os.path.realpath(path)).parent) for path in after)}
    with _locks(trees), interrupts.deferred():
        return _replace(before, after)


def _replace(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> list[Problem]:
    problems = recover() or Files.of(before).changed(except_for=after)
    if problems:
        return problems
    token = f"{time.time_ns():020}-{uuid.uuid4().hex[:6]}"  # the newest is the last one in order
    files: list[_File] = []
    for number, (path, content) in enumerate(after.items()):
        real = os.path.realpath(path)
        old = before.get(path)
        problem = leads_out(path) or (_unfit(path, real, old) if old is not None else _in_the_way(path))
        if problem is not None:
            problems.append(problem)
        elif content != old and all(file.real != real for file in files):
            temporary = os.path.join(os.path.dirname(real), f".cudafix-{token}-{number}.tmp")
            files.append(_File(path, real, temporary, "" if old is None else _digest(old), _digest(content)))
    if problems or not files:
        return problems
    return _carry_out(files, before, after, token)


def _carry_out(
    files: list[_File], before: Mapping[str, bytes], after: Mapping[str, bytes], token: str
) -> list[Problem]:
    place = _place()
    journal = _Journal(place / token, files, False)
    try:
        journal.folder.mkdir(mode=0o700, parents=True)
        for file in files:
            if file.before:
                _write(journal.folder / file.before, before[file.path])
        journal.save()
        _sync_folder(place)
    except OSError as error:
        journal.remove()
        return [Problem(str(journal.folder), f"the undo record cannot be written: {error.strerror}")]
    problem = _rename_all(files, after)
    if problem is not None:
        return [problem, *_roll_back(journal)]
    journal.done = True
    try:
        journal.save()
    except OSError as error:
        return [
            Problem(str(journal.folder), f"the undo record cannot be written: {error.strerror}"),
            *_roll_back(journal),
        ]
    for other in _journals(place):
        if other.folder != journal.folder:
            other.remove()
    return []


def _rename_all(files: list[_File], after: Mapping[str, bytes]) -> Problem | None:
    file = files[0]
    try:
        for file in files:
            like = os.stat(file.real) if file.before else None
            _write(Path(file.temporary), after[file.path], _mode_of_new_files() if like is None else like.st_mode, like)
        for file in files:
            if not file.before:  # it gets its name only if nobody else has made one in the meantime
                os.link(file.temporary, file.real)
                os.unlink(file.temporary)
                continue
            if _digest(Path(file.real).read_bytes()) != file.before:
                return Problem(file.path, "changed since it was analysed")
            os.replace(file.temporary, file.real)
    except OSError as error:
        return Problem(file.path, f"cannot be replaced: {error.strerror}")
    for folder in sorted({os.path.dirname(file.real) for file in files}):
        _sync_folder(Path(folder))
    return None


def recover() -> list[Problem]:
    """Give the files of an `apply` that did not come to its end their old bytes back."""
    return [problem for journal in _journals(_place()) if not journal.done for problem in _roll_back(journal)]


def mark_committed(commits: str) -> None:
    """What was written last is in these commits, a range of git: it is git that takes it back."""
    for journal in _journals(_place()):
        journal.committed = commits
        journal.save()


def forget() -> None:
    """What was written last is taken back."""
    for journal in _journals(_place()):
        journal.remove()


def undo() -> tuple[list[str], list[Problem]]:
    """Give the files of the last `apply` in this tree their old bytes back: all or none.

    Returns the paths, and what went wrong: a file that has changed since is a problem, and then nothing is written.
    """
    with _locks([tree_of(Path.cwd())]), interrupts.deferred():
        return _undo()


def _undo() -> tuple[list[str], list[Problem]]:
    unfinished = [journal for journal in _journals(_place()) if not journal.done]
    if unfinished:
        problems = [problem for journal in unfinished for problem in _roll_back(journal)]
        return [file.path for journal in unfinished for file in journal.files], problems
    journals = list(_journals(_place()))
    if not journals:
        return [], [Problem(str(tree_of(Path.cwd())), "there is no `apply` to undo in this tree")]
    last = journals[-1]
    if last.committed:
        how = f"`git revert --no-edit {last.committed}` takes it back"
        return [], [Problem(str(tree_of(Path.cwd())), f"the last `apply` is committed: {how}")]
    problems = []
    for file in last.files:
        if not file.before and not os.path.lexists(file.real):
            continue
        try:
            now = _digest(Path(file.real).read_bytes())
        except OSError as error:
            problems.append(Problem(file.path, f"cannot be read: {error.strerror}"))
            continue
        if now == file.after:
            problem = _unfit(file.path, file.real, None)
            problems += [problem] if problem is not None else []
        elif now != file.before:
            problems.append(Problem(file.path, "changed since `apply`; nothing was undone"))
    if problems:
        return [], problems
    last.done = False  # from here on a kill is an `apply` that was not finished, which is rolled back
    last.save()
    return [file.path for file in last.files], _roll_back(last)


def _roll_back(journal: _Journal) -> list[Problem]:
    """Old bytes for every file that has the new ones. The record stays while something can still be given back."""
    problems: list[Problem] = []
    left = False
    for file in journal.files:
        with contextlib.suppress(OSError):
            os.unlink(file.temporary)
        if not file.before and not os.path.lexists(file.real):
            continue
        try:
            now = _digest(Path(file.real).read_bytes())
            if now == file.after and not file.before:
                os.unlink(file.real)
            elif now == file.after:
                like = os.stat(file.real)
                _write(Path(file.temporary), journal.old(file), like.st_mode, like)
                os.replace(file.temporary, file.real)
            elif now != file.before:
                problems.append(Problem(file.path, "changed since an `apply` that was interrupted; left as it is"))
        except OSError as error:
            problems.append(Problem(file.path, f"stays changed: {error.strerror}"))
            left = left or os.path.exists(file.real)
            with contextlib.suppress(OSError):
                os.unlink(file.temporary)
    for folder in sorted({os.path.dirname(file.real) for file in journal.files}):
        _sync_folder(Path(folder))
    if not left:
        journal.remove()
    return problems


# ---------------------------------------------------------------------------------------------------------------------
# what stands in the way


def dirty(paths: Iterable[str]) -> list[Problem]:
    """What git does not hold yet in the trees of some files: tracked files anywhere in them that differ from the last
    commit (as `cargo fix` asks), and the files themselves if git does not know them.

    Without git around a file nothing is asked: `undo` restores it all the same.
    """
    by_tree: dict[Path, list[str]] = {}
    for path in paths:
        root = tree_of(Path(os.path.realpath(path)).parent)
        if (root / ".git").exists():
            by_tree.setdefault(root, []).append(os.path.realpath(path))
    problems = []
    for root, own in by_tree.items():
        try:
            changed = [*_status(root, "--untracked-files=no"), *_status(root, "--ignored", "--", *own)]
        except (OSError, subprocess.CalledProcessError):
            problems.append(Problem(str(root), "git cannot tell what is committed; `--allow-dirty` does not ask it"))
            continue
        names = list(dict.fromkeys(changed))
        if names:
            more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
            listed = ", ".join(names[:_LISTED]) + more
            problems.append(
                Problem(str(root), f"not committed: {listed}; commit or stash first, or use `--allow-dirty`")
            )
    return problems


def _status(root: Path, *arguments: str) -> list[str]:
    command = ["git", "-C", str(root), "status", "--porcelain", "-z", "--no-renames", *arguments]
    shown = subprocess.run(command, capture_output=True, check=True).stdout  # git from the PATH
    return [os.fsdecode(entry[3:]) for entry in shown.split(b"\0") if entry]


def leads_out(path: str) -> Problem | None:
    """A file or folder that is named through a symbolic link to somewhere else."""
    named, here, real = Path(os.path.abspath(path)), Path.cwd(), os.path.realpath(path)
    around = (folder for folder in named.parents if (folder / ".git").exists())
    root = next(around, here if here in (named, *named.parents) else named.parent)
    if Path(real).is_relative_to(os.path.realpath(root)):
        return None
    return Problem(path, f"is reached by a symbolic link that leads out of the tree, to `{real}`")


def _in_the_way(path: str) -> Problem | None:
    """What keeps a file from being made."""
    if os.path.lexists(path):
        return Problem(path, "is there already, and was not analysed")
    folder = os.path.dirname(os.path.realpath(path))
    if not os.access(folder, os.W_OK):
        return Problem(path, "its folder is missing or read-only")
    return None


def _unfit(path: str, real: str, analysed: bytes | None) -> Problem | None:
    """Why a file cannot be written."""
    try:
        if analysed is not None and Path(real).read_bytes() != analysed:
            return Problem(path, "changed since it was analysed")
        mode = os.stat(real).st_mode
    except OSError as error:
        return Problem(path, f"cannot be read: {error.strerror}")
    if not mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH) or not os.access(real, os.W_OK):
        return Problem(path, "is read-only")  # root may write it all the same, but whoever set the mode did not want it
    if not os.access(os.path.dirname(real), os.W_OK):
        return Problem(path, "lies in a folder that is read-only")
    return None


# ---------------------------------------------------------------------------------------------------------------------
# files


def _place() -> Path:
    """Where the journals of the current tree are."""
    return _place_of(tree_of(Path.cwd()))


def _place_of(tree: Path) -> Path:
    folder = os.environ.get("CUDAFIX_STATE_DIR") or platformdirs.user_state_dir("cudafix")
    return Path(folder, _digest(os.fsencode(tree))[:24])


def _journals(place: Path) -> Iterator[_Journal]:
    """What was begun in a tree."""
    try:
        folders = sorted(place.iterdir())
    except OSError:
        return
    for folder in folders:
        journal = _Journal.read(folder)
        if journal is not None:
            yield journal
        else:
            shutil.rmtree(folder, ignore_errors=True)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _write(path: Path, content: bytes, mode: int | None = None, like: os.stat_result | None = None) -> None:
    """A new file that is on the disk when this returns; it belongs to those whom another one, `like` it, belongs to, as
    far as the user may give files away.
    """
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0), 0o600)
    with os.fdopen(handle, "wb") as file:
        if like is not None and hasattr(os, "chown") and (like.st_uid, like.st_gid) != _owner_of(handle):
            with contextlib.suppress(OSError):
                os.chown(path, like.st_uid, like.st_gid)
        if mode is not None:  # behind the new owner, which takes some of its bits away (chown(2))
            os.chmod(path, stat.S_IMODE(mode))
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _owner_of(handle: int) -> tuple[int, int]:
    status = os.fstat(handle)
    return status.st_uid, status.st_gid


def _mode_of_new_files() -> int:
    """The permissions that the user's mask leaves."""
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _sync_folder(folder: Path) -> None:
    # the rename itself must survive a power cut; not every platform can open a folder
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
