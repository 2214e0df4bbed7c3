"""How a language writes what a plan asks for: changed calls, waits, synchronizations, the pool's threshold."""

from __future__ import annotations

from typing import Protocol

from cudafix import ir
from cudafix.codemods import pool_release_threshold, stream_ordered_pairs, sync_before_reset, wait_between_streams
from cudafix.findings import Edit
from cudafix.ordering.program import StreamName
from cudafix.statements import COMMENT, checked


class Writer(Protocol):
    """The words of one file's language. Statements come as lines without indentation.

    `comment` matches what may stand behind a statement on its line.
    """

    @property
    def pairs(self) -> str:
        """The codemod that moves pairs in this language."""

    @property
    def comment(self) -> bytes: ...

    def stream(self, name: StreamName) -> str:
        """How a statement names a stream."""

    def moved(self, call: ir.Call, stream: StreamName, data: bytes) -> list[Edit]:
        """The call in its stream-ordered form."""

    def wait(self, site: ir.Site, waiter: StreamName, awaited: StreamName, unit: str) -> list[str]:
        """`waiter` waits for what `awaited` has done so far."""

    def synchronize(self, site: ir.Site, stream: StreamName) -> list[str]:
        """The host waits for a stream."""

    def synchronize_device(self, site: ir.Site) -> list[str]:
        """The host waits for the device."""

    def threshold(self, site: ir.Site, once: bool, unit: str, taken: frozenset[str], size: int) -> list[str]:
        """Raise the release threshold of the current device's default pool to a size in bytes."""

    def threshold_needs(self) -> list[Edit]:
        """What those statements need elsewhere in the file."""

    def needs_context(self, site: ir.Site) -> bool:
        """Whether those statements work only where a context is current, as it is at an allocation."""


class CudaWriter:
    """CUDA C++: the words of the codemods."""

    pairs: str = stream_ordered_pairs.CODEMOD.name
    comment = COMMENT

    def stream(self, name: StreamName) -> str:
        return name.text

    def moved(self, call: ir.Call, stream: StreamName, data: bytes) -> list[Edit]:
        edits: list[Edit] = stream_ordered_pairs.edits(call, stream.text, data)
        return edits

    def wait(self, site: ir.Site, waiter: StreamName, awaited: StreamName, unit: str) -> list[str]:
        lines: list[str] = wait_between_streams.statements(site, waiter.text, awaited.text, unit)
        return lines

    def synchronize(self, site: ir.Site, stream: StreamName) -> list[str]:
        return [checked(site, f"cudaStreamSynchronize({stream.text})")]

    def synchronize_device(self, site: ir.Site) -> list[str]:
        lines: list[str] = sync_before_reset.statements(site)
        return lines

    def threshold(self, site: ir.Site, once: bool, unit: str, taken: frozenset[str], size: int) -> list[str]:
        lines: list[str] = pool_release_threshold.statements(site, once, unit, size, taken)
        return lines

    def raised(self, site: ir.Site, once: bool, unit: str, size: int) -> list[str]:
        """The comment and the statements of a function that does it."""
        lines: list[str] = pool_release_threshold.raised(site, once, unit, size)
        return lines

    def threshold_needs(self) -> list[Edit]:
        return []

    def needs_context(self, site: ir.Site) -> bool:
        return False


CUDA = CudaWriter()
