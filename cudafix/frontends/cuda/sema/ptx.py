"""Inline assembly of the device."""

from __future__ import annotations

import re

# PTX ISA 9.0: instructions that write registers and shared memory of the block alone
_PTX_QUIET = re.compile(
    r"(?:mov|add|addc|sub|subc|mul|mul24|mad|madc|mad24|fma|div|rem|abs|neg|min|max|popc|clz|bfind|fns|brev|bfe|bfi|szext"
    r"|bmsk|dp4a|dp2a|sad|sqrt|rsqrt|rcp|sin|cos|lg2|ex2|tanh|copysign|testp|setp|set|selp|slct|and|or|xor|not|cnot|lop3"
    r"|shf|shl|shr|shfl|prmt|cvt|cvta|pack|mma|wmma|ldmatrix|movmatrix|wgmma|ld|ldu|prefetch|prefetchu|isspacep|vote|match"
    r"|activemask|bar|barrier|fence|membar|griddepcontrol|nanosleep|elect|redux|mapa|getctarank|setmaxnreg|tex|tld4|txq"
    r"|bra|ret|reg|pragma|discard|applypriority|createpolicy)(?:\.[\w:]+)*"
)
_PTX_SHARED = re.compile(
    r"(?:st|atom|red|stmatrix|cp\.async)[\w.:]*\.shared[\w.:]*|stmatrix[\w.:]*|mbarrier[\w.:]*|cp\.async[\w.:]*"
)
_ASSEMBLY = re.compile(rb"\b(?:asm|__asm|__asm__)\b\s*(?:volatile|__volatile__)?\s*\(")
_TEMPLATE = re.compile(rb'\s*"((?:[^"\\]|\\.)*)"')


def instructions(text: bytes) -> set[str]:
    """The instructions in inline PTX that may write memory, stop the kernel, or are not known."""
    found: set[str] = set()
    for match in _ASSEMBLY.finditer(text):
        at = match.end()
        template = b""
        while (part := _TEMPLATE.match(text, at)) is not None:
            template += part[1]
            at = part.end()
        if not template and text[at : at + 1] != b")":
            found.add("asm")  # its text is made by a macro
        for line in re.split(r"\\n|\\t|[;{}\n]", template.decode("utf-8", "replace")):
            said = re.sub(r"^\s*(?:\$?\w+\s*:)?\s*(?:@!?[%\w]+\s+)?\.?", "", line.partition("//")[0]).strip()
            word = said.split()[0] if said else ""
            to_shared = _PTX_SHARED.fullmatch(word) is not None and not word.startswith("cp.async.bulk")
            if word and not to_shared and _PTX_QUIET.fullmatch(word) is None:
                found.add(word.partition(".")[0])
    return found
