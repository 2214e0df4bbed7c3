"""The manual pages of the commands, from their `--help`: `python -m docs.man` writes `docs/man`, which is installed.

The macros are those of man(7).
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from cudafix.cli import commands
from cudafix.cli import help as command_help

FOLDER = Path(__file__).resolve().parent / "man"


def texts() -> dict[Path, str]:
    """Each page by its file: that of the program, and one for each command."""
    program = commands.cli
    every = {"cudafix": program, **{f"cudafix-{name}": command for name, command in program.commands.items()}}
    return {FOLDER / f"{name}.1": _page(name, command) for name, command in every.items()}


def _page(name: str, command: click.Command) -> str:
    context = click.Context(command, info_name=name.replace("-", " "), **commands.cli.context_settings)
    key = name.partition("-")[2]
    summary, _, rest = inspect.cleandoc(command.help or "").partition("\n")
    usage = " ".join(command.collect_usage_pieces(context))
    lines = [
        f'.TH "{name.upper()}" "1" "" "cudafix" "cudafix"',
        *_section("Name", [f"{_text(name)} \\- {_text(summary.rstrip('.'))}"]),
        *_section("Synopsis", [f"\\fB{_text(context.info_name or name)}\\fR {_text(usage)}"]),
        *_section("Description", _paragraphs(f"{summary}\n{rest}")),
    ]
    if isinstance(command, click.Group):
        for title, names in command_help.SECTIONS:
            lines += _section(title, _rows((each, command.commands[each].get_short_help_str(200)) for each in names))
    for title, options in command_help.grouped(command.get_params(context)):
        records = (option.get_help_record(context) for option in options)
        lines += _section(title or "Options", _rows(record for record in records if record is not None))
    lines += _section("Examples", _rows(command_help.EXAMPLES[key]))
    lines += _section("Environment", _rows(command_help.ENVIRONMENT.get(key, ())))
    others = sorted(commands.cli.commands) if key == "" else []
    seen = [f"cudafix-{each}" for each in others] or ["cudafix"]
    lines += _section("See also", [", ".join(f"\\fB{_text(each)}\\fR(1)" for each in seen)])
    return "\n".join(lines) + "\n"


def _section(title: str, lines: Iterable[str]) -> Iterator[str]:
    body = list(lines)
    if body:
        yield f'.SH "{title.upper()}"'
        yield from body


def _paragraphs(text: str) -> Iterator[str]:
    for number, paragraph in enumerate(text.strip().split("\n\n")):
        if number:
            yield ".PP"
        yield _text(" ".join(paragraph.split()))


def _rows(rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    for term, said in rows:
        yield from (".TP", f"\\fB{_text(term)}\\fR", _text(said))


def _text(text: str) -> str:
    """Text as roff takes it: a hyphen is a minus, so that options can be copied; no line is a request (groff(7))."""
    made = text.replace("\\", "\\e").replace("-", "\\-").replace("`", "")
    return f"\\&{made}" if made.startswith((".", "'")) else made


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    made = texts()
    for old in set(FOLDER.glob("*.1")) - made.keys():
        old.unlink()
    for path, text in made.items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
