"""Which fixes of a report are wanted: the command line and the configuration against `group`, `runs` and `safety`."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from cudafix.config import Config
from cudafix.findings import Edit, Finding, Report, Safety


class Selection(NamedTuple):
    """`chosen` findings, and the others with the reason why each is left alone."""

    chosen: tuple[Finding, ...]
    left: tuple[tuple[Finding, str], ...]

    def edits(self) -> dict[str, list[Edit]]:
        """The edits of the chosen findings, by file, files in sorted order."""
        by_path: dict[str, list[Edit]] = {}
        for finding in self.chosen:
            for edit in finding.edits:
                by_path.setdefault(edit.path, []).append(edit)
        return dict(sorted(by_path.items()))


def select(
    report: Report,
    config: Config,
    left_out: Collection[tuple[str, int]] = (),
    picked: Collection[Finding] | None = None,
) -> Selection:
    """Choose findings. What shares a `group` (other than 0) moves together: one that is not wanted leaves all of it.

    `left_out` are the places (path and offset) of findings that the user named. Of `picked` ones, looked at one by
    one, those that rest on an assumption are taken too, and no others are taken.
    """
    reasons = [
        "named with `--except`"
        if (finding.path, finding.offset) in left_out
        else _unwanted(finding, config)
        if picked is None
        else None
        if finding in picked
        else "not selected"
        for finding in report.findings
    ]
    of_group: dict[int, str] = {}
    for finding, reason in zip(report.findings, reasons, strict=True):
        if finding.group and reason is not None:
            of_group.setdefault(finding.group, reason)
    chosen: list[Finding] = []
    left: list[tuple[Finding, str]] = []
    for finding, own in zip(report.findings, reasons, strict=True):
        reason = own or of_group.get(finding.group)
        if reason is None:
            chosen.append(finding)
        else:
            left.append((finding, reason))
    return Selection(tuple(chosen), tuple(left))


def _unwanted(finding: Finding, config: Config) -> str | None:
    if finding.codemod in config.disabled:
        return "switched off in the configuration"
    if config.only is not None and finding.runs is not None and finding.runs is not config.only:
        return f"not `--only {config.only.value}`"
    if finding.safety is Safety.ASSUMES and not config.unsafe:
        return "rests on an assumption (`--unsafe` takes it)"
    return None
