"""Migrate `cudaMalloc` / `cudaFree` to stream-ordered allocation, with a proof of ordering or a named refusal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cudafix.api.analysis import InputError
    from cudafix.api.checks import Report, check
    from cudafix.findings import Problem, Runs, Safety
    from cudafix.project.config import Config
    from cudafix.report.listing import Level
    from cudafix.report.positions import Region
    from cudafix.report.results import Change, Clause, Related, Resting, Result

__version__ = "0.1.0"
__all__ = [
    "Change",
    "Clause",
    "Config",
    "InputError",
    "Level",
    "Problem",
    "Region",
    "Related",
    "Report",
    "Resting",
    "Result",
    "Runs",
    "Safety",
    "check",
]

_HOMES = {
    "api.analysis": ("InputError",),
    "api.checks": ("Report", "check"),
    "findings": ("Problem", "Runs", "Safety"),
    "project.config": ("Config",),
    "report.listing": ("Level",),
    "report.positions": ("Region",),
    "report.results": ("Change", "Clause", "Related", "Resting", "Result"),
}
"""Where the names of `__all__` are defined. They are imported when asked for: the commands need few of them."""

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        from importlib import import_module

        for module, names in _HOMES.items():
            if name in names:
                return getattr(import_module(f"cudafix.{module}"), name)
        raise AttributeError(f"module 'cudafix' has no attribute {name!r}")
