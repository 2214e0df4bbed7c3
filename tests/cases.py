"""The fixtures of this repository: what stands in `fixtures/<codemod>/<case>/`."""

from __future__ import annotations

import contextlib
from pathlib import Path

from cudafix.verify.cases import SOURCES, Case, CaseError, Files, Want, Wrong, load

__all__ = ["FIXTURES", "ROOT", "SOURCES", "Case", "CaseError", "Files", "Want", "Wrong", "cases", "folders", "load"]

ROOT = Path(__file__).resolve().parent.parent
FIXTURES = ROOT / "fixtures"


def folders() -> list[Path]:
    """Every folder that stands where a case stands, whether it is a well-formed case or not."""
    groups = [group for group in sorted(FIXTURES.iterdir()) if group.is_dir() and not group.name.startswith(("_", "."))]
    return [path for group in groups for path in sorted(group.iterdir()) if path.is_dir()]


def cases() -> list[Case]:
    """All well-formed cases in the order of their names; those that are ill-formed `test_fixtures` reports."""
    found: list[Case] = []
    for path in folders():
        with contextlib.suppress(CaseError):
            found.append(load(path))
    return found
