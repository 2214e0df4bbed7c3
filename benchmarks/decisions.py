"""What cudafix decides on real trees: a table per tree, and what changed between two versions of cudafix.

    python benchmarks/decisions.py TREE ... [--json FILE]
    python benchmarks/decisions.py --diff OLD_JSON NEW_JSON

A tree is analysed as one program. A site is a host `cudaMalloc` call; it is rewritten, left for `--unsafe` because the
proof rests on an assumption, or refused. A site has no free on the host if it is refused for just that: no `cudaFree`
takes its memory back on some way through the program, or only a reset does. A pair in one function is a site whose
memory is freed, and freed only in the function that allocates it. Findings of the other codemods are counted apart. The
difference lists every place whose decision is another one now, then the counts.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path

from cudafix.api.analysis import found_at
from cudafix.findings import Safety
from cudafix.pipeline.driver import analyze
from cudafix.project.config import Config

PAIRS = "stream_ordered_pairs"
PYTHON_PAIRS = f"python_{PAIRS}"
ASSUMED = f"{PAIRS} (assumes)"
NEVER_FREED = ("refused: free_not_found", "refused: freed_by_device_reset")


@dataclass
class Decisions:
    """The decisions on one tree. `places` maps `path:line` to what was decided there: `codemod` or `refused: name`.

    `pairs` counts, for every decision, the sites whose pair lives in one function.
    """

    sites: int
    seconds: float
    problems: list[str]
    places: dict[str, list[str]] = field(default_factory=dict)
    pairs: dict[str, int] = field(default_factory=dict)

    def counts(self) -> Counter[str]:
        """How often each decision was taken."""
        return Counter(decision for here in self.places.values() for decision in here)


def decide(tree: str, jobs: int) -> Decisions:
    """Analyse the CUDA code below `tree` with `jobs` processes, with what its build files say, as `check` does."""
    start = time.perf_counter()
    found = found_at([tree], Config())
    report = analyze(found.files, found.settings, jobs)
    seconds = round(time.perf_counter() - start, 2)
    root = Path(tree).resolve()
    places: dict[str, list[str]] = {}
    pairs: Counter[str] = Counter()

    def note(path: str, offset: int, decision: str) -> None:
        line = found.files[path].count(b"\n", 0, offset) + 1
        name = Path(path).resolve().relative_to(root).as_posix()
        places.setdefault(f"{name}:{line}", []).append(decision)
        is_site = decision in (PAIRS, ASSUMED) or decision.startswith("refused: ")
        pairs[decision] += is_site and (path, offset) in report.in_one_function

    for finding in report.findings:
        name = PAIRS if finding.codemod == PYTHON_PAIRS else finding.codemod
        assumed = name == PAIRS and finding.safety is Safety.ASSUMES
        note(finding.path, finding.offset, ASSUMED if assumed else name)
    for refusal in report.refusals:
        note(refusal.path, refusal.offset, f"refused: {refusal.name}")
    problems = [f"{problem.path}: {problem.message}" for problem in (*found.sources.problems, *report.problems)]
    ordered = {place: sorted(places[place]) for place in sorted(places)}
    return Decisions(report.sites, seconds, problems, ordered, {decision: n for decision, n in pairs.items() if n})


def share(part: int, whole: int) -> str:
    """`part (per cent of whole)`."""
    return f"{part} ({100 * part / whole:.0f} %)" if whole else str(part)


def table(trees: dict[str, Decisions]) -> str:
    """Markdown: a column per tree; rows for sites, rewritten, refused by reason, other findings, problems, seconds."""
    counts = {name: decisions.counts() for name, decisions in trees.items()}
    total: Counter[str] = sum(counts.values(), Counter())
    reasons = [decision for decision, _ in total.most_common() if decision.startswith("refused: ")]
    others = [
        decision
        for decision, _ in total.most_common()
        if not decision.startswith("refused: ") and decision not in (PAIRS, ASSUMED)
    ]
    rows = [["", *trees], ["---"] * (len(trees) + 1)]
    rows.append(["`cudaMalloc` sites", *(str(decisions.sites) for decisions in trees.values())])
    for title, names in (("rewritten", [PAIRS]), ("left for `--unsafe`", [ASSUMED]), ("refused", reasons)):
        parts = {name: sum(counts[name][decision] for decision in names) for name in trees}
        rows.append([f"**{title}**", *(share(parts[name], trees[name].sites) for name in trees)])
    rows += [
        [f"`{reason[9:]}`", *(share(counts[name][reason], trees[name].sites) for name in trees)] for reason in reasons
    ]
    freed = {name: trees[name].sites - sum(counts[name][decision] for decision in NEVER_FREED) for name in trees}
    rows.append(["sites with a host free", *(str(number) for number in freed.values())])
    rows.append(["**rewritten, of these**", *(share(counts[name][PAIRS], freed[name]) for name in trees)])
    every, proven = sum(freed.values()), total[PAIRS]
    rows.append(["**in all trees**", share(proven, every), *("" for _ in list(trees)[1:])])
    alone = {name: sum(decisions.pairs.values()) for name, decisions in trees.items()}
    rows.append(["pairs in one function", *(str(number) for number in alone.values())])
    moved = {name: decisions.pairs.get(PAIRS, 0) for name, decisions in trees.items()}
    rows.append(["**rewritten, of these**", *(share(moved[name], alone[name]) for name in trees)])
    rows += [[f"other finding: `{other}`", *(str(counts[name][other]) for name in trees)] for other in others]
    rows.append(["problems", *(str(len(decisions.problems)) for decisions in trees.values())])
    rows.append(["seconds", *(f"{decisions.seconds:.1f}" for decisions in trees.values())])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def load(path: Path) -> dict[str, Decisions]:
    """What `--json` wrote."""
    return {name: Decisions(**fields) for name, fields in json.loads(path.read_text(encoding="utf-8")).items()}


def difference(old: dict[str, Decisions], new: dict[str, Decisions]) -> str:
    """One line for every place whose decision changed, then how often each change occurred."""
    lines: list[str] = []
    changes: Counter[str] = Counter()
    nothing = Decisions(0, 0.0, [])
    for tree in sorted(old.keys() | new.keys()):
        before, after = old.get(tree, nothing).places, new.get(tree, nothing).places
        for place in sorted(before.keys() | after.keys()):
            was, now = before.get(place, []), after.get(place, [])
            if was != now:
                change = f"{', '.join(was) or 'nothing'} -> {', '.join(now) or 'nothing'}"
                lines.append(f"{tree}/{place}: {change}")
                changes[change] += 1
    return "\n".join([*lines, *(f"{number:6} {change}" for change, number in changes.most_common())]) or "no change"


def main() -> int:
    """Exit status 1 where the difference is not empty, or a tree has problems."""
    parser = argparse.ArgumentParser(description="What cudafix decides on real trees.")
    parser.add_argument("trees", nargs="+", metavar="TREE", help="folders; with --diff, two files that --json wrote")
    parser.add_argument("--json", type=Path, help="also write every decision to this file")
    parser.add_argument("--diff", action="store_true", help="compare two such files")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 1)
    arguments = parser.parse_args()
    if arguments.diff:
        if len(arguments.trees) != 2:
            parser.error("--diff takes two files")
        said = difference(*(load(Path(name)) for name in arguments.trees))
        print(said)
        return int(said != "no change")
    trees = {Path(tree).resolve().name: decide(tree, arguments.jobs) for tree in arguments.trees}
    if arguments.json:
        text = json.dumps({name: asdict(decisions) for name, decisions in trees.items()}, indent=1, sort_keys=True)
        arguments.json.write_text(text + "\n", encoding="utf-8")
    print(table(trees))
    for decisions in trees.values():
        print(*decisions.problems, sep="\n", file=sys.stderr, end="\n" if decisions.problems else "")
    return int(any(decisions.problems for decisions in trees.values()))


if __name__ == "__main__":
    sys.exit(main())
