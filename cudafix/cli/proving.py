"""`cudafix prove`: whether a program that somebody has migrated by hand keeps every order of the original."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace as with_values

import click

from cudafix import ir
from cudafix.findings import Place
from cudafix.ir.link import SOURCES
from cudafix.project import build, discovery
from cudafix.project.config import Config, DefaultStream
from cudafix.project.context import with_context
from cudafix.report.positions import Positions
from cudafix.report.terminal import readable, tell


def run(before: str, after: str, config: Config) -> int:
    """Prove `after` against `before`, both folders or files; the exit code. The reasons go to standard output."""
    from cudafix.pipeline import driver  # the engine

    found = [with_context(discovery.discover([path], config), config) for path in (before, after)]
    problems = [p for one in found for p in (*one.problems, *one.folders, *one.files.unread())]
    if problems:
        tell(problems)
        return 2
    old, new = (_within(path, sources.files) for path, sources in zip((before, after), found, strict=True))
    if os.path.isfile(before) and os.path.isfile(after):
        (one,), (other,) = (_within(path, {path: b""}) for path in (before, after))
        new = {one if path == other else path: data for path, data in new.items()}
        if new.keys() != old.keys():  # they do not include the same files
            old, new = {one: old[one]}, {one: new[one]}
    streams = [
        _default_stream(config, sources.files, path) for path, sources in zip((before, after), found, strict=True)
    ]
    if streams[0] != streams[1]:
        raise click.ClickException("the two are not compiled with the same default stream; say `default_stream`")
    said = driver.reasons(old, new, with_values(config, default_stream=streams[0]))
    places = Positions(old), Positions(new)
    for reason in said:
        click.echo(f"not proved: {readable(reason.text)}")
        for side, positions, named in zip((before, after), places, (reason.before, reason.after), strict=True):
            for line in _lines(side, named, positions):
                click.echo(line)
    click.echo(f"cudafix: {'not ' * bool(said)}proved", err=True)
    return 1 if said else 0


def _default_stream(config: Config, files: Mapping[str, bytes], given: str) -> DefaultStream:
    """The default stream that the program is compiled with. Raises `click.ClickException` where that is not known, or
    not the same for all of its files.
    """
    if config.default_stream != "auto":
        return config.default_stream
    streams = build.default_streams(files, config, [given])
    sources = {path for path in files if path.endswith(SOURCES) and b"cuda" in bytes(files[path])}
    per_thread = sources & streams.per_thread
    python = {path for path in files if path.endswith(ir.PYTHON)}
    if streams.perhaps & (sources | python):
        raise click.ClickException(
            "it is not known which default stream its files are compiled with; say `default_stream`"
        )
    if per_thread and per_thread != sources:
        raise click.ClickException("its files are compiled with different default streams; say `default_stream`")
    return "per-thread" if per_thread else "legacy"


def _within(root: str, files: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files by their names in a folder; one that is named itself by its last name."""
    start = root if os.path.isdir(root) else os.path.dirname(root) or "."
    return {os.path.relpath(os.path.realpath(p), os.path.realpath(start)): bytes(files[p]) for p in files}


def _lines(root: str, named: Iterable[Place], positions: Positions) -> Iterable[str]:
    folder = root if os.path.isdir(root) else os.path.dirname(root)
    for place in named:
        line, column = positions.point(place.path, place.offset)
        path = root if os.path.isfile(root) else os.path.join(folder, place.path)
        yield f"  {readable(path)}:{line}:{column}: {readable(place.text)}"
