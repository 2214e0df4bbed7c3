"""What a rewrite may not lose, decided without the engine: every path of a small program, run step by step.

`check(module, overlay)` runs the original program (P) and the rewritten one (Q) along each path (both ways at branches,
loops of up to two rounds), builds the happens-before graph of each, and compares: orders between operations that
conflict, what the host sees, errors that are reported, and the lifetime of stream-ordered memory. Paths on which P
itself is wrong (a use after a free, an uninitialized pointer) cannot happen and do not count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias

from cudafix import ir
from cudafix.ordering.interpreter.program import Overlay, key_of
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


class Runtime:
    """What the calls of the CUDA runtime do in one run of one of the two programs, along one path.

    What P may not do raises `Impossible`, what Q may not do `Bad`.
    """

    def __init__(self, *, rewritten: bool) -> None:
        self.rewritten = rewritten
        self.graph = Graph()
        self.trace = Trace()
        self.memory: list[Memory] = []
        self.events: dict[str, int] = {}
        self.destroyed: set[str] = set()
        self.only = False  # inside a statement that only Q has
        self.reported: set[int] = set()
        self._made = 0

    def bad(self, why: str) -> Exception:
        return Bad(why) if self.rewritten else Impossible(why)

    def live(self, value: object) -> Memory:
        if not isinstance(value, Memory) or not value.alive:
            raise self.bad(f"{value} is no live memory")
        return value

    def stream(self, value: object) -> str:
        """The name of a stream that a value is."""
        if value == 0:
            return "0"
        if not isinstance(value, Named) or value.kind != "stream" or value.name in self.destroyed:
            raise self.bad(f"{value} is no live stream")
        return value.name

    def event(self, value: object) -> str:
        """The name of an event that a value is."""
        if not isinstance(value, Named) or value.kind != "event" or value.name in self.destroyed:
            raise self.bad(f"{value} is no live event")
        return value.name

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

    def report(self) -> None:
        """The program looks at a status: the errors of what has finished are known."""
        self.reported |= {n for n, o in enumerate(self.trace.ops) if self.graph.host >> o.node & 1}

    def create_stream(self, kind: str) -> Named:
        self._made += 1
        made = Named("stream", f"stream {self._made}")
        self.graph.create(made.name, kind)
        return made

    def create_event(self) -> Named:
        self._made += 1
        return Named("event", f"event {self._made}")

    def record(self, event: str, s: str) -> None:
        self.events[event] = self.graph.enqueue(s)

    def wait_event(self, s: str, event: str) -> None:
        if event in self.events:
            self.graph.enqueue(s, self.events[event])

    def synchronize_event(self, event: str) -> None:
        self.graph.host_waits(self.events.get(event, 0))

    def synchronize_device(self) -> None:
        self.graph.host_waits(self.graph.everything())

    def allocate(self, callee: str, s: str = "0") -> Memory:
        """New memory; of `cudaMallocAsync`, allocated on the stream."""
        kinds = {
            "cudaMalloc": "device",
            "cudaMallocAsync": "async",
            "cudaMallocHost": "pinned",
            "cudaMallocManaged": "managed",
        }
        memory = Memory(len(self.memory), kinds.get(callee, "host"))
        self.memory.append(memory)
        if memory.kind == "async":
            memory.allocated = 1 << self.graph.enqueue(s).bit_length() - 1
        return memory

    def free(self, callee: str, value: object, s: str = "0", where: str = "") -> None:
        if value == 0:
            return
        memory = self.live(value)
        memory.alive = False
        expected = {"cudaFree": ("device", "managed"), "cudaFreeAsync": ("async",), "cudaFreeHost": ("pinned",)}
        if memory.kind not in expected.get(callee, ("host",)):
            raise self.bad(f"{callee} of {memory.kind} memory")
        if callee == "cudaFreeAsync":
            before = self.graph.enqueue(s)
            if (memory.allocated | memory.used) & ~before:
                raise self.bad(f"the free at {where} may run before a use")
        elif callee != "free":
            self.synchronize_device()

    def copy(
        self, text: str, target: Memory, source: Memory, s: str, blocking: bool, perhaps: Callable[[], int]
    ) -> None:
        """A copy; `perhaps` decides whether a blocking one within the device makes the host wait."""
        to_host, from_host = target.kind in ("pinned", "host"), source.kind in ("pinned", "host")
        if blocking and from_host:
            self.graph.synchronize(s)  # the source is read when the blocking streams are idle
        done = self.op(text, s, [source] if source.kind != "host" else [], [target])
        # To the host, and from pinned memory, a blocking copy is complete when it returns; on the device it may be.
        waits = to_host and (blocking or target.kind == "host")
        waits = waits or (blocking and source.kind == "pinned")
        if waits or (blocking and not from_host and not to_host and perhaps()):
            self.graph.host_waits(done)


class Machine:
    """Runs the IR of one of the two programs along one path."""

    def __init__(self, module: ir.Module, overlay: Overlay | None, choices: Choices) -> None:
        self.functions = {f.name: f for f in module.functions}
        self.kernels = {k.name: k for k in module.kernels}
        self.overlay, self.choices = overlay, choices
        self.runtime = Runtime(rewritten=overlay is not None)
        self.rounds: dict[str, int] = {}
        self.frame: dict[Any, Any] = {}

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
        raise self.runtime.bad(f"no place: {place}")

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
                    raise self.runtime.bad(f"{key} has no value")
                return frame[key]

    def live(self, expr: ir.Expr) -> Memory:
        return self.runtime.live(self.value(expr))

    def stream(self, expr: ir.Expr | None) -> str:
        return self.runtime.stream(self.value(expr) if expr is not None else 0)

    def event(self, expr: ir.Expr) -> str:
        return self.runtime.event(self.value(expr))

    # -- statements ------------------------------------------------------------------------------------------------

    def block(self, block: ir.Block) -> None:
        for stmt in block:
            overlay = self.overlay or Overlay()
            self.inserted(overlay.before.get(key_of(stmt), ()))
            self.statement(stmt)
            self.inserted(overlay.after.get(key_of(stmt), ()))

    def inserted(self, calls: Sequence[ir.Call]) -> None:
        self.runtime.only = True
        for call in calls:
            self.call(call)
        self.runtime.only = False

    def statement(self, stmt: ir.Stmt) -> None:
        match stmt:
            case ir.Call():
                new = self.overlay.replaced.get(key_of(stmt)) if self.overlay is not None else None
                self.call(new or stmt)
                if stmt.look is ir.Look.CHECKED:
                    self.runtime.report()
            case ir.Launch():
                kernel = self.kernels[stmt.kernel]
                args = [self.live(a) for a in stmt.args]
                reads = [m for n, m in enumerate(args) if n in kernel.reads]
                writes = [m for n, m in enumerate(args) if n in kernel.writes]
                self.runtime.op(
                    f"{stmt.kernel}@{stmt.span.start}", self.stream(stmt.stream), reads, writes, kernel.prints
                )
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
                self.runtime.look("memory", f"host@{stmt.span.start}", reads, writes)
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
        a, runtime = call.args, self.runtime
        match call.callee:
            case "cudaMalloc" | "cudaMallocHost" | "cudaMallocManaged":
                self.store(a[0], runtime.allocate(call.callee))
            case "cudaMallocAsync":
                self.store(a[0], runtime.allocate(call.callee, self.stream(a[2])))
            case "malloc":
                assert call.result is not None
                self.store(ir.Addr(call.result), runtime.allocate(call.callee))
            case "cudaFree" | "cudaFreeHost" | "free":
                runtime.free(call.callee, self.value(a[0]))
            case "cudaFreeAsync":
                runtime.free(call.callee, self.value(a[0]), self.stream(a[1]), str(call.span.start))
            case "cudaMemcpy" | "cudaMemcpyAsync":
                blocking = call.callee == "cudaMemcpy"
                s = "0" if blocking else self.stream(a[4])
                text = f"copy@{call.span.start}"
                perhaps = partial(self.choices.pick, 2)
                runtime.copy(text, self.live(a[0]), self.live(a[1]), s, blocking, perhaps)
            case "cudaMemset":
                runtime.op(f"memset@{call.span.start}", "0", [], [self.live(a[0])])
            case "cudaMemsetAsync":
                runtime.op(f"memset@{call.span.start}", self.stream(a[3]), [], [self.live(a[0])])
            case "cudaStreamCreate" | "cudaStreamCreateWithFlags":
                self.store(a[0], runtime.create_stream(BLOCKING if len(a) == 1 else NON_BLOCKING))
            case "cudaStreamDestroy":
                runtime.destroyed.add(self.stream(a[0]))
            case "cudaEventCreate" | "cudaEventCreateWithFlags":
                self.store(a[0], runtime.create_event())
            case "cudaEventDestroy":
                self.event(a[0])
            case "cudaEventRecord":
                runtime.record(self.event(a[0]), self.stream(a[1]))
            case "cudaStreamWaitEvent":
                runtime.wait_event(self.stream(a[0]), self.event(a[1]))
            case "cudaEventSynchronize":
                runtime.synchronize_event(self.event(a[0]))
            case "cudaStreamSynchronize":
                runtime.graph.synchronize(self.stream(a[0]))
            case "cudaDeviceSynchronize":
                runtime.synchronize_device()
            case "printf":
                runtime.look("output", f"printf@{call.span.start}")
            case "clock":
                runtime.look("clock", f"clock@{call.span.start}")
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

    def main(self) -> Trace:
        with suppress(Leave):
            self.block(self.functions["main"].body)
        self.runtime.look("exit", "exit")
        return self.runtime.trace


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
    return compare(
        lambda choices: Machine(module, None, choices).main(), lambda choices: Machine(module, overlay, choices).main()
    )


def compare(original: Callable[[Choices], Trace], rewritten: Callable[[Choices], Trace]) -> list[str] | None:
    """What `rewritten` loses that `original` guarantees, on the first path that shows it; None if there are too many
    paths to look at, or none on which the original is right.
    """
    given: list[int] | None = []
    possible = False
    for _ in range(MAX_PATHS):
        assert given is not None
        choices = Choices(given)
        try:
            p: Trace | None = original(choices)
        except Impossible:
            p = None
        if p is not None:
            possible = True
            path = [v for v, _ in choices.made]
            try:
                q = rewritten(Choices(path))
            except Bad as bad:
                return [f"{bad} on path {path}"]
            found = [f"{text} on path {path}" for text in differences(p, q)]
            if found:
                return found
        given = choices.following()
        if given is None:
            return [] if possible else None
    return None
