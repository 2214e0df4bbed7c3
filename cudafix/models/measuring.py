"""Names of what tells how much memory of the device is free, where a text has them without a call.

A call is followed to where it runs. A function that is named and not called may be called by its value, through a
table or an address that is asked for by its name; a property of Python is asked by naming it. Where that runs nobody
says: the program may ask at any time.
"""

from __future__ import annotations

import re

# every function with the effect `free_memory`, in C and as bindings and packages of Python call it
NAMES = re.compile(
    rb"(?<!#define )\b(?:(?:cuda|cu)?[mM]em(?:GetInfo|PoolGetAttribute)|nvmlDeviceGet(?:BAR1)?MemoryInfo"
    rb"|nvmlDeviceGet(?:(?:Compute|Graphics|MPSCompute)RunningProcesses|AccountingStats))(?:_v\d)?\b(?!\s*\()"
    rb"|\b(?:mem_info|get_memory_info|mem_get_info)\b(?!\s*\()"
)
_DECLARED = re.compile(rb"^[ \t]*(?:extern|typedef)\b[^;=(){}]*;", re.MULTILINE)  # a name only
_IMPORTED = re.compile(rb"^[ \t]*from\s+[\w.]+\s+import\s+(?:\([^()]*\)|[^\n(]*)", re.MULTILINE)


def named_in(code: bytes) -> int | None:
    """Where a text without comments first names such a function, and does not call it; None if it does not."""
    found = NAMES.search(_blanked(_DECLARED, code)) if NAMES.search(code) is not None else None
    return found.start() if found is not None else None


def named_in_python(code: bytes) -> int | None:
    """The same for Python: what an import names is named again where it is used."""
    return named_in(_blanked(_IMPORTED, code)) if NAMES.search(code) is not None else None


def _blanked(pattern: re.Pattern[bytes], code: bytes) -> bytes:
    return pattern.sub(lambda found: b" " * len(found[0]), code)
