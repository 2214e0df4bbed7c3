"""Decorators of the program itself: what stands in the place of a function that one of them has decorated.

A *forwarder* is a decorator that defines a function, the wrapper, returns that, and does nothing else. The wrapper
calls what was decorated with the arguments that it was given. The name of the decorated function then means the
wrapper, in which the parameter of the decorator means the function as it is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import libcst as cst

from cudafix.frontends.python.meaning import Dotted, Modules, OwnFunction, Resolver, Scope, scope_of
from cudafix.frontends.python.names import Class, Outline, bindings_of, chain
from cudafix.frontends.python.nodes import walk, walk_own
from cudafix.frontends.python.terms import literal

PLAIN = "<as it is written "
"""Begins the last component of the name of a function without its decorators, or without some of them."""
_CACHES = (Dotted("functools.lru_cache"), Dotted("functools.cache"))
_TEXTS = frozenset("__name__ __qualname__ __doc__ __module__".split())


class Forwarder(NamedTuple):
    """`decorator(function)` is `wrapper`; `factory(…)` has made the decorator, if there is one. `stars`: the wrapper
    takes whatever it is given, behind the object of a method if it names that (`this`).
    """

    decorator: OwnFunction
    wrapper: cst.FunctionDef
    factory: OwnFunction | None
    stars: bool
    this: bool

    @property
    def parameter(self) -> str:
        """What the decorated function is called in the decorator."""
        return self.decorator.node.params.params[0].name.value

    def scope(self, qual: str, cls: Class | None, decorated: OwnFunction) -> Scope:
        """The scope of the wrapper of a function."""
        node, name = self.decorator.node, self.decorator.name
        around = scope_of(self.factory.node, self.factory.name, None, None) if self.factory is not None else None
        outer = scope_of(node, name, around, None)
        outer.stands[self.parameter] = decorated
        return scope_of(self.wrapper, qual, outer, cls if self.this or not self.stars else None)


def is_plain(name: str) -> bool:
    """Whether this is the name of a function without decorators that others have."""
    return name.rpartition("::")[2].startswith(PLAIN)


def is_cache(decorator: cst.BaseExpression, modules: Modules, outline: Outline) -> bool:
    """Whether a function is decorated so that it need not run again for the same arguments, but gives the same."""
    inner = decorator.func if isinstance(decorator, cst.Call) else decorator
    return Resolver(modules, outline, None).meaning(inner) in _CACHES


def runs_once(function: cst.FunctionDef) -> bool:
    """Whether a function with such a decorator runs once: it has no arguments, and its result is kept."""
    decorator = function.decorators[0].decorator if len(function.decorators) == 1 else None
    given = decorator.args if isinstance(decorator, cst.Call) else ()
    return decorator is not None and not _every(function.params) and all(_is_some(one) for one in given)


def _is_some(argument: cst.Arg) -> bool:
    """Whether an argument of `lru_cache` leaves room for one result at least."""
    text = literal(argument.value)
    return _is_name(argument.value, "None") or (text is not None and text.isdigit() and int(text) > 0)


def forwarders(function: cst.FunctionDef, modules: Modules, outline: Outline) -> list[Forwarder] | None:
    """The decorators of a function of the module or of a class in it, from the outermost on, if all of them are
    forwarders; None if not.
    """
    own = (*outline.functions.values(), *(one for cls in outline.classes.values() for _, one in cls.functions()))
    if not function.decorators or not any(one is function for one in own):
        return None
    found = [_forwarder(one.decorator, function, modules, outline) for one in function.decorators]
    known = [one for one in found if one is not None]
    return known if len(known) == len(found) and found and function.asynchronous is None else None


def _forwarder(
    decorator: cst.BaseExpression, function: cst.FunctionDef, modules: Modules, outline: Outline
) -> Forwarder | None:
    resolver = Resolver(modules, outline, None)
    meaning = resolver.meaning(decorator.func if isinstance(decorator, cst.Call) else decorator)
    if not isinstance(meaning, OwnFunction) or meaning.outline is not outline or meaning.cls is not None:
        return None
    if modules.set_from_outside(meaning.node.name.value):
        return None
    factory: OwnFunction | None = None
    if isinstance(decorator, cst.Call):
        factory, inner = meaning, _only_makes(meaning.node)
        if inner is None or any(one.star for one in decorator.args):
            return None
        meaning = OwnFunction(outline, inner, f"{factory.name}::{inner.name.value}")
    wrapper = _only_makes(meaning.node)
    params = meaning.node.params
    if wrapper is None or len(params.params) != 1 or len(_every(params)) != 1 or params.params[0].default is not None:
        return None
    if any(not _is_wraps(one.decorator, params.params[0].name.value, resolver) for one in wrapper.decorators):
        return None
    return _that_forwards(Forwarder(meaning, wrapper, factory, False, False), function)


def _only_makes(function: cst.FunctionDef) -> cst.FunctionDef | None:
    """The function that another one defines and returns, if it does nothing else."""
    if function.decorators or function.asynchronous is not None or not isinstance(function.body, cst.IndentedBlock):
        return None
    body = [line for line in function.body.body if not _is_text(line)]
    if len(body) != 2 or not isinstance(body[0], cst.FunctionDef) or not isinstance(body[1], cst.SimpleStatementLine):
        return None
    match body[1].body:
        case [cst.Return(value=cst.Name(value=name))] if name == body[0].name.value:
            return body[0]
    return None


def _that_forwards(one: Forwarder, function: cst.FunctionDef) -> Forwarder | None:
    """The same with what is told by the parameters of the wrapper; None where it does something else with what it
    decorates than to call it with the arguments that it gets.
    """
    name, wrapper = one.parameter, one.wrapper
    params, own = wrapper.params, bindings_of(wrapper.body)
    inside = list(walk_own(wrapper.body))
    named = [node for node in walk(wrapper.body) if isinstance(node, cst.Name) and node.value == name]
    calls = [node for node in inside if isinstance(node, cst.Call) and _is_name(node.func, name)]
    texts = [node for node in inside if isinstance(node, cst.Attribute) and _is_name(node.value, name)]
    if len(named) != len(calls) + len(texts) or any(node.attr.value not in _TEXTS for node in texts):
        return None
    if wrapper.asynchronous is not None or any(isinstance(node, cst.Yield) for node in inside):
        return None
    if own.assigned[name] or name in {param.name.value for param in _every(params)}:
        return None
    star = params.star_arg.name.value if isinstance(params.star_arg, cst.Param) else ""
    stars = params.star_kwarg.name.value if params.star_kwarg is not None else ""
    first = [param.name.value for param in params.params]
    if any(own.assigned[word] for word in (*first, star, stars) if word):
        return None
    given = [*first, *([f"*{star}"] if star else []), *([f"**{stars}"] if stars else [])]
    if not all(
        [f"{one.star}{_word(one.value)}" for one in call.args if one.keyword is None] == given for call in calls
    ):
        return None
    if any(argument.keyword is not None for call in calls for argument in call.args):
        return None
    if star:
        plain = not params.posonly_params and not params.kwonly_params and len(first) <= 1
        by_name = stars or not _has_defaults(function.params)
        return one._replace(stars=True, this=bool(first)) if plain and by_name else None
    same = [param.name.value for param in _every(function.params)] == first and not stars
    plain = not _has_defaults(params) and not _has_defaults(function.params)
    return one if same and plain and len(_every(params)) == len(first) else None


def _has_defaults(params: cst.Parameters) -> bool:
    return any(param.default is not None for param in _every(params)) or bool(params.kwonly_params)


def _every(params: cst.Parameters) -> Sequence[cst.Param]:
    more = [one for one in (params.star_arg, params.star_kwarg) if isinstance(one, cst.Param)]
    return [*params.posonly_params, *params.params, *params.kwonly_params, *more]


def _is_wraps(decorator: cst.BaseExpression, name: str, resolver: Resolver) -> bool:
    """Whether this is `functools.wraps(function)`, which copies texts."""
    return (
        isinstance(decorator, cst.Call)
        and resolver.meaning(decorator.func) == Dotted("functools.wraps")
        and [_word(argument.value) for argument in decorator.args] == [name]
    )


def _is_text(line: cst.BaseStatement) -> bool:
    match line:
        case cst.SimpleStatementLine(body=[cst.Expr(value=cst.SimpleString())]):
            return True
    return False


def _is_name(node: cst.BaseExpression, name: str) -> bool:
    return isinstance(node, cst.Name) and node.value == name


def _word(node: cst.BaseExpression) -> str:
    words = chain(node)
    return words[0] if words is not None and len(words) == 1 else "?"
