"""The pages of `cudafix explain`: of a codemod from its module and its first fixture, of a refusal from its data."""

from __future__ import annotations

import difflib
import inspect
import re
from pathlib import Path
from typing import TextIO

import cudafix
from cudafix import codemod
from cudafix.refusals import REFUSALS
from cudafix.report import suppressions

_WANT = re.compile(r'[ \t]*(?://|#) want ".*$', re.MULTILINE)


class NoSuchPageError(LookupError):
    """No codemod and no refusal has this name. The message names the nearest one."""


def show(name: str | None, file: TextIO) -> None:
    """Write the page of `name`, or the list of all pages, to `file`: laid out on a terminal, else as Markdown.

    Raises `NoSuchPageError`.
    """
    text = listing() if name is None else page(name)
    if not file.isatty():
        file.write(text)
        return
    from rich.console import Console
    from rich.markdown import Markdown

    Console(file=file).print(Markdown(text))


def listing() -> str:
    """All pages, one line each, as Markdown."""
    lines = ["# Codemods", ""]
    lines += (f"- `{name}`: {each.summary}" for name, each in codemod.codemods().items())
    lines += ["", "# Comments", "", f"- `{suppressions.NAME}`: {suppressions.SUMMARY}", "", "# Refusals", ""]
    lines += (f"- `{name}`: {each.title}" for name, each in sorted(REFUSALS.items()))
    return "\n".join(lines) + "\n"


def names() -> list[str]:
    """What `page` takes."""
    return sorted((*codemod.names(), suppressions.NAME, *REFUSALS))


def title(name: str) -> str:
    """What a codemod or a refusal is, in a sentence. Raises `KeyError`."""
    if name == suppressions.NAME:
        return "A comment that suppresses results is wrong, or not needed."
    return _sentence(REFUSALS[name].title if name in REFUSALS else codemod.codemods()[name].summary)


def page(name: str, *, example: bool = True) -> str:
    """The page of a codemod or a refusal as Markdown. Raises `NoSuchPageError`.

    The `example` comes from the fixtures, which are not installed everywhere.
    """
    names = codemod.names()
    if name in names:
        return _codemod_page(name, example)
    if name == suppressions.NAME:
        return f"# {name} (comments)\n\n{inspect.getdoc(suppressions)}\n"
    if name in REFUSALS:
        refusal = REFUSALS[name]
        return (
            f"# {name} (refusal)\n\n{_sentence(refusal.title)}\n\n"
            f"## Why\n\n{refusal.why}\n\n## What would unlock it\n\n{refusal.unlock}\n"
        )
    near = difflib.get_close_matches(name, [*names, suppressions.NAME, *REFUSALS], n=1)
    hint = f"did you mean `{near[0]}`?" if near else "`cudafix explain` lists all names"
    raise NoSuchPageError(f"no codemod and no refusal is named `{name}`; {hint}")


def _codemod_page(name: str, example: bool) -> str:
    text = f"# {name} (codemod)\n\n{inspect.getdoc(codemod.module(name)) or ''}\n"
    diff = _first_fixture(name) if example else ""
    return text + (f"\n## Seen on a fixture\n\n```diff\n{diff}```\n" if diff else "")


def _first_fixture(name: str) -> str:
    """The first fixture of a codemod that is rewritten, as a diff; empty where the fixtures are not installed."""
    folder = Path(cudafix.__file__).parents[1] / "fixtures" / name
    for case in sorted(folder.glob("*/after")):
        lines: list[str] = []
        for after in sorted(path for path in case.rglob("*") if path.is_file()):
            relative = after.relative_to(case)
            old, new = _plain(case.parent / "before" / relative), _plain(after)
            if not old:
                continue  # a file that is added is not what the page is about
            lines += difflib.unified_diff(old, new, f"a/{relative.as_posix()}", f"b/{relative.as_posix()}")
        if lines:
            return "".join(lines)
    return ""


def _plain(path: Path) -> list[str]:
    """The lines of a fixture without the comments that address the test harness; none where it is not there."""
    if not path.is_file():
        return []
    return _WANT.sub("", path.read_text(encoding="utf-8", errors="replace")).splitlines(keepends=True)


def _sentence(title: str) -> str:
    return f"{title[0].upper()}{title[1:]}." if title[0].isalpha() else f"{title}."
