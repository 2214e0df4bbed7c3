"""What a verification concludes from what it saw."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cudafix.verify.detector import Detected
from cudafix.verify.judge import Outcome, judge
from cudafix.verify.plan import Kind, Subject, Variant
from cudafix.verify.result import Observation, Result

CLEAN = Detected("nothing", 0, ())
RACE = Detected("memory", None, ("Invalid __global__ read of size 4 bytes",))
SILENT = Detected("", None, ("stopped after 60 s",))
RAN = Observation(exit=3, ended="3", differs="", digest="a", detected=CLEAN)
DIFFERS = "stdout: line 1: '1', then '2'"

SUBJECT = Subject(
    name="group/a_small_case",
    build="make",
    run="./program",
    variants=(
        Variant("before", Kind.BEFORE, {}),
        Variant("after", Kind.AFTER, {"main.cu": b""}),
        Variant("wrong/too_early", Kind.WRONG, {"main.cu": b""}, "freed too early", ("use after free",), shows=True),
        Variant("mutant/1", Kind.MUTANT, {"main.cu": b""}, "`cudaStreamSynchronize(s)` at main.cu:4", ("lost",)),
    ),
    exit=3,
    strict=True,
)
GOOD = {
    "before": RAN,
    "after": RAN,
    "wrong/too_early": replace(RAN, detected=RACE),
    "mutant/1": replace(RAN, differs=DIFFERS),
}


def seen(**change: Observation) -> Result:
    named = {{"wrong": "wrong/too_early", "mutant": "mutant/1"}.get(name, name): what for name, what in change.items()}
    return Result(SUBJECT.name, {}, GOOD | named)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"after": replace(RAN, exit=0, ended="0")}, "after: ends with 0, not 3"),
        ({"after": replace(RAN, differs=DIFFERS)}, f"after: {DIFFERS}"),
        ({"after": replace(RAN, detected=RACE)}, f"after: the detector found: memory: {RACE.lines[0]}"),
        ({"after": replace(RAN, detected=SILENT)}, "after: no verdict of the detector: stopped after 60 s"),
        ({"after": replace(RAN, detected=None)}, "after: no verdict of the detector: there is none"),
        ({"after": Observation(compiler="main.cu(3): error\n1 error")}, "after: does not build: main.cu(3): error"),
        ({"after": replace(RAN, schedules={"0=0": "", "0=1": DIFFERS})}, f"after: with streams late (0=1): {DIFFERS}"),
        ({"after": replace(RAN, missing=("out.txt",))}, "after: writes no out.txt"),
        ({"before": Observation(compiler="1 error")}, "before: does not build: 1 error"),
        ({"after": replace(RAN, noise=DIFFERS)}, f"after: varies by itself, as before does not: {DIFFERS}"),
        ({"before": replace(RAN, noise=DIFFERS)}, f"before: noisy: {DIFFERS}"),
        ({"wrong": RAN}, "wrong/too_early: not shown on the GPU"),
        ({"wrong": replace(RAN, schedules={"0=0": DIFFERS})}, "wrong/too_early: not shown on the GPU"),
    ],
)  # fmt: skip
def test_what_does_not_hold_is_named(change: dict[str, Observation], fault: str) -> None:
    verdict = judge(SUBJECT, seen(**change))
    assert (verdict.outcome, verdict.faults) == (Outcome.FAILED, (fault,))


def test_a_good_case_is_verified_and_says_what_showed_the_wrong_ones() -> None:
    verdict = judge(SUBJECT, seen())
    assert (verdict.outcome, verdict.faults, verdict.unnoticed) == (Outcome.VERIFIED, (), ())
    assert verdict.shown == {"wrong/too_early": ("detector",), "mutant/1": ("output",)}


def test_leaks_are_those_that_before_does_not_have() -> None:
    leaky = replace(RAN, detected=Detected("memory", 64, ("Leaked 64 bytes",)))
    shown = replace(RAN, differs=DIFFERS)
    assert judge(SUBJECT, seen(before=leaky, after=leaky, wrong=shown)).outcome is Outcome.VERIFIED
    worse = replace(RAN, detected=Detected("memory", 128, ("Leaked 128 bytes",)))
    assert judge(SUBJECT, seen(before=leaky, after=worse, wrong=shown)).faults == ("after: leaks 128 bytes, before 64",)


def test_an_alarm_that_is_gone_with_early_streams_is_a_note() -> None:
    verdict = judge(SUBJECT, seen(after=replace(RAN, detected=replace(RACE, early=True))))
    assert verdict.outcome is Outcome.VERIFIED
    assert "false" in verdict.notes[0]


def test_a_wait_that_nothing_notices_is_unverified_and_one_that_the_proof_does_not_need_is_a_fault() -> None:
    verdict = judge(SUBJECT, seen(mutant=RAN))
    assert verdict.outcome is Outcome.VERIFIED
    assert verdict.unnoticed == ("`cudaStreamSynchronize(s)` at main.cu:4",)
    accepted = replace(SUBJECT, variants=(*SUBJECT.variants[:3], replace(SUBJECT.variants[3], rejected=())))
    assert judge(accepted, seen()).faults == (
        "the proof accepts the program without `cudaStreamSynchronize(s)` at main.cu:4",
    )


def test_a_wrong_rewrite_that_neither_a_run_nor_the_proof_shows_is_a_fault() -> None:
    wrong = replace(SUBJECT.variants[2], shows=None, rejected=())
    luck = replace(SUBJECT, variants=(*SUBJECT.variants[:2], wrong))
    assert judge(luck, seen(wrong=RAN)).faults == (
        "wrong/too_early: neither a run nor the proof shows that it is wrong",
    )
    assert judge(luck, seen()).outcome is Outcome.VERIFIED


def test_nothing_that_only_compiled_is_verified() -> None:
    built = Result(SUBJECT.name, {}, {"before": Observation(), "after": Observation()})
    assert judge(SUBJECT, built).outcome is Outcome.UNVERIFIED


def test_a_users_program_that_fails_as_it_is_gives_nothing_to_compare_with() -> None:
    own = replace(SUBJECT, strict=False)
    verdict = judge(own, seen(before=replace(RAN, exit=1, ended="1", excerpt="no input file\n")))
    assert (verdict.outcome, verdict.faults) == (Outcome.UNUSABLE, ("before: ends with 1, not 3: no input file",))


def test_a_users_program_that_varies_is_noisy() -> None:
    own = replace(SUBJECT, strict=False)
    noisy = replace(RAN, noise=DIFFERS)
    verdict = judge(own, seen(before=noisy, after=replace(noisy, differs=DIFFERS)))
    assert verdict.outcome is Outcome.NOISY
    assert verdict.faults[0] == f"before: noisy: {DIFFERS}"


def test_where_before_is_faulty_after_is_held_to_itself() -> None:
    defect = replace(SUBJECT, faulty=True)
    assert judge(defect, seen(before=replace(RAN, exit=1, differs=DIFFERS, detected=RACE))).outcome is Outcome.VERIFIED
    assert judge(defect, seen(before=replace(RAN, detected=RACE), after=replace(RAN, detected=RACE))).faults
