"""The words of the codemods, by the language of a file: what is written where a plan changes or inserts something."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cudafix import ir
from cudafix.codemods import (
    pool_release_threshold,
    python_stream_ordered_pairs,
    stream_ordered_pairs,
    sync_before_reset,
    wait_between_streams,
)
from cudafix.findings import Edit
from cudafix.frontends.python.styles import CUPY, DRIVER, NEW_DRIVER, RUNTIME, Bindings, Style
from cudafix.ordering.interpreter.program import StreamName
from cudafix.project.config import ALL
from cudafix.rewrite.statements import COMMENT, Names, checked
from cudafix.rewrite.writer import Callee


class CudaWriter:
    """CUDA C++: the words of the codemods."""

    is_cuda = True
    pairs: str = stream_ordered_pairs.CODEMOD.name
    comment = COMMENT

    def __init__(self, names: Names) -> None:
        self.names = names

    def stream(self, name: StreamName) -> str:
        return name.text

    def moved(
        self,
        call: ir.Call,
        stream: StreamName,
        data: bytes,
        wrapper: Callee | None = None,
        in_front: Sequence[str] = (),
    ) -> list[Edit]:
        name, untyped = wrapper or ("", False)
        edits: list[Edit] = stream_ordered_pairs.edits(call, stream.text, data, name, untyped, in_front)
        return edits

    def wait(self, site: ir.Site, waiter: StreamName, awaited: StreamName, unit: str) -> list[str]:
        lines: list[str] = wait_between_streams.statements(site, waiter.text, awaited.text, unit, self.names)
        return lines

    def wait_by(self, site: ir.Site, waiter: StreamName, awaited: StreamName, event: str) -> list[str]:
        return [
            checked(site, f"cudaEventRecord({event}, {awaited.text})"),
            checked(site, f"cudaStreamWaitEvent({waiter.text}, {event}, 0)"),
        ]

    def event(self, site: ir.Site, name: str) -> tuple[list[str], list[str]]:
        create = checked(site, f"cudaEventCreateWithFlags(&{name}, cudaEventDisableTiming)")
        return [f"cudaEvent_t {name};", create], [checked(site, f"cudaEventDestroy({name})")]

    def synchronize(self, site: ir.Site, stream: StreamName) -> list[str]:
        return [checked(site, f"cudaStreamSynchronize({stream.text})")]

    def synchronize_device(self, site: ir.Site) -> list[str]:
        lines: list[str] = sync_before_reset.statements(site)
        return lines

    def threshold(
        self, site: ir.Site, once: bool, unit: str, taken: frozenset[str], size: int, asks: str = ""
    ) -> list[str]:
        lines: list[str] = pool_release_threshold.statements(site, once, unit, size, self._besides(taken), asks)
        return lines

    def raised(self, site: ir.Site, once: bool, unit: str, size: int, asks: str = "") -> list[str]:
        """The comment and the statements of a function that does it."""
        lines: list[str] = pool_release_threshold.raised(site, once, unit, size, self.names, asks)
        return lines

    def fallback(self, names: Mapping[str, str], own_line: bool, inline: bool, unit: str) -> list[list[str]]:
        lines: list[list[str]] = stream_ordered_pairs.fallback(names, own_line, inline, unit, self.names)
        return lines

    def _besides(self, taken: frozenset[str]) -> Names:
        return self.names._replace(taken=self.names.taken | taken)

    def threshold_needs(self) -> list[Edit]:
        return []

    def needs_context(self, site: ir.Site) -> bool:
        return False


CUDA = CudaWriter(Names())


def spelled(expr: ir.Expr) -> str:
    """The Python text of a place."""
    match expr:
        case ir.Var("this"):
            return "self"
        case ir.Var(name):
            return name.rpartition("::")[2].split("@")[0]
        case ir.Field(ir.Deref(base), name) | ir.Field(base, name):
            return f"{spelled(base)}.{name}"
        case ir.Index(base, index):
            return f"{spelled(base)}[{spelled(index)}]"
        case ir.Const(text):
            return "None" if text == "nullptr" else text
        case _:
            return ""


class PythonWriter:
    """Python, for one file."""

    is_cuda = False
    pairs: str = python_stream_ordered_pairs.CODEMOD.name
    comment = rb"#.*"

    def __init__(self, bindings: Bindings) -> None:
        self.styles = bindings.styles
        self.driver = bindings.driver
        self.import_driver = bindings.import_driver

    def stream(self, name: StreamName) -> str:
        """How a statement names a stream."""
        return "0" if name.text == "0" else spelled(name.expr)

    def moved(
        self,
        call: ir.Call,
        stream: StreamName,
        data: bytes,
        wrapper: Callee | None = None,
        in_front: Sequence[str] = (),
    ) -> list[Edit]:
        """The call in its stream-ordered form."""
        assert wrapper is None
        edits: list[Edit] = python_stream_ordered_pairs.edits(call, self.stream(stream), data)
        return edits

    def style(self, site: ir.Site) -> Style | None:
        """The style of the statement; the file's usual check where the statement has none of its own."""
        found = self.styles.get(site.prefix)
        usual = [s for s in self.styles.values() if "self." not in f"{s.module}{s.wrapper}"]
        if found is not None and not found.wrapper:
            usual = [s for s in usual if s.api == found.api and s.uses >= found.uses]
        if usual and (found is None or not found.wrapper):
            return max(usual, key=lambda style: (style.api != DRIVER, bool(style.wrapper), style.uses))
        return found

    def wait(self, site: ir.Site, waiter: StreamName, awaited: StreamName, unit: str) -> list[str]:
        """`waiter` waits for what `awaited` has done so far. A destroyed event is released when it is done."""
        event = "done"
        while event in f"{self.stream(waiter)} {self.stream(awaited)}":
            event += "_"
        made, destroyed = self.event(site, event)
        return [*made, *self.wait_by(site, waiter, awaited, event), *destroyed]

    def wait_by(self, site: ir.Site, waiter: StreamName, awaited: StreamName, event: str) -> list[str]:
        """The same by an event that is there."""
        style = self.style(site)
        if style is None:
            return []
        first, second = self.stream(waiter), self.stream(awaited)
        return [
            style.call("EventRecord", f"{event}, {second}"),
            style.call("StreamWaitEvent", f"{first}, {event}, 0" if style.api != CUPY else f"{first}, {event}"),
        ]

    def event(self, site: ir.Site, name: str) -> tuple[list[str], list[str]]:
        """What makes an event in a variable of this name, and what destroys it."""
        style = self.style(site)
        if style is None:
            return [], []
        timing = (
            "2"
            if style.api == CUPY
            else style.constant(
                "CUevent_flags.CU_EVENT_DISABLE_TIMING" if style.api == DRIVER else "cudaEventDisableTiming"
            )
        )
        create = "EventCreate" if style.api == DRIVER else "EventCreateWithFlags"
        return [f"{name} = {style.result(create, timing)}"], [style.call("EventDestroy", name)]

    def synchronize(self, site: ir.Site, stream: StreamName) -> list[str]:
        """The host waits for a stream."""
        style = self.style(site)
        return [style.call("StreamSynchronize", self.stream(stream))] if style is not None else []

    def synchronize_device(self, site: ir.Site) -> list[str]:
        """The host waits for the device."""
        style = self.style(site)
        if style is None:
            return []
        return [style.call("CtxSynchronize" if style.api == DRIVER else "DeviceSynchronize", "")]

    def threshold(
        self, site: ir.Site, once: bool, unit: str, taken: frozenset[str], size: int, asks: str = ""
    ) -> list[str]:
        """Raise the threshold of the current device's default pool. To do it again changes nothing."""
        style = self.style(site)
        if style is None:
            return []
        pool, threshold = (name + "_" * (name in taken) for name in ("pool", "threshold"))
        bytes_kept = "2**64 - 1" if size == ALL else str(size)
        comment = "# keep freed memory in the pool instead of giving it back at every synchronization"
        if style.api == CUPY:
            get = style.result("DeviceGetDefaultMemPool", style.result("GetDevice", ""))
            # 4 is cudaMemPoolAttrReleaseThreshold; the module has no name for it
            return [comment, f"{pool} = {get}", style.call("MemPoolSetAttribute", f"{pool}, 4, {bytes_kept}")]
        lines = [comment]
        driver = style.module if style.api == DRIVER else self.driver
        if not driver:
            driver = NEW_DRIVER
            if self.import_driver is None:
                lines.append(f"from cuda.bindings import driver as {driver}")
        if style.api == DRIVER:
            device = style.result("CtxGetDevice", "")
            attribute = style.constant("CUmemPool_attribute.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD")
        else:
            device = style.result("GetDevice", "")
            attribute = style.constant("cudaMemPoolAttr.cudaMemPoolAttrReleaseThreshold")
        lines.append(f"{pool} = {style.result('DeviceGetDefaultMemPool', device)}")
        lines.append(f"{threshold} = {driver}.cuuint64_t({bytes_kept})")
        lines.append(style.call("MemPoolSetAttribute", f"{pool}, {attribute}, {threshold}"))
        return lines

    def needs_context(self, site: ir.Site) -> bool:
        """The driver's calls fail where no context is current; the runtime's make one."""
        style = self.style(site)
        return style is not None and style.api == DRIVER

    def raised(self, site: ir.Site, once: bool, unit: str, size: int, asks: str = "") -> list[str]:
        """A program sets up the pool where it first allocates, and needs no function for it."""
        return []

    def fallback(self, names: Mapping[str, str], own_line: bool, inline: bool, unit: str) -> list[list[str]]:
        """Python calls the runtime itself."""
        return []

    def threshold_needs(self) -> list[Edit]:
        """The import of the driver bindings: the value of the threshold is one of their types."""
        uses_driver = {RUNTIME} & {style.api for style in self.styles.values()} and not self.driver
        return [self.import_driver] if uses_driver and self.import_driver is not None else []
