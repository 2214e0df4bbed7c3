"""What has to hold on any tree, and whether it does: a table, a row per tree.

    python benchmarks/real_trees.py TREE ... [--json FILE] [--limit SECONDS]

Each tree is analysed three times, each time in a process of its own: as it is; with the files in another order and
with other hashes (`PYTHONHASHSEED`); and with all fixes made, those that rest on an assumption too. It has to hold that
no run fails, that the first two say the same, that a file with edits has no more places which its grammar cannot read
than before (bare tree-sitter without the front end; for Python the compiler), and that the third run wants no edit.

A tree that takes longer than the limit, or fails, is named with what was seen; the others go on. With `--json`, trees
that the file has already are not run again.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import pickle
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tree_sitter
import tree_sitter_cuda

from cudafix.findings import Edit, Report, Safety
from cudafix.frontends.python.notebook import Notebooks
from cudafix.pipeline.driver import analyze
from cudafix.project import discovery
from cudafix.project.config import Config
from cudafix.rewrite import edits

SEEDS = ("1", "2")
PYTHON = (".py", ".ipynb")


# ---------------------------------------------------------------------------------------------------------------------
# one run, in a process of its own


def run(files: Mapping[str, bytes]) -> dict[str, Any]:
    """Analyse files in this process; what was said, the processor time, and that between two signs of progress."""
    start = last = time.process_time()
    slowest = 0.0

    def progress(done: int, of: int) -> None:
        nonlocal last, slowest
        now = time.process_time()
        slowest, last = max(slowest, now - last), now

    report = analyze(files, Config(), 1, None, progress)
    return {"report": report, "seconds": time.process_time() - start, "slowest": slowest}


def child(job: Path, limit: int) -> None:
    """Carry out the run in a file, and put what came out into its place."""
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1))
    files, backwards = pickle.loads(job.read_bytes())  # noqa: S301 # written by the parent
    said = run(dict(sorted(files.items(), reverse=backwards)))
    job.write_bytes(pickle.dumps(said))


def in_a_process(files: Mapping[str, bytes], seed: str, limit: int) -> dict[str, Any]:
    """What `run` says with this hash seed. Raises `RuntimeError` if it fails or takes more than `limit` seconds of
    processor time.
    """
    with tempfile.TemporaryDirectory() as folder:
        job = Path(folder, "job")
        job.write_bytes(pickle.dumps((dict(files), seed == SEEDS[1])))
        command = [sys.executable, __file__, "--job", str(job), "--limit", str(limit)]
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONFAULTHANDLER": "1"}
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        if done.returncode == -signal.SIGXCPU:
            raise RuntimeError(f"more than {limit} s")
        if done.returncode:
            raise RuntimeError(f"exit code {done.returncode}: {done.stderr[-1500:].strip()}")
        said: dict[str, Any] = pickle.loads(job.read_bytes())  # noqa: S301 # written by `child`
        return said


# ---------------------------------------------------------------------------------------------------------------------
# what is compared


def edits_of(report: Report) -> dict[str, list[Edit]]:
    """All edits of a report, by file."""
    found: dict[str, list[Edit]] = {}
    for edit in dict.fromkeys(edit for finding in report.findings for edit in finding.edits):
        found.setdefault(edit.path, []).append(edit)
    return found


def faults_of(path: str, data: bytes) -> int:
    """How many places of a file its grammar cannot read."""
    if path.endswith(PYTHON):
        try:
            compile(data, path, "exec", dont_inherit=True)
        except (SyntaxError, ValueError):
            return 1
        return 0
    language = tree_sitter.Language(tree_sitter_cuda.language())
    query = tree_sitter.Query(language, "[(ERROR) (MISSING)] @fault")
    root = tree_sitter.Parser(language).parse(data).root_node
    return sum(len(nodes) for nodes in tree_sitter.QueryCursor(query).captures(root).values())


def look(tree: Path, limit: int) -> dict[str, Any]:
    """A row of the table: figures, and what does not hold under `wrong`."""
    row: dict[str, Any] = {"wrong": [], "files": 0, "bytes": 0}
    found = discovery.discover([str(tree)], Config())
    files = found.files
    row |= {"files": len(files), "bytes": sum(map(len, files.values())), "unreadable": len(found.problems)}
    row["problems"] = [f"{os.path.relpath(p.path, tree)}: {p.message}" for p in found.problems]
    try:
        first, second = (in_a_process(files, seed, limit) for seed in SEEDS)
        report: Report = first["report"]
        wanted = edits_of(report)
        row |= {
            "seconds": round(first["seconds"], 1),
            "slowest": round(first["slowest"], 1),
            "sites": report.sites,
            "rewritten": sum(bool(f.edits) and f.safety is Safety.PROVEN for f in report.findings),
            "assumes": sum(bool(f.edits) and f.safety is not Safety.PROVEN for f in report.findings),
            "refused": len(report.refusals),
            "edited": len(wanted),
            "decisions": hashlib.sha256(repr(report.findings + report.refusals).encode()).hexdigest()[:16],
        }
        row["problems"] += [f"{os.path.relpath(p.path, tree)}: {p.message}" for p in report.problems]
        if report != second["report"]:
            row["wrong"].append("the second run says something else")
        after = dict(files)
        for path, changes in wanted.items():
            after[path] = edits.apply(files.get(path, b""), changes)
        old, new = Notebooks({p: files[p] for p in wanted if p in files}), Notebooks({p: after[p] for p in wanted})
        for path, text in new.texts.items():
            if faults_of(path, text) > faults_of(path, old.texts.get(path, b"")):
                row["wrong"].append(f"{os.path.relpath(path, tree)}: parses worse than before")
        if wanted:
            for path in edits_of(in_a_process(after, SEEDS[0], limit)["report"]):
                row["wrong"].append(f"{os.path.relpath(path, tree)}: edited again")
    except RuntimeError as error:
        row["wrong"].append(str(error))
    return row


COLUMNS = ("files", "MB", "seconds", "slowest", "sites", "rewritten", "assumes", "refused", "edited", "wrong")


def table(rows: Mapping[str, dict[str, Any]]) -> str:
    """Markdown: a row per tree and one for all."""
    lines = [["tree", *COLUMNS], ["---"] + ["--:"] * len(COLUMNS)]
    total: dict[str, float] = dict.fromkeys(COLUMNS, 0)
    for name, row in sorted(rows.items()):
        shown = {**row, "MB": row["bytes"] / 1e6, "wrong": len(row["wrong"])}
        for column in COLUMNS:
            value = shown.get(column, 0)
            total[column] = max(total[column], value) if column == "slowest" else total[column] + value
        lines.append([name, *(_figure(shown.get(column)) for column in COLUMNS)])
    lines.append([f"**{len(rows)} trees**", *(_figure(total[column]) for column in COLUMNS)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}" if isinstance(value, float) else str(value)


def main() -> int:
    """Exit status 1 where something does not hold."""
    parser = argparse.ArgumentParser(description="What has to hold on any tree, and whether it does.")
    parser.add_argument("trees", nargs="*", type=Path, metavar="TREE")
    parser.add_argument("--json", type=Path, help="keep the rows in this file, and do not run what it has already")
    parser.add_argument("--limit", type=int, default=1800, help="seconds of processor time for one analysis")
    parser.add_argument("--job", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.job:
        child(arguments.job, arguments.limit)
        return 0
    rows: dict[str, dict[str, Any]] = {}
    if arguments.json and arguments.json.exists():
        rows = json.loads(arguments.json.read_text(encoding="utf-8"))
    for tree in arguments.trees:
        if tree.resolve().name in rows:
            continue
        rows[tree.resolve().name] = row = look(tree.resolve(), arguments.limit)
        print(tree.name, *row["wrong"], sep="\n  ", file=sys.stderr, flush=True)
        if arguments.json:
            arguments.json.write_text(json.dumps(rows, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    print(table(rows))
    return int(any(row["wrong"] for row in rows.values()))


if __name__ == "__main__":
    sys.exit(main())
