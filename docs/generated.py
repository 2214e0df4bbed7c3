"""The parts of the documentation that are made from the code when the site is built (`docs/hooks.py`).

A page for each codemod, from its docstring and its fixtures, and for each refusal, from its data: what
`cudafix explain` prints, and more. Where nothing is rewritten, `docs/examples/<name>` holds a program `before` and
`after` a person has changed it: the page shows what cudafix says and does in both. Tables of commands, options,
assumptions, formats, roles and effects for pages that are written by hand.
"""

from __future__ import annotations

import ast
import difflib
import importlib
import inspect
import io
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from enum import Enum
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import click

from cudafix import codemod, findings, models
from cudafix.api import analysis, checks
from cudafix.cli import commands
from cudafix.cli import help as command_help
from cudafix.findings import ASSUMPTIONS, Report
from cudafix.models import api
from cudafix.pipeline import driver
from cudafix.pipeline.cache import Cache
from cudafix.project import config
from cudafix.project.config import Config, load
from cudafix.project.paths import SUFFIXES
from cudafix.refusals import REFUSALS
from cudafix.report import listing, positions, results, selection, suppressions
from cudafix.report import pages as explained
from cudafix.report.selection import Selection, select
from cudafix.report.terminal import Terminal
from cudafix.rewrite import edits

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "docs" / "examples"
_LANGUAGES = {".py": "python", ".toml": "toml"}
_WANT = re.compile(r'[ \t]*(?:\{?/\*|//|#) want ".*$', re.MULTILINE)


@contextmanager
def pages() -> Iterator[Mapping[str, Callable[[], str]]]:
    """The pages that nobody writes by hand: what gives the Markdown of each, by its path in the site.

    They are made by other processes, while the caller goes on.
    """
    with ProcessPoolExecutor() as processes:
        names = sorted((*codemod_names(), *refusal_names()), key=_starts)
        made = {name: processes.submit(page, name) for name in names}
        yield {
            "reference/codemods/index.md": _codemods_index,
            "reference/refusals/index.md": _refusals_index,
            **{f"reference/codemods/{name}.md": made[name].result for name in codemod_names()},
            **{f"reference/refusals/{name}.md": made[name].result for name in refusal_names()},
        }


def page(name: str) -> str:
    """The page of a codemod or a refusal: what `cudafix explain` prints, and what it looks like on programs."""
    return _refusal(name) if name in REFUSALS else _codemod(name)


def _starts(name: str) -> bool:
    return name != "budget"  # what takes longest starts first


def part(name: str) -> str:
    """What stands in a page for the mark `<!-- generated: NAME -->`. Raises `KeyError`."""
    return _PARTS[name]()


def codemod_names() -> list[str]:
    """The names that have a page among the codemods: the comments too."""
    return [*codemod.names(), suppressions.NAME]


def refusal_names() -> list[str]:
    """The names that have a page among the refusals."""
    return sorted(REFUSALS)


# ---------------------------------------------------------------------------------------------------------------------
# pages of codemods and refusals


def _codemods_index() -> str:
    lines = [f"| [`{name}`]({name}.md) | {each.summary} |" for name, each in codemod.codemods().items()]
    lines.append(f"| [`{suppressions.NAME}`]({suppressions.NAME}.md) | {suppressions.SUMMARY} |")
    return "# Codemods\n\n`cudafix explain NAME` prints these pages.\n\n" + _table("codemod", "what it does", lines)


def _refusals_index() -> str:
    lines = [f"| [`{name}`]({name}.md) | {page.title} |" for name, page in sorted(REFUSALS.items())]
    text = "# Refusals\n\nA pair that is not proved stays as it is, for one of these reasons. `cudafix explain NAME` "
    return text + "prints these pages.\n\n" + _table("refusal", "what stands in the way", lines)


def _codemod(name: str) -> str:
    cases = sorted(path.parent for path in (ROOT / "fixtures" / name).glob("*/case.toml"))
    text = explained.page(name)
    if "## Seen on a fixture" not in text:
        text += _example(name) or _seen(name, _smallest_case(name, folder=name))
    if cases:
        text += "\n## Its fixtures\n\n| program | why it is there |\n|---|---|\n"
        text += "".join(f"| {case.name.replace('_', ' ')} | {_why(case)} |\n" for case in cases)
    return text


def _why(case: Path) -> str:
    return str(tomllib.loads((case / "case.toml").read_text(encoding="utf-8"))["why"]).replace("|", "\\|")


def _refusal(name: str) -> str:
    return explained.page(name) + _example(name)


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


@cache
def example(folder: Path) -> Example:
    """Look at the program in `folder` as `cudafix check` does there."""
    files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*.*"))}
    own = folder / "cudafix.toml"
    config = replace(load(own, codemod.names()) if own.exists() else Config(), unsafe=True)
    return _analyzed({p: d for p, d in files.items() if p != own.name}, files, config)


def _analyzed(sources: dict[str, bytes], files: dict[str, bytes], config: Config) -> Example:
    """What a command says about the sources, whose proofs are kept for the next build as those of a command are."""
    return Example(files, config, driver.analyze(sources, config, cache=_proofs()))


@cache
def _proofs() -> Cache:
    return Cache()


def _seen(name: str, case: Path | None) -> str:
    """The sources of a fixture, and what `cudafix check` says there about the codemod or refusal `name`."""
    if case is None:
        return ""
    sources = {
        path.relative_to(case / "before").as_posix(): _WANT.sub("", path.read_text(encoding="utf-8")).encode()
        for path in sorted((case / "before").rglob("*"))
        if path.suffix in (".cu", ".cuh", ".cpp", ".h", ".py")
    }
    said = _analyzed(sources, sources, Config()).said(name)
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
# parts of pages that are written by hand


def _table(first: str, second: str, lines: Iterable[str]) -> str:
    return f"| {first} | {second} |\n|---|---|\n" + "".join(f"{line}\n" for line in lines)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _commands() -> str:
    """Each command with its usage, its help and its options; those of most commands once."""
    every = commands.cli.commands
    shared = [option for option in _options(every["diff"]) if option in _options(every["verify"])]
    text = ""
    for name, command in every.items():
        takes_all = set(shared) <= set(_options(command))
        own = [option for option in _options(command) if not (takes_all and option in shared)]
        usage = " ".join(command.collect_usage_pieces(click.Context(command)))
        text += f"## cudafix {name}\n\n```text\ncudafix {name} {usage}\n```\n\n"
        text += inspect.cleandoc(command.help or "") + "\n\n"
        lines = command_help.EXAMPLES[name]
        width = max(len(line) for line, _ in lines)
        text += "```sh\n" + "".join(f"{line:{width}}  # {what}\n" for line, what in lines) + "```\n\n"
        if own:
            text += _table("option", "meaning", (f"| {option} | {help_} |" for option, help_ in own)) + "\n"
        if takes_all:
            text += "And the [options that several commands share](#shared-options).\n\n"
    text += "## Shared options\n\nOf `check`, `diff`, `apply` and `verify`.\n\n"
    return text + _table("option", "meaning", (f"| {option} | {help_} |" for option, help_ in shared))


def _options(command: click.Command) -> list[tuple[str, str]]:
    """The options of a command as two cells of a table: names with what they take, and what they mean."""
    found = []
    for _, options in command_help.grouped(command.params):
        for option in options:
            names, help_ = option.get_help_record(click.Context(command)) or ("", "")
            found.append((f"`{_cell(names)}`".replace("\\|", "|"), _cell(re.sub(r"\[(?!default)[^\]]*\]$", "", help_))))
    return found


def _configuration() -> str:
    return "\n".join(line for line in (config.__doc__ or "").splitlines() if line.startswith("|"))


def _assumptions() -> str:
    return _table(
        "name", "as it is printed", (f"| `{name}` | {text.format('…')} |" for name, text in ASSUMPTIONS.items())
    )


def _roles() -> str:
    return "\n".join(line for line in (api.__doc__ or "").splitlines() if line.startswith("|"))


def _members(kind: type[Enum]) -> str:
    """The members of an enumeration, with the comments that explain them where they are defined."""
    found = re.findall(r'^    [A-Z_]+ = "(\w+)"(?:  # (.*))?$', inspect.getsource(kind), re.MULTILINE)
    words = {member.name: f"`{member.value}`" for member in kind}

    def told(meaning: str) -> str:
        return _linked(_cell(re.sub(r"\b[A-Z_]{3,}\b", lambda name: words.get(name[0], name[0]), meaning)))

    return _table("word", "meaning", (f"| `{value}` | {told(meaning)} |" for value, meaning in found))


def _libraries() -> str:
    """What has a table, with the documents that it rests on, as the module of the table says."""
    rows = []
    for name in dict.fromkeys(models._MODULES):
        module = importlib.import_module(f"cudafix.models.{name}")
        rows.append(f"| `{name}` | {_cell(inspect.getdoc(module) or '').partition('. ')[0].rstrip('.')} |")
    return _table("table", "library and documents", rows)


def _suffixes() -> str:
    return "`" + " ".join(sorted(SUFFIXES)) + "`\n"


_PUBLIC: tuple[tuple[ModuleType, tuple[str, ...]], ...] = (
    (checks, ("check", "Report")),
    (results, ("Result", "Change", "Related", "Clause", "Resting")),
    (positions, ("Region",)),
    (listing, ("Level",)),
    (analysis, ("InputError",)),
)
_INTERNAL: tuple[tuple[ModuleType, tuple[str, ...]], ...] = (
    (driver, ("analyze", "prove", "reasons")),
    (config, ("Config", "find", "load")),
    (findings, ("Report", "Finding", "Refusal", "Edit", "Place", "Problem", "Safety", "Runs", "Assumption")),
    (selection, ("Selection", "select")),
    (edits, ("apply", "diff")),
    (models, ("load", "Tables")),
)


def _api() -> str:
    """The functions and classes of the package itself."""
    return "".join(_member(module, name, f"## cudafix.{name}") for module, names in _PUBLIC for name in names)


def _internals() -> str:
    """The functions and classes that the commands are made of."""
    text = ""
    for module, names in _INTERNAL:
        text += f"### {module.__name__}\n\n"
        text += "".join(_member(module, name, f"#### {name}") for name in names)
    return text


def _member(module: ModuleType, name: str, title: str) -> str:
    """A function or a class as its source declares it, with its docstring."""
    item = getattr(module, name)
    declared = _declared(ast.parse(inspect.getsource(item)).body[0])
    return f"{title}\n\n```python\n{declared}\n```\n\n{_linked(inspect.getdoc(item) or '')}\n\n"


def _declared(node: ast.stmt) -> str:
    """The head of a function; of a class its fields, or what makes an object of it, and its public functions."""
    if isinstance(node, ast.FunctionDef):
        return _head(node)
    assert isinstance(node, ast.ClassDef)
    fields = [part for part in node.body if isinstance(part, ast.AnnAssign | ast.Assign)]
    functions = [part for part in node.body if isinstance(part, ast.FunctionDef)]
    shown = [f"    {ast.unparse(field)}" for field in fields if not ast.unparse(field).startswith("_")]
    shown += [
        f"    {line}"
        for function in functions
        if not function.name.startswith("_") or function.name in ("__init__", "__new__")
        for line in _head(function).splitlines()
    ]
    bases = ", ".join(map(ast.unparse, node.bases))
    return "\n".join([f"class {node.name}({bases}):" if bases else f"class {node.name}:", *shown])


def _head(function: ast.FunctionDef) -> str:
    """The first line of a function; where that is long, a line for each parameter."""
    returns = f" -> {ast.unparse(function.returns)}" if function.returns is not None else ""
    whole = f"def {function.name}({ast.unparse(function.args)}){returns}"
    if len(whole) <= 90:
        return whole
    taken = function.args.args
    defaults = [None] * (len(taken) - len(function.args.defaults)) + [*function.args.defaults]
    lines = ""
    for parameter, default in zip(taken, defaults, strict=True):
        lines += f"    {ast.unparse(parameter)}" + (f" = {ast.unparse(default)}" if default is not None else "") + ",\n"
    return f"def {function.name}(\n{lines}){returns}"


def _linked(text: str) -> str:
    """Text of the code, of which a page of the reference makes links."""
    return text.replace("(docs/FACTS.md)", "([measured](../FACTS.md))")


_PARTS: dict[str, Callable[[], str]] = {
    "api": _api,
    "assumptions": _assumptions,
    "commands": _commands,
    "configuration": _configuration,
    "internals": _internals,
    "effects": lambda: _members(api.Effect),
    "libraries": _libraries,
    "roles": _roles,
    "suffixes": _suffixes,
    "waits": lambda: _members(api.Waits),
}
"""The marks that pages may have."""
