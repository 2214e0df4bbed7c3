"""The `cudafix` command. What it is made of is loaded when a signal can already end it."""

from __future__ import annotations

from collections.abc import Sequence

from cudafix import interrupts


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command, and leave with its exit code. Without `arguments` those of this process count, and its signals
    are the command's; with them, both are the caller's.
    """
    if arguments is None:
        interrupts.install()
    from cudafix import commands

    commands.main(arguments)
