"""Device memory that Python programs get from libraries without a stream-ordered allocator: reported, with what to do.

PyCUDA binds no `cuMemAllocAsync`; PyTorch keeps a caching allocator of its own; what a C library does with an address
that it gets through ctypes is not seen.
"""

from __future__ import annotations

from collections.abc import Iterator

from cudafix.findings import Refusal
from cudafix.frontends.python.uses import File, Use
from cudafix.refusals import REFUSALS

PYCUDA = frozenset(
    f"pycuda.{name}"
    for name in (
        "driver.mem_alloc",
        "driver.mem_alloc_pitch",
        "driver.to_device",
        "driver.mem_alloc_like",
    )
)
TORCH = {
    f"torch.cuda.{module}{name}": text
    for module in ("", "memory.")
    for name, text in (
        ("caching_allocator_alloc", "`caching_allocator_alloc` takes memory of PyTorch's own allocator"),
        ("CUDAPluggableAllocator", "an allocator of the program's own, in C, stands behind PyTorch"),
    )
}


def examine(file: File) -> Iterator[Refusal]:
    """One refusal for each place."""
    for use in file.uses:
        if use.name in PYCUDA:
            text = f"PyCUDA has no stream-ordered form of `{use.name.rpartition('.')[2]}`"
            yield _refusal(file, "pycuda_memory", use, text)
        elif use.name in TORCH:
            yield _refusal(file, "torch_memory", use, TORCH[use.name])


def _refusal(file: File, name: str, use: Use, text: str) -> Refusal:
    at = file.source.span(use.node).start
    return Refusal(name, use.path, at, text, REFUSALS[name].unlock)
