"""Inline assembly of the host: the variables that it is given, and whether it may reach more memory.

GCC manual, "Extended Asm": the instructions may read and write the operands; what they touch beyond them, the clobber
`"memory"` declares. Pointers among the operands are taken to be followed with or without it.
"""

from __future__ import annotations

import re

_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
_NAME = re.compile(r"(?<![.\w])(?<!->)[A-Za-z_]\w*")
# instructions that touch no memory: barriers, hints, identification, time stamps
_INSTRUCTION = r"(?:rep\s*;?\s*nop|[lsm]fence|pause|nop|yield|cpuid|rdtscp?|isb|(?:dmb|dsb)\s+\w+|mrs\s+%\w+\s*,\s*\w+)"
_QUIET = re.compile(rf"(?:{_INSTRUCTION}|\\[nt]|[\s;])*")


def given(text: str) -> tuple[list[str], bool]:
    """The names in the operands of an `asm` statement as written, and whether it may touch memory beyond them."""
    inside = text[text.find("(") + 1 : text.rfind(")")]
    start = 0
    template = ""
    while (part := _STRING.match(inside, start)) is not None:
        template += part[1]
        start = part.end() + len(inside[part.end() :]) - len(inside[part.end() :].lstrip())
    operands = inside[start:]
    names = _NAME.findall(_STRING.sub("", re.sub(r"\[\s*\w+\s*\](?=\s*\")", "", operands)))
    return list(dict.fromkeys(names)), '"memory"' in operands and _QUIET.fullmatch(template) is None
