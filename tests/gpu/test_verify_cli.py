"""`cudafix verify` as a user runs it, without a GPU.

`nvidia-smi` and `compute-sanitizer` are stand-ins on PATH, and the program is a shell script that looks at the text of
its source. Everything else is real.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from cudafix.cli import main as cli
from cudafix.verify import bundle, nvcc, scratch
from cudafix.verify.plan import PlanError
from tests.cases import FIXTURES, load

SOURCE = """\
#include <cuda_runtime.h>
__global__ void touch(int *p) { p[0] = 1; }
void one(cudaStream_t s) { int *a; cudaMalloc(&a, 4); touch<<<1, 1, 0, s>>>(a); cudaFree(a); }
void two(cudaStream_t s) { int *b; cudaMalloc(&b, 4); touch<<<1, 1, 0, s>>>(b); cudaFree(b); }
void three(cudaStream_t s) { int *c; cudaMalloc(&c, 4); touch<<<1, 1, 0, s>>>(c); cudaFree(c); }
int main() {
    cudaStream_t s;
    cudaStreamCreate(&s);
    one(s);
    two(s);
    three(s);
    cudaStreamSynchronize(s);
    cudaStreamDestroy(s);
    return 0;
}
"""
GPU = """#!/bin/sh
echo "Pretend GPU, 1.2.3, 9.0"
"""
NO_GPU = """#!/bin/sh
echo "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver."
exit 9
"""
# runs the program, and finds a race or a leak in a tree whose main.cu has a line that says so
DETECTOR = """#!/bin/sh
while [ $# -gt 0 ]; do
    case $1 in
        --*) shift 2;; # every option that is used has a value
        *) break;;
    esac
done
"$@"
code=$?
if [ -e race ] && grep -q cudaMallocAsync main.cu; then
    echo "========= Invalid __global__ read of size 4 bytes"
    echo "========= ERROR SUMMARY: 1 error"
    exit 77
fi
echo "========= ERROR SUMMARY: 0 errors"
exit $code
"""
NOTHING_ELSE = ("--no-schedules", "--rounds", "2")


class Run(NamedTuple):
    code: int
    out: str
    err: str


class Project:
    """A folder with a CUDA source, and the stand-ins that are on PATH while it is verified."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, capture: pytest.CaptureFixture[str]) -> None:
        self._capture = capture
        self.folder = folder / "project"
        self.folder.mkdir()
        self.tools = folder / "tools"
        self.tools.mkdir()
        monkeypatch.chdir(self.folder)
        monkeypatch.setenv("PATH", f"{self.tools}{os.pathsep}{os.environ['PATH']}")
        self.tool("nvidia-smi", GPU)
        self.tool("compute-sanitizer", DETECTOR)
        self.write("main.cu", SOURCE)

    def tool(self, name: str, script: str) -> None:
        (self.tools / name).write_text(script)
        (self.tools / name).chmod(0o755)

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text)

    def verify(self, *arguments: str) -> Run:
        with pytest.raises(SystemExit) as ended:
            cli.main(["verify", *arguments])
        out, err = self._capture.readouterr()
        return Run(int(ended.value.code or 0), out, err)

    def __call__(self, run: str, *arguments: str, build: str = "true") -> Run:
        return self.verify("--build", build, "--run", run, *NOTHING_ELSE, *arguments)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Project:
    return Project(tmp_path, monkeypatch, capsys)


def test_a_program_that_does_the_same_is_verified_and_its_tree_untouched(project: Project) -> None:
    done = project("echo 42; pwd; touch litter", build="touch built")
    assert done.code == 0, done
    assert "project  verified  clean" in done.out
    assert "1 verified on Pretend GPU, driver 1.2.3" in done.out
    assert [path.name for path in project.folder.iterdir()] == ["main.cu"]
    assert (project.folder / "main.cu").read_text() == SOURCE


def test_both_trees_are_what_they_should_be(project: Project) -> None:
    seen = project.folder.parent / "seen"
    assert project(f"cat main.cu >> {seen}", "--rounds", "1").code == 0
    assert seen.read_text().startswith(SOURCE)
    assert "cudaMallocAsync(&a, 4, s)" in seen.read_text()


def test_what_is_run_stands_behind_the_version_check_that_apply_writes(project: Project) -> None:
    project.write("cudafix.toml", 'cuda = "11.0"\nguard = true\n')
    seen = project.folder.parent / "seen"
    assert project(f"cat main.cu >> {seen}", "--rounds", "1").code == 0
    assert "#if CUDART_VERSION >= 11020" in seen.read_text()
    assert "#else\nvoid one(cudaStream_t s) { int *a; cudaMalloc(&a, 4)" in seen.read_text()
    project.write("run.sh", "if grep -q 'MallocAsync(&b' main.cu; then echo wrong; else echo right; fi\n")
    broken = project("sh run.sh")
    assert broken.code == 1
    assert "main.cu:4" in broken.out


def test_a_rewrite_that_breaks_is_narrowed_down_left_out_and_kept(project: Project) -> None:
    project.write("run.sh", "if grep -q 'MallocAsync(&b' main.cu; then echo wrong; else echo right; fi\n")
    done = project("sh run.sh", "--save-case", "kept")
    assert done.code == 1
    assert "project: after: stdout: line 1: 'right', then 'wrong'" in done.out
    assert "`cudafix apply --except main.cu:4` leaves it out" in done.out
    assert load(project.folder / "kept").wrong[0].why == "after: stdout: line 1: 'right', then 'wrong'"
    wrong = (project.folder / "kept" / "wrong" / "what_cudafix_wrote" / "main.cu").read_text()
    assert ("&a, 4)" in wrong, "MallocAsync(&b" in wrong, "&c, 4)" in wrong) == (True, True, True)
    shutil.rmtree(project.folder / "kept")
    assert project("sh run.sh", "--except", "main.cu:4").code == 0
    assert "no fix at `main.cu:5000`" in project("sh run.sh", "--except", "main.cu:5000").err


def test_fixes_that_only_break_together_are_both_named(project: Project) -> None:
    both = "grep -q 'MallocAsync(&a' main.cu && grep -q 'MallocAsync(&c' main.cu && exit 5; exit 0\n"
    project.write("run.sh", both)
    done = project("sh run.sh")
    assert done.code == 1
    assert "after: ends with 5, not 0" in done.out
    assert "--except main.cu:3 --except main.cu:5" in done.out


def test_a_rewrite_that_does_not_build_fails_and_is_narrowed_down(project: Project) -> None:
    done = project("true", build="if grep -q 'MallocAsync(&c' main.cu; then echo 'error: no'; exit 1; fi")
    assert done.code == 1
    assert "after: does not build: error: no" in done.out
    assert "--except main.cu:5" in done.out


def test_a_race_is_a_failure_and_a_missing_detector_is_said(project: Project) -> None:
    project.write("race", "")
    done = project("true")
    assert done.code == 1
    assert "after: the detector found: memory: Invalid __global__ read of size 4 bytes" in done.out
    (project.tools / "compute-sanitizer").unlink()
    if shutil.which("compute-sanitizer"):
        pytest.skip("there is a real one")
    done = project("true")
    assert done.code == 0
    assert "races were not checked: no `compute-sanitizer`" in done.out


def test_output_that_varies_is_noisy_until_the_user_says_what_varies(project: Project) -> None:
    varies = 'echo "took $(date +%N) ns"; echo 1.5'
    done = project(varies)
    assert done.code == 3
    assert "project: before: noisy: stdout: line 1: 'took " in done.out
    assert "give --ignore or --tolerance" in done.out
    assert project(varies, "--ignore", r"took \d+ ns").code == 0
    # what only the rewritten program does is no noise
    done = project("if grep -q Async main.cu; then date +%N; fi")
    assert (done.code, "after: varies by itself, as before does not: stdout: line 1" in done.out) == (1, True)


def test_numbers_within_a_tolerance(project: Project) -> None:
    sums = "if grep -q Async main.cu; then echo sum 1.0000001; else echo sum 1.0; fi"
    assert project(sums).code == 1
    assert project(sums, "--tolerance", "1e-6").code == 0
    assert project(sums, "--tolerance", "1e-8").code == 1


def test_named_files_are_compared_and_must_be_written(project: Project) -> None:
    writes = "grep -c MallocAsync main.cu > out.txt; true"
    assert project(writes).code == 0
    done = project(writes, "--output", "out.txt")
    assert (done.code, "after: out.txt: line 1: '0', then '3'" in done.out) == (1, True)
    done = project("true", "--output", "absent.txt")
    assert (done.code, "before: writes no absent.txt" in done.out) == (2, True)


def test_exit_codes_and_what_is_compared_can_be_chosen(project: Project) -> None:
    assert project("exit 4", "--exit", "4").code == 0
    stderr = "grep -c Async main.cu >&2; exit 0"
    assert project(stderr).code == 1
    assert project(stderr, "--compare", "stdout").code == 0


def test_a_program_that_fails_as_it_is_cannot_be_verified(project: Project) -> None:
    done = project("echo no data >&2; exit 1")
    assert (done.code, "before: ends with 1, not 0: no data" in done.out) == (2, True)
    done = project("true", build="echo missing.h >&2; exit 1")
    assert (done.code, "before: does not build: missing.h" in done.out) == (2, True)
    done = project("true", build="./absent")
    assert (done.code, "before: does not build: ./absent: No such file or directory" in done.out) == (2, True)
    done = project("true", "--build-limit", "0.5", build="sleep 60 & echo 'cc main.cu'; wait")
    assert (done.code, "before: does not build: stopped after 0.5 s" in done.out) == (2, True)
    done = project("./absent")
    assert (done.code, "before: ends with 127, not 0" in done.out) == (2, True)


def test_without_a_gpu_nothing_is_run_or_verified(project: Project) -> None:
    project.tool("nvidia-smi", NO_GPU)
    ran = project.folder.parent / "ran"
    done = project(f"touch {ran}")
    assert done.code == 3
    assert "unverified" in done.out
    assert "no GPU: compiled only, nothing is verified" in done.out
    assert not ran.exists()
    broken = project("true", build="! grep -q Async main.cu")
    assert (broken.code, "after: does not build" in broken.out) == (1, True)


def test_the_gpu_may_be_behind_a_launcher(project: Project) -> None:
    (project.tools / "nvidia-smi").rename(project.tools / "there-nvidia-smi")
    project.tool("nvidia-smi", NO_GPU)
    project.tool("srun", '#!/bin/sh\nshift\n[ "$1" = nvidia-smi ] && exec there-nvidia-smi\nexec "$@"\n')
    assert project("true").code == 3
    assert project("true", "--launcher", "srun --gres=gpu:1").code == 0


@pytest.mark.skipif(nvcc.find() is None, reason=nvcc.MISSING)
def test_streams_are_late_in_runs_of_their_own_and_never_in_timed_ones(project: Project) -> None:
    log = project.folder.parent / "log"
    script = f"echo ${{CUDAFIX_DELAY:-no}} >> {log}; [ \"$CUDAFIX_DELAY\" = 1=0 ] && grep -o '%s' main.cu; true"
    late = ("--build", "true", "--run", "sh run.sh", "--rounds", "2")
    project.write("run.sh", script % "Async(&b")
    done = project.verify(*late)
    assert done.code == 1
    assert "after: with streams late (1=0): stdout: 0 lines, then 1: 'Async(&b'" in done.out
    assert "--except main.cu:4" in done.out
    assert log.read_text().split()[:6] == ["no"] * 6  # two rounds of both, and the detector
    project.write("run.sh", script % "touch")
    done = project.verify(*late)
    assert done.code == 0
    assert "with streams late (1=0) before itself does something else: not counted" in done.out
    assert "no stream was late: the program does not look the driver up where that can be caught" in done.out


def test_the_peak_of_memory_is_compared_in_a_run_of_its_own(project: Project) -> None:
    noted = "grep -q Async main.cu && echo 33554432 > $CUDAFIX_PEAK.1 || echo 3145728 > $CUDAFIX_PEAK.1"
    project.write("run.sh", f'[ -z "$CUDAFIX_PEAK" ] || {{ {noted}; }}')
    done = project.verify("--build", "true", "--run", "sh run.sh", "--rounds", "2")
    assert done.code == 0
    assert "peak of GPU memory: 3.0 MiB before, 32.0 MiB after, with what the pools keep" in done.out


def test_waits_are_taken_out_and_those_that_no_run_misses_are_listed(project: Project) -> None:
    fixture = FIXTURES / "stream_ordered_pairs" / "pinned_result_is_read_after_the_free" / "before" / "main.cu"
    project.write("main.cu", fixture.read_text())
    project.write(
        "run.sh", "[ $(grep -c 'StreamSynchronize(stream)' main.cu) = 2 ] || grep -q 'cudaFree(d_v)' main.cu\n"
    )
    done = project("sh run.sh", "--mutants", "--format", "json")
    assert done.code == 0, done
    data = json.loads(done.out)
    assert data["figures"]["mutant"] == {"all": 1, "proof": 1, "run": 1, "late": 1}
    (program,) = data["programs"]
    mutant = program["variants"]["mutant/1"]
    assert mutant["about"] == "`cudaStreamSynchronize(stream)` at main.cu:43"
    assert mutant["rejected"]
    assert mutant["shown_by"] == ["exit code"]
    done = project("true", "--mutants")
    assert done.code == 0
    assert "unverified wait: no run notices that `cudaStreamSynchronize(stream)` at main.cu:43 is gone" in done.out
    assert "1 inserted waits taken out: 1 rejected by the proof, 0 shown" in done.out


def test_a_program_that_hangs_is_stopped(project: Project) -> None:
    done = project("if grep -q Async main.cu; then sleep 60; fi", "--time-limit", "0.5", "--except", "main.cu:3")
    assert (done.code, "after: ends with stopped after 0.5 s, not 0" in done.out) == (1, True)


def test_what_git_ignores_is_not_copied_unless_it_is_named(project: Project) -> None:
    subprocess.run(["git", "init", "-q", str(project.folder)], check=True)
    project.write(".gitignore", "data\nprogram\n")
    project.write("data", "42\n")
    project.write("program", "a stale build output")
    assert project("test ! -e program && test -e main.cu").code == 0
    assert "before: ends with 1, not 0" in project("cat data").out
    assert project("cat data", "--copy", "data").code == 0
    assert "absent: no such file or folder" in project("true", "--copy", "absent").err


def test_json_is_one_object_with_the_figures(project: Project) -> None:
    done = project("echo 42", "--format", "json", "--mutants")
    data = json.loads(done.out)
    (program,) = data["programs"]
    assert data["machine"]["gpu"] == "Pretend GPU"
    assert program["outcome"] == "verified"
    assert program["timing"]["rounds"] == 2
    assert set(program["variants"]) == {"before", "after"}  # these fixes need no wait
    assert len(program["hashes"]["main.cu"]) == 64


def test_bad_requests_are_one_line_and_run_nothing(project: Project) -> None:
    for arguments, said in (
        ((), "needs `--build CMD` and `--run CMD`, or folders with fixtures"),
        (("--build", "true"), "`--build` needs `--run CMD`"),
        (("--run", "true"), "`--run` needs `--build CMD`: main.cu is compiled"),
        (("--build", "true", "--run", "true", "--ignore", "("), "`(` is no regular expression"),
        (("--build", "true", "--run", "true", "absent.cu"), "absent.cu: no such file or folder"),
        (("--build", "true", "--run", "true", str(FIXTURES)), "not below the current folder"),
        (("--import", "absent.json"), "absent.json: cannot be read"),
        (("--import", "main.cu"), "main.cu: not JSON"),
    ):
        done = project.verify(*arguments)
        assert (done.code, said in done.err, done.out) == (2, True, ""), done


def test_nothing_to_rewrite_is_nothing_to_verify(project: Project) -> None:
    project.write("main.cu", "#include <cuda_runtime.h>\nint main() { return cudaDeviceSynchronize(); }\n")
    done = project("exit 1")
    assert (done.code, done.err) == (0, "nothing is rewritten, so there is nothing to verify\n")


def test_export_runs_with_a_bare_python_and_import_takes_its_results(project: Project, tmp_path: Path) -> None:
    project.write("run.sh", "if grep -q 'MallocAsync(&b' main.cu; then echo wrong; else echo right; fi\n")
    there = tmp_path / "there"
    ran = tmp_path / "ran"
    done = project(f"touch {ran}; sh run.sh", "--export", str(there))
    assert (done.code, ran.exists()) == (0, False)
    assert "MallocAsync" in (there / "trees" / "0" / "after" / "main.cu").read_text()
    assert (there / "trees" / "0" / "before" / "main.cu").read_text() == SOURCE
    # no site-packages, no environment of Python, and no way to import the installed package
    command = [sys.executable, "-I", "-S", str(there / "run.py")]
    here = subprocess.run(command, cwd="/", capture_output=True, text=True, check=False)
    assert here.returncode == 1, here
    assert "failed     project\n           after: stdout: line 1: 'right', then 'wrong'\n" in here.stdout
    results = there / "results.json"
    assert "Pretend GPU" in results.read_text()
    taken = project.verify("--import", str(results))
    assert taken.code == 1
    assert "--except main.cu:4" in taken.out
    results.write_text(results.read_text()[:-20])
    assert "results.json: not JSON" in project.verify("--import", str(results)).err
    assert f"{there}: is there already, and not an empty folder" in project("true", "--export", str(there)).err


def test_links_in_a_circle_are_exported_as_links(project: Project, tmp_path: Path) -> None:
    (project.folder / "one").symlink_to("other")
    (project.folder / "other").symlink_to("one")
    done = project("true", "--export", str(tmp_path / "there"))
    assert done.code == 0, done.err
    assert (tmp_path / "there" / "trees" / "0" / "before" / "one").is_symlink()


@pytest.mark.parametrize("existed", [False, True])
def test_an_export_that_fails_leaves_nothing(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, existed: bool
) -> None:
    def fail(*_: object) -> None:
        raise PlanError("no room")

    there = tmp_path / "there"
    if existed:
        there.mkdir()
    monkeypatch.setattr(bundle, "add_runner", fail)
    assert project("true", "--export", str(there)).code == 2
    assert there.exists() == existed
    assert not existed or not list(there.iterdir())


def test_fixtures_are_exported_run_in_parts_and_recorded(project: Project, tmp_path: Path) -> None:
    fixtures = project.folder / "fixtures"
    for name in ("a_first_case", "a_second_case"):
        case = fixtures / "group" / name
        (case / "before").mkdir(parents=True)
        (case / "after").mkdir()
        (case / "wrong" / "renamed").mkdir(parents=True)
        (case / "before" / "main.cu").write_text("before\n")
        (case / "after" / "main.cu").write_text("after\n")
        (case / "wrong" / "renamed" / "main.cu").write_text("wrong\n")
        toml = 'why = "w"\nexpect = "rewrite"\n[wrong.renamed]\nwhy = "too early"\ngpu_shows = true\n'
        (case / "case.toml").write_text(toml)
    project.tool("nvcc", "#!/bin/sh\nprintf '#!/bin/sh\\ngrep wrong main.cu; true' > program; chmod +x program\n")
    there = tmp_path / "there"
    assert project.verify("fixtures", "--export", str(there), *NOTHING_ELSE).code == 0
    command = [sys.executable, "-I", "-S", str(there / "run.py")]
    for part, count in (("first", 1), ("case", 2)):
        ran = subprocess.run([*command, part], capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran
        assert len(json.loads((there / "results.json").read_text())["results"]) == count
    (fixtures / "group" / "a_second_case" / "after" / "main.cu").write_text("changed since\n")
    taken = project.verify("fixtures", "--import", str(there / "results.json"))
    assert taken.code == 1
    assert "not recorded: group/a_second_case: the fixture has changed since" in taken.err
    record = json.loads((fixtures / "group" / "a_first_case" / "record.json").read_text())
    assert (record["ok"], record["machine"]["gpu"]) == (True, "Pretend GPU")
    assert record["variants"]["wrong/renamed"]["shown_by"] == ["output"]
    assert not (fixtures / "group" / "a_second_case" / "record.json").exists()
    done = project.verify("fixtures", "--stale", *NOTHING_ELSE)
    assert "group/a_second_case  verified" in done.out
    assert "a_first_case" not in done.out


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_leaves_nothing_running_and_no_record(project: Project, number: int) -> None:
    pid = project.folder.parent / "pid"
    arguments = ("verify", "--build", "true", "--run", f"echo $$ > {pid}; sleep 60 & sleep 61", *NOTHING_ELSE)
    command = [sys.executable, "-c", "from cudafix.cli.main import main; main()", *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert _until(lambda: pid.exists() and pid.read_text().strip() != "")
    process.send_signal(number)
    out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err.strip()) == (128 + number, "", "cudafix: interrupted")
    group = int(pid.read_text())
    assert _until(lambda: not _group_lives(group))
    assert [path.name for path in project.folder.iterdir()] == ["main.cu"]


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_what_was_built_in_is_gone_at_once_or_with_the_next_run(
    project: Project, number: int, times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    built_in = project.folder.parent / "scratch"
    built_in.mkdir()
    monkeypatch.setenv("TMPDIR", str(built_in))
    command = [sys.executable, "-c", "from cudafix.cli.main import main; main()", "verify"]
    pid = project.folder.parent / "pid"
    first = subprocess.Popen([*command, "--build", f"echo $$ > {pid}; sleep 60", "--run", "true", *NOTHING_ELSE])
    assert _until(lambda: pid.exists() and pid.read_text().strip() != "")
    before = sorted(built_in.iterdir())
    assert before
    for _ in range(times):
        first.send_signal(number)
    first.wait(timeout=20)
    if number == signal.SIGKILL:
        assert sorted(built_in.iterdir()) == before
        os.killpg(int(pid.read_text()), signal.SIGKILL)
        other = subprocess.run([*command, "--build", "true", "--run", "true", *NOTHING_ELSE], timeout=60)
        assert other.returncode in (0, 1, 3)
    assert not list(built_in.iterdir())


def test_a_folder_of_a_command_that_runs_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with scratch.folder() as first:
        (first / "a").write_text("a")
        with scratch.folder() as second:
            assert first != second
        assert (first / "a").exists()
        assert not second.exists()
    assert not list(tmp_path.iterdir())


def _group_lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def _until(true: Callable[[], bool], seconds: float = 15) -> bool:
    deadline = time.monotonic() + seconds
    while not true():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True
