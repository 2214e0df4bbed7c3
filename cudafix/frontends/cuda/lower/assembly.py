"""Inline assembly of the host: the variables that it is given, and what its instructions may do beside them.

GCC manual, "Extended Asm": the instructions may read and write the operands; pointers among these are taken to be
followed. The manuals of the processors (Intel SDM volume 2, Arm ARM chapter C6) say which instructions touch no other
memory and which read a clock.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
_NAME = re.compile(r"(?<![.\w])(?<!->)[A-Za-z_]\w*")
_OPERAND = r"(?:%%?[a-z]?\w+|%[a-z]?\[\w+\]|\$-?\w+)"  # a register, an operand of the statement or a number
# barriers, hints, identification: no memory, no time
_QUIET = r"(?:rep\s*nop|[lsm]fence|pause|nop|yield|cpuid|isb|(?:dmb|dsb)\s+\w+)"
_COMPUTES = (
    r"(?:(?:bswap|popcnt|[lt]zcnt|bs[fr]|mov|sh[lr]|sa[lr]|ro[lr]|or|xor|and|not|neg|add|adc|sub|sbb|i?mul)[bwlq]?"
    rf"\s+{_OPERAND}(?:\s*,\s*{_OPERAND})*)"
)
_CLOCK = r"(?:rdtscp?|mrs\s+%\w+\s*,\s*cnt\w+)"
_END = re.compile(r"\\[nt]|[\n;]")
_LABEL = re.compile(r"\[\s*\w+\s*\](?=\s*\")")  # of an operand
_KNOWN = re.compile(rf"{_QUIET}|{_COMPUTES}|({_CLOCK})")


class Assembly(NamedTuple):
    """What an `asm` statement may do: the variables in its operands, those of them in operands that it writes, whether
    it reads a clock, and whether all its instructions are known. If not, it may do anything, which no clobber list
    rules out.
    """

    names: list[str]
    written: list[str]
    clock: bool
    known: bool


def given(text: str) -> Assembly:
    """What an `asm` statement as written may do."""
    inside = text[text.find("(") + 1 : text.rfind(")")]
    start = len(inside) - len(inside.lstrip())
    template = ""
    while (part := _STRING.match(inside, start)) is not None:
        template += part[1]
        start = part.end() + len(inside[part.end() :]) - len(inside[part.end() :].lstrip())
    operands = inside[start:]
    _, _, outputs = _STRING.sub("", _LABEL.sub("", operands)).partition(":")
    names = _NAME.findall(outputs)
    instructions = [one.strip() for one in _END.split(template) if one.strip()]
    known = [_KNOWN.fullmatch(one) for one in instructions]
    written = operands == "" or operands.lstrip()[:1] == ":"  # not by a macro, or as a constant expression
    clock = any(one is not None and one[1] for one in known)
    changed = _NAME.findall(outputs.replace("::", " ").partition(":")[0])
    return Assembly(list(dict.fromkeys(names)), list(dict.fromkeys(changed)), clock, written and all(known))
