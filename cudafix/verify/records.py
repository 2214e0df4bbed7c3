"""The record beside each fixture: what a GPU showed, of exactly this text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from cudafix.verify import result as results
from cudafix.verify.cases import Case
from cudafix.verify.fixtures import RECORD, fingerprint
from cudafix.verify.judge import Outcome, Verdict, judge
from cudafix.verify.plan import Kind, Subject
from cudafix.verify.result import Result


def record(subject: Subject, result: Result, machine: Mapping[str, str]) -> dict[str, Any]:
    """Outcome, figures, machine and date as JSON; `hashes` tie it to the text."""
    verdict = judge(subject, result)
    mutants = [variant for variant in subject.variants if variant.kind is Kind.MUTANT]
    variants: dict[str, Any] = {}
    for variant in subject.variants:
        seen = result.observations.get(variant.name)
        if seen is None:
            continue
        variants[variant.name] = entry = asdict(seen)
        entry["excerpt"] = seen.excerpt[-200:]
        if variant.kind in (Kind.WRONG, Kind.MUTANT):
            entry["about"] = variant.about
            entry["rejected"] = list(variant.rejected)
            entry["shown_by"] = list(verdict.shown.get(variant.name, ()))
    return {
        "case": subject.name,
        "ok": verdict.outcome is Outcome.VERIFIED,
        "outcome": verdict.outcome.value,
        "faults": list(verdict.faults),
        "notes": list(verdict.notes),
        "unverified_waits": list(verdict.unnoticed),
        "mutants": len(mutants),
        "timing": asdict(result.timing) if result.timing else None,
        "smallest_set_that_breaks": list(result.smallest),
        "hashes": dict(result.hashes),
        "machine": dict(machine),
        "variants": variants,
    }


def install(case: Case, subject: Subject, result: Result, machine: Mapping[str, str]) -> str:
    """Write the record beside its fixture if it is good; else say why it is not written."""
    verdict: Verdict = judge(subject, result)
    if fingerprint(case) != result.hashes:
        return "the fixture has changed since"
    if verdict.outcome is not Outcome.VERIFIED:
        return "; ".join(verdict.faults) or verdict.outcome.value
    seen = {key: value for key, value in machine.items() if key != "python" or case.is_python}
    text = json.dumps(record(subject, result, seen), indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    results.write(case.path / RECORD, text)
    return ""


def is_current(case: Case) -> bool:
    """Whether the record beside this fixture is good, and of the fixture as it stands."""
    path: Path = case.path / RECORD
    if not path.exists():
        return False
    data = json.loads(path.read_text(encoding="utf-8"))
    return bool(data["ok"]) and data["hashes"] == fingerprint(case)
