"""What is shown of a result where the pointer rests: the proof, or what stands in its way."""

from __future__ import annotations

import os
from collections.abc import Iterable

from cudafix.report import pages
from cudafix.report.results import Related, Result


def markdown(result: Result) -> str:
    """A result with its proof, if that was asked for."""
    lines = [f"**cudafix** `{result.rule}`: {pages.title(result.rule)}", "", f"{_capital(result.message)}."]
    for each in result.assumptions:
        lines += ["", f"Assumes that {each.message} (`{each.name}`)."]
    if result.proof:
        lines += ["", "The way to the blocker:" if result.is_refusal else "Proof:", ""]
        lines += [f"- *{clause.about}*: {clause.text}{_where(clause.places, result.path)}" for clause in result.proof]
    elif result.related:
        lines += ["", *(f"- {place.message}{_where([place], result.path)}" for place in result.related)]
    for default in result.defaults:
        lines += ["", f"By default: {default.message} (`{default.name}`)."]
    if result.unlock:
        lines += ["", f"To unlock: {result.unlock}"]
    return "\n".join(lines)


def _where(places: Iterable[Related], path: str) -> str:
    found = list(dict.fromkeys((place.path, place.region.line) for place in places))
    names = [f"line {line}" if there == path else f"`{os.path.basename(there)}:{line}`" for there, line in found]
    return f" ({', '.join(names)})" if names else ""


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
