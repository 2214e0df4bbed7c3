"""What it means for a fixture to hold: the checks that `test_fixtures.py` runs on every case.

Each check raises `AssertionError` with a message that names the file and the line.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import subprocess
from functools import cache
from pathlib import Path
from typing import NamedTuple

from cudafix.findings import Edit, Report
from cudafix.frontends.cuda.parse import source
from cudafix.frontends.python.notebook import Notebooks
from cudafix.pipeline.driver import analyze, prove
from cudafix.project.config import Config
from cudafix.project.prefilter import SUFFIX
from cudafix.rewrite import edits
from cudafix.verify.cases import sources_of
from cudafix.verify.fixtures import RECORD, fingerprint
from cudafix.verify.nvcc import Nvcc
from tests.cases import ROOT, SOURCES, Case, Files

CACHE = ROOT / ".cache" / "nvcc"
ARCHITECTURE = "sm_90"
_REPORTS: dict[tuple[tuple[tuple[str, bytes], ...], str], Report] = {}


class Line(NamedTuple):
    """A report line: `text` is `codemod: message` of a finding, or `refused: name: message` of a refusal."""

    path: str
    line: int
    text: str


def report_of(files: Files, config: Config | None = None) -> Report:
    """What cudafix says about `files`, compiled as the configuration says."""
    config = config or Config()
    key = (tuple(sources_of(files).items()), repr(config))
    report = _REPORTS[key] = _REPORTS.get(key) or analyze(sources_of(files), config)
    assert not report.problems, [f"{problem.path}: {problem.message}" for problem in report.problems]
    return report


def lines_of(report: Report, files: Files) -> list[Line]:
    """The findings and refusals of `report` as lines, sorted by place."""

    def at(path: str, offset: int, text: str) -> Line:
        return Line(path, files[path].count(b"\n", 0, offset) + 1, text)

    found = [at(item.path, item.offset, f"{item.codemod}: {item.message}") for item in report.findings]
    found += [at(item.path, item.offset, f"refused: {item.name}: {item.message}") for item in report.refusals]
    return sorted(found)


def check_wants(case: Case, report: Report) -> None:
    """Every want is met by a report line of its own, and every report line is wanted."""
    unexpected = lines_of(report, case.files("before"))
    unmatched: list[str] = []
    # The longest want chooses first, so that `"refused: pinned"` is not robbed by `"refused"` on the same line.
    for want in sorted(case.wants(), key=lambda want: len(want.text), reverse=True):
        here = (line for line in unexpected if (line.path, line.line) == (want.path, want.line))
        match = next((line for line in here if want.text in line.text), None)
        if match:
            unexpected.remove(match)
        else:
            unmatched.append(f'{want.path}:{want.line}: nothing matches want "{want.text}"')
    surplus = [f"{line.path}:{line.line}: unexpected: {line.text}" for line in unexpected]
    faults = unmatched + surplus
    assert not faults, "\n" + "\n".join(faults)


def reasons_against(before: Files, after: Files, config: Config | None = None) -> list[str]:
    """Why the checker does not accept `after` as a rewrite of `before`; empty when it proves it."""
    return prove(sources_of(before), sources_of(after), config)


def rewritten(files: Files, report: Report) -> dict[str, bytes]:
    """`files` with the edits of all findings applied."""
    by_path: dict[str, list[Edit]] = {}
    for finding in report.findings:
        for edit in finding.edits:
            by_path.setdefault(edit.path, []).append(edit)
    return {path: edits.apply(files.get(path, b""), by_path.get(path, [])) for path in files.keys() | by_path.keys()}


def check_same(files: Files, wanted: Files) -> None:
    """`files` are `wanted`, byte for byte; says as a unified diff where they are not."""
    said = [f"{name}: only on one side" for name in sorted(files.keys() ^ wanted.keys())]
    for name in sorted(files.keys() & wanted.keys()):
        # repr shows tabs, line ends and other bytes that a diff of the text would hide.
        old, new = ([repr(line)[2:-1] for line in data[name].splitlines(keepends=True)] for data in (wanted, files))
        said += difflib.unified_diff(old, new, f"wanted/{name}", f"written/{name}", lineterm="")
    assert not said, "\n" + "\n".join(said)


def errors_in(files: Files) -> int:
    """How many places the front end cannot read, all files together, in the configuration with the most of them."""
    files = Notebooks(files).texts
    python = {path: data for path, data in files.items() if path.endswith(SUFFIX)}
    other = ((path, data) for path, data in files.items() if path not in python)
    return sum(max(len(parsed.errors) for parsed in source.read(path, data)) for path, data in other) + sum(
        bool(python_error(path, data)) for path, data in python.items()
    )


def python_error(path: str, data: bytes) -> str:
    """What Python says against a file; empty where it compiles."""
    try:
        compile(data, path, "exec")
    except SyntaxError as error:
        return f"{path}: {error}"
    return ""


@cache
def _version(path: Path) -> bytes:
    return subprocess.run([path, "--version"], capture_output=True, check=True).stdout


def _said_where_it_ran(case: Case, variant: str) -> str | None:
    """What the compiler said when the case ran on a GPU; None if it is another text by now."""
    path = case.path / RECORD
    record = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    same = record.get("hashes") == fingerprint(case) and variant in record["variants"]
    return str(record["variants"][variant]["compiler"]) if same else None


def compile_errors(nvcc: Nvcc, case: Case, variant: str) -> str:
    """What `nvcc` (for Python, its compiler) says against this variant; empty when it compiles for host and device.

    A variant that ran on a GPU as it stands was compiled there. Of others success is remembered, under a hash of the
    compiler's version, the flags and every byte of the variant. To stop before machine code saves nothing: nvcc takes
    0.65 s for a fixture with `-O0`, `-cuda` and `-fsyntax-only` alike.
    """
    if (said := _said_where_it_ran(case, variant)) is not None:
        return said
    files = case.files(variant)
    if case.is_python:
        texts = Notebooks(files).texts
        return "\n".join(filter(None, (python_error(name, data) for name, data in texts.items())))
    flags = (f"-arch={ARCHITECTURE}", *case.flags)
    key = hashlib.sha256(_version(nvcc.path) + repr((flags, sorted(files.items()))).encode())
    marker = CACHE / key.hexdigest()
    if marker.exists():
        return ""
    sources = [case.path / variant / name for name in files if name.endswith(SOURCES)]
    results = [nvcc.compile(source, flags) for source in sources]
    said = "\n".join(result.log or "nvcc fails" for result in results if not result.ok)
    if not said:
        CACHE.mkdir(parents=True, exist_ok=True)
        marker.touch()
    return said


def write_after(case: Case) -> bool:
    """Make `after/` what cudafix writes today (absent when nothing changes). Returns whether that changed anything."""
    before, folder = case.files("before"), case.path / "after"
    after = rewritten(before, report_of(before, case.config))
    wanted: Files = after if after != before else {}
    present = case.files("after")
    if wanted == present:
        return False
    for name in present.keys() - wanted.keys():
        (folder / name).unlink()
    for name, data in wanted.items():
        path = folder / Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    if not wanted:
        for empty in sorted((path for path in folder.rglob("*") if path.is_dir()), reverse=True):
            empty.rmdir()
        folder.rmdir()
    return True
