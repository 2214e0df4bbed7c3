"""Commands on a real terminal, as a person meets them."""

from __future__ import annotations

import contextlib
import os
import pty
import subprocess
import sys
from pathlib import Path


def on_a_terminal(folder: Path, *arguments: str, answers: str = "", **environment: str) -> str:
    """What a terminal gets from `cudafix` in a folder."""
    command = [sys.executable, "-c", "from cudafix.cli.main import main; main()", *arguments]
    terminal, theirs = pty.openpty()
    inherited = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    how = {**inherited, "TERM": "xterm", **environment}
    with subprocess.Popen(command, cwd=folder, stdin=theirs, stdout=theirs, stderr=theirs, env=how):
        os.close(theirs)
        os.write(terminal, answers.encode())
        shown = b""
        with contextlib.suppress(OSError):  # how Linux says that nobody writes there any more
            while part := os.read(terminal, 65536):
                shown += part
    os.close(terminal)
    return shown.decode()
