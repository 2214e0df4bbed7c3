"""The configuration file: what it may say, and what is said about a wrong one."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from cudafix.cli import main as cli
from cudafix.findings import ASSUMPTIONS, Assumption, Safety
from cudafix.pipeline import driver
from cudafix.project import config
from cudafix.project.config import Config, ConfigError, Override, Wrappers
from cudafix.project.stream_names import parse

NAMES = ["stream_ordered_pairs", "wait_between_streams"]


def load(folder: Path, text: str) -> Config:
    path = folder / "cudafix.toml"
    path.write_text(text)
    return config.load(path, NAMES)


def test_an_empty_file_gives_the_defaults(tmp_path: Path) -> None:
    assert load(tmp_path, "") == Config(root=tmp_path)


def test_every_key(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text('[[api]]\nname = "take"\neffect = "alloc"\nroles = "new -"\nmemory = "device"\n')
    text = """
        paths = ["src"]
        exclude = ["third_party/"]
        default_stream = "per-thread"
        tables = ["own.toml", { name = "peek", effect = "work", roles = ["r", "stream"] }]
        codemods = { wait_between_streams = false, stream_ordered_pairs = true }
        check_macros = ["CK"]
        cuda = "11.0"
        guard = true
        pool_threshold = "64 MiB"
        stream = "s"
        pools = "required"
        wrappers = { malloc = "mem::take", free = "give" }
        assume = { leaves_no_work = true, no_caller_relies_on_waits = ["init", "run*"] }
        overrides = [
            { files = ["old/"], codemods = { wait_between_streams = true }, default_stream = "legacy" },
            { files = ["new/"], functions = ["step", "Solver::run"], stream = "s" },
        ]
    """
    assert load(tmp_path, text) == Config(
        root=tmp_path,
        paths=("src",),
        exclude=("third_party/",),
        disabled=frozenset(["wait_between_streams"]),
        default_stream="per-thread",
        tables=(
            {"name": "take", "effect": "alloc", "roles": "new -", "memory": "device"},
            {"name": "peek", "effect": "work", "roles": ["r", "stream"]},
        ),
        check_macros=("CK",),
        cuda=(11, 0),
        guard=True,
        pool_threshold=64 << 20,
        stream=parse("s"),
        pools="required",
        wrappers=Wrappers("mem::take", "give"),
        assume={"leaves_no_work": ("*",), "no_caller_relies_on_waits": ("init", "run*")},
        overrides=(
            Override(("old/",), {"wait_between_streams": True}, {}, "legacy"),
            Override(("new/",), stream=parse("s"), functions=("step", "Solver::run")),
        ),
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("path = []", "unknown key `path`; did you mean `paths`?"),
        ("zzz = 1", "unknown key `zzz`; known: `assume`, `baseline`, `check_macros`, `codemods`, `cuda`"),
        ("paths = 'src'", "`paths` must be a list of strings"),
        ("exclude = [1]", "`exclude` must be a list of strings"),
        ("default_stream = 'per-thred'", "unknown value of `default_stream` `per-thred`; did you mean `per-thread`?"),
        ("default_stream = 1", "`default_stream` must be a string"),
        ("codemods = { wait_between_stream = true }", "did you mean `wait_between_streams`?"),
        ("codemods = ['wait_between_streams']", "`codemods` must be a table of names, each `true` or `false`"),
        ("assume = { leave_no_work = true }", "unknown assumption `leave_no_work`; did you mean `leaves_no_work`?"),
        ("assume = { leaves_no_work = 1 }", "`assume.leaves_no_work` must be `true`, `false` or a list of subjects"),
        ("assume = ['leaves_no_work']", "`assume` must be a table of assumptions, each `true` or a list of subjects"),
        ("stream = 's + 1'", "`stream` must be a name with members, and calls that are given nothing, as in"),
        ("stream = 1", "`stream` must be a name with members, and calls that are given nothing, as in"),
        (
            "overrides = [{ files = ['a'], functions = ['f'] }]",
            "`functions` of `overrides` needs names, and goes with `files` and `stream` alone",
        ),
        (
            "overrides = [{ files = ['a'], functions = ['f('], stream = 's' }]",
            "`functions`: `f(` is no name of a function, as in `Solver::step`",
        ),
        ("pools = 'no'", '`pools` must be `"required"` or `"fallback"`'),
        ("pools = 'fallback'\nguard = true", '`guard` does not go with `pools = "fallback"`'),
        ("pools = 'fallback'\npool_setup = 'a.h'", '`pool_setup` does not go with `pools = "fallback"`'),
        ("wrappers = { malloc = 'f' }", "`wrappers` must be a table of two names of functions, as in"),
        ("wrappers = { malloc = 'f(', free = 'g' }", "`wrappers` must be a table of two names of functions, as in"),
        ("baseline = true", "`baseline` must be the path of a file"),
        ("ignore = { files = ['a'] }", "`ignore` must be a list of tables: `[[ignore]]`"),
        ("[[ignore]]\nfile = ['a']", "unknown key of `ignore` `file`; did you mean `files`?"),
        ("[[ignore]]\nfiles = ['a']", "each of `ignore` needs `files`, a list of patterns, and `names`, a list"),
        ("[[ignore]]\nfiles = ['a']\nnames = ['escape']\nreason = 'x'", "refusal `escape`; did you mean `escapes`?"),
        ("[[ignore]]\nfiles = ['a']\nnames = ['escapes']", "each of `ignore` needs a `reason`"),
        ("check_macros = ['CK(x)']", "`check_macros`: `CK(x)` is no name of a macro or a function"),
        ("cuda = 11.0", '`cuda` must be a version in quotes, as in `cuda = "11.0"`'),
        ("cuda = '11'", '`cuda` must be a version in quotes, as in `cuda = "11.0"`'),
        ("guard = 'yes'", "`guard` must be `true` or `false`"),
        ("pool_threshold = '64'", '`pool_threshold` must be `"max"`, `"keep"` or a size, as in `"64 MiB"`'),
        ("pool_threshold = 64", '`pool_threshold` must be `"max"`, `"keep"` or a size, as in `"64 MiB"`'),
        (
            "pool_threshold = '99999999999999 GiB'",
            '`pool_threshold` must be `"max"`, `"keep"` or a size, as in `"64 MiB"`',
        ),
        ("overrides = { files = ['a'] }", "`overrides` must be a list of tables: `[[overrides]]`"),
        ("overrides = [{ file = ['a'] }]", "unknown key of `overrides` `file`; did you mean `files`?"),
        ("overrides = [{ codemods = {} }]", "each of `overrides` needs `files`, a list of patterns"),
        ("tables = 'own.toml'", "`tables` must be a list of rows and of paths"),
        ("tables = [{ name = 'f', effekt = 'work' }]", "unknown field `effekt`"),
        ("tables = ['nothing.toml']", "nothing.toml: cannot read the configuration: No such file or directory"),
        ("paths = [", "not valid TOML: "),
        (
            "[tool.cudafix]\npaths = ['src']",
            "the keys stand here without `tool.cudafix`, which is for `pyproject.toml`",
        ),
    ],
)
def test_a_wrong_file_is_one_clear_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, text)
    assert message in str(caught.value)
    assert str(tmp_path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_bytes_that_are_no_text_are_one_clear_line(tmp_path: Path) -> None:
    path = tmp_path / "cudafix.toml"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="not valid TOML"):
        config.load(path, NAMES)


def test_the_nearest_file_upward_governs(tmp_path: Path) -> None:
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text("[tool.cudafix]\npaths = ['x']\n")
    (tmp_path / "a" / "pyproject.toml").write_text("[project]\nname = 'other'\n")
    assert config.find(below) == tmp_path / "pyproject.toml"
    assert config.load(tmp_path / "pyproject.toml", NAMES).paths == ("x",)
    (tmp_path / "a" / "cudafix.toml").write_text("")
    assert config.find(below) == tmp_path / "a" / "cudafix.toml"


def test_the_last_override_that_names_a_codemod_decides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = """
        codemods = { wait_between_streams = false }
        overrides = [
            { files = ["src/", "*.cuh"], codemods = { wait_between_streams = true } },
            { files = ["/src/old/*"], codemods = { wait_between_streams = false } },
        ]
    """
    settings = load(tmp_path, text)
    on = [settings.is_on("wait_between_streams", p) for p in ("a.cu", "src/a.cu", "lib/a.cuh", "src/old/a.cu")]
    assert on == [False, True, True, False]
    assert settings.is_on("wait_between_streams", str(tmp_path / "src" / "a.cu"))
    assert not settings.is_off_everywhere("wait_between_streams")


WORK = b"""#include <cuda_runtime.h>
__global__ void k(float *p) { p[0] = 1; }
void work() { float *d; cudaMalloc(&d, 4); k<<<1, 1>>>(d); cudaFree(d); }
"""


@pytest.mark.parametrize(
    ("text", "taken"),
    [
        ("", False),
        ("assume = { no_caller_relies_on_waits = true }", True),
        ("assume = { no_caller_relies_on_waits = ['wo*'] }", True),
        ("assume = { no_caller_relies_on_waits = ['other'], leaves_no_work = true }", False),
        ("overrides = [{ files = ['a.cu'], assume = { no_caller_relies_on_waits = ['work'] } }]", True),
        ("overrides = [{ files = ['b.cu'], assume = { no_caller_relies_on_waits = ['work'] } }]", False),
    ],
)
def test_a_fix_is_taken_where_all_that_it_rests_on_is_asserted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], text: str, taken: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("cudafix.toml").write_text(text)
    Path("a.cu").write_bytes(WORK)
    with pytest.raises(SystemExit) as ended:
        cli.main(["check", "--fail-on", "once"])
    assert ended.value.code == int(taken)
    note = "asserted" if taken else "assumes"
    words = "no caller of `work` relies on it to wait for work that the caller started"
    assert f"  {note}: {words} (`no_caller_relies_on_waits`)\n" in capfd.readouterr().out
    with pytest.raises(SystemExit):
        cli.main(["apply"])
    assert (b"cudaMallocAsync" in Path("a.cu").read_bytes()) is taken


def test_every_assumption_survives_the_cache() -> None:
    for name in ASSUMPTIONS:
        for about, subject in (
            ("`f`", "f"),
            ("macro `M`", "M"),
            ("through a pointer", "through a pointer"),
            ("`a`, `b`", "`a`, `b`"),
        ):
            before = Assumption(name, about)
            after = pickle.loads(pickle.dumps(before))
            assert (after, after.name, after.subject) == (before, name, subject)


UNSEEN = b"""#include "unseen.h"
__global__ void k(float *p) { p[0] = 1; }
int main() {
    for (int i = 0; i < 9; i++) {
        float *d; RUN(cudaMalloc(&d, 4)); k<<<1, 1>>>(d); RUN(cudaGetLastError()); RUN(cudaFree(d));
    }
}
"""


def test_a_check_macro_of_an_unseen_header_can_be_named() -> None:
    """What is inserted stands in it, too."""
    before = driver.analyze({"a.cu": UNSEEN}, Config())
    assert not [finding for finding in before.findings if finding.safety is Safety.PROVEN]
    (finding,) = driver.analyze({"a.cu": UNSEEN}, Config(check_macros=("RUN",))).findings
    assert finding.safety is Safety.PROVEN
    assert b"RUN(cudaGetDevice(&device_of_pool));" in b"".join(edit.text for edit in finding.edits)


OWN = b"""#include "unseen.h"
__global__ void k(int *p) { p[0] = 1; }
int main() {
    int *p;
    RUN(cudaMalloc(&p, 4));
    k<<<1, 1>>>(p);
    filter_run(p, 4);
    RUN(cudaFree(p));
}
"""
ROW = 'tables = [{ name = "filter_run", effect = "work", roles = "rw -" }]\n'
MACRO = 'check_macros = ["RUN"]\n'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "2 allocation sites: 0 can be rewritten, 2 refused\n      2 refused: unknown_call"),
        (ROW, "left: rests on an assumption"),
        (ROW + MACRO, "2 allocation sites: 2 can be rewritten (2 once), 0 refused\n"),
        (ROW + MACRO + "paths = ['src']", "1 allocation site: 1 can be rewritten"),
        (ROW + MACRO + "exclude = ['old/']", "1 allocation site: 1 can be rewritten"),
        (ROW + MACRO + "codemods = { stream_ordered_pairs = false }", "2 left: switched off in the configuration"),
        (
            ROW + MACRO + "overrides = [{ files = ['old/'], codemods = { stream_ordered_pairs = false } }]",
            "2 allocation sites: 1 can be rewritten (1 once), 0 refused\n      1 left: switched off",
        ),
        (ROW + "assume = { leaves_no_work = ['RUN'] }", "2 can be rewritten"),
        (ROW + MACRO + "default_stream = 'per-thread'", "2 can be rewritten"),
        (ROW + MACRO + "cuda = '11.0'", "2 refused: old_cuda"),
        (ROW + MACRO + "cuda = '11.0'\nguard = true", "2 can be rewritten"),
        (ROW + MACRO + "cuda = '12.4'", "2 can be rewritten"),
        (
            ROW + MACRO + "ignore = [{ files = ['old/'], names = ['stream_ordered_pairs'], reason = 'r' }]",
            "1 can be rewritten",
        ),
    ],
)
def test_each_key_changes_what_check_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], text: str, expected: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("cudafix.toml").write_text(text)
    for folder in ("src", "old"):
        Path(folder).mkdir()
        Path(folder, "a.cu").write_bytes(OWN)
    with pytest.raises(SystemExit):
        cli.main(["check", "--no-cache"])
    assert expected in capfd.readouterr().out
