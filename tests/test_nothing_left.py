"""Where `apply` has run, `check` finds nothing that could be fixed: for fixtures and for the programs of the tables."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cudafix import cli
from tests.cases import ROOT, cases

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def _trees() -> Iterator[Any]:
    for case in cases():
        if case.expect == "rewrite":
            yield pytest.param(case.files("before"), case.config.default_stream, id=case.id)
    for path in sorted((ROOT / "tests" / "soundness").glob("*.toml")):
        table = tomllib.loads(path.read_text())
        main = "main.py" if table.get("language") == "python" else "main.cu"
        for one in table["case"]:
            if one["expect"].startswith(("rewritten", "finds")):
                text = one.get("setup", table.get("setup", "")) + one["before"]
                files = {main: text, **one.get("files", {})}
                if "config" in one:
                    files["cudafix.toml"] = one["config"]
                yield pytest.param(
                    {name: data.encode() for name, data in files.items()}, "", id=f"{path.stem}-{one['id']}"
                )


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
