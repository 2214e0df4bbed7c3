"""Calls: of the CUDA API, of packages, of the program, of methods of objects that are not known."""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterator, Sequence

import libcst as cst

from cudafix import ir
from cudafix.frontends.python import bindings
from cudafix.frontends.python.api import in_order
from cudafix.frontends.python.containers import DICTIONARIES, LISTS, LOADS, SHUFFLES
from cudafix.frontends.python.functions import Functions
from cudafix.frontends.python.lowering import OUTPUT, RAISED
from cudafix.frontends.python.meaning import (
    Dotted,
    Modules,
    OwnClass,
    OwnFunction,
    OwnGlobal,
    OwnModule,
    Resolver,
    is_static,
    scope_of,
)
from cudafix.frontends.python.names import Outline
from cudafix.frontends.python.nodes import walk
from cudafix.frontends.python.special import COMPARE, KEY
from cudafix.frontends.python.terms import NONE, NOTHING, choice, deref, is_place, literal, opaque
from cudafix.ir import Const, Deref, Expr, Field, FuncRef, Index, Look, Span, Stmt, Var
from cudafix.models.api import HOST_EFFECTS, Effect, played, roles_of
from cudafix.models.python import (
    ANYTHING,
    ASSUMED,
    CALLED,
    CALLERS,
    CAUGHT,
    COMBINES,
    DECORATORS,
    INTO,
    KEEPS,
    KERNELS,
    LOADED,
    MAKERS,
    MODULES,
    PARAMETERS,
    REARRANGES,
    SHOWS_VARIABLES,
    STORES,
    TAKES_ADDRESSES,
    VARIABLES_OF_OTHERS,
)

_ONLY_ASK = frozenset(f"builtins.{name}" for name in "callable id isinstance issubclass hasattr type".split())
"""Functions that call nothing of what they are given."""
_PASSES = frozenset("int abs round".split())
_NO_ADDRESS = frozenset(
    "print len isinstance issubclass hasattr callable id hash bool any all input exit quit range type float".split()
)
"""Functions whose result no address can be made of."""
_NUMBERS = frozenset(("pointer", *(f"builtins.{name}()" for name in "str hex repr format oct bin ascii".split())))
"""Where addresses come from that are numbers, or texts of them."""
_CONTAINED = ("builtins.list()", "builtins.tuple()", "builtins.dict()", "builtins.set()")
"""Where containers come from, and what their methods give."""
_REPLACES = frozenset(("dataclasses.replace", "copy.replace"))
_RUN_THROUGH = re.compile(
    r"builtins\.(?:list|tuple|set|frozenset|dict|sum|min|max|sorted|bytes|bytearray)$|"
    r"collections\.(?:deque|Counter|OrderedDict)$|math\.(?:fsum|prod)$|statistics\.|numpy\.fromiter$"
)
_STOPPING = frozenset(Dotted(f"builtins.{name}") for name in "any all next".split())
"""Functions that run through a generator until they have what they look for."""
_OF_ARRAYS = ("numpy.", "scipy.", "pandas.", "PIL.", "statistics.", "operator.")
_OF_ELEMENTS = frozenset(f"builtins.{name}" for name in "sum max min sorted any all".split())
_WITHOUT_FIELDS = (
    *_OF_ARRAYS[:2], "operator.", "statistics.", "math.", "struct.", "time.", "os.", "itertools.", "ctypes.",
    *(f"builtins.{name}" for name in dir(builtins) if name != "open"),
)  # fmt: skip
"""Functions of libraries, and methods, whose results are numbers, texts, arrays and containers."""
_OF_SYSTEM = ("os.", "sys.", "platform.", "pathlib.", "tempfile.", "builtins.str()", "builtins.int()")
_NOT_CALLED = (cst.List, cst.Tuple, cst.Dict, cst.Set, cst.FormattedString, cst.ConcatenatedString, cst.Comparison)
"""Expressions whose value cannot be called."""
_CONTAINERS = frozenset(
    "builtins.list builtins.tuple builtins.set builtins.dict builtins.frozenset collections.OrderedDict "
    "collections.defaultdict collections.deque collections.namedtuple types.SimpleNamespace".split()
)


class Calls(Functions):
    """Lowers calls."""

    def call(self, node: cst.Call) -> Expr:
        """A call in an expression."""
        if any(self._is_binding(argument.value) for argument in node.args) and not self._names_attribute(node):
            self.unit.measures.append(self.span(node).start)  # whoever has the module may call each of its functions
        first = [argument.value for argument in node.args[:1] if argument.keyword is None and not argument.star]
        if self._runs_through(node.func):
            self.run_through.update(first)
        if self.resolver.meaning(node.func) in _STOPPING:
            self.cut_short.update(first)
        api = self.api_call(node)
        if api is not None:
            return self.symbol_value(api, self.api(api), node)
        kernel = self._kernel_of(node.func.value if isinstance(node.func, cst.Subscript) else node.func)
        if kernel is not None:
            return self._kernel(node, KERNELS.get(kernel, DECORATORS.get(kernel, False)), kernel.startswith("numba."))
        match self.resolver.meaning(node.func):
            case Dotted() as dotted if self.is_patched(dotted):
                return self.unknown(self.source.text(node.func), node, self.given(node))
            case Dotted(dotted):
                return self._library(node, dotted)
            case OwnFunction() as function if function.node.name.value in self.unit.methods.replaced:
                return self.unknown(self.source.text(node.func), node, (self.value(node.func), *self.given(node)))
            case OwnFunction() as function:
                return self._own(node, function)
            case OwnClass() as cls:
                return self._construct(node, cls)
            case OwnGlobal(outline, name) if (fields := _named_tuple(self.unit.modules, outline, name)) is not None:
                return self._tuple_of(node, fields)
            case OwnModule() | OwnGlobal():
                return self.unknown(f"`{self.source.text(node.func)}`", node, self.given(node))
        if isinstance(node.func, cst.Attribute):
            return self._method(node, node.func)
        if isinstance(node.func, cst.BinaryOperation) and (self._is_ctypes(node.func.left)):
            return self._array(node)
        if isinstance(node.func, cst.Name) and node.func.value == "super" or self.is_super(node.func):
            return self._super(node)
        return self._held(node)

    def _is_binding(self, node: cst.BaseExpression) -> bool:
        meaning = self.resolver.meaning(node)
        return isinstance(meaning, Dotted) and meaning.name in MODULES

    def _names_attribute(self, node: cst.Call) -> bool:
        """Whether it is `getattr(module, "name")` or its like: the name is a word of the text."""
        meaning = self.resolver.meaning(node.func)
        named = len(node.args) > 1 and isinstance(node.args[1].value, cst.SimpleString)
        return named and meaning in (Dotted("builtins.getattr"), Dotted("builtins.hasattr"))

    def _held(self, node: cst.Call) -> Expr:
        """A call of what a variable holds, or an expression gives."""
        function, given = self.value(node.func), self.given(node)
        named = any(argument.keyword is not None or argument.star for argument in node.args)
        if named or not is_place(function) or self._is_bound_otherwise(node.func):
            return self.unknown(self.source.text(node.func), node, (function, *given))
        result = self.temporary()
        self.call_ir(node, ir.held_in(f"{self.source.text(node.func)}(…)"), given, function, result)
        return result

    def _is_bound_otherwise(self, node: cst.BaseExpression) -> bool:
        """Whether a name is bound by definitions or imports too, which do not show in what the variable holds."""
        if not isinstance(node, cst.Name):
            return False
        owner = self.scope.owner(node.value) if self.scope is not None else None
        if owner is not None:
            return node.value in owner.bindings.imports or node.value in owner.bindings.classes
        outline = self.unit.outline
        return node.value in outline.functions or node.value in outline.classes or node.value in outline.imports

    def _runs_through(self, func: cst.BaseExpression) -> bool:
        """Whether what is called runs through a generator that it is given first, before it returns."""
        meaning = self.resolver.meaning(func)
        if meaning is not None or not isinstance(func, cst.Attribute):
            return isinstance(meaning, Dotted) and (
                meaning in _STOPPING or _RUN_THROUGH.match(meaning.name) is not None
            )
        name = func.attr.value
        return name in ("join", "extend", "update", "writelines") and name not in self.unit.methods.every

    def _kernel_of(self, func: cst.BaseExpression) -> str | None:
        """What makes a function a kernel of CuPy or Numba, as `KERNELS` and `DECORATORS` name it."""
        origin = self.resolver.origin(func)
        if origin in KERNELS:
            return origin
        meaning = self.resolver.meaning(func)
        if not isinstance(meaning, OwnFunction) or len(meaning.node.decorators) != 1:
            return None
        decorator = meaning.node.decorators[0].decorator
        if isinstance(decorator, cst.Call):
            if any(argument.keyword is not None and argument.keyword.value == "device" for argument in decorator.args):
                return None
            decorator = decorator.func
        made_by = Resolver(self.unit.modules, meaning.outline, None).meaning(decorator)
        return made_by.name if isinstance(made_by, Dotted) and made_by.name in DECORATORS else None

    def _is_ctypes(self, node: cst.BaseExpression) -> bool:
        meaning = self.resolver.meaning(node)
        return isinstance(meaning, Dotted) and meaning.name.startswith("ctypes.c_")

    def _tuple_of(self, node: cst.Call, fields: Sequence[str]) -> Expr:
        """An object of a class that `collections.namedtuple` has made."""
        made = self.container(node)
        values = self.given(node)
        for number, (argument, value) in enumerate(zip(node.args, values, strict=True)):
            word = argument.keyword.value if argument.keyword is not None else ""
            at = list(fields).index(word) if word in fields else number
            known = at < len(fields) and not any(one.star for one in node.args)
            self.emit(ir.Assign(Index(made, Const(str(at)) if known else NOTHING), value, self.span(node)))
            for name in [fields[at]] if known else fields:
                self.emit(ir.Assign(Field(Deref(made), name), value, self.span(node)))
        return made

    def _array(self, node: cst.Call) -> Expr:
        """`(ctypes.c_void_p * 2)(p, q)`: an array of the host that holds what it is given."""
        made = self.container(node)
        for value in self.given(node):
            if not isinstance(value, Const) and value != NOTHING:
                self.emit(ir.Assign(Index(made, NOTHING), value, self.span(node)))
        return made

    def pure(self, node: cst.Call) -> tuple[tuple[Expr, ...], tuple[Expr, ...]]:
        """All arguments, and those of them whose memory a host function may look at: device addresses are numbers."""
        every: list[Expr] = []
        seen: list[Expr] = []
        for argument in node.args:
            value = self.expanded(argument, self.value(argument.value))
            every.append(value)
            if isinstance(value, Const) or value == NOTHING:
                continue
            if self.resolver.origin(argument.value) in _NUMBERS and not self._takes_addresses(node.func):
                continue
            if isinstance(argument.value, cst.List | cst.Tuple | cst.Dict | cst.ListComp):
                continue  # the list itself; what it leads to is read by whoever reads the elements
            seen.append(value)
        meaning = self.resolver.meaning(node.func)
        if isinstance(meaning, Dotted) and _works_on_elements(meaning.name):
            for argument, value in zip(node.args, every, strict=True):
                self._arrays_in(argument.value, value, argument.keyword is not None and argument.keyword.value == "out")
        return tuple(every), tuple(seen)

    def _passed(
        self, node: cst.Call, callee: str, every: tuple[Expr, ...], seen: tuple[Expr, ...], skipped: int
    ) -> tuple[Expr, ...]:
        """The arguments as far as they matter to a function whose row has `skipped` others in front of them."""
        count = skipped + len(every)
        if _only_looks(callee, count):
            return seen
        api = bindings.tables().lookup(callee, count)
        if api is not None and "look" in roles_of(api, count):  # of a number it shows no more than that
            pairs = zip(node.args, every, strict=True)
            return tuple(value for a, value in pairs if self.resolver.origin(a.value) not in _NUMBERS)
        return every

    def shown(self, node: cst.BaseExpression, value: Expr) -> None:
        """Whoever makes a text of something, or compares it, looks at all that it holds."""
        if isinstance(value, Const) or value == NOTHING or self.resolver.origin(node) == "pointer":
            return
        span, site = self.span(node), self.site(fixed="Python looks at it")
        place = Span(span.path, span.start, span.start)
        self.emit(ir.Call("builtins.format", (value,), span, place, span.end, site, (), None, None, Look.IGNORED))

    def _arrays_in(self, node: cst.BaseExpression, value: Expr, is_out: bool) -> None:
        """What works on a list of arrays reads all of them (`out=`: writes); addresses in a list are numbers."""
        is_container = (self.resolver.origin(node) or "").startswith(_CONTAINED)
        if value != NOTHING and is_container and not self.resolver.holds_numbers(node):
            if is_out:
                self.looked_through(Index(value, NOTHING), node, written=True)
            self.shown(node, value)

    def _takes_addresses(self, func: cst.BaseExpression) -> bool:
        """Whether a function works on the memory at a number that it is given."""
        meaning = self.resolver.meaning(func)
        return isinstance(meaning, Dotted) and meaning.name in TAKES_ADDRESSES

    # -- packages ------------------------------------------------------------------------------------------------------

    def _library(self, node: cst.Call, dotted: str) -> Expr:
        """A function of a package that is not in the program."""
        name = bindings.member(dotted)
        if name is not None:
            return self._type_of_binding(node, dotted, name)
        last = dotted.rpartition(".")[2]
        if dotted == "builtins.super":  # the same object, seen as one of a base
            this = self.scope is not None and self.scope.this is not None
            return Var("this") if this else self.unknown("super", node, self.given(node))
        if dotted == "builtins.object.__new__" or (dotted == "builtins.type" and len(node.args) > 1):
            return self.unknown(f"`{self.source.text(node)}`", node, self.given(node))
        if dotted.startswith("cupy."):
            made = self._cupy(node, dotted)
            if made is not None:
                return made
        words = {argument.keyword.value for argument in node.args if argument.keyword is not None}
        if dotted.startswith("sys.modules.") or dotted in SHOWS_VARIABLES or not words.isdisjoint(SHOWS_VARIABLES):
            self.emit(ir.Unknown(f"`{dotted}`", self.span(node)))
        if dotted in ("builtins.exec", "builtins.eval", "builtins.globals", "builtins.locals", "builtins.vars"):
            if last != "vars" or not node.args:  # the variables of a scope by their names
                self.emit(ir.Unknown(f"`{last}`", self.span(node)))
            else:  # the fields of an object by their names
                self.emit(ir.Unknown(f"`{last}`", self.span(node), (self.value(node.args[0].value),)))
        if dotted in ("builtins.getattr", "builtins.hasattr") and len(node.args) >= 2:
            return self._getattr(node)
        if dotted == "builtins.setattr" and len(node.args) == 3:
            return self._setattr(node)
        if dotted.startswith("builtins.") and last in _PASSES and len(node.args) == 1:
            value = self.value(node.args[0].value)
            if self.resolver.origin(node.args[0].value) not in _NUMBERS:  # the only element of an array is a number
                self.looked_through(value, node)
            return choice(value, *self.asks_all(dotted, node, [(node.args[0].value, value)]))
        if dotted in _CONTAINERS:
            return self._container_call(node)
        if dotted == "builtins.len" and (own := self._own_length(node)) is not None:
            return own
        every, seen = self.pure(node)
        if dotted in _REPLACES:  # the fields of a new object; those of the old one are as they were
            for argument, value in zip(node.args[1:], every[1:], strict=True):
                field = Field(deref(every[0]), argument.keyword.value if argument.keyword is not None else "")
                self.emit(ir.Assign(field, choice(field, value), self.span(node)))
        asked = self.asks_all(dotted, node, zip((a.value for a in node.args), every, strict=True))
        if "stdout" in self.unit.methods.patched or "stderr" in self.unit.methods.patched:
            if (row := bindings.tables().lookup(dotted, len(node.args))) is not None and row.effect is Effect.OUTPUT:
                asked += self.asks(("write", "writelines", "flush"), node, [(None, OUTPUT)], every)
        if dotted in CAUGHT:
            asked.append(opaque(Index(RAISED, NOTHING)))
        makes_arrays = b"array" in self.unit.methods.interfaces and dotted.startswith(_OF_ARRAYS)
        if makes_arrays or self._calls_back(node, dotted, every):
            return self.unknown(dotted, node, every)
        placed = self._by_position(node, dotted, every, 0)
        if placed is None:
            row = bindings.tables().lookup(dotted, len(every))
            if row is not None and "command" in played(row):
                self.call_ir(node, dotted, every, result=self.temporary())
            return self.unknown(f"{dotted} (its arguments are given by name)", node, every)
        every = placed
        result = self.temporary()
        self.call_ir(node, dotted, self._passed(node, dotted, every, seen, 0), result=result)
        self._rearranged(dotted, every, node)
        given = [v for v in every if not isinstance(v, Const) and v != NOTHING]
        if dotted.startswith("builtins.") and last[:1].isupper():  # an exception holds what it is given
            made = self.container(node)
            for value in given:
                self.emit(ir.Assign(Index(made, NOTHING), value, self.span(node)))
            return made
        if dotted == "builtins.len" and len(every) == 1 and is_place(every[0]):
            return choice(Field(deref(every[0]), ir.SIZE), *asked)
        if dotted.startswith("builtins.") and last in _NO_ADDRESS:
            return NOTHING
        inside: list[Expr] = [Index(v, NOTHING) for v in given] if ANYTHING.match(dotted) else []
        if COMBINES.match(dotted):
            inside.append(self._combined(node, given))
        same = every[:1] if dotted in _REPLACES else ()
        asked += self._made(node, dotted)
        return choice(result, *asked, *inside, *same, *self._kept_in(node, dotted, given), *map(opaque, given))

    def _combined(self, node: cst.Call, given: Sequence[Expr]) -> Expr:
        """What gives tuples, or groups in tuples, of what it is given and of what that holds."""
        parts = [*given, *(Index(value, NOTHING) for value in given)]
        for _ in range(3):
            made = self.container(node)
            for part in parts:
                self.emit(ir.Assign(Index(made, NOTHING), part, self.span(node)))
            parts.insert(0, made)
        return parts[0]

    def _own_length(self, node: cst.Call) -> Expr | None:
        """`len(x)` of an object of a class of the program: what its `__len__` gives. None for any other."""
        cls = self.resolver.cls_of(node.args[0].value) if len(node.args) == 1 else None
        method = self.unit.modules.method(cls.outline, cls.cls, "__len__") if cls is not None else None
        if cls is None or method is None or any(one.outside for one in cls.outline.related(cls.cls)):
            return None
        if self._overrides(method) or self.cannot_be_called(method.node, method.outline):
            return None
        result = self.temporary()
        self.call_ir(node, method.name, (), deref(self.value(node.args[0].value)), result)
        return result

    def _made(self, node: cst.Call, callee: str) -> list[Expr]:
        """What a function of a library makes, where it may be an object that the program puts something into."""
        sets = self.unit.methods.sets and not callee.startswith(_WITHOUT_FIELDS)
        return [self.container(node)] if sets or LOADED.match(callee) else []

    def _rearranged(self, callee: str, given: Sequence[Expr], node: cst.Call) -> None:
        """A function puts the elements of a list into another order, perhaps with one more of them."""
        for place in filter(is_place, given if REARRANGES.match(callee) else ()):
            for constant in (one for one in given if isinstance(one, Const)):
                self.emit(ir.Assign(Index(place, NOTHING), constant, self.span(node)))
            self.shuffle(place, node)

    def _kept_in(self, node: cst.Call, callee: str, given: Sequence[Expr]) -> list[Expr]:
        """What a method of a container gives, called by another name than those of `STORES`; what it may store."""
        places = [value for value in given if is_place(value)]
        if not INTO.match(callee):
            return []
        for place in places:
            self.resized(place, node)
            self.other_keys(place, node)
            for other in (one for one in places if one != place):
                self.emit(ir.Assign(Index(place, NOTHING), choice(other, Index(other, NOTHING)), self.span(node)))
        return [Index(place, NOTHING) for place in places]

    def _calls_back(self, node: cst.Call, callee: str, values: tuple[Expr, ...]) -> bool:
        """Whether a function that only works on the host, or runs an engine, has one to call that may do more."""
        api = bindings.tables().lookup(callee, len(values))
        if api is not None and api.source.startswith("TensorRT") and self.unit.modules.gives_code(self.source.path):
            return True
        if api is None or api.effect not in HOST_EFFECTS or callee in _ONLY_ASK:
            return False
        for number, (argument, value) in enumerate(zip(node.args, values, strict=True)):
            word = argument.keyword.value if argument.keyword is not None else None
            is_called = word in CALLED and (word != "default" or callee.startswith("json."))
            if is_called or CALLERS.get(callee) == number:
                if value != NONE and not self.only_computes(argument.value):
                    return True
            elif not self.only_computes(argument.value):
                if isinstance(value, FuncRef) or self._may_be_called(argument.value, callee):
                    return True
            if callee.startswith(_OF_ARRAYS) and isinstance(argument.value, cst.List | cst.Tuple):
                functions = (one.value for one in argument.value.elements if self._is_function(one.value))
                if not all(map(self.only_computes, functions)):
                    return True
        return False

    def _is_function(self, node: cst.BaseExpression) -> bool:
        return isinstance(node, cst.Lambda) or isinstance(self.resolver.meaning(node), OwnFunction)

    def _may_be_called(self, node: cst.BaseExpression, callee: str) -> bool:
        """Whether this is a class of the program, or an object of one that can be called."""
        named, cls = self.resolver.meaning(node), self.resolver.cls_of(node)
        if isinstance(named, OwnClass):
            return bool(named.cls.methods)
        shows = callee.startswith("builtins.") and callee.removeprefix("builtins.") in _NO_ADDRESS
        return cls is not None and not shows and self.unit.modules.method(*cls, "__call__") is not None

    def only_computes(self, node: cst.BaseExpression) -> bool:
        """Whether a function that is named or written here does no more than the host functions of the tables."""
        if isinstance(node, cst.Lambda):
            inner = scope_of(node, f"{self.qual}::<lambda>", self.scope, None)
            resolver = Resolver(self.unit.modules, self.unit.outline, inner)
            names = [one for one in walk(node.body) if isinstance(one, cst.Name)]
            known = [one for one in names if one.value in inner.params or resolver.meaning(one) is not None]
            calls = [one.func for one in walk(node.body) if isinstance(one, cst.Call)]
            methods = [one.attr for one in walk(node.body) if isinstance(one, cst.Attribute)]
            return len(known) + len(methods) >= len(names) and all(self.only_reads(one, resolver) for one in calls)
        meaning = self.resolver.meaning(node)
        if isinstance(meaning, OwnGlobal) and (value := meaning.outline.constant(meaning.name)) is not None:
            return _is_plain_value(value)
        return _is_plain_value(node) or _is_host(meaning)

    def _makes_fresh(self, node: cst.BaseExpression) -> bool:
        """Whether what a function gives has nothing of the program in it."""
        named = (one for one in walk(node.body) if isinstance(one, cst.Name)) if isinstance(node, cst.Lambda) else ()
        return self.only_computes(node) and all(isinstance(self.resolver.meaning(one), Dotted) for one in named)

    def _is_plain(self, node: cst.BaseExpression) -> bool:
        """Whether this is a number or a text, or a list of such that is written here."""
        meaning = self.resolver.meaning(node)
        if isinstance(meaning, OwnGlobal) and (value := meaning.outline.constant(meaning.name)) is not None:
            if isinstance(value, cst.List | cst.Dict | cst.Set):
                return False  # somebody may put something else into it
            node = value
        named = any(isinstance(one, cst.Name | cst.Lambda) for one in walk(node))
        return not named or (self.resolver.origin(node) or "").startswith(_OF_SYSTEM)

    def only_reads(self, func: cst.BaseExpression, resolver: Resolver | None = None) -> bool:
        """Whether what is called is a host function, or a method of plain objects."""
        return _is_host((resolver or self.resolver).meaning(func)) or self._is_plain_method(func)

    def _is_plain_method(self, func: cst.BaseExpression) -> bool:
        """Whether this names a method of plain objects, and of no class of the file."""
        if not isinstance(func, cst.Attribute):
            return False
        name = func.attr.value
        return _is_host(Dotted(f"object.{name}")) and all(
            name not in cls.methods for cls in self.unit.outline.classes.values()
        )

    def _by_position(
        self, node: cst.Call, callee: str, values: tuple[Expr, ...], skipped: int
    ) -> tuple[Expr, ...] | None:
        """The values of the arguments in the order of the roles of the row, of which the first `skipped` are not
        theirs; None where the order cannot be told.
        """
        if not any(a.keyword is not None or a.star for a in node.args):
            return values
        api = bindings.tables().lookup(callee, skipped + len(values))
        if api is None or len(set(roles_of(api, skipped + len(values))[skipped:])) <= 1:
            return values
        return in_order(node.args, values, PARAMETERS.get(callee, ()), ASSUMED.get(callee))

    def _container_call(self, node: cst.Call) -> Expr:
        made = self.dictionary(node) if self.resolver.origin(node) in DICTIONARIES else self.container(node)
        for argument in node.args:
            if isinstance(argument.value, cst.ListComp | cst.GeneratorExp) and len(node.args) == 1:
                return self.value(argument.value)
            value = self.value(argument.value)
            if self.resolver.origin(node) == "collections.defaultdict()" and argument is node.args[0]:
                if not self._makes_fresh(argument.value):  # it makes what is missing
                    self.unknown("collections.defaultdict", node, (made, value))
            if argument.keyword is not None:
                text = f'"{argument.keyword.value}"'
                self.emit(ir.Assign(Index(made, Const(text)), value, self.span(node)))
                self.emit(ir.Assign(Field(Deref(made), argument.keyword.value), value, self.span(node)))
            elif not isinstance(value, Const) and value != NOTHING:
                given = [self.element(argument.value, value, NOTHING)]
                given += self.looked_through(value, node, owner=argument.value)
                if self.resolver.origin(node) in DICTIONARIES:  # perhaps of pairs
                    given.append(Index(Index(value, NOTHING), NOTHING))
                if self.resolver.origin(node) not in LISTS:
                    self.asks(KEY, node, [(argument.value, value)], held=True)
                self.emit(ir.Assign(Index(made, NOTHING), choice(*given), self.span(node)))
        return made

    def _getattr(self, node: cst.Call) -> Expr:
        """`getattr(x, "name")`; with a name that is computed, any field."""
        base = self.value(node.args[0].value)
        rest = [self.value(a.value) for a in node.args[1:]]
        name = node.args[1].value
        if isinstance(name, cst.SimpleString) and isinstance(name.evaluated_value, str):
            methods = (method for cls in self.unit.outline.classes.values() for method in cls.methods)
            if name.evaluated_value in VARIABLES_OF_OTHERS or name.evaluated_value in methods:
                self.emit(ir.Unknown("`getattr`", self.span(node), (base,)))
            found: Expr = Field(deref(base), name.evaluated_value) if not isinstance(base, Const) else NOTHING
            held = self.class_values(node.args[0].value, name.evaluated_value)
            held += self.described("__get__", node, held, base)
            if name.evaluated_value in self.unit.methods.described:
                held.append(self.unknown(f"`{name.evaluated_value}`", node, (base, *held)))
            return choice(found, *held, *rest[1:])
        return self.unknown("`getattr`", node, (base, *rest))

    def _setattr(self, node: cst.Call) -> Expr:
        """`setattr(x, "name", value)`; with a name that is computed, any field."""
        base, _, value = every = self.given(node)
        name = node.args[1].value
        self.call_ir(node, "builtins.setattr", every)
        if isinstance(name, cst.SimpleString) and isinstance(name.evaluated_value, str):
            place = Field(deref(base), name.evaluated_value)
            self.emit(ir.Assign(place, choice(place, value), self.span(node)))
        else:
            self.emit(ir.Unknown("`setattr`", self.span(node), (base,)))
        return NOTHING

    def _type_of_binding(self, node: cst.Call, dotted: str, name: str) -> Expr:
        """A type of the bindings: a handle or number is what it is made from, a struct holds what it is given."""
        module = bindings.module_of(dotted)
        if name[:1].isupper() or name.endswith("_t") or name.startswith(("CU", "make_", "dim3", "cuda")):
            values = self.given(node)
            is_function = bindings.signature(dotted, len(values)) is not None
            if not is_function and len(values) == 1:
                return values[0]
            if not is_function:
                made = self.container(node)
                for value in values:
                    if not isinstance(value, Const) and value != NOTHING:
                        self.emit(ir.Assign(Index(made, NOTHING), value, self.span(node)))
                return made
        return self.unknown(f"{module}.{name}", node, self.given(node))

    # -- methods -------------------------------------------------------------------------------------------------------

    def _method(self, node: cst.Call, func: cst.Attribute) -> Expr:
        """A method of an object: by its class, by where the object comes from, else by the method's name."""
        name = func.attr.value
        if self.is_super(func.value):
            return self._super_method(node, func)
        origin = self.resolver.origin(func.value)
        base = self.value(func.value)
        if origin is not None and self._is_set_on_objects(name, origin):
            return self.unknown(f"{origin}.{name}", node, (base, *self.given(node)))
        if origin is not None and origin.startswith("cupy.cuda."):
            done = self._cupy_method(node, f"{origin}.{name}", base)
            if done is not None:
                return done
        if origin is None and name not in self.unit.methods.every:
            return self.by_class(node, name, base, lambda: self._method_by_name(node, func, origin, base))
        return self._method_by_name(node, func, origin, base)

    def _method_by_name(self, node: cst.Call, func: cst.Attribute, origin: str | None, base: Expr) -> Expr:
        """A method of an object that is none of CuPy's own, as far as is known."""
        name = func.attr.value
        if name == "fill":
            self.stored_by_device(node, func.value, base)
        if name in ("enter_context", "__enter__"):
            self.perhaps_current(node, self.value(node.args[0].value) if node.args else base)
        if name in SHUFFLES and (origin is None or origin.startswith(("builtins.", "collections."))):
            value = self._method_of(node, func, origin, base)
            if is_place(value):
                taken = self.temporary()
                self.emit(ir.Assign(taken, value, self.span(node)))
                value = taken
            self.shuffle(base, node)
            return value
        return self._method_of(node, func, origin, base)

    def _is_set_on_objects(self, name: str, origin: str) -> bool:
        """Whether the program sets a method of this name, of an object of a library or of its class. Those of built-in
        types and of arrays cannot be set (Python 3.13 library, Built-in Types).
        """
        methods = self.unit.methods
        return name in methods.replaced | methods.patched and not origin.startswith(("builtins.", "numpy.", "pointer"))

    def _method_of(self, node: cst.Call, func: cst.Attribute, origin: str | None, base: Expr) -> Expr:
        """A method of an object whose class is not known; it may be of a class of another file."""
        name = func.attr.value
        if origin is not None or name not in self.unit.methods.elsewhere:
            return self._method_here(node, func, origin, base)
        with self.once([argument.value for argument in node.args]):
            given = self.given(node)
            if any(argument.keyword is not None or argument.star for argument in node.args):
                given = tuple(choice(*given) for _ in given)  # which parameter gets which is not known
            asked = self.asks((name,), node, [(func.value, base)], given)
            if given:  # `base` may be the class
                asked += self.asks((name,), node, [(None, given[0])], given[1:])
            return choice(self._method_here(node, func, origin, base), *asked)

    def _method_here(self, node: cst.Call, func: cst.Attribute, origin: str | None, base: Expr) -> Expr:
        name = func.attr.value
        own = [
            OwnFunction(self.unit.outline, cls.methods[name], f"{self.unit.outline.id}::{cls.name}::{name}", cls)
            for cls in self.unit.outline.classes.values()
            if name in cls.methods and origin is None
        ]
        done = self._container_method(node, name, base, origin, func.value) if name in STORES or name in LOADS else None
        if done is not None and not own:
            return done
        every, seen = self.pure(node)
        if name in ("index", "count", "remove") and (origin is None or origin in LISTS):
            self.shown(func.value, base)
        if name in COMPARE:
            self.asks(("__eq__", "__lt__", "__gt__", "__hash__"), node, [(func.value, base)], held=True)
        result = self.temporary()
        callee = f"object.{name}"
        if origin is not None and origin != "pointer":
            full = f"{origin}.{name}"
            count = len(every) + 1
            known = bindings.tables()
            if known.lookup(full, count) is not None or known.lookup(callee, count) is None:
                callee = full
        asked = self.asks_all(callee, node, zip((a.value for a in node.args), every, strict=True))
        alternatives: list[tuple[Stmt, ...]] = []
        for function in own:
            ways = [(base, self.arguments(node, function, True))]
            if node.args and not is_static(function.node):  # `base` may be the class
                given = self.arguments(node, function, False)
                ways.append((self.value(node.args[0].value), given[1:] if given is not None else None))
            for this, given in ways:
                if given is None and not self.is_spread(node, function.node):
                    continue  # it takes other arguments than these
                with self.block() as inner:
                    if given is None or self.cannot_be_called(function.node, function.outline):
                        self.emit(ir.Assign(result, self.unknown(function.name, node, (this, *every)), self.span(node)))
                    else:
                        self.call_ir(node, function.name, given, deref(this), result)
                alternatives.append(tuple(inner))
        with self.block() as library:
            placed = self._by_position(node, callee, every, 1)
            if not all(map(self._is_plain, _kept(node, name))) or self._calls_back(node, callee, every):
                self.unknown(callee, node, (base, *every))
            elif placed is None:
                self.unknown(f"{callee} (its arguments are given by name)", node, (base, *every))
            else:
                passed = self._passed(node, callee, placed, seen, 1)
                self.call_ir(node, callee, (base, *passed), result=result)
        block: tuple[Stmt, ...] = tuple(library)
        for number, other in enumerate(alternatives):
            test = ir.Test("other", None, f"method {name}@{self.span(node).start}:{number}")
            block = (ir.If(test, other, block, self.span(node)),)
        self.out += block
        self._rearranged(callee, every, node)
        asked += self._kept_in(node, callee, (base, *every))
        asked += [done] if done is not None else []
        if callee != f"object.{name}" or name in MAKERS:
            asked += self._made(node, callee)
        made_of = (opaque(v) for v in (base, *every) if not isinstance(v, Const) and v != NOTHING)
        return choice(result, *asked, *made_of)


def _named_tuple(modules: Modules, outline: Outline, name: str) -> list[str] | None:
    """The fields of a class that `collections.namedtuple` makes; None where a global name is something else."""
    value = outline.constant(name)
    if not isinstance(value, cst.Call) or len(value.args) != 2 or value.args[1].keyword is not None:
        return None
    if Resolver(modules, outline, None).meaning(value.func) != Dotted("collections.namedtuple"):
        return None
    match value.args[1].value:
        case cst.SimpleString() as text if isinstance(text.evaluated_value, str):
            return text.evaluated_value.replace(",", " ").split()
        case cst.List(elements) | cst.Tuple(elements):
            texts = [one.value.evaluated_value for one in elements if isinstance(one.value, cst.SimpleString)]
            return [str(one) for one in texts] if len(texts) == len(elements) else None
        case _:
            return None


def _kept(node: cst.Call, name: str) -> Iterator[cst.BaseExpression]:
    """What a method of this name keeps of its arguments."""
    if name in KEEPS:
        named = ((a.keyword.value, a.value) for a in node.args if a.keyword is not None)
        yield from (value for word, value in named if not KEEPS[name] or word in KEEPS[name])


def _is_plain_value(node: cst.BaseExpression) -> bool:
    """Whether the value of an expression cannot be called, whatever the names in it mean."""
    named = (isinstance(one, cst.Name | cst.Lambda) for one in walk(node))
    return isinstance(node, _NOT_CALLED) or literal(node) is not None or not any(named)


def _works_on_elements(name: str) -> bool:
    """Whether a function reads what the elements of a list hold, and not just takes them."""
    return name.startswith(_OF_ARRAYS) or name in CALLERS or name in _OF_ELEMENTS


def _is_host(meaning: object) -> bool:
    """Whether this is a function or type of which the tables know that it stays on the host and calls nothing else."""
    if not isinstance(meaning, Dotted) or meaning.name in CALLERS:
        return False
    api = bindings.tables().lookup(meaning.name, 1)
    return api is not None and api.effect is Effect.HOST


def _only_looks(callee: str, count: int) -> bool:
    """Whether a row says that the host looks at whatever it is given, and does no more: addresses are numbers then."""
    api = bindings.tables().lookup(callee, count)
    if api is None or not api.roles or not api.roles[-1].endswith("*"):
        return False
    return all(role.rstrip("*") in ("hr", "hrw", "hw", "-") for role in api.roles) and api.effect is not Effect.EXTERNAL
