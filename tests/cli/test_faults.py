"""What can go wrong around the program: each is one line on standard error, exit code 2, and nothing is lost."""

from __future__ import annotations

import errno
import io
import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from cudafix.cli import main as cli
from cudafix.findings import Report
from cudafix.pipeline import driver, execution
from cudafix.pipeline.cache import Cache
from cudafix.pipeline.cluster import Cluster
from cudafix.project import discovery
from cudafix.project.config import Config
from tests.cases import ROOT

pytestmark = pytest.mark.exhaustive

GIT = shutil.which("git")
CASE = ROOT / "fixtures" / "stream_ordered_pairs" / "pinned_result_is_read_after_the_free" / "before"
(SOURCE,) = (path.read_bytes() for path in CASE.glob("*.cu"))


class Run(NamedTuple):
    code: int
    out: bytes
    err: str


def cudafix(*arguments: str, before: Callable[[], object] = lambda: None) -> Run:
    """The command in a process of its own, forked from this one, where it first calls `before`."""
    out, err = os.pipe(), os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python 3.12 warns of threads, which the child does not use
        pid = os.fork()
    if not pid:
        code: object = 70
        try:
            os.dup2(out[1], 1)
            os.dup2(err[1], 2)
            os.closerange(3, 1000)
            sys.stdout, sys.stderr = (io.TextIOWrapper(io.FileIO(n, "w", closefd=False)) for n in (1, 2))
            before()
            cli.main(arguments)
        except SystemExit as left:
            code = left.code
        finally:
            os._exit(code if isinstance(code, int) else 0)
    said = []
    for reads, writes in (out, err):
        os.close(writes)
        with open(reads, "rb") as file:
            said.append(file.read())
    _, status = os.waitpid(pid, 0)
    return Run(os.waitstatus_to_exitcode(status), said[0], said[1].decode())


def one_line(run: Run) -> str:
    """The only line that is said; the exit code is 2."""
    (line,) = run.err.splitlines()
    assert run.code == 2, run
    assert line.startswith("cudafix: ")
    return line


@pytest.fixture(scope="module", autouse=True)
def _loaded(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What the command loads when it is needed is loaded here, once, for all the processes."""
    path = tmp_path_factory.mktemp("loaded") / "a.cu"
    path.write_bytes(SOURCE)
    for command in ("check", "diff", "apply"):
        with pytest.raises(SystemExit):
            cli.main([command, "--no-cache", "--only", "churn", str(path)])


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "tree"
    folder.mkdir()
    monkeypatch.chdir(folder)
    (folder / "a.cu").write_bytes(SOURCE)
    return folder


def no_file_above(size: int) -> Callable[[], None]:
    """What a full disk is to a process: no write past `size` bytes of a file succeeds."""

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return limit


# ---------------------------------------------------------------------------------------------------------------------
# no room


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
@pytest.mark.parametrize(
    "arguments", ["check", "diff", "check --format json", "check --format sarif", "explain", "--help"]
)
def test_no_room_for_the_output(tree: Path, arguments: str) -> None:
    def full() -> None:
        os.dup2(os.open("/dev/full", os.O_WRONLY), 1)

    run = cudafix(*arguments.split(), before=full)
    assert one_line(run) == f"cudafix: the output: {os.strerror(errno.ENOSPC)}"


@pytest.mark.parametrize("closed", [(0,), (1,), (2,), (0, 1, 2)], ids=["input", "output", "errors", "all three"])
@pytest.mark.parametrize(("command", "code"), [("check", 0), ("check --format json", 0), ("diff", 0), ("apply", 0)])
def test_a_standard_stream_that_is_closed_leads_nowhere(
    tree: Path, command: str, code: int, closed: tuple[int, ...]
) -> None:
    def close() -> None:
        for number in closed:
            os.close(number)

    with subprocess.Popen(
        [sys.executable, "-c", "from cudafix.cli.main import main; main()", *command.split()],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=close,
    ) as run:  # fmt: skip
        out, err = run.communicate()
    assert run.returncode == code
    assert b"Traceback" not in out + err
    assert bool(out) == (1 not in closed and command != "apply")
    assert ((tree / "a.cu").read_bytes() != SOURCE) == (command == "apply")


def test_a_page_holds_any_text_in_a_locale_without_it(tree: Path) -> None:
    (tree / "a.cu").write_text(SOURCE.decode().replace("square", "größe"), encoding="utf-8")
    ascii_only = {"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    run = subprocess.run(
        [sys.executable, "-c", "from cudafix.cli.main import main; main()", "diff", "--html", "page.html"],
        env=os.environ | ascii_only, capture_output=True, check=False,
    )  # fmt: skip
    assert (run.returncode, b"Traceback" in run.stderr) == (0, False)
    assert "größe" in (tree / "page.html").read_text(encoding="utf-8")


def test_nobody_reads_the_output(tree: Path) -> None:
    def closed() -> None:
        reads, writes = os.pipe()
        os.dup2(writes, 1)
        os.close(reads)

    run = cudafix("diff", before=closed)
    assert (run.code, run.err) == (2, "")


@pytest.mark.parametrize("size", [0, 100, len(SOURCE) - 1, len(SOURCE) + 10])
def test_no_room_for_apply_leaves_every_file_as_it_was(tree: Path, size: int) -> None:
    other = tree / "b.cu"
    other.write_bytes(SOURCE)
    line = one_line(cudafix("apply", "--no-cache", before=no_file_above(size)))
    assert os.strerror(errno.EFBIG) in line
    assert {path.name: path.read_bytes() for path in tree.iterdir()} == {"a.cu": SOURCE, "b.cu": SOURCE}
    assert cudafix("apply").code == 0
    assert (tree / "a.cu").read_bytes() == other.read_bytes() != SOURCE
    assert cudafix("undo").code == 0
    assert (tree / "a.cu").read_bytes() == other.read_bytes() == SOURCE


@pytest.mark.parametrize("size", [0, 5000])
def test_no_room_for_the_cache_is_no_error(tree: Path, size: int) -> None:
    plain = cudafix("check", "--no-cache")
    short = cudafix("check", before=no_file_above(size))
    assert short[:2] == plain[:2]
    for _ in range(2):
        again = cudafix("check")
        assert again == plain


def test_no_room_for_a_page_or_a_baseline(tree: Path) -> None:
    for arguments in (["diff", "--html", "page.html"], ["check", "--baseline", "b.json", "--update-baseline"]):
        run = cudafix(*arguments, "--no-cache", before=no_file_above(10))
        assert run.code == 2
        assert os.strerror(errno.EFBIG) in run.err.splitlines()[-1]
        assert [path.name for path in tree.iterdir()] == ["a.cu"]


# ---------------------------------------------------------------------------------------------------------------------
# files that change


def test_a_file_that_goes_while_the_tree_is_read_is_one_line(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tree / "b.cu").write_bytes(SOURCE)
    real = os.open

    def opened(path: str, *arguments: int) -> int:
        if os.path.basename(path) == "b.cu":
            os.unlink(path)
        return real(path, *arguments)

    monkeypatch.setattr(os, "open", opened)
    found = discovery.discover(["."], Config())
    assert [(problem.path, problem.message) for problem in found.files.unread()] == [
        ("b.cu", f"cannot be read: {os.strerror(errno.ENOENT)}")
    ]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("os.unlink('b.cu')", f"b.cu: cannot be read: {os.strerror(errno.ENOENT)}"),
        ("open('b.cu', 'ab').write(b'// mine')", "b.cu: changed since it was analysed"),
        ("os.chmod('b.cu', 0o444)", "b.cu: is read-only"),
        ("os.unlink('b.cu'); os.mkdir('b.cu')", f"b.cu: cannot be read: {os.strerror(errno.EISDIR)}"),
        ("os.unlink('b.cu'); os.symlink('b.cu', 'b.cu')", f"b.cu: cannot be read: {os.strerror(errno.ELOOP)}"),
    ],
)
def test_a_file_that_changes_during_the_analysis_stops_apply(tree: Path, change: str, message: str) -> None:
    (tree / "b.cu").write_bytes(SOURCE)

    def patched() -> None:
        analyze = driver.analyze

        def and_then(*arguments: Any, **options: Any) -> Report:
            report = analyze(*arguments, **options)
            exec(change)
            return report

        driver.analyze = and_then

    run = cudafix("apply", "--no-cache", before=patched)
    assert one_line(run) == f"cudafix: {message}"
    assert (tree / "a.cu").read_bytes() == SOURCE


@pytest.mark.parametrize("shift", [-(10**9), 0, 10**9])
def test_clocks_may_jump(tree: Path, shift: int) -> None:
    """A file that changed is analysed anew, whatever its time says."""
    path = tree / "a.cu"
    status = path.stat()
    assert cudafix("check").code == 0
    path.write_bytes(SOURCE.replace(b"cudaFree(", b"hidden__("))
    assert path.stat().st_size == status.st_size
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns + shift * 10**9))
    changed = cudafix("check")
    assert changed.out == cudafix("check", "--no-cache").out
    path.write_bytes(SOURCE)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert cudafix("check").out != changed.out


# ---------------------------------------------------------------------------------------------------------------------
# killed


@pytest.mark.parametrize("command", ["check", "diff", "apply"])
def test_a_program_that_kills_its_worker_is_refused_and_the_others_are_decided(tree: Path, command: str) -> None:
    for name in ("b.cu", "c.cu", "d.cu"):
        (tree / name).write_bytes(SOURCE)

    def patched() -> None:
        execution.PAYS = 0.0  # workers from the beginning
        main = os.getpid()

        report = Cluster.report

        def killed(self: Cluster) -> Any:
            assert os.getpid() != main
            if "b.cu" in self.paths:
                os.kill(os.getpid(), signal.SIGKILL)
            return report(self)

        Cluster.report = killed  # type: ignore[method-assign]

    run = cudafix(command, "--no-cache", "-j", "2", before=patched)
    assert run.code == 2
    assert "b.cu: internal error: a worker process was killed" in run.err.splitlines()[-1]
    changed = {path.name for path in tree.iterdir() if path.read_bytes() != SOURCE}
    assert changed == ({"a.cu", "c.cu", "d.cu"} if command == "apply" else set())
    assert "b.cu" not in run.out.decode() or "internal_error" in run.out.decode()


def test_a_program_that_fails_inside_is_refused_and_the_others_are_decided(tree: Path) -> None:
    (tree / "b.cu").write_bytes(SOURCE)

    def patched() -> None:
        report = Cluster.report

        def failing(self: Cluster) -> Any:
            if "b.cu" in self.paths:
                raise RecursionError("too deep")
            return report(self)

        Cluster.report = failing  # type: ignore[method-assign]

    run = cudafix("check", "-j", "1", before=patched)
    assert run.code == 2
    assert "internal_error" in run.out.decode()
    assert "a.cu" in run.out.decode()
    assert run.err.splitlines()[-1].startswith("cudafix: b.cu: internal error: RecursionError (too deep) at ")
    assert cudafix("check").code == 0, "what failed is not remembered"
    assert cudafix("apply", "--no-cache", before=patched).code == 2
    assert [path.name for path in sorted(tree.iterdir()) if path.read_bytes() != SOURCE] == ["a.cu"]


class Killed(sqlite3.Connection):
    """Ends the process in front of the n-th thing that is done with it."""

    left = 0

    def _count(self) -> None:
        Killed.left -= 1
        if not Killed.left:
            os.kill(os.getpid(), signal.SIGKILL)

    def execute(self, *arguments: Any) -> sqlite3.Cursor:
        self._count()
        return super().execute(*arguments)

    def executemany(self, *arguments: Any) -> sqlite3.Cursor:
        self._count()
        found = super().executemany(*arguments)
        self._count()
        return found

    def commit(self) -> None:
        self._count()
        super().commit()

    def __exit__(self, *arguments: Any) -> Any:
        self._count()
        return super().__exit__(*arguments)

    def close(self) -> None:
        self._count()
        super().close()


def test_a_write_into_the_cache_that_is_killed_leaves_what_was_there() -> None:
    old, new = b"old content", b"new content"
    Cache().put({b"old": old})
    for number in range(1, 50):

        def put(number: int = number) -> None:
            connect = sqlite3.connect
            Killed.left = number
            sqlite3.connect = lambda *arguments, **options: connect(*arguments, factory=Killed, **options)  # type: ignore
            Cache().put({b"new": new})

        run = cudafix("--version", before=put)
        known = Cache().get([b"old", b"new"])
        assert known in ({b"old": old}, {b"old": old, b"new": new})
        if run.code == 0:
            break
        assert run.code == -signal.SIGKILL, run
    assert number > 4
    assert known == {b"old": old, b"new": new}


# ---------------------------------------------------------------------------------------------------------------------
# names and shapes

NAMES = ["with space.cu", "new\nline.cu", "-dash.cu", "quo'te\".cu", "ünïcode.cu", "tab\t.cu", "%s.cu", "[red]a.cu"]


def test_any_name_of_a_file_works(tree: Path) -> None:
    names = {*map(os.fsencode, NAMES), b"no\xfftext\xc3.cu"}
    os.unlink("a.cu")
    for name in names:
        Path(os.fsdecode(name)).write_bytes(SOURCE)
    for arguments in ([], *(["--format", form] for form in ("json", "sarif", "github", "gitlab", "junit"))):
        run = cudafix("check", *arguments)
        assert (run.code, run.err.count("\n")) == (0, 3 * bool(arguments))  # the summary
    assert cudafix("diff", "--html", "../page.html").code == 0
    shown = cudafix("diff")
    assert cudafix("apply").code == 0
    assert {*os.listdir(b".")} == names
    (after,) = {path.read_bytes() for path in tree.iterdir()}
    assert after != SOURCE
    assert cudafix("undo").code == 0
    assert {*os.listdir(b".")} == names
    assert {path.read_bytes() for path in tree.iterdir()} == {SOURCE}
    if GIT is not None:
        subprocess.run([GIT, "apply", "-"], input=shown.out, check=True, capture_output=True)
        assert {path.read_bytes() for path in tree.iterdir()} == {after}


def test_a_loop_of_links_is_not_followed(tree: Path) -> None:
    (tree / "loop").symlink_to(tree, target_is_directory=True)
    (tree / "one").symlink_to("two")
    (tree / "two").symlink_to("one")
    (tree / "self.cu").symlink_to("self.cu")
    assert list(discovery.discover(["."], Config()).files) == ["a.cu"]
    assert cudafix("check").code == 0
    assert one_line(cudafix("check", "one")) == "cudafix: one: a symbolic link that leads nowhere"
    assert one_line(cudafix("check", "self.cu")) == "cudafix: self.cu: a symbolic link that leads nowhere"


def test_a_file_of_50_megabytes_is_one_line(tree: Path) -> None:
    (tree / "b.cu").write_bytes(SOURCE + b"// generated\n" * (4 * 2**20))
    message = "cudafix: b.cu: has 52 MiB, and more than 16 are not analysed: exclude it"
    assert one_line(cudafix("check", "b.cu")) == message
    for command in ("check", "apply"):
        run = cudafix(command)
        assert (run.code, run.err.splitlines()[-1]) == (2, message)
    assert (tree / "a.cu").read_bytes() != SOURCE


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (SOURCE + b"namespace a {\n" * 10_000 + b"}\n" * 10_000, "nests 10000 brackets, and more than 1000"),
        (SOURCE + b"struct a {\n" * 10_000 + b"};\n" * 10_000, "nests 10000 brackets, and more than 1000"),
        (SOURCE + b"(" * 100_000, "nests 100000 brackets, and more than 1000"),
        (SOURCE.replace(b"\n", b"\r"), "its lines end in CR alone: convert them to LF"),
    ],
    ids=["nested namespaces", "nested structs", "parentheses that are never closed", "lines that end in CR alone"],
)
def test_what_is_not_analysed_is_one_line_and_the_rest_is_decided(tree: Path, content: bytes, message: str) -> None:
    (tree / "b.cu").write_bytes(content)
    run = cudafix("apply")
    assert (run.code, run.err.splitlines()[-1].startswith(f"cudafix: b.cu: {message}")) == (2, True), run
    assert (tree / "b.cu").read_bytes() == content
    assert (tree / "a.cu").read_bytes() != SOURCE


def test_brackets_in_literals_and_comments_do_not_nest(tree: Path) -> None:
    (tree / "a.cu").write_bytes(SOURCE + b'const char *opening = "' + b"(" * 2000 + b'"; // ' + b"{" * 2000 + b"\n")
    assert cudafix("check").code == 0


MAIN = b"int main()\n{"


@pytest.mark.parametrize(
    ("before", "inside", "name"),
    [
        (b"", b"{" * 150 + b"}" * 150, b"parse_error"),
        (b"", b"auto f = " + b"[] { return " * 500 + b"1;" + b"}" * 500 + b";", b"parse_error"),
        (b"", b"set(1);\n" * 2**17, b"budget"),
        (b"#define A0 1\n" + b"".join(b"#define A%d A%d + 1\n" % (n + 1, n) for n in range(9000)),
         b"int n9000 = A9000;", b"budget"),
    ],
    ids=["blocks that read as a list", "nested lambdas", "very many statements", "macros of thousands of others"],
)  # fmt: skip
def test_an_allocation_in_code_that_cannot_be_read_is_a_refusal(
    tree: Path, before: bytes, inside: bytes, name: bytes
) -> None:
    assert MAIN in SOURCE
    (tree / "a.cu").write_bytes(before + SOURCE.replace(MAIN, MAIN + inside))
    run = cudafix("check")
    assert (run.code, run.err) == (0, "")
    assert b"refused: " + name in run.out
    assert b"1 allocation site:" in run.out
