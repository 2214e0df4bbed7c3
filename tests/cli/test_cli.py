"""The command line around the engine: a stand-in for the engine finds what the comments of the sources ask for."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest

from cudafix import __version__, pipeline
from cudafix.cli import commands
from cudafix.cli import main as cli
from cudafix.findings import Assumption, Edit, Finding, Place, Problem, Refusal, Report, Runs, Safety
from cudafix.pipeline.cache import Cache
from cudafix.project.config import Config

GIT = shutil.which("git")
_SITE = re.compile(rb"cudaMalloc(?=\()(.*)")


def analyze(
    files: Mapping[str, bytes],
    config: Config,
    jobs: int,
    cache: Cache | None,
    progress: object,
    executor: object,
    seconds: float | None = None,
    focus: object = None,
) -> Report:
    """One site for each `cudaMalloc(`; the words after it on its line say what to find there."""
    findings: list[Finding] = []
    refusals: list[Refusal] = []
    problems: list[Problem] = []
    sites = 0
    for path, content in files.items():
        if b"CRASH" in content:
            raise RuntimeError("the engine is broken")
        problems += [Problem(path, "cannot be analysed")] * (b"PROBLEM" in content)
        for match in _SITE.finditer(content):
            sites += 1
            words, runs = match[1], Runs.ONCE if b"once" in match[1] else Runs.CHURN
            if b"refuse" in words:
                places = (Place(path, 0, "`k` may still run"),)
                refusals.append(Refusal("escapes", path, match.start(), "`p` is stored", "keep it", places, runs))
                continue
            findings.append(
                Finding(
                    "stream_ordered_pairs",
                    path,
                    match.start(),
                    "`p` can move to stream `s`",
                    (Edit(path, match.start(), match.start() + len(b"cudaMalloc"), b"cudaMallocAsync"),),
                    runs=runs,
                    safety=Safety.ASSUMES if b"assumes" in words else Safety.PROVEN,
                    assumptions=(Assumption("leaves_no_work", "`f`"),) if b"assumes" in words else (),
                    group=7 if b"group" in words else 0,
                )
            )
        if b"defect" in content:
            findings.append(
                Finding("wait_between_streams", path, content.index(b"defect"), "`b` does not wait for `a`")
            )
    return Report(tuple(findings), tuple(refusals), tuple(problems), sites)


class Run(NamedTuple):
    code: int
    out: bytes
    err: str


class Cudafix:
    """Runs the command in this process, in the current folder."""

    def __init__(self, capture: pytest.CaptureFixture[bytes]) -> None:
        self._capture = capture

    def __call__(self, *arguments: str) -> Run:
        with pytest.raises(SystemExit) as caught:
            cli.main(arguments)
        out, err = self._capture.readouterr()
        return Run(int(caught.value.code or 0), out, err.decode())


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Cudafix:
    driver = ModuleType("cudafix.pipeline.driver")
    driver.analyze = analyze  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "cudafix.pipeline.driver", driver)
    monkeypatch.setattr(pipeline, "driver", driver, raising=False)
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    return Cudafix(capfdbinary)


def write(**files: str | bytes) -> None:
    for name, content in files.items():
        Path(f"{name}.cu").write_bytes(content.encode() if isinstance(content, str) else content)


def test_check_exits_0_where_nothing_can_move(run: Cudafix) -> None:
    write(a="cudaFree(0);\ncudaMalloc(&p, n); // refuse\n")
    assert run("check").code == 0


def test_check_exits_1_for_a_pair_that_can_move_and_for_a_defect(run: Cudafix) -> None:
    write(a="cudaMalloc(&p, n);\n", b="cudaFreeAsync(p, s); // defect\n")
    assert run("check", "a.cu").code == 1
    assert run("check", "b.cu").code == 1


def test_check_shows_the_place_the_line_a_caret_and_what_would_unlock_it(run: Cudafix) -> None:
    write(a="k<<<1, 1>>>(p);\n\n\tCHECK(cudaMalloc(&p, n)); // refuse\n  cudaMalloc(&q, n); // assumes\n")
    assert run("check", "--unsafe").out.decode() == (
        "a.cu:3:8: refused: escapes: `p` is stored (churn)\n"
        "     3 |     CHECK(cudaMalloc(&p, n)); // refuse\n"
        "       |           ^^^^^^^^^^ allocated here\n"
        "     1 | k<<<1, 1>>>(p);\n"
        "       | ^ `k` may still run\n"
        "  unlock: keep it\n"
        "\n"
        "a.cu:4:3: stream_ordered_pairs: `p` can move to stream `s` (churn)\n"
        "     4 |   cudaMalloc(&q, n); // assumes\n"
        "       |   ^^^^^^^^^^ allocated here\n"
        "  assumes: `f` leaves no work running on the device (`leaves_no_work`)\n"
        "\n"
        "2 allocation sites: 1 can be rewritten (1 churn), 1 refused\n"
        "      1 refused: escapes\n"
        "`cudafix explain escapes` says more about a refusal\n"
        "the new code needs devices with memory pools: `pools` in the configuration settles it\n"
    )


def test_the_column_counts_characters_and_the_caret_stands_below_wide_ones(run: Cudafix) -> None:
    write(a="/* \u6f22\u00e4 */ cudaMalloc(&p, n);\n")
    lines = run("check").out.decode().splitlines()
    assert lines[0].startswith("a.cu:1:10: ")
    assert lines[2] == "       |" + " " * 11 + "^" * 10 + " allocated here"


def test_bytes_that_are_no_text_cannot_act_on_the_terminal(run: Cudafix) -> None:
    write(a=b"\xef\xbb\xbf/* \xff\x1b[2J */ cudaMalloc(&p, n);\r\n")
    shown = run("check").out
    assert b"\x1b" not in shown
    assert "     1 | /* \ufffd\ufffd[2J */ cudaMalloc(&p, n);\n".encode() in shown


def test_diff_prints_what_git_apply_takes_and_apply_writes_the_same_bytes(run: Cudafix, tmp_path: Path) -> None:
    write(a=b"\xef\xbb\xbfx\r\ncudaMalloc(&p, n);\r\n\xff", b="cudaMalloc(&p, n); // refuse\n", c="cudaMalloc();")
    shown = run("diff")
    assert shown.code == 0
    assert run("diff", "--quiet") == (0, shown.out, "")
    assert shown.out.startswith(b"--- a/a.cu\n+++ b/a.cu\n@@ -1,3 +1,3 @@\n")
    assert "b.cu:1:1: refused: escapes: `p` is stored (churn)\n3 allocation sites: 2 in the diff (2 churn)" in shown.err
    copy = tmp_path / "copy"
    copy.mkdir()
    for name in ("a.cu", "b.cu", "c.cu"):
        shutil.copy(name, copy)
    assert GIT is not None
    subprocess.run([GIT, "apply", "-"], input=shown.out, cwd=copy, check=True)
    applied = run("apply")
    assert (applied.code, applied.out) == (0, b"")
    for name in ("a.cu", "b.cu", "c.cu"):
        assert Path(name).read_bytes() == (copy / name).read_bytes()
    assert Path("a.cu").read_bytes() == b"\xef\xbb\xbfx\r\ncudaMallocAsync(&p, n);\r\n\xff"
    assert run("apply", "-q") == (0, b"", "")
    assert run("diff").out == b""


def test_a_diff_of_files_outside_the_folder_starts_at_their_repository(
    run: Cudafix, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "src").mkdir()
    (tmp_path / "build").mkdir()
    write(**{"src/a": "cudaMalloc();\n"})
    monkeypatch.chdir(tmp_path / "build")
    shown = run("diff", "../src")
    assert shown.out.startswith(b"--- a/src/a.cu\n")
    assert f"apply with `git -C {tmp_path} apply`" in shown.err


def test_only_and_unsafe_choose_fixes_and_the_summary_counts_the_rest(run: Cudafix) -> None:
    write(a="cudaMalloc(1);\ncudaMalloc(2); // once\ncudaMalloc(3); // assumes\n")
    assert run("diff").out.count(b"\n+") == 3
    shown = run("diff", "--only", "once")
    assert b"+cudaMallocAsync(2);" in shown.out
    assert shown.out.count(b"\n+") == 2
    assert "3 allocation sites: 1 in the diff (1 once), 0 refused" in shown.err
    assert "2 left: not `--only once`" in shown.err
    assert run("diff", "--unsafe").out.count(b"\n+") == 4


@pytest.mark.parametrize(
    ("threshold", "source", "arguments", "said"),
    [
        ("keep", "cudaMalloc();\n", [], True),
        ("keep", "cudaMalloc(); // once\n", [], False),
        ("keep", "cudaMalloc(); // refuse\n", [], False),
        ("keep", "cudaMalloc();\ncudaMalloc(); // once\n", ["--only", "once"], False),
        ("64 MiB", "cudaMalloc();\n", [], False),
        ("max", "cudaMalloc();\n", [], False),
    ],
    ids=["keep", "nothing churns", "nothing moves", "what churns is left", "a size", "max"],
)
def test_the_summary_says_what_it_costs_that_the_pool_keeps_nothing(
    run: Cudafix, threshold: str, source: str, arguments: list[str], said: bool
) -> None:
    write(a=source)
    Path("cudafix.toml").write_text(f"pool_threshold = '{threshold}'")
    line = (
        "`pool_threshold` is `keep`: the pool gives its memory back at every synchronization, and what churns may "
        "become slower than it was\n"
    )
    for command in ("diff", "check"):
        shown = run(command, *arguments)
        assert (line in shown.out.decode() + shown.err) == said, command


def test_fixes_of_one_group_are_taken_together_or_not_at_all(run: Cudafix) -> None:
    write(a="cudaMalloc(1); // group\n", b="cudaMalloc(2); // group assumes\n")
    assert run("diff").out == b""
    assert run("check").code == 0
    assert run("diff", "--unsafe").out.count(b"+cudaMallocAsync") == 2


def test_a_codemod_that_is_switched_off_leaves_its_findings(run: Cudafix) -> None:
    write(a="cudaMalloc();\n")
    Path("cudafix.toml").write_text("codemods = { stream_ordered_pairs = false }")
    assert run("check").code == 0
    assert "left: switched off in the configuration" in run("diff").err


def test_paths_come_from_the_configuration_where_none_are_named(run: Cudafix, tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    write(**{"src/a": "cudaMalloc(); // refuse\n", "b": "cudaMalloc();\n"})
    Path("own.toml").write_text("paths = ['src']")
    assert run("check").code == 1
    assert run("check", "--config", "own.toml").code == 0
    assert run("check", "--config", "own.toml", "b.cu").code == 1


@pytest.mark.parametrize("command", ["check", "diff", "apply"])
@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["nothing.cu"], "cudafix: nothing.cu: no such file or folder\n"),
        (["empty"], "cudafix: empty: no CUDA code in this folder\n"),
        (["--config", "wrong.toml", "good.cu"], "cudafix: wrong.toml: unknown key `pats`; did you mean `paths`?\n"),
        (["--config", "missing.toml", "good.cu"], "cannot read the configuration: No such file or directory\n"),
    ],
)
def test_bad_input_is_one_line_exit_code_2_and_nothing_written(
    run: Cudafix, command: str, arguments: list[str], line: str
) -> None:
    write(good="cudaMalloc();\n")
    Path("empty").mkdir()
    Path("wrong.toml").write_text("pats = []")
    shown = run(command, *arguments)
    assert shown.code == 2
    assert shown.err.endswith(line)
    assert shown.err.count("\n") == 1
    assert command == "check" or shown.out == b""
    assert Path("good.cu").read_text() == "cudaMalloc();\n"


@pytest.mark.parametrize("command", ["check", "diff", "apply"])
@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("binary.cu", "cudafix: binary.cu: a binary file: NUL byte at offset 0\n"),
        ("problem.cu", "cudafix: problem.cu: cannot be analysed\n"),
    ],
)
def test_a_file_that_cannot_be_worked_on_is_a_line_after_the_rest(
    run: Cudafix, command: str, name: str, line: str
) -> None:
    write(good="cudaMalloc();\n", problem="cudaMalloc(); // PROBLEM\n", binary=b"\0")
    shown = run(command, name, "good.cu")
    assert (shown.code, shown.err.endswith(line)) == (2, True)
    assert b"good.cu" in shown.out or command == "apply"
    assert (Path("good.cu").read_text() == "cudaMalloc();\n") == (command != "apply")


def test_a_defect_of_the_engine_does_not_look_like_findings(run: Cudafix) -> None:
    write(a="cudaMalloc(); // CRASH\n")
    shown = run("apply")
    assert shown.code == 2
    assert shown.err.endswith("cudafix: internal error; nothing was written\n")


def test_a_wrong_option_exits_2(run: Cudafix) -> None:
    assert run("check", "--onyl", "churn").code == 2


def test_version_and_help_exit_0(run: Cudafix) -> None:
    assert run("--version").out == f"cudafix {__version__}\n".encode()
    assert b"apply" in run("--help").out


def test_no_command_is_cut_short_in_the_help(run: Cudafix) -> None:
    shown = run("--help").out.decode().splitlines()
    listed = [line for line in shown if line[:2] == "  " and line[2:].partition(" ")[0] in commands.cli.commands]
    assert len(listed) == len(commands.cli.commands)
    assert [line for line in listed if not line.endswith(".") or line.endswith("...")] == []


def test_colour_only_where_it_is_wanted(run: Cudafix, monkeypatch: pytest.MonkeyPatch) -> None:
    write(a="cudaMalloc();\n")
    assert b"\x1b" not in run("check").out
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    assert b"\x1b[" in run("check").out
    monkeypatch.setenv("NO_COLOR", "1")
    assert b"\x1b[3" not in run("check").out


def test_a_terminal_gets_lines_that_fit_and_show_the_caret(run: Cudafix, monkeypatch: pytest.MonkeyPatch) -> None:
    write(a="/*" + "x" * 200 + "*/ cudaMalloc(&p, n); /*" + "y" * 200 + "*/\n")
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("NO_COLOR", "1")
    assert max(map(len, run("check").out.splitlines())) > 400
    monkeypatch.setenv("FORCE_COLOR", "1")  # rich: behave as on a terminal
    lines = re.sub(r"\x1b\[[0-9;]*m", "", run("check").out.decode()).splitlines()
    assert len(lines[1]) <= 60
    caret = lines[2].index("^")
    assert lines[1][caret : lines[2].rindex("^") + 1] == "cudaMalloc"


def test_explain_lists_every_page_and_prints_each(run: Cudafix) -> None:
    listing = run("explain")
    names = re.findall(r"^- `(\w+)`: ", listing.out.decode(), re.MULTILINE)
    assert {"stream_ordered_pairs", "escapes"} <= set(names)
    for name in names:
        shown = run("explain", name)
        assert shown.code == 0
        assert shown.out.startswith(f"# {name} (".encode())
        assert b"## Why\n" in shown.out


def test_explain_names_the_nearest_page(run: Cudafix) -> None:
    shown = run("explain", "escape")
    assert shown.code == 2
    assert shown.err == "cudafix: no codemod and no refusal is named `escape`; did you mean `escapes`?\n"


def test_the_way_to_the_analysis_loads_neither_parsers_nor_what_draws(tmp_path: Path) -> None:
    (tmp_path / "a.cu").write_text("cudaMalloc();\n")
    program = (
        "import os, sys, types; import cudafix.pipeline; from cudafix.cli.main import main;"
        "heavy = {'tree_sitter', 'libcst', 'jinja2', 'pygments', 'asyncio', 'distributed', 'cudafix.ordering'};"
        "driver = types.ModuleType('cudafix.pipeline.driver');"
        "driver.analyze = lambda *_: os._exit(99 if not heavy & sys.modules.keys() else 98);"
        "sys.modules['cudafix.pipeline.driver'] = cudafix.pipeline.driver = driver;"
        "main(['check', '--no-cache', 'a.cu'])"
    )
    assert subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=False).returncode == 99
