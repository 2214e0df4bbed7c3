"""Ways of Python to reach memory: whichever a program takes, that it touches the memory is seen.

As in `test_ways_to_memory`, each table has one way a line, `set up | use`, and `\n` in a line is the end of a line of the
program. A way that lowering does not understand may be refused, never passed over: each of these stands for a rewrite
that would change what a program computes.
"""

from __future__ import annotations

import re

import pytest

from cudafix.pipeline.driver import analyze
from cudafix.project.config import Config
from tests.soundness.test_ways_to_memory import cases, inserted, moves

HEAD = """\
import asyncio, collections, concurrent.futures, contextlib, contextvars, copy, ctypes, dataclasses, functools, hashlib
import io, itertools, json, logging, math, operator, pickle, queue, random, socket, statistics, struct, sys, threading
import time, types, typing, warnings, weakref, zlib
import numpy as np
import scipy
import unseen
from cuda.bindings import driver, runtime as cudart

BACK = cudart.cudaMemcpyKind.cudaMemcpyDeviceToHost
UP = cudart.cudaMemcpyKind.cudaMemcpyHostToDevice
def check(result):
    if result[0].value:
        raise RuntimeError(str(result[0]))
    return None if len(result) == 1 else result[1] if len(result) == 2 else result[1:]
"""
THINGS = """
Pair = collections.namedtuple("Pair", "first second")
class Typed(typing.NamedTuple):
    first: object
    second: int
@dataclasses.dataclass
class Data:
    p: object
    n: int = 0
    def total(self): return self.p.sum()
class Two(ctypes.Structure):
    _fields_ = [("a", ctypes.c_int), ("b", ctypes.c_int)]
def deco(f):
    def inner(*args, **kwargs):
        return f(*args, **kwargs)
    return inner
class Box:
    shared = None
    def __init__(self, p):
        self.p = p
    def get(self): return self.p[0]
    @property
    def value(self): return self.p[0]
    @value.setter
    def value(self, x): self.p[0] = x
    @functools.cached_property
    def cached(self): return self.p[0]
    @deco
    def deco(self): return self.p[0]
    @staticmethod
    def static(p): return p[0]
    @classmethod
    def cls(cls, p): return p[0]
    def gen(self): yield self.p[0]
    def addr(self): return self.p
    @property
    def ptr(self): return self.p
    @ptr.setter
    def ptr(self, x): self.p = x
    @functools.cached_property
    def cached_addr(self): return self.p
    @staticmethod
    def static_addr(p): return p
    @classmethod
    def store(cls, p): cls.shared = p
    def set_addr(self, p): self.p = p
    def put(self): self.p[0] = 1
    def look_shared(self): return self.shared[0]
    def __call__(self): return self.p[0]
    def __enter__(self): return self.p[0]
    def __exit__(self, *args): self.p[0] = 0
class Sub(Box):
    def __init__(self, p):
        super().__init__(p)
    def more_addr(self): return super().addr()
    def more(self): return super().get()
KEEP = None
KEPT = []
TABLE = {}
def look(p): return p[0]
def same(p): return p
def both(p, n): return p, n
def apply(f): return f()
def gen(p):
    for x in p: yield x
class Slots:
    __slots__ = ("p",)
    def __init__(self, p): self.p = p
def pack(d, n=0): return (d, n), (ctypes.c_void_p, ctypes.c_int)
def run(f, d, s): check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, ((d,), (ctypes.c_void_p,)), 0))
def get_keep(): return KEEP
def get_table(): return TABLE["d"]
class Runner:
    def __init__(self, f, d, s):
        self.f, self.d, self.s = f, d, s
    def go(self): run(self.f, self.d, self.s)
    def go_kw(self, *, s): run(self.f, self.d, s)
    @property
    def launched(self): run(self.f, self.d, self.s)
    def __enter__(self): return self
    def __exit__(self, *a): self.go()
    def __call__(self): self.go()
class Runner2:
    def __init__(self, f, d, s):
        self.f, self.d, self.s = f, d, s
    def go(self): run(self.f, self.d, self.s)
    def go_kw(self, *, s): run(self.f, self.d, s)
    @property
    def launched(self): run(self.f, self.d, self.s)
class Maker(Runner2):
    @classmethod
    def make(cls, f, d, s): return cls(f, d, s)
def put(p): p[0] = 1
def pick(stream=None): return stream if stream is not None else 0
def stream_of(n, s):
    if n > 3:
        return s
    return 0
def run2(f, d, stream=0): run(f, d, stream)
def run3(f, d, **kw): run(f, d, kw["stream"])
"""


def definitions(text: str) -> str:
    """Those of `THINGS` that a text names, and what they name."""
    every = [
        part for part in re.split(r"\n(?=class |def |@(?=.*\n(?:class|def))|[A-Z]+ = |Pair)", THINGS) if part.strip()
    ]
    whole: list[str] = []
    for part in every:
        if whole and whole[-1].splitlines()[-1].startswith("@"):
            whole[-1] += "\n" + part
        else:
            whole.append(part)
    names = set(re.findall(r"\w+", text))
    found: list[str] = []
    for part in reversed(whole):
        match = re.search(r"^(?:class |def )?([A-Za-z]\w*)", re.sub(r"^\s*(@.*\n)+", "", part.strip("\n")))
        assert match is not None
        if match.group(1) in names:
            found.insert(0, part.strip("\n"))
            names |= set(re.findall(r"\w+", part))
    return "\n".join(found) + "\n"


def is_in_order(
    program: str, case: str, words: tuple[str, ...], more: str = "", others: dict[str, str] | None = None
) -> bool:
    """Whether the pair of `d` stays, or what orders it is written with it. `more` stands in front of the program, and
    `others` are other files.
    """
    setup, _, use = case.partition(" | ")
    parts = [part.replace("\\n", "\n") for part in (setup or "pass", use)]
    body = program.replace("SETUP", parts[0]).replace("USE", parts[1])
    source = HEAD + definitions(body + more) + more + body
    files = {"main.py": source, **(others or {})}
    report = analyze({path: text.encode() for path, text in files.items()}, Config())
    assert not report.problems
    return not moves(report, source, "check(cudart.cudaFree(d))") or any(word in inserted(report) for word in words)


# ---------------------------------------------------------------------------------------------------------------------
# the host reads what a copy brings back, behind a free that was the wait

READS = r"""
 | ok = h[0] == 1
 | ok = h.tolist()
 | ok = list(h)
 | ok = tuple(h)
 | ok = set(h)
 | ok = [x for x in h]
 | ok = {x: 1 for x in h}
 | ok = {x for x in h}
 | ok = [h[i] for i in range(n)]
 | ok = 1 in h
 | a, b, *c = h
 | [a, *b] = h
 | print("%d" % h[0])
 | print(f"{h.sum()}")
 | ok = bytearray(h)
 | ok = -h[0]
 | ok = ~h
 | ok = -h
 | ok = n if h[0] else 0
 | while not h[0]: pass
 | assert n, h[0]
 | exit(h[0])
 | for x in h: ok = x
 | for i, x in enumerate(h): ok = x
 | for x in h.flat: ok = x
 | for x, y in zip(h, h): ok = x
 | for x in reversed(h): ok = x
 | for x in iter(h): ok = x
 | if (x := h[0]) > 1: ok = x
 | ok = np.sum(a=h)
 | ok = h.item(0)
 | ok = h.flatten()
 | ok = h[[0, 1]]
 | ok = h.base[0]
 | pickle.dumps(h)
 | ok = functools.reduce(lambda a, b: a + b, h)
 | ok = h.__len__() and h.__iter__().__next__()
 | ok = statistics.mean(h)
 | ok = collections.deque(h)
 | ok = ctypes.string_at(raw, 4)
 | ok = ctypes.string_at(raw)
 | ok = (ctypes.c_int * n).from_address(raw)[0]
 | ok = list((ctypes.c_int * n).from_address(raw))
 | ok = ctypes.memmove(ctypes.create_string_buffer(4), raw, 4)
 | buf = ctypes.create_string_buffer(4); ctypes.memmove(buf, raw, 4)
 | buf = (ctypes.c_int * n)(); ctypes.memmove(buf, raw, 4)
 | out = np.empty(n); ctypes.memmove(out.ctypes.data, raw, 4)
 | out = np.empty(n); out[:] = h
 | out = []; out.extend(h)
 | out = []; out += list(h)
 | out = {}; out["a"] = h[0]
 | ok = {"a": h[0]}
 | ok = [*h]
 | ok = {*h}
 | ok = (*h, 1)
 | look(h)
 | ok = (lambda p=h: p[0])()
q = h[1:] | ok = q[0]
q = np.frombuffer(h, dtype=np.uint8) | ok = q[0]
q, r = np.split(h, 2) | ok = q[0]
q = h.data | ok = q[0]
q = {"h": h} | ok = q.get("h")[0]
q = {"h": h} | ok = list(q.values())[0].sum()
q = [h] | a, = q; ok = a[0]
q = [h, h] | ok = np.concatenate(q)
q = [h, h] | ok = np.stack(q).sum()
q = {}; q.setdefault("h", h) | ok = q["h"][0]
q = collections.deque([h]) | ok = q.popleft()[0]
q = Typed(h, n) | ok = q.first[0]
q = Data(h) | print(q)
q = Box(h) | with q: pass
q = Box(h) | f = q.get; ok = f()
q = Box(h) | ok = q.cls(h)
q = [Box(h)] | for b in q: ok = b.get()
q = Box(h) if n > 2 else None | ok = q.get()
Box.shared = h | ok = Box.shared[0]
KEPT.append(h) | for k in KEPT: ok = k.sum()
f = lambda p=h: p[0] | ok = f()
f = [look] | ok = f[0](h)
g = (x for x in h) | ok = list(g)
g = (x for x in h) | ok = next(g)
g = (x for x in h) | for x in g: ok = x
g = (x for x in h) | ok = sum(g)
g = (h[i] for i in range(n)) | ok = sum(g)
g = map(int, h) | ok = list(g)
g = map(int, h) | for x in g: ok = x
g = filter(None, h) | ok = list(g)
g = zip(h, h) | ok = list(g)
g = zip(h, h) | for a, b in g: ok = a
g = enumerate(h) | ok = list(g)
g = enumerate(h) | for i, x in g: ok = x
g = gen(h) | ok = list(g)
g = itertools.chain(h) | ok = list(g)
g = iter(h) | for x in g: ok = x
g = np.nditer(h) | for x in g: ok = x
g = (look(p) for p in [h]) | ok = list(g)
def f(p=h): return p[0] | ok = f()
def f(**k): return k["p"][0] | ok = f(p=h)
def f(): yield from h | ok = list(f())
@deco\n    def f(): return h[0] | ok = f()
class L:\n        p = h\n        def get(self): return self.p[0] | ok = L().get()
q = None\n    def f():\n        nonlocal q\n        q = h\n    f() | ok = q[0]
q = (ctypes.c_int * n).from_address(raw) | ok = list(q)
q = ctypes.cast(raw, ctypes.POINTER(Two)) | ok = q.contents.a
q = ctypes.cast(raw, ctypes.POINTER(Two)) | ok = q[0].a
q = Two.from_address(raw) | ok = q.a
q = Two.from_address(raw) | ok = q.b + 1
q = ctypes.c_void_p(raw) | ok = ctypes.cast(q, ctypes.POINTER(ctypes.c_int))[0]
q = ctypes.c_void_p(int(raw)).value | ok = ctypes.string_at(q, 4)
q = raw + 4 | ok = ctypes.string_at(q, 4)
q: object = h | ok = q[0]
q, _ = both(h, n) | ok = q[0]
q = [[h]] | ok = q[0][0].sum()
q = np.empty(1, object); q[0] = h | ok = q[0][0]
q = np.array([h, h], dtype=object) | ok = q[0][0]
q = weakref.ref(h) | ok = q()[0]
 | ok = list(concurrent.futures.ThreadPoolExecutor().map(look, [h]))
 | ok = h[0] is None
 | ok = h[0:1][0].item() + 1
 | ok = isinstance(h[0], int)
 | ok = np.max(h) - np.min(h)
 | ok = abs(h)
 | ok = int(h)
 | out = np.empty(n); out[h] = 1
 | out = np.empty(n); ok = out[h]
 | out = np.empty(n); ok = out[0, h]
 | ok = dataclasses.astuple(Data(h))
 | ok = dataclasses.asdict(Data(h))
q = Data(h) | ok = dataclasses.astuple(q)[0][0]
q = [h] | ok = copy.deepcopy(q)
q = Box(h) | ok = copy.deepcopy(q)
q = {"a": h} | ok = json.dumps(q)
q = {"a": h} | ok = str(q)
q = {"a": [h]} | ok = f"{q}"
q = {"a": [h]} | ok = "%s" % q
q = {"a": [h]} | ok = "{}".format(q)
q = [[h]] | print(q)
q = [h] | logging.info("%s", q)
q = ctypes.c_int.from_address(raw) | if q.value: ok = 1
q = {1: h} | (k, v), = q.items(); ok = v[0]
q = [h] | ok = max(q, key=id)[0]
q = [h] | ok = next(iter(q))[0]
q = [h] | ok = random.choice(q)[0]
q = [h] | ok = list(itertools.chain.from_iterable([q]))[0][0]
q = [h] | ok = functools.reduce(lambda a, b: b, q, None)[0]
globals()["KEEP"] = h | ok = get_keep()[0]
globals()["KEPT2"] = h | ok = globals()["KEPT2"][0]
globals().update(KEPT2=h) | ok = globals()["KEPT2"][0]
q = {"h": h} | locals().update(q); ok = locals()["h"][0]
sys.modules[__name__].KEEP = h | ok = get_keep()[0]
sys.modules.get(__name__).KEEP = h | ok = get_keep()[0]
import __main__; __main__.KEEP = h | ok = get_keep()[0]
look.__globals__["KEEP"] = h | ok = get_keep()[0]
look.__defaults__ = (h,) | ok = look()
look.p = h | ok = look.p[0]
main.h = h | ok = main.h[0]
q = Box(None); object.__setattr__(q, "p", h) | ok = q.p[0]
q = type("T", (), {"h": h}) | ok = q.h[0]
Box.__len__ = lambda self: self.p[0]; q = Box(h) | ok = len(q)
h = np.empty(20, np.int32); check(cudart.cudaHostRegister(h.ctypes.data, 80, 0)); raw = h.ctypes.data | ok = h[0]
 | for x in sorted(range(n), key=lambda i: h[i]): ok = x
q = Data(h) | ok = q == Data(h)
q = (h, 1) | ok = q == (1, 1)
q = [h] | assert q == [1]
q = [h] | ok = 1 in q
q = [h] | ok = q.index(1)
q = {"a": h} | ok = q == {"a": 1}
q = [h] | ok = operator.eq(q, [1])
q = [h] | ok = sum(q)
q = [h] | ok = max(q)
q = [h, h] | ok = sorted(q)
q = [h] | ok = any(q)
q = [h] | ok = statistics.mean(q)
q = [h] | ok = b"".join(q)
q = [[h]] | ok = np.array(q)
g = globals(); g["KEEP"] = h | ok = get_keep()[0]
g = globals; g()["KEEP"] = h | ok = get_keep()[0]
def f():\n        return globals()\n    f()["KEEP"] = h | ok = get_keep()[0]
[globals][0]()["KEEP"] = h | ok = get_keep()[0]
getattr(__builtins__, "globals")()["KEEP"] = h | ok = get_keep()[0]
import builtins; builtins.globals()["KEEP"] = h | ok = get_keep()[0]
vars(sys.modules[__name__])["KEEP"] = h | ok = get_keep()[0]
m = sys.modules; m[__name__].KEEP = h | ok = get_keep()[0]
import importlib; importlib.import_module(__name__).KEEP = h | ok = get_keep()[0]
__import__(__name__).KEEP = h | ok = get_keep()[0]
setattr(sys.modules[__name__], "KEEP", h) | ok = get_keep()[0]
sys.modules["__main__"].__dict__["KEEP"] = h | ok = get_keep()[0]
import __main__ as m; m.KEEP = h | ok = get_keep()[0]
import __main__ as m; setattr(m, "KEEP", h) | ok = get_keep()[0]
import inspect; inspect.currentframe().f_globals["KEEP"] = h | ok = get_keep()[0]
sys._getframe().f_globals["KEEP"] = h | ok = get_keep()[0]
| import gc; ok = [o for o in gc.get_objects() if isinstance(o, np.ndarray)][0][0]
| import traceback; traceback.print_stack()
h = np.zeros(20, np.int32); check(cudart.cudaHostRegister(h.ctypes.data, 80, 0)); raw = h.ctypes.data | ok = h[0]
h = np.zeros(20, np.int32); check(cudart.cudaHostRegister(h, 80, 0)); raw = h | ok = h[0]
h = np.zeros(20, np.int32); check(driver.cuMemHostRegister(h.ctypes.data, 80, 0)); raw = h.ctypes.data | ok = h.sum()
h = np.zeros(20, np.int32); raw = h.ctypes.data; check(cudart.cudaHostRegister(raw, 80, 0)); q = h.view() | ok = q[0]
buf = bytearray(80); h = np.frombuffer(buf, np.int32); raw = h.ctypes.data; check(cudart.cudaHostRegister(raw, 80, 0)) | ok = buf[0]
buf = (ctypes.c_int * 20)(); raw = ctypes.addressof(buf); check(cudart.cudaHostRegister(raw, 80, 0)) | ok = buf[0]
buf = ctypes.create_string_buffer(80); raw = ctypes.addressof(buf); check(cudart.cudaHostRegister(raw, 80, 0)) | ok = buf.raw
import mmap; buf = mmap.mmap(-1, 80); h = np.frombuffer(buf, np.int32); raw = h.ctypes.data; check(cudart.cudaHostRegister(raw, 80, 0)) | ok = buf[0]
h = np.zeros(20, np.int32); raw = h.__array_interface__["data"][0]; check(cudart.cudaHostRegister(raw, 80, 0)) | ok = h[0]
h = np.zeros(20, np.int32); raw, _ = h.__array_interface__["data"]; check(cudart.cudaHostRegister(raw, 80, 0)) | ok = h[0]
h = np.zeros(20, np.int32); raw = h.ctypes.data_as(ctypes.c_void_p).value; check(cudart.cudaHostRegister(raw, 80, 0)) | ok = h[0]
h = np.zeros(20, np.int32); raw = ctypes.cast(h.ctypes, ctypes.c_void_p).value; check(cudart.cudaHostRegister(raw, 80, 0)) | ok = h[0]
hs = [np.zeros(20, np.int32)]; raw = hs[0].ctypes.data; check(cudart.cudaHostRegister(raw, 80, 0)) | ok = hs[0][0]
q = Box(np.zeros(20, np.int32)); raw = q.p.ctypes.data; check(cudart.cudaHostRegister(raw, 80, 0)) | ok = q.get()
q = [h] | for a in zip(*q): ok = a
"""
READER = """
def main(n):
    stream = check(cudart.cudaStreamCreateWithFlags(cudart.cudaStreamNonBlocking))
    raw = check(cudart.cudaMallocHost(80))
    h = np.ctypeslib.as_array(ctypes.cast(raw, ctypes.POINTER(ctypes.c_int)), (20,))
    SETUP
    d = check(cudart.cudaMalloc(80))
    check(cudart.cudaMemcpyAsync(raw, d, 80, BACK, stream))
    check(cudart.cudaFree(d))
    USE
    check(cudart.cudaStreamSynchronize(stream))
main(20)
"""


@pytest.mark.parametrize("case", cases(READS))
def test_what_the_host_reads_behind_the_free_is_waited_for(case: str) -> None:
    assert is_in_order(READER, case, ("Synchronize",))


# ---------------------------------------------------------------------------------------------------------------------
# the host writes what a copy reads, behind a free that was the wait

WRITES = r"""
 | h[0] = 2
 | h[...] = 0
 | h[0] += 1
 | h -= 1
 | h[0], h[1] = h[1], h[0]
 | for h[0] in range(3): pass
 | for i in range(n): h[i] = i
 | if n: h[0] = 1
 | with contextlib.suppress(Exception): h[0] = 1
 | h.sort()
 | h.partition(3)
 | h.setfield(1, np.int32)
 | h.clip(0, 1, out=h)
 | h.round(out=h)
 | h.flat[0] = 1
 | h.flat = 1
 | h.real = 1
 | h.T[0] = 1
 | h.reshape(2, -1)[0] += 1
 | h[1:].fill(1)
 | np.copyto(h, 1)
 | np.add(h, 1, h)
 | np.add(1, 1, out=(h,))
 | np.place(h, h > 0, [1])
 | np.random.shuffle(h)
 | np.random.default_rng().standard_normal(20, out=h)
 | np.matmul(h, h, out=h)
 | np.stack([np.arange(n)], out=h)
 | np.frombuffer(h, dtype=np.uint8)[0] = 1
 | np.ndarray.fill(h, 0)
 | memoryview(h)[0] = 1
 | ctypes.memset(raw, 0, 4)
 | ctypes.memset(h.ctypes.data, 0, 4)
 | ctypes.memmove(ctypes.c_void_p(raw), b"1234", 4)
 | ctypes.c_int.from_address(raw).value = 1
 | Two.from_address(raw).a = 1
 | ctypes.c_int.from_buffer(h).value = 1
 | open("x", "rb").readinto((ctypes.c_byte * 80).from_address(raw))
 | sys.stdin.buffer.readinto(h)
 | np.load("x", out=h)
 | operator.iadd(h, 1)
 | put(h)
 | put(**{"p": h})
 | apply(lambda: put(h))
 | [put(h) for _ in range(2)]
 | list(map(put, [h]))
 | for p in [h]: p += 1
 | for p in h.reshape(2, -1): p += 1
 | for x in np.nditer(h, op_flags=["readwrite"]): x[...] = 1
 | np.split(h, 2)[0][0] = 1
 | x = put(h) or 1
q = h | q[0] = 1
q = h.reshape(2, -1) | q[0, 0] = 1
q = np.frombuffer(h, dtype=np.uint8) | q[0] = 1
q = [h] | q[0][0] = 1
q = {"h": h} | q["h"][0] = 1
q = {"h": h} | for v in q.values(): v[0] = 1
q = []; q.append(h) | q[0][0] = 1
q = Typed(h, n) | q.first[:] = 1
q = Box(h) | q.p[0] = 1
q = Box(h) | q.put()
q = Box(h) | getattr(q, "put")()
q = Box(h) | with q: pass
q = [Box(h)] | for b in q: b.put()
Box.shared = h | Box.shared[0] = 1
global KEEP; KEEP = h | get_keep()[0] = 1
TABLE["d"] = h | get_table()[0] = 1
f = functools.partial(put, h) | f()
f = [put] | f[0](h)
def f(*a): a[0][0] = 1 | f(h)
def f():\n        nonlocal n\n        n = 1\n        h[:] = 1 | f()
q = ctypes.cast(raw, ctypes.POINTER(ctypes.c_int)) | q[0] = 1
q = ctypes.cast(raw, ctypes.POINTER(Two)) | q.contents.a = 1
q = ctypes.cast(raw, ctypes.POINTER(Two)) | q[0].a = 1
q = Two.from_address(raw) | q.a = 1
q = Two.from_address(raw) | q.a += 1
q = np.frombuffer((ctypes.c_byte * 80).from_address(raw), dtype=np.int32) | q[0] = 1
q = raw + 4 | ctypes.memset(q, 0, 4)
q = h.ctypes.data | ctypes.memset(q, 0, 4)
q, _ = both(h, n) | q[0] = 1
(q := h) | q[0] = 1
"""
WRITER = """
def main(n):
    stream = check(cudart.cudaStreamCreateWithFlags(cudart.cudaStreamNonBlocking))
    raw = check(cudart.cudaMallocHost(80))
    h = np.ctypeslib.as_array(ctypes.cast(raw, ctypes.POINTER(ctypes.c_int)), (20,))
    e = check(cudart.cudaMalloc(80))
    SETUP
    d = check(cudart.cudaMalloc(80))
    check(cudart.cudaMemcpyAsync(e, raw, 80, UP, stream))
    check(cudart.cudaFree(d))
    USE
    check(cudart.cudaStreamSynchronize(stream))
main(20)
"""


@pytest.mark.parametrize("case", cases(WRITES))
def test_what_the_host_writes_behind_the_free_is_waited_for(case: str) -> None:
    assert is_in_order(WRITER, case, ("Synchronize",))


# ---------------------------------------------------------------------------------------------------------------------
# work on another stream, which gets the buffer and the stream by some way, and then the free

USES = r"""
 | check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, ((d,), (ctypes.c_void_p,)), 0))
 | check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, ([d], [ctypes.c_void_p]), 0))
 | check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, np.array([int(d)], dtype=np.uint64), 0))
 | check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, ((d + 4,), (ctypes.c_void_p,)), 0))
 | check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, ((*[d],), (ctypes.c_void_p,)), 0))
 | check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, pack(*[d]), 0))
q = d + 4 | check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, ((q,), (ctypes.c_void_p,)), 0))
q = [d] | check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, ((q[0],), (ctypes.c_void_p,)), 0))
q = {'d': d} | check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, ((q['d'],), (ctypes.c_void_p,)), 0))
q = dict(d=d) | check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, ((q['d'],), (ctypes.c_void_p,)), 0))
q = {}; q.update(d=d) | check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, ((q['d'],), (ctypes.c_void_p,)), 0))
q = {}; q |= {'d': d} | check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, ((q['d'],), (ctypes.c_void_p,)), 0))
q = {} | check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, ((q.setdefault('d', d),), (ctypes.c_void_p,)), 0))
q = []; q.extend([d]) | check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, ((q[0],), (ctypes.c_void_p,)), 0))
q = [None]; q[0] = d | check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, ((q[0],), (ctypes.c_void_p,)), 0))
q = [d] + [] | check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, ((q[0],), (ctypes.c_void_p,)), 0))
q = [[d]] | check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, ((q[0][0],), (ctypes.c_void_p,)), 0))
q = sorted([d]) | check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, ((q[0],), (ctypes.c_void_p,)), 0))
q = collections.deque([d]) | check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, ((q.popleft(),), (ctypes.c_void_p,)), 0))
q = types.SimpleNamespace(d=d) | check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, ((q.d,), (ctypes.c_void_p,)), 0))
q = Pair(first=d, second=n) | check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, ((q.first,), (ctypes.c_void_p,)), 0))
q = Typed(d, n) | check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, ((q[0],), (ctypes.c_void_p,)), 0))
q = dataclasses.replace(Data(d)) | check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, ((q.p,), (ctypes.c_void_p,)), 0))
q = Box(d) | check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, ((q.addr(),), (ctypes.c_void_p,)), 0))
q = Box(d) | check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, ((getattr(q, 'p' + ''),), (ctypes.c_void_p,)), 0))
q = Box(d) | check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, ((q.static_addr(d),), (ctypes.c_void_p,)), 0))
q = Box(d) | check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, ((operator.attrgetter('p')(q),), (ctypes.c_void_p,)), 0))
q = [Box(d)] | check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, ((q[0].ptr,), (ctypes.c_void_p,)), 0))
q = Sub(d) | check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, ((q.addr(),), (ctypes.c_void_p,)), 0))
q = Box(None); q.p = d | check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, ((q.p,), (ctypes.c_void_p,)), 0))
q = Box(None); vars(q)['p'] = d | check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, ((q.p,), (ctypes.c_void_p,)), 0))
q = Box(Box(d)) | check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, ((q.p.p,), (ctypes.c_void_p,)), 0))
Box.store(d) | check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, ((Box.shared,), (ctypes.c_void_p,)), 0))
global KEEP; KEEP = d | check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, ((KEEP,), (ctypes.c_void_p,)), 0))
KEPT.append(d) | check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, ((KEPT[0],), (ctypes.c_void_p,)), 0))
TABLE['d'] = d | check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, ((TABLE['d'],), (ctypes.c_void_p,)), 0))
q = lambda p=d: p | check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, ((q(),), (ctypes.c_void_p,)), 0))
q = same | check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, ((q(d),), (ctypes.c_void_p,)), 0))
def q(): return d | check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, ((q(),), (ctypes.c_void_p,)), 0))
def q(p=d): return p | check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, ((q(),), (ctypes.c_void_p,)), 0))
def q(*, p): return p | check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, ((q(p=d),), (ctypes.c_void_p,)), 0))
def q():\n        def r(): return d\n        return r | check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, ((q()(),), (ctypes.c_void_p,)), 0))
q = None\n    def r():\n        nonlocal q\n        q = d\n    r() | check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, ((q,), (ctypes.c_void_p,)), 0))
class L:\n        p = d | check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, ((L.p,), (ctypes.c_void_p,)), 0))
class L:\n        def get(self): return d | check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, ((L().get(),), (ctypes.c_void_p,)), 0))
q = list(map(int, [d])) | check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, ((q[0],), (ctypes.c_void_p,)), 0))
q = dict(zip(['d'], [d])) | check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, ((q['d'],), (ctypes.c_void_p,)), 0))
q = {x for x in [d]} | check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, ((q.pop(),), (ctypes.c_void_p,)), 0))
q = {d: n} | check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, ((next(iter(q.keys())),), (ctypes.c_void_p,)), 0))
*q, r = d, n | check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, ((q[0],), (ctypes.c_void_p,)), 0))
q: int = d | check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, ((q,), (ctypes.c_void_p,)), 0))
q = None or d | check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, ((q,), (ctypes.c_void_p,)), 0))
q = same(d) | check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, ((q,), (ctypes.c_void_p,)), 0))
q = both(d, n)[0] | check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, ((q,), (ctypes.c_void_p,)), 0))
q = ctypes.c_void_p(int(d)) | check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, ((q.value,), (ctypes.c_void_p,)), 0))
q = ctypes.c_uint64(int(d)) | check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, ((q.value,), (ctypes.c_void_p,)), 0))
q = np.uint64(int(d)) | check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, ((q,), (ctypes.c_void_p,)), 0))
q = np.zeros(2, np.uint64); q[0] = int(d) | check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, ((q[0],), (ctypes.c_void_p,)), 0))
q = (ctypes.c_void_p * 2)(); q[0] = int(d) | check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, ((q[0],), (ctypes.c_void_p,)), 0))
q = Two(); q.a = int(d) | check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, ((q.a,), (ctypes.c_void_p,)), 0))
q = f'{int(d)}' | check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, ((int(q),), (ctypes.c_void_p,)), 0))
q = json.dumps([int(d)]) | check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, ((json.loads(q)[0],), (ctypes.c_void_p,)), 0))
q = driver.CUdeviceptr(int(d)) | check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, ((int(q),), (ctypes.c_void_p,)), 0))
q = int(d) ^ 1 | check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, ((q ^ 1,), (ctypes.c_void_p,)), 0))
q = iter([d]) | check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, ((next(q),), (ctypes.c_void_p,)), 0))
q = list(itertools.product([d], [n])) | check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, ((q[0][0],), (ctypes.c_void_p,)), 0))
q = sum([d, n]) | check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, ((q,), (ctypes.c_void_p,)), 0))
q = operator.add(d, n) | check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, ((q,), (ctypes.c_void_p,)), 0))
for q in [d]: pass | check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, ((q,), (ctypes.c_void_p,)), 0))
for q, _ in zip([d], [n]): pass | check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, ((q,), (ctypes.c_void_p,)), 0))
match [d]:\n        case [q]: pass | check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, ((q,), (ctypes.c_void_p,)), 0))
import unseen as q; q.d = d | check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, ((q.d,), (ctypes.c_void_p,)), 0))
main.d = d | check(driver.cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, ((main.d,), (ctypes.c_void_p,)), 0))
 | check(driver.cuMemsetD8Async(d, 0, 80, s))
 | check(cudart.cudaMemset2DAsync(d, 4, 0, 4, 1, s))
 | h = np.empty(20); check(driver.cuMemcpyHtoDAsync(d, h.ctypes.data, 80, s))
 | run(f, *(d, s))
 | functools.partial(run, f, d, s)()
 | for p in [d]: run(f, p, s)
 | any(run(f, p, s) for p in [d])
 | if n: run(f, d, s)
 | try: raise ValueError\n    except ValueError: run(f, d, s)
 | while n:\n        run(f, d, s)\n        n -= 1
 | Runner(f, d, s).go_kw(s=s)
 | Runner(f, d, s).launched
 | rs = [Runner(f, d, s)]; rs[0].go()
 | getattr(Runner(f, d, s), 'go')()
 | Maker.make(f, d, s).go()
 | asyncio.run(arun(f, d, s))
 | assert run(f, d, s) is None
 | x = f'{run(f, d, s)}'
"""
STREAMS = r"""
 | run(f, d, s)
 | run(f, d, s if n else 0)
 | run(f, d, None or s)
 | run(f, d, (s, 0)[0])
 | run(f, d, {True: s}[True])
 | run(f, d, pick(s))
 | run(f, d, driver.CUstream(int(s)))
 | run(f, d, cudart.cudaStream_t(int(s)))
 | run(f, d, same(s))
 | run(f, d, stream_of(n, s))
 | run2(f, d, stream=s)
 | run3(f, d, **{"stream": s})
def g(p, t=s): run(f, p, t) | g(d)
g = lambda p, t=s: run(f, p, t) | g(d)
q = s | run(f, d, q)
q = [s] | run(f, d, q[0])
q = [0, s] | run(f, d, q[n % 2])
q = [0, s] | for t in q: run(f, d, t)
q = [0, s] | for i, t in enumerate(q): run(f, d, t)
q = [0]; q.append(s) | run(f, d, q[1])
q = [0]; q.insert(0, s) | run(f, d, q[0])
q = [0]; q[:] = [s] | run(f, d, q[0])
q = [0, s] | run(f, d, q.pop())
q = itertools.cycle([0, s]) | run(f, d, next(q))
q = collections.deque([0, s]); q.rotate() | run(f, d, q[0])
q = {"a": 0}; q["a"] = s | run(f, d, q["a"])
q = {"a": 0}; q.update({"a": s}) | run(f, d, q["a"])
q = {"a": 0, **{"a": s}} | run(f, d, q["a"])
q = {}; q.setdefault("a", s) | run(f, d, q["a"])
q = Pair(s, n) | run(f, d, q.first)
q = Data(s) | run(f, d, q.p)
q = Typed(s, n) | run(f, d, q.first)
q = Box(s) | run(f, d, q.ptr)
q = Box(0); q.p = s | run(f, d, q.p)
q = Box(0); q.ptr = s | run(f, d, q.p)
q = Slots(0); q.p = s | run(f, d, q.p)
q = types.SimpleNamespace(s=s) | run(f, d, q.s)
class L:\n        t = s | run(f, d, L.t)
Box.shared = s | run(f, d, Box.shared)
global KEEP; KEEP = s | run(f, d, KEEP)
global KEEP; KEEP = s | run(f, d, get_keep())
KEPT.append(s) | run(f, d, KEPT[0])
TABLE["d"] = s | run(f, d, get_table())
q = 0\n    if n: q = s | run(f, d, q)
q = 0\n    for _ in range(2): q = s | run(f, d, q)
q, r = s, 0 | run(f, d, q)
(q := s) | run(f, d, q)
q = np.array([int(s)]) | run(f, d, int(q[0]))
q = ctypes.c_void_p(int(s)) | run(f, d, q.value)
q = str(int(s)) | run(f, d, int(q))
q = unseen.stream() | run(f, d, q)
q = check(cudart.cudaStreamCreateWithPriority(1, 0)) | run(f, d, q)
q = check(driver.cuStreamCreate(1)) | run(f, d, q)
q = check(driver.cuStreamCreate(driver.CUstream_flags.CU_STREAM_NON_BLOCKING.value)) | run(f, d, q)
err, q = driver.cuStreamCreate(1) | run(f, d, q)
q = driver.cuStreamCreate(1) | run(f, d, q[1])
q = [check(cudart.cudaStreamCreateWithFlags(1)) for _ in range(2)] | run(f, d, q[0])
q = [check(cudart.cudaStreamCreateWithFlags(1)) for _ in range(2)] | for i in range(2): run(f, d, q[i])
 | run(f, d, cudart.cudaStreamPerThread)
 | run(f, d, driver.CU_STREAM_PER_THREAD)
"""
USER = """
def main(n):
    s = check(cudart.cudaStreamCreateWithFlags(cudart.cudaStreamNonBlocking))
    f = check(driver.cuModuleGetFunction(check(driver.cuModuleLoadData(b"")), b"k"))
    d = check(cudart.cudaMalloc(80))
    SETUP
    USE
    check(cudart.cudaFree(d))
    check(cudart.cudaStreamSynchronize(s))
main(20)
"""


@pytest.mark.parametrize("case", [*cases(USES), *cases(STREAMS)])
def test_a_free_behind_work_on_another_stream_is_in_order(case: str) -> None:
    assert is_in_order(USER, case, ("Synchronize", "WaitEvent", ", s", ", q"))


# ---------------------------------------------------------------------------------------------------------------------
# methods of a class of the program that no call names; each line has one method (`THEN` reads pinned memory or works on
# the device) and what asks an object of the class, or some that a list holds, for it

SPECIAL = r"""
__getitem__(self, i) | ok = q[0]
__getitem__(self, i) | ok = [q][0][0]
__getitem__(self, i) | q[0] += 1
__getitem__(self, i) | a, b = q
__getitem__(self, i) | for x in q: ok = x
__getitem__(self, i) | look(q)
__getitem__(self, i) | ok = operator.getitem(q, 1)
__setitem__(self, i, x) | q[0] = 1
__setitem__(self, i, x) | q[0], n = 1, 2
__setitem__(self, i, x) | for q[0] in range(3): pass
__setitem__(self, i, x) | with open("x") as q[0]: pass
__delitem__(self, i) | del q[0]
__len__(self) | ok = len(q)
__len__(self) | if q: ok = 1
__len__(self) | ok = not q
__len__(self) | ok = 1 if q else 0
__len__(self) | ok = q and 1
__len__(self) | while q: pass
__len__(self) | assert q
__len__(self) | for i in range(len(q)): ok = i
__len__(self) | ok = [x for x in [1] if q]
__len__(self) | ok = (lambda: len(q))()
__bool__(self) | if q: ok = 1
__bool__(self) | ok = any([q])
__iter__(self) | for x in q: ok = x
__iter__(self) | ok = [x for x in q]
__iter__(self) | ok = [*q]
__iter__(self) | ok = dict(enumerate(q))
__iter__(self) | ok = list(q)
__iter__(self) | print(*q)
__next__(self) | ok = next(q)
__reversed__(self) | for x in reversed(q): ok = x
__contains__(self, x) | ok = 1 in q
__add__(self, x) | ok = q + 1
__add__(self, x) | ok = sum([q, 1])
__add__(self, x) | ok = same(q) + 1
__add__(self, x) | ok = {"a": q}["a"] + 1
__add__(self, x) | ok = Box(q).p + 1
__add__(self, x) | ok = copy.copy(q) + 1
__add__(self, x) | ok = next(iter([q])) + 1
__add__(self, x) | ok = unseen.wrap(q) + 1
__add__(self, x) | for x in [q]: ok = x + 1
__add__(self, x) | ok = operator.add(q, 1)
__radd__(self, x) | ok = 1 + q
__radd__(self, x) | ok = np.empty(3) + q
__iadd__(self, x) | q += 1
__matmul__(self, x) | ok = q @ q
__mod__(self, x) | ok = q % 2
__neg__(self) | ok = -q
__abs__(self) | ok = abs(q)
__divmod__(self, x) | ok = divmod(q, 1)
__floor__(self) | ok = math.floor(q)
__eq__(self, x) | ok = q == 1
__eq__(self, x) | ok = q != 1
__eq__(self, x) | ok = [q] == [1]
__eq__(self, x) | ok = 1 in [q]
__eq__(self, x) | ok = [q].index(1)
__eq__(self, x) | match q:\n        case 1: ok = 1
__lt__(self, x) | ok = q < 1
__lt__(self, x) | ok = 1 > q
__lt__(self, x) | ok = sorted([q, q])
__lt__(self, x) | ok = min(q, q)
__str__(self) | print(q)
__str__(self) | ok = str(q)
__str__(self) | ok = "%s" % q
__str__(self) | ok = "{}".format(q)
__str__(self) | raise ValueError(q)
__str__(self) | logging.info("%s", q)
__repr__(self) | print([q])
__repr__(self) | ok = f"{q!r}"
__format__(self, spec) | ok = f"{q:>3}"
__int__(self) | ok = int(q)
__float__(self) | ok = float(q)
__float__(self) | out = np.empty(3); out[0] = q
__index__(self) | ok = [1, 2][q]
__index__(self) | for i in range(q): ok = i
__index__(self) | ok = struct.pack("i", q)
__hash__(self) | ok = hash(q)
__hash__(self) | ok = {q: 1}
__hash__(self) | ok = {q}
__hash__(self) | ok = TABLE[q]
__array__(self, dtype=None) | ok = np.asarray(q)
__array__(self, dtype=None) | ok = np.sum(q)
__bytes__(self) | ok = bytes(q)
__copy__(self) | ok = copy.copy(q)
__reduce__(self) | ok = pickle.dumps(q)
__fspath__(self) | open(q)
__call__(self) | ok = q()
__getattr__(self, name) | ok = q.other
__del__(self) | del q
__del__(self) | q = None
write(self, text) | json.dump({}, q)
write(self, text) | with contextlib.redirect_stdout(q): print(1)
read(self, n=0) | json.load(q)
close(self) | with contextlib.closing(q): pass
"""


@pytest.mark.parametrize("case", cases(SPECIAL))
@pytest.mark.parametrize("then", ["return self.p[0]", "check(cudart.cudaMemcpy(self.p, self.p, 4, UP)); return 1"])
def test_a_method_that_python_calls_by_itself_runs_where_it_is_asked_for(case: str, then: str) -> None:
    method, _, use = case.partition(" | ")
    cls = f"class R:\n    def __init__(self, p): self.p = p\n    def {method}: {then}\n"
    assert is_in_order(READER, f"q = R({'h' if 'self.p[0]' in then else 'raw'}) | {use}", WAITS, cls)


WAITS = ("Synchronize", "WaitEvent")

WHOLE = r"""
class R:@    p: object@    n: int = 0@    def __post_init__(self): self.n = self.p[0] | ok = R(h)
class R:@    p: object@    n: int = 0@    def __post_init__(self): self.n = self.p[0] | ok = R(p=h)
class D:@    def __get__(self, one, cls): return one.p[0]@class R(Box):@    go = D() | ok = R(h).go
class D:@    def __get__(self, one, cls): return one.p[0]@class R(Box):@    go = D() | ok = [R(h)][0].go
class D:@    def __set__(self, one, x): one.p[0] = x@class R(Box):@    go = D() | R(h).go = 1
class R(Box):@    def __len__(self): return self.p[0]@class S(R): pass | ok = len(S(h))
class R(Box):@    def __len__(self): return self.p[0]@class S(R): pass | ok = len([S(h)][0])
class R(Box):@    def __len__(self): return self.n@    @property@    def n(self): return self.p[0] | ok = len(R(h))
class M(type):@    def __call__(cls, p): return p[0]@class R(metaclass=M): pass | ok = R(h)
def other(cls):@    class W(cls):@        def __add__(self, x): return self.p[0]@    return W@@other@class R(Box): pass | ok = R(h) + 1
"""


@pytest.mark.parametrize("case", cases(WHOLE))
def test_a_class_runs_code_in_other_ways(case: str) -> None:
    cls, _, use = case.partition(" | ")
    head = "@dataclasses.dataclass\n" if "__post_init__" in cls else ""
    lines = re.sub(r"@(?=@)|@(?!other|property)", "\n", cls) + "\n"
    assert is_in_order(READER, f" | {use}", WAITS, head + lines)


# ---------------------------------------------------------------------------------------------------------------------
# a class of one file, of which another file has an object

R = """\
class R:
    def __init__(self, p): self.p = p
    def __getitem__(self, i): return self.p[0]
    def __str__(self): return str(self.p[0])
    @property
    def value(self): return self.p[0]
    @value.setter
    def value(self, x): self.p[0] = x
    def get(self, k=0): return self.p[0]
    def update(self, x=None): self.p[0] = x
"""
MAKE = R + "def make(p): return R(p)\n"
USERS = """\
def first(r): return r[0]
def get(r): return r.get()
def value(r): return r.value
def put(r): r.value = 1
def update(r): r.update(x=1)
def show(r): print(r)
"""


@pytest.mark.parametrize("name", ["first", "get", "value", "put", "update", "show"])
def test_an_object_of_another_file_has_its_methods(name: str) -> None:
    for setup in ("q = make(h)", "q = [R(h)][0]"):
        case = f"{setup} | {name}(q)"
        assert is_in_order(READER, case, WAITS, "from other import R, make\n" + USERS, {"other.py": MAKE})
    assert is_in_order(READER, f"q = R(h) | {name}(q)", WAITS, f"from other import {name}\n" + R, {"other.py": USERS})
