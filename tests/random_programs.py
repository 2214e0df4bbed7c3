"""Random CUDA host programs as IR: small, allocated and freed in the ways in which real code does it.

`programs()` is a strategy of Hypothesis, which finds the smallest program that fails; `parse` reads one from the text
that `cudafix.ir.dump` makes of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from hypothesis import strategies as st

from cudafix import ir

T = TypeVar("T")

PATH = "random.cu"
ZERO = ir.Const("0")
SIZE = ir.Opaque(())
NAMED = ("r", "w", "rw", "p")


def _kernel(name: str, reads: set[int], writes: set[int], prints: bool, count: int) -> ir.Kernel:
    none: frozenset[str] = frozenset()
    params = tuple(ir.Param(f"a{n}", "float *") for n in range(count))
    span = ir.Span(PATH, 0, 1)
    return ir.Kernel(name, params, frozenset(reads), frozenset(writes), prints, False, none, none, none, span)


KERNELS = (
    _kernel("fill", set(), {0}, False, 1),
    _kernel("add", {0}, {1}, False, 2),
    _kernel("both", {0}, {0}, False, 1),
    _kernel("show", {0}, set(), True, 1),
)


@dataclass
class Scope:
    """What statements may name: device buffers that are allocated, host buffers, streams (None: none), events."""

    device: list[str]
    host: list[str]
    streams: list[ir.Expr | None]
    events: list[str]
    owned: list[str] = field(default_factory=list)  # freed before an early return
    in_main: bool = True
    in_loop: bool = False


class Generator:
    """Makes a program from decisions; the first of several is the simplest."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.position = 0
        self.names = 0
        self.look = self.one_of([ir.Look.IGNORED, ir.Look.IGNORED, ir.Look.CHECKED])
        self.functions: list[ir.Function] = []
        self.helpers: list[tuple[str, str]] = []
        self.prints = self.chance(0.3)
        self.left = self.number(1, 22)  # statements still to make

    # -- pieces ----------------------------------------------------------------------------------------------------

    def span(self) -> ir.Span:
        self.position += 10
        return ir.Span(PATH, self.position, self.position + 8)

    def call(self, name: str, *args: ir.Expr, result: ir.Expr | None = None) -> ir.Call:
        span = self.span()
        site = ir.Site(span, "    ", "CHECK(", ");")
        look = self.look if name.startswith("cuda") else ir.Look.IGNORED
        return ir.Call(
            name, args, span, ir.Span(PATH, span.start, span.start + 4), span.end, site, result=result, look=look
        )

    def launch(self, kernel: str, args: tuple[ir.Expr, ...], stream: ir.Expr | None) -> ir.Launch:
        span = self.span()
        return ir.Launch(kernel, args, stream, span, ir.Site(span, "    ", "", ";"))

    def fresh(self, prefix: str) -> str:
        self.names += 1
        return f"{prefix}{self.names}"

    def declare(self, name: str, kind: str, array: bool = False) -> ir.Declare:
        return ir.Declare(ir.Var(name), kind, array, self.span())

    def when(self, then: ir.Block, other: ir.Block = ()) -> ir.If:
        return ir.If(ir.Test("other", None, self.fresh("c")), then, other, self.span())

    def malloc(self, name: str) -> ir.Call:
        return self.call("cudaMalloc", ir.Addr(ir.Var(name)), SIZE)

    def free(self, name: str) -> ir.Call:
        return self.call("cudaFree", ir.Var(name))

    def one_of(self, options: Sequence[T]) -> T:
        return self.draw(st.sampled_from(options))

    def number(self, low: int, high: int) -> int:
        return self.draw(st.integers(low, high))

    def chance(self, p: float) -> bool:
        return self.number(1, 100) > 100 * (1 - p)

    def way(self, **weights: int) -> str:
        return self.one_of([name for name, weight in weights.items() for _ in range(weight)])

    # -- statements ------------------------------------------------------------------------------------------------

    def block(self, scope: Scope, depth: int = 0) -> list[ir.Stmt]:
        out: list[ir.Stmt] = []
        for _ in range(self.number(1, 5)):
            if self.left <= 0:
                break
            self.left -= 1
            out += self.some(scope, depth)
        return out

    def some(self, scope: Scope, depth: int) -> list[ir.Stmt]:
        kinds: list[tuple[Callable[[Scope, int], list[ir.Stmt]], int]] = [
            (self.work, 18),
            (self.ordering, 8),
            (self.lifetime, 8 if depth < 3 else 0),
            (self.copying, 8),
            (self.on_host, 6),
            (self.branch, 4 if depth < 2 else 0),
            (self.loop, 4 if depth < 2 else 0),
            (self.helper, 4 if scope.device else 0),
            (self.early, 3 if depth else 1),
            (self.swap, 2 if len(scope.device) > 1 else 0),
        ]
        make = self.one_of([kind for kind, weight in kinds for _ in range(weight)])
        return make(scope, depth)

    def work(self, scope: Scope, depth: int) -> list[ir.Stmt]:
        if not scope.device:
            return self.lifetime(scope, depth) if depth < 3 else []
        stream = self.one_of(scope.streams)
        a, b = (ir.Var(self.one_of(scope.device)) for _ in range(2))
        kernel = self.one_of(["fill", "fill", "add", "add", "both", *(["show"] if self.prints else [])])
        return [self.launch(kernel, (a, b) if kernel == "add" else (a,), stream)]

    def copying(self, scope: Scope, depth: int) -> list[ir.Stmt]:
        if not scope.device:
            return []
        d, s = ir.Var(self.one_of(scope.device)), self.one_of(scope.streams)
        if self.chance(0.2):
            return [
                self.call("cudaMemset", d, ZERO, SIZE) if s is None else self.call("cudaMemsetAsync", d, ZERO, SIZE, s)
            ]
        host = [h for h in scope.host if h not in scope.device]  # no managed memory
        if not host:
            return []
        h = ir.Var(self.one_of(host))
        to, kind = (h, "cudaMemcpyDeviceToHost") if self.chance(0.65) else (d, "cudaMemcpyHostToDevice")
        source = d if to is h else h
        if self.chance(0.12) and len(scope.device) > 1:
            to, source, kind = d, ir.Var(self.one_of(scope.device)), "cudaMemcpyDeviceToDevice"
        if s is None or self.chance(0.1):
            return [self.call("cudaMemcpy", to, source, SIZE, ir.Const(kind))]
        return [self.call("cudaMemcpyAsync", to, source, SIZE, ir.Const(kind), s)]

    def on_host(self, scope: Scope, depth: int) -> list[ir.Stmt]:
        if self.chance(0.2):
            return [self.call("printf", ir.Const("text"))]
        if self.chance(0.05):
            return [self.call("clock")]
        if not scope.host:
            return []
        place = (ir.Index(ir.Var(self.one_of(scope.host)), ZERO),)
        return [ir.HostAccess(place if self.chance(0.7) else (), place if self.chance(0.4) else (), self.span())]

    def ordering(self, scope: Scope, depth: int) -> list[ir.Stmt]:
        s = self.one_of(scope.streams) or ZERO
        if scope.events and self.chance(0.8):
            e = ir.Var(self.one_of(scope.events))
            t = self.one_of(scope.streams) or ZERO
            both: list[ir.Stmt] = [self.call("cudaEventRecord", e, s), self.call("cudaStreamWaitEvent", t, e, ZERO)]
            match self.way(both=12, record=3, wait=3, host=2):
                case "record":
                    return both[:1]
                case "wait":
                    return both[1:]
                case "host":
                    return [self.call("cudaEventSynchronize", e)]
            return both
        return [self.call("cudaStreamSynchronize", s) if self.chance(0.8) else self.call("cudaDeviceSynchronize")]

    def lifetime(self, scope: Scope, depth: int) -> list[ir.Stmt]:
        """A buffer: allocated, used, freed, in one of the usual ways."""
        name = self.fresh("d")
        d = ir.Var(name)
        inner = replace(scope, device=[*scope.device, name], owned=[*scope.owned, name])
        out: list[ir.Stmt] = [self.declare(name, "float *")]
        way = self.way(plain=6, conditional=1, either=1, loop=1, two=1)
        if way == "plain":
            return [*out, self.malloc(name), *self.block(inner, depth + 1), *self.late(scope, depth), self.free(name)]
        if way == "conditional":  # conditional, with a null pointer
            null = ir.Assign(d, ir.NULL, self.span())
            test = ir.Test("nonnull", d, name)
            owned = replace(inner, owned=scope.owned)
            some: list[ir.Stmt] = [self.when((self.malloc(name), *self.block(owned, depth + 1)))]
            some += self.late(scope, depth)
            last = self.free(name) if self.chance(0.5) else ir.If(test, (self.free(name),), (), self.span())
            return [*out, null, *some, last]
        if way == "either":  # allocated in either branch, perhaps freed in either
            made = self.when((self.malloc(name),), (self.malloc(name),))
            gone = (
                self.free(name)
                if self.chance(0.5)
                else self.when((self.free(name),), (*self.late(scope, depth), self.free(name)))
            )
            return [*out, made, *self.block(inner, depth + 1), gone]
        if way == "loop":  # reallocated in a loop
            again = replace(inner, in_loop=True, owned=scope.owned)
            body = (*self.block(again, depth + 1), self.free(name), self.malloc(name), *self.block(again, depth + 1))
            return [*out, self.malloc(name), self.rounds(tuple(body)), *self.block(inner, depth + 1), self.free(name)]
        other = self.fresh("d")  # two that overlap
        inner = replace(inner, device=[*inner.device, other], owned=[*inner.owned, other])
        out += [self.declare(other, "float *"), self.malloc(name), self.malloc(other), *self.block(inner, depth + 1)]
        scope = replace(scope, device=[*scope.device, other], owned=[*scope.owned, other])
        return [*out, self.free(name), *self.late(scope, depth), self.free(other)]

    def late(self, scope: Scope, depth: int) -> list[ir.Stmt]:
        return self.block(scope, depth + 1) if self.chance(0.3) else []

    def branch(self, scope: Scope, depth: int) -> list[ir.Stmt]:
        other = self.block(scope, depth + 1) if self.chance(0.4) else []
        return [self.when(tuple(self.block(scope, depth + 1)), tuple(other))]

    def rounds(self, body: ir.Block) -> ir.Loop:
        return ir.Loop(body, self.span(), at_least_once=self.chance(0.3))

    def loop(self, scope: Scope, depth: int) -> list[ir.Stmt]:
        inner = replace(scope, in_loop=True, owned=[])
        body = self.block(inner, depth + 1)
        if self.chance(0.15):
            leave = ir.Break(self.span()) if self.chance(0.5) else ir.Continue(self.span())
            body.insert(self.number(0, len(body)), self.when((leave,)))
        return [self.rounds(tuple(body))]

    def early(self, scope: Scope, depth: int) -> list[ir.Stmt]:
        """Give back what is owned, and return."""
        if scope.in_loop:
            return []
        frees = [self.free(name) for name in self.draw(st.permutations(scope.owned))]
        if scope.in_main and self.chance(0.3):
            return [self.when((*frees, self.call("exit", ir.Const("1"))))]
        return [self.when((*frees, ir.Return(None, self.span())))]

    def swap(self, scope: Scope, depth: int) -> list[ir.Stmt]:
        a, b = (ir.Var(n) for n in self.draw(st.permutations(scope.device))[:2])
        t = ir.Var(self.fresh("t"))
        pairs = ((t, a), (a, b), (b, t))
        return [self.declare(t.name, "float *"), *(ir.Assign(x, y, self.span()) for x, y in pairs)]

    def helper(self, scope: Scope, depth: int) -> list[ir.Stmt]:
        """A call of a function: one that works, one that allocates and returns, one that frees."""
        s = self.one_of(scope.streams) or ZERO
        d = ir.Var(self.one_of(scope.device))
        if not self.helpers or self.chance(0.3):
            if len(self.functions) < 3:
                self.make_helper()
        name, kind = self.one_of(self.helpers)
        if kind == "work":
            return [self.call(name, d, s)]
        new = self.fresh("d")
        inner = replace(scope, device=[*scope.device, new], owned=scope.owned)
        make = self.call(name, result=ir.Var(new)) if kind == "make" else self.call(name, ir.Addr(ir.Var(new)))
        drop = self.call("drop", ir.Var(new))
        return [self.declare(new, "float *"), make, *self.block(replace(inner, owned=[]), depth + 1), drop]

    def make_helper(self) -> None:
        if self.chance(0.6) or any(kind != "work" for _, kind in self.helpers):
            name = self.fresh("work")
            p = ir.Param("p", "float *"), ir.Param("s", "cudaStream_t")
            scope = Scope(["p"], [], [ir.Var("s"), ir.Var("s"), None], [], in_main=False)
            body = self.block(scope, 1)
            self.define(name, p, body)
            self.helpers.append((name, "work"))
            return
        by_address = self.chance(0.5)
        name = self.fresh("make")
        if by_address:
            self.define(name, (ir.Param("out", "float **"),), [self.call("cudaMalloc", ir.Var("out"), SIZE)])
        else:
            body = [self.declare("p", "float *"), self.malloc("p"), ir.Return(ir.Var("p"), self.span())]
            self.define(name, (), body)
        self.define("drop", (ir.Param("p", "float *"),), [self.free("p")])
        self.helpers.append((name, "init" if by_address else "make"))

    def define(self, name: str, params: tuple[ir.Param, ...], body: list[ir.Stmt]) -> None:
        types = {p.name: p.type for p in params}
        self.functions.append(ir.Function(name, params, tuple(body), self.span(), types=types))

    def family(self, scope: Scope) -> list[ir.Stmt]:
        """Arrays of buffers and streams under one index: made, used and freed in loops of one range."""
        d, s = self.fresh("da"), self.fresh("sa")
        steps: list[list[ir.Stmt]] = [[] for _ in range(5)]
        i = ir.Var("i")
        buffer, stream = ir.Index(ir.Var(d), i), ir.Index(ir.Var(s), i)
        blocking = self.chance(0.5)
        flags = () if blocking else (ir.Const("cudaStreamNonBlocking"),)
        create = self.call("cudaStreamCreate" if blocking else "cudaStreamCreateWithFlags", ir.Addr(stream), *flags)
        steps[0] = [create, self.call("cudaMalloc", ir.Addr(buffer), SIZE)]
        for _ in range(self.number(1, 3)):
            where = self.one_of([stream, stream, stream, None, *scope.streams])
            one = ir.Var(self.one_of(scope.device)) if scope.device and self.chance(0.3) else buffer
            two = ir.Var(self.one_of(scope.device)) if scope.device and self.chance(0.3) else buffer
            steps[1].append(self.launch("add", (one, two), where))
        host = [h for h in scope.host if h not in scope.device]
        if host and self.chance(0.5):
            h = ir.Var(self.one_of(host))
            steps[1].append(self.call("cudaMemcpyAsync", h, buffer, SIZE, ir.Const("cudaMemcpyDeviceToHost"), stream))
        if self.chance(0.5):
            steps[2] = [self.call("cudaStreamSynchronize", stream)]
        steps[3] = [self.call("cudaFree", buffer)]
        steps[4] = [self.call("cudaStreamDestroy", stream)]
        if self.chance(0.2):
            steps[3], steps[4] = steps[4], steps[3]
        out: list[ir.Stmt] = [self.declare(d, "float *", True), self.declare(s, "cudaStream_t", True)]
        body: list[ir.Stmt] = []
        for step in steps:
            body += step
            if self.chance(0.6) and body:
                out.append(ir.Loop(tuple(body), self.span(), index=i, range="0:n"))
                body = []
                if self.chance(0.3):
                    out += self.block(replace(scope, owned=[], in_loop=True), 2)
        if body:
            out.append(ir.Loop(tuple(body), self.span(), index=i, range="0:n"))
        return out

    def module(self) -> ir.Module:
        out: list[ir.Stmt] = []
        end: list[ir.Stmt] = []
        scope = Scope([], [], [None], [])
        for _ in range(self.number(0, 3)):
            name = self.fresh("s")
            blocking = self.chance(0.5)
            flags = () if blocking else (ir.Const("cudaStreamNonBlocking"),)
            out += [
                self.declare(name, "cudaStream_t"),
                self.call(
                    "cudaStreamCreate" if blocking else "cudaStreamCreateWithFlags", ir.Addr(ir.Var(name)), *flags
                ),
            ]
            scope.streams += [ir.Var(name)] * 2
            if self.chance(0.5):
                end.append(self.call("cudaStreamDestroy", ir.Var(name)))
        for _ in range(self.number(0, 2)):
            name = self.fresh("e")
            out += [self.declare(name, "cudaEvent_t"), self.call("cudaEventCreate", ir.Addr(ir.Var(name)))]
            scope.events.append(name)
        for _ in range(self.number(0, 2)):
            name = self.fresh("h")
            h = ir.Var(name)
            out.append(self.declare(name, "float *"))
            if self.chance(0.7):
                out.append(self.call("cudaMallocHost", ir.Addr(h), SIZE))
                end.append(self.call("cudaFreeHost", h))
            else:
                out.append(self.call("malloc", SIZE, result=h))
                end.append(self.call("free", h))
            scope.host.append(name)
        if self.chance(0.2):
            m = ir.Var(self.fresh("m"))
            out += [self.declare(m.name, "float *"), self.call("cudaMallocManaged", ir.Addr(m), SIZE)]
            end.append(self.call("cudaFree", m))
            scope.host.append(m.name)
            scope.device.append(m.name)
        if self.chance(0.35):  # one buffer from the start to the end
            out += [self.declare("d0", "float *"), self.malloc("d0")]
            at_end = self.free("d0")
            end.insert(self.number(0, len(end)), at_end)
            scope = replace(scope, device=[*scope.device, "d0"], owned=["d0"])
        if self.chance(0.2):
            out += self.family(scope)
        out += self.lifetime(scope, 0)
        out += self.block(scope)
        if self.chance(0.3):
            end = list(self.draw(st.permutations(end)))
        self.define("main", (), [*out, *end])
        return ir.Module(PATH, tuple(self.functions), KERNELS, (), ())


@st.composite
def programs(draw: st.DrawFn) -> ir.Module:
    return Generator(draw).module()


# ---------------------------------------------------------------------------------------------------------------------
# from text

_FUNCTION = re.compile(r"function (\w+)\((.*)\)")
_CALL = re.compile(r"(?:(\w+) = )?(\w+)\((.*)\)( checked)?")
_LAUNCH = re.compile(r"launch (\w+)\((.*)\)(?: on (.+))?")


class Reader:
    """Reads what `cudafix.ir.dump` writes of a random program, without kernels and styles of checks."""

    def __init__(self, text: str) -> None:
        self.lines = [(len(line) - len(line.lstrip()), line.strip()) for line in text.splitlines() if line.strip()]
        self.at = 0
        self.position = 0

    def span(self) -> ir.Span:
        self.position += 10
        return ir.Span(PATH, self.position, self.position + 8)

    def module(self) -> ir.Module:
        functions = []
        while self.at < len(self.lines):
            head = _FUNCTION.fullmatch(self.lines[self.at][1])
            assert head is not None, self.lines[self.at]
            self.at += 1
            pairs = (param.split(": ") for param in head[2].split(", ") if param)
            params = tuple(ir.Param(name, kind) for name, kind in pairs)
            types = {param.name: param.type for param in params}
            functions.append(ir.Function(head[1], params, self.block(2), self.span(), types=types))
        return ir.Module(PATH, tuple(functions), KERNELS, (), ())

    def block(self, indent: int) -> ir.Block:
        found: list[ir.Stmt] = []
        while self.at < len(self.lines) and self.lines[self.at][0] == indent:
            line = self.lines[self.at][1]
            if line == "else":
                break
            self.at += 1
            found.append(self.statement(line, indent))
        return tuple(found)

    def statement(self, line: str, indent: int) -> ir.Stmt:
        word, _, rest = line.partition(" ")
        match word:
            case "declare":
                name, _, kind = rest.partition(": ")
                return ir.Declare(ir.Var(name), kind.removesuffix(" array"), kind.endswith(" array"), self.span())
            case "launch":
                found = _LAUNCH.fullmatch(line)
                assert found is not None
                stream = expression(found[3]) if found[3] else None
                span = self.span()
                return ir.Launch(found[1], expressions(found[2]), stream, span, ir.Site(span, "    ", "", ";"))
            case "host":
                reads, writes = re.search(r"read ([^;]+)", line), re.search(r"write (.+)", line)
                read, written = (expressions(found[1]) if found else () for found in (reads, writes))
                return ir.HostAccess(read, written, self.span())
            case "if":
                test = ir.Test("other", None, rest.strip("`"))
                if not rest.startswith("`"):
                    kind, _, place = rest.partition(" ")
                    test = ir.Test("nonnull" if kind == "nonnull" else "null", expression(place), place)
                then = self.block(indent + 2)
                other: ir.Block = ()
                if self.at < len(self.lines) and self.lines[self.at] == (indent, "else"):
                    self.at += 1
                    other = self.block(indent + 2)
                return ir.If(test, then, other, self.span())
            case "loop":
                index, _, over = rest.partition(" in ")
                if over:
                    return ir.Loop(self.block(indent + 2), self.span(), index=ir.Var(index), range=over)
                return ir.Loop(self.block(indent + 2), self.span(), at_least_once=bool(rest))
            case "return":
                return ir.Return(expression(rest) if rest else None, self.span())
            case "break":
                return ir.Break(self.span())
            case "continue":
                return ir.Continue(self.span())
        call = _CALL.fullmatch(line)
        if call is None:
            target, _, value = line.partition(" = ")
            return ir.Assign(expression(target), expression(value), self.span())
        span = self.span()
        return ir.Call(
            call[2],
            expressions(call[3]),
            span,
            ir.Span(PATH, span.start, span.start + 4),
            span.end,
            ir.Site(span, "    ", "CHECK(", ");"),
            result=ir.Var(call[1]) if call[1] else None,
            look=ir.Look.CHECKED if call[4] else ir.Look.IGNORED,
        )


def expressions(text: str) -> tuple[ir.Expr, ...]:
    return tuple(expression(part) for part in text.split(", ") if part)


def expression(text: str) -> ir.Expr:
    if text == "…":
        return SIZE
    if text.startswith("&"):
        return ir.Addr(expression(text[1:]))
    if text.endswith("]"):
        base, _, index = text[:-1].partition("[")
        return ir.Index(expression(base), expression(index))
    if text == "nullptr":
        return ir.NULL
    if re.fullmatch(r"\d+|text|cuda[A-Z]\w*", text):
        return ir.Const(text)
    return ir.Var(text)


def parse(text: str) -> ir.Module:
    return Reader(text).module()
