"""The classes and types that calls of templates name: by `work<Pool>()`, `P` is `Pool` in `template <class P> void
work()`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from cudafix import ir
from cudafix.ir.link import Program, last
from cudafix.ir.names import WORD
from cudafix.ir.types import Type

_WORD = re.compile(r"\w+")
# C++17, 6.9.1 [basic.fundamental]: types that are no other by any of these names
_FUNDAMENTAL = frozenset(("bool", "char", "short", "int", "long", "long long", "float", "double", "unsigned int"))


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

    found = {name: meant(written) for name, written in _of_class(call, caller, function, receiver)}
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


def given_arguments(
    program: Program,
    call: ir.Call,
    caller: ir.Function,
    around: Mapping[str, str],
    function: ir.Function,
    receiver: str,
) -> dict[str, str]:
    """The arguments that the parameters of a template, or of the template of its class, certainly have where `call`
    reaches `function`: fundamental types and classes that are written there. `around` says so of the caller.
    """
    written = zip(function.templates, ir.template_arguments(f"<{call.template_args}>"), strict=False)
    given = (*_of_class(call, caller, function, receiver), *written)
    found = {name: argument_named(program, one, caller, around) for name, one in given}
    return {name: argument for name, argument in found.items() if name and argument}


def argument_named(program: Program, written: str, caller: ir.Function, around: Mapping[str, str]) -> str:
    """The type that an argument of a template is in a function, by one name for all; "" where that is not known."""
    if written in caller.templates or written in caller.class_templates:
        return around.get(written, "")
    return written if written in _FUNDAMENTAL else _class_named(program, written, caller)


def _of_class(call: ir.Call, caller: ir.Function, function: ir.Function, receiver: str) -> Iterable[tuple[str, str]]:
    """The parameters of the template of a function's class, with the arguments in a call as the caller writes them. In
    its own methods the name of a class template is that of the instantiation (C++17, 17.6.1 [temp.local] 1).
    """
    if not function.class_templates:
        return ()
    cls = last(function.cls or "")
    of = Type.of(receiver)
    if call.class_args and last(call.callee.rpartition("::")[0]) == cls:
        return zip(function.class_templates, ir.template_arguments(f"<{call.class_args}>"), strict=False)
    if of.arguments and of.last == cls:
        return zip(function.class_templates, of.arguments, strict=False)
    of_this = call.receiver is None or call.receiver == ir.Deref(ir.Var("this")) or of.last == cls
    if of_this and not of.arguments and caller.cls == function.cls:
        return zip(function.class_templates, caller.class_templates, strict=False)
    return ()


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
