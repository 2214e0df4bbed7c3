"""The `cudafix` command. What it is made of is loaded when a signal can already end it."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress

try:
    from cudafix import interrupts
except KeyboardInterrupt:  # Ctrl-C, before it is known what else to do
    raise SystemExit(130) from None


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command, and leave with its exit code. Without `arguments` those of this process count, and its signals
    are the command's; with them, both are the caller's.
    """
    if arguments is None:
        interrupts.install()
        _open_streams()
    from cudafix.cli import commands

    commands.main(arguments)


def _open_streams() -> None:
    """Let a standard stream that the caller has closed lead nowhere: the next file that is opened would take its
    number, and get what is written to it.
    """
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        try:
            os.fstat(number)
        except OSError:
            with suppress(OSError):
                nowhere = os.open(os.devnull, os.O_RDWR)
                if nowhere != number:
                    os.dup2(nowhere, number)
                    os.close(nowhere)
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, mode, closefd=False))  # noqa: SIM115 it lives as long as the process
