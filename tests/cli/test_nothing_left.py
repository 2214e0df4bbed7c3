"""Where `apply` has run, `check` finds nothing that could be fixed: for fixtures that include other files than sources.

`test_fixtures.py` shows it of the others without the command line, and `test_soundness.py` of the tables' programs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cudafix.cli import main as cli
from cudafix.verify.cases import sources_of
from tests.cases import cases


def _trees() -> Iterator[Any]:
    for case in cases():
        files = case.files("before")
        if case.expect == "rewrite" and len(sources_of(files)) < len(files):
            yield pytest.param(files, case.config.default_stream, id=case.id)


def _run(*arguments: str) -> None:
    with pytest.raises(SystemExit) as left:
        cli.main([*arguments, "--no-cache", "-j", "1"])
    assert (left.value.code or 0) in (0, 1)


@pytest.mark.parametrize(("files", "default_stream"), list(_trees()))
def test_nothing_is_left_to_fix(
    files: dict[str, bytes],
    default_stream: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, data in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    if default_stream:
        (tmp_path / "cudafix.toml").write_text(f'default_stream = "{default_stream}"\n')
    monkeypatch.chdir(tmp_path)
    _run("apply", "--allow-dirty")
    capsys.readouterr()
    _run("check", "--format", "json")
    results = json.loads(capsys.readouterr().out)["results"]
    left = [
        f"{r['path']}:{r['line']}: {r['rule']}: {r['message']}"
        for r in results
        if r.get("edits") and r["level"] != "review"
    ]
    assert not left
