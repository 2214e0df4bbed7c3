r"""Ways of Python to run code where no call of it is written: definitions, loops, patterns, exceptions, callbacks.

As in `test_ways_to_memory_python`, each table has one way a line, and `\n` in a line is the end of a line of the
program. Where a line begins with definitions and `||`, these stand in front of the program.
"""

from __future__ import annotations

import pytest

from cudafix.findings import Safety
from cudafix.pipeline.driver import analyze
from cudafix.project.config import Config
from tests.soundness.test_ways_to_memory import cases, inserted
from tests.soundness.test_ways_to_memory_python import HEAD, READER, USER, WAITS, WRITER, definitions, is_in_order


def lines(program: str) -> str:
    """A program as statements of a module, without the function around them."""
    body = program.strip("\n").splitlines()[1:-1]
    return "\n".join(["n = 20", *(line.removeprefix("    ") for line in body)]) + "\n"


def check_case(program: str, case: str, words: tuple[str, ...] = WAITS) -> bool:
    before, separator, rest = case.rpartition(" || ")
    more = before.replace("\\n", "\n") + "\n" if separator else ""
    return is_in_order(program, f" {rest}" if rest.startswith("| ") else rest, words, more)


# ---------------------------------------------------------------------------------------------------------------------
# what runs between the rounds of a loop, around the whole pair; the use is the header that stands around

AROUND = r"""
 | for x in h:
 | for i, x in enumerate(h):
 | for x, y in zip(h, range(20)):
 | for x in reversed(h):
 | for x in iter(h):
 | for x in h.flat:
 | for x in map(int, h):
 | for x in filter(None, h):
 | for x in (y for y in h):
 | for x in np.nditer(h):
 | for x in memoryview(h):
 | for x in itertools.chain(h, h):
 | for x in itertools.takewhile(bool, h):
q = iter(h) | for x in q:
q = map(int, h) | for x in q:
q = zip(h, h) | for i, x in q:
q = (x for x in h) | for x in q:
q = [h, h] | for p in map(look, q):
q = Box(h) | while q.value:
q = Box(h) | while q.get():
q = Box(h) | for x in q.gen():
 | while h[0]:
 | while (x := h[0]):
 | with Box(h):
 | with open("x"), Box(h):
q = Box(h) | with q:
s = contextlib.ExitStack(); s.callback(look, h) | with s:
 | with contextlib.ExitStack() as s:\n        s.callback(lambda: h[0])
@contextlib.contextmanager\n    def around():\n        yield\n        look(h) | with around():
class It:\n    def __init__(self, p): self.p = p\n    def __iter__(self): return self\n    def __next__(self): return self.p[0] || | for x in It(h):
class It:\n    def __init__(self, p): self.p, self.n = p, 2\n    def __iter__(self): return self\n    def __next__(self):\n        self.n -= 1\n        if self.n: return 1\n        self.p[0] = 1\n        raise StopIteration || | for x in It(h):
"""
AROUND_IT = """
def main(n):
    stream = check(cudart.cudaStreamCreateWithFlags(cudart.cudaStreamNonBlocking))
    raw = check(cudart.cudaMallocHost(80))
    h = np.ctypeslib.as_array(ctypes.cast(raw, ctypes.POINTER(ctypes.c_int)), (20,))
    SETUP
    USE
        d = check(cudart.cudaMalloc(80))
        check(cudart.cudaMemcpyAsync(raw, d, 80, BACK, stream))
        check(cudart.cudaFree(d))
    check(cudart.cudaStreamSynchronize(stream))
main(20)
"""


@pytest.mark.parametrize("case", cases(AROUND))
def test_what_a_loop_or_context_reads_around_the_pair_is_waited_for(case: str) -> None:
    assert check_case(AROUND_IT, case)


# ---------------------------------------------------------------------------------------------------------------------
# what a definition runs, at the top of a file

DEFINITIONS = r"""
 | def f(x=h[0]): pass
 | def f(*, x=h[0]): pass
 | def f(x: look(h)): pass
 | def f() -> look(h): pass
 | f = lambda p=h[0]: p
 | x: look(h) = 1
 | x: look(h)
 | class L:\n    look(h)
 | class L:\n    x = look(h)
 | class L:\n    for i in range(2): look(h)
 | class L:\n    if h[0]: x = 1
 | class L:\n    with open("x") as f: look(h)
 | class L:\n    def f(self, x=h[0]): pass
 | class L:\n    class M:\n        look(h)
 | class L(look(h)): pass
 | class L(metaclass=look(h)): pass
 | class L(object, key=look(h)): pass
 | if n:\n    class L:\n        look(h)
 | if n:\n    def f(x=h[0]): pass
 | @unseen.now\ndef f(): look(h)
 | @unseen.now(h)\ndef f(): pass
def now(f): f(); return f || | @now\ndef f(): look(h)
def now(f): look(h); return f || | @now\ndef f(): pass
def now(f): look(h); return f || | @now\nclass L: pass
def now(p): return lambda f: p[0] || | @now(h)\ndef f(): pass
class Now:\n    def __init__(self, f): f() || | @Now\ndef f(): look(h)
class A:\n    def __init_subclass__(cls): look(h) || | class B(A): pass
class A:\n    def __set_name__(self, o, n): look(h) || | class B:\n    x = A()
class A(type):\n    def __init__(cls, *a): look(h) || | class B(metaclass=A): pass
class A(np.ndarray):\n    def __array_finalize__(self, o): look(h) || | np.empty(3).view(A)
class A(np.ndarray):\n    def __array_finalize__(self, o): look(h) || q = np.empty(3).view(A) | ok = q[1:]
 | x: h[0] = 1
 | def f(a: h[0]): pass
 | def f() -> h[0]: pass
 | class L:\n    x: h[0] = 1
 | class L:\n    x: h[0]
 | class L:\n    def f(self, x: h[0]): pass
"""


@pytest.mark.parametrize("case", cases(DEFINITIONS))
def test_what_a_definition_runs_is_waited_for(case: str) -> None:
    assert check_case(lines(READER), case)


# ---------------------------------------------------------------------------------------------------------------------
# functions that are not the ones that the source names at the call

REPLACED = r"""
def profile(f):\n    def inner(*a):\n        r = f(*a); look(h); return r\n    return inner\n@profile\ndef show(): pass || | show()
def gpu(f):\n    def inner(*a):\n        r = f(*a); look(h); return r\n    return inner\n@gpu\ndef show(): pass || | show()
def jit(f):\n    def inner(*a):\n        r = f(*a); look(h); return r\n    return inner\n@jit\ndef show(): pass || | show()
class profile:\n    def __init__(self, f): self.f = f\n    def __call__(self): look(h)\n@profile\ndef show(): pass || | show()
class Mixin:\n    def go(self): super().go()\nclass Base:\n    def go(self): look(h)\nclass C(Mixin, Base): pass || | C().go()
class Base:\n    def go(self): look(h)\nclass Mixin:\n    def go(self): return super().go()\nclass C(Mixin, Base): pass || | C().go()
class A:\n    def go(self): look(h)\nclass B(A): pass\nclass Z:\n    def go(self): pass\nclass C(B, Z): pass || | C().go()
class A:\n    def go(self): pass\nclass B(A): pass\nclass Z(A):\n    def go(self): look(h)\nclass C(B, Z): pass || | C().go()
class A:\n    def go(self): pass\n    def __init__(self): self.go = lambda: look(h) || | A().go()
class A:\n    def go(self): pass\nA.go = lambda self: look(h) || | A().go()
class A:\n    def go(self): pass || q = A(); q.go = lambda: look(h) | q.go()
class A:\n    def go(self): look(h)\n    x = property(go) || | A().x
class A:\n    def go(self): look(h)\n    x = property(fget=go) || | A().x
class A:\n    x = property(lambda self: h[0]) || | A().x
class A:\n    def go(self, v): look(h)\n    x = property(None, go) || | A().x = 1
class A:\n    go = functools.partialmethod(look, 1) || | A().go()
class A:\n    def go(self): look(h)\n    run = go || | A().run()
class A:\n    go = lambda self: look(h) || | A().go()
def go(): pass || def f(): look(h)\ngo = f | go()
def go(): pass\nif unseen.x:\n    def go(): look(h) || | go()
np.sum = lambda a: h[0] || | ok = np.sum(3)
time.sleep = lambda x: h[0] || | time.sleep(1)
import builtins; builtins.len = lambda *a: h[0] || | ok = len([1])
json.dumps = lambda a: h[0] || | ok = json.dumps(3)
def patch():\n    import time as tt\n    tt.sleep = lambda x: h[0] || patch() | time.sleep(1)
class E(Exception):\n    def __init__(self): look(h) || | try: raise E\nexcept E: pass
class E(Exception):\n    def __init__(self): look(h) || | try: raise ValueError from E\nexcept ValueError: pass
"""


@pytest.mark.parametrize("case", cases(REPLACED))
def test_what_runs_instead_of_the_named_function_is_waited_for(case: str) -> None:
    assert check_case(lines(READER), case)


# ---------------------------------------------------------------------------------------------------------------------
# functions in variables, parameters and containers

HELD = r"""
f = look if n > 3 else unseen.look | ok = f(h)
f = look if n > 3 else (lambda p: 1) | ok = f(h)
f = [lambda p: 1, look] | ok = f[n % 2](h)
f = {"a": look, "b": lambda p: 1} | ok = f["a"](h)
f = {"a": look, "b": lambda p: 1}.get(str(n), look) | ok = f(h)
f = lambda *a: a[0][0] | ok = f(h)
f = lambda p, *a: p[0] | ok = f(h)
f = lambda p, q=h: q[0] | ok = f(1)
f = lambda *, q=h: q[0] | ok = f()
f = lambda **k: k["p"][0] | ok = f(p=h)
def f(p, q=h): return q[0] | g = f; ok = g(1)
def f(p, q): return q[0] | g = f; ok = g(*[1, h])
def f(p, q): return q[0] | g = f; ok = g(q=h, p=1)
def f(): return lambda: h[0] | ok = f()()
def f(): return h[0] | ok = apply(f)
def f(): return h[0] | ok = apply(lambda: f())
def f(): return h[0]\n    def g(a): return a()\n    def k(a, b): return a(b) | ok = k(g, f)
@deco\n    def f(p): return p[0] | g = f; ok = g(h)
def f(): yield h[0] | g = f; ok = list(g())
async def f(): return h[0] | g = f; ok = asyncio.run(g())
q = Box(h); f = Box.get | ok = f(q)
q = Box(h) | ok = type(q).get(q)
q = Box(h) | ok = q.__class__.get(q)
q = Box(h) | ok = Box.value.fget(q)
f = Box | ok = f(h).get()
f = None\n    if n: f = look | ok = f(h)
f = look\n    def g():\n        nonlocal f\n        f = lambda p: 1\n    if n > 99: g() | ok = f(h)
f = lambda p: 1\n    def g():\n        nonlocal f\n        f = look\n    g() | ok = f(h)
global KEEP; KEEP = lambda: h[0] | ok = KEEP()
KEPT.append(lambda: h[0]) | for f in KEPT: f()
look.cb = look | ok = look.cb(h)
f = n and look | ok = f(h)
 | ok = (f := look)(h)
def f(p=(h,)): return p[0][0] | ok = f()
def f(p=[h]): return p[0][0] | ok = f()
def f(p={"a": h}): return p["a"][0] | ok = f()
def f(acc=[]): acc.append(h); return acc\n    f() | ok = f()[0][0]
Box.shared = h\n    def f(p=Box.shared): return p[0] | ok = f()
q = Box(h)\n    def f(p=q.p): return p[0] | ok = f()
q = h\n    def f(p=q): return p[0]\n    q = None | ok = f()
f = lambda p=(h,): p[0][0] | ok = f()
class C:\n        def f(self, p=(h,)): return p[0][0] | ok = C().f()
 | ok = np.piecewise(np.arange(3), [np.arange(3) > 1], [lambda x: h[0]])
"""
HELD_WORK = r"""
 | def g(cb): cb()\n    g(lambda: run(f, d, s))
 | def g(cb, *a): cb(*a)\n    g(run, f, d, s)
 | def g(cb, t): cb(f, d, t)\n    g(run, s)
 | def g(cb): cb(t=s)\n    g(lambda t: run(f, d, t))
def now(c): c(); return c || | @now\n    def g(): run(f, d, s)
def twice(c):\n    def inner(*a): c(*a); c(*a)\n    return inner || | @twice\n    def g(t): run(f, d, t)\n    g(s)
def g(cb=None):\n    if cb: cb() || | g(lambda: run(f, d, s))
def g(cb=None):\n    if cb is not None: cb() || | g(lambda: run(f, d, s))
class W:\n    def __init__(self, cb): self.cb = cb\n    def go(self): self.cb() || | W(lambda: run(f, d, s)).go()
class W:\n    def __init__(self, cb): self.cb = cb\n    def go(self): self.cb() || q = W(lambda: run(f, d, s)) | q.go()
class W:\n    cb = None\n    def go(self): self.cb() || W.cb = lambda self: run(f, d, s) | W().go()
class W:\n    def cb(self): pass\n    def go(self): self.cb() || q = W(); q.cb = lambda: run(f, d, s) | q.go()
class W:\n    def __init__(self, f, d, s): self.a = (f, d, s)\n    def step(self): run(*self.a)\n    def go(self): each(self.step)\ndef each(cb): cb() || | W(f, d, s).go()
class W:\n    def __init__(self, f, d, s): self.f, self.d, self.s = f, d, s\n    def go(self):\n        def step(): run(self.f, self.d, self.s)\n        each(step)\ndef each(cb): cb() || | W(f, d, s).go()
class W:\n    def __init__(self, f, d, s): self.f, self.d, self.s = f, d, s\n    def go(self, other):\n        def step(): run(self.f, self.d, self.s)\n        if other: other.go(None)\n        each(step)\ndef each(cb): cb() || | W(f, d, s).go(W(f, d, 0))
def g(t, n):\n    def step(): run(f2, d2, t)\n    if n: g(0, n - 1)\n    each(step)\ndef each(cb): cb() || global f2, d2; f2 = f; d2 = d | g(s, 1)
def g(cbs):\n    for cb in cbs: cb() || | g([lambda: None, lambda: run(f, d, s)])
def g(cbs):\n    for cb in cbs: cb() || | g([lambda t=t: run(f, d, t) for t in (0, s)])
def g(cbs):\n    for cb in cbs: cb() || q = []\n    for t in (0, s): q.append(lambda t=t: run(f, d, t)) | g(q)
def g(cbs):\n    for cb in cbs: cb() || q = []\n    for t in (s, 0): q.append(lambda: run(f, d, t)) | g(q)
def g(cbs):\n    for cb in cbs: cb() || q = []\n    for t in (0, s): q.append(lambda: run(f, d, t)) | g(q)
def comp(a, b):\n    def both(): a(); b()\n    both() || | comp(lambda: None, lambda: run(f, d, s))
def timed(fn):\n    t = time.time(); fn(); return time.time() - t || | timed(lambda: run(f, d, s))
def outer(f, d, s):\n    def inner(k): k(f, d, s)\n    inner(run) || | outer(f, d, s)
def outer(f, d, s):\n    t = 0\n    def inner(): run(f, d, t)\n    t = s\n    each(inner)\ndef each(cb): cb() || | outer(f, d, s)
def outer(f, d, s):\n    t = 0\n    def put(x):\n        nonlocal t\n        t = x\n    def inner(): run(f, d, t)\n    each(put, s)\n    inner()\ndef each(cb, x): cb(x) || | outer(f, d, s)
def make(f, d, t): return lambda: run(f, d, t) || a = make(f, d, s); b = make(f, d, 0) | a()
def make(f, d, t): return lambda: run(f, d, t) || a = make(f, d, s); b = make(f, d, 0) | b()
def make(f, d, t):\n    def g(): run(f, d, t)\n    return g || a = make(f, d, s); b = make(f, d, 0) | a()
def make(f, d, t):\n    def g(): run(f, d, t)\n    KEPT.append(g) || make(f, d, s); make(f, d, 0) | KEPT[0]()
def make(f, d, t, k):\n    def g(): run(f, d, t)\n    if k: k()\n    KEPT.append(g) || make(f, d, s, None) | make(f, d, 0, KEPT[0])
def make(f, d, t, k):\n    def g(): run(f, d, t)\n    if k: k()\n    return g || a = make(f, d, s, None) | make(f, d, 0, a)
def make(f, d, t, n):\n    def g(): run(f, d, t)\n    if n: make2(f, d, 0, g)\n    return 1\ndef make2(f, d, t, k):\n    k() || | make(f, d, s, 1)
def rec(f, d, t, k):\n    def g(): run(f, d, t)\n    if k: return k()\n    rec(f, d, 0, g) || | rec(f, d, s, None)
def each(f, d, t):\n    def g(): run(f, d, t)\n    for k in KEPT: k()\n    KEPT.append(g) || | for t in (s, 0): each(f, d, t)
def each(f, d, t):\n    def g(): run(f, d, t)\n    for k in KEPT: k()\n    KEPT.append(g) || | each(f, d, s); each(f, d, 0); each(f, d, 0)
class R3:\n    def __init__(self, f, d, t): self.cb = lambda: run(f, d, t) || a = R3(f, d, s); b = R3(f, d, 0) | a.cb()
def outer(f, d, t):\n    def mid():\n        def g(): run(f, d, t)\n        return g\n    return mid || a = outer(f, d, s); b = outer(f, d, 0) | a()()
def with_(t):\n    def outer(c): return lambda: c(t)\n    return outer || | @with_(s)\n    def g(t): run(f, d, t)\n    g()
"""


@pytest.mark.parametrize("case", cases(HELD))
def test_what_a_function_in_a_variable_reads_is_waited_for(case: str) -> None:
    assert check_case(READER, case)


@pytest.mark.parametrize("case", cases(HELD_WORK))
def test_a_free_behind_the_work_of_a_function_in_a_variable_is_in_order(case: str) -> None:
    assert check_case(USER, case, (*WAITS, ", s"))


# ---------------------------------------------------------------------------------------------------------------------
# patterns, exceptions, methods of containers by other names

PARTS = r"""
match {"a": h}:\n        case {**q}: pass | ok = q["a"][0]
match [h]:\n        case [*q]: pass | ok = q[0][0]
match [h, 1]:\n        case [q, *_]: pass | ok = q[0]
match (h, 1):\n        case (q, 1) | (q, _): pass | ok = q[0]
match {"a": [h]}:\n        case {"a": [q]}: pass | ok = q[0]
match {"a": h}.get("a"):\n        case q: pass | ok = q[0]
match Box(h):\n        case Box(p=q): pass | ok = q[0]
match Data(h):\n        case Data(q): pass | ok = q[0]
 | match Box(h):\n        case Box(value=3): ok = 1
 | match [h]:\n        case [1]: ok = 1
 | match {"a": h}:\n        case {"a": 1}: ok = 1
try: raise ValueError(h)\n    except ValueError as e: q = e.args[0] | ok = q[0]
try: raise ValueError(h)\n    except ValueError as e: q = e | ok = q.args[0][0]
try: raise ValueError(1, [h])\n    except ValueError as e: q = e | ok = q.args[1][0][0]
try: raise ValueError from KeyError(h)\n    except ValueError as e: q = e | ok = q.__cause__.args[0][0]
class E(Exception):\n    def __init__(self, p): self.p = p || try: raise E(h)\n    except E as e: q = e | ok = q.p[0]
class E(Exception):\n    def __init__(self, p): self.p = p\ndef bad(p): raise E(p) || try: bad(h)\n    except E as e: q = e.p | ok = q[0]
 | try: n / 0\n    except look(h): pass
 | raise ValueError from look(h)
 | ok = t"{h[0]}"
q = t"{h}" | ok = q.interpolations[0].value[0]
q = [h] | ok = q.__getitem__(0)[0]
q = {"a": h} | ok = dict.get(q, "a")[0]
q = [h] | ok = list.pop(q)[0]
q = []; list.append(q, h) | ok = q[0][0]
q = {}; dict.update(q, {"a": h}) | ok = q["a"][0]
q = []; q.__iadd__([h]) | ok = q[0][0]
q = [0]; q.__setitem__(0, h) | ok = q[0][0]
q = [0]; operator.setitem(q, 0, h) | ok = q[0][0]
import heapq; q = []; heapq.heappush(q, h) | ok = q[0][0]
import bisect; q = []; bisect.insort(q, h) | ok = q[0][0]
q = Pair(h, 1) | ok = q[0][0]
q = Pair(second=1, first=h) | a, b = q; ok = a[0]
q = Pair(*[h, 1]) | ok = q.first[0]
q = Pair(**{"first": h, "second": 1}) | ok = q.first[0]
q = Pair(1, 1)._replace(first=h) | ok = q.first[0]
q = Pair(h, 1)._asdict() | ok = q["first"][0]
q = Pair._make([h, 1]) | ok = q.first[0]
q = Pair(h, 1) | for x in q: ok = x[0]
q = [Pair(h, 1)] | ok = q[0].first[0]
match Pair(h, 1):\n        case Pair(q, _): pass | ok = q[0]
q = Box(h) | if q.value: ok = 1
q = Box(h) | ok = 1 if q.value else 0
q = (ctypes.c_char * 80).from_buffer(h) | ok = q.value
q = memoryview(h)[:4] | ok = int.from_bytes(q, "little")
q = memoryview(h)[:4] | ok = bytes(q)
def f():\n        global GLOB\n        GLOB = h\n    f() | ok = GLOB[0]
q = dict([("a", h)]) | ok = q["a"][0]
q = {}; q.update([("a", h)]) | ok = q["a"][0]
q = io.BytesIO() | q.writelines([h])
q = open("x", "wb") | q.writelines([h])
 | sys.stdout.writelines([h])
 | out = [0] * 20; out[:] = h
 | out = bytearray(80); out[:] = h
 | out = (ctypes.c_int * 20)(*h)
 | KEPT[:] = h
 | both(*h)
 | assert not n, h
for q in range(3): pass\n    q = h | ok = KEPT[q]
for q in range(3): pass\n    q = h | ok = np.arange(30)[q]
def g(p): return (x for x in p) || q = g(h) | ok = list(q)
def g(p): return (look(x) for x in p) || q = g([h]) | ok = list(q)
q = list({1: h}.values()) | ok = q[0][0]
q = {1: h}.values() | ok = list(q)[0][0]
q = {1: h} | a, *b = q.values(); ok = a[0]
q = {1: h} | ok = sum(q.values())
q = {1: h} | print(*q.values())
q = copy.copy([h])\n    try: raise ValueError(q[0])\n    except ValueError as e: q = e | ok = q.args[0][0]
e = ValueError(h) | ok = str(e)
e = ValueError(h) | ok = f"{e}"
e = ExceptionGroup("a", [ValueError(h)]) | ok = e.exceptions[0].args[0][0]
e = ValueError("a"); e.p = h | ok = e.p[0]
try: raise KeyError(1)\n    except KeyError as x: x.p = h; e = x | ok = e.p[0]
try: raise KeyError(h)\n    except KeyError: e = sys.exc_info() | ok = e[1].args[0][0]
try: raise KeyError(h)\n    except KeyError: _, e, _ = sys.exc_info() | ok = str(e)
try: raise KeyError(1)\n    except KeyError as x: e = x.__traceback__ | ok = e.tb_frame.f_locals["h"][0]
f = sys._getframe() | ok = f.f_locals["h"][0]
import inspect; f = inspect.stack() | ok = f[0].frame.f_locals["h"][0]
import inspect; f = inspect.getargvalues(inspect.currentframe()) | ok = f.locals["h"][0]
import traceback | try: raise KeyError\n    except KeyError as e: traceback.TracebackException.from_exception(e, capture_locals=True).print()
import rich.traceback; rich.traceback.install(show_locals=True) | raise KeyError
import gc | for x in gc.get_objects(): print(x)
q = Box(h).get.__self__ | ok = q.p[0]
q = (lambda: h).__closure__[0].cell_contents | ok = q[0]
q = types.SimpleNamespace(__array_interface__=h.__array_interface__) | ok = np.asarray(q)[0]
import argparse; q = argparse.ArgumentParser().parse_args(); q.p = h | ok = q.p[0]
import argparse; q = argparse.Namespace(); q.p = h | ok = q.p[0]
def parse():\n    import argparse\n    c = argparse.ArgumentParser()\n    c.add_argument("-x")\n    return c.parse_args() || q = parse(); q.p = h | ok = q.p[0]
import argparse; q = argparse.ArgumentParser(); q.add_argument("-x", default=h) | ok = q.parse_args([]).x[0]
import argparse; q = argparse.ArgumentParser(); q.add_argument("-x", default=h) | q.print_help()
import argparse; q = argparse.ArgumentParser(); q.set_defaults(x=h) | ok = q.parse_args([]).x[0]
import argparse; q = argparse.ArgumentParser(); g = q.add_argument_group(); g.add_argument("-x", const=(h,)) | ok = q.parse_args([]).x[0][0]
import argparse; q = argparse.ArgumentParser(); KEPT.append(h); q.add_argument("-x", default=KEPT) | ok = q.parse_args([]).x[0][0]
q = logging.getLogger("x"); q.p = h | ok = q.p[0]
q = open("x"); q.p = h | ok = q.p[0]
q = contextlib.ExitStack(); q.p = h | ok = q.p[0]
q = random.Random(); q.p = h | ok = q.p[0]
import pandas as pd; q = pd.DataFrame(); q.p = h | ok = q.p[0]
q = pickle.loads(b""); q.p = h | ok = q.p[0]
q = json.loads("[]"); q.append(h) | ok = q[0][0]
"""


@pytest.mark.parametrize("case", cases(PARTS))
def test_what_gets_a_part_by_another_way_is_waited_for(case: str) -> None:
    assert check_case(READER, case)


# ---------------------------------------------------------------------------------------------------------------------
# methods and fields of objects: of which class an object is, who else sets a field, and which names its values have

FIELDS = r"""
class X1:\n    def probe(self): pass\nclass X2:\n    def __init__(self, p): self.p = p\n    def probe(self): return self.p[0] || q = [X2(h)] | q[0].probe()
class X2:\n    def __init__(self, p): self.p = p\n    def probe(self): return self.p[0]\nclass X1:\n    def probe(self): pass || q = [X2(h)] | q[0].probe()
class X1:\n    def probe(self): pass\nclass X2:\n    def __init__(self, p): self.p = p\n    def probe(self): return self.p[0]\nclass X3:\n    def probe(self): pass || q = [X2(h)] | q[0].probe()
class X1:\n    def get(self): pass\nclass X2:\n    def __init__(self, p): self.p = p\n    def get(self): return self.p[0]\nclass X3:\n    def get(self): pass || q = [X2(h)] | q[0].get()
class X1:\n    def get(self): pass\nclass X2:\n    def __init__(self, p): self.p = p\n    def get(self): return self.p[0]\nclass X3:\n    def get(self): pass || q = [X2(h)] | type(q[0]).get(q[0])
class S(Box):\n    @property\n    def value(self): return super().value || q = S(h) | ok = q.value
class S(Box):\n    def go(self): return super().value || q = S(h) | q.go()
class S(Box):\n    def go(self): super().value = 3 || q = S(h) | q.go()
class S(Box):\n    def go(self): f = super().get; return f() || q = S(h) | q.go()
class S(Box):\n    def go(self): s = super(); return s.get() || q = S(h) | q.go()
class S(Box):\n    def go(self): return super(S, self).get() || q = S(h) | q.go()
class S(Box):\n    def go(self): return (lambda: super(S, self).get())() || q = S(h) | q.go()
class S(Box):\n    def go(self): return [super(S, self).get() for _ in range(1)] || q = S(h) | q.go()
class M1:\n    def go(self): return super().go()\nclass B1:\n    def go(self): return 1\nclass B2:\n    def go(self): return 2\nclass B3:\n    def go(self): return self.p[0]\nclass C1(M1, B1): pass\nclass C2(M1, B2): pass\nclass C3(M1, B3):\n    def __init__(self, p): self.p = p || q = C3(h) | q.go()
class M1:\n    def go(self): return super().go()\nclass B1:\n    def go(self): return 1\nclass B2:\n    def go(self): return 2\nclass B3:\n    def go(self): return self.p[0]\nclass C3(M1, B3):\n    def __init__(self, p): self.p = p\nclass C1(M1, B1): pass\nclass C2(M1, B2): pass || q = C3(h) | q.go()
class M1:\n    def go(self): return super().go()\nclass B1:\n    def go(self): return 1\nclass B2:\n    def go(self): return 2\nclass B3:\n    def go(self): return self.p[0]\nclass C1(M1, B1): pass\nclass C3(M1, B3):\n    def __init__(self, p): self.p = p\nclass C2(M1, B2): pass || q = C3(h) | q.go()
class A:\n    def go(self): return 1\nclass B(A):\n    def go(self): return 2\nclass C(A):\n    def __init__(self, p): self.p = p\n    def go(self): return self.p[0]\nclass D(A):\n    def go(self): return 3\ndef f(a: A): a.go() || q = C(h) | f(q)
class B1:\n    def run(self): pass\nclass A:\n    def __init__(self): self.b = B1()\n    def go(self): return self.b.run()\nclass B2:\n    def __init__(self, p): self.p = p\n    def run(self): return self.p[0] || q = A(); q.b = B2(h) | q.go()
class B1:\n    def run(self): pass\nclass A:\n    def __init__(self): self.b = B1()\n    def go(self): return self.b.run()\nclass B2:\n    def __init__(self, p): self.p = p\n    def run(self): return self.p[0] || q = A(); setattr(q, "b", B2(h)) | q.go()
class B1:\n    def run(self): pass\nclass B2:\n    def __init__(self, p): self.p = p\n    def run(self): return self.p[0]\nclass A:\n    def __init__(self, b): self.b = b\n    def go(self): return self.b.run()\nb = B1() || q = A(B2(h)) | q.go()
class A:\n    def __init__(self, p): self.q = p\n    def reset(self): self.q = []\n    def go(self):\n        for x in self.q: y = x || q = A(h) | q.go()
p = []\nclass A:\n    def __init__(self, p): self.q = p\n    def go(self):\n        for x in self.q: y = x || q = A(h) | q.go()
class A:\n    q = []\n    def go(self):\n        for x in self.q: y = x || A.q = h | A().go()
class A:\n    q = []\n    def go(self):\n        for x in self.q: y = x || q = A(); q.q = h | q.go()
class A:\n    q = None\n    def go(self): return self.q() || A.q = lambda self: h[0] | A().go()
class A:\n    q = None\n    def go(self): return self.q() || q = A(); q.q = lambda: h[0] | q.go()
class A:\n    def __init__(self): self.q = print\n    def go(self): return self.q(1) || q = A(); q.q = lambda x: h[0] | q.go()
class A:\n    q = print\n    def go(self): return self.q(1) || q = A(); q.q = lambda x: h[0] | q.go()
class A:\n    def __init__(self, p):\n        q = p\n        self.q = q\n    def go(self): return self.q[0]\nq = "" || q = A(h) | q.go()
class A:\n    def __delattr__(self, n): look(self.p) || q = A(); q.__dict__["p"] = h | del q.x
class Base:\n    def __init__(self): self.q = []\n    def go(self):\n        for x in self.q: y = x\nclass D(Base):\n    def put(self, p): self.q = p || q = D(); q.put(h) | q.go()
class A:\n    def __init__(self):\n        self.q, self.n = [], 1\n    def put(self, p): self.q, self.n = p, 2\n    def go(self):\n        for x in self.q: y = x || q = A(); q.put(h) | q.go()
class A:\n    def __init__(self): self.q = []\n    def go(self):\n        for x in self.q: y = x || q = A()\n    for q.q in [h]: pass | q.go()
class A:\n    def __init__(self, p): self.p = p\n    def __call__(self, *a): self.p[0] || import argparse; q = argparse.ArgumentParser(); q.add_argument("-x", type=A(h)) | q.parse_args(["-x", "1"])
class A(argparse.Action):\n    def __call__(self, *a): KEPT[0][0] || import argparse; q = argparse.ArgumentParser(); q.add_argument("-x", action=A); KEPT.append(h) | q.parse_args(["-x", "1"])
def make(): return h2[0] || global h2; h2 = h; q = collections.defaultdict(make) | ok = q[1]
@dataclasses.dataclass\nclass A:\n    p: object\n@dataclasses.dataclass\nclass B(A):\n    n: int = 0 || q = B(h, 1) | ok = q.p[0]
@dataclasses.dataclass\nclass A:\n    p: object\n@dataclasses.dataclass\nclass B(A):\n    n: int = 0 || q = B(h) | ok = q.p[0]
@dataclasses.dataclass\nclass A:\n    n: int\n@dataclasses.dataclass\nclass B(A):\n    p: object || q = B(1, h) | ok = q.p[0]
@dataclasses.dataclass\nclass A:\n    x: int = dataclasses.field(init=False)\n    p: object = None || q = A(h) | ok = q.p[0]
@dataclasses.dataclass\nclass A:\n    x: typing.ClassVar[int] = 3\n    p: object = None || q = A(h) | ok = q.p[0]
@dataclasses.dataclass\nclass A:\n    x: "ClassVar[int]" = 3\n    p: object = None || q = A(h) | ok = q.p[0]
@dataclasses.dataclass\nclass A:\n    x: int = dataclasses.field(kw_only=True, default=1)\n    p: object = None || q = A(h) | ok = q.p[0]
@dataclasses.dataclass\nclass A:\n    p: object\n    _: dataclasses.KW_ONLY\n    x: int = 1 || q = A(h, x=2) | ok = q.p[0]
@dataclasses.dataclass\nclass A:\n    if True:\n        p: object || q = A(h) | ok = q.p[0]
@dataclasses.dataclass\nclass A:\n    n: int; p: object || q = A(1, h) | ok = q.p[0]
@dataclasses.dataclass\nclass A:\n    n: object\n    p: dataclasses.InitVar[object] = None\n    def __post_init__(self, p): p[0] || | A(1, h)
@dataclasses.dataclass\nclass A:\n    n: object\n    p: dataclasses.InitVar[object] = None\n    def __post_init__(self, p): p[0] || | A(1, p=h)
class P(typing.Protocol):\n    def get(self): ...\ndef f(x: P): return x.get() || q = Box(h) | ok = f(q)
class A:\n    def f(self): return self.g\n    @property\n    def g(self): return 1\nclass B(A):\n    def __init__(self, p): self.p = p\n    @property\n    def g(self): return self.p[0] || q = B(h) | q.f()
class A:\n    def go(self): f = self.step; f()\n    def step(self): pass\nclass B(A):\n    def __init__(self, p): self.p = p\n    def step(self): return self.p[0] || q = B(h) | q.go()
class A:\n    def __init__(self, p): self.p = p\n    def __del__(self): self.p += 1 || q = A(h) | del q
class A:\n    def __init__(self, p): self.p = p\n    def __del__(self):\n        for x in self.p: pass || q = A(h) | del q
class A:\n    def __init__(self, p): self.p = p\n    def __del__(self): self.close()\n    def close(self): KEPT.append(self.p[0]) || q = A(h) | del q
class A:\n    def __init__(self, p, f): self.p, self.f = p, f\n    def __del__(self):\n        print(self.p)\n        self.f.close() || q = A(h, open("x")) | del q
class C:\n    x = None\n    def get(self): return self.x[0] || C.x = h; q = C() | q.get()
class C:\n    x = None\n    def get(self): return self.x[0] || C.x = h | q = C(); q.get()
Box.store(h) | ok = Box.shared[0]
class A:\n    x = None\n    @classmethod\n    def put(cls, p): cls.x = p\n    @classmethod\n    def get(cls): return cls.x[0] || A.put(h) | A.get()
class A:\n    @classmethod\n    def put(cls, p): cls.x = p\n    def get(self): return A.x[0] || A.put(h) | A().get()
class A:\n    x = None\n    @classmethod\n    def put(cls, p): cls.x = p\nclass B(A): pass || A.put(h); B.put(None) | ok = A.x[0]
class A:\n    x = None\n    @classmethod\n    def put(cls, p): cls.x = p\nclass B(A): pass || A.put(h) | ok = B.x[0]
class A:\n    x = None\n    def put(self, p): type(self).x = p\n    def get(self): return self.x[0] || A().put(h) | A().get()
class A:\n    x = None\n    def put(self, p): self.__class__.x = p\n    def get(self): return self.x[0] || A().put(h) | A().get()
class A:\n    one = None\n    def __new__(cls, *a):\n        if cls.one is None: cls.one = object.__new__(cls)\n        return cls.one\n    def __init__(self, p=None):\n        if p is not None: self.p = p || A(h) | ok = A().p[0]
class A:\n    one = None\n    @classmethod\n    def get(cls):\n        if cls.one is None: cls.one = cls()\n        return cls.one || A.get().p = h | ok = A.get().p[0]
class A: pass || A.x = h | ok = A.x[0]
class A: pass || A.x = h | ok = A().x[0]
class A:\n    class B: pass || A.B.x = h | ok = A.B.x[0]
import enum\nclass A(enum.Enum):\n    B = 1 || A.B.p = h | ok = A.B.p[0]
q = Box(h); v = q.ptr | ok = v[0]
q = Box(h); v = q.ptr | print(v)
q = Box(h); v = q.cached_addr | ok = v[0]
q = Box(h)\n    def f(): v = q.ptr; return v[0] | f()
class A:\n    def __init__(self, p): self.p = p; self.v = self.ptr\n    @property\n    def ptr(self): return self.p\n    def get(self): return self.v[0] || q = A(h) | q.get()
class A:\n    def __init__(self, p): self.p = p\n    @property\n    def ptr(self): return self.p\n    def get(self):\n        v = self.ptr\n        return v[0] || q = A(h) | q.get()
q = dataclasses.replace(Data(1), p=h) | ok = q.p[0]
q = dataclasses.replace(Data(1), **{"p": h}) | ok = q.p[0]
q = copy.replace(Data(1), p=h) | ok = q.p[0]
class A:\n    def go(self): return 1\nclass C:\n    def __init__(self, p): self.p = p\n    def go(self): return self.p[0]\ndef f(a: A): a.go() || q = C(h) | f(q)
class A:\n    @property\n    def v(self): return 1\nclass C:\n    def __init__(self, p): self.p = p\n    @property\n    def v(self): return self.p[0]\ndef f(a: A): return a.v || q = C(h) | f(q)
class B1:\n    def run(self): pass\nclass B2:\n    def __init__(self, p): self.p = p\n    def run(self): return self.p[0]\nclass A:\n    def __init__(self): self.b = B1()\nclass C:\n    def __init__(self, p): self.b = B2(p)\ndef f(a: A): a.b.run() || q = C(h) | f(q)
class A:\n    def go(self): return 1\nclass C:\n    def __init__(self, p): self.p = p\n    def go(self): return self.p[0]\ndef f(a: list[A]):\n    for x in a: x.go() || q = [C(h)] | f(q)
class A:\n    def __len__(self): return 1\nclass C:\n    def __init__(self, p): self.p = p\n    def __len__(self): return int(self.p[0])\ndef f(a: A): return len(a) || q = C(h) | f(q)
class A:\n    def __len__(self): return 1\nclass C:\n    def __init__(self, p): self.p = p\n    def __iter__(self): return iter(self.p)\ndef f(a: A): return list(a) || q = C(h) | f(q)
class A:\n    def sum(self): return 1\ndef f(a: A): return a.sum() || | f(h)
class A:\n    def __init__(self, p): self.p = p\n    @property\n    def __array_interface__(self): return {"data": (self.p, False), "shape": (20,), "typestr": "<i4", "version": 3} || q = np.asarray(A(raw)) | ok = q[0]
class A:\n    def __init__(self, p): self.__array_interface__ = p.__array_interface__ || q = A(h) | ok = np.asarray(q)[0]
class A:\n    def __init__(self, p): self._h = p\n    @property\n    def host(self): return self._h\n    def get(self): return self.host.T[0] || q = A(h) | ok = q.get()
class A:\n    def __init__(self, p): self._h = p\n    @property\n    def host(self): return self._h\n    def get(self): return self.host.flat[0] || q = A(h) | ok = q.get()
class A:\n    def __init__(self, p): self._h = p\n    @property\n    def host(self): return self._h\n    def get(self): return ctypes.string_at(self.host.ctypes.data, 4) || q = A(h) | ok = q.get()
class A:\n    def __init__(self, p): self.p = p\n    @property\n    def me(self): return self\n    def get(self): return self.me.p[0] || q = A(h) | ok = q.get()
class A:\n    def __init__(self, p): self.p = p\n    @property\n    def me(self): return self || q = A(h) | ok = q.me.p[0]
class A:\n    def __init__(self, p): self.p = p\n    @property\n    def me(self): return self || q = A(None); q.me.p = h | ok = q.p[0]
class A:\n    def __init__(self, p): self.p = p\n    @property\n    def v(self): return 1\nA.v = property(lambda self: self.p[0]) || q = A(h) | ok = q.v
class A:\n    def __init__(self, p): self.p = p\n    @property\n    def v(self): return 1\n    v = property(lambda self: self.p[0]) || q = A(h) | ok = q.v
class A:\n    def __init__(self, p): self.p = p\n    v = property(lambda self: self.p[0])\n    @property\n    def v(self): return 1\n    v = property(lambda self: self.p[0]) || q = A(h) | ok = q.v
class A:\n    def __init__(self, p): self.p = p\n    def __len__(self): return 1\nA.__len__ = lambda self: self.p[0] || q = A(h) | ok = len(q)
class A:\n    def __init__(self, p): self.p = p\n    def __len__(self): return 1\n    __len__ = lambda self: self.p[0] || q = A(h) | ok = len(q)
class A:\n    def __init__(self, p): self.p = p\n    __len__ = lambda self: self.p[0] || q = A(h) | ok = len(q)
class A:\n    def __init__(self, p): self.p = p\n    def n(self): return self.p[0]\n    __len__ = n || q = A(h) | ok = len(q)
class A:\n    def __init__(self, p): self.p = p\n    def n(self): return self.p[0]\n    __len__ = __bool__ = n || q = A(h) | ok = 1 if q else 2
class A:\n    def __init__(self, p): self.p = p\n    def n(self): return self.p[0]\n    __str__ = n || q = A(h) | print(q)
class A:\n    def __init__(self, p): self.p = p\n    def n(self, o): return self.p[0]\n    __add__ = n || q = A(h) | ok = q + 1
class A:\n    def __init__(self, p): self.p = p\n    def n(self, o): return self.p[0]\n    __call__ = n || q = A(h) | ok = q(1)
class A:\n    def __init__(self, p): self.p = p\n    def n(self): return self.p[0]\n    __enter__ = n\n    def __exit__(self, *a): pass || | with A(h): pass
class A:\n    def __init__(self, p): self.p = p\n    def n(self, *a): return self.p[0]\n    __exit__ = n\n    def __enter__(self): pass || | with A(h): pass
class A:\n    def __init__(self, p): self.p = p\n    def n(self): return self.p[0]\n    m = property(n) || q = A(h) | ok = q.m
class A:\n    def n(self, p): return p[0]\n    __init__ = n || | ok = A(h)
class A:\n    def __init__(self, p): self.p = p\n    def n(self): return self.p[0]\n    __del__ = n || q = A(h) | del q
class A:\n    def __init__(self, p): self.p = p\n    def __enter__(self): return 1\n    def __exit__(self, *a): pass\nA.__enter__ = lambda self: self.p[0] || | with A(h): pass
class A:\n    def __init__(self, p): self.p = p\n    def n(self, name): return self.p[0]\n    __getattr__ = n || q = A(h) | ok = q.zzz
class A:\n    def __init__(self, p): self.p = p\n    def n(self, name): return self.p[0]\n    __getattribute__ = n || | ok = A(1).zzz
class A:\n    def __init__(self, p): self.p = p\n    __len__ = functools.partialmethod(look) || q = A(h) | ok = len(q)
class A:\n    def __init__(self, p): self.p = p\n    def n(self): return self.p[0]\n    __iter__ = n || q = A(h) | for x in q: pass
class A:\n    def __init__(self, p): self.p = p\n    def n(self, k): return self.p[0]\n    __getitem__ = n || q = A(h) | ok = q[1]
class A:\n    def __init__(self, p): self.p = p\n    def n(self, k): return self.p[0]\n    __eq__ = n || q = A(h) | ok = q == 1
class A:\n    def __init__(self, p): self.p = p\n    def n(self): return self.p[0]\n    __hash__ = n || q = A(h) | ok = {q}
class A:\n    def __init__(self, p): self.p = p\n    def n(self): return self.p[0]\n    (__len__, x) = (n, 1) || q = A(h) | ok = len(q)
class A:\n    def __init__(self, p): self.p = p\n    def n(self): return self.p[0]\n    (m, x) = (n, 1) || q = A(h) | ok = q.m()
class A:\n    def __init__(self, p): self.p = p\n    def n(self): return self.p[0]\n    m: object = n || q = A(h) | ok = q.m()
class A:\n    def __init__(self, p): self.p = p\n    def n(self): return self.p[0]\n    class m:\n        def __get__(self, o, c): return o.p[0]\n    x = m() || q = A(h) | ok = q.x
class A:\n    def __init__(self, p): self.p = p\n    def n(self): return self.p[0]\n    if 1: m = n || q = A(h) | ok = q.m()
class A:\n    def __init__(self, p): self.p = p\n    def n(self): return self.p[0]\n    from unseen import m || q = A(h) | ok = q.m()
class A:\n    def __init__(self, p): self.p = p\n    def n(self): return self.p[0]\n    if KEPT:\n        __len__ = n || q = A(h) | ok = len(q)
class A:\n    def __init__(self, p): self.p = p\n    if KEPT:\n        def __len__(self): return self.p[0]\n    else:\n        def __len__(self): return 1 || q = A(h) | ok = len(q)
class A:\n    def __init__(self, p): self.p = p\n    if KEPT:\n        @property\n        def v(self): return self.p[0]\n    else:\n        @property\n        def v(self): return 1 || q = A(h) | ok = q.v
class A:\n    def __init__(self, p): self.p = p\n    for k in range(2):\n        def __len__(self): return self.p[0] || q = A(h) | ok = len(q)
class A:\n    def __init__(self, p): self.p = p\n    try:\n        def __len__(self): return self.p[0]\n    except: pass || q = A(h) | ok = len([q][0])
class A:\n    def __init__(self, p): self.p = p\n    def n(self): return self.p[0]\n    __len__ = n || q = [A(h)] | ok = len(q[0])
class A:\n    def __init__(self, p): self.p = p\n    def n(self): return self.p[0]\n    __len__ = n\ndef f(x): return len(x) || q = A(h) | ok = f(q)
class A:\n    def __init__(self, p): self.p = p\n    __len__ = len || q = A(h) | ok = q.__len__()
class A:\n    def __init__(self, p): self.p = p\n    if KEPT:\n        def f(self): return self.p[0]\n    else:\n        def f(self): return 1 || q = A(h) | ok = q.f()
class A:\n    def __init__(self, p): self.p = p\n    def f(self): return 1\n    f = lambda self: self.p[0] || q = A(h) | ok = q.f()
class A:\n    def __init__(self, p): self.p = p\n    def g(self): return self.p[0]\n    def f(self): return 1\n    f = g || q = A(h) | ok = q.f()
class A:\n    def __init__(self, p): self.p = p\n    def f(self): return 1\n    for f in [lambda self: self.p[0]]: pass || q = A(h) | ok = q.f()
class A:\n    @functools.cached_property\n    def v(self): return np.empty(3) || q = A(); q.v = h | ok = q.v[0]
class A:\n    def __init__(self, p): self.p = p\n    @functools.cached_property\n    def v(self): return self.p || q = A(h); q.v; q.p = np.empty(3) | ok = q.v[0]
class A:\n    def __init__(self, p): self.p = p\n    @functools.cached_property\n    def v(self): return self.p\n    def get(self): return self.v[0] || q = A(h); q.v; q.p = np.empty(3) | ok = q.get()
class A:\n    n = 0\n    def __init__(self, p): self.p = p\n    @functools.cached_property\n    def v(self): return self.p\n    def get(self):\n        for x in self.v: self.n = x || q = A(h) | q.get()
def other(f):\n    def inner(self): return self.p[0]\n    return inner\nclass A:\n    def __init__(self, p): self.p = p\n    @property\n    @other\n    def v(self): return 1 || q = A(h) | ok = q.v
def other(f):\n    def inner(self): return self.p[0]\n    return inner\nclass A:\n    def __init__(self, p): self.p = p\n    @property\n    @other\n    def v(self): return 1 || q = [A(h)] | ok = q[0].v
class A:\n    def __init__(self, p): self.p = p\n    @property\n    def v(self): return 1\n    @v.getter\n    def v(self): return self.p || q = A(h) | ok = q.v[0]
def other(f):\n    def inner(self): return self.p[0]\n    return inner\nclass A:\n    def __init__(self, p): self.p = p\n    @other\n    def sum(self): return 1 || q = [A(h)] | ok = q[0].sum()
def other(f):\n    def inner(self): return self.p[0]\n    return inner\nclass A:\n    def __init__(self, p): self.p = p\n    @other\n    def __len__(self): return 1 || q = [A(h)] | ok = len(q[0])
def other(f):\n    def inner(self): return self.p[0]\n    return inner\nclass A:\n    def __init__(self, p): self.p = p\n    @other\n    def __len__(self): return 1 || q = A(h) | ok = len(q)
def other(f):\n    def inner(self): return self.p[0]\n    return inner\nclass A:\n    def __init__(self, p): self.p = p\n    @other\n    def __enter__(self): return 1\n    def __exit__(self, *a): pass || | with A(h): pass
def other(f):\n    def inner(self): return self.p[0]\n    return inner\nclass A:\n    def __init__(self, p): self.p = p\n    @other\n    def __str__(self): return 1 || | print(A(h))
def other(f):\n    def inner(self): return self.p[0]\n    return inner\nclass A:\n    def __init__(self, p): self.p = p\n    @other\n    def __del__(self): return 1 || q = A(h) | del q
class A:\n    def __init__(self, p): self.p = p\n    def sum(self): yield self.p[0] || q = [A(h)] | ok = list(q[0].sum())
class A:\n    def __init__(self, p): self.p = p\n    def copy(self): yield self.p[0] || q = [A(h)] | ok = list(q[0].copy())
class A:\n    def __init__(self, p): self.p = p\n    def items(self): yield self.p[0] || q = [A(h)] | ok = list(q[0].items())
class A:\n    def __init__(self, p): self.p = p\n    def items(self): yield self.p[0] || q = [A(h)] | for x in q[0].items(): pass
class A:\n    def __init__(self, p): self.p = p\n    def items(self): yield self.p[0] || q = A(h) | for x in q.items(): pass
class A:\n    def __init__(self, p): self.p = p\n    def items(self): return [(self.p[0], 1)] || q = A(h) | for x, y in q.items(): pass
class A:\n    def __init__(self, p): self.p = p\n    def items(self): return [(self.p[0], 1)] || q = [A(h)] | for x, y in q[0].items(): pass
class A:\n    def __init__(self, p): self.p = p\n    def values(self): return [(self.p[0], 1)] || q = [A(h)] | for x in q[0].values(): pass
class A:\n    def __init__(self, p): self.p = p\n    def values(self): return [(self.p[0], 1)] || q = [A(h)] | ok = [x for x in q[0].values()]
class A:\n    def __init__(self, p): self.p = p\n    def keys(self): return [(self.p[0], 1)] || q = [A(h)] | ok = [x for x in q[0].keys()]
class A:\n    def __init__(self, p): self.p = p\n    def values(self): return [(self.p[0], 1)] || q = [A(h)] | for i, x in enumerate(q[0].values()): pass
class A:\n    def __init__(self, p): self.p = p\n    async def sum(self): return self.p[0] || q = [A(h)] | ok = asyncio.run(q[0].sum())
class A:\n    def __init__(self, p): self.p = p\n    def __iter__(self): yield self.p[0] || q = [A(h)] | for x in q[0]: pass
class A:\n    def __init__(self, p): self.p = p\n    def __iter__(self): yield self.p[0] || q = A(h) | for x in q: pass
class A:\n    def __init__(self, p): self.p = p\n    def __iter__(self): yield self.p[0] || q = A(h) | ok = list(q)
class A:\n    def __init__(self, p): self.p = p\n    def __iter__(self): yield self.p[0] || q = A(h) | a, = q
class A:\n    def __init__(self, p): self.p = p\n    def __iter__(self): yield self.p[0] || q = A(h) | ok = max(q)
class A:\n    def __init__(self, p): self.p = p\n    @contextlib.contextmanager\n    def use(self): yield self.p[0] || q = A(h) | with q.use(): pass
class A:\n    def __init__(self, p): self.p = p\n    @contextlib.contextmanager\n    def copy(self): yield self.p[0] || q = [A(h)] | with q[0].copy(): pass
class A:\n    def __init__(self, p): self.p = p\n    def sum(self, k=0): return self.p[0] || q = [A(h)] | ok = q[0].sum(**{})
class A:\n    def __init__(self, p): self.p = p\n    def sum(self, k=0): return self.p[0] || q = [A(h)] | ok = q[0].sum(*[])
class A:\n    def __init__(self, p): self.p = p\n    def sum(self, k=0): return self.p[0] || q = [A(h)] | ok = q[0].sum(k=1)
class A:\n    def __init__(self, p): self.p = p\n    def sum(self, **k): return self.p[0] || q = [A(h)] | ok = q[0].sum(k=1)
class A:\n    def __init__(self, p): self.p = p\n    def sum(self, *k): return self.p[0] || q = [A(h)] | ok = q[0].sum(1, 2)
class A:\n    def __init__(self, p): self.p = p\n    def sum(self, **k): return self.p[0] || q = [A(h)] | ok = q[0].sum()
class A:\n    def __init__(self, p): self.p = p\n    def sum(self, a, /, b, *, c=2): return self.p[0] || q = [A(h)] | ok = q[0].sum(1, 2)
class A:\n    def __init__(self, p): self._p = p\n    @property\n    def p(self): return 1\n    @p.setter\n    def p(self, x): self._p[0]\n || q = A(h) | q.p = 1
class A:\n    def __init__(self, p): self._p = p\n    @property\n    def p(self): return 1\n    @p.setter\n    def p(self, x): self._p[0]\n || q = [A(h)] | q[0].p = 1
class A:\n    def __init__(self, p): self._p = p\n    @property\n    def p(self): return 1\n    @p.setter\n    def p(self, x): look(x)\n || q = [A(h)] | q[0].p = h
class A:\n    def __init__(self, p): self._p = p\n    @property\n    def p(self): return 1\n    @p.setter\n    def p(self, x): look(x)\n || q = A(1) | q.p = h
class A:\n    def __init__(self, p): self._p = p\n    @property\n    def p(self): return 1\n    @p.setter\n    def p(self, x): look(x)\nclass B(A): pass || q = B(1) | q.p = h
class A:\n    def __init__(self, p): self._p = p\n    @property\n    def p(self): return 1\n    @p.setter\n    def p(self, x): pass\nclass B(A):\n    @A.p.setter\n    def p(self, x): look(x)\ndef f(a: A, h): a.p = h || q = B(1) | f(q, h)
class A:\n    def __init__(self, p): self._p = p\n    @property\n    def p(self): return self._p\n    @p.setter\n    def p(self, x): self._p = x\n || q = A(1); q.p = h | ok = q.p[0]
class A:\n    def __init__(self, p): self._p = p\n    @property\n    def p(self): return self._p\n    @p.setter\n    def p(self, x): self._p = x\n || q = [A(1)]; q[0].p = h | ok = q[0].p[0]
class A:\n    def __init__(self, p): self._p = p\n    @property\n    def p(self): return self._p\n    @p.setter\n    def p(self, x): self._p = x\n || q = [A(1)]; q[0].p = h | ok = q[0]._p[0]
class A:\n    def __init__(self, p): self._p = p\n    @property\n    def p(self): return self._p\n    @p.setter\n    def p(self, x): self._p = x\n || q = [A(1)]; q[0].p, n = h, 1 | ok = q[0]._p[0]
class A:\n    def __init__(self, p): self._p = p\n    @property\n    def p(self): return self._p\n    @p.setter\n    def p(self, x): self._p = x\n || q = [A(1)]\n    for q[0].p in [h]: pass | ok = q[0]._p[0]
class A:\n    def __init__(self, p): self._p = p\n    @property\n    def p(self): return self._p\n    @p.setter\n    def p(self, x): self._p = x\n || q = A(1); q.p = q.r = h | ok = q._p[0]
class A:\n    def __init__(self, p): self.p = p\n    @property\n    def p(self): return self._p\n    @p.setter\n    def p(self, x): self._p = x\n || q = A(h) | ok = q._p[0]
class A:\n    def __init__(self, p): self.p = p\n    @property\n    def p(self): return self._p\n    @p.setter\n    def p(self, x): self._p = x\n || q = A(h) | ok = q.p[0]
class A:\n    def __init__(self, p): self.p = p\n    @property\n    def p(self): return self._p\n    @p.setter\n    def p(self, x): self._p = np.asarray(x)\n || q = A(h) | ok = q.p[0]
class A:\n    def __init__(self): self._p = None\n    @property\n    def p(self): return self._p\n    @p.setter\n    @deco\n    def p(self, x): self._p = x\n || q = A(); q.p = h | ok = q.p[0]
class A:\n    def __init__(self): self._p = None\n    @property\n    def p(self): return self._p\n    @p.setter\n    @deco\n    def p(self, x): x[0]\n || q = A() | q.p = h
class A:\n    def __init__(self): self._p = None\n    @property\n    def p(self): return self._p\n    @p.deleter\n    def p(self): h2[0]\n || q = A(); global h2; h2 = h | del q.p
class A:\n    def __init__(self): self._p = None\n    @property\n    def p(self): return self._p\n    @p.setter\n    def p(self, x): x[0]\n || q = A() | setattr(q, "p", h)
class A:\n    def __setattr__(self, k, v): look(v)\n || q = A() | q.p = h
class A:\n    def __setattr__(self, k, v): look(v)\n || q = [A()] | q[0].p = h
class A:\n    def __setattr__(self, k, v): look(v)\n || q = A() | q.p = q.z = h
class A:\n    def __setattr__(self, k, v): self.__dict__["_" + k] = v\n || q = A(); q.p = h | ok = q._p[0]
class A:\n    def __setattr__(self, k, v): self.__dict__["_" + k] = v\n    def __getattr__(self, k): return self.__dict__["_" + k] || q = A(); q.p = h | ok = q.p[0]
class A:\n    def __getattr__(self, k): return KEPT[0] || q = A(); KEPT.append(h) | ok = q.p[0]
class A:\n    def __getattr__(self, k): return KEPT[0] || q = [A()]; KEPT.append(h) | ok = q[0].p[0]
class A:\n    def __init__(self, p): self.p = p\n    def __getattribute__(self, k): return object.__getattribute__(self, "p") || q = A(h) | ok = q.anything[0]
class A:\n    def __init__(self, p): self.p = p\n    def __getattribute__(self, k): return object.__getattribute__(self, "p") || q = [A(h)] | ok = q[0].anything[0]
class A:\n    __slots__ = ("p",)\n    def __init__(self, p): self.p = p || q = A(h) | ok = A.p.__get__(q)[0]
class A:\n    __slots__ = ("p",)\n    def __init__(self, p): A.p.__set__(self, p) || q = A(h) | ok = q.p[0]
class A:\n    def __init__(self, p): super().__setattr__("p", p)\n    def __setattr__(self, k, v): raise AttributeError || q = A(h) | ok = q.p[0]
class A:\n    def __init__(self, p): self.__p = p\n    def get(self): return self.__p[0] || q = A(h) | ok = q._A__p[0]
class A:\n    def __init__(self, p): self.__p = p\nclass B(A):\n    def get(self): return self._A__p[0] || q = B(h) | ok = q.get()
class A:\n    def __init__(self, p): self.__p = p\n    def get(self): return self.__p[0]\nclass B(A):\n    def __init__(self, p):\n        super().__init__(p)\n        self.__p = None || q = B(h) | ok = q.get()
class A:\n    def __init__(self, p): self.__p = p\n    def __look(self): return self.__p[0]\n    def get(self): return self.__look()\nclass B(A):\n    def __look(self): return 1 || q = B(h) | ok = q.get()
class A:\n    def __init__(self, p): self.__p = p\n    def get(self): return getattr(self, "_A__p")[0] || q = A(h) | ok = q.get()
class A:\n    def __init__(self, p): self.__p = p || q = A(h) | ok = vars(q)["_A__p"][0]
class A:\n    __shared = None\n    @classmethod\n    def put(cls, p): cls.__shared = p\n    def get(self): return self.__shared[0] || A.put(h) | ok = A().get()
class A:\n    @staticmethod\n    def __look(p): return p[0]\n    def get(self, p): return A.__look(p) || | ok = A().get(h)
class A:\n    def __init__(self, p): self.p = p\n    def sum(self): return 1\n    def __enter__(self): return self.p\n    def __exit__(self, *a): pass\n || | with A(h) as q: ok = q.sum()
class A:\n    def __init__(self, p): self.p = p\n    def get(self): return 1\n    def __enter__(self): return Box(self.p)\n    def __exit__(self, *a): pass\n || | with A(h) as q: ok = q.get()
class A:\n    def __init__(self, p): self.p = p\n    @property\n    def value(self): return 1\n    def __enter__(self): return Box(self.p)\n    def __exit__(self, *a): pass\n || | with A(h) as q: ok = q.value
def f(): return sys._getframe(1).f_locals["h"][0] || | ok = f()
def f():\n    import inspect\n    return inspect.stack()[1].frame.f_locals["h"][0] || | ok = f()
def f():\n    import inspect\n    return inspect.currentframe().f_back.f_locals["h"][0] || | ok = f()
def f():\n    try: raise ValueError\n    except ValueError as e: return e.__traceback__.tb_frame.f_back.f_locals["h"][0] || | ok = f()
class M(type):\n    def __call__(cls, *a): return a[0][0]\nclass A(metaclass=M): pass || | A(h)
class M(type):\n    def __getattr__(cls, n): return KEPT[0][0]\nclass A(metaclass=M): pass || KEPT.append(h) | A.x
class M(type):\n    def __len__(cls): return KEPT[0][0]\nclass A(metaclass=M): pass || KEPT.append(h) | len(A)
class M(type):\n    def __iter__(cls): yield KEPT[0][0]\nclass A(metaclass=M): pass || KEPT.append(h) | list(A)
class M(type):\n    def __instancecheck__(cls, o): return o[0]\nclass A(metaclass=M): pass || | isinstance(h, A)
class M(type):\n    def __getitem__(cls, o): return o[0]\nclass A(metaclass=M): pass || | A[h]
class M(type):\n    def __setattr__(cls, k, v): v[0]\nclass A(metaclass=M): pass || | A.x = h
class M(type):\n    def __prepare__(n, b, **k): return {}\n    def go(cls): return KEPT[0][0]\nclass A(metaclass=M): pass || KEPT.append(h) | A.go()
class M(type):\n    def sum(cls): return KEPT[0][0]\nclass A(metaclass=M): pass || KEPT.append(h) | A.sum()
class M(type):\n    @property\n    def v(cls): return KEPT[0][0]\nclass A(metaclass=M): pass || KEPT.append(h) | A.v
class C(unseen.Base):\n    def __init__(self, p): self.p = p\n    def step(self): return self.p[0] || q = C(h) | q.run()
class C(unseen.Base):\n    def __init__(self, p): self.p = p\n    def forward(self, x): return self.p[0] || q = C(h) | q(1)
class C(unseen.Base):\n    def __init__(self, p): self.p = p\n    def step(self): return self.p[0] || q = C(h) | len(q)
class C(unseen.Base):\n    def __init__(self, p): self.p = p\n    def step(self): return self.p[0] || q = C(h) | q.attr
class C(unseen.Base):\n    def __init__(self, p): self.p = p\n    def step(self): return self.p[0] || q = C(h) | q + 1
class C(unseen.Base):\n    def __init__(self, p): self.p = p\n    def step(self): return self.p[0] || q = C(h) | print(q)
class C(unseen.Base):\n    def __init__(self, p): self.p = p\n    def step(self): return self.p[0] || q = C(h) | with q: pass
class C(unseen.Base):\n    def __init__(self, p): self.p = p\n    def step(self): return self.p[0] || q = C(h) | q.x = 1
class C(threading.Thread):\n    def __init__(self, p): super().__init__(); self.p = p\n    def run(self): self.p[0] || q = C(h) | q.run()
class M(type):\n    pass\nclass C(unseen.Base, metaclass=unseen.M):\n    def __init__(self, p): self.p = p\n    def step(self): return self.p[0] || | C(h)
"""
FIELDS_WRITTEN = r"""
class A:\n    def __init__(self, p): self._h = p\n    @property\n    def host(self): return self._h\n    def get(self): ctypes.memset(self.host.ctypes.data, 0, 4) || q = A(h) | ok = q.get()
class A:\n    def __init__(self, p): self._h = p\n    @property\n    def host(self): return self._h\n    def get(self): self.host.flat = 1 || q = A(h) | ok = q.get()
class A:\n    def __init__(self, p): self._h = p\n    @property\n    def host(self): return self._h\n    def get(self): self.host.real[0] = 1 || q = A(h) | ok = q.get()
class A:\n    def __init__(self, p): self.p = p\n    @property\n    def me(self): return self\n    def get(self): self.me.p[0] = 1 || q = A(h) | ok = q.get()
class A:\n    def __init__(self, p): self.p = p\n    @property\n    def me(self): return self || q = A(None); q.me.p = h | q.p[0] = 1
"""
FIELDS_WORK = r"""
class A:\n    def __init__(self): self.t = 0\n    def go(self, f, d): run(f, d, self.t) || q = A(); q.t = s | q.go(f, d)
class B1:\n    def go(self, f, d): pass\nclass B2:\n    def __init__(self, s): self.s = s\n    def go(self, f, d): run(f, d, self.s)\nclass A:\n    def __init__(self): self.b = B1() || q = A(); q.b = B2(s) | q.b.go(f, d)
class B1:\n    def go(self, f, d): pass\nclass B2:\n    def __init__(self, s): self.s = s\n    def go(self, f, d): run(f, d, self.s)\nclass A:\n    b = B1() || A.b = B2(s); q = A() | q.b.go(f, d)
q = Box(d); v = q.ptr | run(f, v, s)
q = Box(s); v = q.ptr | run(f, d, v)
class A:\n    t = 0\n    @classmethod\n    def put(cls, t): cls.t = t\n    def go(self, f, d): run(f, d, self.t) || A.put(s) | A().go(f, d)
class A:\n    def __init__(self, p): self.p = p\n    @functools.cached_property\n    def v(self): return self.p || q = A(s); q.v; q.p = 0 | run(f, d, q.v)
class A:\n    def __init__(self, p): self.p = p\n    @functools.cached_property\n    def v(self): return self.p || q = A(d); q.v; q.p = 0 | run(f, q.v, s)
class A:\n    def __init__(self, p): self.p = p\n    @functools.cached_property\n    def v(self): return self.p || q = A(d); q.v; q.p = 0 | run(f, vars(q)["v"], s)
class A:\n    def __init__(self, p): self.p = p\n    @functools.cached_property\n    def v(self): return self.p || q = A(d); q.v; q.p = 0; r = copy.copy(q) | run(f, r.v, s)
sys.stdout = types.SimpleNamespace(write=lambda t: run(f, d, s), flush=lambda: 0) | print(1)
class O:\n    def write(self, t): run(*KEEP)\n    def flush(self): pass\n || global KEEP; KEEP = (f, d, s); sys.stdout = O() | print(1)
class O:\n    def write(self, t): run(*KEEP)\n    def flush(self): pass\n || global KEEP; KEEP = (f, d, s); sys.stdout = O() | logging.warning(1)
class O:\n    def write(self, t): run(*KEEP)\n    def flush(self): pass\n || global KEEP; KEEP = (f, d, s); sys.stderr = sys.stdout = O() | print(1, file=sys.stderr)
class O:\n    def write(self, t): run(*KEEP)\n    def flush(self): pass\n || global KEEP; KEEP = (f, d, s); sys.stdout, q = O(), 1 | print(1)
class O:\n    def write(self, t): run(*KEEP)\n    def flush(self): pass\n || global KEEP; KEEP = (f, d, s); setattr(sys, "stdout", O()) | print(1)
class O:\n    def write(self, t): run(*KEEP)\n    def flush(self): pass\n || global KEEP; KEEP = (f, d, s) | print(1, file=O())
warnings.showwarning = lambda *a, **k: run(f, d, s) | warnings.warn("x")
sys.stdout.write = lambda t: run(f, d, s) | print(1)
sys.stdout.write = lambda t: run(f, d, s) | sys.stdout.write("x")
class R:\n    def __init__(self, d, s): self.d, self.s = d, s\n    def __repr__(self): run(None, self.d, self.s); return "x" || q = R(d, s) | print(q)
class R:\n    def __init__(self, d, s): self.d, self.s = d, s\n    def __repr__(self): run(None, self.d, self.s); return "x"\n    __str__ = __repr__ || q = R(d, s) | print(f"{q}")
class R:\n    def __init__(self, d, s): self.d, self.s = d, s\n    def __repr__(self): run(None, self.d, self.s); return "x"\n    __str__ = __repr__ || q = R(d, s) | str(q)
class R:\n    def __init__(self, d, s): self.d, self.s = d, s\n    def __lt__(self, o): run(None, self.d, self.s); return True\n    __gt__ = __le__ = __ge__ = __lt__ || q = R(d, s) | ok = q >= 1
class R:\n    def __init__(self, d, s): self.d, self.s = d, s\n    def __add__(self, o): run(None, self.d, self.s); return self\n    __radd__ = __add__ || q = R(d, s) | ok = 1 + q
class R:\n    def __init__(self, d, s): self.d, self.s = d, s\n    def __call__(self): run(None, self.d, self.s)\n    go = __call__ || q = R(d, s) | q.go()
class R:\n    def __init__(self, d, s): self.d, self.s = d, s\n    def go(self): run(None, self.d, self.s)\n    __enter__ = go\n    def __exit__(self, *a): pass || q = R(d, s) | with q: pass
class R:\n    def __init__(self, d, s): self.d, self.s = d, s\n    def __enter__(self): return self\n    def close(self, *a): run(None, self.d, self.s)\n    __exit__ = close || q = R(d, s) | with q: pass
class R:\n    def __init__(self, d, s): self.d, self.s = d, s\n    def close(self, *a): run(None, self.d, self.s)\n    __del__ = close || q = R(d, s) | q = None
class R:\n    def __init__(self, d, s): self.d, self.s = d, s\n    @property\n    def go(self): run(None, self.d, self.s)\n    alias = go || q = R(d, s) | q.alias
class R:\n    def __init__(self, d, s): self.d, self.s = d, s\n    def _go(self): run(None, self.d, self.s)\n    go = property(_go) || q = R(d, s) | q.go
class R:\n    def __init__(self, d, s): self.d, self.s = d, s\n    def _go(self): run(None, self.d, self.s)\n    go = property(fget=_go, doc="x") || q = [R(d, s)] | q[0].go
class R:\n    def __init__(self, d, s): self.d, self.s = d, s\n    def go(self): run(None, self.d, self.s)\n    table = {"a": go} || q = R(d, s) | q.table["a"](q)
class R:\n    def __init__(self, d, s): self.d, self.s = d, s\n    def go(self): run(None, self.d, self.s)\n    hooks = [go] || q = R(d, s) | for x in R.hooks: x(q)
class R:\n    def __init__(self, d, s):\n        self.d, self.s = d, s\n        self.table = {"a": self.go}\n    def go(self): run(None, self.d, self.s) || q = R(d, s) | q.table["a"]()
class R:\n    def __init__(self, d, s):\n        self.d, self.s = d, s\n        self.hooks = [self.go, lambda: None]\n    def go(self): run(None, self.d, self.s)\n    def fire(self):\n        for x in self.hooks: x() || q = R(d, s) | q.fire()
class R:\n    def __init__(self, d, s):\n        self.d, self.s = d, s\n    def __getattr__(self, n): return lambda *a: run(None, self.d, self.s) || q = R(d, s) | q.anything()
class R:\n    def __init__(self, o): self.o = o\n    def __getattr__(self, n): return getattr(self.o, n) || q = R(Runner(f, d, s)) | q.go()
class R:\n    def __init__(self, o): self.__dict__["o"] = o\n    def __getattr__(self, n): return getattr(self.o, n)\n    def __setattr__(self, n, v): setattr(self.o, n, v) || q = R(Runner(f, d, 0)); q.s = s | q.o.go()
class R:\n    def __new__(cls, f, d, s): return Runner(f, d, s) || | R(f, d, s).go()
class R(Runner):\n    def go(self): super().go() || | R(f, d, s).go()
class R(Runner):\n    def go(self): super(R, self).go() || | R(f, d, s).go()
class R(Runner):\n    def go(self): Runner.go(self) || | R(f, d, s).go()
class R(Runner):\n    def __getattribute__(self, n): return super().__getattribute__("go") || | R(f, d, s).nothing()
class R(Runner):\n    go = None || | Runner.go(R(f, d, s))
class R(Runner):\n    def go(self): pass || | Runner(f, d, s).go(); R(f, d, s).go()
class R(Runner):\n    def go(self): pass\ndef use(r: Runner): r.go() || | use(Runner(f, d, s))
class R(Runner):\n    def go(self): pass\ndef use(r: R): r.go() || | use(Runner(f, d, s))
def use(r: "Runner"): r.go() || | use(Runner(f, d, s))
def use(r: typing.Optional[Runner] = None):\n    if r is not None: r.go() || | use(Runner(f, d, s))
def use(rs: typing.Sequence[Runner]):\n    for r in rs: r.go() || | use([Runner(f, d, s)])
def use(rs: list[Runner]):\n    for r in rs + rs: r.go() || | use([Runner(f, d, s)])
def use(rs: list[Runner]):\n    [r.go() for r in rs] || | use([Runner(f, d, s)])
def use(rs: list[Runner]):\n    for r in rs: r.d and r.go() || | use([Runner(f, d, s)])
def use(rs: list[Runner]):\n    for r in rs[:1]: r.go() || | use([Runner(f, d, s)])
def use(rs: list[Runner]):\n    for i, r in enumerate(rs): r.go() || | use([Runner(f, d, s)])
def use(rs: list[Runner]):\n    while rs: rs.pop().go() || | use([Runner(f, d, s)])
def use(rs: dict[str, Runner]):\n    for k in rs: rs[k].go() || | use({"a": Runner(f, d, s)})
def use(rs: list[Runner]):\n    for r in rs: r.go() || | use({Runner(f, d, s): 1})
def use(rs: list[Runner]):\n    for r in rs: r.go() || | use({Runner(f, d, s)})
def use(rs: list[Runner]):\n    for r in rs: r.go() || | use(x for x in [Runner(f, d, s)])
def use(rs: list[Runner]):\n    for r in rs: r.go() || | use(map(lambda a: a, [Runner(f, d, s)]))
def use(rs: list[Runner]):\n    for r in rs: r.go() || | use(collections.deque([Runner(f, d, s)]))
def use(rs: list[Runner]):\n    for r in rs: r.go() || | use(np.array([Runner(f, d, s)], object))
def use(rs: list[Runner]):\n    for r in rs: r.go() || | use({"a": Runner(f, d, s)}.values())
def use(rs: list[Runner]):\n    for r in rs: r.go() || class It:\n        def __iter__(self): yield Runner(f, d, s)\n    | use(It())
"""


@pytest.mark.parametrize("case", cases(FIELDS))
def test_what_a_field_leads_to_is_waited_for(case: str) -> None:
    assert check_case(READER, case)


@pytest.mark.parametrize("case", cases(FIELDS_WRITTEN))
def test_what_is_written_through_a_field_is_waited_for(case: str) -> None:
    assert check_case(WRITER, case)


@pytest.mark.parametrize("case", cases(FIELDS_WORK))
def test_a_free_behind_the_work_of_what_a_field_holds_is_in_order(case: str) -> None:
    assert check_case(USER, case, (*WAITS, ", s"))


# ---------------------------------------------------------------------------------------------------------------------
# `__del__`

ENDS = r"""
class B:\n    def __init__(self, p): self.p = p\n    def close(self): look(self.p)\nclass A:\n    def __init__(self, b): self.b = b\n    def __del__(self): self.b.close() || q = A(B(h)) | del q
class A:\n    def __init__(self, p): self.p = p\n    def __del__(self): print(self.p[0]) || q = A(h) | q = None
class A:\n    def __init__(self, p): self.p = p\n    def __del__(self): print(self.p[0]) || | A(h)
class A:\n    def __init__(self, p): self.p = p\n    def __del__(self):\n        for x in self.p: pass || | A(h)
class A:\n    def __init__(self, p): self.p = p\n    def __del__(self): self.x = list(self.p) || | A(h)
class A:\n    def __init__(self, p): self.p = p\n    def __del__(self): self.close()\n    def close(self): look(self.p) || | A(h)
class A:\n    def __init__(self, p): self.p = p\n    def __del__(self): self.done = self.p[0] == 1 || | A(h)
class A:\n    def __init__(self, p): self.p = p\n    def __del__(self): free(self.p)\ndef free(p): look(p) || | A(h)
class A:\n    def __init__(self, p): self.p = p\n    def __del__(self): KEPT.append(1); release(self.p)\ndef release(p): p[0] || | A(h)
class A:\n    def __init__(self, p): self.p = p\n    def __del__(self): ctypes.pythonapi.free(self.p) || | A(h)
class A:\n    def __init__(self, p): self.p = p\n    def __del__(self):\n        if self.p.any(): pass || | A(h)
class A:\n    def __init__(self, p): self.p = p\n    def __del__(self):\n        x, *y = self.p || | A(h)
class A:\n    def __init__(self, p): self.p = p\n    def __del__(self):\n        return [*self.p] || | A(h)
class A:\n    def __init__(self, p): self.p = p\n    def __del__(self):\n        self.p += 1 || | A(h)
class A:\n    def __init__(self, p): self.p = p\n    def __del__(self):\n        1 in self.p || | A(h)
class A:\n    def __init__(self, p): self.p = p\n    def __del__(self):\n        with self.p: pass || | A(Box(h))
class A:\n    def __init__(self, p): self.p = p\n    def __del__(self):\n        self.p + 1 || | A(h)
class A:\n    def __init__(self, p): self.p = p\n    def __del__(self):\n        self.p.value || | A(Box(h))
class A:\n    def __init__(self, p): self.p = p\n    def __del__(self):\n        assert self.p || | A(h)
class A:\n    def __init__(self, p): self.p = p\n    def __del__(self):\n        -self.p || | A(h)
class A:\n    def __init__(self, p): self.p = p\n    def __del__(self):\n        return {x for x in self.p} || | A(h)
class A(unseen.B):\n    def __init__(self, p): self.p = p || | A(h)
class A(Box):\n    def __del__(self): self.value || | A(h)
class A(Box):\n    def __del__(self): super().get() || | A(h)
class A(Box):\n    def __del__(self): delattr(self, "p") || | A(h)
class A:\n    def __init__(self, p): self.p = p\n    def __del__(self):\n        if hasattr(self, "p"): self.p[0] || | A(h)
class A:\n    def __init__(self, p): self.p = p\n    def __del__(self):\n        if len(self.p): free_it() || | A(Box(h))
class A:\n    def __init__(self, p): self.p = p\n    @property\n    def v(self): return self.p[0]\n    def __del__(self):\n        if hasattr(self, "v"): pass || | A(h)
class A:\n    def __init__(self, p): self.p = p\n    def __del__(self):\n        close(self.p)\ndef close(p): p[0] || | A(h)
class A:\n    def __init__(self, p): self.p = p\n    def __del__(self):\n        unseen.close(self.p) || | A(h)
"""
ENDS_WORK = r"""
class A:\n    def __init__(self, f, d, s): self.f, self.d, self.s = f, d, s\n    def __del__(self): run(self.f, self.d, self.s) || | A(f, d, s)
class A:\n    def __init__(self, f, d, s): self.f, self.d, self.s = f, d, s\n    def __del__(self): self.release()\n    def release(self): run(self.f, self.d, self.s) || | A(f, d, s)
class A:\n    def __init__(self, f, d, s): self.f, self.d, self.s = f, d, s\n    def __del__(self): release(self)\ndef release(self): run(self.f, self.d, self.s) || | A(f, d, s)
class A:\n    def __init__(self, f, d, s): self.f, self.d, self.s = f, d, s\n    def __del__(self): check(driver.cuMemsetD8Async(self.d, 0, 80, self.s)) || | A(f, d, s)
class A:\n    def __init__(self, f, d, s): self.f, self.d, self.s = f, d, s\n    def __del__(self):\n        check(driver.cuMemsetD8Async(self.d, 0, 80, self.s)); cudart.cudaFreeHost(0) || | A(f, d, s)
class A:\n    def __init__(self, f, d, s): self.f, self.d, self.s = f, d, s\n    def __del__(self):\n        self.close(); cudart.cudaFreeHost(0)\n    def close(self): check(driver.cuMemsetD8Async(self.d, 0, 80, self.s)) || | A(f, d, s)
"""


@pytest.mark.parametrize("case", cases(ENDS))
def test_what_the_end_of_an_object_reads_is_waited_for(case: str) -> None:
    assert check_case(READER, case)


@pytest.mark.parametrize("case", cases(ENDS_WORK))
def test_a_free_behind_the_work_at_the_end_of_an_object_is_in_order(case: str) -> None:
    assert check_case(USER, case, (*WAITS, ", s"))


# ---------------------------------------------------------------------------------------------------------------------
# the class of what a variable of a module holds

GLOBALS = r"""
class A:\n    def __init__(self, p): self.p = p\n    def sum(self): return 1\nclass B(A):\n    def sum(self): return self.p[0]\n || q = A(h)\nq = B(h) | ok = q.sum()
class A:\n    def __init__(self, p): self.p = p\n    def sum(self): return 1\nclass B:\n    def __init__(self, p): self.p = p\n    def sum(self): return self.p[0]\n || q = A(h)\nfor q in [B(h)]: pass | ok = q.sum()
class A:\n    def __init__(self, p): self.p = p\n    def sum(self): return 1\nclass B:\n    def __init__(self, p): self.p = p\n    def sum(self): return self.p[0]\n || q = A(h)\nglobals()["q"] = B(h) | ok = q.sum()
class A:\n    def __init__(self, p): self.p = p\n    def sum(self): return 1\nclass B:\n    def __init__(self, p): self.p = p\n    def sum(self): return self.p[0]\n || q = A(h)\ndef f():\n    global q\n    q = B(h)\nf() | ok = q.sum()
class A:\n    def __init__(self, p): self.p = p\n    def sum(self): return 1\nclass B:\n    def __init__(self, p): self.p = p\n    def sum(self): return self.p[0]\n || q = A(h)\ndef f():\n    global q\n    for q in [B(h)]: pass\nf() | ok = q.sum()
class A:\n    def __init__(self, p): self.p = p\n    def sum(self): return 1\nclass B:\n    def __init__(self, p): self.p = p\n    def sum(self): return self.p[0]\n || q = A(h)\n(q := B(h)) | ok = q.sum()
class A:\n    def __init__(self, p): self.p = p\n    def sum(self): return 1\nclass B:\n    def __init__(self, p): self.p = p\n    def sum(self): return self.p[0]\n || q = A(h)\nwith contextlib.nullcontext(B(h)) as q: pass | ok = q.sum()
class A:\n    def __init__(self, p): self.p = p\n    def sum(self): return 1\nclass B:\n    def __init__(self, p): self.p = p\n    def sum(self): return self.p[0]\n || q = A(h)\nmatch B(h):\n    case q: pass | ok = q.sum()
class A:\n    def __init__(self, p): self.p = p\n    def sum(self): return 1\nclass B:\n    def __init__(self, p): self.p = p\n    def sum(self): return self.p[0]\n || q = A(h)\n[q := x for x in [B(h)]] | ok = q.sum()
class A:\n    def __init__(self, p): self.p = p\n    def sum(self): return 1\nclass B:\n    def __init__(self, p): self.p = p\n    def sum(self): return self.p[0]\n || q = A(h)\nsys.modules[__name__].q = B(h) | ok = q.sum()
class A:\n    def __init__(self, p): self.p = p\n    def sum(self): return 1\nclass B:\n    def __init__(self, p): self.p = p\n    def sum(self): return self.p[0]\n || q = A(h)\nimport __main__\n__main__.q = B(h) | ok = q.sum()
class A:\n    def __init__(self, p): self.p = p\n    def sum(self): return 1\nclass B:\n    def __init__(self, p): self.p = p\n    def sum(self): return self.p[0]\n || q = A(h)\nexec("q = B(h)") | ok = q.sum()
class A:\n    def __init__(self, p): self.p = p\n    def sum(self): return 1\nclass B:\n    def __init__(self, p): self.p = p\n    def sum(self): return self.p[0]\n || q = A(h)\nq, r = B(h), 1 | ok = q.sum()
class A:\n    def __init__(self, p): self.p = p\n    def sum(self): return 1\nclass B:\n    def __init__(self, p): self.p = p\n    def sum(self): return self.p[0]\n || q = A(h)\nif n: q = B(h) | ok = q.sum()
class A:\n    def __init__(self, p): self.p = p\n    def sum(self): return 1\nclass B:\n    def __init__(self, p): self.p = p\n    def sum(self): return self.p[0]\n || q = A(h)\nq.__class__ = B | ok = q.sum()
class A:\n    def __init__(self, p): self.p = p\n    def sum(self): return 1\nclass B:\n    def __init__(self, p): self.p = p\n    def sum(self): return self.p[0]\n || q = A(h)\nfrom unseen import q | ok = q.sum()
class A:\n    def __init__(self, p): self.p = p\n    def sum(self): return 1\nclass B:\n    def __init__(self, p): self.p = p\n    def sum(self): return self.p[0]\n || q = A(h)\nclass q:\n    @staticmethod\n    def sum(): return h[0] | ok = q.sum()
class A:\n    def __init__(self, p): self.p = p\n    def sum(self): return 1\n    def __enter__(self): return B(self.p)\n    def __exit__(self, *a): pass\nclass B:\n    def __init__(self, p): self.p = p\n    def sum(self): return self.p[0]\n || | with A(h) as q: ok = q.sum()
class A:\n    def __init__(self, p): self.p = p\n    def sum(self): return 1\n    def __enter__(self): return self.p\n    def __exit__(self, *a): pass\n || | with A(h) as q: ok = q.sum()
"""


@pytest.mark.parametrize("case", cases(GLOBALS))
def test_what_a_variable_of_a_module_may_hold_as_well_is_waited_for(case: str) -> None:
    assert check_case(lines(READER), case)


# ---------------------------------------------------------------------------------------------------------------------
# waits that may not run, or may be for another stream

NO_WAITS = r"""
class A:\n    def __init__(self, p): self.p = p\n    @functools.cached_property\n    def v(self): check(cudart.cudaStreamSynchronize(0)) || q = A(h); q.v | q.v; ok = h[0]
class A:\n    def __init__(self, t): self.t = t\n    @functools.cached_property\n    def v(self): check(cudart.cudaStreamSynchronize(self.t)) || q = A(stream); q.v | q.v; ok = h[0]
@functools.cache\ndef v(t): check(cudart.cudaStreamSynchronize(t)) || v(stream) | v(stream); ok = h[0]
class A:\n    def __init__(self, t): self.t = t\n    @functools.cached_property\n    def v(self): check(cudart.cudaStreamSynchronize(self.t)) || q = [A(stream)]; q[0].v | q[0].v; ok = h[0]
class A:\n    one = None\n    def __new__(cls, *a):\n        check(cudart.cudaDeviceSynchronize())\n        return object.__new__(cls)\n || | A(); ok = h[0]
class A:\n    @classmethod\n    def wait(cls, t): check(cudart.cudaStreamSynchronize(t))\n || | A.wait(0); ok = h[0]
class A:\n    def __del__(self): check(cudart.cudaDeviceSynchronize())\n || q = A(); r = q | del q; ok = h[0]
class A:\n    def __exit__(self, *a): check(cudart.cudaDeviceSynchronize())\n    def __enter__(self): return self\n || | with A(): ok = h[0]
class A:\n    def __exit__(self, *a): check(cudart.cudaDeviceSynchronize())\n    def __enter__(self): return self\n || | with contextlib.suppress(): A();  ok = h[0]
def sync(): check(cudart.cudaDeviceSynchronize())\n || | (n > 99) and sync(); ok = h[0]
def sync(): check(cudart.cudaDeviceSynchronize())\n || | (n > 99 and sync()) or h[0]
def sync(): check(cudart.cudaDeviceSynchronize())\n || | x = sync() if n > 99 else None; ok = h[0]
def sync(): check(cudart.cudaDeviceSynchronize())\n || | [sync() for i in range(n) if i > 99]; ok = h[0]
def sync(): check(cudart.cudaDeviceSynchronize())\n || | [sync() for i in []]; ok = h[0]
def sync(): check(cudart.cudaDeviceSynchronize())\n || | any(sync() for i in range(0)); ok = h[0]
def sync(): check(cudart.cudaDeviceSynchronize())\n || | (sync() for i in range(2)); ok = h[0]
def sync(): check(cudart.cudaDeviceSynchronize())\n || | map(sync, []); ok = h[0]
def sync(): check(cudart.cudaDeviceSynchronize())\n || | f = lambda: sync(); ok = h[0]
def sync(): check(cudart.cudaDeviceSynchronize())\n || | assert sync() is None; ok = h[0]
| assert check(cudart.cudaDeviceSynchronize()) is None; ok = h[0]
| if __debug__: check(cudart.cudaDeviceSynchronize())\n    ok = h[0]
| 1 < n < 3 < check(cudart.cudaDeviceSynchronize()); ok = h[0]
| n < 3 < check(cudart.cudaDeviceSynchronize()); ok = h[0]
| try: check(cudart.cudaDeviceSynchronize())\n    finally: ok = h[0]
| try: int("x"); check(cudart.cudaDeviceSynchronize())\n    except ValueError: ok = h[0]
| try: look(1); check(cudart.cudaDeviceSynchronize())\n    except TypeError: pass\n    ok = h[0]
| try: n / 0; check(cudart.cudaDeviceSynchronize())\n    except ZeroDivisionError: pass\n    ok = h[0]
| try: [][3]; check(cudart.cudaDeviceSynchronize())\n    except IndexError: pass\n    ok = h[0]
| try: n.foo; check(cudart.cudaDeviceSynchronize())\n    except AttributeError: pass\n    ok = h[0]
| try: raise ValueError\n    except ValueError: pass\n    else: check(cudart.cudaDeviceSynchronize())\n    ok = h[0]
| try:\n        if n > 3: raise ValueError\n        check(cudart.cudaDeviceSynchronize())\n    except ValueError: pass\n    ok = h[0]
def bad():\n    raise ValueError || | try:\n        bad()\n        check(cudart.cudaDeviceSynchronize())\n    except ValueError: pass\n    ok = h[0]
| with contextlib.suppress(Exception):\n        int("x")\n        check(cudart.cudaDeviceSynchronize())\n    ok = h[0]
| with contextlib.suppress(Exception):\n        cudart.foo()\n        check(cudart.cudaDeviceSynchronize())\n    ok = h[0]
class S:\n    def __enter__(self): pass\n    def __exit__(self, *a): return True || | with S():\n        int("x")\n        check(cudart.cudaDeviceSynchronize())\n    ok = h[0]
| while True:\n        if n: break\n        check(cudart.cudaDeviceSynchronize())\n    ok = h[0]
| while n:\n        check(cudart.cudaDeviceSynchronize())\n        n -= 1\n    ok = h[0]
| for i in range(n): check(cudart.cudaDeviceSynchronize())\n    ok = h[0]
| for i in range(2):\n        if i: check(cudart.cudaDeviceSynchronize())\n        else: ok = h[0]
| match n:\n        case 1: check(cudart.cudaDeviceSynchronize())\n        case _: pass\n    ok = h[0]
| match n:\n        case int() if check(cudart.cudaDeviceSynchronize()): pass\n    ok = h[0]
| match n:\n        case 3 if not check(cudart.cudaDeviceSynchronize()): pass\n    ok = h[0]
| match n:\n        case 3: pass\n        case x if not check(cudart.cudaDeviceSynchronize()): pass\n    ok = h[0]
ss = [stream for _ in range(2)] | any(check(cudart.cudaStreamSynchronize(ss[i])) or True for i in range(0, 2)); ok = h[0]
| next((x for x in [check(cudart.cudaStreamSynchronize(t)) for t in []]), None); ok = h[0]
| any(cudart.cudaStreamSynchronize(t) for t in (0, stream)); ok = h[0]
| for _ in (cudart.cudaStreamSynchronize(t) for t in (0, stream)): break\n    ok = h[0]
| for t in (0, stream):\n        if t == 0: break\n        cudart.cudaStreamSynchronize(t)\n    ok = h[0]
| next(cudart.cudaStreamSynchronize(t) for t in (0, stream)); ok = h[0]
| a = [0, stream]; any(cudart.cudaStreamSynchronize(a[i]) for i in range(2)); ok = h[0]
| a = [0, stream]; [cudart.cudaStreamSynchronize(a[i]) for i in range(1)]; ok = h[0]
| a = [0, stream]; [cudart.cudaStreamSynchronize(a[i]) for i in range(n - 19)]; ok = h[0]
| a = {0: 0, 1: stream}; cudart.cudaStreamSynchronize(a[n - 20]); ok = h[0]
| a = [stream, 0]; a.sort(key=int); cudart.cudaStreamSynchronize(a[0]); ok = h[0]
| a = [stream, 0][::-1]; cudart.cudaStreamSynchronize(a[0]); ok = h[0]
| a = [stream, 0]; a.reverse(); cudart.cudaStreamSynchronize(a[0]); ok = h[0]
| a = [stream, 0]; a[0], a[1] = a[1], a[0]; cudart.cudaStreamSynchronize(a[0]); ok = h[0]
| a, b = stream, 0; a, b = b, a; cudart.cudaStreamSynchronize(a); ok = h[0]
| a = [stream]; a *= 0; [cudart.cudaStreamSynchronize(x) for x in a]; ok = h[0]
| a = [stream, stream]; a[0:1] = [0]; cudart.cudaStreamSynchronize(a[0]); ok = h[0]
| a = [stream, stream]; a[-2] = 0; cudart.cudaStreamSynchronize(a[0]); ok = h[0]
| a = [stream, stream]; del a[0:2]; a += [0]; cudart.cudaStreamSynchronize(a[0]); ok = h[0]
| a = [stream]; a.insert(0, 0); cudart.cudaStreamSynchronize(a[0]); ok = h[0]
| a = [stream]; a = [0] + a; cudart.cudaStreamSynchronize(a[0]); ok = h[0]
| a = (stream,); a = (0,) + a; cudart.cudaStreamSynchronize(a[0]); ok = h[0]
| a = (stream,); a = (0, *a); cudart.cudaStreamSynchronize(a[0]); ok = h[0]
| a = [0, stream]; cudart.cudaStreamSynchronize(a[True - 1]); ok = h[0]
| a = {"x": stream}; a |= {"x": 0}; cudart.cudaStreamSynchronize(a["x"]); ok = h[0]
| a = {"x": stream, **{"x": 0}}; cudart.cudaStreamSynchronize(a["x"]); ok = h[0]
| a = {"x": stream, "x": 0}; cudart.cudaStreamSynchronize(a["x"]); ok = h[0]
| a = {1: stream, True: 0}; cudart.cudaStreamSynchronize(a[1]); ok = h[0]
| a = {1: stream, 1.0: 0}; cudart.cudaStreamSynchronize(a[1]); ok = h[0]
| a = {"x": stream, "\\x78": 0}; cudart.cudaStreamSynchronize(a["x"]); ok = h[0]
| a = {"x": stream, 'x': 0}; cudart.cudaStreamSynchronize(a["x"]); ok = h[0]
| a = {"x": stream}; a['x'] = 0; cudart.cudaStreamSynchronize(a["x"]); ok = h[0]
| a = {"x": stream}; a["x" ""] = 0; cudart.cudaStreamSynchronize(a["x"]); ok = h[0]
| a = [stream, stream]; a[0x0] = 0; cudart.cudaStreamSynchronize(a[0]); ok = h[0]
| a = [stream, stream]; a[False] = 0; cudart.cudaStreamSynchronize(a[0]); ok = h[0]
| a = [stream, stream]; a[0b1] = 0; cudart.cudaStreamSynchronize(a[1]); ok = h[0]
| a = {"x": stream}; a.update(x=0); cudart.cudaStreamSynchronize(a["x"]); ok = h[0]
| a = dict(x=stream); a.update({"x": 0}); cudart.cudaStreamSynchronize(a["x"]); ok = h[0]
| a = dict({"x": stream}, x=0); cudart.cudaStreamSynchronize(a["x"]); ok = h[0]
| a = collections.ChainMap({"x": 0}, {"x": stream}); cudart.cudaStreamSynchronize(a["x"]); ok = h[0]
| a = [stream]; b = a; b[0] = 0; cudart.cudaStreamSynchronize(a[0]); ok = h[0]
| a = [[stream]] * 2; a[1][0] = 0; cudart.cudaStreamSynchronize(a[0][0]); ok = h[0]
| def f(t=stream): return cudart.cudaStreamSynchronize(t)\n    f.__defaults__ = (0,); f(); ok = h[0]
| a = Box(stream); a.__dict__["p"] = 0; cudart.cudaStreamSynchronize(a.p); ok = h[0]
| a = Box(stream); a.__init__(0); cudart.cudaStreamSynchronize(a.p); ok = h[0]
| a = Box(stream); setattr(a, "p", 0); cudart.cudaStreamSynchronize(a.p); ok = h[0]
| a = Box(stream); vars(a).update(p=0); cudart.cudaStreamSynchronize(a.p); ok = h[0]
| a = Data(stream); a = dataclasses.replace(a, p=0); cudart.cudaStreamSynchronize(a.p); ok = h[0]
| a = Pair(stream, 1)._replace(first=0); cudart.cudaStreamSynchronize(a.first); ok = h[0]
| a = Typed(stream, 1)._replace(first=0); cudart.cudaStreamSynchronize(a.first); ok = h[0]
| a = [stream, 0]; random.shuffle(a); cudart.cudaStreamSynchronize(a[0]); ok = h[0]
| a = [stream, 0]; np.random.default_rng().shuffle(a); cudart.cudaStreamSynchronize(a[0]); ok = h[0]
| a = [stream, 0]; np.random.shuffle(a); cudart.cudaStreamSynchronize(a[0]); ok = h[0]
| import heapq; a = [stream, 0]; heapq.heapify(a); cudart.cudaStreamSynchronize(a[0]); ok = h[0]
| import bisect; a = [stream]; bisect.insort(a, 0); cudart.cudaStreamSynchronize(a[0]); ok = h[0]
| random.Random(1).shuffle(a := [stream, 0]); cudart.cudaStreamSynchronize(a[0]); ok = h[0]
| t = stream; t = 0; cudart.cudaStreamSynchronize(t); ok = h[0]
| t = 0\n    for t in (stream, 0): pass\n    cudart.cudaStreamSynchronize(t); ok = h[0]
| t = stream\n    def f():\n        nonlocal t\n        t = 0\n    f(); cudart.cudaStreamSynchronize(t); ok = h[0]
| t = stream\n    f = lambda: cudart.cudaStreamSynchronize(t)\n    t = 0; f(); ok = h[0]
| fs = [lambda: cudart.cudaStreamSynchronize(t) for t in (stream, 0)]\n    fs[0](); ok = h[0]
| t, u = stream, 0; t = u; cudart.cudaStreamSynchronize(t); ok = h[0]
| *t, u = stream, 0; cudart.cudaStreamSynchronize(u); ok = h[0]
| [a, b] = [stream, 0]; a, b = b, a; cudart.cudaStreamSynchronize(a); ok = h[0]
| a = {0: stream}; a[0] = 0; cudart.cudaStreamSynchronize(a[0]); ok = h[0]
| a = {"x": stream}; cudart.cudaStreamSynchronize(a.get("y", 0)); ok = h[0]
| a = {"x": stream}; cudart.cudaStreamSynchronize(a.setdefault("y", 0)); ok = h[0]
| a = {"x": stream}; b = a.copy(); b["x"] = 0; cudart.cudaStreamSynchronize(b["x"]); ok = h[0]
| a = {k: v for k, v in [("x", stream), ("x", 0)]}; cudart.cudaStreamSynchronize(a["x"]); ok = h[0]
| a = dict.fromkeys("xy", stream); a["x"] = 0; cudart.cudaStreamSynchronize(a["x"]); ok = h[0]
| a = [stream for _ in range(2)]; [a.pop() for _ in range(2)]; a.append(0); cudart.cudaStreamSynchronize(a[0]); ok = h[0]
| a = [stream]; a.extend([0]); a.reverse(); cudart.cudaStreamSynchronize(a[0]); ok = h[0]
| a = [stream, 0]; cudart.cudaStreamSynchronize(a[-1]); ok = h[0]
| a = (stream, 0); b, c = a[::-1]; cudart.cudaStreamSynchronize(b); ok = h[0]
| a = [stream, 0]; random.shuffle(a); cudart.cudaStreamSynchronize(a[0]); ok = h[0]
| a = collections.deque([stream], maxlen=1); a.append(0); cudart.cudaStreamSynchronize(a[0]); ok = h[0]
| a = np.array([int(stream), 0]); a[0] = 0; cudart.cudaStreamSynchronize(int(a[0])); ok = h[0]
| a = int(stream) & 0; cudart.cudaStreamSynchronize(a); ok = h[0]
| a = stream if n > 99 else None; cudart.cudaStreamSynchronize(a or 0); ok = h[0]
| a = Box(stream); a.ptr = 0; cudart.cudaStreamSynchronize(a.p); ok = h[0]
| a = Box(stream); b = [a]; b[0].p = 0; cudart.cudaStreamSynchronize(a.p); ok = h[0]
def reset(x, **k): vars(x).update(k)\n || | a = Box(stream); reset(a, p=0); cudart.cudaStreamSynchronize(a.p); ok = h[0]
def reset(x=[]): return x\n || | reset().append(0); reset().append(stream); cudart.cudaStreamSynchronize(reset()[0]); ok = h[0]
def first(*a): return a[0]\n || | cudart.cudaStreamSynchronize(first(*(0,), stream)); ok = h[0]
def first(a, b=0): return b\n || | cudart.cudaStreamSynchronize(first(b=0, a=stream)); ok = h[0]
def first(a):\n    try: return a\n    finally: return 0\n || | cudart.cudaStreamSynchronize(first(stream)); ok = h[0]
def first(a): a = 0; return a\n || | cudart.cudaStreamSynchronize(first(stream)); ok = h[0]
def rec(n, s):\n    if n == 0: cudart.cudaStreamSynchronize(s)\n    else: rec(n - 1, 0)\n || | rec(2, stream); ok = h[0]
| if cudart.cudaStreamQuery(stream)[0] != cudart.cudaError_t.cudaSuccess: pass\n    ok = h[0]
| while n > 99: pass\n    else: pass\n    for i in []: cudart.cudaStreamSynchronize(stream)\n    ok = h[0]
| for i in range(n)[n:]: cudart.cudaStreamSynchronize(stream)\n    ok = h[0]
| for i in (1, 2):\n        if i: continue\n        cudart.cudaStreamSynchronize(stream)\n    ok = h[0]
| [cudart.cudaStreamSynchronize(stream) for i in range(2) if i > 3]; ok = h[0]
| e = check(cudart.cudaEventCreate()); cudart.cudaEventRecord(e, 0); cudart.cudaEventSynchronize(e); ok = h[0]
| e = check(cudart.cudaEventCreate()); cudart.cudaStreamWaitEvent(stream, e, 0); cudart.cudaStreamSynchronize(0); ok = h[0]
| check(cudart.cudaMemset(check(cudart.cudaMalloc(4)), 0, 4)); ok = h[0]
| check(cudart.cudaPeekAtLastError()); ok = h[0]
"""


@pytest.mark.parametrize("case", cases(NO_WAITS))
def test_a_wait_that_may_not_run_or_be_for_another_stream_orders_nothing(case: str) -> None:
    assert check_case(READER, case)


# ---------------------------------------------------------------------------------------------------------------------
# clocks

CLOCKS = r"""
time.time()
time.ctime()
datetime.datetime.now()
np.datetime64("now")
np.datetime64("now", "ms")
pd.Timestamp("now")
pd.Timestamp.now()
pd.to_datetime("now")
os.path.getmtime("x")
resource.getrusage(0)
"""
CLOCK = """
import datetime, os, resource
import pandas as pd
def main(n):
    s = check(cudart.cudaStreamCreateWithFlags(cudart.cudaStreamNonBlocking))
    SETUP
    d = check(cudart.cudaMalloc(80))
    check(cudart.cudaMemsetAsync(d, 0, 80, s))
    check(cudart.cudaFree(d))
    USE
    check(cudart.cudaStreamSynchronize(s))
main(20)
"""


@pytest.mark.parametrize("clock", cases(CLOCKS))
def test_a_clock_that_is_read_behind_the_free_is_waited_for(clock: str) -> None:
    assert check_case(CLOCK, f"t = {clock} | ok = {clock}")


# ---------------------------------------------------------------------------------------------------------------------
# variables of comprehensions and of classes by the names of others

HIDING = r"""
class A:\n    def get(self): return 1 || x = A() | ok = [x.get() for x in [Box(h)]]
class A:\n    def get(self): return 1 || x = A() | ok = {x.get() for x in [Box(h)]}
class A:\n    def get(self): return 1 || x = A() | ok = {1: x.get() for x in [Box(h)]}
class A:\n    def get(self): return 1 || x = A() | ok = sum(x.get() for x in [Box(h)])
class A:\n    def get(self): return 1\nx = A() || | ok = [x.get() for x in [Box(h)]]
class A:\n    def get(self): return 1\ndef f(x: list[A]): return [[x.get() for x in [Box(h2)]] for x in x] || global h2; h2 = h | f([A()])
class A:\n    def get(self): return 1\ndef f(x: list[A]): return [x.get() for x, _ in [(Box(h2), 1)]] || global h2; h2 = h | f([A()])
x = 3 | ok = [KEPT[x] for x in [h]]
x = "a" | ok = [print(x) for x in [h]]
x = cudart.cudaMallocHost(80)[1] | ok = [int(x) for x in [h]]
x = cudart.cudaMallocHost(80)[1] | ok = [str(x) for x in [h]]
x = cudart.cudaMallocHost(80)[1] | ok = [np.sum(x) for x in [h]]
x = cudart.cudaMallocHost(80)[1] | ok = [f"{x}" for x in [h]]
x = cudart.cudaMallocHost(80)[1] | out = np.empty(20); [out.__setitem__(0, x) for x in [h]]
x = {} | ok = [[y for y in x] for x in [h]]
x = np | ok = [x.sum() for x in [h]]
def x(): return 1 || | ok = [x() for x in [lambda: h[0]]]
x = len | ok = [x() for x in [lambda: h[0]]]
 | ok = [len(1) for len in [lambda a: h[0]]]
 | ok = [np.sum() for np in [h]]
x = 3\n    class L:\n        x = h\n        y = x[0] | pass
x = 3 | class L:\n        x = h\n        y = KEPT[x]
"""


@pytest.mark.parametrize("case", cases(HIDING))
def test_a_name_that_means_something_else_inside_is_waited_for(case: str) -> None:
    assert check_case(READER, case)


# ---------------------------------------------------------------------------------------------------------------------
# what stands in another file: `other.py` | what stands in front of the program | set up | use

FILES = r"""
KEEP = None\ndef show(): return KEEP[0] | import other | other.KEEP = h | other.show()
def look(p): return 1\ndef show(p): return look(p) | import other | other.look = lambda p: p[0] | other.show(h)
class B1:\n    def run(self): pass\nclass A:\n    def __init__(self): self.b = B1()\n    def go(self): return self.b.run() | import other\nclass B2:\n    def __init__(self, p): self.p = p\n    def run(self): return self.p[0] | q = other.A(); q.b = B2(h) | q.go()
class A:\n    def __init__(self): self.q = []\n    def go(self):\n        for x in self.q: y = x | from other import A | q = A(); q.q = h | q.go()
class A:\n    def go(self): pass\ndef make(): A().go() | import other | other.A.go = lambda self: h[0] | other.make()
import main\nx = main.KEEP[0] | KEEP = None | global KEEP; KEEP = h | import other
import main\nx = main.KEEP[0] | KEEP = None | global KEEP; KEEP = h | from other import x
import main\nmain.look(main.KEEP) | KEEP = None\ndef look(p): return p[0] | global KEEP; KEEP = h | import other as o
import time\nt = time.time() | n = 1 | q = 1 | import other
class M:\n    def go(self): return super().go()\n    def run(self): self.go() | from other import M\nclass B:\n    def go(self): return self.p[0]\nclass A(M, B):\n    def __init__(self, p): self.p = p | q = A(h) | q.run()
class M:\n    def __init__(self, p): self.p = p\n    def step(self): pass\n    def run(self): self.step() | from other import M\nclass A(M):\n    def step(self): return self.p[0] | q = A(h) | q.run()
def call(f): return f() | from other import call | q = h | call(lambda: h[0])
def call(f, *a): return f(*a) | from other import call | q = h | call(lambda p: p[0], h)
CB = []\ndef on(f): CB.append(f)\ndef fire():\n    for f in CB: f() | from other import on, fire | on(lambda: h[0]) | fire()
CB = None\ndef on(f):\n    global CB\n    CB = f\ndef fire(): CB() | from other import on, fire | on(lambda: h[0]) | fire()
import main\ndef profile(f):\n    def inner(): main.KEEP[0]\n    return inner | KEEP = None\nfrom other import profile\n@profile\ndef show(): pass | global KEEP; KEEP = h | show()
def bad(p): raise ValueError(p) | import other | try: other.bad(h)\n    except ValueError as e: q = e.args[0] | ok = q[0]
class V:\n    def __init__(self, p): self.p = p\n    @property\n    def value(self): return self.p[0] | from other import V | q = V(h) | if q.value: ok = 1
class V:\n    def __init__(self, p): self.p = p\n    @property\n    def value(self): return self.p[0] | import other | q = other.V(h) | match q:\n        case other.V(value=1): pass
class C:\n    x = None\n    @classmethod\n    def get(cls): return cls.x[0] | from other import C | C.x = h | C.get()
class C:\n    x = None\n    def get(self): return self.x[0] | from other import C | C.x = h | C().get()
class C:\n    x = None\n    def get(self): return self.x[0] | import other | other.C.x = h; q = other.C() | q.get()
import dataclasses\n@dataclasses.dataclass\nclass B:\n    p: object | import dataclasses\nfrom other import B\n@dataclasses.dataclass\nclass D(B):\n    n: int = 0 | q = D(h, 1) | ok = q.p[0]
class B:\n    def __init__(self, p): self.p = p\n    def go(self): return self.v\n    @property\n    def v(self): return 1 | from other import B\nclass D(B):\n    @property\n    def v(self): return self.p[1] | q = D(h) | q.go()
"""


@pytest.mark.parametrize("case", cases(FILES))
def test_what_another_file_does_is_waited_for(case: str) -> None:
    other, before, rest = (part.replace("\\n", "\n") for part in case.split(" | ", 2))
    assert is_in_order(READER, rest, WAITS, f"{before}\n", {"other.py": f"{other}\n"})


THIRD = r"""
def get(self): return 1 | def get(self): return self.p[0] | a.get()
@property\n    def v(self): return 1 | @property\n    def v(self): return self.p[0] | a.v
def sum(self): return 1 | def sum(self): return self.p[0] | a.sum()
def go(self): return self.get()\n    def get(self): return 1 | def go(self): return self.get()\n    def get(self): return self.p[0] | a.go()
v = 1 | v = property(lambda self: self.p[0]) | a.v
def go(self): return 1 | go = lambda self: self.p[0] | a.go()
def go(self): return 1 | def __getattr__(self, n): return lambda: self.p[0] | a.go()
"""


@pytest.mark.parametrize("case", cases(THIRD))
def test_what_an_object_of_a_third_file_does_instead_is_waited_for(case: str) -> None:
    one, other, use = (part.replace("\\n", "\n") for part in case.split(" | "))
    init = "    def __init__(self, p): self.p = p\n"
    files = {
        "other.py": f"class A:\n{init}    {one}\ndef look_at(a: A): return {use}\n",
        "third.py": f"class C:\n{init}    {other}\ndef make(p): return C(p)\n",
    }
    before = "from other import look_at\nfrom third import make\n"
    assert is_in_order(READER, "q = make(h) | look_at(q)", WAITS, before, files)


@pytest.mark.parametrize("line", ["import hooks", "import hooks.a as b", "from hooks import a", "from . import hooks"])
@pytest.mark.parametrize("body", [USER, lines(USER)])
def test_what_an_unseen_module_starts_where_it_is_imported_is_assumed(line: str, body: str) -> None:
    source = HEAD + definitions(body) + body.replace("SETUP", "import json, torch").replace("USE", line)
    (finding,) = (f for f in analyze({"main.py": source.encode()}, Config()).findings if "pairs" in f.codemod)
    assert sorted({a.name for a in finding.assumptions}) == ["imports_set_no_hooks", "leaves_no_work"]
    assert any("import " in a.subject for a in finding.assumptions if a.name == "leaves_no_work")


# ---------------------------------------------------------------------------------------------------------------------
# CuPy: how a stream becomes the current one

CURRENT = r"""
 | with s: square((1,), (1,), (d,))
 | with cp.cuda.ExternalStream(s.ptr): square((1,), (1,), (d,))
q = cp.cuda.ExternalStream(s.ptr) | square((1,), (1,), (d,), stream=q)
q = cp.cuda.ExternalStream(s.ptr) | q.use(); square((1,), (1,), (d,))
q = s if n else cp.cuda.Stream.null | with q: square((1,), (1,), (d,))
q = [s, cp.cuda.Stream.null] | with q[n % 2]: square((1,), (1,), (d,))
 | with contextlib.ExitStack() as st: st.enter_context(s); square((1,), (1,), (d,))
 | with contextlib.ExitStack() as st: f = st.enter_context; f(s); square((1,), (1,), (d,))
 | s.__enter__(); square((1,), (1,), (d,)); s.__exit__(None, None, None)
 | with contextlib.nullcontext(s) as t: square((1,), (1,), (d,), stream=t)
 | with s, open("x"): square((1,), (1,), (d,))
 | with unseen.stream(): square((1,), (1,), (d,))
def use(t):\n    with t: return square || | use(s)((1,), (1,), (d,))
def run(t, d):\n    with t: square((1,), (1,), (d,)) || | run(s, d)
def run(cb): cb() || | with s: run(lambda: square((1,), (1,), (d,)))
from numba import cuda\nclass V:\n    def __init__(self, d): self.d = d\n    @property\n    def __cuda_array_interface__(self): return {"data": (self.d, False), "shape": (20,), "typestr": "<i4", "version": 3}\n@cuda.jit\ndef kk(p): p[0] = 1 || q = cuda.external_stream(s.ptr)\n    a = V(d) | kk[1, 1, q](a)
class V:\n    def __init__(self, d): self.d = d\n    @property\n    def __cuda_array_interface__(self): return {"data": (self.d, False), "shape": (20,), "typestr": "<i4", "version": 3}\nk2 = cp.ElementwiseKernel("raw int32 p", "int32 y", "y = p[0]", "e") || | k2(V(d), cp.zeros(3, cp.int32), stream=s)
"""
CUPY = """\
import contextlib
import cupy as cp
import unseen
from cupy.cuda import runtime as rt
square = cp.RawKernel('extern "C" __global__ void square(int *p) { *p = 1; }', "square")
BEFORE
def main(n):
    s = cp.cuda.Stream(non_blocking=True)
    SETUP
    d = rt.malloc(80)
    USE
    rt.free(d)
    s.synchronize()
main(20)
"""


@pytest.mark.parametrize("case", cases(CURRENT))
def test_a_free_behind_work_on_the_current_stream_of_cupy_is_in_order(case: str) -> None:
    before, _, rest = case.rpartition(" || ")
    setup, _, use = f" {rest}".partition(" | ")
    parts = [part.replace("\\n", "\n") for part in (before, setup.strip() or "pass", use)]
    source = CUPY.replace("BEFORE", parts[0]).replace("SETUP", parts[1]).replace("USE", parts[2])
    report = analyze({"main.py": source.encode()}, Config())
    assert not report.problems
    assert all(", s.ptr" in inserted(report) for finding in report.findings if finding.safety is Safety.PROVEN)
