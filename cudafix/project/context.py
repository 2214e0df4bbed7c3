"""What the files that a user names by themselves include and import: read for what it says, and never written.

It is found as in a tree: beside the file, in the folders where its build looks for headers, else by its name in the
repository around it; a module of Python in the folder of the file or in one above. A file that is meant so is read even
if it is ignored. What lies outside of the repository (where there is none, of the folder of the configuration, else of
the file) is not read, unless a path in quotes leads there: headers of the system are not of the program.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from cudafix.project import build, prefilter
from cudafix.project.config import Config
from cudafix.project.discovery import Loader, Sources, walk
from cudafix.project.files import Entry
from cudafix.project.including import MOST_MODULES, Headers, imported
from cudafix.project.paths import SUFFIXES, named


def with_context(
    found: Sources, config: Config, known: Mapping[str, Entry] = {}, texts: Mapping[str, bytes] = {}
) -> Sources:
    """The files with the context of those that were named; a folder is its own. Of what is `known` only what has
    changed is read. `texts` stand in place of what the disk has.
    """
    if not found.alone or found.problems:
        return found
    loader = Loader(known, found.files, texts)
    trees: dict[str, _Tree] = {}
    context: dict[str, None] = {}
    shared = [named(os.path.realpath(config.pool_setup), os.path.realpath("."))] if config.pool_setup else []
    for start in (*found.alone, *shared):
        root, is_repository = _root(os.path.realpath(start), config)
        if root not in trees:
            trees[root] = _Tree(root, is_repository, config, found.alone)
        context |= dict.fromkeys(_closure(start, loader, trees[root]))
    return replace(
        found,
        files=loader.files(),
        known=found.known and loader.read == 0,
        context=frozenset(context.keys() - found.files.keys()),
    )


def _root(real: str, config: Config) -> tuple[str, bool]:
    """The folder outside of which nothing is read for a file, and whether it is that of a repository."""
    for folder in Path(real).parents:
        if (folder / ".git").exists():
            return str(folder), True
    configured = os.path.realpath(config.root)
    return (configured if _is_below(real, configured) else os.path.dirname(real)), False


def _closure(start: str, loader: Loader, tree: _Tree) -> list[str]:
    """A file and what it includes or imports, through other files too; of Python as many as belong to a program."""
    most = MOST_MODULES if start.endswith(prefilter.SUFFIX) else sys.maxsize
    found: dict[str, None] = {}
    queue = [start]
    while queue and len(found) < most:
        path = queue.pop(0)
        entry = loader.load_if_readable(path) if path not in found else None
        if entry is not None:
            found[path] = None
            queue += tree.meant_by(path, entry)
    return list(found)


class _Tree:
    """The files around those that were named, as far as they are asked for."""

    def __init__(self, root: str, is_repository: bool, config: Config, alone: Iterable[str]) -> None:
        self._root = root
        self._is_repository = is_repository
        self._config = config
        self._alone = tuple(alone)
        self._here = os.path.realpath(".")
        self._folders: dict[str, tuple[str, ...]] = {}
        self._sources: dict[str, list[str]] | None = None  # of the repository, by their last name
        self._mentioned: dict[str, tuple[str, ...]] = {}
        self._headers = Headers(cache(self._exists), self._named, self._folders, mentioned=self._mentioned)
        self._is_module: Callable[[str], bool] = cache(self._exists_inside)
        self._look_up(alone)

    def meant_by(self, path: str, entry: Entry) -> list[str]:
        """The files that a file includes or imports itself."""
        self._look_up((path,))
        targets = (target for _, target in entry.facts.includes)
        headers = (self._headers.find(path, target) for target in targets if not os.path.isabs(target.strip('<>"')))
        modules = imported(entry.facts.imports, path, self._is_module)
        found = (named(os.path.realpath(each), self._here) for each in (*headers, *modules) if each is not None)
        return list(dict.fromkeys(found))

    def _look_up(self, paths: Iterable[str]) -> None:
        """Take what the build says of sources: folders of the tree alone."""
        paths = tuple(paths)
        self._mentioned.update(build.mentioned_folders(paths, self._config, self._alone))
        for path, folders in build.include_folders(paths, self._config, self._alone):
            inside = (folder for folder in folders if _is_below(os.path.realpath(folder or "."), self._root))
            self._folders[path] = tuple(inside)

    def _exists(self, name: str) -> bool:
        """Whether there is such a source; a link counts that stays in the tree."""
        real = os.path.realpath(name)
        is_link = real != os.path.normpath(os.path.join(self._here, name))
        return _is_source(real) and (not is_link or _is_below(real, self._root))

    def _exists_inside(self, name: str) -> bool:
        return _is_source(name) and _is_below(os.path.realpath(name), self._root)

    def _named(self, name: str) -> Sequence[str]:
        """The sources of the repository with this last name."""
        if os.path.splitext(name)[1] not in SUFFIXES or not self._is_repository:
            return ()
        if self._sources is None:
            self._sources = {}
            for entry in walk(self._root, self._config, []):
                self._sources.setdefault(entry.name, []).append(named(entry.path, self._here))
        return self._sources.get(name, ())


def _is_source(path: str) -> bool:
    return os.path.splitext(path)[1] in SUFFIXES and os.path.isfile(path)


def _is_below(real: str, root: str) -> bool:
    return real == root or real.startswith(os.path.join(root, ""))
