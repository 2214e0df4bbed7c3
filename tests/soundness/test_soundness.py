"""Tables of small programs, a cause of wrong rewrites each: what must be refused, and what may not be lost with it.

`tests/soundness/<cause>.toml` has `about` (the cause), `setup` (text in front of every program) and cases:

    [[case]]
    id = "two_buffers_are_swapped_between_the_loops"  # what the case guards against
    before = '''…'''       # the program, behind `setup`; or `setup` of its own
    after = '''…'''        # optional: the exact text that `apply` writes for `before`
    files = {…}            # optional: further files of the tree, by their paths
    files_after = {…}      # optional: those that differ in the tree of `after`
    config = '''…'''       # optional: `cudafix.toml`
    expect = "refused: escapes"

| expect | holds when |
|---|---|
| `rewritten` | every allocation site has a proven fix |
| `rewritten with TEXT` | the same, and an edit contains the text |
| `rewritten without TEXT` | the same, and no edit contains the text |
| `assumes: NAME` | every site has a fix that rests on this assumption (and no other); `assumes: A, B` |
| `assumes: NAME with TEXT` | the same, and an edit contains the text |
| `refused: NAME` | every site is refused for this reason; `refused: A, B` where sites differ |
| `refused` | every site is refused, whatever the reason |
| `refused or rewritten with TEXT` | each site is refused, or has a fix and an edit contains the text |
| `refused or assumed or rewritten with TEXT` | no site has a proven fix, or an edit contains the text |
| `refused or assumed` | no site has a proven fix: refused, or left to an assumption |
| `no site` | nothing counts as an allocation site, and nothing is found |
| `proved` | `cudafix prove` accepts `after` as a rewrite of `before` |
| `not proved` | it does not |
| `finds: NAME` | a finding of this codemod, and no allocation site is rewritten |

Where `apply` has run on what is `rewritten` or is found, nothing is left that could be fixed.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cudafix.cli import main as cli
from tests.cases import ROOT

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TABLES = sorted((ROOT / "tests" / "soundness").glob("*.toml"))


def _cases() -> Iterator[Any]:
    for path in TABLES:
        table = tomllib.loads(path.read_text())
        for case in table["case"]:
            main = "main.py" if table.get("language") == "python" else "main.cu"
            yield pytest.param(main, table.get("setup", ""), case, id=f"{path.stem}-{case['id']}")


def _cudafix(*arguments: str) -> int:
    with pytest.raises(SystemExit) as left:
        cli.main([*arguments, "-j", "1"])
    return int(left.value.code or 0)


def _left_to_fix(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """What a check without earlier proofs finds that it could fix."""
    capsys.readouterr()
    code = _cudafix("check", "--format", "json", "--no-cache")
    out, err = capsys.readouterr()
    assert code in (0, 1), err
    return [
        f"{r['path']}:{r['line']}: {r['rule']}: {r['message']}"
        for r in json.loads(out)["results"]
        if r.get("edits") and r["level"] != "review"
    ]


def _proves(before: str, after: str) -> int:
    with pytest.raises(SystemExit) as left:
        cli.main(["prove", before, after])
    return int(left.value.code or 0)


@pytest.mark.parametrize(("main", "setup", "case"), list(_cases()))
def test_program(
    main: str,
    setup: str,
    case: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    setup = case.get("setup", setup)
    files = {main: setup + case["before"], **case.get("files", {})}
    if "config" in case:
        files["cudafix.toml"] = case["config"]
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.chdir(tmp_path)
    if case["expect"] in ("proved", "not proved"):
        for folder, text in (("before", case["before"]), ("after", case["after"])):
            for name, content in {**files, main: setup + text, **case.get(f"files_{folder}", {})}.items():
                path = tmp_path / folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(content)
        code = _proves("before", "after")
        assert code == (case["expect"] == "not proved"), "\n".join(capsys.readouterr())
        return
    applies = "after" in case or case["expect"].startswith(("rewritten", "finds"))
    # `apply` takes over what `check` has proved, as it does for users; what is only checked needs no cache
    code = _cudafix("check", "--format", "json", *(() if applies else ("--no-cache",)))
    out, err = capsys.readouterr()
    assert code in (0, 1), err
    report = json.loads(out)
    verdict, _, wanted = case["expect"].partition(": ")
    results = report["results"]
    fixes = [r for r in results if "edits" in r]
    refusals = [r["rule"] for r in results if r["level"] == "none"]
    statistics = report["statistics"]
    said = "\n".join(f"{r['line']}: {r['rule']}: {r['message']}" for r in results)
    inserted = [e["text"] for r in fixes for e in r["edits"]]
    if verdict.startswith("rewritten"):
        assert statistics["ready"] == statistics["sites"] > 0, said
        if " without " in verdict:
            assert not any(case["expect"].partition(" without ")[2] in text for text in inserted), inserted
        elif " with " in verdict:
            assert any(case["expect"].partition(" with ")[2] in text for text in inserted), inserted
    elif verdict.startswith("refused or rewritten with "):
        assert statistics["refused"] + statistics["ready"] + statistics["assumed"] == statistics["sites"] > 0, said
        text_wanted = verdict.removeprefix("refused or rewritten with ")
        assert not fixes or any(text_wanted in text for text in inserted), inserted
    elif verdict.startswith("refused or assumed or rewritten with "):
        assert statistics["sites"] > 0, said
        text_wanted = verdict.removeprefix("refused or assumed or rewritten with ")
        assert not statistics["ready"] or any(text_wanted in text for text in inserted), inserted
    elif verdict == "refused or assumed":
        assert statistics["ready"] == 0 < statistics["sites"], said
    elif verdict == "assumes":
        assert statistics["assumed"] == statistics["sites"] > 0, said
        wanted, _, text_wanted = wanted.partition(" with ")
        assert {a["name"] for r in fixes for a in r["assumptions"]} == set(wanted.split(", ")), said
        assert any(text_wanted in text for text in inserted), inserted
    elif verdict == "refused":
        assert statistics["refused"] == statistics["sites"] > 0, said
        assert not wanted or set(refusals) == set(wanted.split(", ")), said
    elif verdict == "no site":
        assert statistics["sites"] == 0, said
        assert not results, said
    elif verdict == "finds":
        assert wanted in {r["rule"] for r in results}, said
        assert statistics["ready"] == 0, said
    else:
        pytest.fail(f"`{case['expect']}` is no expectation")
    if not applies:
        return
    code = _cudafix("apply", "--allow-dirty")
    assert code in (0, 1)
    if "after" in case:
        assert code == 0
        assert (tmp_path / main).read_text().removeprefix(setup) == case["after"]
    if case["expect"].startswith(("rewritten", "finds")):
        assert not _left_to_fix(capsys)
