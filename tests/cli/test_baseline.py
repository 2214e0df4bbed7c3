"""`check --baseline` and `--since`: what was there before passes, what is new fails, what is fixed goes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple, NoReturn

import pytest

from cudafix.cli import main as cli

KERNEL = "#include <cuda_runtime.h>\n__global__ void {0}_k(float *p) {{ p[0] = 1; }}\n"
PAIR = "    float *{0};\n    cudaMalloc(&{0}, 4);\n    {1}_k<<<1, 1>>>({0});\n    cudaFree({0});\n"


def program(name: str, *buffers: str) -> str:
    """A program with a pair for each buffer, all of which can move."""
    return KERNEL.format(name) + "int main() {\n" + "".join(PAIR.format(b, name) for b in buffers) + "}\n"


class Run(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[int]:
        """Where findings are, of `--format gitlab`."""
        return [entry["location"]["lines"]["begin"] for entry in json.loads(self.out)]


class Check:
    def __init__(self, capture: pytest.CaptureFixture[str]) -> None:
        self._capture = capture

    def __call__(self, *arguments: str) -> Run:
        with pytest.raises(SystemExit) as ended:
            cli.main(["check", "--format", "gitlab", "--fail-on", "defects,churn,once", *arguments])
        out, err = self._capture.readouterr()
        return Run(int(ended.value.code or 0), out, err)


@pytest.fixture
def check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Check:
    monkeypatch.chdir(tmp_path)
    return Check(capfd)


def git(*arguments: str) -> None:
    executable = shutil.which("git")
    assert executable is not None
    names = {f"GIT_{who}_{what}": "x" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    subprocess.run([executable, *arguments], check=True, capture_output=True, env=os.environ | names)


def commit() -> None:
    git("add", "-A")
    git("commit", "-qm", "x", "--allow-empty")


@pytest.fixture
def repository(check: Check) -> Check:
    git("init", "-q", "-b", "main")
    return check


def test_the_configuration_may_name_the_baseline(repository: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("cudafix.toml").write_text("baseline = 'ci/known.json'")
    Path("ci").mkdir()
    Path("src").mkdir()
    Path("src/a.cu").write_text(program("a", "p"))
    assert "ci/known.json: no such baseline" in repository().err
    assert repository("--update-baseline").code == 0
    monkeypatch.chdir("src")
    assert repository().code == 0
    Path("a.cu").write_text(program("a", "p", "q"))
    assert repository().lines == [9]
    assert repository("--baseline", "../own.json", "--update-baseline").code == 0
    assert repository("--baseline", "../own.json").code == 0


def test_old_findings_pass_and_new_ones_fail(check: Check) -> None:
    Path("a.cu").write_text(program("a", "p", "q"))
    made = check("--baseline", "known.json", "--update-baseline")
    assert (made.code, made.out) == (0, "")
    assert made.err == "cudafix: known.json: 2 findings, 2 new, 0 gone\n"
    assert check("--baseline", "known.json").code == 0
    Path("a.cu").write_text(program("a", "p", "q", "r"))
    shown = check("--baseline", "known.json")
    assert (shown.code, shown.lines) == (1, [13])
    assert "2 left: in the baseline" in shown.err


def test_findings_are_known_where_their_lines_have_moved(check: Check) -> None:
    Path("a.cu").write_text(program("a", "p", "q"))
    check("--baseline", "known.json", "--update-baseline")
    Path("a.cu").write_text("// one\n// two\n" + program("a", "p", "q").replace("    cudaM", "\tcudaM"))
    assert check("--baseline", "known.json").code == 0


def test_of_equal_lines_one_more_is_new(check: Check) -> None:
    block = "    {\n" + PAIR.format("p", "a") + "    }\n"
    Path("a.cu").write_text(program("a").removesuffix("}\n") + block + "}\n")
    check("--baseline", "known.json", "--update-baseline")
    Path("a.cu").write_text(program("a").removesuffix("}\n") + block + block + "}\n")
    assert check("--baseline", "known.json").lines == [12]


def test_what_is_fixed_is_pruned_and_nothing_is_added(check: Check) -> None:
    Path("a.cu").write_text(program("a", "p", "q"))
    check("--baseline", "known.json", "--update-baseline")
    Path("a.cu").write_text(program("a", "q", "r"))
    before = Path("known.json").read_bytes()
    shown = check("--baseline", "known.json")
    assert "cudafix: known.json: 1 fixed; `--prune-baseline` takes it out\n" in shown.err
    assert Path("known.json").read_bytes() == before
    shown = check("--baseline", "known.json", "--prune-baseline")
    assert (shown.code, len(shown.lines)) == (1, 1)
    assert "cudafix: known.json: took out 1 that is fixed\n" in shown.err
    assert len(json.loads(Path("known.json").read_text())["findings"]) == 1
    Path("a.cu").write_text(program("a", "p", "q"))
    assert len(check("--baseline", "known.json").lines) == 1  # it came back


def test_files_that_are_not_looked_at_keep_their_findings_while_they_exist(check: Check) -> None:
    for name in "ab":
        Path(f"{name}.cu").write_text(program(name, "p"))
    check("--baseline", "known.json", "--update-baseline")
    Path("a.cu").write_text(program("a"))
    assert "1 finding, 0 new, 1 gone" in check("--baseline", "known.json", "--update-baseline", "a.cu").err
    assert check("--baseline", "known.json").code == 0
    Path("b.cu").unlink()
    assert "took out 1 that is fixed" in check("--baseline", "known.json", "--prune-baseline", "a.cu").err


def test_a_baseline_has_a_line_for_each_finding_in_the_order_of_paths(check: Check) -> None:
    for name in "ba":
        Path(f"{name}.cu").write_text(program(name, "p"))
    check("--baseline", "known.json", "--update-baseline")
    lines = Path("known.json").read_text().splitlines()
    assert [line[:19] for line in lines if "path" in line] == ['  {"path": "a.cu", ', '  {"path": "b.cu", ']
    first = Path("known.json").read_bytes()
    check("--baseline", "known.json", "--update-baseline")
    assert Path("known.json").read_bytes() == first


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "cudafix: known.json: no such baseline; `--update-baseline` makes one\n"),
        ("{", "cudafix: known.json: not a baseline: "),
        ("[]", "cudafix: known.json: not a baseline of version 1; `--update-baseline` writes it anew\n"),
        ('{"version": 1, "findings": [{}]}', "each finding needs `path`, `rule`, `fingerprint`\n"),
    ],
)
def test_a_wrong_baseline_is_one_line(check: Check, content: str | None, message: str) -> None:
    Path("a.cu").write_text(program("a", "p"))
    if content is not None:
        Path("known.json").write_text(content)
    shown = check("--baseline", "known.json")
    assert (shown.code, shown.out, shown.err.count("\n")) == (2, "", 1)
    assert message in shown.err


@pytest.mark.parametrize(
    "options",
    [
        ["--update-baseline"],
        ["--baseline", "x", "--prune-baseline", "--since", "main"],
        ["--format", "sarif", "--statistics"],
        ["--baseline", "absent.json"],
        ["--since", "absent"],
    ],
)
def test_options_that_do_not_fit_exit_2_before_anything_is_proved(
    check: Check, monkeypatch: pytest.MonkeyPatch, options: list[str]
) -> None:
    Path("a.cu").write_text(program("a", "p"))

    def analyze(*_: object) -> NoReturn:
        raise AssertionError

    monkeypatch.setattr("cudafix.pipeline.driver.analyze", analyze)
    assert check(*options).code == 2


def test_a_baseline_that_cannot_be_written_leaves_the_old_one(check: Check) -> None:
    Path("a.cu").write_text(program("a", "p"))
    shown = check("--baseline", "no/such/folder.json", "--update-baseline")
    assert shown.code == 2
    assert shown.err == "cudafix: no/such/folder.json: cannot be written: No such file or directory\n"


def test_since_shows_findings_on_changed_lines_only(repository: Check) -> None:
    Path("a.cu").write_text(program("a", "p", "q"))
    commit()
    assert repository("--since", "HEAD").code == 0
    Path("a.cu").write_text(program("a", "p", "q", "r"))
    shown = repository("--since", "HEAD")
    assert (shown.code, shown.lines) == (1, [13])
    commit()
    assert repository("--since", "HEAD").code == 0
    assert repository("--since", "HEAD~1").lines == [13]


def test_since_leaves_out_what_rests_on_an_assumption_and_was_there(repository: Check) -> None:
    Path("a.cu").write_text(program("a", "p"))
    commit()
    Path("library.cu").write_text(program("b", "q").replace("int main()", "void work()"))
    Path("a.cu").write_text(program("a", "p", "r"))

    def assumed() -> list[str]:
        results = json.loads(repository("--format", "json", "--since", "HEAD").out)["results"]
        return [each["path"] for each in results if each["level"] == "review"]

    assert assumed() == ["library.cu"]
    commit()
    Path("a.cu").write_text(program("a", "p", "r", "t"))
    assert assumed() == []


def test_since_shows_a_finding_when_its_free_was_changed(repository: Check) -> None:
    Path("a.cu").write_text(program("a", "p", "q"))
    commit()
    Path("a.cu").write_text(program("a", "p", "q").replace("cudaFree(q);", "cudaFree( q );"))
    assert repository("--since", "HEAD").lines == [9]


def test_since_shows_what_another_file_caused(repository: Check) -> None:
    """The function that the buffer goes to is defined now, so that the pair can move."""
    use = program("a", "p").replace("a_k<<<1, 1>>>(p);", "use(p);").replace("int main", "void use(float *p);\nint main")
    Path("a.cu").write_text(use)
    commit()
    assert repository().lines == []
    Path("b.cu").write_text(KERNEL.format("b") + "void use(float *p) { b_k<<<1, 1>>>(p); }\n")
    shown = repository("--since", "HEAD")
    assert (shown.code, shown.lines) == (1, [6])


def test_since_starts_where_the_branch_left(repository: Check) -> None:
    Path("a.cu").write_text(program("a", "p", "q"))
    commit()
    git("checkout", "-qb", "feature")
    Path("b.cu").write_text(program("b", "p"))
    commit()
    git("checkout", "-q", "main")
    Path("a.cu").write_text(program("a"))
    commit()
    git("checkout", "-q", "feature")
    assert repository("--since", "main").lines == [5]


def test_since_knows_a_file_by_its_old_name(repository: Check) -> None:
    Path("a.cu").write_text(program("a", "p", "q"))
    commit()
    git("mv", "a.cu", "b.cu")
    assert repository("--since", "HEAD").code == 0


def test_since_works_below_the_top_with_odd_names_and_line_ends(
    repository: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path(".gitattributes").write_text("*.cu eol=crlf\n")
    Path("sub").mkdir()
    path = Path("sub") / 'a "b" \u00e9.cu'
    path.write_bytes(program("a", "p", "q").replace("\n", "\r\n").encode())
    commit()
    monkeypatch.chdir("sub")
    assert repository("--since", "HEAD").code == 0
    Path(path.name).write_bytes(program("a", "p", "q", "r").replace("\n", "\r\n").encode())
    assert repository("--since", "HEAD").lines == [13]


@pytest.mark.parametrize("revision", ["nothing", "--output=x", "HEAD:a.cu"])
def test_since_what_is_no_commit_is_one_line(repository: Check, revision: str) -> None:
    Path("a.cu").write_text(program("a", "p"))
    commit()
    shown = repository(f"--since={revision}")
    assert (shown.code, shown.out, shown.err.count("\n")) == (2, "", 1)
    assert shown.err.startswith("cudafix: --since: ")
    assert not Path("x").exists()


def test_since_outside_a_repository_is_one_line(check: Check) -> None:
    Path("a.cu").write_text(program("a", "p"))
    shown = check("--since", "HEAD")
    assert (shown.code, shown.err.count("\n")) == (2, 1)
    assert "not a git repository" in shown.err
