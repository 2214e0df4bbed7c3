"""The files to work on, as far as an earlier run knew them."""

from __future__ import annotations

from collections.abc import Sequence

from cudafix.pipeline import asked
from cudafix.pipeline.cache import Cache
from cudafix.project.config import Config
from cudafix.project.context import with_context
from cudafix.project.discovery import Sources, discover
from cudafix.project.files import dumped, loaded


def remembered(paths: Sequence[str], config: Config, cache: Cache | None) -> Sources:
    """As `discover`, with the context of files that are named; what is known of the files is kept in the cache."""
    if cache is None:
        return with_context(discover(paths, config), config)
    key = asked.of_lists(config, paths)
    kept = cache.get([key]).get(key)
    known = loaded(kept) if kept is not None else {}
    found = with_context(discover(paths, config, known), config, known)
    if not found.problems and (not found.known or found.files.keys() != known.keys()):
        cache.put({key: dumped(found.files.entries)})
    return found
