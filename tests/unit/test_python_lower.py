"""Lowering Python: what each construct becomes, as dumps of the IR."""

# ruff: noqa: E501  (code and its dump stand side by side)

from __future__ import annotations

import textwrap
import time
from typing import NamedTuple

import pytest

from cudafix import ir
from cudafix.frontends.python.tree import PythonTree
from cudafix.ir.dump import dump
from cudafix.pipeline.driver import analyze
from cudafix.project.config import Config

HEAD = """\
import ctypes
import numpy as np
from cuda.bindings import driver, runtime as cudart

def check(result):
    if result[0].value:
        raise RuntimeError(str(result[0]))
    return None if len(result) == 1 else result[1] if len(result) == 2 else result[1:]

"""


class Case(NamedTuple):
    name: str
    code: str
    want: str


def lowered(code: str, head: str = HEAD) -> ir.Module:
    return PythonTree({"a.py": (head + textwrap.dedent(code)).encode()}).lowered("a.py")[0]


def body(code: str, params: str = "", head: str = HEAD) -> str:
    """The dump of one function around `code`, without the marks of the sites."""
    text = dump(lowered(f"def f({params}):\n{textwrap.indent(textwrap.dedent(code).strip(), '    ')}\n", head))
    lines = text[text.index("function a::f(") :].splitlines()[1:]
    end = next((n for n, line in enumerate(lines) if not line.startswith("  ")), len(lines))
    return "\n".join(line[2:].split("  [")[0] for line in lines[:end])


STATEMENTS = [
    Case("a result behind a check", "p = check(cudart.cudaMalloc(n))", "%1 = cudaMalloc(&p, n) checked"),
    Case(
        "a tuple taken apart",
        "err, p = cudart.cudaMalloc(n)\nprint(err)",
        "err = cudaMalloc(&p, n) checked\n%1 = builtins.print(err) checked",
    ),
    Case("a status that nobody looks at", "_, p = cudart.cudaMalloc(n)", "_ = cudaMalloc(&p, n)"),
    Case("an element of the tuple", "p = cudart.cudaMalloc(n)[1]", "%1 = cudaMalloc(&p, n)"),
    Case(
        "a status alone",
        "err, = cudart.cudaFree(n)\nif err != cudart.cudaError_t.cudaSuccess:\n    raise SystemExit",
        "err = cudaFree(n) checked\nif failed err\n  throw()",
    ),
    Case("a bare call", "cudart.cudaFree(n)", "%1 = cudaFree(n)"),
    Case(
        "the driver's twins",
        "p = check(driver.cuMemAlloc(n))\ncheck(driver.cuMemFree(p))",
        "%1 = cudaMalloc(&p, n) checked\n%2 = cudaFree(p) checked",
    ),
    Case(
        "an enumerator",
        "check(cudart.cudaMemcpy(n, m, 4, cudart.cudaMemcpyKind.cudaMemcpyDeviceToHost))",
        "%1 = cudaMemcpy(n, m, 4, cudaMemcpyDeviceToHost) checked",
    ),
    Case(
        "a direction by its number",
        "check(cudart.cudaMemcpy(n, m, 4, 1))",
        "%1 = cudaMemcpy(n, m, 4, cudaMemcpyHostToDevice) checked",
    ),
    Case(
        "a handle made of a number",
        "check(cudart.cudaStreamSynchronize(cudart.cudaStream_t(n)))",
        "%1 = cudaStreamSynchronize(n) checked",
    ),
    Case(
        "a launch",
        "check(driver.cuLaunchKernel(n, 1, 1, 1, 1, 1, 1, 0, m, ((n, 4), (None, ctypes.c_int)), 0))",
        "%1 = operator new()\n%1[0] = n\n%1[1] = 4\n%2 = operator new()\n%2[0] = %1\n%2[1] = …\nlaunch n(%2) on m\n%3 = …",
    ),
    Case("a number keeps its pointer", "check(cudart.cudaFree(int(n)))", "host read n[…]\n%1 = cudaFree(n) checked"),
    Case(
        "an alias of the module", "rt = cudart\np = check(rt.cudaMalloc(n))", "rt = …\n%1 = cudaMalloc(&p, n) checked"
    ),
    Case(
        "a counted loop",
        "for i in range(4):\n    check(cudart.cudaFree(n[i]))",
        "loop i in 0:4 at least once\n  host read n[i]\n  %1 = cudaFree({n[i] | n+…}) checked",
    ),
    Case(
        "a loop over a list",
        "for p in [n, m]:\n    check(cudart.cudaFree(p))",
        "%1 = operator new()\n%1[0] = n\n%1[1] = m\n%2 = %1\n%2-><size> = 2\nloop <round>@281 in 0:%2-><size> at least once\n  p = %2[<round>@281]\n  %3 = cudaFree(p) checked",
    ),
    Case(
        "a comprehension",
        "xs = [check(cudart.cudaMalloc(4)) for i in range(n)]",
        "%1 = operator new()\nloop i@315 in 0:n\n  %2 = cudaMalloc(&%3, 4) checked\n  %1[i@315] = %3\n%1-><size> = n\nxs = %1",
    ),
    Case("append", "xs = []\nxs.append(n)", "%1 = operator new()\nxs = %1\nxs[…] = n\nxs-><size> = …"),
    Case(
        "a dictionary",
        "d = {'a': n}\ncheck(cudart.cudaFree(d['a']))",
        '%1 = operator new()\n%2 = operator new()\n%1-><keys> = %2\n%1-><keys>[0] = "a"\n%1["a"] = n\n%1-><keys>-><size> = 1\nd = %1\nhost read d["a"]\n%3 = cudaFree(d["a"]) checked',
    ),
    Case(
        "None is null",
        "if n is not None:\n    check(cudart.cudaFree(n))\nn = None",
        "if nonnull n\n  %1 = cudaFree(n) checked\nn = nullptr",
    ),
    Case(
        "finally runs on every way out",
        "try:\n    if m:\n        return 1\nfinally:\n    check(cudart.cudaFree(n))",
        "try\n  if nonnull m\n    %1 = cudaFree(n) checked\n    return 1\ncatch\n  %2 = cudaFree(n) checked\n  throw()\n%3 = cudaFree(n) checked",
    ),
    Case(
        "a handler",
        "try:\n    check(cudart.cudaFree(n))\nexcept RuntimeError:\n    pass",
        "try\n  %1 = cudaFree(n) checked\ncatch",
    ),
    Case(
        "an array keeps what it is made from",
        "h = np.zeros(n)\nq = h.ctypes.data",
        "%1 = numpy.zeros(n) checked\nh = {%1 | …(n)}\nq = h",
    ),
    Case("an unknown function", "import mystery\nmystery.run(n)", "import mystery()\n%1 = mystery.run(n) checked"),
    Case(
        "an unknown function gets the device pointers too",
        "import mystery\np = check(cudart.cudaMalloc(4))\nmystery.run(p)",
        "import mystery()\n%1 = cudaMalloc(&p, 4) checked\n%2 = mystery.run(p) checked",
    ),
    Case(
        "to print an address is no access to the memory",
        "p = check(cudart.cudaMalloc(4))\nprint(p)",
        "%1 = cudaMalloc(&p, 4) checked\n%2 = builtins.print() checked",
    ),
    Case(
        "a library that is told to run later gets all",
        "import weakref\np = check(cudart.cudaMalloc(4))\nweakref.finalize(n, m, p)",
        "%1 = cudaMalloc(&p, 4) checked\n%2 = weakref.finalize(n, m, p) checked",
    ),
    Case("a method of anything", "n.run(m)", "%1 = object.run(n, m) checked"),
    Case("eval", "eval(n)", "unknown: `eval`\n%1 = builtins.eval(n) checked"),
]


@pytest.mark.parametrize("case", STATEMENTS, ids=lambda case: case.name)
def test_a_construct_becomes(case: Case) -> None:
    assert body(case.code, "n, m") == case.want


CUPY = """\
import cupy as cp
from cupyx import jit
from numba import cuda
rt = cp.cuda.runtime
raw = cp.RawKernel("", "k")

@cp.fuse()
def fused(x, y):
    return x * y

@jit.rawkernel()
def jitted(x, n):
    x[jit.grid(1)] = n

@cuda.jit
def numba_kernel(x):
    x[0] = 1

"""
CUPY_STATEMENTS = [
    Case("results come bare", "p = rt.malloc(n)\nrt.free(p)", "cudaMalloc(&p, n) checked\ncudaFree(p) checked"),
    Case(
        "a stream is an object with its handle",
        "s = cp.cuda.Stream(non_blocking=True)\nrt.memsetAsync(n, 0, 4, s.ptr)",
        "%1 = operator new()\ncudaStreamCreateWithFlags(&%1->ptr, cudaStreamNonBlocking) checked\n%1-><owns> = true\n%1-><class> = cupy.cuda.Stream\ns = %1\ncudaMemsetAsync(n, 0, 4, s->ptr) checked",
    ),
    Case(
        "an event between streams",
        "s = cp.cuda.Stream()\ns.wait_event(s.record())",
        "%1 = operator new()\ncudaStreamCreateWithFlags(&%1->ptr, cudaStreamDefault) checked\n%1-><owns> = true\n%1-><class> = cupy.cuda.Stream\ns = %1\n%2 = operator new()\ncudaEventCreateWithFlags(&%2->ptr, …) checked\n%2-><owns> = true\n%2-><class> = cupy.cuda.Event\ncudaEventRecord(%2->ptr, s->ptr) checked\ncudaStreamWaitEvent(s->ptr, %2->ptr, 0) checked",
    ),
    Case(
        "a raw kernel on the current stream",
        "k = cp.RawKernel(n, 'k')\nk((1,), (1,), (m,))",
        "%1 = cupy.RawKernel(n) checked\nk = {%1 | …(n)}\n%2 = operator new()\n%2[0] = m\nlaunch k(%2) on ::cupy::current",
    ),
]


def current(stream: str, inside: str) -> str:
    """A block with another current stream, which ends in both ways out."""
    back = "::cupy::current = %1"
    return f"%1 = ::cupy::current\n::cupy::current = {stream}\ntry\n  {inside}\ncatch\n  {back}\n  throw()\n{back}"


CUPY_STATEMENTS += [
    Case(
        "the null stream for a block",
        "with cp.cuda.Stream.null:\n    raw(n, n, n)",
        current("0", "launch raw(n, n, n) on ::cupy::current"),
    ),
    Case(
        "the stream of the thread for a block",
        "with cp.cuda.Stream.ptds:\n    raw(n, n, n)",
        current("cudaStreamPerThread", "launch raw(n, n, n) on ::cupy::current"),
    ),
    Case(
        "a stream of somewhere else for a block",
        "s = cp.cuda.ExternalStream(n)\nwith s:\n    raw(n, n, n)",
        "%1 = operator new()\n%1->ptr = n\n%1-><class> = cupy.cuda.Stream\ns = %1\n"
        + current("s->ptr", "launch raw(n, n, n) on ::cupy::current").replace("%1", "%2"),
    ),
    Case(
        "a stream that is used from here on",
        "cp.cuda.Stream.ptds.use()\nraw(n, n, n)\ncp.cuda.Stream.null.use()",
        "::cupy::current = cudaStreamPerThread\nlaunch raw(n, n, n) on ::cupy::current\n::cupy::current = 0",
    ),
    Case(
        "a stream that a launch is given",
        "raw(n, n, n, stream=m)\nraw(n, n, n, stream=cp.cuda.Stream.null)\nraw(n, n, n, stream=cp.cuda.Stream.ptds)",
        "launch raw(n, n, n) on m->ptr\nlaunch raw(n, n, n) on 0\nlaunch raw(n, n, n) on cudaStreamPerThread",
    ),
    Case(
        "the handle of the current stream",
        "rt.memsetAsync(n, 0, 4, cp.cuda.get_current_stream().ptr)",
        "%1 = operator new()\n%1->ptr = ::cupy::current\n%1-><class> = cupy.cuda.Stream\ncudaMemsetAsync(n, 0, 4, %1->ptr) checked",
    ),
    Case(
        "a kernel of a module",
        "k = cp.RawModule(code=n).get_function('k')\nk(m, m, m)",
        "%1 = cupy.RawModule(n) checked\n%2 = cupy.RawModule().get_function({%1 | …(n)}) checked\nk = {%2 | …(%1, …(n))}\nlaunch k(m, m, m) on ::cupy::current",
    ),
    Case(
        "an elementwise kernel",
        "k = cp.ElementwiseKernel('T x', 'T y', 'y = x', 'k')\ny = k(m)",
        "%1 = cupy.ElementwiseKernel() checked\nk = %1\nlaunch k(m) on ::cupy::current\n%2 = python.outside()\ny = %2",
    ),
    Case(
        "a reduction",
        "k = cp.ReductionKernel('T x', 'T y', 'x', 'a + b', 'y = a', '0', 'k')\ny = k(m, stream=n)",
        "%1 = cupy.ReductionKernel() checked\nk = %1\nlaunch k(m) on n->ptr\n%2 = python.outside()\ny = %2",
    ),
    Case("a fused function", "y = fused(n, m)", "launch fused(n, m) on ::cupy::current\n%1 = python.outside()\ny = %1"),
    Case(
        "a kernel written in Python",
        "jitted(n, n, m)\njitted[1, 32](m)",
        "launch jitted(n, n, m) on ::cupy::current\nlaunch jitted(m) on ::cupy::current",
    ),
    Case(
        "a launch of Numba",
        "numba_kernel[1, 32](n)\nnumba_kernel[1, 32, m, 128](n)\nnumba_kernel[1, 32, 0, 128](n)",
        "launch numba_kernel(n) on 0\nlaunch numba_kernel(n) on m\nlaunch numba_kernel(n) on 0",
    ),
    Case(
        "an event of its own",
        "e = cp.cuda.Event()\ne.record(cp.cuda.Stream.null)\ncp.cuda.Stream.null.wait_event(e)\ne.synchronize()",
        "%1 = operator new()\ncudaEventCreateWithFlags(&%1->ptr, …) checked\n%1-><owns> = true\n%1-><class> = cupy.cuda.Event\ne = %1\ncudaEventRecord(e->ptr, 0) checked\ncudaStreamWaitEvent(0, e->ptr, 0) checked\ncudaEventSynchronize(e->ptr) checked",
    ),
    Case(
        "copies, blocking and not",
        "rt.memcpy(n, m, 4, 2)\nrt.memcpyAsync(n, m, 4, rt.memcpyDeviceToHost, 0)\nrt.memset(n, 0, 4)",
        "cudaMemcpy(n, m, 4, cudaMemcpyDeviceToHost) checked\ncudaMemcpyAsync(n, m, 4, cudaMemcpyDeviceToHost, 0) checked\ncudaMemset(n, 0, 4) checked",
    ),
]


@pytest.mark.parametrize("case", CUPY_STATEMENTS, ids=lambda case: case.name)
def test_a_construct_of_cupy_becomes(case: Case) -> None:
    assert body(case.code, "n, m", CUPY) == case.want


def calls(module: ir.Module) -> list[str]:
    return [s.callee for f in module.functions for s in ir.walk(f.body) if isinstance(s, ir.Call)]


@pytest.mark.parametrize(
    "text",
    [
        "from cuda import cudart",
        "import cuda.bindings.runtime as cudart",
        "from cuda.bindings import runtime as cudart",
        "try:\n    from cuda.bindings import runtime as cudart\nexcept ImportError:\n    from cuda import cudart",
        "try:\n    from cuda.bindings import runtime as cudart\nexcept ImportError:\n    cudart = None",
        "import cuda.bindings.runtime\ncudart = cuda.bindings.runtime",
    ],
)
def test_the_bindings_are_known_under_all_names(text: str) -> None:
    assert "cudaMalloc" in calls(lowered("def f(n):\n    return cudart.cudaMalloc(n)[1]\n", text + "\n"))


def test_a_module_in_a_field_is_followed() -> None:
    code = "class A:\n    def __init__(self, n):\n        self.rt = cudart\n        self.p = check(self.rt.cudaMalloc(n))\n"
    assert "cudaMalloc" in calls(lowered(code))


def test_an_object_is_made_and_its_methods_are_called_by_their_class() -> None:
    code = """
    class Buffer:
        kind = 3
        def __init__(self, n):
            self.p = check(cudart.cudaMalloc(n))
        def close(self):
            check(cudart.cudaFree(self.p))

    def f(n):
        b = Buffer(n)
        b.close()
    """
    text = dump(lowered(code))
    for line in (
        "%1->kind = 3",
        "*%1.a::Buffer::__init__(n)",
        "*b.a::Buffer::close()",
        "cudaMalloc(&this->p, n)",
        "cudaFree(this->p)",
    ):
        assert line in text


CONTEXT = """
class Buffer:
    def __init__(self, n):
        self.p = check(cudart.cudaMalloc(n))
    def __enter__(self):
        return self
    def __exit__(self, *_):
        check(cudart.cudaFree(self.p))
        {given}

def f(n, flag):
    for _ in range(n):
        with Buffer(n) as b:
            {leave}
"""


@pytest.mark.parametrize(("leave", "times"), [("pass", 2), ("return 1", 3), ("break", 3), ("if flag: continue", 3)])
def test_a_context_is_left_on_every_way_out(leave: str, times: int) -> None:
    """Behind the block, behind an exception that leaves it, and in front of what leaves it."""
    text = dump(lowered(CONTEXT.format(given="pass", leave=leave)))
    assert text.count("a::Buffer::__exit__(") == times + 1  # and where it is defined


@pytest.mark.parametrize(
    ("given", "catches"),
    [("return None", False), ("return False", False), ("return True", True), ("return self.ok", True)],
)
def test_a_context_may_keep_an_exception_from_going_on(given: str, catches: bool) -> None:
    text = dump(lowered(CONTEXT.format(given=given, leave="pass")))
    assert ("caught@" in text) == catches


def test_a_method_that_another_class_overrides_may_be_either() -> None:
    code = """
    class A:
        def use(self):
            pass
        def run(self):
            self.use()
    class B(A):
        def use(self):
            pass
    """
    text = dump(lowered(code))
    assert "*this.a::A::use()" in text
    assert "*this.a::B::use()" in text


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("def f(n):\n    yield cudart.cudaMalloc(n)", "generator"),
        ("async def f(n):\n    return cudart.cudaMalloc(n)", "coroutine"),
        ("class A:\n    def __del__(self):\n        cudart.cudaFree(self.p)", "finalizer"),
        ("class A:\n    def __call__(self):\n        cudart.cudaFree(self.p)", "implicit_call"),
    ],
)
def test_what_runs_at_other_times_is_named(code: str, name: str) -> None:
    assert name in [problem for f in lowered(code).functions for problem, _ in f.problems]


def test_the_statements_of_a_script_are_its_main() -> None:
    script = lowered("def f(n):\n    pass\n\nif __name__ == '__main__':\n    f(1)\n")
    library = lowered("def f(n):\n    pass\n")
    assert next(f.name for f in script.functions) == "main"
    assert next(f.name for f in library.functions) == "a::<initializers>"


def test_functions_of_another_file_are_called_by_their_file() -> None:
    files = {
        "app/main.py": b"from helpers import check\nfrom cuda.bindings import runtime as cudart\nprint(check(cudart.cudaMalloc(4)))\n",
        "app/helpers.py": b"def check(r):\n    if r[0].value:\n        raise RuntimeError\n    return r[1]\n",
    }
    tree = PythonTree(files)
    assert list(tree.programs()) == [["app/main.py", "app/helpers.py"]]
    assert "cudaMalloc" in calls(tree.lowered("app/main.py")[0])


def test_sites_carry_the_check_function_and_say_where_nothing_can_be_inserted() -> None:
    module = lowered(
        "def f(n):\n    p = check(cudart.cudaMalloc(n)); q = 1\n    if n: check(cudart.cudaFree(p))\n    check(cudart.cudaFree(q))\n"
    )
    sites = [
        s.site
        for f in module.functions
        for s in ir.walk(f.body)
        if isinstance(s, ir.Call) and s.callee.startswith("cuda")
    ]
    assert [(site.prefix, site.suffix, bool(site.blocked)) for site in sites] == [
        ("check(cudart.", ")", True),
        ("check(cudart.", ")", True),
        ("check(cudart.", ")", False),
    ]


@pytest.mark.parametrize("data", [b"print 'two'\n", b"\xff\xfe", b"# coding: latin-1\nx = '\xe9'\n", b"def f(:\n"])
def test_a_file_that_cannot_be_read_is_one_function_with_a_problem(data: bytes) -> None:
    data = data + b"cudaMalloc(4)\n"
    module, writer, errors = PythonTree({"a.py": data}).lowered("a.py")
    (function,) = module.functions
    assert (function.problems[0][0], errors, writer) == ("parse_error", 1, None)
    assert calls(module) == ["cudaMalloc"]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf"])
def test_offsets_are_bytes_of_the_file(newline: str, start: bytes) -> None:
    text = "from cuda.bindings import runtime as cudart\n# ä€😀\ndef f(n):\n    'ü'; p = cudart.cudaMalloc(n)[1]\n"
    data = start + text.replace("\n", newline).encode()
    module = PythonTree({"a.py": data}).lowered("a.py")[0]
    (call,) = (s for f in module.functions for s in ir.walk(f.body) if isinstance(s, ir.Call))
    assert data[call.name_span.start : call.name_span.end] == b"cudaMalloc"
    assert data[call.span.start : call.span.end] == b"cudart.cudaMalloc(n)"


@pytest.mark.parametrize(
    ("call", "want"),
    [
        (
            "cudart.cudaMemcpyAsync(stream=s, dst=p, kind=k, src=q, count=n)",
            "%1 = cudaMemcpyAsync(p, q, n, k, s) checked",
        ),
        ("cudart.cudaMemsetAsync(p, value=0, stream=s, count=n)", "%1 = cudaMemsetAsync(p, 0, n, s) checked"),
        (
            "driver.cuMemcpyDtoHAsync(h, ByteCount=n, hStream=s, srcDevice=p)",
            "%1 = cuMemcpyDtoHAsync(h, p, n, s) checked",
        ),
        ("c.execute_async_v2(stream_handle=s, bindings=b)", "%1 = object.execute_async_v2(c, b, s) checked"),
        ("c.execute_async_v3(stream_handle=s)", "%1 = object.execute_async_v3(c, s) checked"),
        ("c.set_tensor_address(memory=p, name=n)", "%1 = object.set_tensor_address(c, n, p) checked"),
    ],
)
def test_arguments_by_name_are_put_where_the_table_expects_them(call: str, want: str) -> None:
    code = f"check({call})" if call.startswith(("cudart", "driver")) else call
    assert body(code, "c, b, s, p, q, n, k, h").splitlines()[-1] == want


@pytest.mark.parametrize(
    "call",
    [
        "cudart.cudaMemcpyAsync(p, q, n, direction=k, stream=s)",
        "cudart.cudaMemcpyAsync(p, q, n, dst=k, stream=s)",
        "c.execute_async_v2(*b)",
        "c.execute_async_v2(stream=s, bindings=b)",
    ],
)
def test_arguments_that_cannot_be_placed_make_a_call_unknown(call: str) -> None:
    assert "(…)" in body(call, "c, b, s, p, q, n, k")


@pytest.mark.parametrize(
    "code",
    [
        "x = " + " + ".join(["x"] * 3000),
        "if x == 0:\n    pass\n" + "".join(f"elif x == {n}:\n    pass\n" for n in range(1500)),
        "\n".join(f"x = x + {n}" for n in range(2000)),
    ],
)
def test_a_long_program_is_read_or_refused(code: str) -> None:
    text = HEAD + f"def f(x):\n{textwrap.indent(code, '    ')}\n    return cudart.cudaMalloc(x)\n"
    module, _, errors = PythonTree({"a.py": text.encode()}).lowered("a.py")
    assert errors <= 1
    assert "cudaMalloc" in calls(module)


def test_names_that_are_bound_again_and_again_take_linear_time() -> None:
    """Each binding was once compared with all others of its name."""

    def seconds(times: int) -> float:
        bound = "".join(f"x = cp.add(x, {n})\n" for n in range(times))
        text = f"import cupy as cp\nrt = cp.cuda.runtime\np = rt.malloc(4096)\nx = cp.zeros(10)\n{bound}rt.free(p)\n"
        start = time.process_time()
        assert analyze({"main.py": text.encode()}, Config()).sites == 1
        return time.process_time() - start

    seconds(10)  # imports
    assert seconds(2000) < 12 * seconds(400)
