"""The files to work on, as far as an earlier run knew them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cudafix.pipeline import asked
from cudafix.pipeline.cache import Cache
from cudafix.project.config import Config
from cudafix.project.context import with_context
from cudafix.project.discovery import Sources, discover
from cudafix.project.files import dumped, loaded


def remembered(paths: Sequence[str], config: Config, cache: Cache | None, texts: Mapping[str, bytes] = {}) -> Sources:
    """As `discover`, with the context of files that are named; what is known of the files is kept in the cache."""
    if cache is None:
        return with_context(discover(paths, config, texts=texts), config, texts=texts)
    key = asked.of_lists(config, paths)
    kept = cache.get([key]).get(key)
    known = loaded(kept) if kept is not None else {}
    found = with_context(discover(paths, config, known, texts), config, known, texts)
    if not found.problems and (not found.known or found.files.keys() - texts.keys() != known.keys() - texts.keys()):
        cache.put({key: dumped(found.files.entries)})
    return found
