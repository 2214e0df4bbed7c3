"""Sites that move together: an allocation and every free that its memory may meet. What refuses them as they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from cudafix import ir
from cudafix.findings import Assumption
from cudafix.ordering.interpreter.program import (
    Key,
    Obstacle,
    Outcome,
    Site,
    StreamName,
    Violation,
    lacks_stream,
)
from cudafix.ordering.interpreter.state import Stream, StreamKind
from cudafix.project import prefilter
from cudafix.rewrite.naming import DEFAULT


class Refused(NamedTuple):
    """Why a group stays as it is; where two operations would be out of order, `places` are those of the `clash`."""

    name: str
    text: str
    places: tuple[tuple[ir.Span, str], ...] = ()
    clash: Violation | None = None
    unlock: str = ""  # where the page of the refusal says more than what concerns this one


@dataclass(slots=True, eq=False)
class Group:
    """Allocation and free sites that may meet, over all programs and configurations: they move together or not at
    all.
    """

    allocations: dict[Key, Site] = field(default_factory=dict)
    frees: dict[Key, Site] = field(default_factory=dict)
    obstacles: dict[Obstacle, None] = field(default_factory=dict)
    users: list[Stream] = field(default_factory=list)
    options: list[dict[Key, StreamName]] = field(default_factory=list)
    chosen: int = 0
    refused: Refused | None = None
    assumptions: set[Assumption] = field(default_factory=set)
    churn: bool = False
    never_freed: bool = False  # in some configuration, from some root

    @property
    def streams(self) -> dict[Key, StreamName]:
        return self.options[self.chosen]

    def sites(self) -> Iterator[tuple[Key, Site]]:
        yield from self.allocations.items()
        yield from self.frees.items()

    def names_any(self, keys: set[Key]) -> bool:
        """Whether one of its sites is among `keys`."""
        return not (self.allocations.keys().isdisjoint(keys) and self.frees.keys().isdisjoint(keys))


def groups_of(outcomes: Iterable[Outcome]) -> list[Group]:
    """Union sites that share a memory object in some context: what may meet moves together."""
    parent: dict[Key, Key] = {}

    def find(key: Key) -> Key:
        while parent.setdefault(key, key) != key:
            parent[key] = key = parent[parent[key]]
        return key

    members: list[tuple[Outcome, dict[Key, Site], Key]] = []
    for outcome in outcomes:
        by_object: dict[int, Key] = {}
        for sites in (outcome.allocations, outcome.frees):
            for key, site in sites.items():
                find(key)
                members.append((outcome, sites, key))
                for number in site.objects:
                    first = by_object.setdefault(number, key)
                    parent[find(key)] = find(first)
    groups: dict[Key, Group] = {}
    for outcome, sites, key in members:
        group = groups.setdefault(find(key), Group())
        is_allocation = sites is outcome.allocations
        mine = group.allocations if is_allocation else group.frees
        site = sites[key]
        if key in mine:
            _merge(mine[key], site)
        else:
            mine[key] = Site(
                site.call,
                site.function,
                set(),
                dict(site.names or {}),
                site.in_loop,
                set(site.contexts),
                set(site.frees_other),
                site.order,
                dict(site.others),
                set(site.gone),
            )
        if is_allocation:
            freed = set().union(*(s.objects for s in outcome.frees.values()))
            group.never_freed |= not site.objects <= freed
        group.churn |= site.in_loop or len(site.contexts) > 2
        for number in site.objects:
            group.obstacles |= dict.fromkeys(outcome.obstacles.get(number, {}).values())
            group.users += [s for s in outcome.first_use.get(number, ()) if s not in group.users]
    found = [g for g in groups.values() if g.allocations]
    return sorted(found, key=lambda g: min(g.allocations))


def _merge(mine: Site, other: Site) -> None:
    names = other.names or {}
    mine.names = {n: s | names[n] for n, s in (mine.names or {}).items() if n in names}
    mine.in_loop |= other.in_loop
    mine.contexts |= other.contexts
    mine.frees_other |= other.frees_other
    mine.others |= other.others
    mine.gone |= other.gone


def stream_options(group: Group) -> list[dict[Key, StreamName]]:
    """The ways to give every site of a group a stream, best first.

    The one that the configuration asks for, where it uses the buffer and has that name everywhere; else the one stream
    that uses the buffer; else the stream of its first use; else the legacy stream, where all users are blocking: it
    orders them, and never more than `cudaFree` did. Then allocating on one and freeing on another.
    """

    def everywhere(allocate: Stream | None, release: Stream | None) -> dict[Key, StreamName] | None:
        named: dict[Key, StreamName] = {}
        for sites, stream in ((group.allocations, allocate), (group.frees, release)):
            for key, site in sites.items():
                name = DEFAULT if stream is None else site.name_of([stream])
                if name is None:
                    return None
                named[key] = name
        return named

    users = [None if s.kind is StreamKind.LEGACY else s for s in group.users if not s.summary]
    own = list(dict.fromkeys(u for u in users if u is not None))
    blocking = all(s.kind in (StreamKind.LEGACY, StreamKind.BLOCKING) for s in group.users)
    single = own[:1] if len(own) == 1 and None not in users else []
    first = [next(iter(site.names.items()), (DEFAULT, set())) for _, site in group.sites() if site.names]
    asked = [s for s in own if all(name != DEFAULT and s in found for name, found in first)] if first else []
    order: list[tuple[Stream | None, Stream | None]] = [(s, s) for s in (*asked, *single)]
    if blocking:
        order.append((None, None))
    order += [(s, s) for s in own]
    order.append((None, None))
    order += [(a, b) for a in own for b in own if a is not b]
    order += [(a, None) for a in own] + [(None, b) for b in own]
    options: list[dict[Key, StreamName]] = []
    for allocate, release in dict.fromkeys(order):
        option = everywhere(allocate, release)
        if option is not None and option not in options:
            options.append(option)
    return options[:12]


_INSTEAD = {
    f": {ir.THROUGH_POINTER}": "Call the function by its name, or give the pointer its one function in the code that "
    "is analysed.",
    ": nested too deeply": "Split the expression or the statement that is shown into several ones.",
}
"""What would unlock a group, by how its obstacle ends."""


def static_refusal(group: Group, outcomes: Iterable[Outcome]) -> Refused | None:
    """Why a group cannot move, whatever the order."""
    for site in (*group.allocations.values(), *group.frees.values()):
        fixed = site.call.site.fixed
        if site.call.name_span.start == site.call.name_span.end or fixed:
            text = f"`{site.call.callee}` cannot be edited here: {fixed or 'a macro makes the name'}"
            return Refused(
                "site_not_editable", text, unlock="Write the call out in plain text where the macro is used."
            )
        if lacks_stream(site.call) and site.call.span.path.endswith(prefilter.SUFFIX):
            return Refused("site_not_editable", f"`{site.call.callee}` needs a stream as its last argument")
    for obstacle in sorted(group.obstacles, key=lambda o: _RANK.get(o.name, 50)):
        unlock = next((text for why, text in _INSTEAD.items() if obstacle.text.endswith(why)), "")
        return Refused(obstacle.name, obstacle.text, ((obstacle.span, obstacle.text),), unlock=unlock)
    if not group.frees:
        return Refused("free_not_found", "no `cudaFree` of it is reached")
    if group.never_freed:
        return Refused("free_not_found", "there are paths or configurations in which nothing frees it")
    for site in group.frees.values():
        if site.frees_other & {"external", "nothing"}:
            return Refused(
                "escapes",
                "a pointer that cannot be followed may be freed at the same place",
                ((site.call.span, "this free"),),
            )
        other = site.frees_other - {"null", "interior", "async"}
        if other:
            kinds = " or ".join(sorted(other))
            return Refused(
                "mixed_allocation_kinds",
                f"the free may also give back {kinds} memory",
                ((site.call.span, "this free"), *_allocated(site)),
            )
        if "interior" in site.frees_other:
            return Refused(
                "out_of_order",
                "a pointer into the middle of a block may be freed",
                ((site.call.span, "this free"),),
                unlock="Free the pointer that the allocation gave, and move another one along.",
            )
    for outcome in outcomes:
        if outcome.peers and any(k in outcome.allocations for k in group.allocations):
            return Refused(
                "peer_access",
                "another device may reach it: pools need access of their own",
                ((outcome.peers[0], "peer access is enabled"),),
            )
    return None


def settled_sites(outcome: Outcome) -> set[Key]:
    """The sites that a run of the program has refused for good, however it goes on: an obstacle of one of them, or what
    else a free may give back, stays.
    """
    found = {key for group in groups_of([outcome]) if group.obstacles for key, _ in group.sites()}
    return found | {key for key, free in outcome.frees.items() if free.frees_other & {"external", "nothing"}}


def only_read(path: str, span: ir.Span, what: str) -> Refused:
    """The refusal of what would need an edit in a file that was not given, but read with those that were."""
    text = f"{what} is in `{path}`, which would have to change with it and was not given"
    return Refused("site_not_editable", text, ((span, "here"),), unlock=f"Give `{path}` too, or the folder of both.")


_SHOWN = 4  # allocations of other kinds that a refusal names


def _allocated(free: Site) -> list[tuple[ir.Span, str]]:
    """Where memory of other kinds that a free may give back is allocated."""
    found = [(call.span, f"`{call.callee}` allocates {kind} memory") for _, (call, kind) in sorted(free.others.items())]
    return found[:_SHOWN]


_RANK = {
    name: n
    for n, name in enumerate(
        (
            "freed_by_device_reset",
            "deleter",
            "several_host_threads",
            "ipc_handle",
            "external_library",
            "unknown_call",
            "escapes",
        )
    )
}
