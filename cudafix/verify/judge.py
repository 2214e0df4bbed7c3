"""From what was seen to a verdict: what does not hold, what nobody could check, and what no run noticed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from cudafix.verify.detector import worse
from cudafix.verify.plan import Kind, Subject, Variant
from cudafix.verify.result import Observation, Result

LATE = "late streams"
"""The sign (see `signs`) that only a run with late streams gives."""


class Outcome(str, Enum):
    """Of one subject. `UNUSABLE`: before itself does not build or fails, so there is nothing to compare with."""

    VERIFIED = "verified"
    FAILED = "failed"
    NOISY = "noisy"
    UNVERIFIED = "unverified"
    UNUSABLE = "unusable"


class Check(Enum):
    """What after can fail at; a bisection repeats only this."""

    BUILD = "build"
    RUN = "run"
    DETECTOR = "detector"
    SCHEDULES = "schedules"


@dataclass(frozen=True)
class Verdict:
    """`faults` are why it failed (or is noisy, or unusable), one line each; `notes` what was not checked.

    `shown` says for every wrong rewrite and mutant by what a run showed it (nothing: empty); `unnoticed` are the
    inserted waits without which no run did anything else.
    """

    outcome: Outcome
    faults: tuple[str, ...]
    notes: tuple[str, ...]
    shown: dict[str, tuple[str, ...]]
    unnoticed: tuple[str, ...]


def judge(subject: Subject, result: Result) -> Verdict:
    """The verdict on one subject."""
    before = result.observations.get(Kind.BEFORE.value, Observation())
    after = result.observations.get(Kind.AFTER.value) if subject.variant(Kind.AFTER) else None
    notes = [*result.notes, *_unchecked(subject, before, after)]
    broken = list(_of_before(subject, before))
    noisy = [f"before: noisy: {before.noise}"] if before.noise and not subject.faulty else []
    faults = [text for _, text in against(subject, before, after)] if after else []
    shown: dict[str, tuple[str, ...]] = {}
    unnoticed: list[str] = []
    ran = _good(subject, before, after).differs is not None
    for variant in subject.variants:
        seen = result.observations.get(variant.name)
        if variant.kind is Kind.MUTANT and not variant.rejected:
            faults.append(f"the proof accepts the program without {variant.about}")
        if variant.kind in (Kind.WRONG, Kind.MUTANT) and seen is not None and ran:
            shown[variant.name] = signs(subject, seen, _good(subject, before, after))
            faults += _wrongly_shown(variant, shown[variant.name])
            if variant.kind is Kind.MUTANT and not shown[variant.name]:
                unnoticed.append(variant.about)
    if broken and not subject.strict:
        return Verdict(Outcome.UNUSABLE, tuple(broken), tuple(notes), shown, tuple(unnoticed))
    faults = [*broken, *faults]
    if subject.strict:
        faults += noisy
    outcome = Outcome.FAILED if faults else Outcome.NOISY if noisy else Outcome.VERIFIED
    if outcome is Outcome.VERIFIED and not ran:
        outcome = Outcome.UNVERIFIED
    return Verdict(outcome, tuple(faults or noisy), tuple(notes), shown, tuple(unnoticed))


def against(subject: Subject, before: Observation, after: Observation) -> list[tuple[Check, str]]:
    """What speaks against after, as far as it was seen."""
    if after.compiler:
        return [(Check.BUILD, f"after: does not build: {_error(after.compiler)}")]
    if after.differs is None:
        return []
    found: list[tuple[Check, str]] = []
    if after.exit != subject.exit:
        found.append((Check.RUN, f"after: ends with {after.ended}, not {subject.exit}"))
    if after.missing:
        found.append((Check.RUN, f"after: writes no {', '.join(after.missing)}"))
    if after.differs and not before.noise and not subject.faulty:
        found.append((Check.RUN, f"after: {after.differs}"))
    if after.noise and (subject.faulty or not before.noise):
        found.append((Check.RUN, f"after: varies by itself, as before does not: {after.noise}"))
    mine, own = after.detected, before.detected
    if subject.strict and not (mine and mine.caught) and after.exit is not None:
        said = _last(" ".join(mine.lines)) if mine else "there is none"
        found.append((Check.DETECTOR, f"after: no verdict of the detector: {said}"))
    elif mine and mine.caught and not mine.early and worse(mine.caught, _allowed(subject, before)):
        found.append((Check.DETECTOR, f"after: the detector found: {mine.caught}: {_telling(mine.lines)}"))
    if mine and own and mine.leaked and not subject.faulty and mine.leaked > (own.leaked or 0):
        found.append((Check.DETECTOR, f"after: leaks {mine.leaked} bytes, before {own.leaked or 0}"))
    found += [
        (Check.SCHEDULES, f"after: with streams late ({schedule}): {said}")
        for schedule, said in after.schedules.items()
        if said
    ]
    return found


def signs(subject: Subject, seen: Observation, good: Observation) -> tuple[str, ...]:
    """By what runs showed that a variant is wrong; nothing if they did not."""
    if seen.compiler:
        return ("compiler",)
    found = []
    if seen.exit != good.exit:
        found.append("exit code")
    elif seen.differs and not good.noise:
        found.append("output")
    if seen.detected and worse(seen.detected.caught, (good.detected.caught if good.detected else "") or "nothing"):
        found.append("detector")
    if any(seen.schedules.values()):
        found.append(LATE)
    return tuple(found)


def usable(subject: Subject, before: Observation) -> bool:
    """Whether before gives anything to hold after against."""
    return not list(_of_before(subject, before))


def _of_before(subject: Subject, before: Observation) -> Iterator[str]:
    declared = subject.variant(Kind.BEFORE)
    compiles = declared is None or declared.compiles
    if before.compiler and compiles:
        yield f"before: does not build: {_error(before.compiler)}"
    elif not before.compiler and not compiles:
        yield "before: builds, and should not"
    if before.compiler or before.differs is None or subject.faulty:
        return
    if before.exit != subject.exit:
        yield f"before: ends with {before.ended}, not {subject.exit}: {_last(before.excerpt)}".removesuffix(": ")
    if before.missing:
        yield f"before: writes no {', '.join(before.missing)}"
    caught = before.detected.caught if before.detected else ""
    if subject.clean and caught not in ("nothing", "leak"):  # what an interpreter holds when it ends is no order
        yield f"before: is clean, and the detector found: {caught or 'no verdict'}"


def _unchecked(subject: Subject, before: Observation, after: Observation | None) -> Iterator[str]:
    good = _good(subject, before, after)
    if good.differs is None:
        return
    last = after or before
    if last.detected is None:
        yield "races were not checked: no `compute-sanitizer`"
    elif not last.detected.caught and not subject.strict:
        yield f"races were not checked: {_last(' '.join(last.detected.lines))}"
    elif last.detected.early:
        yield "the race detector's alarm is false: it is gone when streams are created early (docs/FACTS.md)"


def _wrongly_shown(variant: Variant, found: tuple[str, ...]) -> Iterator[str]:
    # what late streams show is luck that was helped: `shows` is about a plain run and the detector
    plain = [sign for sign in found if sign != LATE]
    if variant.kind is Kind.WRONG and not found and not variant.rejected:
        yield f"{variant.name}: neither a run nor the proof shows that it is wrong"
    if variant.shows is not None and bool(plain) != variant.shows:
        yield f"{variant.name}: {'shown' if plain else 'not shown'} on the GPU"


def _good(subject: Subject, before: Observation, after: Observation | None) -> Observation:
    return after if subject.faulty and after else before


def _allowed(subject: Subject, before: Observation) -> str:
    return "nothing" if subject.faulty or not before.detected else before.detected.caught or "nothing"


def _telling(lines: tuple[str, ...]) -> str:
    return next((line for line in lines if not line.startswith(("Saved", "ERROR", "LEAK"))), " ".join(lines))


def _error(text: str) -> str:
    """The line of a compiler's output that says what is wrong."""
    return next((line.strip()[:300] for line in text.splitlines() if re.search(r"\berror\b", line)), _last(text))


def _last(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][-300:] if lines else ""
