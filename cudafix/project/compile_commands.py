"""Compilation databases: how they compile a source."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from cudafix.project.build_files import text
from cudafix.project.build_texts import (
    defined_by,
    whole,
)
from cudafix.project.paths import SUFFIXES

_READ_FIRST = re.compile(r"@|(?:--options-file|-optf|--pre-include|-include)(?:=|$)")
"""Options that name a file with more options, or with text that stands in front of the source (nvcc's manual)."""
_INCLUDES = re.compile(r"(?:-I|-iquote|-isystem|--?include-path)=?")


class Command(NamedTuple):
    """How the compilation database compiles a source."""

    per_thread: bool | None
    folders: tuple[str, ...]  # where it looks for headers
    database: str
    constants: frozenset[str]  # macros that it defines


@lru_cache(maxsize=8)
def commands(databases: tuple[tuple[str, int], ...]) -> dict[str, Command]:
    """How each source of some compilation databases is compiled; where they do not agree, that is not known. The newest
    one says where headers are.
    """
    found: dict[str, Command] = {}
    for file, _ in sorted(databases, key=lambda each: each[1], reverse=True):
        try:
            commands = _read(file)
        except (OSError, ValueError):
            continue  # it is the build's, and says nothing then
        for source, command in commands.items():
            known = found.setdefault(source, command)
            per_thread = known.per_thread if known.per_thread is command.per_thread else None
            found[source] = known._replace(per_thread=per_thread, constants=known.constants & command.constants)
    return found


def _read(file: str) -> dict[str, Command]:
    """What a compilation database says. Raises OSError, ValueError.

    https://clang.llvm.org/docs/JSONCompilationDatabase.html
    """
    import json  # only a tree with a database pays for it

    entries = json.loads(Path(file).read_bytes())
    found: dict[str, Command] = {}
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict) and isinstance(entry.get("file"), str):
            folder = os.path.join(os.path.dirname(file), str(entry.get("directory", "")))
            source = os.path.realpath(os.path.join(folder, entry["file"]))
            if os.path.splitext(source)[1] in SUFFIXES:
                words = _words(entry)
                says = _compiled_by(words, folder)
                defined = list(defined_by(words))
                constant = {one.name for one in defined} - {one.name for one in defined if not one.is_constant}
                known = found.get(source, Command(says, (), file, frozenset(constant)))
                folders = (os.path.realpath(os.path.join(folder, f)) for f in _folders(words))
                # a source that is compiled twice, with two default streams: which of them a program links is not known
                per_thread = says if says is known.per_thread else None
                found[source] = Command(
                    per_thread, tuple(dict.fromkeys((*known.folders, *folders))), file, known.constants & constant
                )
    return found


def _compiled_by(words: list[str], folder: str) -> bool | None:
    """What a command says: of several options the last one counts, and the macro wins (docs/FACTS.md)."""
    texts = [" ".join(words)]
    for word, following in zip(words, (*words[1:], ""), strict=True):
        named = _READ_FIRST.match(word)
        if named is not None:
            file = word[named.end() :] or following
            texts.append(text(os.path.join(folder, file)).decode("utf-8", "replace"))
    said = [mention for text in texts for mention in whole(text)]
    if not said:
        return False
    if not all(mention.known for mention in said) or len(texts) > 1:
        return None
    return any(mention.macro for mention in said) or said[-1].value == "per-thread"


def _words(entry: dict[str, Any]) -> list[str]:
    if isinstance(entry.get("arguments"), list):
        return list(map(str, entry["arguments"]))
    import shlex

    try:
        return shlex.split(str(entry.get("command", "")))
    except ValueError:
        return str(entry.get("command", "")).split()


def _folders(words: list[str]) -> Iterator[str]:
    """The folders of the options that name one for headers, joined to it or behind it."""
    for word, following in zip(words, (*words[1:], ""), strict=True):
        option = _INCLUDES.match(word)
        if option is not None:
            yield word[option.end() :] or following
