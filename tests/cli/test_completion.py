"""Completion in a shell, set up with the line of docs/start/install.md."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "start" / "install.md").read_text(encoding="utf-8")


def completed(folder: Path, *words: str) -> list[str]:
    """What bash offers for the last of the words."""
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("no bash")
    line = re.search(r"```bash\n(.*?)```", PAGE, re.DOTALL)
    assert line
    listed = " ".join(f"'{word}'" for word in words)
    script = f"""{line[1]}
        COMP_WORDS=({listed}); COMP_CWORD={len(words) - 1}
        _cudafix_completion cudafix
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    # `compopt` complains outside of a real completion
    run = subprocess.run([bash, "-c", script], cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return run.stdout.split()


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("cudafix", "ap"), ["apply"]),
        (("cudafix", "check", "--format", "s"), ["sarif"]),
        (("cudafix", "check", "--fail-on", "defects,o"), ["defects,once"]),
        (("cudafix", "check", "--only", "ch"), ["churn"]),
        (("cudafix", "explain", "needs_dev"), ["needs_device_sync"]),
        (("cudafix", "explain", "supp"), ["suppression"]),
    ],
)
def test_bash_completes(tmp_path: Path, words: tuple[str, ...], offered: list[str]) -> None:
    assert completed(tmp_path, *words) == offered


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_the_other_shells_have_a_script(shell: str) -> None:
    assert f"_CUDAFIX_COMPLETE={shell}_source cudafix" in PAGE
    command = [sys.executable, "-c", "from cudafix.cli.main import main; main()"]
    environment = os.environ | {"_CUDAFIX_COMPLETE": f"{shell}_source"}
    assert (
        "_CUDAFIX_COMPLETE"
        in subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    )
