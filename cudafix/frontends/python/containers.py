"""Lists, dictionaries and tuples: what is stored in them, what loops and unpacking take out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import libcst as cst

from cudafix import ir
from cudafix.frontends.python.meaning import (
    Dotted,
)
from cudafix.frontends.python.special import ASKED, ITERATION, KEY, ORDER, Special
from cudafix.frontends.python.terms import NOTHING, choice, deref, is_place, literal, opaque
from cudafix.ir import Const, Expr, Field, Index, Opaque, Span, Var
from cudafix.models.python import STORES

SHUFFLES = frozenset("pop popleft popitem insert appendleft remove reverse sort clear rotate discard".split())
"""Methods after which elements of a container stand at other places, or are gone."""
LOADS = frozenset("pop popleft get values items setdefault popitem copy".split())
GROWS = frozenset("append appendleft insert extend".split())
"""Methods that make a list longer."""
KEYED = frozenset("get pop setdefault add update put insert".split())
"""Methods that look for what they are given, be it by a number, or put it in its place."""
LISTS = frozenset(("builtins.list()", "builtins.tuple()"))
_COPIES = frozenset(f"builtins.{name}()" for name in "list tuple set frozenset dict str bytes int range".split())
"""What runs through one of these reads nothing else."""
_MARK = "{}"  # of `ir.Loop.range`
DICTIONARIES = frozenset(("builtins.dict()", "collections.OrderedDict()", "collections.defaultdict()"))


class Rows(NamedTuple):
    """What runs through lists takes the element with this index of each; `sizes` says how many elements they have."""

    at: Expr
    sizes: list[Expr]
    keys: list[Expr]  # those of dictionaries among what is run through

    @property
    def first(self) -> str:
        """How the range begins of a loop that takes these elements."""
        return ir.KEYS if self.keys else "0"


class Containers(Special):
    """Lowers what holds references, and what runs through it."""

    def looked_through(
        self, value: Expr, node: cst.CSTNode, written: bool = False, owner: cst.BaseExpression | None = None
    ) -> list[Expr]:
        """Whoever takes the elements of an array reads its memory; a container is read itself. What an object of the
        program, named by `owner`, may give.
        """
        self.elements_read(value, node, written)
        return self.asks(ITERATION, node, [(owner, value)])

    def elements_read(self, value: Expr, node: cst.CSTNode, written: bool = False) -> None:
        if is_place(value) or isinstance(value, ir.Choice | Opaque | ir.Offset) and value != NOTHING:
            places = (Index(value, NOTHING),)
            self.emit(ir.HostAccess(places, places if written else (), self.span(node)))

    def element(self, node: cst.BaseExpression, base: Expr, key: Expr) -> Expr:
        """`base[key]`: what a container holds there, a part of an array, or either."""
        origin = self.resolver.origin(node)
        if origin is not None and origin.startswith("builtins.memoryview"):
            return choice(Index(base, key), ir.Offset(base))  # a slice is a view of the same memory
        if origin is not None and origin.startswith("builtins.") and not origin.startswith("builtins.str"):
            return Index(base, key)
        if origin is not None and not origin.startswith(("builtins.", "collections.", "pointer")):
            return choice(Index(base, key), ir.Offset(base))  # arrays of objects hold what is stored in them
        if origin is None:
            base = self.flat(base, node)
            return choice(Index(base, key), ir.Offset(base))
        return Index(base, key)

    def _display(self, node: cst.CSTNode, elements: object) -> Expr:
        assert isinstance(elements, list | tuple)
        values = [(self.value(element.value), isinstance(element, cst.StarredElement)) for element in elements]
        if isinstance(node, cst.Set):
            self.asks(KEY, node, [(element.value, value) for element, (value, _) in zip(elements, values, strict=True)])
        if all(isinstance(v, Const) or v == NOTHING for v, _ in values) and not isinstance(node, cst.List | cst.Set):
            return NOTHING
        made = self.container(node)
        known = not any(starred for _, starred in values)
        for number, (value, starred) in enumerate(values):
            if starred:
                more = self.looked_through(value, node, owner=elements[number].value)
                value = choice(Index(value, NOTHING), *more)
            key: Expr = Const(str(number)) if known else NOTHING
            self.emit(ir.Assign(Index(made, key), value, self.span(node)))
        return made

    def listed(self, node: cst.List | cst.Tuple, made: Expr) -> Expr:
        """A list or tuple that is written here, with as many elements as there are. One of constants gets them."""
        plain = [literal(one.value) for one in node.elements]
        if made == NOTHING:
            made = self.container(node)
        for number, text in enumerate(plain if None not in plain else ()):
            self.emit(ir.Assign(Index(made, Const(str(number))), Const(text or ""), self.span(node)))
        self.emit(ir.Assign(Field(deref(made), ir.SIZE), Const(str(len(plain))), self.span(node)))
        return made

    def expanded(self, argument: cst.Arg, value: Expr) -> Expr:
        if not argument.star or isinstance(value, Const):
            return value
        self.elements_read(value, argument)
        more = self.asks((*ITERATION, "keys"), argument, [(argument.value, value)])
        return choice(Index(value, NOTHING), *more)

    def shuffle(self, base: Expr, node: cst.CSTNode) -> None:
        """From here on any element may stand at any place, or be gone."""
        if is_place(base):
            self.emit(ir.Assign(Index(base, NOTHING), Index(base, NOTHING), self.span(node)))
            self.emit(ir.Assign(Field(deref(base), ir.SHRUNK), Const("true"), self.span(node)))
            self.resized(base, node)
            self.other_keys(base, node)

    def resized(self, base: Expr, node: cst.CSTNode) -> None:
        """How many elements a list has is not known from here on."""
        self.emit(ir.Assign(Field(deref(base), ir.SIZE), NOTHING, self.span(node)))

    def other_keys(self, base: Expr, node: cst.CSTNode) -> None:
        """A dictionary may have got or lost a key."""
        self.emit(ir.Assign(Field(deref(keys_field(base)), ir.SIZE), NOTHING, self.span(node)))

    def dictionary(self, node: cst.CSTNode) -> Var:
        """A fresh dictionary. Its keys are held apart: they are given to whoever runs through it."""
        made = self.container(node)
        self.emit(ir.Assign(keys_field(made), self.container(node), self.span(node)))
        return made

    def _hold_key(self, made: Var, key: cst.BaseExpression, node: cst.CSTNode, at: Expr = NOTHING) -> Expr:
        """A key of a dictionary, which is kept like its values, in the order in which they come in."""
        value = self.value(key)
        self.asks(KEY, node, [(key, value)])
        if is_place(value) or at != NOTHING:
            self.emit(ir.Assign(Index(keys_field(made), at), value, self.span(node)))
        return value

    def _dict(self, node: cst.CSTNode, elements: object) -> Expr:
        assert isinstance(elements, list | tuple)
        made = self.dictionary(node)
        texts = [literal(element.key) if isinstance(element, cst.DictElement) else None for element in elements]
        known = bool(texts) and None not in texts
        for number, element in enumerate(elements):
            if isinstance(element, cst.DictElement):
                text = texts[number]
                self._hold_key(made, element.key, node, Const(str(number)) if known else NOTHING)
                value = self.value(element.value)
                key: Expr = Const(text) if text is not None else NOTHING
                self.emit(ir.Assign(Index(made, key), value, self.span(node)))
            else:
                value = self.value(element.value)
                more = self.looked_through(value, node, owner=element.value)
                self.emit(ir.Assign(Index(made, NOTHING), choice(Index(value, NOTHING), *more), self.span(node)))
        if known:
            size = Field(deref(keys_field(made)), ir.SIZE)
            self.emit(ir.Assign(size, Const(str(len(texts))), self.span(node)))
        return made

    def _container_method(
        self, node: cst.Call, name: str, base: Expr, origin: str | None, owner: cst.BaseExpression
    ) -> Expr | None:
        """`append` and its kind store, `get` and its kind load; None where the object is no plain container."""
        if origin is not None and not origin.startswith(("builtins.", "collections.")):
            return None
        if isinstance(base, Const | Opaque):
            return None
        values = self.given(node)
        if name in KEYED:
            pairs = zip((argument.value for argument in node.args), values, strict=True)
            self.asks((*KEY, "__lt__"), node, pairs, held=name == "update")
        if name in STORES:
            at = self.filling.get(node)
            if at is not None:
                self.emit(ir.Assign(Index(base, at), values[0], self.span(node)))
                return NOTHING
            for argument, value in list(zip(node.args, values, strict=True))[STORES[name] :]:
                stored: Expr = value
                if name in ("extend", "update") and argument.keyword is None and is_place(value):
                    more = self.looked_through(value, node, owner=argument.value)
                    stored = choice(self.element(argument.value, value, NOTHING), *more)
                    if name == "update":  # perhaps of pairs
                        stored = choice(stored, Index(Index(value, NOTHING), NOTHING))
                self.emit(ir.Assign(Index(base, NOTHING), stored, self.span(node)))
            if name in GROWS and is_place(base):
                self.resized(base, node)
            elif is_place(base):
                self.other_keys(base, node)
            return NOTHING
        key: Expr = NOTHING
        if name in ("get", "pop", "setdefault") and node.args and origin != "builtins.list()":
            text = literal(node.args[0].value)
            key = Const(text) if text is not None else NOTHING
        if name == "copy":
            made = self.container(node)
            self.emit(ir.Assign(Index(made, NOTHING), Index(base, NOTHING), self.span(node)))
            return made
        if name == "values":
            made = self.container(node)
            self.emit(ir.Assign(Index(made, NOTHING), Index(base, NOTHING), self.span(node)))
            return choice(made, base)
        if name == "items":
            pair, made = self.container(node), self.container(node)
            self.emit(ir.Assign(Index(pair, Const("0")), keys_of(base), self.span(node)))
            self.emit(ir.Assign(Index(pair, Const("1")), Index(base, NOTHING), self.span(node)))
            self.emit(ir.Assign(Index(made, NOTHING), pair, self.span(node)))
            return choice(made, base)
        if name == "setdefault":
            self.other_keys(base, node)
        if name == "setdefault" and values[1:]:
            self.emit(ir.Assign(Index(base, key), choice(Index(base, key), *values[1:]), self.span(node)))
        found = choice(Index(base, key), *values[1:]) if name in ("get", "pop", "setdefault") else Index(base, key)
        if origin is None:  # it may also be an object of some other kind that has such a method
            return None if name in ("copy", "get") and not is_place(base) else found
        return found

    # -- comprehensions and loops --------------------------------------------------------------------------------------

    def comprehension(self, node: cst.BaseExpression) -> Expr:
        """`[f(x) for x in xs]` as a loop that fills a list; a generator expression the same."""
        assert isinstance(node, cst.ListComp | cst.SetComp | cst.GeneratorExp | cst.DictComp)
        made = self.dictionary(node) if isinstance(node, cst.DictComp) else self.container(node)
        renamed = dict(self.renamed)
        blocked, self.place.blocked = self.place.blocked, self.place.blocked or "it is in a comprehension"
        with self.block() as body:
            count = self._clauses(node, node.for_in, made)
        self.out += body
        if isinstance(node, cst.ListComp | cst.DictComp) and count is not None:
            filled = made if isinstance(node, cst.ListComp) else keys_field(made)
            self.emit(ir.Assign(Field(deref(filled), ir.SIZE), count, self.span(node)))
        self.place.blocked = blocked
        self.renamed = renamed
        return made

    def _clauses(
        self, node: cst.BaseExpression, clause: cst.CompFor | None, made: Var, key: Expr = NOTHING
    ) -> Expr | None:
        """The clauses of a comprehension from this one on. How many elements it makes, where that is known."""
        if clause is None:
            if isinstance(node, cst.DictComp):
                named = self._hold_key(made, node.key, node, key)
                key = named if isinstance(named, Var) else NOTHING
                value = self.value(node.value)
            else:
                assert isinstance(node, cst.ListComp | cst.SetComp | cst.GeneratorExp)
                key = key if isinstance(node, cst.ListComp | cst.GeneratorExp) else NOTHING
                value = self.value(node.elt)
            self.emit(ir.Assign(Index(made, key), value, self.span(node)))
            self._may_stop(node)
            return None
        at = self.span(clause.target).start
        for name in _target_names(clause.target):
            self.renamed[name] = f"{name}@{at}"
            self.types[f"{name}@{at}"] = ""

        def rest(index: Var | None) -> None:
            inner = index if clause.inner_for_in is None and not clause.ifs and clause is _first(node) else None
            self.conditional += bool(clause.ifs)
            with self.block() as body:
                self._clauses(node, clause.inner_for_in, made, inner if inner is not None else NOTHING)
            for test in reversed(clause.ifs):
                with self.block() as wrapped:
                    tested = self.test(test.test)
                wrapped.append(ir.If(tested, tuple(body), (), self.span(test.test)))
                body = wrapped
            self.conditional -= bool(clause.ifs)
            self.out += body
            self._may_stop(node)

        count = self.iterate(clause.target, clause.iter, self.span(node), rest)
        return count if clause.inner_for_in is None and not clause.ifs else None

    def _may_stop(self, node: cst.BaseExpression) -> None:
        """Who runs through a generator may have enough of it behind any element."""
        if node in self.cut_short:
            span = self.span(node)
            self.emit(ir.If(ir.Test("other", None, f"enough@{span.start}"), (ir.Break(span),), (), span))

    def iterate(
        self,
        target: cst.BaseExpression,
        iterable: cst.BaseExpression,
        span: Span,
        body: Callable[[Var | None], None],
        index_is_safe: Callable[[str], bool] = lambda name: True,
    ) -> Expr | None:
        """A loop over `iterable`; `body` lowers what it repeats and gets the index of a loop that visits one element
        after the other. How many rounds it has, where that is known.
        """
        counted = self._range(iterable)
        place = self.target(target) if isinstance(target, cst.Name) else None
        if counted is not None and isinstance(place, Var) and isinstance(target, cst.Name):
            text, bounds, certain = counted
            if not place.name.startswith("::") and index_is_safe(target.value):
                with self.block() as inner:
                    body(place)
                self.emit(ir.Loop(tuple(inner), span, (), (), place, text, certain, bounds=bounds))
                return _count(text, bounds)
        index = Var(f"{ir.ROUND}@{self.span(target).start}") if self._is_of_rows(iterable) else None
        rows = Rows(index if index is not None else NOTHING, [], [])
        take = self._elements(iterable, rows)
        with self.block() as condition:  # the next element is asked for before each round, and behind the last one
            given = take()
        with self.block() as inner:
            self.bind(target, given)
            body(index)
        display = isinstance(iterable, cst.List | cst.Tuple) and any(
            not isinstance(element, cst.StarredElement) for element in iterable.elements
        )
        certain = display or (counted is not None and counted[2])
        text = f"in {self.source.text(iterable)}"
        asks = "iter(" in text or any(isinstance(stmt, ir.Call | ir.Unknown) for stmt in condition)
        loop = ir.Loop(tuple(inner), span, tuple(condition), at_least_once=certain, test="" if asks else text)
        if index is not None:
            self.types[index.name] = "int"
            loop.index, loop.range, loop.bounds = index, f"{rows.first}:{_MARK}", tuple(rows.sizes)
        self.emit(loop)
        return choice(*rows.sizes) if rows.sizes else None

    def _is_of_rows(self, node: cst.BaseExpression) -> bool:
        """Whether a loop over this visits each element of lists once, from the first one on, those of several side by
        side.
        """
        if isinstance(node, cst.Call):
            meaning = self.resolver.meaning(node.func)
            name = meaning.name if isinstance(meaning, Dotted) else ""
            args = [a.value for a in node.args if a.keyword is None and not a.star]
            if name == "builtins.zip":
                plain = [a for a in node.args if a.keyword is None or a.keyword.value != "strict"]
                return bool(args) and len(args) == len(plain) and all(self._is_of_rows(one) for one in args)
            if name == "builtins.enumerate":
                return len(node.args) == len(args) == 1 and self._is_of_rows(args[0])
            if name == "tqdm.tqdm":
                return bool(args) and self._is_of_rows(args[0])
            return self._view_of(node) is not None
        if isinstance(node, cst.List | cst.Tuple):
            return bool(node.elements) and not any(isinstance(one, cst.StarredElement) for one in node.elements)
        if not isinstance(node, cst.Name | cst.Attribute | cst.Subscript) or self.resolver.cls_of(node) is not None:
            return False
        known = self.resolver.origin(node) in (None, *LISTS, *DICTIONARIES)
        return known and not isinstance(self.resolver.meaning(node), Dotted)

    def _view_of(self, node: cst.Call) -> str | None:
        """The name of a method by which a dictionary is run through (`d.items()`); None for any other call."""
        if self.resolver.meaning(node.func) is not None or not isinstance(node.func, cst.Attribute) or node.args:
            return None
        name = node.func.attr.value
        is_own = name in self.unit.methods.every and self.resolver.origin(node.func.value) not in DICTIONARIES
        return name if name in ("values", "items", "keys") and not is_own else None

    def _range(self, node: cst.BaseExpression) -> tuple[str, tuple[Expr, ...], bool] | None:
        """The bounds of `range(a, b)`: a text with a mark for each variable in it, these variables, and whether a round
        is certain.
        """
        if not isinstance(node, cst.Call) or self.resolver.meaning(node.func) != Dotted("builtins.range"):
            return None
        args = [a.value for a in node.args]
        if not 1 <= len(args) <= 2 or any(a.keyword is not None or a.star for a in node.args):
            for one in args:
                self.value(one)
            return None
        texts: list[str] = []
        places: list[Expr] = []
        numbers: list[int] = []
        for bound in args if len(args) == 2 else [cst.Integer("0"), *args]:
            number = literal(bound)
            if number is not None:
                texts.append(number)
                if number.lstrip("-").isdigit():
                    numbers.append(int(number))
                continue
            value = self.value(bound)
            self.asks(ASKED["builtins.range"], bound, [(bound, value)])
            names = _names_of(bound)
            if names is None or isinstance(bound, cst.Name):
                texts.append(_MARK)
                places.append(value)
            else:
                texts.append(_pattern(bound))
                places += [self.value(name) for name in names]
        certain = len(numbers) == 2 and numbers[0] < numbers[1]
        return ":".join(texts), tuple(places), certain

    def _elements(self, node: cst.BaseExpression, rows: Rows) -> Callable[[], list[Expr]]:
        """Lowers an iterable; what it returns gives the value of each round, or the parts of it."""
        if isinstance(node, cst.Call):
            meaning = self.resolver.meaning(node.func)
            name = meaning.name if isinstance(meaning, Dotted) else ""
            args = [a.value for a in node.args if a.keyword is None]
            if name == "builtins.range":
                return lambda: [NOTHING]
            special = any(a.star or (a.keyword is not None and a.keyword.value == "key") for a in node.args)
            if (
                not special
                and name in ("builtins.enumerate", "tqdm.tqdm", "builtins.reversed", "builtins.sorted", "builtins.iter")
                and args
            ):
                inner = self._elements(args[0], rows)
                for extra in node.args[1:]:
                    self.value(extra.value)
                if name == "builtins.sorted":

                    def compared() -> list[Expr]:
                        given = inner()
                        self.asks(ORDER, node, [(None, one) for one in given])
                        return given

                    return compared
                if name == "builtins.enumerate":
                    return lambda: [rows.at, choice(*given) if len(given := inner()) == 1 else opaque(*given)]
                return inner
            if name == "builtins.zip" and args and not special:
                takes = [self._elements(one, rows) for one in args]
                return lambda: [one for take in takes for one in take()[:1]]
            view = self._view_of(node)
            if view is not None and isinstance(node.func, cst.Attribute):
                return self._of_dictionary(node.func.value, self.value(node.func.value), view, rows)
        self.run_through.add(node)
        if isinstance(node, cst.GeneratorExp):  # what it makes, it makes as the loop goes
            return lambda: [Index(self.value(node), NOTHING)]
        value = self.value(node)
        origin = self.resolver.origin(node)
        if origin in DICTIONARIES:
            return self._of_dictionary(node, value, "keys", rows)
        if rows.at != NOTHING:
            value = self._kept(value if value != NOTHING else self.container(node), node)
            rows.sizes.append(Field(deref(value), ir.SIZE))
            if isinstance(node, cst.List | cst.Tuple):
                self.listed(node, value)
        iterators = [] if isinstance(node, cst.List | cst.Tuple) else self.looked_through(value, node, owner=node)
        is_list = self.resolver.cls_of_elements(node) is not None  # of objects of the program, and no array
        item = Index(value, rows.at) if is_list else self.element(node, value, rows.at)
        if origin is None and is_place(value) and not is_list:  # it may be a dictionary that somebody else made
            item = choice(item, keys_of(value))

        def round_() -> list[Expr]:
            if origin not in _COPIES:  # what is made of an array as the loop goes reads it as the loop goes
                self.elements_read(value, node)
            of_it = self.asks(ITERATION, node, [(node, value)]) if iterators else []
            for one in iterators:
                of_it += [Index(one, NOTHING), *self.asks(ITERATION, node, [(None, one)])]
            return [choice(item, *of_it)]

        return round_

    def _of_dictionary(self, node: cst.BaseExpression, value: Expr, view: str, rows: Rows) -> Callable[[], list[Expr]]:
        """What running through a dictionary gives: one key after the other, and what it holds there."""
        if rows.at == NOTHING:
            held: Expr = Index(value, NOTHING)
            every: dict[str, list[Expr]] = {"values": [held], "items": [keys_of(value), held]}
            return lambda: every.get(view, [keys_of(value)])
        value = self._kept(value, node)
        keys = self._kept(keys_field(value), node)
        rows.sizes.append(Field(deref(keys), ir.SIZE))
        rows.keys.append(keys)
        key = Index(keys, rows.at)
        given: dict[str, list[Expr]] = {"values": [Index(value, key)], "items": [key, Index(value, key)], "keys": [key]}
        return lambda: given[view]

    def _kept(self, value: Expr, node: cst.CSTNode) -> Expr:
        """A list in a variable of its own, which leads to it whatever happens to that which the program names."""
        kept = self.temporary()
        self.emit(ir.Assign(kept, value, self.span(node)))
        return kept

    # -- unpacking -----------------------------------------------------------------------------------------------------

    def bind(self, target: cst.BaseExpression, values: list[Expr]) -> None:
        """Assign what a round of a loop gives to its target."""
        if isinstance(target, cst.Tuple | cst.List):
            plain = [e for e in target.elements if not isinstance(e, cst.StarredElement)]
            if len(values) == len(target.elements) == len(plain) and len(values) > 1:
                for element, value in zip(target.elements, values, strict=True):
                    self.bind(element.value, [value])
                return
            whole = values[0] if len(values) == 1 else opaque(*values)
            self.unpack(target, whole)
            return
        place = self.target(target)
        if place is not None:
            value = values[0] if len(values) == 1 else opaque(*values)
            self.store(target, place, value, self.span(target))

    def store(self, target: cst.BaseExpression, place: Expr, value: Expr, span: Span) -> None:
        """Assign to the place of a target; an object of the program may do what it likes with it."""
        self.emit(ir.Assign(place, value, span))
        if isinstance(target, cst.Subscript) and isinstance(place, Index):
            self.asks(("__setitem__",), target, [(target.value, place.base)], (place.index, value))

    def unpack(self, target: cst.BaseExpression, value: Expr, display: bool = False) -> None:
        """`a, b = value`. `display`: a tuple or list that is written there, which asks nobody."""
        if not isinstance(target, cst.Tuple | cst.List):
            place = self.target(target)
            if place is not None:
                self.store(target, place, value, self.span(target))
            return
        starred = any(isinstance(e, cst.StarredElement) for e in target.elements)
        more = self.looked_through(value, target) if not display else []
        for number, element in enumerate(target.elements):
            item: Expr = choice(Index(value, Const(str(number)) if not starred else NOTHING), *more)
            if isinstance(value, Opaque):
                item = value
            elif isinstance(value, ir.Choice):  # parts of an array, not what it holds
                item = choice(item, ir.Offset(value))
            if isinstance(element, cst.StarredElement):
                made = self.container(element)
                self.emit(ir.Assign(Index(made, NOTHING), item, self.span(element)))
                item = made
            self.unpack(element.value, item)


def _count(text: str, bounds: Sequence[Expr]) -> Expr | None:
    """How many indices a range has that begins with 0."""
    first, _, last = text.partition(":")
    if first != "0":
        return None
    if last.isdigit():
        return Const(last)
    return bounds[0] if last == _MARK and len(bounds) == 1 else None


def keys_field(dictionary: Expr) -> Expr:
    return Field(deref(dictionary), "<keys>")


def keys_of(dictionary: Expr) -> Expr:
    """Any key of a dictionary."""
    return Index(keys_field(dictionary), NOTHING)


def _first(node: cst.BaseExpression) -> cst.CompFor | None:
    return node.for_in if isinstance(node, cst.ListComp | cst.SetComp | cst.GeneratorExp | cst.DictComp) else None


def _target_names(node: cst.BaseExpression) -> Iterator[str]:
    if isinstance(node, cst.Name):
        yield node.value
    elif isinstance(node, cst.Tuple | cst.List):
        for element in node.elements:
            yield from _target_names(element.value)


def _names_of(node: cst.BaseExpression) -> list[cst.Name] | None:
    """The variables in arithmetic, in order; None where anything else is in it (a call, a field)."""
    match node:
        case cst.Name():
            return [node]
        case cst.Integer():
            return []
        case cst.BinaryOperation(left=left, right=right):
            one, two = _names_of(left), _names_of(right)
            return one + two if one is not None and two is not None else None
        case _:
            return None


def _pattern(node: cst.BaseExpression) -> str:
    """Arithmetic as a text, with a mark for each variable."""
    match node:
        case cst.Integer(value=number):
            return number
        case cst.BinaryOperation(left=left, operator=operator, right=right):
            return f"({_pattern(left)} {type(operator).__name__} {_pattern(right)})"
        case _:
            return _MARK
