"""The links of a Markdown text that lead to files: what the site and the package index have to turn into others."""

from __future__ import annotations

import re
from collections.abc import Callable

_FENCE = re.compile(r"^ *(`{3,}|~{3,})(.*)$")
_LINK = re.compile(r"(?<=\]\()(?P<inline>[^)\s]+)(?=[)\s])|^\[[\w-]+\]: (?P<reference>\S+)$")


def changed(text: str, change: Callable[[str], str]) -> str:
    """The text with every link to a file changed, but for those in code blocks."""
    lines, fence = [], ""
    for line in text.split("\n"):
        found = _FENCE.match(line)
        if found and not fence:
            fence = found[1]
        elif found and found[1].startswith(fence) and not found[2].strip():
            fence = ""
        lines.append(line if fence else _LINK.sub(lambda found: _replaced(found, change), line))
    return "\n".join(lines)


def _replaced(found: re.Match[str], change: Callable[[str], str]) -> str:
    kind = "inline" if found["inline"] else "reference"
    link = found[kind]
    if ":" in link or link.startswith("#"):
        return found[0]
    return found[0].removesuffix(link) + change(link)
