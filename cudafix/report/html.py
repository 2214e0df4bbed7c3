"""The review page: every fix and every refusal with its diff, its certificate and its timeline, in one file.

The page holds its data as JSON and builds what is looked at from it, so that thousands of fixes open at once. Source
text reaches it as data only, never as markup: the page's script sets it as text.
"""

from __future__ import annotations

import base64
import difflib
import hashlib
import json
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from itertools import accumulate
from typing import Any

import jinja2
from markupsafe import Markup
from pygments.lexers import CudaLexer, PythonLexer
from pygments.token import STANDARD_TYPES, Token

from cudafix import __version__, codemod, refusals
from cudafix.findings import Certificate, Edit, Finding, Place, Refusal, Report, Runs, Step
from cudafix.report import words
from cudafix.report.listing import fingerprints, key
from cudafix.report.selection import Selection
from cudafix.report.terminal import PAIRS, readable
from cudafix.rewrite import edits

_AROUND = 3  # unchanged lines around a change
_ALIGNED = 40  # lines of a change up to which old and new ones are matched by their likeness
_POOLS = "the new code runs on devices with memory pools; `pools` in the configuration says what becomes of others"
_LONGEST = 4000  # characters of a line that are shown


def page(report: Report, selection: Selection, sources: Mapping[str, bytes], title: str) -> str:
    """The page as text. Fixes of the `selection` are ticked, the others can be."""
    folder = resources.files("cudafix.report") / "page"
    style, script = ((folder / name).read_text("utf-8") for name in ("page.css", "page.js"))
    content = _Data(report, selection, sources).content()
    # what the reviewer has done is kept under this name
    content["report"] = hashlib.sha256(json.dumps(content).encode()).hexdigest()[:16]
    data = json.dumps(content, separators=(",", ":"), ensure_ascii=False)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    return environment.from_string((folder / "page.html").read_text("utf-8")).render(
        title=readable(title),
        version=__version__,
        digest=digest,
        style=Markup(style),  # noqa: S704  # ours
        script=Markup(script),  # noqa: S704  # ours
        # in a script element only `<` can end the data or start a comment
        data=Markup(data.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")),  # noqa: S704
    )


class _File:
    """A source file by lines, highlighted when a line is asked for."""

    def __init__(self, path: str, content: bytes) -> None:
        self.path = path
        self.content = content
        self.lines = edits.lines(content)
        self.starts = [0, *accumulate(len(line) for line in self.lines)]
        self.asked: set[int] = set()
        self._tokens: list[list[str]] | None = None

    @property
    def text(self) -> list[str]:
        return [_text(line, n == 0) for n, line in enumerate(self.lines)]

    def place(self, offset: int) -> tuple[int, int]:
        """The line and column of an offset, both from 1; the line will be shown."""
        number = min(bisect_right(self.starts, offset), max(len(self.lines), 1))
        line = self.content[self.starts[number - 1] : offset]
        self.asked.add(number)
        return number, len(line.decode("utf-8", "replace")) + 1

    def tokens(self) -> dict[int, list[str]]:
        """The lines that were asked for."""
        whole = highlighted(self.path, self.text)
        return {n: whole[n - 1] for n in sorted(self.asked) if n <= len(whole)}


def _text(line: bytes, first: bool) -> str:
    raw = line.rstrip(b"\r\n")
    return readable(raw.removeprefix(b"\xef\xbb\xbf") if first else raw).expandtabs(4)[:_LONGEST]


def highlighted(path: str, lines: Sequence[str]) -> list[list[str]]:
    """Each line as class, text, class, text, … with the short class names of pygments."""
    lexer = PythonLexer(stripnl=False) if path.endswith(".py") else CudaLexer(stripnl=False)
    found: list[list[str]] = [[]]
    for kind, value in lexer.get_tokens("\n".join(lines) + "\n"):
        while kind not in STANDARD_TYPES and kind is not Token:
            kind = kind.parent
        name = STANDARD_TYPES.get(kind, "")
        name = "" if name in ("w", "n", "p") else name
        for n, part in enumerate(value.split("\n")):
            if n:
                found.append([])
            line = found[-1]
            if part and line and line[-2] == name:
                line[-1] += part
            elif part:
                line += (name, part)
    return found[: len(lines)]


class _Data:
    """What the page is made of."""

    def __init__(self, report: Report, selection: Selection, sources: Mapping[str, bytes]) -> None:
        self.report = report
        self.selection = selection
        self.sources = sources
        self.files: dict[str, tuple[int, _File]] = {}
        self.prints: dict[tuple[str, int, str], str] = {}
        self.certificates: dict[int, int] = {}  # by `id`: all findings of a group share one
        self.shown: list[dict[str, Any]] = []

    def content(self) -> dict[str, Any]:
        chosen = {id(finding) for finding in self.selection.chosen}
        why = {id(finding): reason for finding, reason in self.selection.left}
        judged = (*self.selection.chosen, *(finding for finding, _ in self.selection.left))
        items: list[Finding | Refusal] = [*judged, *self.report.refusals]
        items.sort(key=lambda item: (item.path, item.offset))
        self.prints = fingerprints(self.sources, [*self.report.findings, *items])
        made = [
            self._refusal(item) if isinstance(item, Refusal) else self._finding(item, id(item) in chosen, why)
            for item in items
        ]
        declared = codemod.codemods()
        names = {item["name"] for item in made}
        return {
            "sites": self.report.sites,
            "items": made,
            "certificates": self.shown,
            "pages": {
                **{name: [each.summary, "", ""] for name, each in declared.items() if name in names},
                **{name: list(each) for name, each in refusals.REFUSALS.items() if name in names},
            },
            "files": [
                {
                    "path": readable(path),
                    # a file that a fix makes was not looked at
                    "sha256": hashlib.sha256(file.content).hexdigest() if path in self.sources else "",
                    "lines": file.tokens(),
                }
                for path, (_, file) in self.files.items()
            ],
        }

    def _file(self, path: str) -> tuple[int, _File]:
        if path not in self.files:
            self.files[path] = len(self.files), _File(path, self.sources.get(path, b""))
        return self.files[path]

    def _at(self, path: str, offset: int) -> list[int]:
        number, file = self._file(path)
        return [number, *file.place(offset)]

    def _place(self, place: Place) -> list[object]:
        return [*self._at(place.path, place.offset), readable(place.text)]

    def _common(self, item: Finding | Refusal) -> dict[str, Any]:
        return {
            "at": self._at(item.path, item.offset),
            "print": self.prints[key(item)][:12],
            "message": readable(item.message),
            "runs": item.runs.value if isinstance(item.runs, Runs) else "",
            "related": [self._place(place) for place in item.related],
            "certificate": self._certificate(item.certificate),
            "memory": self._memory(item),
            "words": [
                [c.about, readable(c.text), [self._at(p.path, p.offset) for p in c.places]] for c in words.clauses(item)
            ],
        }

    def _refusal(self, item: Refusal) -> dict[str, Any]:
        return {
            **self._common(item),
            "kind": "refusal",
            "name": item.name,
            "unlock": readable(item.unlock),
            "order": item.order,
        }

    def _finding(self, item: Finding, ticked: bool, why: Mapping[int, str]) -> dict[str, Any]:
        return {
            **self._common(item),
            "kind": "fix" if item.codemod in PAIRS else "defect",
            "name": item.codemod,
            "safety": item.safety.value,
            "assumes": [readable(text) for text in item.assumptions],
            "rests": [*map(readable, item.defaults), *([_POOLS] if self._needs_pools(item) else [])],
            "group": item.group,
            "ticked": ticked and bool(item.edits),
            "left": why.get(id(item), ""),
            "diff": list(self._diff(item.edits)),
        }

    def _needs_pools(self, item: Finding) -> bool:
        return self.selection.needs_pools and item.codemod in PAIRS

    def _memory(self, item: Finding | Refusal) -> str:
        """The variable that the site fills, if it has a name."""
        shown = item.certificate.memory if item.certificate is not None else ()
        return next((readable(p.text) for p in shown if (p.path, p.offset) == (item.path, item.offset)), "")

    # -- diffs ---------------------------------------------------------------------------------------------------------

    def _diff(self, changes: Sequence[Edit]) -> Iterator[list[Any]]:
        """Hunks: the file, and rows of old line, new line, text of the new one, and what differs in each."""
        by_path: dict[str, list[Edit]] = {}
        for edit in changes:
            by_path.setdefault(edit.path, []).append(edit)
        for path, own in by_path.items():
            number, file = self._file(path)
            shift = 0
            rows: list[list[Any]] = []
            at = 0
            for region in edits.regions(file.content, own):
                first = max(region.start - _AROUND, 0)
                if rows and first > at + _AROUND:
                    rows += self._unchanged(file, at, min(at + _AROUND, len(file.lines)), shift)
                    yield [number, rows]
                    rows = []
                elif rows:
                    first = at
                rows += self._unchanged(file, max(first, at) if rows else first, region.start, shift)
                rows += self._changed(file, region, shift)
                shift += len(region.new) - (region.stop - region.start)
                at = region.stop
            if rows:
                yield [number, rows + self._unchanged(file, at, min(at + _AROUND, len(file.lines)), shift)]

    def _unchanged(self, file: _File, start: int, stop: int, shift: int) -> list[list[Any]]:
        file.asked |= set(range(start + 1, stop + 1))
        return [[n + 1, n + 1 + shift] for n in range(start, stop)]

    def _changed(self, file: _File, region: edits.Region, shift: int) -> list[list[Any]]:
        old = [_text(line, n == 0) for n, line in enumerate(file.lines[region.start : region.stop], region.start)]
        new = [_text(line, False) for line in region.new]
        tokens = highlighted(file.path, new)
        file.asked |= set(range(region.start + 1, region.stop + 1))
        rows: list[list[Any]] = []
        for a, b in _aligned(old, new):
            marks: list[Any] = [None, None]
            if a is not None and b is not None:
                marks = _differing(old[a], new[b])
            rows.append(
                [
                    region.start + a + 1 if a is not None else 0,
                    region.start + shift + b + 1 if b is not None else 0,
                    tokens[b] if b is not None else None,
                    *marks,
                ]
            )
        return rows

    # -- certificates --------------------------------------------------------------------------------------------------

    def _certificate(self, shown: Certificate | None) -> int | None:
        if shown is None:
            return None
        if id(shown) not in self.certificates:
            self.certificates[id(shown)] = len(self.shown)
            self.shown.append(
                {
                    "before": [self._step(step) for step in shown.before],
                    "after": [self._step(step) for step in shown.after],
                    "lost": shown.lost,
                    "faulty": shown.faulty,
                    "sketch": shown.sketch,
                }
            )
        return self.certificates[id(shown)]

    def _step(self, step: Step) -> list[Any]:
        flags = "".join(
            letter
            for letter, holds in (("w", step.waits), ("m", step.mine), ("i", step.inserted))
            if holds
        )  # fmt: skip
        at = self._at(step.place.path, step.place.offset)
        return [step.kind, readable(step.lane), readable(words.label(step)), at, list(step.after), flags]


def _aligned(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int | None, int | None]]:
    """Old and new lines side by side, so that as much as possible is alike."""
    if max(len(old), len(new)) > _ALIGNED:
        for n in range(max(len(old), len(new))):
            yield (n if n < len(old) else None), (n if n < len(new) else None)
        return
    likeness = [[difflib.SequenceMatcher(None, a.strip(), b.strip(), False).ratio() for b in new] for a in old]
    best = [[0.0] * (len(new) + 1) for _ in range(len(old) + 1)]
    for i in range(len(old) - 1, -1, -1):
        for j in range(len(new) - 1, -1, -1):
            paired = best[i + 1][j + 1] + likeness[i][j] if likeness[i][j] > 0.5 else 0.0
            best[i][j] = max(best[i + 1][j], best[i][j + 1], paired)
    i = j = 0
    while i < len(old) or j < len(new):
        if i < len(old) and j < len(new) and likeness[i][j] > 0.5:
            if best[i][j] == best[i + 1][j + 1] + likeness[i][j]:
                yield i, j
                i, j = i + 1, j + 1
                continue
        if i < len(old) and (j == len(new) or best[i][j] == best[i + 1][j]):
            yield i, None
            i += 1
        else:
            yield None, j
            j += 1


def _differing(old: str, new: str) -> list[list[int]]:
    """The ranges in which two lines differ: what is left between their common start and end, in whole words."""
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    while start and (old[start - 1].isalnum() or old[start - 1] == "_"):
        start -= 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    while end and (old[-end].isalnum() or old[-end] == "_"):
        end -= 1
    return [[start, len(old) - end], [start, len(new) - end]]
