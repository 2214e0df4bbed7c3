"""The vocabulary of the API tables: what one library call means for ordering, as data.

A table is a mapping from a function's name to an `Api`. `roles` has one entry for each parameter, in order; a call with
more arguments than roles repeats the one role that ends in `*`. In a row of a method (`vector.data`) the object is
argument 0. `keep` and `swap` hold whatever the effect is, `nothing` included. Where an argument with the role `r`, `w`
or `rw` is a handle (`thrust::cuda::par.on(s)`), it is one: the operation runs on the handle's stream. Roles:

| role | the argument |
|---|---|
| `r` `w` `rw` | memory that the call's operation reads, writes, or both, on its stream |
| `hr` `hw` `hrw` | memory that the host reads or writes before the call returns |
| `put` | a value that the call may store where its `hw` and `hrw` lead |
| `look` | the host may read all host memory that can be reached from it |
| `use` | what it leads to may be read and written by the call's operation, and by the host before the call returns |
| `hidden` | an object of the host's that may lead to any memory that the host can see, which reads and writes it |
| `new` | address of a pointer that receives a new allocation (of `memory`) |
| `free` | pointer that is freed (to `memory`) |
| `stream` `event` `handle` `pool` `graph` | an object that the call uses; `stream` is where its operation runs |
| `stream.x` | a struct, by value, whose field `x` is the stream |
| `stream->x` | the address of a struct whose field `x` is the stream |
| `streams` | address of one or more streams |
| `stream?` | a stream, unless every argument in a role of memory is memory: then it is a number of another form |
| `stream_out` `event_out` `handle_out` `pool_out` `graph_out` | address of an object that the call makes |
| `out` | address of a plain value that the host receives before the call returns |
| `found` | address of a pointer that receives the address of memory that the program has not allocated |
| `alias` | address of a pointer that receives the address of the memory in `of` (mapped host memory, a symbol) |
| `of` | see `alias` |
| `kind` | a `cudaMemcpyKind` |
| `flags` | creation flags: `cudaStreamNonBlocking`, `cudaHostAllocMapped`, … |
| `device` | a device number |
| `path` | the name of a file that the call opens, as host memory that it reads |
| `mode` | how it is opened, as host memory that the call reads: no clock is read if it is made where it is not there |
| `segment` | what names memory that other processes have too, by no file: they may keep a clock there |
| `command` | what another program is started by: it may ask the device what it likes, how much memory is free for one |
| `setting` | which attribute is asked for: where its name says that it is a setting, nothing is measured |
| `fn` | a host function that the call runs, or has run on the stream |
| `kernel` | a kernel that the call launches: it uses variables of the device without being given them |
| `args` | array of the addresses of a kernel's arguments, which are copied: what they lead to is read and written |
| `params` | address of a struct that describes copies or nodes: everything that it reaches is read and written |
| `op` | a function object, or another value, that runs on the device: all that it reaches is read and written |
| `keep` | a pointer, or all that a struct reaches, that an object of this call keeps (see below) |
| `keeper` `keeper_out` | the object that keeps it; the address of an object, made by the call, that keeps it |
| `swap` | the two arguments of this role exchange their values |
| `-` | nothing that matters for ordering |

Where a call has no `keeper` or `keeper_out`, what is in `keep` is kept by its `graph`, or by the result if `returns` is
`keeper`, else by the library: any later call of a host function may read and write it, and so may the end of the
process. A later call or launch that gets the object in the role `r`, `w`, `rw`, `handle` or `graph` uses that memory;
so does the call itself if it works.
A library of the host keeps what it gets in the role `hidden`: the functions that it leads to, then or later, may run in
each later call of a function that has the role, whatever that is given, and where unseen code runs.
A host function that is given device memory is another function of that name: `Unknown`. `any` marks those that take
whatever they are given by value: casts, comparisons, `printf`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, TypeVar

_T = TypeVar("_T")

ANY_SCOPE = "*"


EITHER = "floating"
"""In the spelling of a type: a name that is `float` in one configuration of a file and `double` in another."""
_FLOATING = re.compile(rf"\b(?:{EITHER}|float|double)\b")


def are_one(types: tuple[str, ...], others: tuple[str, ...]) -> bool:
    """Whether functions with parameters of these types, in one spelling, are one by them in some configuration: sources
    that are linked are built with the same names of numbers, or they do not link (C++17, 6.2 [basic.def.odr] 10).
    """
    if types == others or len(types) != len(others):
        return types == others
    pairs = zip(types, others, strict=True)
    return all(
        one == other or (EITHER in one + other and _FLOATING.sub(EITHER, one) == _FLOATING.sub(EITHER, other))
        for one, other in pairs
    )


class Defined(NamedTuple):
    """A function that a file defines, as a `Prototype` names it; `internal` where other files do not see it."""

    name: str
    types: tuple[str, ...]
    scope: str
    internal: bool


class Prototype(NamedTuple):
    """A function that a program declares itself: the types of its parameters in one spelling, with how few arguments
    it may be called, and whether it has C linkage. `scope` is its namespace, or its class; `ANY_SCOPE` where it is
    declared in a block.
    """

    name: str
    types: tuple[str, ...]
    fewest: int
    of_c: bool = False
    most: int = sys.maxsize
    scope: str = ""
    is_method: bool = False

    def is_defined(self, others: Collection[Defined]) -> bool:
        """Whether one of these is its definition. Of C linkage there is one of a name (C++17, 10.5 [dcl.link] 6)."""
        return any(
            one.name == self.name
            and (self.of_c or (are_one(one.types, self.types) and self.scope in (one.scope, ANY_SCOPE)))
            for one in others
        )

    def takes(self, arguments: int) -> bool:
        return self.fewest <= arguments <= self.most


class Effect(Enum):
    """What kind of step a call is."""

    __hash__ = object.__hash__  # members are unique

    ALLOC = "alloc"  # `new` receives memory of kind `memory`
    FREE = "free"  # `free` goes back
    COPY = "copy"  # one operation on the stream; the host waits as the direction says (docs/FACTS.md)
    WORK = "work"  # one operation on the stream of `stream`, of `handle`, or on the default stream
    RECORD = "record"  # record `event` on `stream`
    WAIT = "wait"  # `stream` waits for `event`
    SYNC_STREAM = "sync_stream"  # the host waits for `stream` (the default stream if there is none)
    SYNC_EVENT = "sync_event"  # the host waits for `event`
    SYNC_DEVICE = "sync_device"  # the host waits for the device
    QUERY = "query"  # the program learns whether `stream` or `event` has finished, without waiting
    ELAPSED = "elapsed"  # the program learns the time between two events
    STREAM_CREATE = "stream_create"  # `stream_out` receives a new stream
    STREAM_DESTROY = "stream_destroy"  # `stream` ends; what it runs goes on
    EVENT_CREATE = "event_create"  # `event_out` receives a new event
    EVENT_DESTROY = "event_destroy"  # `event` ends
    HANDLE_CREATE = "handle_create"  # a library handle or plan, on the default stream until told otherwise
    HANDLE_DESTROY = "handle_destroy"  # `handle` ends
    HANDLE_SET_STREAM = "handle_set_stream"  # what `handle` does from here on runs on `stream`
    SET_DEVICE = "set_device"  # `device` becomes the current one
    RESET = "reset"  # the current device is reset
    HOST = "host"  # plain host function: touches only what `hr`/`hw` say, returns a plain value
    OUTPUT = "output"  # as HOST, and the user sees something: stdout, stderr, a file, a socket
    CLOCK = "clock"  # as HOST, and the program reads a clock
    TIMER = "timer"  # as CLOCK, and what runs at any time may from here on do so by the time
    READ = "read"  # as HOST, and the program reads a file: a clock, unless all that it opens are known to hold no times
    EXIT = "exit"  # the process ends
    AT_EXIT = "at_exit"  # `fn` runs when the process ends; as EXTERNAL where it is not known, or works on the device
    ANY_TIME = "any_time"  # `fn` runs at any moment from here on; as AT_EXIT where it is not only host work
    STATUS = "status"  # the program looks at the last error
    CAPTURE_BEGIN = "capture_begin"  # `stream` is being captured from here on
    CAPTURE_END = "capture_end"  # and no longer
    GRAPH_LAUNCH = "graph_launch"  # one operation on the stream that touches whatever the graph was made of
    PEER = "peer"  # peer access to another device's memory is switched on
    IPC = "ipc"  # the memory in the `r` argument is handed to another process
    HOST_FUNC = "host_func"  # `fn` runs on the stream
    REGISTER = "register"  # host memory becomes pinned
    FREE_MEMORY = "free_memory"  # the program learns how much device memory is free
    EXTERNAL = "external"  # named but out of reach (MPI, RDMA, threads, graphics interop): `why` says so
    MESSAGE = "message"  # EXTERNAL for device memory; host memory is read or written before or when the message ends
    NOTHING = "nothing"  # no effect on ordering: attributes, device properties


class Waits(Enum):
    """Whom the host waits for before the call returns, beyond what `effect` says."""

    NONE = "none"  # no more than the effect says
    OWN = "own"  # the stream that the operation ran on
    DEVICE = "device"  # everything on the device
    MAYBE = "maybe"  # the library may or may not wait: no order may be built on it, none may be taken away


GRAPHICS = "graphics"
_LIBRARIES = {
    "CUDA": ("CUDA Runtime API", "CUDA Driver API"),
    GRAPHICS: ("OpenGL ", "the worst case of EGL"),
}


@dataclass(frozen=True, slots=True)
class Api:
    """One function of one library. `memory`: device, async, managed, pinned, mapped, pitched, array, host,
    shared (memory of the host that other addresses, files and processes may reach too, but for a private mapping of no
    file, by `flags`).

    `on` is where an operation runs when no argument says so: `legacy` (the default stream), `handle`, `none`,
    `unknown` (a stream of the library's own choice), or `global` (the one stream of the library: the default stream, if
    the program sets no other). `idle`: there may be no operation, so nothing is in order because of it.
    `any` marks a host function that may be given device memory: it does not look at it.
    `bytes`: what it stores is read from text or bytes, as it is where `from_outside`: a pointer that is stored so may
    be any.
    `sync` marks a copy without `Async` in its name. `source` is the document that says so; a row has one. `returns`:
    `pointer` for functions that return new memory (of kind `memory`), `same` for functions that return (a pointer into)
    their first argument, `element` for those that return a reference to an element or a part of it, `view` for an
    object that shows the elements of its arguments from the first one on, `given` into any of their arguments, `time`
    for clocks, `handle` for functions that return a new handle on the stream in `stream`, `keeper` for a new object
    that keeps the `keep` arguments, `hidden` for what may lead to any memory that the host can see.
    `holds`: the object in `keeper_out` or `handle_out` has memory of this kind of its own.
    `anywhere`: the host may read and write all memory that it can see, by addresses that the library was given before.
    `timed`: the call also tells the time, or measures what the device does; of `any_time`, the moment tells something.
    `templates`: what it is given as memory may be an object of any class, an iterator, whose functions run on the
    device: all that such an object reaches is read and written. So is all that the elements of memory reach where a
    function object may follow them.
    `asks`: its result tells what others may have done to files by then: which there are, how large they are. Whoever
    uses it reads a clock.
    `ends`: with the call ends an object that work may use, whatever work gets it.
    `unset`: the field of the struct with the stream that has to be null or zero; where it may be set, the call is out
    of reach.
    `reads_files`: what the call gives comes from a file, a pipe or a socket, which is what a shared mapping shows; so
    it does where the effect is `read`.
    """

    effect: Effect
    roles: tuple[str, ...] = ()
    memory: str | None = None
    on: str = "legacy"
    waits: Waits = Waits.NONE
    sync: bool = False
    any: bool = False
    bytes: bool = False
    returns: str | None = None
    looks: bool = True  # the returned status tells of earlier asynchronous errors
    idle: bool = False
    anywhere: bool = False
    timed: bool = False
    templates: bool = False
    asks: bool = False
    ends: bool = False
    holds: str | None = None
    reads_files: bool = False
    unset: str | None = None
    why: str | None = None
    source: str = ""

    @property
    def library(self) -> str:
        """The library of the function, if that calls no function but those that it was given, or that a graphics API was
        given with which it works: each is described where it is given, as `cudaLaunchHostFunc` is. "" of others.
        """
        return next((name for name, documents in _LIBRARIES.items() if self.source.startswith(documents)), "")

    @property
    def acts(self) -> bool:
        """Whether it does more than compute and print: it may reach the device, or memory that it is given."""
        host = self.effect is Effect.HOST and not HOST_MEMORY.isdisjoint(played(self))
        return host or self.effect not in HOST_EFFECTS

    @property
    def works_elsewhere(self) -> bool:
        """Whether it leaves work on the device although it is out of reach: it names a stream, and what runs there."""
        names_stream = any(role == "stream" or field_of(role, "stream") for role in played(self))
        return self.effect is Effect.EXTERNAL and names_stream and not _WORKS_ON.isdisjoint(played(self))

    @property
    def from_outside(self) -> bool:
        """Whether what it gives comes from a file, a pipe, a socket or another program."""
        return self.reads_files or self.effect is Effect.READ

    @property
    def stores_bytes(self) -> bool:
        """Whether a pointer that it stores may be any: it is read from text or bytes."""
        return self.bytes or self.from_outside


_WORKS_ON = frozenset(("r", "w", "rw", "params", "args", "op", "kernel"))

HOST_MEMORY = frozenset(("hr", "hw", "hrw"))
"""Roles of memory that the host reads or writes."""
HOST_EFFECTS = frozenset(
    {Effect.HOST, Effect.OUTPUT, Effect.CLOCK, Effect.TIMER, Effect.READ, Effect.EXIT, Effect.NOTHING, Effect.STATUS}
)
"""What never reaches the device."""


def roles_of(api: Api, count: int) -> list[str]:
    """The roles of `count` arguments."""
    for place, role in enumerate(api.roles):
        if role.endswith("*"):
            behind = api.roles[place + 1 :]
            return [*api.roles[:place], *[role[:-1]] * max(0, count - place - len(behind)), *behind]
    return list(api.roles)


def plays(roles: str, any_of: frozenset[str]) -> bool:
    """Whether an argument with this entry of `roles_of` has one of some roles."""
    return not any_of.isdisjoint(roles.split("+"))


def played_by(api: Api, given: Sequence[_T]) -> Iterator[tuple[str, _T]]:
    """What is `given` with its roles, one by one: an argument that has two, `keep+put`, comes twice."""
    for roles, one in zip(roles_of(api, len(given)), given, strict=False):
        yield from ((role, one) for role in roles.split("+"))


def played(api: Api) -> frozenset[str]:
    """The roles of all arguments, one by one."""
    return frozenset(one for role in api.roles for one in role.removesuffix("*").split("+"))


def field_of(role: str, plain: str) -> tuple[str, bool] | None:
    """The field of a struct that plays the role `plain`, and whether the argument is the address of the struct; None if
    this role is another one, or that of an argument.
    """
    for sign in ("->", "."):
        name, _, field = role.partition(sign)
        if name == plain and field:
            return field, sign == "->"
    return None
