"""Certificates in words: where memory is allocated, on which streams it is used, what orders that, where it ends."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from cudafix.findings import Certificate, Finding, Place, Refusal, Step
from cudafix.report.terminal import PAIRS

_SYNTAX = re.compile(r"`([^`<]*)(?:<<<…>>>)?`")


class Clause(NamedTuple):
    """One line of a certificate: what it is about, what it says, and the places that it speaks of."""

    about: str
    text: str
    places: tuple[Place, ...] = ()


def clauses(item: Finding | Refusal) -> list[Clause]:
    """The certificate of a fix, or why a refused site has none."""
    shown = item.certificate
    if shown is None:
        return []
    if shown.faulty is not None:
        return list(_faulty(shown, shown.faulty))
    if isinstance(item, Refusal):
        return list(_refused(shown))
    if item.codemod not in PAIRS:
        return []
    found = list(_proved(shown))
    if item.assumptions:
        found += [Clause("assumes", assumption) for assumption in item.assumptions]
    else:
        found.append(Clause("assumes", "nothing about code that was not seen"))
    found.append(Clause("holds", f"on every path, not only on this one ({_times(shown.runs)} of the engine)"))
    return found


def on(lane: str) -> str:
    """Where a step runs."""
    if not lane:
        return "the host"
    return f"the {lane}" if lane.startswith("default stream") else lane if " " in lane else f"`{lane}`"


def _proved(shown: Certificate) -> Iterator[Clause]:
    steps = shown.after
    names = _listed(sorted({f"`{place.text}`" for place in shown.memory if place.text})) or "the memory"
    for step in _mine(steps, "allocate"):
        yield Clause("allocated", f"{names} on {on(step.lane)}, by {step.place.text}", (step.place,))
    lanes: dict[str, list[Step]] = {}
    for step in steps:
        if step.mine and step.kind not in ("allocate", "free"):
            lanes.setdefault(step.lane, []).append(step)
    for lane, used in lanes.items():
        yield Clause("used", f"on {on(lane)}, by {_calls(used)}", tuple(step.place for step in used))
    frees = _mine(steps, "free")
    last = max((n for n, step in enumerate(steps) if step.mine and step.kind == "free"), default=len(steps))
    ordering = [
        s for s in steps[:last] if s.after and not s.mine and s.kind in ("wait", "synchronize", "copy", "kernel")
    ]
    freed_on = {step.lane for step in frees}
    if freed_on and set(lanes) <= freed_on and len(freed_on) == 1:
        yield Clause("ordered", f"every use runs on {on(min(freed_on))}, where the free comes behind it")
    for step in ordering:
        yield Clause("ordered", _order(step, steps), (step.place,))
    for step in frees:
        for n in step.after:
            yield Clause("ordered", f"the free waits for {steps[n].place.text} on {on(steps[n].lane)}", (step.place,))
    for step in frees:
        yield Clause("freed", f"on {on(step.lane)}, by {step.place.text}", (step.place,))
    for step in _mine(shown.before, "free"):
        waited = _listed([f"{shown.before[n].place.text} on {on(shown.before[n].lane)}" for n in step.after])
        if step.waits and not step.lane:
            what = f"for {waited}" if waited else "although nothing was left to wait for"
            yield Clause("before", f"the host stood still in {step.place.text} {what}", (step.place,))


def _refused(shown: Certificate) -> Iterator[Clause]:
    if shown.lost is None:
        return
    earlier, later = (shown.after[n] for n in shown.lost)
    yield Clause("earlier", f"{earlier.place.text} on {on(earlier.lane)}", (earlier.place,))
    yield Clause("later", f"{later.place.text} on {on(later.lane)}", (later.place,))
    waiting = next((s for s in _mine(shown.before, "free") if s.waits and not s.lane), None)
    if waiting is not None:
        yield Clause("today", f"{waiting.place.text} makes the host wait between the two", (waiting.place,))
    yield Clause("then", "with the stream-ordered calls nothing orders the two any more")


def _faulty(shown: Certificate, clash: tuple[int, int]) -> Iterator[Clause]:
    earlier, later = (shown.before[n] for n in clash)
    yield Clause("earlier", f"{earlier.place.text} on {on(earlier.lane)}", (earlier.place,))
    yield Clause("later", f"{later.place.text} on {on(later.lane)}", (later.place,))
    yield Clause("now", "nothing orders the two")
    for step in shown.after:
        if step.inserted and step.kind in ("wait", "synchronize") and step.after:
            yield Clause("ordered", _order(step, shown.after), (step.place,))


def _order(step: Step, steps: Sequence[Step]) -> str:
    waited = _listed([f"{steps[n].place.text} on {on(steps[n].lane)}" for n in step.after])
    new = ", inserted" if step.inserted else ""
    if step.kind == "wait":
        return f"{on(step.lane)} waits for {waited} ({step.place.text}{new})"
    if step.kind == "synchronize":
        return f"the host waits for {waited} ({step.place.text}{new})"
    return f"{step.place.text} on {on(step.lane)} runs behind {waited}, as the default stream orders them"


def _mine(steps: Sequence[Step], kind: str) -> list[Step]:
    return [step for step in steps if step.mine and step.kind == kind]


def _calls(steps: Sequence[Step]) -> str:
    return _listed(list(dict.fromkeys(step.place.text for step in steps)))


def _listed(words: Sequence[str]) -> str:
    if len(words) > 4:
        words = [*words[:3], f"{len(words) - 3} more"]
    return ", ".join(words[:-1]) + (" and " if len(words) > 1 else "") + "".join(words[-1:])


def _times(runs: int) -> str:
    return "one run" if runs == 1 else f"{runs} runs"


def label(step: Step) -> str:
    """What a step is called in a picture."""
    return _SYNTAX.sub(r"\1", step.place.text).removeprefix("the free of ").removeprefix("the allocation ")
