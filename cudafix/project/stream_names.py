"""How a configuration names a stream: `stream`, `ctx.stream()`, `this->lanes_[0]`, `gpu::current_stream()`.

A name, and from there members, elements and calls that are given nothing. What it means in a function, and whether it
means one stream there, is for the engine to say.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_NAME = re.compile(r"(?:::\s*)?[A-Za-z_]\w*(?:\s*::\s*[A-Za-z_]\w*)*")
_STEP = re.compile(r"\s*(?:(?P<arrow>\.|->)\s*(?P<member>[A-Za-z_]\w*)|\[\s*(?P<index>\d+)\s*\]|(?P<call>\(\s*\)))")


class Step(NamedTuple):
    """One step from an object: to a member (`arrow`: behind a pointer), or to an element; if it `calls`, to what the
    method of that name returns.
    """

    name: str
    arrow: bool = False
    element: bool = False
    calls: bool = False


class StreamText(NamedTuple):
    """An expression, as text and in its parts. If it `calls`, it begins with what the function `base` returns."""

    text: str
    base: str
    calls: bool
    steps: tuple[Step, ...]


def parse(text: str) -> StreamText | None:
    """What an expression says; None if it is of another form."""
    text = text.strip()
    name = _NAME.match(text)
    if name is None:
        return None
    base, calls, steps, at = re.sub(r"\s", "", name[0]), False, list[Step](), name.end()
    while at < len(text):
        step = _STEP.match(text, at)
        if step is None:
            return None
        at = step.end()
        if step["member"]:
            steps.append(Step(step["member"], arrow=step["arrow"] == "->"))
        elif step["index"]:
            steps.append(Step(step["index"], element=True))
        elif not steps and not calls and base != "this":
            calls = True
        elif steps and not (steps[-1].calls or steps[-1].element):
            steps[-1] = steps[-1]._replace(calls=True)
        else:
            return None
    return StreamText(text, base, calls, tuple(steps)) if base != "this" or steps else None
