"""Which fixes of a report are wanted: the command line and the configuration against `group`, `runs` and `safety`."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

from cudafix.config import Config
from cudafix.findings import Edit, Finding, Report, Safety


class Selection(NamedTuple):
    """`chosen` findings, and the others with the reason why each is left alone."""

    chosen: tuple[Finding, ...]
    left: tuple[tuple[Finding, str], ...]

    def edits(self) -> dict[str, list[Edit]]:
        """The edits of the chosen findings, by file, files in sorted order."""
        return self.edits_of(self.chosen)

    def edits_of(self, findings: Iterable[Finding]) -> dict[str, list[Edit]]:
        """The edits of some findings, as `edits`."""
        by_path: dict[str, list[Edit]] = {}
        for finding in findings:
            for edit in finding.edits:
                by_path.setdefault(edit.path, []).append(edit)
        return dict(sorted(by_path.items()))


def select(
    report: Report,
    config: Config,
    left_out: Collection[tuple[str, int]] = (),
    picked: Collection[tuple[str, int, str]] | None = None,
) -> Selection:
    """Choose findings. What shares a `group` (other than 0) moves together: one that is not wanted leaves all of it.

    `left_out` are the places (path and offset) of findings that the user named. Of `picked` ones (path, offset and
    codemod), looked at one by one, those that rest on an assumption are taken too, and no others are taken.
    """

    def reason_of(finding: Finding) -> str | None:
        if (finding.path, finding.offset) in left_out:
            return "named with `--except`"
        if picked is not None:
            return None if (finding.path, finding.offset, finding.codemod) in picked else "not selected"
        return _unwanted(finding, config)

    reasons = [reason_of(finding) for finding in report.findings]
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
