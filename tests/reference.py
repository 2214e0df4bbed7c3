"""What a rewrite may not lose, decided without the engine: every path of a small program, run step by step.

`check(module, overlay)` runs the original program (P) and the rewritten one (Q) along each path (both ways at branches,
loops of up to two rounds), builds the happens-before graph of each, and compares: orders between operations that
conflict, what the host sees, errors that are reported, and the lifetime of stream-ordered memory. Paths on which P
itself is wrong (a use after a free, an uninitialized pointer) cannot happen and do not count.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from cudafix import ir
from cudafix.ordering.program import Overlay, key_of
from tests.happens_before import BLOCKING, NON_BLOCKING, Graph

Cell: TypeAlias = tuple[dict[Any, Any], tuple[object, ...]]  # a frame, a name (and an index)

MAX_PATHS = 400


class Impossible(Exception):
    """The original program does something undefined on this path."""


class Bad(Exception):
    """The rewritten program does something undefined on this path, and the original one does not."""


class Leave(Exception):
    """Control leaves a block: `how` is break, continue, return or exit."""

    def __init__(self, how: str, value: object = None) -> None:
        self.how, self.value = how, value


class Choices:
    """The decisions of one path, replayed for Q; `paths` counts through all of them."""

    def __init__(self, given: list[int]) -> None:
        self.given = given
        self.made: list[tuple[int, int]] = []

    def pick(self, count: int) -> int:
        n = len(self.made)
        value = self.given[n] if n < len(self.given) else 0
        self.made.append((value, count))
        return value

    def following(self) -> list[int] | None:
        made = list(self.made)
        while made and made[-1][0] + 1 == made[-1][1]:
            made.pop()
        return [v for v, _ in made[:-1]] + [made[-1][0] + 1] if made else None


@dataclass(eq=False)
class Memory:
    number: int
    kind: str  # device, async, managed, pinned, host
    alive: bool = True
    allocated: int = 0  # the node of the stream-ordered allocation, as a bit
    used: int = 0  # the nodes of its uses, as bits


@dataclass(frozen=True)
class Named:
    """A stream, an event, or a constant."""

    kind: str
    name: str


@dataclass
class Op:
    text: str
    node: int
    before: int
    reads: frozenset[int]
    writes: frozenset[int]
    prints: bool = False


@dataclass
class Look:
    """The host looks: at memory, at a clock, or the program prints or ends."""

    kind: str
    text: str
    issued: int
    done: int
    reads: frozenset[int]
    writes: frozenset[int]
    reported: frozenset[int]


@dataclass
class Trace:
    ops: list[Op] = field(default_factory=list)
    looks: list[Look] = field(default_factory=list)


class Machine:
    """One run of one of the two programs along one path."""

    def __init__(self, module: ir.Module, overlay: Overlay | None, choices: Choices) -> None:
        self.functions = {f.name: f for f in module.functions}
        self.kernels = {k.name: k for k in module.kernels}
        self.overlay, self.choices = overlay, choices
        self.graph = Graph()
        self.trace = Trace()
        self.memory: list[Memory] = []
        self.events: dict[str, int] = {}
        self.destroyed: set[str] = set()
        self.made = 0
        self.only = False  # inside a statement that only Q has
        self.reported: set[int] = set()
        self.rounds: dict[str, int] = {}
        self.frame: dict[Any, Any] = {}

    def bad(self, why: str) -> Exception:
        return Impossible(why) if self.overlay is None else Bad(why)

    # -- values ----------------------------------------------------------------------------------------------------

    def cell(self, place: ir.Expr) -> Cell:
        match place:
            case ir.Var(name):
                return self.frame, (name,)
            case ir.Index(ir.Var(name), index):
                return self.frame, (name, self.value(index))
            case ir.Deref(base):
                found = self.value(base)
                if isinstance(found, tuple):
                    return found
        raise self.bad(f"no place: {place}")

    def value(self, expr: ir.Expr) -> Any:
        match expr:
            case ir.Addr(base):
                return self.cell(base)
            case ir.Const(text):
                return 0 if text in ("0", "nullptr") else int(text) if text.isdigit() else Named("constant", text)
            case ir.Opaque():
                return Named("constant", "?")
            case _:
                frame, key = self.cell(expr)
                if key not in frame:
                    raise self.bad(f"{key} has no value")
                return frame[key]

    def live(self, expr: ir.Expr) -> Memory:
        found = self.value(expr)
        if not isinstance(found, Memory) or not found.alive:
            raise self.bad(f"{expr} is no live memory")
        return found

    def stream(self, expr: ir.Expr | None) -> str:
        found = self.value(expr) if expr is not None else 0
        if found == 0:
            return "0"
        if not isinstance(found, Named) or found.kind != "stream" or found.name in self.destroyed:
            raise self.bad(f"{expr} is no live stream")
        return found.name

    def event(self, expr: ir.Expr) -> str:
        found = self.value(expr)
        if not isinstance(found, Named) or found.kind != "event":
            raise self.bad(f"{expr} is no event")
        return found.name

    # -- operations ------------------------------------------------------------------------------------------------

    def op(self, text: str, s: str, reads: Sequence[Memory], writes: Sequence[Memory], prints: bool = False) -> int:
        done = self.graph.enqueue(s)
        node = done.bit_length() - 1
        before = done & ~(1 << node)
        for memory in (*reads, *writes):
            if memory.allocated & ~before:
                raise self.bad(f"{text} may run before the allocation of {memory.number}")
            memory.used |= 1 << node
        if not self.only:
            sets = frozenset(m.number for m in reads), frozenset(m.number for m in writes)
            self.trace.ops.append(Op(text, node, before, *sets, prints))
        return done

    def look(self, kind: str, text: str, reads: Sequence[Memory] = (), writes: Sequence[Memory] = ()) -> None:
        sets = frozenset(m.number for m in reads), frozenset(m.number for m in writes)
        self.trace.looks.append(Look(kind, text, len(self.trace.ops), self.graph.host, *sets, frozenset(self.reported)))

    def sync(self, s: str) -> None:
        self.graph.synchronize(s)

    # -- statements ------------------------------------------------------------------------------------------------

    def block(self, block: ir.Block) -> None:
        for stmt in block:
            overlay = self.overlay or Overlay()
            self.inserted(overlay.before.get(key_of(stmt), ()))
            self.statement(stmt)
            self.inserted(overlay.after.get(key_of(stmt), ()))

    def inserted(self, calls: Sequence[ir.Call]) -> None:
        self.only = True
        for call in calls:
            self.call(call)
        self.only = False

    def statement(self, stmt: ir.Stmt) -> None:
        match stmt:
            case ir.Call():
                new = self.overlay.replaced.get(key_of(stmt)) if self.overlay is not None else None
                self.call(new or stmt)
                if stmt.look is ir.Look.CHECKED:
                    self.reported |= {n for n, o in enumerate(self.trace.ops) if self.graph.host >> o.node & 1}
            case ir.Launch():
                kernel = self.kernels[stmt.kernel]
                args = [self.live(a) for a in stmt.args]
                reads = [m for n, m in enumerate(args) if n in kernel.reads]
                writes = [m for n, m in enumerate(args) if n in kernel.writes]
                self.op(f"{stmt.kernel}@{stmt.span.start}", self.stream(stmt.stream), reads, writes, kernel.prints)
            case ir.Assign():
                value = self.value(stmt.value)
                frame, key = self.cell(stmt.target)
                frame[key] = value
            case ir.Declare():
                for key in [k for k in self.frame if k[0] == stmt.var.name]:
                    del self.frame[key]
            case ir.HostAccess():
                reads, writes = (
                    [self.live(p.base) for p in ps if isinstance(p, ir.Index)] for ps in (stmt.reads, stmt.writes)
                )
                self.look("memory", f"host@{stmt.span.start}", reads, writes)
            case ir.If():
                self.block(stmt.then if self.test(stmt.test) else stmt.other)
            case ir.Loop():
                self.loop(stmt)
            case ir.Return():
                raise Leave("return", self.value(stmt.value) if stmt.value is not None else None)
            case ir.Break():
                raise Leave("break")
            case ir.Continue():
                raise Leave("continue")
            case _:
                raise AssertionError(stmt)

    def test(self, test: ir.Test) -> bool:
        if test.kind in ("nonnull", "null") and test.place is not None:
            return (self.value(test.place) != 0) is (test.kind == "nonnull")
        return self.choices.pick(2) == 1

    def loop(self, loop: ir.Loop) -> None:
        if loop.range is not None:
            if loop.range not in self.rounds:
                self.rounds[loop.range] = self.choices.pick(3)
            rounds = self.rounds[loop.range]
        else:
            rounds = 1 + self.choices.pick(2) if loop.at_least_once else self.choices.pick(3)
        for n in range(rounds):
            if loop.index is not None:
                self.frame[loop.index.name,] = n
            try:
                self.block(loop.body)
            except Leave as leave:
                if leave.how == "break":
                    break
                if leave.how != "continue":
                    raise

    def call(self, call: ir.Call) -> None:
        if call.callee in self.functions:
            return self.function(call)
        a = call.args
        match call.callee:
            case "cudaMalloc" | "cudaMallocAsync" | "cudaMallocHost" | "cudaMallocManaged" | "malloc":
                self.allocate(call)
            case "cudaFree" | "cudaFreeAsync" | "cudaFreeHost" | "free":
                self.free(call)
            case "cudaMemcpy" | "cudaMemcpyAsync":
                self.copy(call)
            case "cudaMemset":
                self.op(f"memset@{call.span.start}", "0", [], [self.live(a[0])])
            case "cudaMemsetAsync":
                self.op(f"memset@{call.span.start}", self.stream(a[3]), [], [self.live(a[0])])
            case "cudaStreamCreate" | "cudaStreamCreateWithFlags":
                self.made += 1
                name = f"stream {self.made}"
                self.graph.create(name, BLOCKING if len(a) == 1 else NON_BLOCKING)
                self.store(a[0], Named("stream", name))
            case "cudaStreamDestroy":
                self.destroyed.add(self.stream(a[0]))
            case "cudaEventCreate" | "cudaEventCreateWithFlags":
                self.made += 1
                self.store(a[0], Named("event", f"event {self.made}"))
            case "cudaEventDestroy":
                self.event(a[0])
            case "cudaEventRecord":
                self.events[self.event(a[0])] = self.graph.enqueue(self.stream(a[1]))
            case "cudaStreamWaitEvent":
                s, e = self.stream(a[0]), self.event(a[1])
                if e in self.events:
                    self.graph.enqueue(s, self.events[e])
            case "cudaEventSynchronize":
                self.graph.host_waits(self.events.get(self.event(a[0]), 0))
            case "cudaStreamSynchronize":
                self.sync(self.stream(a[0]))
            case "cudaDeviceSynchronize":
                self.graph.host_waits(self.graph.everything())
            case "printf":
                self.look("output", f"printf@{call.span.start}")
            case "clock":
                self.look("clock", f"clock@{call.span.start}")
            case "exit":
                raise Leave("exit")
            case _:
                raise AssertionError(call.callee)
        return None

    def store(self, address: ir.Expr, value: object) -> None:
        frame, key = self.cell(ir.Deref(address))
        frame[key] = value

    def function(self, call: ir.Call) -> None:
        function = self.functions[call.callee]
        values = [self.value(arg) for arg in call.args]
        caller, self.frame = self.frame, {(p.name,): v for p, v in zip(function.params, values, strict=True)}
        value: object = None
        try:
            self.block(function.body)
        except Leave as leave:
            if leave.how != "return":
                raise
            value = leave.value
        self.frame = caller
        if call.result is not None:
            frame, key = self.cell(call.result)
            frame[key] = value

    def allocate(self, call: ir.Call) -> None:
        kinds = {
            "cudaMalloc": "device",
            "cudaMallocAsync": "async",
            "cudaMallocHost": "pinned",
            "cudaMallocManaged": "managed",
        }
        memory = Memory(len(self.memory), kinds.get(call.callee, "host"))
        self.memory.append(memory)
        if memory.kind == "async":
            done = self.graph.enqueue(self.stream(call.args[2]))
            memory.allocated = 1 << done.bit_length() - 1
        if call.callee == "malloc":
            assert call.result is not None
            self.store(ir.Addr(call.result), memory)
        else:
            self.store(call.args[0], memory)

    def free(self, call: ir.Call) -> None:
        if self.value(call.args[0]) == 0:
            return
        memory = self.live(call.args[0])
        memory.alive = False
        expected = {"cudaFree": ("device", "managed"), "cudaFreeAsync": ("async",), "cudaFreeHost": ("pinned",)}
        if memory.kind not in expected.get(call.callee, ("host",)):
            raise self.bad(f"{call.callee} of {memory.kind} memory")
        if call.callee == "cudaFreeAsync":
            before = self.graph.enqueue(self.stream(call.args[1]))
            if (memory.allocated | memory.used) & ~before:
                raise self.bad(f"the free at {call.span.start} may run before a use")
        elif call.callee != "free":
            self.graph.host_waits(self.graph.everything())

    def copy(self, call: ir.Call) -> None:
        target, source = self.live(call.args[0]), self.live(call.args[1])
        blocking = call.callee == "cudaMemcpy"
        s = "0" if blocking else self.stream(call.args[4])
        to_host, from_host = target.kind in ("pinned", "host"), source.kind in ("pinned", "host")
        if blocking and from_host:
            self.sync(s)  # the source is read when the blocking streams are idle
        done = self.op(f"copy@{call.span.start}", s, [source] if source.kind != "host" else [], [target])
        # To the host, and from pinned memory, a blocking copy is complete when it returns; on the device it may be.
        waits = to_host and (blocking or target.kind == "host")
        waits = waits or (blocking and source.kind == "pinned")
        if waits or (blocking and not from_host and not to_host and self.choices.pick(2)):
            self.graph.host_waits(done)

    def main(self) -> Trace:
        with suppress(Leave):
            self.block(self.functions["main"].body)
        self.look("exit", "exit")
        return self.trace


# ---------------------------------------------------------------------------------------------------------------------


def differences(p: Trace, q: Trace) -> Iterator[str]:
    """What P guarantees and Q does not."""
    for m, (a, b) in enumerate(zip(p.ops, q.ops, strict=True)):
        for x, y in zip(p.ops[:m], q.ops[:m], strict=True):
            conflict = a.writes & (x.reads | x.writes) or a.reads & x.writes
            if conflict and a.before >> x.node & 1 and not b.before >> y.node & 1:
                yield f"order: {x.text} -> {a.text}"
    for look, after in zip(p.looks, q.looks, strict=True):
        for x, y in zip(p.ops[: look.issued], q.ops[: after.issued], strict=True):
            if look.done >> x.node & 1 and not after.done >> y.node & 1:
                conflict = look.writes & (x.reads | x.writes) or look.reads & x.writes
                if look.kind == "clock" or conflict or (x.prints and look.kind in ("output", "exit")):
                    yield f"{look.kind}: {x.text} -> {look.text}"
        if look.kind in ("output", "exit"):
            for n in look.reported - after.reported:
                yield f"fault: {p.ops[n].text} -> {look.text}"


def check(module: ir.Module, overlay: Overlay) -> list[str] | None:
    """What is wrong with the rewrite, with the path; None if there are too many paths to look at, or none at all."""
    given: list[int] | None = []
    possible = False
    for _ in range(MAX_PATHS):
        assert given is not None
        choices = Choices(given)
        try:
            p: Trace | None = Machine(module, None, choices).main()
        except Impossible:
            p = None
        if p is not None:
            possible = True
            path = [v for v, _ in choices.made]
            try:
                q = Machine(module, overlay, Choices(path)).main()
            except Bad as bad:
                return [f"{bad} on path {path}"]
            found = [f"{text} on path {path}" for text in differences(p, q)]
            if found:
                return found
        given = choices.following()
        if given is None:
            return [] if possible else None
    return None
