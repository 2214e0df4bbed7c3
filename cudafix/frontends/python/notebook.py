"""Jupyter notebooks (nbformat 4): their code cells as one Python module, and edits of that module as edits of the JSON.

The cells are one module, in order. What IPython reads and Python does not becomes a statement that says what is known
of it: a magic that only sets up IPython is nothing, a shell command is output, and whatever runs code that is not
seen, or a cell that is no Python, is `exec`, which the front end takes for the worst case. Such lines have no place of
their own in the notebook, so nothing is written there. Only the edited characters of the source strings change; an
inserted line becomes an element of its own, laid out like those beside it.
"""

from __future__ import annotations

import ast
import itertools
import json
import re
from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from cudafix.findings import Assumption, Edit, Finding, Place, Problem, Refusal, Report, Safety
from cudafix.project.files import Files
from cudafix.project.prefilter import NOTEBOOK
from cudafix.refusals import REFUSALS

ASSUMPTION = Assumption("cells_run_in_order", "")
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"')
_BLANK = re.compile(rb"[ \t\r\n]*")
_PLAIN = re.compile(rb"[^][{},:\s]+")
_UNIT = re.compile(rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|[^\\]")
_MAGIC = re.compile(r"\s*(?:[%!?]|[\w.,\[\] ]+=\s*[%!]|.*\?\s*$)")
# magics that neither run code nor touch the device
_SETTINGS = frozenset(
    "matplotlib load_ext reload_ext autoreload cd pwd ls config precision pylab env set_env who whos who_ls history "
    "pip conda mamba uv cat mkdir cp mv rm man alias aliases bookmark pinfo pdoc page colors xmode pprint doctest_mode "
    "lsmagic magic quickref rerun_off logstop notebook gui automagic autosave writefile html javascript js latex "
    "markdown svg bash sh script system sx perl ruby file".split()
)
_WRAPS = frozenset(("time", "capture"))
"""Cell magics whose cell runs once, as it is."""


class NotebookError(ValueError):
    """A file that is no notebook that can be worked on. The message says why."""


class _Text(NamedTuple):
    """A string of the JSON: where its characters start and end (without the quotes), and its value."""

    start: int
    end: int
    value: str


@dataclass(frozen=True, slots=True)
class Notebook:
    """`text` is the module. `first` and `last` give for each of its bytes where it starts and ends in `data`, -1 for
    bytes that are not there. `starts` gives the number of the cell for each place where a string starts, `separators`
    what stands between two strings of a cell (None where a cell is one string). `ordered`: the recorded execution
    counts rise from cell to cell.
    """

    path: str
    data: bytes
    text: bytes
    first: array[int]
    last: array[int]
    starts: Mapping[int, int]
    separators: Mapping[int, bytes | None]
    ordered: bool

    def offset(self, at: int) -> int:
        """The place in the file for a place in the module: the nearest one that is there."""
        for n in range(min(at, len(self.first) - 1), len(self.first)):
            if self.first[n] >= 0:
                return self.first[n]
        return next((end for end in reversed(self.last) if end >= 0), 0)

    def edit(self, edit: Edit) -> Edit | None:
        """The same change of the file; None where the module has text that the file has not."""
        start, end, text = edit.start, edit.end, edit.text
        if any(place < 0 for place in self.first[start:end]):
            return None
        begin = self.first[start] if start < len(self.first) else -1
        if begin < 0 and start == end:
            begin = self.last[start - 1] if start else -1  # behind the last character of a cell
            if text.endswith(b"\n") and not text.startswith(b"\n"):
                return None
        if begin < 0:
            return None
        owner = max(s for s in self.starts if s <= begin)
        stop = begin if start == end else self.last[end - 1]
        if self.starts[owner] != self.starts[max(s for s in self.starts if s <= stop)]:
            return None  # from one cell into another
        behind = self.first[end] if end < len(self.first) else -1
        if not text and begin in self.starts and self.starts.get(behind) == self.starts[owner]:
            stop = behind  # a whole line goes, and its string with it
        separator = self.separators[owner]
        words = json.dumps(text.decode(), ensure_ascii=self.data.isascii())[1:-1].encode()
        if separator is not None:
            words = words.replace(rb"\n", b'\\n"' + separator + b'"')
        return Edit(edit.path, begin, stop, words)


def read(path: str, data: bytes) -> Notebook | None:
    """Read a notebook; None for one whose language is not Python. Raises `NotebookError`."""
    try:
        found = json.loads(data.decode())
        whole = _value(data, _BLANK.match(data).end())[0]  # type: ignore[union-attr]
    except (ValueError, RecursionError) as error:
        raise NotebookError(f"not a notebook ({str(error).splitlines()[0]}): repair or exclude it") from None
    cells = found.get("cells") if isinstance(found, dict) else None
    if not isinstance(cells, list):
        raise NotebookError("not a notebook of format 4 (it has no `cells`): save it anew or exclude it")
    if not _is_python(found.get("metadata")):
        return None
    placed = whole["cells"]
    text = bytearray()
    first, last = array("q"), array("q")
    separators: dict[int, bytes | None] = {}
    starts: dict[int, int] = {}
    usual = _usual_separator(data, placed)
    counts: list[int] = []
    for number, (cell, place) in enumerate(zip(cells, placed, strict=True)):
        if not isinstance(cell, dict) or cell.get("cell_type") != "code":
            continue
        source = place.get("source", [])
        strings = source if isinstance(source, list) else [source]
        if not all(isinstance(one, _Text) for one in strings):
            raise NotebookError("not a notebook of format 4 (a `source` is no text): repair or exclude it")
        if isinstance(cell.get("execution_count"), int):
            counts.append(cell["execution_count"])
        for before, one in zip([None, *strings], strings, strict=False):
            between = data[before.end + 1 : one.start - 1] if before is not None else None
            starts[one.start] = number
            separators[one.start] = None if not isinstance(source, list) else between or usual
        _cell(data, strings, text, first, last)
    ordered = all(a < b for a, b in itertools.pairwise(counts))
    return Notebook(path, data, bytes(text), first, last, starts, separators, ordered)


def _is_python(metadata: object) -> bool:
    """The language of the kernel; a notebook that does not say is taken for Python."""
    known = metadata if isinstance(metadata, dict) else {}
    names = [
        table.get(key)
        for name, key in (("kernelspec", "language"), ("language_info", "name"))
        if isinstance(table := known.get(name), dict)
    ]
    said = [name for name in names if isinstance(name, str)]
    return not said or any(name.lower() in ("python", "ipython", "python3") for name in said)


def _value(data: bytes, at: int) -> tuple[Any, int]:
    """The JSON value at `at` with its strings placed, and where it ends. The text is known to be JSON."""

    def skip(place: int) -> int:
        found = _BLANK.match(data, place)
        assert found is not None
        return found.end()

    match data[at : at + 1]:
        case b'"':
            found = _STRING.match(data, at)
            assert found is not None
            return _Text(at + 1, found.end() - 1, json.loads(found[0])), found.end()
        case b"{" | b"[" as opening:
            closing = b"}" if opening == b"{" else b"]"
            table: dict[str, Any] = {}
            items: list[Any] = []
            at = skip(at + 1)
            while data[at : at + 1] != closing:
                item, at = _value(data, at)
                at = skip(at)
                if opening == b"{":
                    table[item.value], at = _value(data, skip(at + 1))
                    at = skip(at)
                else:
                    items.append(item)
                if data[at : at + 1] == b",":
                    at = skip(at + 1)
            return (table if opening == b"{" else items), at + 1
        case _:
            found = _PLAIN.match(data, at)
            assert found is not None
            return None, found.end()


def _usual_separator(data: bytes, cells: list[Any]) -> bytes:
    """What stands between two lines of a cell, from any cell that shows it."""
    for cell in cells:
        source = cell.get("source") if isinstance(cell, dict) else None
        if isinstance(source, list) and source and all(isinstance(one, _Text) for one in source):
            if len(source) > 1:
                return data[source[0].end + 1 : source[1].start - 1]
            opening = data.rfind(b"[", 0, source[0].start)
            return b"," + data[opening + 1 : source[0].start - 1]
    return b", "


def _cell(data: bytes, strings: Iterable[_Text], text: bytearray, first: array[int], last: array[int]) -> None:
    """Add a cell to the module."""
    code = bytearray()
    begins, ends = array("q"), array("q")
    for one in strings:
        for unit in _UNIT.finditer(data, one.start, one.end):
            raw = unit[0]
            plain = raw if len(raw) == 1 else json.loads(b'"' + raw + b'"').encode("utf-8", "surrogatepass")
            code += plain
            begins.extend([unit.start()] * len(plain))
            ends.extend([unit.end()] * len(plain))
    lines = bytes(code).splitlines(keepends=True) if code else []
    replaced = _replaced([line.decode("utf-8", "replace") for line in lines])
    at = 0
    for number, line in enumerate(lines):
        if number in replaced:
            words = replaced[number].encode("utf-8", "replace")
            text += words
            first.extend([-1] * len(words))
            last.extend([-1] * len(words))
        else:
            text += line
            first.extend(begins[at : at + len(line)])
            last.extend(ends[at : at + len(line)])
        at += len(line)
    if text and not text.endswith(b"\n"):
        text += b"\n"
        first.append(-1)
        last.append(-1)


def _replaced(lines: list[str]) -> dict[int, str]:
    """What stands in the module for the lines of a cell that are no Python, by their numbers."""
    # in front of a cell magic, comments are allowed by some front ends
    head = next((n for n, line in enumerate(lines) if line.strip() and not line.startswith("#")), None)
    if head is not None and lines[head].startswith("%%"):
        name = lines[head][2:].split(None, 1)[0] if lines[head][2:].split() else ""
        if name not in _WRAPS:
            whole = dict.fromkeys(range(len(lines)), "\n")
            if name not in _SETTINGS:
                whole[head] = f"exec({lines[head].strip()!r})\n"
            return whole
        return {head: "\n"} | {n + head + 1: words for n, words in _replaced(lines[head + 1 :]).items()}
    found: dict[int, str] = {}
    for _ in range(len(lines) + 1):
        wrong = _first_error("".join(found.get(n, line) for n, line in enumerate(lines)), len(lines))
        if wrong is None:
            return found
        at = next((n for n in (wrong, wrong - 1) if n not in found and _is_magic(lines, n)), None)
        if at is None:
            # an exercise with a gap, or a cell in another language
            return dict.fromkeys(range(1, len(lines)), "\n") | {0: f"exec({lines[wrong].strip()!r})\n"}
        found[at] = _meaning(lines[at])
        while lines[at].rstrip().endswith("\\") and at + 1 < len(lines):
            at += 1
            found[at] = "\n"
    return found


def _first_error(code: str, lines: int) -> int | None:
    """The line (from 0) where Python stops to understand; None if there is none."""
    try:
        compile(code, "<cell>", "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    except SyntaxError as error:
        return min((error.lineno or 1) - 1, lines - 1)
    except (ValueError, RecursionError, MemoryError):
        return 0
    return None


def _is_magic(lines: list[str], number: int) -> bool:
    return 0 <= number < len(lines) and _MAGIC.match(lines[number]) is not None


def _meaning(line: str) -> str:
    """A line for IPython as a statement."""
    words = line.strip()
    indent = line[: len(line) - len(line.lstrip())]
    target, given = "", words
    if not words.startswith(("%", "!", "?")) and "=" in words and not words.endswith("?"):
        target, _, given = words.partition("=")
        given = given.strip()
    name = given.lstrip("%").split()[0] if given.startswith("%") and given.strip("% ") else ""
    if given.startswith("!"):
        value = f"print({given!r})"
    elif given.endswith("?") or given.startswith("?") or name in _SETTINGS:
        value = "None" if target else "pass"
    else:
        value = f"exec({given!r})"
    return f"{indent}{target + '= ' if target else ''}{value}\n"


class Notebooks:
    """The notebooks of a run. `texts` are all files with notebooks as modules."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.problems: list[Problem] = []
        self._known: dict[str, Notebook] = {}
        modules: dict[str, bytes] = {}
        known = Files.of(files)
        for path in known:
            if path.endswith(NOTEBOOK) and not known.facts(path).unread:
                try:
                    found = read(path, files[path])
                except NotebookError as error:
                    self.problems.append(Problem(path, str(error)))
                    found = None
                if found is not None:
                    self._known[path] = found
                modules[path] = found.text if found is not None else b""
        self.texts = Files.of(files).replaced(modules)

    def report(self, report: Report) -> Report:
        """A report on the modules as one on the files."""
        if not self._known:
            return replace(report, problems=(*report.problems, *self.problems))
        out_of_order = {f.group or f for f in report.findings if not self._is_sound(f)}
        findings = [self._finding(f) for f in report.findings if (f.group or f) not in out_of_order]
        refusals = [self._refusal(r) for r in report.refusals]
        refusals += [self._refused(f) for f in report.findings if (f.group or f) in out_of_order]
        findings.sort(key=lambda f: (f.path, f.offset, f.codemod))
        refusals.sort(key=lambda r: (r.path, r.offset, r.name))
        inside = frozenset((path, self._offset(path, at)) for path, at in report.in_one_function)
        problems = (*report.problems, *self.problems)
        return replace(
            report, findings=tuple(findings), refusals=tuple(refusals), problems=problems, in_one_function=inside
        )

    def same_but_for_code(self, other: Notebooks) -> Iterator[str]:
        """What differs in two notebooks besides their code cells' text."""
        for path in sorted(self._known.keys() | other._known.keys()):
            one, two = self._known.get(path), other._known.get(path)
            if one is None or two is None or _without_code(one.data) != _without_code(two.data):
                yield f"{path}: something else than the text of code cells changed"

    def _offset(self, path: str, at: int) -> int:
        return self._known[path].offset(at) if path in self._known else at

    def _is_sound(self, finding: Finding) -> bool:
        paths = {finding.path, *(e.path for e in finding.edits)} & self._known.keys()
        return all(self._known[path].ordered for path in paths) and all(
            e.path not in self._known or self._known[e.path].edit(e) is not None for e in finding.edits
        )

    def _edit(self, edit: Edit) -> Edit:
        found = self._known[edit.path].edit(edit) if edit.path in self._known else edit
        assert found is not None
        return found

    def _place(self, place: Place) -> Place:
        return place._replace(offset=self._offset(place.path, place.offset))

    def _finding(self, finding: Finding) -> Finding:
        touched = not self._known.keys().isdisjoint({finding.path, *(e.path for e in finding.edits)})
        return replace(
            finding,
            offset=self._offset(finding.path, finding.offset),
            edits=tuple(self._edit(e) for e in finding.edits),
            related=tuple(self._place(p) for p in finding.related),
            safety=Safety.ASSUMES if touched else finding.safety,
            assumptions=(*finding.assumptions, ASSUMPTION) if touched else finding.assumptions,
        )

    def _refusal(self, refusal: Refusal) -> Refusal:
        return replace(
            refusal,
            offset=self._offset(refusal.path, refusal.offset),
            related=tuple(self._place(p) for p in refusal.related),
        )

    def _refused(self, finding: Finding) -> Refusal:
        name, text = "cell_order", "the notebook was run with its cells in another order"
        if all(self._known[p].ordered for p in {finding.path, *(e.path for e in finding.edits)} & self._known.keys()):
            name, text = "site_not_editable", "there is no place for it among the magics of a cell"
        at = self._offset(finding.path, finding.offset)
        return Refusal(name, finding.path, at, text, REFUSALS[name].unlock, runs=finding.runs)


def _without_code(data: bytes) -> object:
    found = json.loads(data)
    for cell in found["cells"]:
        if isinstance(cell, dict) and cell.get("cell_type") == "code":
            cell["source"] = None
    return found
