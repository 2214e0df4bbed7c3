"""The classes that calls of templates name: by `work<Pool>()`, `P` is `Pool` in `template <class P> void work()`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from cudafix import ir
from cudafix.ir.link import Program, last
from cudafix.ir.names import WORD


def given_classes(
    program: Program, call: ir.Call, caller: ir.Function, around: Mapping[str, str], function: ir.Function
) -> dict[str, str]:
    """The classes for which the parameters of a template stand where `call` reaches `function`, as far as is known:
    arguments that are written are those of the parameters in order (C++17, 17.8.1 [temp.arg.explicit] 2). `around` says
    so of the template that the caller is.
    """
    if not call.template_args or not function.templates:
        return {}
    found: dict[str, str] = {}
    for name, written in zip(function.templates, ir.template_arguments(f"<{call.template_args}>"), strict=False):
        cls = around.get(written) if written in caller.templates else _class_named(program, written, caller)
        if name and cls:
            found[name] = cls
    return found


def _class_named(program: Program, written: str, caller: ir.Function) -> str:
    """The class that a name means in a function, "" where that is not known. A class of the same namespace hides others
    (C++17, 6.4.1 [basic.lookup.unqual] 7), but for those that the class of a method may have inside.
    """
    found = program.kept("classes by name", lambda: _classes(program)).get(written, "")
    here = caller.name.partition(ir.LAMBDA)[0].rpartition("::")[0]
    return found if WORD.fullmatch(written) and caller.cls is None and found.rpartition("::")[0] == here else ""


def _classes(program: Program) -> dict[str, str]:
    """The classes that are the only ones of their name, which means nothing else, and derived from no other."""
    found: dict[str, set[tuple[str, str]]] = defaultdict(set)
    derived: set[str] = set()
    for module in program.modules:
        for cls in (*module.members, *module.fields):
            found[last(cls)].add((cls, module.path))  # another file may have another one in an unnamed namespace
        derived.update(cls for cls, bases in module.bases.items() if bases)
    others = frozenset[str]().union(*(module.types | module.brought | module.unseen for module in program.modules))
    only = {name: next(iter(classes))[0] for name, classes in found.items() if len(classes) == 1}
    return {name: cls for name, cls in only.items() if name not in others and cls not in derived}
