"""The picture of ARCHITECTURE.md, drawn from the imports: `python -m docs.architecture` writes `docs/architecture.svg`.

A box is a folder of modules, or a module that lies in `cudafix/` itself. Each imports only from the rows below its own,
imports in functions and under `TYPE_CHECKING` included. Boxes that import each other share a row and a dashed frame.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "architecture.svg"
_FOLDERS = frozenset(("codemods", "models", "ordering", "report", "verify"))
_NESTED = frozenset(("frontends", "ordering"))
"""Folders in which a folder has a box of its own."""

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
    parts = module.split(".")[1:]
    if len(parts) > 1 and parts[0] in _NESTED and (parts[0] == "frontends" or len(parts) > 2):
        return "/".join(parts[:2]) + "/"
    if not parts or parts == ["frontends"]:
        return ""
    return f"{parts[0]}/" if parts[0] in _FOLDERS else parts[0]


def imports() -> Graph:
    """Which boxes each box imports."""
    known = modules()
    found: dict[str, set[str]] = {box: set() for box in map(box_of, known) if box}
    for module, path in known.items():
        here = box_of(module)
        for imported in _imported(ast.parse(path.read_text(encoding="utf-8")), known):
            there = box_of(imported)
            if here and there and here != there:
                found[here].add(there)
    return {box: frozenset(others) for box, others in found.items()}


def _imported(tree: ast.Module, known: Mapping[str, Path]) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom) and node.module is not None and node.module in known:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in known else node.module


def _reached(graph: Graph) -> dict[str, set[str]]:
    reached = {}
    for box in graph:
        seen: set[str] = set()
        waiting = list(graph[box])
        while waiting:
            other = waiting.pop()
            if other not in seen:
                seen.add(other)
                waiting += graph[other]
        reached[box] = seen
    return reached


def rows(graph: Graph) -> list[list[tuple[str, ...]]]:
    """The boxes from the top row to the bottom one; those that import each other are one tuple."""
    reached = _reached(graph)
    circle = {box: tuple(sorted({box, *(o for o in reached[box] if box in reached[o])})) for box in graph}
    height: dict[tuple[str, ...], int] = {}
    for group in sorted(set(circle.values()), key=lambda group: len(reached[group[0]] - {*group})):
        below = {circle[other] for box in group for other in graph[box]} - {group}
        height[group] = max((height[other] + 1 for other in below), default=0)
    by_height: dict[int, list[tuple[str, ...]]] = defaultdict(list)
    for group, level in height.items():
        by_height[level].append(group)
    return [sorted(by_height[level]) for level in sorted(by_height, reverse=True)]


_WIDTH, _LINE, _HIGH = 900, 34, 24


def picture() -> str:
    """The picture as SVG."""
    counted: dict[str, int] = defaultdict(int)
    for module in modules():
        counted[box_of(module)] += 1
    drawn: list[str] = []
    y = 12
    for row in rows(imports()):
        x, first = 14.0, y
        for group in row:
            labels = [f"{box} {counted[box]}" if box.endswith("/") else box for box in group]
            wide = sum(_wide(label) for label in labels)
            if x > 14 and x + wide > _WIDTH:
                x, y = 14.0, y + _LINE
            if len(group) > 1:
                drawn.append(_frame(x, y, wide))
            for label in labels:
                drawn.append(_box(x, y, label))
                x += _wide(label)
        y += _LINE
        drawn.append(f'<line x1="8" y1="{y - 3}" x2="{_WIDTH + 12}" y2="{y - 3}"/>' if y > first else "")
        y += 6
    style = (
        "svg{font:12px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace}text{fill:#1b1f23}"
        "rect{fill:#eef3f1;stroke:#8aa79f}.folder{fill:#cfe6df;stroke:#0b6e5f}.circle{fill:none;stroke:#b3541e;"
        "stroke-dasharray:4 3}line{stroke:#e3e6e2}"
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


def _frame(x: float, y: int, wide: float) -> str:
    return f'<rect class="circle" x="{x - 4:.0f}" y="{y - 4}" width="{wide:.0f}" height="{_HIGH + 8}" rx="6"/>'


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
