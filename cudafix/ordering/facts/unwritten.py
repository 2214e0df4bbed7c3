"""Which assignments of a class may run where no call of them is lowered.

The front end lowers `a = b` to a call of the `operator=` of the class of `a` wherever it knows that class, and writes
down what an implicitly defined assignment does, so that only these are left (C++17):

- the type of `a` is not known to the front end: `auto`, what a call returns of which the type is not seen. It says so
  (`ir.Function.unwritten`), with the class of what is assigned;
- a template assigns objects of a type that it is given: a container, an algorithm, `std::swap`, a template of the
  program. It is given the type as a template argument (`ir.Module.template_arguments`), or deduces it from an argument
  of a call ([temp.deduct.call]), or of a constructor ([over.match.class.deduct]; both in `ir.Function.unwritten`);
- such an object is a part of one that is assigned so: a member, a base, an element ([class.copy.assign] 12);
- text that is not understood, as a macro that does not expand to C++, may assign anything.

What names no type of the program and gets no object of it cannot assign one: an lvalue of a class has a type that is
written somewhere, or is deduced from one. A function that is declared and not seen is none of these ways: what it is
given is given to unseen code.
"""

from __future__ import annotations

from collections import defaultdict

from cudafix import ir
from cudafix.ir.link import Program, last
from cudafix.ir.names import WORD


def may_be_assigned_unseen(program: Program, cls: str) -> bool:
    """Whether an assignment of the class with this last name component may run without a lowered call."""
    found = assigned_unseen(program)
    if "" in found or cls in found:
        return True
    return ir.NO_OBJECT in found and _is_converted_to(program, cls)


def assigned_unseen(program: Program) -> frozenset[str]:
    """The classes of objects that may be assigned unseen, with the marks of `ir.Function.unwritten`."""
    return program.kept("assigned unseen", lambda: frozenset(_assigned_unseen(program)))


def _assigned_unseen(program: Program) -> set[str]:
    parts: dict[str, set[str]] = defaultdict(set)  # those that the assignment of a class assigns
    stack = [cls for module in program.modules for cls in module.template_arguments]
    for function in program.functions():
        stack += function.unwritten
        if function.cls is not None and last(function.name) == "operator=":
            called = (s.callee for s in function.statements if isinstance(s, ir.Call))
            parts[last(function.cls)].update(last(c.rpartition("::")[0]) for c in called if last(c) == "operator=")
    found: set[str] = set()
    while stack:
        cls = stack.pop()
        if cls not in found:
            found.add(cls)
            stack += parts.get(cls, set()) - {""}
    return found


def _is_converted_to(program: Program, cls: str) -> bool:
    """Whether an object of a class can be assigned, or made of, one value that is none."""
    for function in program.functions():
        if function.cls is not None and last(function.cls) == cls and last(function.name) in (cls, "operator="):
            params = function.params
            if params and all(p.optional for p in params[1:]) and cls not in WORD.findall(params[0].type):
                return True
    return False
