"""The classes that calls of templates name: by `work<Pool>()`, `P` is `Pool` in `template <class P> void work()`."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

from cudafix import ir
from cudafix.ir.link import Program, last
from cudafix.ir.names import WORD
from cudafix.ir.types import Type

_WORD = re.compile(r"\w+")


def given_classes(
    program: Program,
    call: ir.Call,
    caller: ir.Function,
    around: Mapping[str, str],
    function: ir.Function,
    receiver: str,
    kinds: Sequence[str],
) -> dict[str, str]:
    """The classes for which the parameters of a template, or of the template of its class, stand where `call` reaches
    `function`, as far as is known. `around` says so of the caller, `receiver` is the type of the object, and `kinds`
    are those of the arguments, "" where they are not known.

    - Arguments that are written are those of the parameters in order (C++17, 17.8.1 [temp.arg.explicit] 2).
    - A parameter `P p` stands for the class of the argument (17.8.2.1 [temp.deduct.call] 1 to 3).
    - What is in no parameter stands for its default argument (17.8.2 [temp.deduct] 5).
    """

    def meant(written: str) -> str:
        known = written in caller.templates or written in caller.class_templates
        return around.get(written, "") if known else _class_named(program, written, caller)

    def listed(names: Sequence[str], text: str) -> dict[str, str]:
        return {name: meant(one) for name, one in zip(names, ir.template_arguments(text), strict=False)}

    found: dict[str, str] = {}
    if function.class_templates:
        cls = last(function.cls or "")
        of_this = call.receiver is None or call.receiver == ir.Deref(ir.Var("this"))
        if call.class_args and last(call.callee.rpartition("::")[0]) == cls:
            found |= listed(function.class_templates, f"<{call.class_args}>")
        elif "<" in receiver and Type.of(receiver).last == cls:
            found |= listed(function.class_templates, receiver)
        elif of_this and caller.cls == function.cls:
            found |= zip(function.class_templates, map(meant, caller.class_templates), strict=False)
    written = listed(function.templates, f"<{call.template_args}>") if call.template_args else {}
    of_parameters = {word for param in function.params for word in _WORD.findall(param.type)}
    for name, default in zip(function.templates, function.defaults, strict=True):
        own = [kind for param, kind in zip(function.params, kinds, strict=False) if param.type == name]
        if name in written:
            found[name] = written[name]
        elif len(own) == 1:
            found[name] = meant(of.core if not (of := Type.of(own[0])).pointers else "")
        elif name not in of_parameters:
            found[name] = _class_named(program, default, function)
    return {name: cls for name, cls in found.items() if name and cls}


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
