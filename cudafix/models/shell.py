"""Commands that start other programs: which are known to ask a device for nothing.

A program that is started may ask how much memory of the device is free (`nvidia-smi`), and what it prints may come
back: with the pool it is another number than before.
"""

from __future__ import annotations

import re

# The utilities of POSIX.1-2017 (XCU 4) and Windows that work on files and text and start no other program; and programs
# that convert images and films, on the host unless they are told otherwise.
_OF_THE_HOST = frozenset(
    """basename cat cd chmod chown clear cls cmp comm cp cut date dd df diff dir dirname du echo expr false grep head
    join ln ls mkdir mkfifo mktemp mv od paste pause printf pwd rm rmdir sleep sort tail tee test touch tr true
    uname uniq wc which convert dot ffmpeg""".split()
)
_BETWEEN_COMMANDS = re.compile(r"&&|\|\||[;|&\n]")
_PROGRAM = re.compile(r"\s*(?:/usr)?(?:/bin/)?([\w.]+)(?:\s|$)")
_OF_DEVICES = re.compile(r"[`$]|\b(?:cuda|cuvid|nv)|gpu|npp", re.IGNORECASE)
_STRING = re.compile(rb"\"((?:[^\"\\\n]|\\.)*)\"|'((?:[^'\\\n]|\\.){2,})'")
# a tool that shows what devices do, an option that has a program use one, a script, an interpreter, a shell
_MAY_ASK = re.compile(
    r"smi\b|nvtop|gpustat|dcgm|mem_get_info|hwaccel|nvenc|cuvid|\.(?:sh|py|bat)\b|\b(?:python|perl|(?:ba)?sh)\b"
)


def stays_off_the_device(command: str) -> bool:
    """Whether all programs that a command line starts are known not to ask a device for anything."""
    text = re.sub(r"\d?>&\d|&>", " ", command)  # redirections
    programs = [_PROGRAM.match(part) for part in _BETWEEN_COMMANDS.split(text) if part.strip()]
    known = all(found is not None and found[1] in _OF_THE_HOST for found in programs)
    return known and _OF_DEVICES.search(text) is None


def parts_of_commands(source: bytes) -> tuple[bool, bool]:
    """Of the strings of a source, from which it may put commands together: whether one begins with a program that stays
    off the device, and whether one names what may ask it.
    """
    harmless = asking = False
    for found in _STRING.finditer(source):
        text = (found[1] or found[2] or b"").decode("utf-8", "replace")
        first = _PROGRAM.match(text)
        harmless |= first is not None and first[1] in _OF_THE_HOST
        asking |= _MAY_ASK.search(text) is not None
    return harmless, asking
