"""Certificates in words: where memory is allocated, on which streams it is used, what orders that, where it ends."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

from cudafix.findings import Certificate, Finding, Place, Refusal, Step
from cudafix.report.terminal import PAIRS

_WHOLE = (
    "no missing order can be drawn: what stands in the way is what the message says, whatever path the program takes, "
    "and not two operations of one path"
)
_DROPPED = (
    "no missing order can be drawn: one of the two operations is the release of an array, which Python does where the "
    "last name for it goes, in no statement of its own"
)
_NO_EDGE = {
    "out_of_order": _WHOLE,
    "needs_device_sync": _WHOLE,
    "stream_destroyed": _WHOLE,
    "several_streams": _DROPPED,
    "host_memory_in_flight": _DROPPED,
}
"""What is said of a refusal that is about an order where no two operations are named."""
_SYNTAX = re.compile(r"`([^`<]*)(?:<<<…>>>)?`")


class Clause(NamedTuple):
    """One line of a certificate: what it is about, what it says, and the places that it speaks of."""

    about: str
    text: str
    places: tuple[Place, ...] = ()


def clauses(item: Finding | Refusal) -> list[Clause]:
    """The certificate of a fix, or why a refused site has none."""
    shown = item.certificate
    if isinstance(item, Refusal) and item.name in _NO_EDGE and not item.order:
        return [Clause("no edge", _NO_EDGE[item.name])]
    if shown is None:
        return []
    if shown.faulty is not None:
        return list(_faulty(shown, shown.faulty))
    if isinstance(item, Refusal):
        return list(_refused(shown))
    if item.codemod not in PAIRS:
        return []
    found = list(_proved(item, shown))
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
    if lane == "unknown stream":
        return "an unknown stream"
    return f"the {lane}" if lane.startswith("default stream") else lane if " " in lane else f"`{lane}`"


def _proved(item: Finding, shown: Certificate) -> Iterator[Clause]:
    steps = shown.after
    names = {(place.path, place.offset): f"`{place.text}`" for place in shown.memory if place.text}
    together = _listed(sorted(set(names.values()))) or "the memory"
    for step in _mine(steps, "allocate"):
        name = names.get((step.place.path, step.place.offset), together)
        yield Clause("allocated", f"{name} on {on(step.lane)}, by {step.place.text}", (step.place,))
    lanes: dict[str, list[Step]] = {}
    for step in steps:
        if step.mine and step.kind not in ("allocate", "free"):
            lanes.setdefault(step.lane, []).append(step)
    for lane, used in lanes.items():
        yield Clause("used", f"on {on(lane)}, by {_calls(used)}", tuple(step.place for step in used))
    frees = _mine(steps, "free")
    freed_on = {step.lane for step in frees}
    if freed_on and set(lanes) <= freed_on and len(freed_on) == 1:
        yield Clause("ordered", f"every use runs on {on(min(freed_on))}, where the free comes behind it")
    own = {place[:2] for place in item.related}
    inserted = {n for n, step in enumerate(steps) if step.inserted and step.after and step.place[:2] in own}
    for n in sorted(inserted | _ordering(steps)):
        yield Clause("ordered", _order(steps[n], steps), (steps[n].place,))
    for step in frees:
        yield Clause("freed", f"on {on(step.lane)}, by {step.place.text}", (step.place,))
    for step in _mine(shown.before, "free"):
        if not step.waits or step.lane:
            continue
        if step.after:
            waited = _listed([f"{shown.before[n].place.text} on {on(shown.before[n].lane)}" for n in step.after])
            what = f"the host stood still in {step.place.text} for {waited}"
        else:
            what = f"the host waited in {step.place.text} for the whole device, where none of these steps still ran"
        yield Clause("before", what, (step.place,))


def _ordering(steps: Sequence[Step]) -> set[int]:
    """The steps that keep the uses of the memory between its allocation and its free: from the allocation to the first
    use on each stream, and from the last one to the free, those on a shortest way.
    """
    allocated = [n for n, step in enumerate(steps) if step.mine and step.kind == "allocate"]
    freed = [n for n, step in enumerate(steps) if step.mine and step.kind == "free"]
    uses: dict[str, list[int]] = {}
    for n, step in enumerate(steps):
        if step.mine and step.kind not in ("allocate", "free"):
            uses.setdefault(step.lane, []).append(n)
    found: set[int] = set()
    for used in uses.values():
        for start, end in (*((n, used[0]) for n in allocated), *((used[-1], n) for n in freed)):
            found |= _way(steps, start, end)
    return found


def _way(steps: Sequence[Step], start: int, end: int) -> set[int]:
    """The steps that wait for another one on a shortest way from one step to a later one; none if there is no way."""
    back: dict[int, int] = {}
    reached = [start]
    for n in reached:
        for m in range(n + 1, end + 1):
            # on one stream, and for the host, one comes behind the other; what the host issues comes behind what it did
            if m not in back and (steps[m].lane == steps[n].lane or not steps[n].lane or n in steps[m].after):
                back[m] = n
                reached.append(m)
    found = set()
    at = end
    while at in back:
        if back[at] in steps[at].after:
            found.add(at)
        at = back[at]
    return found


def _refused(shown: Certificate) -> Iterator[Clause]:
    if shown.lost is None:
        return
    earlier, later = (shown.after[n] for n in shown.lost)
    yield Clause("earlier", f"{earlier.place.text} on {on(earlier.lane)}", (earlier.place,))
    yield Clause("later", f"{later.place.text} on {on(later.lane)}", (later.place,))
    if _ends(earlier) and later.lane:
        return
    places = [step.place[:2] for step in shown.before]
    with suppress(ValueError):
        start = places.index(earlier.place[:2])
        stop = places.index(later.place[:2], start + 1)
        waiting = next((s for s in _mine(shown.before[start : stop + 1], "free") if s.waits and not s.lane), None)
        if waiting is not None:
            yield Clause("today", f"{waiting.place.text} makes the host wait between the two", (waiting.place,))
    yield Clause("then", "with the stream-ordered calls nothing orders the two any more")


def _faulty(shown: Certificate, clash: tuple[int, int]) -> Iterator[Clause]:
    earlier, later = (shown.before[n] for n in clash)
    yield Clause("earlier", f"{earlier.place.text} on {on(earlier.lane)}", (earlier.place,))
    yield Clause("later", f"{later.place.text} on {on(later.lane)}", (later.place,))
    yield Clause("now", "the first one ends what the second one needs" if _ends(earlier) else "nothing orders the two")
    for step in shown.after:
        if step.inserted and step.kind in ("wait", "synchronize") and step.after:
            yield Clause("ordered", _order(step, shown.after), (step.place,))


def _ends(step: Step) -> bool:
    """Whether a step gives memory back, or ends a stream."""
    return step.kind in ("free", "host")


def _order(step: Step, steps: Sequence[Step]) -> str:
    waited = _listed([f"{steps[n].place.text} on {on(steps[n].lane)}" for n in step.after])
    new = ", inserted" if step.inserted else ""
    if step.kind == "wait":
        return f"{on(step.lane)} waits for {waited} ({step.place.text}{new})"
    if not step.lane:
        if [steps[n].place for n in step.after] == [step.place]:
            return f"{waited} returns when it is done"
        return f"the host waits for {waited} ({step.place.text}{new})"
    if step.kind == "free":
        return f"the free waits for {waited}"
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
