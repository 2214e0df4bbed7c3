"""Every fixture was run on a GPU, as it stands now, and held: `cudafix verify fixtures` wrote how."""

from __future__ import annotations

import json

import pytest

from cudafix.verify.fixtures import RECORD, fingerprint
from tests.cases import Case, cases


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.id)
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
