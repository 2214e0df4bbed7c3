"""The memory of arrays in Python: what the codemods find in programs, and what they write into a project."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cudafix.findings import Edit, Report, Safety
from cudafix.pipeline import pools
from cudafix.pipeline.cache import Cache
from cudafix.pipeline.driver import analyze, prove
from cudafix.project.config import Config
from cudafix.rewrite import edits
from tests.cases import ROOT
from tests.cli.test_cli import Cudafix
from tests.cli.test_notebooks import book

KERNEL = """
@cuda.jit
def square(v):
    i = cuda.grid(1)
    v[i] = v[i] * v[i]
"""
CHURN = """
def main():
    for n in range(10):
        v = cuda.to_device(np.full(256, n))
        square[1, 256](v)
        print(v.copy_to_host())
    cuda.synchronize()


if __name__ == "__main__":
    main()
"""
NUMBA = "import numpy as np\nfrom numba import cuda\n" + KERNEL + CHURN


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Cudafix:
    """The command, in an empty folder."""
    (tmp_path / "tree").mkdir()
    monkeypatch.chdir(tmp_path / "tree")
    monkeypatch.setenv("CUDAFIX_CACHE_DIR", str(tmp_path / "cache"))
    return Cudafix(capfdbinary)


def report(files: dict[str, str]) -> Report:
    return analyze({path: textwrap.dedent(text).encode() for path, text in files.items()}, Config())


def refused(text: str) -> set[str]:
    found = report({"main.py": text})
    assert not found.findings
    return {refusal.name for refusal in found.refusals}


def rewritten(files: dict[str, bytes]) -> dict[str, bytes]:
    by_path: dict[str, list[Edit]] = {}
    for finding in analyze(files, Config()).findings:
        for edit in finding.edits:
            by_path.setdefault(edit.path, []).append(edit)
    return {path: edits.apply(files.get(path, b""), by_path.get(path, [])) for path in files.keys() | by_path.keys()}


# ---------------------------------------------------------------------------------------------------------------------
# CuPy


def cupy(body: str) -> str:
    return f"import cupy as cp\ncp.cuda.set_allocator(None)\nx = cp.arange(10)\n{body}\n"


@pytest.mark.parametrize(
    ("body", "name"),
    [
        ("s = cp.cuda.ExternalStream(1)", "several_streams"),
        ("s = cp.get_array_module(x).cuda.Stream(non_blocking=True)", "several_streams"),
        ("from helpers import *", "unknown_call"),
        ("cp.cuda.Stream.ptds.use()", "several_streams"),
        ("f(x, stream=other)", "several_streams"),
        ("with cp.cuda.Device(1):\n    y = x + 1", "device_changes"),
        ("cp.cuda.Device(1).use()", "device_changes"),
        ("y = cp.asnumpy(x, blocking=False)", "host_memory_in_flight"),
        ('y = x.get(None, "C", out, False)', "host_memory_in_flight"),
        ("y = x.get(blocking=0)", "host_memory_in_flight"),
        ("y = x.get(blocking=n > 5)", "host_memory_in_flight"),
        ('kw = {"blocking": False}; y = x.get(**kw)', "host_memory_in_flight"),
        ("f = x.data.copy_to_host_async; f(p, 80)", "host_memory_in_flight"),
        ('getattr(x.data, "copy_to_host_async")(p, 80)', "host_memory_in_flight"),
        ('p = getattr(cupyx, "empty_pinned")(10)', "host_memory_in_flight"),
        ("functools.partial(cp.cuda.runtime.memcpyAsync, a, b, 4, 2, 0)()", "host_memory_in_flight"),
        ("cp.cuda.Stream.null.launch_host_func(print, 1)", "host_memory_in_flight"),
        ('getattr(cp.cuda.runtime, "memcpy" + "Async")(a, b, 4, 2, 0)', "unknown_call"),
        ("functools.partial(cp.cuda.runtime.setDevice, 1)()", "device_changes"),
        ("m = cp.cuda.alloc_pinned_memory(40)", "host_memory_in_flight"),
        ("x.data.copy_to_host_async(p, 80)", "host_memory_in_flight"),
        ('k = cp.RawKernel(r"printf(1)", "k")', "host_memory_in_flight"),
        ("import torch", "external_library"),
        ("from mpi4py import MPI", "external_library"),
        ("y = other.from_dlpack(x)", "external_library"),
        ("p = x.__cuda_array_interface__", "external_library"),
        ("m = cp.cuda.UnownedMemory(p, 4, o)", "external_library"),
        ("cp.fft.config.set_cufft_gpus([0, 1])", "device_changes"),
        ("cp.cuda.runtime.memcpyAsync(a, b, 4, 2, 0)", "host_memory_in_flight"),
        ("free, total = cp.cuda.Device().mem_info", "free_memory_is_measured"),
        ("h = cp.cuda.runtime.ipcGetMemHandle(x.data.ptr)", "ipc_handle"),
        ("import ctypes\nl = ctypes.CDLL('l.so')", "foreign_pointer"),
        ("import multiprocessing\np = multiprocessing.Pool()", "several_host_threads"),
        ("try:\n    pass\nexcept cp.cuda.memory.OutOfMemoryError:\n    pass", "async_pool_differs"),
        ("exec(code)", "unknown_call"),
        ("import os\nos.environ['CUPY_CUDA_PER_THREAD_DEFAULT_STREAM'] = '1'", "several_streams"),
    ],
)
def test_what_keeps_raw_memory(body: str, name: str) -> None:
    assert refused(cupy(body)) == {name}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("import cupy\ncupy.cuda.set_allocator(None)", "cupy.cuda.set_allocator(cupy.cuda.MemoryAsyncPool().malloc)"),
        ("import cupy\ncupy.cuda.set_allocator()", "cupy.cuda.set_allocator(cupy.cuda.MemoryAsyncPool().malloc)"),
        (
            "import cupy as cp\ncp.cuda.set_allocator(allocator=None)",
            "cp.cuda.set_allocator(allocator=cp.cuda.MemoryAsyncPool().malloc)",
        ),
        (
            "import cupy as cp\nfrom cupy.cuda import set_allocator\nset_allocator(cp.cuda.memory._malloc)",
            "set_allocator(cp.cuda.MemoryAsyncPool().malloc)",
        ),
        (
            "from cupy import cuda\nwith cuda.using_allocator(None):\n    pass",
            "with cuda.using_allocator(cuda.MemoryAsyncPool().malloc):",
        ),
    ],
)
def test_each_way_to_ask_for_raw_memory(old: str, new: str) -> None:
    before = {"main.py": f"{old}\n".encode()}
    after = rewritten(before)
    assert new in after["main.py"].decode().splitlines()
    assert rewritten(after) == after
    assert prove(before, after) == []


def test_places_of_one_file_share_the_pool() -> None:
    text = "import cupy as cp\ncp.cuda.set_allocator(None)\nfor n in range(3):\n    m = cp.cuda.Memory(size=n)\n"
    after = rewritten({"main.py": text.encode()})
    assert after["main.py"].decode().splitlines() == [
        "import cupy as cp",
        "async_pool = cp.cuda.MemoryAsyncPool()",
        "cp.cuda.set_allocator(async_pool.malloc)",
        "for n in range(3):",
        "    m = cp.cuda.MemoryAsync(size=n, stream=cp.cuda.Stream.null)",
    ]
    assert prove({"main.py": text.encode()}, after) == []


@pytest.mark.parametrize(
    "text",
    [
        "import cupy as cp\ncp.cuda.set_allocator(cp.cuda.MemoryPool().malloc)\n",
        "import cupy as cp\ncp.cuda.set_allocator(cp.cuda.MemoryAsyncPool().malloc)\n",
        "import cupy as cp\nx = cp.arange(10)\ncp.get_default_memory_pool().free_all_blocks()\n",
        "import cupy as cp\nallocator = choose()\ncp.cuda.set_allocator(allocator)\n",
    ],
)
def test_a_pool_that_the_program_chose_is_left_alone(text: str) -> None:
    found = report({"main.py": text})
    assert (found.findings, found.refusals) == ((), ())


def test_a_module_that_no_script_imports_stays() -> None:
    module = "import cupy as cp\n\n\ndef f():\n    cp.cuda.set_allocator(None)\n"
    assert {r.name for r in report({"m.py": module}).refusals} == {"unseen_caller"}
    after = rewritten({"m.py": module.encode(), "main.py": b"import m\nm.f()\n"})
    assert prove({"m.py": module.encode()}, {"m.py": after["m.py"]}) != []
    assert b"import cupy as cp\nasync_pool = cp.cuda.MemoryAsyncPool()\n" in after["m.py"]


def test_an_imported_file_that_cannot_be_read_keeps_raw_memory() -> None:
    found = report({"main.py": "import broken\n" + cupy("broken.f(x)"), "broken.py": "def f(x:\n"})
    assert [(r.path, r.name) for r in found.refusals] == [("main.py", "parse_error")]


def test_a_package_that_is_not_seen_and_a_clock_are_assumptions() -> None:
    text = "import time\nimport unseen\n" + cupy("unseen.work(x)\nprint(time.perf_counter())")
    (finding,) = report({"main.py": text}).findings
    assert finding.safety is Safety.ASSUMES
    assert finding.assumptions == (
        "`unseen` works with the program's arrays on the current stream only",
        "no measured time is meant to contain the wait of a release",
    )


# ---------------------------------------------------------------------------------------------------------------------
# Numba


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ("h = v.get_ipc_handle()", "ipc_handle"),
        ("cuda.current_context().get_memory_info()", "free_memory_is_measured"),
        ("import cupy as cp\ns = cp.cuda.Stream(non_blocking=True)", "several_streams"),
        ("import cupy as cp\ns = cp.cuda.ExternalStream(3)", "several_streams"),
        ("import cupy as cp\ncp.cuda.Stream.ptds.use()", "several_streams"),
        ("import cupy as cp\ncp.cuda.Device(1).use()", "device_changes"),
        ("import cupy as cp\nm = cp.cuda.UnownedMemory(p, 4, o)", "external_library"),
        ("with cuda.gpus[1]:\n    pass", "device_changes"),
        ("import os\nos.environ['NUMBA_ENABLE_CUDASIM'] = '1'", "site_not_editable"),
    ],
)
def test_what_keeps_the_memory_of_numba(change: str, name: str) -> None:
    assert refused(NUMBA.replace("def main", f"{change}\n\n\ndef main")) == {name}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    i = cuda.grid(1)\n", "    i = cuda.grid(1)\n    print(i)\n"),
        ("v.copy_to_host()", "v.copy_to_host(stream=cuda.stream())"),
        ("np.full(256, n)", "cuda.pinned_array(256)"),
        ("    cuda.synchronize()\n", "    cuda.current_context().deallocations.clear()\n    cuda.synchronize()\n"),
    ],
)
def test_what_the_host_may_see_early_is_an_assumption(old: str, new: str) -> None:
    assert {f.safety for f in report({"main.py": NUMBA}).findings} == {Safety.PROVEN}
    assert old in NUMBA
    (finding,) = report({"main.py": NUMBA.replace(old, new)}).findings
    assert finding.safety is Safety.ASSUMES


def test_a_manager_has_to_come_before_the_first_call() -> None:
    late = NUMBA.replace("from numba import cuda", "w = np.zeros(4)\nfrom numba import cuda\nx = cuda.to_device(w)")
    before = {"main.py": late.encode()}
    after = rewritten(before)
    assert b"from numba import cuda\nfrom cudafix_numba_memory" in after["main.py"]
    assert prove(before, after) == []
    assert refused(late.replace("np.zeros(4)", "work(4)")) == {"site_not_editable"}
    assert refused(late.replace("from numba", "if True:\n    from numba")) == {"site_not_editable"}
    moved = after["main.py"].replace(b"cuda.set_memory", b"y = cuda.to_device(w)\ncuda.set_memory")
    assert prove(before, after | {"main.py": moved}) != []


def test_a_program_that_has_a_manager_is_left_alone() -> None:
    text = NUMBA.replace("from numba import cuda\n", "from numba import cuda\ncuda.set_memory_manager(mine)\n")
    assert report({"main.py": text}).findings == ()


def test_cupy_may_work_beside_numba_on_the_null_stream() -> None:
    text = NUMBA.replace("import numpy", "import cupy as cp\nimport numpy", 1)
    text = text.replace("    cuda.synchronize()", "    print(cp.arange(10).sum())\n    cuda.synchronize()", 1)
    assert "arange" in text
    (finding,) = report({"main.py": text}).findings
    assert (finding.codemod, finding.safety) == ("numba_memory_manager", Safety.PROVEN)


def test_a_project_with_rmm_gets_the_manager_of_rmm() -> None:
    before = {"main.py": NUMBA.encode(), "other.py": b"import rmm\n"}
    assert b"rmm" not in rewritten(before)["main.py"]
    before = {"main.py": NUMBA.replace("import numpy", "import rmm\nimport numpy").encode()}
    after = rewritten(before)
    assert after.keys() == before.keys()
    assert (
        b"from rmm.allocators.numba import RMMNumbaManager\n"
        b"rmm.mr.set_current_device_resource(rmm.mr.CudaAsyncMemoryResource())\n"
        b"cuda.set_memory_manager(RMMNumbaManager)\n"
    ) in after["main.py"]
    assert prove(before, after) == []
    assert rewritten(after) == after


def test_the_new_file_comes_as_a_diff_that_git_applies(run: Cudafix) -> None:
    Path("main.py").write_text(NUMBA)
    shown = run("diff", "main.py")
    assert shown.code == 0
    assert b"--- /dev/null\n+++ b/cudafix_numba_memory.py\n@@ -0,0 +1," in shown.out
    subprocess.run(["git", "init", "-q"], check=True)
    subprocess.run(["git", "apply"], input=shown.out, check=True)
    applied = {path.name: path.read_bytes() for path in Path().glob("*.py")}
    assert applied["cudafix_numba_memory.py"] == pools.manager()
    Path("main.py").write_text(NUMBA)
    Path("cudafix_numba_memory.py").unlink()
    assert run("apply", "--allow-dirty", "main.py").code == 0
    assert {path.name: path.read_bytes() for path in Path().glob("*.py")} == applied
    assert run("check", ".").code == 0
    assert run("diff", ".").out == b""


def test_a_file_of_that_name_that_is_another_one_is_not_touched(run: Cudafix) -> None:
    Path("main.py").write_text(NUMBA)
    Path("cudafix_numba_memory.py").write_text("mine = 1\n")
    refusals = run("check", ".")
    assert b"site_not_editable" in refusals.out
    tried = run("apply", "main.py")  # not among the files that are analysed
    assert tried.code == 2
    assert "cudafix_numba_memory.py: is there already" in tried.err
    assert Path("cudafix_numba_memory.py").read_text() == "mine = 1\n"
    assert Path("main.py").read_text() == NUMBA


# ---------------------------------------------------------------------------------------------------------------------
# the manager, on a driver that writes down what it is asked


class Driver:
    """Counts blocks, and refuses what a driver would refuse."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.current = 0
        self.alive: set[int] = set()
        self.next = 100

    def __getattr__(self, name: str) -> Any:
        def call(*args: Any) -> Any:
            self.calls.append(name)
            if name in ("cuMemAllocAsync", "cuMemFreeAsync", "cuCtxSynchronize", "cuMemGetInfo"):
                assert self.current, f"{name} without a context"
            match name:
                case "cuCtxGetCurrent":
                    return self.current
                case "cuCtxPushCurrent":
                    self.current = args[0]
                case "cuCtxPopCurrent":
                    self.current = 0
                case "cuMemAllocAsync":
                    self.next += 1
                    self.alive.add(self.next)
                    return self.next
                case "cuMemFreeAsync":
                    self.alive.remove(args[0])
                case "cuMemGetInfo":
                    return 10, 20
                case "cuMemPoolGetAttribute":
                    return 3 if args[1] == "held" else 1
            return None

        return call


@pytest.fixture
def manager(monkeypatch: pytest.MonkeyPatch) -> tuple[Any, Driver]:
    """The manager in context 7, with the classes of Numba that it stands on replaced by the least that it needs."""
    import contextlib
    import weakref

    driver = Driver()

    class Base:
        def __init__(self, *, context: Any) -> None:
            self.context = context
            self.deallocations = types.SimpleNamespace(clear=lambda: None)

        def reset(self) -> None:
            driver.calls.append("host memory")

        @contextlib.contextmanager
        def defer_cleanup(self) -> Iterator[None]:
            yield

    class Pointer:
        def __init__(self, context: Any, address: int, size: int, finalizer: Any) -> None:
            self.address = address
            weakref.finalize(self, finalizer)

    binding = types.SimpleNamespace(
        CU_STREAM_LEGACY=1,
        CUstream=int,
        cuuint64_t=int,
        CUmemPool_attribute=types.SimpleNamespace(
            CU_MEMPOOL_ATTR_RELEASE_THRESHOLD=4,
            CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT="held",
            CU_MEMPOOL_ATTR_USED_MEM_CURRENT="used",
        ),
        CUresult=types.SimpleNamespace(CUDA_ERROR_OUT_OF_MEMORY=2),
    )
    cuda = types.SimpleNamespace(HostOnlyCUDAMemoryManager=Base, MemoryPointer=Pointer, MemoryInfo=dict)
    inner = types.SimpleNamespace(CudaAPIError=RuntimeError, driver=driver)
    modules = {
        "cuda": types.SimpleNamespace(),
        "cuda.bindings": types.SimpleNamespace(driver=binding),
        "numba": types.SimpleNamespace(cuda=cuda),
        "numba.cuda": cuda,
        "numba.cuda.cudadrv": types.SimpleNamespace(),
        "numba.cuda.cudadrv.driver": inner,
    }
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    names: dict[str, Any] = {}
    exec(compile(pools.manager(), "cudafix_numba_memory.py", "exec"), names)
    made = names["StreamOrderedMemoryManager"](
        context=types.SimpleNamespace(handle=7, device=types.SimpleNamespace(id=0))
    )
    driver.current = 7
    made.initialize()
    return made, driver


def test_a_dropped_array_is_freed_with_its_context_current(manager: tuple[Any, Driver]) -> None:
    made, driver = manager
    array = made.memalloc(4)
    driver.current = 0  # a finalizer may run anywhere
    del array
    assert not driver.alive
    assert driver.current == 0


def test_close_waits_frees_and_forgets(manager: tuple[Any, Driver]) -> None:
    made, driver = manager
    array = made.memalloc(4)
    driver.current = 0  # `cuda.close()` takes all contexts from the stack first
    driver.calls.clear()
    made.reset()
    order = [name for name in driver.calls if name in ("cuCtxSynchronize", "cuMemFreeAsync", "host memory")]
    assert order == ["cuCtxSynchronize", "cuMemFreeAsync", "host memory", "cuCtxSynchronize"]
    assert not driver.alive
    assert driver.current == 0
    driver.calls.clear()
    del array  # its context may be gone
    assert driver.calls == []


def test_an_address_that_comes_again_after_a_reset_is_another_block(manager: tuple[Any, Driver]) -> None:
    made, driver = manager
    old = made.memalloc(4)
    made.reset()
    driver.next = 100
    new = made.memalloc(4)
    assert new.address == old.address
    del old
    assert driver.alive == {new.address}


def test_cleanup_is_deferred_and_made_up_for(manager: tuple[Any, Driver]) -> None:
    made, driver = manager
    array = made.memalloc(4)
    with made.defer_cleanup():
        del array
        assert driver.alive
    assert not driver.alive


def test_what_the_pool_holds_and_nobody_uses_is_free(manager: tuple[Any, Driver]) -> None:
    made, _ = manager
    assert made.get_memory_info() == {"free": 12, "total": 20}
    with pytest.raises(NotImplementedError):
        made.get_ipc_handle(None)


# ---------------------------------------------------------------------------------------------------------------------
# the end of a context, and memory of others


@pytest.mark.parametrize(
    ("work", "found"),
    [
        ("square[1, 1](v)\ncuda.close()", True),
        ("square[1, 1](v)\ncuda.synchronize()\ncuda.close()", False),
        ("square[1, 1](v)\nif v:\n    cuda.synchronize()\ncuda.close()", True),
        ("square[1, 1](v)\nv.copy_to_host()\ncuda.close()", False),
        ("s = cuda.stream()\nsquare[1, 1, s](v)\ns.synchronize()\ncuda.close()", False),
        ("s = cuda.stream()\nt = cuda.stream()\nsquare[1, 1, s](v)\nt.synchronize()\ncuda.close()", True),
        ("cuda.close()", False),
        ("def f():\n    square[1, 1](v)\nf()\ncuda.close()", True),
        ("def f():\n    square[1, 1](v)\n    cuda.synchronize()\nf()\ncuda.close()", False),
        ("d = cuda.get_current_device()\nsquare[1, 1](v)\nd.reset()", True),
        ("square[1, 1](v); cuda.close()", True),
    ],
)
def test_work_that_may_be_pending_at_the_end_of_a_context(work: str, found: bool) -> None:
    text = f"from numba import cuda\n{KERNEL}\n{work}\n"
    findings = report({"main.py": text}).findings
    assert [f.codemod for f in findings] == ["sync_before_close"] * found
    if ";" in work:
        assert not findings[0].edits


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("import pycuda.driver as cuda\np = cuda.mem_alloc(4)\n", "pycuda_memory"),
        ("import torch\na = torch.cuda.memory.CUDAPluggableAllocator('a.so', 'm', 'f')\n", "torch_memory"),
    ],
)
def test_memory_of_other_packages_is_reported(text: str, name: str) -> None:
    assert refused(text) == {name}


def test_emptying_the_cache_of_pytorch_is_no_allocation() -> None:
    assert report({"main.py": "import torch\ntorch.cuda.empty_cache()\n"}).sites == 0


def test_one_run_reports_a_tree_of_both_languages(run: Cudafix) -> None:
    """CUDA C++, a cuda-python script, a CuPy script, a Numba notebook, and an address that goes to C."""
    fixtures = ROOT / "fixtures"
    sources = {
        "square.cu": "stream_ordered_pairs/pinned_result_is_read_after_the_free/before/main.cu",
        "pairs.py": "python_stream_ordered_pairs/pinned_result_is_read_after_the_free/before/main.py",
        "arrays.py": "cupy_async_allocator/raw_memory_becomes_the_async_pool/before/main.py",
        "squares.ipynb": "python_stream_ordered_pairs/cells_of_a_notebook_are_one_module/before/squares.ipynb",
        "to_c.py": "python_stream_ordered_pairs/pointer_given_to_a_library_stays/before/main.py",
    }
    for name, source in sources.items():
        Path(name).write_bytes((fixtures / source).read_bytes())
    shown = run("check", ".")
    assert shown.code == 1
    out = shown.out.decode()
    for name, words in (
        ("arrays.py", "cupy_async_allocator"),
        ("pairs.py", "python_stream_ordered_pairs"),
        ("square.cu", "stream_ordered_pairs"),
        ("squares.ipynb", "python_stream_ordered_pairs"),
        ("to_c.py", "refused: foreign_pointer"),
    ):
        assert any(line.startswith(f"{name}:") and words in line for line in out.splitlines()), name
    assert "5 allocation sites: 3 can be rewritten" in out
    assert run("apply", ".").code == 0
    assert run("diff", ".").out == b""


def test_a_notebook_gets_its_manager_beside_it() -> None:
    cells = (
        "%matplotlib inline\n!pip install numba-cuda\nimport numpy as np\nfrom numba import cuda",
        KERNEL,
        "for n in range(10):\n    v = cuda.to_device(np.full(256, n))\n    square[1, 256](v)",
        "square[1, 256](v)\ncuda.close()",
    )
    before = {"work/a.ipynb": book(*cells, indent=1)}
    found = analyze(before, Config()).findings
    assert {f.codemod for f in found} == {"numba_memory_manager", "sync_before_close"}
    assert {f.safety for f in found} == {Safety.ASSUMES}
    after = rewritten(before)
    assert after.keys() == {"work/a.ipynb", "work/cudafix_numba_memory.py"}
    sources = [cell["source"] for cell in json.loads(after["work/a.ipynb"])["cells"]]
    assert sources[0][-2:] == [
        "from cudafix_numba_memory import StreamOrderedMemoryManager\n",
        "cuda.set_memory_manager(StreamOrderedMemoryManager)",
    ]
    assert sources[3] == ["square[1, 256](v)\n", "cuda.synchronize()\n", "cuda.close()"]
    assert prove(before, after) == []
    assert rewritten(after) == after


def test_what_was_found_is_remembered_until_a_python_file_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    examined: list[Report] = []
    examine = pools.examine

    def counting(*given: Any) -> Report:
        examined.append(examine(*given))
        return examined[-1]

    monkeypatch.setattr(pools, "examine", counting)
    files = {"a.py": NUMBA.encode(), "kernel.cu": b"int main() {}\n"}
    first = analyze(files, Config(), cache=Cache())
    assert first.findings
    assert analyze({**files, "kernel.cu": b"\n"}, Config(), cache=Cache()) == first
    assert len(examined) == 1
    off = Config(disabled=frozenset({"numba_memory_manager"}))
    assert analyze(files, off, cache=Cache()) == analyze(files, off) != first
    changed = {**files, "b.py": b"from a import main\nmain()\n"}
    assert analyze(changed, Config(), cache=Cache()) == analyze(changed, Config())
