"""How a language writes what a plan asks for: changed calls, waits, synchronizations, the pool's threshold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from cudafix import ir
from cudafix.findings import Edit
from cudafix.ordering.interpreter.program import StreamName


class Callee(NamedTuple):
    """A function that is called in place of one of the runtime; if it is `untyped`, it takes a `void **`."""

    name: str
    untyped: bool = False


class Writer(Protocol):
    """The words of one file's language. Statements come as lines without indentation.

    `comment` matches what may stand behind a statement on its line. `is_cuda`: the file is C or C++.
    """

    @property
    def is_cuda(self) -> bool: ...

    @property
    def pairs(self) -> str:
        """The codemod that moves pairs in this language."""

    @property
    def comment(self) -> bytes: ...

    def stream(self, name: StreamName) -> str:
        """How a statement names a stream."""

    def moved(
        self,
        call: ir.Call,
        stream: StreamName,
        data: bytes,
        wrapper: Callee | None = None,
        in_front: Sequence[str] = (),
    ) -> list[Edit]:
        """The call in its stream-ordered form; of a `wrapper`, if one is to be called; behind statements `in_front`
        where its function is only named.
        """

    def wait(self, site: ir.Site, waiter: StreamName, awaited: StreamName, unit: str) -> list[str]:
        """`waiter` waits for what `awaited` has done so far."""

    def wait_by(self, site: ir.Site, waiter: StreamName, awaited: StreamName, event: str) -> list[str]:
        """The same by an event that is there."""

    def event(self, site: ir.Site, name: str) -> tuple[list[str], list[str]]:
        """What makes an event in a variable of this name, and what destroys it."""

    def synchronize(self, site: ir.Site, stream: StreamName) -> list[str]:
        """The host waits for a stream."""

    def synchronize_device(self, site: ir.Site) -> list[str]:
        """The host waits for the device."""

    def threshold(
        self, site: ir.Site, once: bool, unit: str, taken: frozenset[str], size: int, asks: str = ""
    ) -> list[str]:
        """Raise the release threshold of the current device's default pool to a size in bytes; where a function `asks`
        whether it has one, if it has. `taken` are the names of variables there.
        """

    def raised(self, site: ir.Site, once: bool, unit: str, size: int, asks: str = "") -> list[str]:
        """The body of a function of its own that raises it, with a comment; empty where the language has none."""

    def fallback(self, names: Mapping[str, str], own_line: bool, inline: bool, unit: str) -> list[list[str]]:
        """The functions that `names` has names for, which do without memory pools, as lines; see `rewrite.wrapping`."""

    def threshold_needs(self) -> list[Edit]:
        """What those statements need elsewhere in the file."""

    def needs_context(self, site: ir.Site) -> bool:
        """Whether those statements work only where a context is current, as it is at an allocation."""
