"""The words of inserted and changed Python: the module's own name for the bindings, its check function, its style."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cudafix import ir
from cudafix.codemods import python_stream_ordered_pairs
from cudafix.config import ALL
from cudafix.findings import Edit
from cudafix.ordering.program import StreamName

RUNTIME = "cuda.bindings.runtime"
DRIVER = "cuda.bindings.driver"
CUPY = "cupy.cuda.runtime"
NEW_DRIVER = "cuda_driver"
"""What an import that is added calls the driver bindings."""


@dataclass(slots=True)
class Style:
    """One way in which a file calls the API: `wrapper(module.cudaFree(p))`.

    `api` is the binding module, `module` its name in the file, `wrapper` the check function ("" where there is none).
    `unwraps`: the check returns a single result bare. `uses` counts how often the file does it.
    """

    api: str
    module: str
    wrapper: str
    unwraps: bool
    uses: int = 0

    def call(self, name: str, arguments: str) -> str:
        """A call as a statement."""
        return self._checked(f"{self.module}.{self._spelled(name)}({arguments})")

    def result(self, name: str, arguments: str) -> str:
        """A call as an expression: its one result."""
        call = f"{self.module}.{self._spelled(name)}({arguments})"
        if self.api == CUPY:
            return call
        return f"{self.wrapper}({call})" if self.wrapper and self.unwraps else f"{call}[1]"

    def constant(self, name: str) -> str:
        return f"{self.module}.{name}"

    def _checked(self, call: str) -> str:
        return f"{self.wrapper}({call})" if self.wrapper else call

    def _spelled(self, name: str) -> str:
        """The name of a runtime function (without `cuda`) in this module."""
        if self.api == CUPY:
            return name[0].lower() + name[1:]
        return f"{'cu' if self.api == DRIVER else 'cuda'}{name}"


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
    """Writes statements for one file. `driver` is the file's name for the driver bindings, "" if it imports none;
    `import_driver` then brings one in, beside the import of the runtime bindings.
    """

    pairs: str = python_stream_ordered_pairs.CODEMOD.name
    comment = rb"#.*"

    def __init__(self, styles: Mapping[str, Style], driver: str, import_driver: Edit | None) -> None:
        self.styles = styles
        self.driver = driver
        self.import_driver = import_driver

    def stream(self, name: StreamName) -> str:
        """How a statement names a stream."""
        return "0" if name.text == "0" else spelled(name.expr)

    def moved(self, call: ir.Call, stream: StreamName, data: bytes) -> list[Edit]:
        """The call in its stream-ordered form."""
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
        style = self.style(site)
        if style is None:
            return []
        first, second = self.stream(waiter), self.stream(awaited)
        event = "done"
        while event in f"{first} {second}":
            event += "_"
        timing = (
            "2"
            if style.api == CUPY
            else style.constant(
                "CUevent_flags.CU_EVENT_DISABLE_TIMING" if style.api == DRIVER else "cudaEventDisableTiming"
            )
        )
        create = "EventCreate" if style.api == DRIVER else "EventCreateWithFlags"
        return [
            f"{event} = {style.result(create, timing)}",
            style.call("EventRecord", f"{event}, {second}"),
            style.call("StreamWaitEvent", f"{first}, {event}, 0" if style.api != CUPY else f"{first}, {event}"),
            style.call("EventDestroy", event),
        ]

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

    def threshold(self, site: ir.Site, once: bool, unit: str, taken: frozenset[str], size: int) -> list[str]:
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

    def threshold_needs(self) -> list[Edit]:
        """The import of the driver bindings: the value of the threshold is one of their types."""
        uses_driver = {RUNTIME} & {style.api for style in self.styles.values()} and not self.driver
        return [self.import_driver] if uses_driver and self.import_driver is not None else []
