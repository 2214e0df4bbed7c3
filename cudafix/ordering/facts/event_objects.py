"""Classes of which an object is one event: its constructor makes it and its destructor destroys it, and they do nothing
else that matters to any order.

Such an object in a variable stands for two calls of the runtime: one where it is declared, and one where it goes out of
scope (C++17, 9.7 [stmt.dcl] 2).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from cudafix import ir
from cudafix.ir.link import Program, last
from cudafix.models import Tables
from cudafix.models.api import Effect
from cudafix.ordering.facts.getters import Getters

_OWN = ir.Deref(ir.Var("this"))
_TIMELESS = ir.Const("cudaEventDisableTiming")


class EventClass(NamedTuple):
    """Such a class: its event is the member `member`, of which `value` is the text behind an object's name where others
    may name it. `flags`: its constructor takes them; else it takes nothing.
    """

    name: str
    member: str
    value: str
    flags: bool
    constructor: ir.Function


class EventObjects:
    """One for a program."""

    def __init__(self, program: Program, tables: Tables) -> None:
        self.program = program
        self.tables = tables
        self.getters = Getters.of(program, tables)
        self.classes = {found.name: found for cls in self._candidates() if (found := self._class(cls)) is not None}

    @staticmethod
    def of(program: Program, tables: Tables) -> EventObjects:
        return program.kept("event objects", lambda: EventObjects(program, tables))

    def stands_for(self, around: ir.Function, call: ir.Call) -> ir.Call | None:
        """The call of the runtime that a constructor or a destructor of an object in a variable is, in the function
        `around`; None for any other call.
        """
        if not isinstance(call.receiver, ir.Var):
            return None
        cls = self.classes.get(self.getters.type_of(around, call.receiver))
        if cls is None or call.callee.rpartition("::")[0] != cls.name or len(call.args) > cls.flags:
            return None
        place = ir.Field(call.receiver, cls.member)
        name = last(call.callee)
        if name == f"~{last(cls.name)}":
            return replace(call, callee="cudaEventDestroy", args=(place,), receiver=None, result=None)
        if name != last(cls.name) or not all(isinstance(arg, ir.Const) for arg in call.args):
            return None
        args = (ir.Addr(place), *(call.args or (_TIMELESS,)))
        return replace(call, callee="cudaEventCreateWithFlags", args=args, receiver=None, result=None)

    def _candidates(self) -> Iterator[str]:
        """The classes that this program defines once, with a destructor."""
        ends = [f.cls for f in self.program.functions() if f.cls and last(f.name) == f"~{last(f.cls)}"]
        yield from (cls for cls in ends if ends.count(cls) == 1 and "<" not in cls)

    def _class(self, cls: str) -> EventClass | None:
        own = [f for f in self.program.functions() if f.cls == cls]
        ends = [f for f in own if last(f.name) == f"~{last(cls)}"]
        makes = [f for f in own if last(f.name) == last(cls) and all(p.optional for p in f.params)]
        if len(makes) != 1 or makes[0].problems or ends[0].problems or makes[0].bases or len(makes[0].params) > 1:
            return None
        made = self._only(makes[0].body, Effect.EVENT_CREATE)
        ended = self._only(ends[0].body, Effect.EVENT_DESTROY)
        if made is None or ended is None or not isinstance(made.args[0], ir.Addr) or made.args[0].base != ended.args[0]:
            return None
        match ended.args[0]:
            case ir.Field(base, member) if base == _OWN:
                flags = tuple(ir.Var(p.name) for p in makes[0].params)
                value = self._value(cls, member, own)
                if value is None or (flags and flags != made.args[1:]):
                    return None
                return EventClass(cls, member, value, bool(flags), makes[0])
            case _:
                return None

    def _only(self, block: ir.Block, effect: Effect) -> ir.Call | None:
        """The one call in a block that does this, where nothing else there does anything but look, store null, or leave
        because that call has failed.
        """
        found: list[ir.Call] = []
        front = list(block)
        while front:
            stmt = front.pop(0)
            match stmt:
                case ir.HostAccess(writes=(), ends=False, throws=False) | ir.Assign(value=ir.Const("0" | "nullptr")):
                    continue
                case ir.If(test=ir.Test("failed", place), other=()) if found and place == found[0].result:
                    continue
                case ir.If(other=()) if effect is Effect.EVENT_DESTROY:
                    front[:0] = stmt.then
                case ir.Call(receiver=None) if self._does(stmt, effect):
                    found.append(stmt)
                case _:
                    return None
        return found[0] if len(found) == 1 else None

    def _does(self, call: ir.Call, effect: Effect) -> bool:
        api = self.tables.lookup(call.callee, len(call.args))
        return api is not None and api.effect is effect

    def _value(self, cls: str, member: str, own: list[ir.Function]) -> str | None:
        """What stands behind the name of an object for its event. Whether others may call a method is not known but
        where others do.
        """
        fields = [module.fields[cls][member] for module in self.program.modules if member in module.fields.get(cls, {})]
        if fields and all(one.public for one in fields):
            return f".{member}"
        gives = {last(f.name) for f in own if self.getters.place(f, last(f.name), _OWN) == ir.Field(_OWN, member)}
        for function in self.program.functions():
            for call in (s for s in function.statements if isinstance(s, ir.Call) and function.cls != cls):
                if last(call.callee) in gives and call.receiver is not None:
                    kind = self.getters.type_of(function, call.receiver)
                    if last(kind) == last(cls):
                        return f".{last(call.callee)}()"
        return None
