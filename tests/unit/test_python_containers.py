"""Buffers in dictionaries and lists of Python, and names that `import *` brings."""

from __future__ import annotations

import textwrap

import pytest

from cudafix.findings import Safety
from cudafix.pipeline.driver import analyze
from cudafix.project.config import Config

HEAD = """\
import ctypes
from collections import OrderedDict
import numpy as np
from cuda.bindings import runtime as cudart

KIND = cudart.cudaMemcpyKind.cudaMemcpyHostToDevice

def run(names, stream):
"""
TAIL = """
if __name__ == "__main__":
    run(["a", "b"], cudart.cudaStreamCreateWithFlags(cudart.cudaStreamNonBlocking)[1])
"""
PAIRS = "python_stream_ordered_pairs"


def decisions(files: dict[str, str]) -> list[str]:
    """What is decided on each site: `proven`, `assumes` or the name of a refusal."""
    report = analyze({path: text.encode() for path, text in files.items()}, Config())
    pairs = [finding for finding in report.findings if finding.codemod == PAIRS]
    moved = ["proven" if finding.safety is Safety.PROVEN else "assumes" for finding in pairs]
    others = [
        finding.codemod
        for finding in report.findings
        if finding.codemod != PAIRS and "threshold" not in finding.codemod
    ]
    return moved + others + [refusal.name for refusal in report.refusals]


def run(body: str) -> list[str]:
    return decisions({"main.py": HEAD + textwrap.indent(textwrap.dedent(body).strip(), "    ") + TAIL})


@pytest.mark.parametrize("kind", ["{}", "OrderedDict()", "dict()"])
@pytest.mark.parametrize(
    "free",
    [
        "for _, p, _ in held.values():\n    cudart.cudaFree(p)",
        "for name in names:\n    cudart.cudaFree(held[name][1])",
        "for one in held.values():\n    cudart.cudaFree(one[1])",
        "for name, one in held.items():\n    cudart.cudaFree(one[1])",
    ],
)
def test_buffers_that_a_dictionary_holds_in_lists(kind: str, free: str) -> None:
    body = f"""
        held = {kind}
        for name in names:
            host = np.empty(10)
            p = cudart.cudaMalloc(80)[1]
            held[name] = [host, p, 80]
        for name in names:
            cudart.cudaMemcpyAsync(held[name][1], held[name][0].ctypes.data, held[name][2], KIND, stream)
    """
    assert run(textwrap.dedent(body) + free) == ["proven"]


def test_keys_are_no_values() -> None:
    body = """
        held = {}
        for name in names:
            held[cudart.cudaMalloc(80)[1]] = name
        for p in held:
            cudart.cudaFree(p)
        for name in held.values():
            cudart.cudaMemsetAsync(name, 0, 80, stream)
    """
    assert run(body) == ["proven"]


def test_an_array_that_a_dictionary_holds_is_still_pinned_memory() -> None:
    """A slice of what an `OrderedDict` holds may be a view of it."""
    body = """
        pinned = cudart.cudaMallocHost(80)[1]
        held = OrderedDict()
        held["x"] = np.ctypeslib.as_array(ctypes.cast(pinned, ctypes.POINTER(ctypes.c_int)), (20,))
        p = cudart.cudaMalloc(80)[1]
        cudart.cudaMemcpyAsync(pinned, p, 80, cudart.cudaMemcpyKind.cudaMemcpyDeviceToHost, stream)
        cudart.cudaFree(p)
        part = held["x"][2:]
        if part[0]:
            raise SystemExit
    """
    source = HEAD + textwrap.indent(textwrap.dedent(body).strip(), "    ") + TAIL
    report = analyze({"main.py": source.encode()}, Config())
    texts = [edit.text for finding in report.findings for edit in finding.edits]
    assert report.refusals or any(b"Synchronize" in text for text in texts)


def test_two_frees_of_what_a_loop_has_allocated_are_no_defect() -> None:
    body = """
        held = {}
        for name in names:
            held[name] = cudart.cudaMallocAsync(80, stream)[1]
        cudart.cudaFreeAsync(held["a"], stream)
        cudart.cudaFreeAsync(held["b"], stream)
    """
    assert run(body) == []


COMMON = """\
from cuda.bindings import runtime as cudart

def cuda_call(result):
    if result[0].value:
        raise RuntimeError(str(result[0]))
    return None if len(result) == 1 else result[1]

class Block:
    def __init__(self, size):
        self.address = cuda_call(cudart.cudaMalloc(size))

    def free(self):
        cuda_call(cudart.cudaFree(self.address))
"""
USES = """
def main():
    block = Block(80)
    cuda_call(cudart.cudaMemset(block.address, 0, 80))
    block.free()

if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize("listed", ["", "__all__ = ['cudart', 'cuda_call', 'Block']\n"])
def test_names_that_an_import_of_everything_brings(listed: str) -> None:
    files = {"main.py": f"from common import *\n{USES}", "common.py": listed + COMMON}
    assert decisions(files) == ["proven"]


@pytest.mark.parametrize(
    "files",
    [
        {"main.py": f"from common import *\n{USES}", "common.py": f"__all__ = ['cudart', 'Block']\n{COMMON}"},
        {"main.py": f"from common import *\nfrom elsewhere import *\n{USES}", "common.py": COMMON},
        {"main.py": f"from common import *\n{USES}", "common.py": f"{COMMON}\nfrom elsewhere import *\n"},
    ],
)
def test_names_that_may_come_from_elsewhere(files: dict[str, str]) -> None:
    assert "proven" not in decisions(files)


@pytest.mark.parametrize(
    "free", ["err = cudart.cudaFree(p)", "err = cudart.cudaFree(p)[0]", "(err,) = cudart.cudaFree(p)"]
)
def test_a_status_that_is_kept_as_a_tuple_is_looked_at_later(free: str) -> None:
    check = """
        def look(error):
            if isinstance(error, tuple):
                error = error[0]
            if error != cudart.cudaError_t.cudaSuccess:
                raise RuntimeError(error)
    """
    body = f"""
        for name in names:
            err, p = cudart.cudaMalloc(64)
            look(err)
            err = cudart.cudaMemsetAsync(p, 0, 64, stream)
            look(err)
            {free}
            look(err)
    """
    text = HEAD.replace("def run(", textwrap.dedent(check) + "\ndef run(")
    assert decisions({"main.py": text + textwrap.indent(textwrap.dedent(body).strip(), "    ") + TAIL}) == ["proven"]
