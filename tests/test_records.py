"""Every fixture was run on a GPU, as it stands now, and held: `cudafix verify fixtures` wrote how."""

from __future__ import annotations

import json

import pytest

from cudafix.verify.fixtures import RECORD, fingerprint
from tests.cases import Case, cases


def _recorded(case: Case) -> object:
    """Python fixtures have no record yet; the first one that has is to be held against it."""
    missing = pytest.mark.xfail(reason="`cudafix verify` does not run Python programs yet", strict=True)
    return pytest.param(case, id=case.id, marks=missing if case.is_python else ())


@pytest.mark.parametrize("case", [_recorded(case) for case in cases()])
def test_record_is_of_this_text_and_good(case: Case) -> None:
    path = case.path / RECORD
    assert path.exists(), "never run on a GPU: `cudafix verify fixtures`"
    record = json.loads(path.read_text(encoding="utf-8"))
    assert record["hashes"] == fingerprint(case), "the fixture changed since it ran: `cudafix verify fixtures --stale`"
    assert record["case"] == case.id
    assert record["ok"], record["faults"]
    assert not record["faults"]
    assert not (record.get("timing") or {}).get("slower"), "the rewrite makes it slower"
    mutants = [entry for name, entry in record["variants"].items() if name.startswith("mutant/")]
    assert all(entry["rejected"] for entry in mutants), "the proof accepts it without one of its waits"
