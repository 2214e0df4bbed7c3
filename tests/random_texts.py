"""Random CUDA C++ programs as text, about which object a name means: arrays, vectors and structs of streams, events and
buffers, made in loops or one by one, permuted, aliased, captured by copy or by reference, and copied.

`texts()` is a strategy of Hypothesis; `Writer(random.Random(n).randint).text()` is the n-th program of a long run.
Each is in the language of `tests.exact_paths`: it allocates, works and frees, and then does what may have leaned on the
wait of the free.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from hypothesis import strategies as st

T = TypeVar("T")

SETUP = """#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <tuple>
#include <utility>
#include <vector>
#include <cuda_runtime.h>
__global__ void fill(int *p) { p[0] = 1; }
__global__ void add(const int *p, int *q) { q[0] = p[0]; }
__global__ void both(int *p) { p[0] += 1; }
__global__ void show(int *p) { printf("%d", p[0]); }
struct Lane { int *d; int *h; cudaStream_t s; cudaEvent_t e; };
"""
HELPERS = {
    "wait": "void wait(cudaStream_t x) { cudaStreamSynchronize(x); }",
    "wait_for": "void wait_for(const Lane &x) { cudaStreamSynchronize(x.s); }",
    "wait_copy": "void wait_copy(Lane x) { cudaEventSynchronize(x.e); }",
    "work": "void work(int *p, cudaStream_t x) { fill<<<1, 1, 0, x>>>(p); }",
    "drop": "void drop(int *p) { cudaFree(p); }",
    "make_stream": (
        "cudaStream_t make_stream() {\n    cudaStream_t x;\n"
        "    cudaStreamCreateWithFlags(&x, cudaStreamNonBlocking);\n    return x;\n}"
    ),
    "make_event": "cudaEvent_t make_event() {\n    cudaEvent_t x;\n    cudaEventCreate(&x);\n    return x;\n}",
    "flip": "template <typename T> void flip(T &a, T &b) {\n    T t = a;\n    a = b;\n    b = t;\n}",
    "mark": "void mark(cudaEvent_t *x, cudaStream_t y) { cudaEventRecord(*x, y); }",
}
TYPES = {"d": "int *", "h": "int *", "s": "cudaStream_t", "e": "cudaEvent_t"}
N = 2


class Writer:
    """Writes a program from decisions: `pick(low, high)` is a number, the lowest of which is the simplest."""

    def __init__(self, pick: Callable[[int, int], int]) -> None:
        self.pick = pick
        self.lines: list[str] = []
        self.indent = 1
        self.names = 0
        self.used: set[str] = set()
        self.lambdas: list[str] = []
        self.others: dict[str, list[str]] = {kind: [] for kind in TYPES}  # further names of what there is
        self.copies: list[str] = []  # of lanes
        self.prints = self.chance(0.25)
        self.layout = self.one_of(["arrays", "lanes", "arrays", "lanes"])
        self.holder = self.one_of(["C", "C", "C", "std::array", "std::vector"])
        self.single = self.chance(0.4)  # one buffer, else one for each stream

    # -- decisions -------------------------------------------------------------------------------------------------

    def one_of(self, options: Sequence[T]) -> T:
        return options[self.pick(0, len(options) - 1)]

    def number(self, low: int, high: int) -> int:
        return self.pick(low, high)

    def chance(self, p: float) -> bool:
        return self.number(1, 100) > 100 * (1 - p)

    def line(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    def fresh(self, prefix: str) -> str:
        self.names += 1
        return f"{prefix}{self.names}"

    def helper(self, name: str) -> str:
        self.used.add(name)
        return name

    # -- what there is ---------------------------------------------------------------------------------------------

    def of(self, kind: str, index: str) -> str:
        """The element of a kind (`d`, `h`, `s`, `e`) at an index, by its first name."""
        if kind == "d" and self.single:
            return "b"
        return f"{kind}[{index}]" if self.layout == "arrays" else f"lanes[{index}].{kind}"

    def any(self, kind: str, index: str | None = None) -> str:
        """An lvalue of a kind: an element at the index of the loop around, at a constant, or by another name."""
        options = [self.of(kind, str(n)) for n in range(N)]
        if index is not None:
            options = [self.of(kind, index)] * 4 + options
        options += self.others[kind] * 2
        if not (kind == "d" and self.single):
            options += [f"{name}.{kind}" for name in self.copies]
        return self.one_of(options)

    def declare(self) -> None:
        def array(kind: str, name: str) -> str:
            match self.holder:
                case "C":
                    return f"{kind} {name}[{N}];".replace("* ", "*")
                case "std::array":
                    return f"std::array<{kind}, {N}> {name};"
            return f"std::vector<{kind}> {name}({N});"

        if self.layout == "lanes":
            self.line(array("Lane", "lanes"))
            return
        for name, kind in TYPES.items():
            self.line(array(kind, name))

    def create(self) -> None:
        made: dict[str, tuple[Callable[[str], str], ...]] = {
            "stream": (
                lambda at: f"cudaStreamCreateWithFlags(&{self.of('s', at)}, cudaStreamNonBlocking);",
                lambda at: f"{self.of('s', at)} = {self.helper('make_stream')}();",
            ),
            "event": (
                lambda at: f"cudaEventCreate(&{self.of('e', at)});",
                lambda at: f"{self.of('e', at)} = {self.helper('make_event')}();",
            ),
            "host": (lambda at: f"cudaMallocHost(&{self.of('h', at)}, 4);",),
        }
        ways = [self.one_of(ways) for ways in made.values()]
        self.each(lambda at: [way(at) for way in ways])

    def each(self, lines: Callable[[str], list[str]]) -> None:
        """Lines for each element: in a loop, in a loop by reference, or one element behind the other."""
        way = self.one_of(["loop"] * 5 + ["unrolled"] + ["range"] * (self.layout == "lanes"))
        if way == "unrolled":
            for n in range(N):
                for text in lines(str(n)):
                    self.line(text)
            return
        if way == "range":
            name = self.fresh("lane")
            self.line(f"for (auto &{name} : lanes) {{")
            found = [text.replace("lanes[@]", name) for text in lines("@")]
        else:
            self.line(f"for (int i = 0; i < {N}; ++i) {{")
            found = lines("i")
        for text in found:
            self.line("    " + text)
        self.line("}")

    # -- statements ------------------------------------------------------------------------------------------------

    def block(self, kinds: Sequence[Callable[[str | None], None]], least: int, most: int, index: str | None) -> None:
        for _ in range(self.number(least, most)):
            self.one_of(kinds)(index)

    def work(self, index: str | None) -> None:
        buffer, stream = self.any("d", index), self.any("s", index)
        match self.number(0, 6 if self.prints else 5):
            case 0 | 1:
                self.line(f"fill<<<1, 1, 0, {stream}>>>({buffer});")
            case 2:
                self.line(f"add<<<1, 1, 0, {stream}>>>({buffer}, {self.any('h', index)});")
            case 3:
                self.line(f"cudaMemcpyAsync({self.any('h', index)}, {buffer}, 4, cudaMemcpyDeviceToHost, {stream});")
            case 4:
                self.line(f"add<<<1, 1, 0, {stream}>>>({buffer}, m);")
            case 5:
                self.line(f"{self.helper('work')}({buffer}, {stream});")
            case 6:
                self.line(f"show<<<1, 1, 0, {stream}>>>({buffer});")

    def order(self, index: str | None) -> None:
        match self.number(0, 6):
            case 0:
                self.line(f"cudaStreamSynchronize({self.any('s', index)});")
            case 1:
                self.line(f"cudaEventRecord({self.any('e', index)}, {self.any('s', index)});")
            case 2:
                self.line(f"cudaStreamWaitEvent({self.any('s', index)}, {self.any('e', index)}, 0);")
            case 3:
                self.line(f"cudaEventSynchronize({self.any('e', index)});")
            case 4:
                self.line(f"{self.helper('wait')}({self.any('s', index)});")
            case 5:
                self.line(f"{self.helper('mark')}(&{self.any('e', index)}, {self.any('s', index)});")
            case 6 if self.layout == "lanes":
                name = self.one_of(["wait_for", "wait_copy"])
                self.line(f"{self.helper(name)}(lanes[{self.number(0, N - 1) if index is None else index}]);")
            case _ if self.lambdas:
                self.line(f"{self.one_of(self.lambdas)}();")

    def permute(self, index: str | None) -> None:
        kind = self.one_of(["s", "e", "h"] if self.single else ["d", "s", "e", "h"])
        a, b = self.of(kind, "0"), self.of(kind, "1")
        if self.layout == "lanes" and self.chance(0.3):
            a, b = "lanes[0]", "lanes[1]"
        elif self.others[kind] and self.chance(0.4):
            b = self.one_of(self.others[kind])
        match self.number(0, 5):
            case 0 | 1:
                self.line(f"std::swap({a}, {b});")
            case 2:
                self.line(f"{self.helper('flip')}({a}, {b});")
            case 3:
                self.line(f"std::tie({a}, {b}) = std::make_tuple({b}, {a});")
            case 4:
                self.line(f"{a} = std::exchange({b}, {a});")
            case 5:
                whole = "lanes" if self.layout == "lanes" else kind
                self.line(f"std::reverse(std::begin({whole}), std::end({whole}));")

    def alias(self, index: str | None) -> None:
        """Another name: a reference, a pointer, a copy of a handle or of a lane."""
        if self.indent > 1:
            return
        kind = self.one_of(["d", "s", "e", "h"])
        one = self.of(kind, str(self.number(0, N - 1)))
        match self.number(0, 3):
            case 0:
                name = self.fresh("r")
                self.line(f"auto &{name} = {one};")
                self.others[kind].append(name)
            case 1:
                name = self.fresh("p")
                self.line(f"auto *{name} = &{one};")
                self.others[kind].append(f"(*{name})")
            case 2:
                name = self.fresh("c")
                self.line(f"auto {name} = {one};")
                self.others[kind].append(name)
            case 3 if self.layout == "lanes":
                name = self.fresh("c")
                self.line(f"Lane {name} = lanes[{self.number(0, N - 1)}];")
                self.copies.append(name)

    def function(self, index: str | None) -> None:
        """A lambda that waits, which captures by copy or by reference."""
        if self.indent > 1:
            return
        name = self.fresh("f")
        kind = self.one_of(["s", "s", "e"])
        call = "cudaStreamSynchronize" if kind == "s" else "cudaEventSynchronize"
        way = self.one_of(["=", "&", "init", "index"])
        head = self.one_of(["auto", "std::function<void()>"])
        if way == "init":
            self.line(f"{head} {name} = [x = {self.any(kind)}] {{ {call}(x); }};")
        elif way == "index":
            at = self.fresh("k")
            self.line(f"int {at} = {self.number(0, N - 1)};")
            capture = self.one_of([f"&, {at}", "&"])
            self.line(f"{head} {name} = [{capture}] {{ {call}({self.of(kind, at)}); }};")
            if self.chance(0.5):
                self.line(f"{at} = {self.number(0, N - 1)};")
        else:
            self.line(f"{head} {name} = [{way}] {{ {call}({self.any(kind)}); }};")
        self.lambdas.append(name)

    def host(self, index: str | None) -> None:
        match self.number(0, 3):
            case 0 | 1:
                self.line(f"sink += {self.any('h', index)}[0];")
            case 2:
                self.line(f"{self.any('h', index)}[0] = 1;")
            case 3:
                self.line("sink += m[0];")

    def later(self, index: str | None) -> None:
        """Work that does not need the buffers."""
        self.line(f"add<<<1, 1, 0, {self.any('s', index)}>>>(m, {self.any('h', index)});")

    def nested(self, kinds: Sequence[Callable[[str | None], None]]) -> None:
        index: str | None = None
        if self.chance(0.3):
            self.line("if (argc > 1) {")
        elif self.chance(0.8):
            self.line(f"for (int i = 0; i < {N}; ++i) {{")
            index = "i"
        else:
            self.line("for (int round = 0; round < argc; ++round) {")
        self.indent += 1
        self.block(kinds, 1, 4, index)
        self.indent -= 1
        if self.lines[-1].endswith("{"):  # what stands outside of loops alone has written nothing
            self.line(";")
        self.line("}")

    def phase(self, kinds: Sequence[Callable[[str | None], None]], least: int, most: int) -> None:
        for _ in range(self.number(least, most)):
            if self.chance(0.45):
                self.nested(kinds)
            else:
                self.one_of(kinds)(None)

    def disturb(self, focus: Callable[[str | None], None]) -> None:
        for _ in range(self.number(1, 2)):
            if self.chance(0.2):
                self.nested([focus])
            else:
                focus(None)

    def lanes(self) -> None:
        """Each buffer is worked on in its own stream."""
        if self.single:
            for _ in range(self.number(1, 2)):
                self.work("0")
            return
        works = [self.number(0, 4) for _ in range(self.number(1, 2))]

        if 3 in works:
            self.helper("work")

        def lines(at: str) -> list[str]:
            d, h, s, e = (self.of(kind, at) for kind in TYPES)
            ways = (
                f"fill<<<1, 1, 0, {s}>>>({d});",
                f"cudaMemcpyAsync({h}, {d}, 4, cudaMemcpyDeviceToHost, {s});",
                f"add<<<1, 1, 0, {s}>>>({d}, {h});",
                f"work({d}, {s});",
                f"cudaEventRecord({e}, {s});",
            )
            return [ways[work] for work in works]

        self.each(lines)

    def wait(self) -> None:
        """For each stream or event, for one of them, or by a lambda."""
        match self.number(0, 3):
            case 0:
                self.each(lambda at: [f"cudaStreamSynchronize({self.of('s', at)});"])
            case 1:
                self.each(lambda at: [f"cudaEventSynchronize({self.of('e', at)});"])
            case _ if self.lambdas:
                self.line(f"{self.one_of(self.lambdas)}();")
            case _:
                self.order(None)

    def text(self) -> str:
        self.declare()
        self.line("int *m, *b, sink = 0;")
        self.line("cudaMallocManaged(&m, 4);")
        if self.chance(0.2):
            self.function(None)
        self.create()
        self.phase([self.alias, self.function], 0, 2)
        if self.single:
            self.line("cudaMalloc(&b, 4);")
        else:
            self.each(lambda at: [f"cudaMalloc(&{self.of('d', at)}, 4);"])
        # few programs that may be rewritten bear several disturbances: each program has those of one kind
        focus = self.one_of([self.permute, self.permute, self.order, self.work, self.alias, self.function])
        if self.chance(0.2):
            self.disturb(focus)
        self.lanes()
        if self.chance(0.7):
            self.disturb(focus)
        if self.chance(0.5):
            self.wait()
        free = self.one_of(["cudaFree", "cudaFree", "drop"])
        if free == "drop":
            self.helper("drop")
        if self.single:
            self.line(f"{free}(b);")
        else:
            self.each(lambda at: [f"{free}({self.of('d', at)});"])
        self.phase([self.host, self.host, self.later, self.order, self.permute], 1, 3)
        if self.chance(0.5):
            self.line("cudaDeviceSynchronize();")
        self.line("return sink;")
        helpers = "".join(HELPERS[name] + "\n" for name in HELPERS if name in self.used)
        body = "\n".join(self.lines)
        return f"{SETUP}{helpers}int main(int argc, char **argv) {{\n{body}\n}}\n"


@st.composite
def texts(draw: st.DrawFn) -> str:
    return Writer(lambda low, high: draw(st.integers(low, high))).text()
