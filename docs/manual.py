"""Builds the manual: `python docs/manual.py [FOLDER]` (default: `site`).

A page for each codemod, from its docstring and its fixtures; a page for each refusal, from its data; the README, the
guides and the facts. Where nothing is rewritten, `docs/examples/<name>` holds a program `before` and `after` a person
has changed it: the page shows what cudafix says and does in both.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import io
import os
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import jinja2
from markdown_it import MarkdownIt
from markupsafe import Markup
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

from cudafix import codemod, driver, edits
from cudafix.config import Config, load
from cudafix.findings import Report
from cudafix.refusals import REFUSALS
from cudafix.report import pages
from cudafix.report.terminal import Terminal
from cudafix.selection import Selection, select

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "docs" / "examples"
_LANGUAGES = {".py": "python", ".toml": "toml"}
_WANT = re.compile(r'[ \t]*(?:\{?/\*|//|#) want ".*$', re.MULTILINE)


class BrokenLinkError(Exception):
    """A page links to something that is not there."""


class Page(NamedTuple):
    """`source` is the file that links in `text` are relative to."""

    name: str
    target: str
    text: str
    source: Path


def build(folder: Path) -> list[Path]:
    """Write the manual into `folder`; returns the pages. Raises `BrokenLinkError`."""
    contents = [
        ("Guides", list(_guides())),
        ("Codemods", [Page(n, f"codemods/{n}.html", _codemod(n), _home(n)) for n in codemod.names()]),
        (
            "Refusals",
            [Page(n, f"refusals/{n}.html", _refusal(n), ROOT / "docs/refusals" / n) for n in sorted(REFUSALS)],
        ),
    ]
    every = [page for _, own in contents for page in own]
    index = Page("cudafix", "index.html", _index(), ROOT / "docs/index.md")
    targets = {page.source: page.target for page in (index, *every)}
    template = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined).from_string(
        (ROOT / "docs/manual.html").read_text(encoding="utf-8")
    )
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(ROOT / "docs/manual.css", folder / "manual.css")
    written = []
    for page in (index, *every):
        up = "../" * page.target.count("/")
        body = rendered(page, targets, folder)
        file = folder / page.target
        file.parent.mkdir(parents=True, exist_ok=True)
        text = template.render(title=page.name, up=up, contents=contents, target=page.target, body=Markup(body))  # noqa: S704
        file.write_text(text, encoding="utf-8")
        written.append(file)
    return written


def _home(name: str) -> Path:
    return ROOT / "codemods" / f"{name}.py"


def _guides() -> Iterator[Page]:
    for name, source in (
        ("Reference", "README.md"),
        ("Stream-ordered memory", "docs/guide/stream-ordered-memory.md"),
        ("In CI", "docs/guide/ci.md"),
        ("What the runtime does", "docs/FACTS.md"),
        ("Real programs on a GPU", "docs/REAL_PROGRAMS.md"),
    ):
        target = f"{Path(source).stem.lower().replace('readme', 'reference')}.html"
        yield Page(name, target, (ROOT / source).read_text(encoding="utf-8"), ROOT / source)


def _index() -> str:
    lines = ["# cudafix", ""]
    lines += [
        "Migrates CUDA C++ and Python from `cudaMalloc` / `cudaFree` to stream-ordered allocation: with a proof that",
        "every order is still there, or a named refusal.",
        "",
        "- New to stream-ordered memory: [start here](guide/stream-ordered-memory.md)",
        "- Commands, options, the review page: [reference](../README.md)",
        "- Keep a migration: [in CI](guide/ci.md)",
        "",
        "## Codemods",
        "",
    ]
    lines += [f"- [`{n}`](../codemods/{n}.py): {each.summary}" for n, each in codemod.codemods().items()]
    lines += ["", "## Refusals", "", "| name | what stands in the way |", "|---|---|"]
    lines += [f"| [`{name}`](refusals/{name}.html) | {page.title} |" for name, page in sorted(REFUSALS.items())]
    return "\n".join(lines) + "\n"


# ---------------------------------------------------------------------------------------------------------------------
# pages from code and fixtures


def _codemod(name: str) -> str:
    cases = sorted(path.parent for path in (ROOT / "fixtures" / name).glob("*/case.toml"))
    text = pages.page(name)
    if "## Seen on a fixture" not in text:
        text += _example(name) or _seen(name, _smallest_case(name, folder=name))
    if cases:
        text += "\n## Its fixtures\n\n| program | why it is there |\n|---|---|\n"
        text += "".join(f"| {case.name.replace('_', ' ')} | {_why(case)} |\n" for case in cases)
    return text


def _why(case: Path) -> str:
    return str(tomllib.loads((case / "case.toml").read_text(encoding="utf-8"))["why"]).replace("|", "\\|")


def _refusal(name: str) -> str:
    return pages.page(name) + _example(name)


def _example(name: str) -> str:
    """A program that is held back, the change that a person makes, and what cudafix does then; empty without one."""
    if not (EXAMPLES / name).is_dir():
        return ""
    before, after = (example(EXAMPLES / name / which) for which in ("before", "after"))
    text = f"\n## Before\n\n{_listed(before.files)}{before.said(name)}\n"
    text += f"## After\n\nThe change:\n\n{_diff(before.files, after.files)}"
    fixes = "".join(
        edits.diff(path, after.files.get(path), changes).decode() for path, changes in after.selection().edits().items()
    )
    if not fixes:
        return text + "`cudafix check` has nothing to say about it any more.\n"
    assumed = dict.fromkeys(text for finding in after.report.findings for text in finding.assumptions)
    resting = f" with `--unsafe`, as it assumes that {' and '.join(assumed)}" if assumed else ""
    return text + f"What `cudafix apply` does then{resting}:\n\n```diff\n{fixes}```\n"


class Example(NamedTuple):
    """The files of one program, its configuration, and what is found there."""

    files: dict[str, bytes]
    config: Config
    report: Report

    def selection(self) -> Selection:
        """What `cudafix apply --unsafe` takes there."""
        return select(self.report, self.config, guarded=self.files if self.config.guard else None)

    def said(self, name: str) -> str:
        """What `cudafix check` says there about the codemod or refusal `name`."""
        findings = [finding for finding in self.report.findings if finding.codemod == name][:1]
        refusals = [refusal for refusal in self.report.refusals if refusal.name == name][:1]
        said = io.StringIO()
        Terminal(said, self.files).details(findings, refusals)
        return f"What `cudafix check` says:\n\n```text\n{said.getvalue().strip()}\n```\n" if said.getvalue() else ""


def example(folder: Path) -> Example:
    """Look at the program in `folder` as `cudafix check` does there."""
    files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*.*"))}
    own = folder / "cudafix.toml"
    config = replace(load(own, codemod.names()) if own.exists() else Config(), unsafe=True)
    return Example(files, config, driver.analyze({p: d for p, d in files.items() if p != own.name}, config))


def _seen(name: str, case: Path | None) -> str:
    """The sources of a fixture, and what `cudafix check` says there about the codemod or refusal `name`."""
    if case is None:
        return ""
    sources = {
        path.relative_to(case / "before").as_posix(): _WANT.sub("", path.read_text(encoding="utf-8")).encode()
        for path in sorted((case / "before").rglob("*"))
        if path.suffix in (".cu", ".cuh", ".cpp", ".h", ".py")
    }
    said = Example(sources, Config(), driver.analyze(sources, Config())).said(name)
    if not said:
        return ""
    return f"\n## Seen on a fixture\n\n{_why(case)[0].upper()}{_why(case)[1:]}.\n\n{_listed(sources)}{said}"


def _listed(files: Mapping[str, bytes]) -> str:
    text = ""
    for path, content in files.items():
        language = _LANGUAGES.get(Path(path).suffix, "cuda")
        title = f"`{path}`:\n\n" if len(files) > 1 else ""
        text += f"{title}```{language}\n{content.decode().strip()}\n```\n\n"
    return text


def _diff(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> str:
    """What a person changes, as a unified diff."""
    lines: list[str] = []
    for path in sorted(before.keys() | after.keys()):
        old, new = (files.get(path, b"").decode().splitlines(keepends=True) for files in (before, after))
        left, right = f"a/{path}" if path in before else "/dev/null", f"b/{path}" if path in after else "/dev/null"
        lines += difflib.unified_diff(old, new, left, right)
    return f"```diff\n{''.join(lines)}```\n\n"


def _smallest_case(wanted: str, folder: str = "*") -> Path | None:
    """The fixture, of one codemod or of any, that wants this result and has the least text."""
    mark = f'"{wanted}'
    found = {
        case: sum(file.stat().st_size for file in files)
        for case in (ROOT / "fixtures").glob(f"{folder}/*")
        if (files := [file for file in (case / "before").rglob("*") if file.is_file()])
        and any(mark in file.read_text(encoding="utf-8", errors="replace") for file in files)
    }
    return min(found, key=lambda case: (found[case], case), default=None)


# ---------------------------------------------------------------------------------------------------------------------
# Markdown to HTML


def _code(text: str, language: str, _: str) -> str:
    with contextlib.suppress(ClassNotFound):
        return str(highlight(text, get_lexer_by_name(language or "text"), HtmlFormatter(nowrap=True)))
    return ""


def rendered(page: Page, targets: Mapping[Path, str], folder: Path) -> str:
    """The HTML of one page; files that it links to are copied into `folder`. Raises `BrokenLinkError`."""
    parser = MarkdownIt("commonmark", {"html": False, "highlight": _code}).enable("table")
    tokens = parser.parse(page.text)
    taken: set[str] = set()
    for token, following in zip(tokens, [*tokens[1:], None], strict=True):
        if token.type == "heading_open" and following is not None:
            token.attrSet("id", _anchor(following.content, taken))
        for inner in token.children or ():
            for attribute in ("href", "src"):
                link = inner.attrGet(attribute)
                if isinstance(link, str):
                    inner.attrSet(attribute, _link(link, page, targets, folder))
    return str(parser.renderer.render(tokens, parser.options, {}))


def _anchor(heading: str, taken: set[str]) -> str:
    """The id that GitHub gives a heading, so that the same links work there and here."""
    slug = re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")
    number = 1
    found = slug
    while found in taken:
        found = f"{slug}-{number}"
        number += 1
    taken.add(found)
    return found


def _link(link: str, page: Page, targets: Mapping[Path, str], folder: Path) -> str:
    """A link of a source file as a link of its page: to another page, or to a file that is copied beside it."""
    path, _, anchor = link.partition("#")
    if ":" in path or not path:
        return link
    up = "../" * page.target.count("/")
    behind = f"#{anchor}" if anchor else ""
    source = Path(os.path.normpath(page.source.parent / path))
    if source in targets:
        return up + targets[source] + behind
    if path in targets.values():
        return up + path + behind
    if source.is_file() and source.is_relative_to(ROOT):
        copied = folder / "files" / source.relative_to(ROOT)
        copied.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, copied)
        return f"{up}files/{source.relative_to(ROOT).as_posix()}{behind}"
    raise BrokenLinkError(f"{page.source}: `{link}` leads nowhere")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Make the manual, and check its links.")
    parser.add_argument("folder", nargs="?", default="site", type=Path)
    made = build(parser.parse_args().folder)
    print(f"{len(made)} pages, from {made[0]}")
