"""Fixture folders as subjects of a verification, and the record that stands beside each of them."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Callable, Mapping, Sequence

from cudafix.findings import Report
from cudafix.project.config import Config
from cudafix.verify import mutants
from cudafix.verify.cases import MAIN, SOURCES, Case, sources_of
from cudafix.verify.compare import Comparison
from cudafix.verify.plan import Kind, Subject, Variant

RECORD = "record.json"
Files = Mapping[str, bytes]


def fingerprint(case: Case) -> dict[str, str]:
    """SHA-256 of each file that is built, by its path in the case's folder, and of how it is built and run."""
    hashes = {
        f"{variant}/{name}": hashlib.sha256(data).hexdigest()
        for variant in case.variants
        for name, data in case.files(variant).items()
    }
    how: tuple[object, ...] = (
        case.flags,
        case.compiles_before,
        case.args,
        case.exit,
        case.compare,
        case.leaks,
        case.races_before,
    )
    if case.sources:
        how = (*how, case.sources)
    hashes["how"] = hashlib.sha256(repr(how).encode()).hexdigest()
    return hashes


def subjects(
    cases: Sequence[Case], analyze: Callable[[Files, Config], Report], processes: int, waits: bool = True
) -> list[Subject]:
    """What has to be verified of these fixtures; with `waits`, the mutants too. Asks the static checker first."""
    found: list[tuple[Case, list[Variant]]] = [(case, list(_variants(case, analyze, waits))) for case in cases]
    asked = [
        (case, variant) for case, variants in found for variant in variants if variant.kind in (Kind.WRONG, Kind.MUTANT)
    ]
    pairs = [
        (sources_of(case.files("before")), sources_of({**case.files("before"), **variant.files}), case.config)
        for case, variant in asked
    ]
    reasons = mutants.rejected(pairs, processes)
    against = {(case.id, v.name): r for (case, v), r in zip(asked, reasons, strict=True)}
    return [_subject(case, variants, against) for case, variants in found]


def _subject(case: Case, variants: Sequence[Variant], against: Mapping[tuple[str, str], tuple[str, ...]]) -> Subject:
    return Subject(
        name=case.id,
        build=_build(case),
        run=shlex.join([*(("python3", MAIN) if case.is_python else ("./program",)), *case.args]),
        variants=tuple(
            Variant(v.name, v.kind, v.files, v.about, against.get((case.id, v.name), ()), v.shows, v.compiles)
            for v in variants
        ),
        exit=case.exit,
        comparison=Comparison(streams=("stdout",) if case.compare == "stdout" else ()),
        faulty=case.races_before or not case.compiles_before,
        leaks=not case.leaks,
        clean=case.expect == "clean" and not case.races_before,
        strict=True,
        hashes=fingerprint(case),
    )


def _build(case: Case) -> str:
    """The command, for the architecture of the GPU that is there; Python is compiled to find errors of the language."""
    if case.is_python:
        modules = [name for name in case.files("before") if name.endswith(".py")]
        return shlex.join(["python3", "-m", "py_compile", *modules])
    sources = case.sources or [name for name in case.files("before") if name.endswith(SOURCES)]
    words = shlex.join([*case.flags, "-o", "program", *sources])
    return f"nvcc -O2 -lineinfo -arch=${{CUDAFIX_ARCH:-sm_90}} {words}"


def _variants(case: Case, analyze: Callable[[Files, Config], Report], waits: bool) -> list[Variant]:
    before = case.files("before")
    found = [Variant("before", Kind.BEFORE, {}, compiles=case.compiles_before)]
    after = case.files("after")
    if after:
        found.append(Variant("after", Kind.AFTER, _changed(before, after)))
    for wrong in case.wrong:
        name = f"wrong/{wrong.name}"
        shows = wrong.gpu_shows if isinstance(wrong.gpu_shows, bool) else None
        found.append(Variant(name, Kind.WRONG, _changed(before, case.files(name)), wrong.why, shows=shows))
    if after and waits:
        changes = [edit for finding in analyze(sources_of(before), case.config).findings for edit in finding.edits]
        found += mutants.mutants(before, changes)
    return found


def _changed(before: Files, other: Files) -> dict[str, bytes]:
    return {path: data for path, data in other.items() if before.get(path) != data}
