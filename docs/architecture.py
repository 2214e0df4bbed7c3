"""The picture of ARCHITECTURE.md, drawn from the imports: `python -m docs.architecture` writes `docs/architecture.svg`.

A box is a folder of modules, or a module that lies in `cudafix/` itself. Each imports only from the rows below its own,
imports in functions and under `TYPE_CHECKING` included.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping
from graphlib import TopologicalSorter
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "architecture.svg"
ROOMS = (
    "cli/",
    "server/",
    "api/",
    "verify/",
    "report/",
    "pipeline/",
    "codemods/",
    "rewrite/",
    "ordering/interpreter/",
    "ordering/facts/",
    "ordering/order/",
    "frontends/cuda/lower/",
    "frontends/cuda/sema/",
    "frontends/cuda/parse/",
    "frontends/cuda/preprocess/",
    "frontends/python/",
    "project/",
    "ir/",
    "models/",
)
"""The folders from the top of the architecture to its bottom: imports point down this list only."""

Graph = Mapping[str, frozenset[str]]


def modules() -> dict[str, Path]:
    """All modules of the package by their full names."""
    found = {}
    for path in [*(ROOT / "cudafix").rglob("*.py"), *(ROOT / "codemods").glob("*.py")]:
        parts = path.relative_to(ROOT).with_suffix("").parts
        name = ".".join(("cudafix", *parts) if parts[0] == "codemods" else parts)
        found[name.removesuffix(".__init__")] = path
    return found


def box_of(module: str) -> str:
    """The box that a module is drawn in; empty for a package that only holds others."""
    path = "/".join(module.split(".")[1:])
    room = next((room for room in ROOMS if f"{path}/".startswith(room)), None)
    if room is None and any(room.startswith(f"{path}/") for room in ROOMS):
        return ""
    return room or path


def imports() -> Graph:
    """Which modules each module imports. The package itself only names what they offer, and imports it when asked."""
    known = modules()
    return {
        module: frozenset(_imported(ast.parse(path.read_text(encoding="utf-8")), known)) - {module}
        if module != "cudafix"
        else frozenset()
        for module, path in known.items()
    }


def boxes(graph: Graph) -> Graph:
    """The same graph for the boxes that modules are drawn in."""
    found: dict[str, set[str]] = {box: set() for box in map(box_of, graph) if box}
    for module, others in graph.items():
        if here := box_of(module):
            found[here].update(there for there in map(box_of, others) if there and there != here)
    return {box: frozenset(others) for box, others in found.items()}


def _imported(tree: ast.Module, known: Mapping[str, Path]) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom) and node.module is not None and node.module in known:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in known else node.module


def rows(graph: Graph) -> list[list[str]]:
    """The boxes from the top row to the bottom one. Raises graphlib.CycleError where boxes import each other."""
    height: dict[str, int] = {}
    for box in TopologicalSorter(graph).static_order():
        height[box] = max((height[other] + 1 for other in graph[box]), default=0)
    by_height: dict[int, list[str]] = defaultdict(list)
    for box, level in height.items():
        by_height[level].append(box)
    return [sorted(by_height[level]) for level in sorted(by_height, reverse=True)]


_WIDTH, _LINE, _HIGH = 900, 34, 24


def picture() -> str:
    """The picture as SVG."""
    counted: dict[str, int] = defaultdict(int)
    for module in modules():
        counted[box_of(module)] += 1
    drawn: list[str] = []
    y = 12
    for row in rows(boxes(imports())):
        x, first = 14.0, y
        for box in row:
            label = f"{box} {counted[box]}" if box.endswith("/") else box
            if x > 14 and x + _wide(label) > _WIDTH:
                x, y = 14.0, y + _LINE
            drawn.append(_box(x, y, label))
            x += _wide(label)
        y += _LINE
        drawn.append(f'<line x1="8" y1="{y - 3}" x2="{_WIDTH + 12}" y2="{y - 3}"/>' if y > first else "")
        y += 6
    style = (
        "svg{font:12px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace}text{fill:#1b1f23}"
        "rect{fill:#eef3f1;stroke:#8aa79f}.folder{fill:#cfe6df;stroke:#0b6e5f}line{stroke:#e3e6e2}"
    )
    title = "The modules of cudafix in rows: each imports only from the rows below its own."
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH + 20} {y}" role="img" aria-label="{title}">'
    return "\n".join([head, f"<title>{title}</title>", f"<style>{style}</style>", *filter(None, drawn), "</svg>\n"])


def _wide(label: str) -> float:
    return 7.3 * len(label) + 20


def _box(x: float, y: int, label: str) -> str:
    kind = ' class="folder"' if "/" in label else ""
    return (
        f'<rect{kind} x="{x:.0f}" y="{y}" width="{_wide(label) - 8:.0f}" height="{_HIGH}" rx="4"/>'
        f'<text x="{x + 6:.0f}" y="{y + 16}">{escape(label)}</text>'
    )


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
