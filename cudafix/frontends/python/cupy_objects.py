"""CuPy's streams, events, devices and kernels."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from cudafix import ir
from cudafix.frontends.python.api import Api
from cudafix.frontends.python.lowering import CURRENT
from cudafix.frontends.python.meaning import (
    Dotted,
)
from cudafix.frontends.python.terms import NONE, NOTHING, choice, deref, is_place, literal
from cudafix.ir import Addr, Const, Deref, Expr, Field, Look, Span
from cudafix.models.python import DEFAULTS, EVENT, EXTERNAL, METHODS, OF_STREAMS, STREAM
from cudafix.models.python import DEVICE as CUPY_DEVICE

_STREAM_AT = 4  # `kernel(grid, block, args, shared_mem, stream)` of `cupyx.jit`


class CupyObjects(Api):
    """Lowers objects of CuPy: each keeps its handle in a field."""

    def _c_call(self, node: cst.CSTNode, callee: str, args: tuple[Expr, ...]) -> None:
        """A call of the C function behind a method of CuPy, which raises if it fails."""
        span = self.span(node)
        name = Span(span.path, span.start, span.start)
        site = self.site(fixed="it is a method of CuPy")
        self.emit(ir.Call(callee, args, span, name, span.end, site, (), None, None, Look.CHECKED))

    def _cupy(self, node: cst.Call, dotted: str) -> Expr | None:
        """Streams, events and devices of CuPy: objects with their handle in a field; None for anything else."""
        named = {a.keyword.value: a.value for a in node.args if a.keyword is not None}
        null, ptds = (literal(named[key]) == "true" if key in named else False for key in ("null", "ptds"))
        if dotted == STREAM and len(named) == len(node.args):
            made = self.container(node)
            if null or ptds:
                handle = Const("0" if null else "cudaStreamPerThread")
                self._has_handle(node, made, handle)
                return made
            given = literal(named["non_blocking"]) if "non_blocking" in named else "false"
            words = {"true": Const("cudaStreamNonBlocking"), "false": Const("cudaStreamDefault")}
            flags = words.get(given or "", NOTHING)
            self._c_call(node, "cudaStreamCreateWithFlags", (Addr(Field(Deref(made), "ptr")), flags))
            self._owns(node, made, STREAM)
            return made
        if dotted == EXTERNAL and node.args:
            made = self.container(node)
            self._has_handle(node, made, self.value(node.args[0].value))
            return made
        if dotted == EVENT:
            return self._event(node)
        if dotted == CUPY_DEVICE:
            made = self.container(node)
            number = self.value(node.args[0].value) if node.args else NOTHING
            number = number if number != NONE else NOTHING
            self.emit(ir.Assign(Field(Deref(made), "id"), number, self.span(node)))
            return made
        if dotted in ("cupy.cuda.get_current_stream", "cupy.cuda.stream.get_current_stream"):
            made = self.container(node)
            self._has_handle(node, made, CURRENT)
            return made
        stream, _, method = dotted.rpartition(".")
        if stream in DEFAULTS:
            return self._stream_method(node, f"{STREAM}().{method}", NOTHING, Const(DEFAULTS[stream]))
        return None

    def _event(self, node: cst.Call) -> Expr:
        """A new event."""
        made = self.container(node)
        self._c_call(node, "cudaEventCreateWithFlags", (Addr(Field(Deref(made), "ptr")), NOTHING))
        self._owns(node, made, EVENT)
        return made

    def _owns(self, node: cst.Call, made: Expr, cls: str) -> None:
        """`Stream.__del__` and `Event.__del__` destroy what they have made (CuPy 14.2, cupy/cuda/stream.pyx)."""
        self.emit(ir.Assign(Field(Deref(made), ir.OWNS), Const("true"), self.span(node)))
        self.emit(ir.Assign(Field(Deref(made), ir.CLASS), Const(cls), self.span(node)))

    def _has_handle(self, node: cst.Call, made: Expr, handle: Expr) -> None:
        """An object stands for a stream that it has not made."""
        self.emit(ir.Assign(Field(Deref(made), "ptr"), handle, self.span(node)))
        self.emit(ir.Assign(Field(Deref(made), ir.CLASS), Const(STREAM), self.span(node)))

    def uses_cupy(self) -> bool:
        """Whether the file imports CuPy."""
        return any(name.startswith("cupy") for names in self.unit.outline.imports.values() for name in names)

    def by_class(self, node: cst.Call, name: str, base: Expr, otherwise: Callable[[], Expr]) -> Expr:
        """A method of an object that may be a stream or an event of CuPy, as far as its text says: what it is, is known
        where the object was made.
        """
        classes = [cls for cls in (STREAM, EVENT) if f"{cls}().{name}" in (*METHODS, *OF_STREAMS)]
        known = not self.unit.methods.replaced | self.unit.methods.patched >= {name}
        if not classes or not known or not is_place(base) or not self.uses_cupy():
            return otherwise()
        result = self.temporary()
        with self.once([a.value for a in node.args]):
            with self.block() as block:
                self.emit(ir.Assign(result, otherwise(), self.span(node)))
            for cls in classes:
                with self.block() as inner:
                    given = self._cupy_method(node, f"{cls}().{name}", base)
                    self.emit(ir.Assign(result, given if given is not None else NOTHING, self.span(node)))
                block = [ir.If(ir.Test("is", base, cls), tuple(inner), tuple(block), self.span(node))]
        self.out += block
        return result

    def _cupy_method(self, node: cst.Call, name: str, base: Expr) -> Expr | None:
        """A method of a stream, an event or a device."""
        if name.startswith(f"{EXTERNAL}()"):
            name = f"{STREAM}{name.removeprefix(EXTERNAL)}"
        return self._stream_method(node, name, base, Field(deref(base), "ptr"))

    def perhaps_current(self, node: cst.CSTNode, value: Expr) -> None:
        """An object is entered of which nothing is known: a stream of CuPy would be current from here on."""
        if not isinstance(value, Const) and value != NOTHING and self.uses_cupy():
            self.emit(ir.Assign(CURRENT, choice(CURRENT, Field(deref(value), "ptr")), self.span(node)))

    def stored_by_device(self, node: cst.CSTNode, array: cst.BaseExpression, base: Expr) -> None:
        """An array of CuPy is stored in: a kernel does it, on the stream that is current."""
        values: list[cst.BaseExpression | None] = [array]
        if isinstance(array, cst.Name):
            owner = self.scope.owner(array.value) if self.scope is not None else None
            own = owner.bindings.all_values.get(array.value, []) if owner is not None else []
            values += own if owner is not None else self.unit.outline.values_of(array.value)
        origins = [self.resolver.origin(one) or "" for one in values if one is not None]
        of_arrays = any(one.startswith("cupy.") and not one.startswith("cupy.cuda.") for one in origins)
        if of_arrays and is_place(base):
            self.emit(ir.Launch(self.source.text(array), (base,), CURRENT, self.span(node), self.site()))

    def _stream_method(self, node: cst.Call, name: str, base: Expr, handle: Expr) -> Expr | None:
        given = [self._handle(a.value) for a in node.args] if name in METHODS or name.endswith(".record") else []
        if name == f"{STREAM}().use":
            self.emit(ir.Assign(CURRENT, handle, self.span(node)))
            return base
        if name == f"{STREAM}().launch_host_func" and len(node.args) == 2 and not any(a.keyword for a in node.args):
            self._c_call(node, "cudaLaunchHostFunc", (handle, *(self.value(a.value) for a in node.args)))
            return NOTHING
        if name == f"{CUPY_DEVICE}().use":
            self._c_call(node, "cudaSetDevice", (Field(deref(base), "id"),))
            return NOTHING
        if name == f"{STREAM}().record":
            event = self._event(node) if not node.args else NOTHING
            recorded = given[0] if given else Field(deref(event), "ptr")
            self._c_call(node, "cudaEventRecord", (recorded, handle))
            return event if not node.args else self.value(node.args[0].value)
        if name not in METHODS:
            return None
        callee, words = METHODS[name]
        places: dict[str, Expr] = {"self": handle, "-": Const("0")}
        places["1"] = given[0] if given else NOTHING
        places["1|current"] = given[0] if given else CURRENT
        places["id"] = Field(deref(base), "id")
        is_current = isinstance(node.func, cst.Attribute) and self._is_current_device(node.func.value)
        self._c_call(node, callee, () if is_current else tuple(places[word] for word in words.split()))
        return NOTHING

    def _is_current_device(self, node: cst.BaseExpression) -> bool:
        """Whether this is `Device()`: the one that is current when it is made."""
        return isinstance(node, cst.Call) and not node.args and self.resolver.meaning(node.func) == Dotted(CUPY_DEVICE)

    def _handle(self, node: cst.BaseExpression) -> Expr:
        """The handle of an object of CuPy."""
        meaning = self.resolver.meaning(node)
        if isinstance(meaning, Dotted) and meaning.name in DEFAULTS:
            return Const(DEFAULTS[meaning.name])
        value = self.value(node)
        return Field(deref(value), "ptr") if not isinstance(value, Const) else value

    def _kernel(self, node: cst.Call, returns: bool, is_numba: bool = False) -> Expr:
        """`kernel(grid, block, args, stream=s)`, `kernel(x, y)`, `kernel[grid, block](args)`: on the stream that is
        current, unless it is given one; of Numba on the default stream, or `kernel[grid, block, stream](args)`.
        """
        values: list[Expr] = []
        stream: Expr = Const("0") if is_numba else CURRENT
        for number, argument in enumerate(node.args):
            named = argument.keyword.value if argument.keyword is not None else None
            if named == "stream" or (number == _STREAM_AT and not returns and not is_numba and named is None):
                stream = self._handle(argument.value) if literal(argument.value) is None else stream
            else:
                values.append(self.value(argument.value))
        func = node.func
        if isinstance(func, cst.Subscript):
            for number, element in enumerate(func.slice):
                place = self.value(element.slice.value) if isinstance(element.slice, cst.Index) else NOTHING
                if number == 2 and place != NONE:
                    stream = place
            func = func.value
        kernel = self.source.text(func)
        self.unit.launches.setdefault(kernel, self.span(node))
        given = tuple(v for v in values if not isinstance(v, Const) and v != NOTHING)
        if (returns or is_numba) and b"cuda_array" in self.unit.methods.interfaces:
            self.emit(ir.Unknown(f"the arrays that `{kernel}` is given", self.span(node), given))
        self.emit(ir.Launch(kernel, given, stream, self.span(node), self.site()))
        return self.outside(node) if returns else NOTHING
