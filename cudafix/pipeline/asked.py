"""What a report depends on, as keys of the cache: what was asked, by which cudafix, of which texts."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterable, Sequence

from cudafix import codemod
from cudafix.pipeline.cache import signature
from cudafix.project.config import Config
from cudafix.project.files import Files


def digest(asked: object) -> bytes:
    """Of anything that has the same `repr` whenever it is equal: no sets, no objects."""
    return hashlib.sha256(signature() + repr(asked).encode("utf-8", "surrogateescape")).digest()


def of_files(what: str, config: Config, files: Files, paths: Iterable[str], more: object = None) -> bytes:
    """Equal only where a report must be the same: the same texts, asked in the same way."""
    texts = [(path, files.digest(path)) for path in paths]
    return digest((what, _settings(config, [path for path, _ in texts]), more, texts))


def of_arrays(config: Config, files: Files, paths: Sequence[str]) -> bytes:
    """The same for the memory of arrays, which is told by the texts and by what their projects depend on."""
    off = [name for name in codemod.names() if config.is_off_everywhere(name)]
    return digest(
        (
            "arrays",
            off,
            [sorted(found.intersection(paths)) for found in (config.rmm, config.context, config.perhaps_per_thread)],
            [(path, files.digest(path)) for path in paths],
        )
    )


def of_lists(config: Config, paths: Sequence[str]) -> bytes:
    """Of the files below some folders; `marshal`, which they are kept with, is not the same in each Python."""
    return digest(
        ("files", sys.implementation.cache_tag, os.path.realpath("."), str(config.root), config.exclude, list(paths))
    )


def _settings(config: Config, paths: Sequence[str]) -> object:
    off: list[object] = [*sorted(config.disabled)]
    if config.overrides:
        off = [
            (path, [name for name in codemod.names() if not config.is_on(name, path)], config.default_stream_of(path))
            for path in paths
        ]
    of_files = (
        config.per_thread,
        config.perhaps_per_thread,
        config.unbuilt,
        config.partly_built,
        config.to_be_chosen,
        config.rmm,
        config.context,
    )
    cuda = (config.cuda, config.guard) if config.is_too_old else None
    return (
        off,
        config.default_stream,
        [sorted(found.intersection(paths)) for found in of_files],
        config.tables,
        config.check_macros,
        _folders(config, paths),
        _of_paths(config.constants, paths),
        [one for one in config.replaced if one.path in paths],
        cuda,
        config.only,
        config.pool_threshold,
        config.pool_setup,
        (config.pools, config.wrappers),
        (config.stream, [(path, said) for path in paths if (said := config.streams_in(path))]),
    )


def _folders(config: Config, paths: Sequence[str]) -> object:
    """Where the headers of these files are looked for: those of a header, wherever any source looks."""
    mentioned = _of_paths(config.mentioned_folders, paths)
    return _of_paths(config.include_folders, paths), sorted({found for _, found in config.include_folders}), mentioned


def _of_paths(known: Iterable[tuple[str, tuple[str, ...]]], paths: Sequence[str]) -> object:
    found = dict(known)
    return [(path, found[path]) for path in paths if path in found]
