"""`--help`: options in groups, in the order in which people need them, with examples and environment variables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click

GROUPS = (
    ("The program", ("--build", "--run", "--launcher", "--copy")),
    ("What is compared", ("--exit", "--output", "--compare", "--ignore", "--tolerance")),
    ("Selection", ("--only", "--except", "--unsafe", "--since", "--stdin-filename", "--config")),
    ("Writing", ("--interactive", "--commit", "--allow-dirty")),
    ("Output", ("--format", "--quiet", "--statistics", "--fail-on", "--html")),
    ("Baseline and suppressions", ("--baseline", "--update-baseline", "--prune-baseline", "--fix-suppressions")),
    ("Runs", ("--rounds", "--mutants", "--schedules", "--stale", "--time-limit", "--build-limit", "--output-limit")),
    ("Another machine", ("--export", "--import", "--save-case")),
    ("Speed", ("--jobs", "--gpu-jobs", "--proof-limit", "--no-cache", "--executor", "--shard", "--proofs")),
)
"""The options of all commands by their long names, in the order of the help. A command has those that it has."""
SECTIONS = (
    ("Start", ("demo", "init", "explain")),
    ("Migrate", ("check", "diff", "apply", "undo")),
    ("Prove and measure", ("prove", "verify", "merge")),
    ("Editors", ("server",)),
)
_CACHE = ("CUDAFIX_CACHE_DIR", "Where proofs of earlier runs are kept, not the user's cache folder.")
_STATE = ("CUDAFIX_STATE_DIR", "Where the record for `undo` is kept, not the user's state folder.")
_COLOUR = ("NO_COLOR", "No colour; a pipe gets none anyway.")
EXAMPLES = {
    "": (("cudafix", "what is in this folder, and what to do next"), ("cudafix demo", "one program on a screen")),
    "check": (
        ("cudafix check src", "what can move, what is refused and why"),
        ("cudafix check --statistics", "how far the migration is"),
        ("cudafix check --since origin/main", "only what this branch brought"),
    ),
    "diff": (
        ("cudafix diff --html review.html", "a page to look at, and to select on"),
        ("cudafix diff | git apply", "what `apply` would write"),
    ),
    "apply": (
        ("cudafix apply --interactive", "fix by fix, with its diff and its proof"),
        ("cudafix apply --only cudafix-selection.json", "what was selected on the page"),
        ("cudafix apply --commit folder", "a commit for each folder, to be reviewed one by one"),
    ),
    "undo": (("cudafix undo", "after an `apply` in this tree"),),
    "prove": (("cudafix prove old/solver.cu new/solver.cu", "a migration by hand"),),
    "verify": (
        ("cudafix verify --build 'make' --run './solver 64'", "before and after, on this GPU"),
        ("cudafix verify --run 'python solve.py' --export vm", "a folder to run elsewhere"),
    ),
    "merge": (("cudafix merge shard-*.proofs", "after `check --shard I/N --proofs FILE`"),),
    "init": (("cudafix init", "then look at `paths`"),),
    "demo": (("cudafix demo | less -R", "it fits on a screen of 50 lines"),),
    "server": (("cudafix server", "as the command of a language server, in the settings of the editor"),),
    "explain": (
        ("cudafix explain needs_device_sync", "why a pair is refused, and what unlocks it"),
        ("cudafix explain", "all names"),
    ),
}
"""A command line and what it is for, by command; of the program itself by the empty name."""
ENVIRONMENT = {
    "": (_CACHE, _STATE, _COLOUR),
    "check": (_CACHE, _COLOUR),
    "diff": (_CACHE, _COLOUR),
    "apply": (_CACHE, _STATE, _COLOUR),
    "undo": (_STATE,),
    "prove": (_COLOUR,),
    "verify": (_CACHE, ("CUDA_HOME, CUDA_PATH", "Where nvcc is, if not on `PATH`."), _COLOUR),
    "merge": (_CACHE,),
    "demo": (_COLOUR,),
    "server": (_CACHE,),
    "explain": (_COLOUR,),
}
_WIDEST = 52  # columns of an example


def grouped(parameters: Sequence[click.Parameter]) -> Iterator[tuple[str, list[click.Option]]]:
    """The options of a command by group; those of no group, as `--help`, last and without a title."""
    options = [each for each in parameters if isinstance(each, click.Option)]
    left = {name: option for option in options for name in option.opts}
    for title, names in GROUPS:
        if found := [left[name] for name in names if name in left]:
            yield title, found
    known = {name for _, names in GROUPS for name in names}
    if rest := [option for option in options if known.isdisjoint(option.opts)]:
        yield "", rest


class Command(click.Command):
    """Writes its options by `GROUPS`, then its examples and environment."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        _write(self, ctx, formatter, self.name or "")


class Group(click.Group):
    """The program: its commands by `SECTIONS`."""

    command_class = Command

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for _, names in SECTIONS for name in names]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, names in SECTIONS:
            with formatter.section(title):
                width = formatter.width - max(map(len, self.commands)) - 6
                formatter.write_dl([(name, self.commands[name].get_short_help_str(width)) for name in names], 30)
        _write(self, ctx, formatter, "")


def _write(command: click.Command, ctx: click.Context, formatter: click.HelpFormatter, name: str) -> None:
    for title, options in grouped(command.get_params(ctx)):
        records = [record for option in options if (record := option.get_help_record(ctx)) is not None]
        _section(formatter, title or "Options", records)
    _section(formatter, "Examples", EXAMPLES[name], _WIDEST)
    _section(formatter, "Environment", ENVIRONMENT.get(name, ()))


def _section(formatter: click.HelpFormatter, title: str, rows: Sequence[tuple[str, str]], widest: int = 30) -> None:
    if rows:
        with formatter.section(title):
            formatter.write_dl(rows, widest)
