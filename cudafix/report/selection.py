"""Which fixes of a report are wanted: the command line and the configuration against `group`, `runs` and `safety`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple

from cudafix.findings import Edit, Finding, Report, Safety
from cudafix.project.config import Config, Ignored


class Selection(NamedTuple):
    """`chosen` findings, and the others with the reason why each is left alone.

    `guarded` holds the files where edits have to stand behind a version check (`rewrite.guard`). `keeps_nothing`: the
    configuration leaves the pool's release threshold as it is; `needs_pools`: nobody has said what becomes of devices
    without memory pools.
    """

    chosen: tuple[Finding, ...]
    left: tuple[tuple[Finding, str], ...]
    guarded: Mapping[str, bytes] | None = None
    keeps_nothing: bool = False
    needs_pools: bool = False

    def edits(self) -> dict[str, list[Edit]]:
        """The edits of the chosen findings, by file, files in sorted order."""
        return self.edits_of(self.chosen)

    def edits_of(self, findings: Iterable[Finding]) -> dict[str, list[Edit]]:
        """The edits of some findings, as `edits`."""
        by_path: dict[str, list[Edit]] = {}
        for finding in findings:
            for edit in finding.edits:
                by_path.setdefault(edit.path, []).append(edit)
        if self.guarded is not None:
            from cudafix.rewrite.guard import guarded

            # Python has no preprocessor, and pairs there are refused where they would need one
            cuda = [path for path in by_path if path in self.guarded and not path.endswith((".py", ".ipynb"))]
            by_path |= {path: guarded(self.guarded[path], by_path[path]) for path in cuda}
        return dict(sorted(by_path.items()))

    def keep(self, wanted: Callable[[Finding], bool], reason: str) -> Selection:
        """Without the chosen findings that are not `wanted`: each for itself, whatever its group."""
        left = [(finding, reason) for finding in self.chosen if not wanted(finding)]
        return self._replace(chosen=tuple(filter(wanted, self.chosen)), left=(*self.left, *left))


class Analysis(NamedTuple):
    """Files, what was found in them, and which of it is wanted.

    `removals` are the edits that take suppressions out which are not needed; `idle` the ones of the configuration that
    hold nothing back.
    """

    sources: Mapping[str, bytes]
    report: Report
    selection: Selection
    removals: Mapping[str, Sequence[Edit]] = MappingProxyType({})
    idle: tuple[Ignored, ...] = ()


def select(
    report: Report,
    config: Config,
    left_out: Collection[tuple[str, int]] = (),
    guarded: Mapping[str, bytes] | None = None,
    picked: Collection[tuple[str, int, str]] | None = None,
) -> Selection:
    """Choose findings. What shares a `group` (other than 0) moves together: one that is not wanted leaves all of it.

    `left_out` are the places (path and offset) of findings that the user named; `guarded` as in `Selection`. Of
    `picked` ones (path, offset and codemod), looked at one by one, those that rest on an assumption are taken too, and
    no others are taken.
    """
    findings = [_judged(finding, config) for finding in report.findings]

    held = report.suppressed_findings

    def reason(finding: Finding) -> str | None:
        place = (finding.path, finding.offset, finding.codemod)
        if (finding.path, finding.offset) in left_out:
            return "named with `--except`"
        if place in held:
            return "suppressed"
        if picked is not None:
            return None if place in picked else "not selected"
        return _unwanted(finding, config)

    reasons = [reason(finding) for finding in findings]
    of_group: dict[int, str] = {}
    for finding, own in zip(findings, reasons, strict=True):
        if finding.group and own is not None:
            of_group.setdefault(finding.group, own)
    chosen: list[Finding] = []
    left: list[tuple[Finding, str]] = []
    for finding, own in zip(findings, reasons, strict=True):
        why = own or of_group.get(finding.group)
        if why is None:
            chosen.append(finding)
        else:
            left.append((finding, why))
    needs_pools = config.pools is None and config.wrappers is None
    return Selection(tuple(chosen), tuple(left), guarded, not config.pool_threshold, needs_pools)


def _judged(finding: Finding, config: Config) -> Finding:
    """The finding, as asserted where the configuration asserts all that it rests on."""
    if finding.defaults:
        finding = replace(finding, defaults=tuple(a for a in finding.defaults if not config.asserts(a, finding.path)))
    if finding.safety is Safety.ASSUMES and all(config.asserts(each, finding.path) for each in finding.assumptions):
        return replace(finding, safety=Safety.ASSERTED)
    return finding


def _unwanted(finding: Finding, config: Config) -> str | None:
    if not config.is_on(finding.codemod, finding.path):
        return "switched off in the configuration"
    if config.is_too_old or config.pools == "fallback":
        from cudafix.pipeline.pools import MIGRATES

        if finding.codemod in MIGRATES:  # their pools stand on `cudaMallocAsync`, and Python cannot be guarded
            return "needs CUDA 11.2" if config.is_too_old else 'needs memory pools, and `pools` is `"fallback"`'
    if config.only is not None and finding.runs is not None and finding.runs is not config.only:
        return f"not `--only {config.only.value}`"
    if finding.safety is Safety.ASSUMES and not config.unsafe:
        return "rests on an assumption (`--unsafe` takes it)"
    return None
