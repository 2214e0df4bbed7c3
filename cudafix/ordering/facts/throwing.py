"""Which statements an exception may leave, of code that is not seen (C++17, 18 [except])."""

from __future__ import annotations

from cudafix import ir
from cudafix.ir.link import Program, last
from cudafix.models import Tables

# functions of the standard library that are `noexcept`, or throw nothing where they may be called at all
_THROW_NOTHING = frozenset(
    "size ssize max_size empty capacity data begin end cbegin cend rbegin rend crbegin crend front back get release "
    "swap move forward exchange as_const addressof min max clamp abs fabs sqrt exp log pow sin cos floor ceil c_str "
    "length clear pop_back pop_front now count time_since_epoch what good fail eof bad is_open has_value reset "
    "operator[] operator* operator-> rdbuf setf unsetf precision width flush setprecision setw".split()
)
_STREAMS = frozenset(("std::cout", "std::cerr", "std::clog", "std::endl", "std::flush"))
_THROWS_NOTHING = ("throw", "operator delete")


def may_throw(program: Program, tables: Tables, stmt: ir.Stmt) -> bool:
    """Whether code of others that a statement runs may end by an exception. Those of CUDA and of C do not; output does
    where the program asks for that ([iostate.flags] 3). What the program defines says itself what it throws, and so do
    the statements in other ones.
    """
    if isinstance(stmt, ir.Call):
        return _call_may_throw(program, tables, stmt)
    if isinstance(stmt, ir.Declare):
        return stmt.type.startswith("std::")
    return isinstance(stmt, ir.Unknown) or (isinstance(stmt, ir.HostAccess) and stmt.throws)


def _call_may_throw(program: Program, tables: Tables, call: ir.Call) -> bool:
    name = last(call.callee)
    if call.callee.startswith("#") or call.callee in _THROWS_NOTHING or name.startswith(("cu", "~")):
        return False
    if name in _THROW_NOTHING and (call.receiver is not None or call.callee.startswith("std::")):
        return False
    if call.callee in _STREAMS:
        return program.kept("exceptions of streams", lambda: _ask_streams(program))
    if program.reached_by(call, None):
        return False
    api = tables.lookup(call.callee, len(call.args)) if call.receiver is None else None
    return api is None or api.source.startswith("C++")


def _ask_streams(program: Program) -> bool:
    return any(
        isinstance(stmt, ir.Call) and stmt.callee == "exceptions"
        for function in program.functions()
        for stmt in function.statements
    )
