"""Comments that keep a result out of the report, and its fix out of the code: `// cudafix: ignore[name] reason`.

For files that take no comment, `ignore` of the configuration does the same.

## What it does

A comment names codemods or refusals, and says why. Behind a statement, or on a line of its own in front of one, it
holds for that statement; in front of a function for the whole function; `ignore-file` for the file. In Python and in
the cells of a notebook it starts with `#`. Reported are comments without a name or a reason, names that do not exist,
comments that are not needed, and such words in the middle of a comment, where they hold nothing back.

## Why

Whoever reads the code later has to know why a pair stays: a comment without a reason holds nothing back. One that is
not needed any more hides the next result at its place.

## Example

```cuda
CHECK(cudaMalloc(&table, n)); // cudafix: ignore[stream_ordered_pairs] read by another process through its address
```

## Fix safety

`cudafix check --fix-suppressions` takes out comments that are not needed, and nothing else.
"""

from __future__ import annotations

import ast
import difflib
import io
import re
import sys
import tokenize
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from cudafix import codemod
from cudafix.findings import Edit, Finding, Refusal, Report, Suppressed
from cudafix.frontends.python import notebook
from cudafix.frontends.python.notebook import Notebook
from cudafix.project.config import Config, Ignored
from cudafix.project.files import Files
from cudafix.project.prefilter import NOTEBOOK
from cudafix.refusals import REFUSALS

NAME = "suppression"
SUMMARY = "keep a result out of the report, and its fix out of the code, with a reason"
_COMMENT = re.compile(
    rb"(?P<opens>//+|/\*+|\#+)[ \t]*cudafix:[ \t]*ignore(?P<file>-file)?\b[ \t]*(?:\[(?P<names>[^\]\n]*)\])?"
    rb"(?P<reason>(?:(?!\*/)[^\r\n])*)(?P<closes>\*/)?"
)

_LONGEST_LINE = 120  # with a comment behind the statement; else it stands in front

_MENTION = re.compile(rb"cudafix:[ \t]*ignore(?:-file)?[ \t]*\[[^\]\n]*\]")


class Judged(NamedTuple):
    """The report with what is suppressed and with what is wrong with the comments, the edits that take out those which
    are not needed, and what the configuration ignores although nothing of it is in the files that match.
    """

    report: Report
    removals: Mapping[str, list[Edit]]
    idle: tuple[Ignored, ...] = ()


class _Text(NamedTuple):
    """What comments are read in: a file, or the module that the cells of a notebook make."""

    path: str
    data: bytes
    book: Notebook | None

    @property
    def python(self) -> bool:
        return self.book is not None or self.path.endswith(".py")

    def offset(self, at: int) -> int:
        """The place in the file of a place in the text."""
        return at if self.book is None else self.book.offset(at)

    def edit(self, wanted: Edit) -> Edit | None:
        return wanted if self.book is None else self.book.edit(wanted)

    def lines(self, first: int, last: int) -> tuple[int, int]:
        """Where the lines `first` to `last`, from 1, lie in the file."""
        starts = [0, *(match.end() for match in re.finditer(rb"\n", self.data))]
        behind = self.offset(starts[last]) if last < len(starts) else sys.maxsize
        return self.offset(starts[first - 1]), behind


@dataclass
class _Comment:
    """`[start, end)` of a text. It holds for results at the offsets `[first, last)` of its file."""

    path: str
    start: int
    end: int
    names: list[str]
    reason: str
    first: int
    last: int
    wrong: str = ""
    used: set[str] = field(default_factory=set)


def judge(files: Mapping[str, bytes], report: Report, config: Config) -> Judged:
    """Hold the comments of the files, and what the configuration ignores, against what was found in them."""
    known = Files.of(files)
    given = [path for path in known if path not in config.context]
    marked = (path for path in given if known.facts(path).suppresses)
    texts = {path: text for path in marked if (text := _text(path, files[path]))}
    comments = [comment for text in texts.values() for comment in _comments(text)]
    if not comments and not config.ignored:
        return Judged(report, {})
    by_path: dict[str, list[_Comment]] = defaultdict(list)
    for comment in comments:
        by_path[comment.path].append(comment)

    used: set[Ignored] = set()

    def held_back(item: Finding | Refusal) -> Suppressed | None:
        name = item.name if isinstance(item, Refusal) else item.codemod
        here = by_path[item.path]
        holding = [c for c in here if not c.wrong and name in c.names and c.first <= item.offset < c.last]
        for comment in holding[-1:]:  # the narrowest
            comment.used.add(name)
            return Suppressed(item, comment.reason)
        for ignored in config.ignored_in(item.path):
            if name in ignored.names:
                used.add(ignored)
                return Suppressed(item, ignored.reason, in_source=False)
        return None

    items: list[Finding | Refusal] = [*report.findings, *report.refusals]
    suppressed = tuple(each for item in items if (each := held_back(item)) is not None)
    held = {id(each.item) for each in suppressed}
    refusals = tuple(refusal for refusal in report.refusals if id(refusal) not in held)
    faults: list[Finding] = []
    removals: dict[str, list[Edit]] = defaultdict(list)
    for comment in comments:
        unused = [name for name in comment.names if name not in comment.used and _was_looked_for(name, comment, config)]
        if not comment.wrong and unused:
            comment.wrong = f"`ignore[{', '.join(unused)}]` is not needed: nothing of that name is here"
            removals[comment.path] += _removal(texts[comment.path], comment, unused)
        if comment.wrong:
            at = texts[comment.path].offset(comment.start)
            faults.append(Finding(NAME, comment.path, at, comment.wrong))
    findings = sorted((*report.findings, *faults), key=lambda f: (f.path, f.offset, f.codemod))
    report = replace(report, findings=tuple(findings), refusals=refusals, suppressed=suppressed)
    spare = [each for each in config.ignored if each not in used] if config.only is None else []
    idle = tuple(each for each in spare if any(each in config.ignored_in(path) for path in given))
    return Judged(report, dict(removals), idle)


def ignoring(path: str, data: bytes, name: str, offset: int, reason: str) -> Edit | None:
    """The insertion of a comment that holds back the result of this name at `offset`, behind the statement or in front
    of it; None where no comment would (in a macro, say), and for notebooks. Without a `reason` it holds nothing back
    until somebody has written one.
    """
    if path.endswith(NOTEBOOK):
        return None
    text = _Text(path, data, None)
    extents = _python_extents(data) if text.python else _cuda_extents(path, data)
    line = data.count(b"\n", 0, offset) + 1
    around = [(first, last) for first, last in extents.statements if first <= line <= last]
    first, last = min(around, key=lambda lines: lines[1] - lines[0], default=(line, line))
    words = f"{'#' if text.python else '//'} cudafix: ignore[{name}] "
    (start, _), (_, end) = text.lines(first, first), text.lines(last, last)
    end = min(end, len(data))
    end = len(data[:end].rstrip(b"\r\n"))
    indent = re.match(rb"[ \t]*", data[start:])
    behind, before = (indent.group() if indent else b""), b"\r\n" if b"\r\n" in data else b"\n"
    for at, begins, ends in ((end, b" ", b""), (start, behind, before)):
        long = ends == b"" and end - data.rfind(b"\n", 0, end) + len(words) + len(reason) > _LONGEST_LINE
        if not long and _holds_back(text, at, begins + words.encode() + (reason or "x").encode() + ends, name, offset):
            return Edit(path, at, at, begins + f"{words}{reason}".encode() + ends)
    return None


def _holds_back(text: _Text, at: int, comment: bytes, name: str, offset: int) -> bool:
    """Whether a comment that is inserted holds the result of this name at `offset` back, and does nothing else."""
    data = text.data[:at] + comment + text.data[at:]
    moved = offset + len(comment) if at <= offset else offset
    old, new = list(_comments(text)), list(_comments(text._replace(data=data)))
    own = [each for each in new if at <= each.start < at + len(comment)]
    return len(new) == len(old) + 1 and [
        each.names for each in own if not each.wrong and each.first <= moved < each.last
    ] == [[name]]


def _text(path: str, data: bytes) -> _Text | None:
    """What comments of this file are read in; None for a notebook that is broken or not of Python."""
    if not path.endswith(NOTEBOOK):
        return _Text(path, data, None)
    try:
        book = notebook.read(path, data)
    except notebook.NotebookError:  # the analysis reports it
        return None
    return _Text(path, book.text, book) if book is not None else None


def _was_looked_for(name: str, comment: _Comment, config: Config) -> bool:
    """Whether the run would have found a result of this name: `--only` and codemods that are off leave some out."""
    return config.only is None and (name in REFUSALS or config.is_on(name, comment.path))


def _comments(text: _Text) -> Iterator[_Comment]:
    path, data = text.path, text.data
    found = list(_python_comments(data) if text.python else _cuda_comments(data))
    for mention in _python_mentions(data) if text.python else _cuda_mentions(data):
        if not any(match.start() <= mention.start() < match.end() for match in found):
            wrong = "`cudafix: ignore` holds nothing back in the middle of a comment: it has to stand at the start"
            yield _Comment(path, mention.start(), mention.end(), [], "", 0, 0, wrong)
    if not found:
        return
    extents = _python_extents(data) if text.python else _cuda_extents(path, data)
    read = []
    for match in found:
        names = [name.strip() for name in (match["names"] or b"").decode("utf-8", "replace").split(",") if name.strip()]
        reason = match["reason"].decode("utf-8", "replace").strip(" \t:-")
        first, last = (0, sys.maxsize) if match["file"] else text.lines(*_holds_for(data, match, extents))
        read.append(_Comment(path, match.start(), match.end(), names, reason, first, last, _wrong(names, reason)))
    yield from sorted(read, key=lambda c: (c.first - c.last, c.start))  # the widest first


def _wrong(names: list[str], reason: str) -> str:
    if not names:
        return "`ignore` needs the names of codemods or refusals: `ignore[name] reason`"
    known = [*codemod.names(), *REFUSALS]
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean `{near[0]}`?" if near else "`cudafix explain` lists all names"
            return f"no codemod and no refusal is named `{name}`; {hint}"
    return "" if re.search(r"\w", reason) else f"`ignore[{', '.join(names)}]` needs a reason behind it"


class _Extents(NamedTuple):
    """Lines from 1, first and last, of statements (up to a block in them) and of functions; `code` has no comments."""

    statements: list[tuple[int, int]]
    functions: list[tuple[int, int]]
    code: bytes


def _holds_for(data: bytes, comment: re.Match[bytes], extents: _Extents) -> tuple[int, int]:
    """The lines of the statement that a comment stands behind or in front of, or of the function in front of which."""
    line = data.count(b"\n", 0, comment.start()) + 1
    start = data.rfind(b"\n", 0, comment.start()) + 1
    alone = not extents.code[start : comment.start()].strip()
    if alone:
        rest = re.compile(rb"[^\s]").search(extents.code, comment.end())
        if rest is None:
            return line, line
        line = data.count(b"\n", 0, rest.start()) + 1
        for first, last in extents.functions:
            if first == line:
                return first, last
    for first, last in extents.statements:
        if (first if alone else last) == line:
            return first, last
    return line, line


def _cuda_comments(data: bytes) -> Iterator[re.Match[bytes]]:
    from cudafix.frontends.cuda.preprocess.directives import scan

    code = scan(data).code
    for match in _COMMENT.finditer(data):
        if match["opens"][:1] != b"#" and code[match.start() : match.start() + 1] == b" ":
            yield match


def _cuda_mentions(data: bytes) -> Iterator[re.Match[bytes]]:
    from cudafix.frontends.cuda.preprocess.directives import scan

    code = scan(data).code
    return (match for match in _MENTION.finditer(data) if code[match.start() : match.start() + 1] == b" ")


def _cuda_extents(path: str, data: bytes) -> _Extents:
    from cudafix.frontends.cuda.parse import extents
    from cudafix.frontends.cuda.preprocess.directives import scan

    def lines(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
        return [(data.count(b"\n", 0, a) + 1, data.count(b"\n", 0, max(b - 1, a)) + 1) for a, b in ranges]

    return _Extents(lines(extents.statements(path, data)), lines(extents.functions(path, data)), scan(data).code)


def _python_comments(data: bytes) -> Iterator[re.Match[bytes]]:
    for start, end in _python_tokens(data):
        match = _COMMENT.search(data, start, end)
        if match is not None and match["opens"][:1] == b"#":
            yield match


def _python_mentions(data: bytes) -> Iterator[re.Match[bytes]]:
    return (match for start, end in _python_tokens(data) for match in _MENTION.finditer(data, start, end))


def _python_tokens(data: bytes) -> list[tuple[int, int]]:
    """The comments of a Python file; those in front of what cannot be read."""
    starts = [0, *(match.end() for match in re.finditer(rb"\n", data))]
    found: list[tuple[int, int]] = []
    try:
        for token in tokenize.tokenize(io.BytesIO(data).readline):
            if token.type == tokenize.COMMENT:
                at = starts[token.start[0] - 1] + len(token.line[: token.start[1]].encode("utf-8", "surrogateescape"))
                if token.start[0] == 1 and data.startswith(b"\xef\xbb\xbf"):
                    at += 3
                found.append((at, at + len(token.string.encode("utf-8", "surrogateescape"))))
    except (tokenize.TokenError, SyntaxError, UnicodeDecodeError):
        pass
    return found


def _python_extents(data: bytes) -> _Extents:
    code = bytearray(data)
    for start, end in _python_tokens(data):
        code[start:end] = b" " * (end - start)
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError):
        return _Extents([], [], bytes(code))
    statements, functions = [], []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min((each.lineno for each in node.decorator_list), default=node.lineno)
            functions.append((first, node.end_lineno or node.lineno))
        elif isinstance(node, ast.stmt):
            block = getattr(node, "body", None)
            last = block[0].lineno - 1 if block else node.end_lineno or node.lineno
            statements.append((node.lineno, max(last, node.lineno)))
    return _Extents(sorted(statements), sorted(functions), bytes(code))


def _removal(text: _Text, comment: _Comment, unused: list[str]) -> list[Edit]:
    """Take out the names that are not needed; the whole comment, and its line, where none is left."""
    made = text.edit(_shortened(text.data, comment, unused))
    if made is None:  # the last line of a cell, whose end is not there: the line stays, empty
        made = text.edit(Edit(comment.path, comment.start, comment.end, b""))
    return [made] if made is not None else []


def _shortened(data: bytes, comment: _Comment, unused: list[str]) -> Edit:
    left = [name for name in comment.names if name not in unused]
    if left:
        names = data.index(b"[", comment.start) + 1
        return Edit(comment.path, names, data.index(b"]", names), ", ".join(left).encode())
    start = data.rfind(b"\n", 0, comment.start) + 1
    end = data.find(b"\n", comment.end)
    end = len(data) if end < 0 else end
    before, behind = data[start : comment.start], data[comment.end : end]
    if not before.strip() and not behind.strip():
        return Edit(comment.path, start, min(end + 1, len(data)), b"")
    return Edit(comment.path, start + len(before.rstrip()), comment.end, b"")
