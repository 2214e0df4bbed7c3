"""Which combinations of `#if`s a file has to be read in, and the text of the file in each.

Only what may matter is multiplied: a group of branches that differ in includes, constants or types takes its default.
Conditions that occur in different functions are not multiplied with each other: the configurations cover, for each
function, all combinations of its own conditions, of those around it, and of those that decide the macros it uses.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeAlias

from cudafix.frontends.cuda.preprocess.conditions import NVCC, VERSIONS, Environment, Free, Node, decider, names, parse
from cudafix.frontends.cuda.preprocess.directives import OPENING, Branch, Directive, Group, Scan, blank
from cudafix.frontends.cuda.preprocess.expansion import opens_or_closes, unlike, whole, written_out
from cudafix.frontends.cuda.preprocess.macros import TYPE_WORDS, Macro, define, words
from cudafix.frontends.cuda.preprocess.meanings import GONE, PLACE, Meaning, joined, merge, merged
from cudafix.frontends.cuda.preprocess.units import Listing, Step, Unit, Walk
from cudafix.ir.names import WORD_IN_BYTES

MOST = 64  # configurations of one file
DEEPEST = 256  # groups in each other: what a compiler should take at least (C++ standard, [implimits])
INNER = 8  # functions around a function: those of local classes, and lambdas
_STEPS = 100_000  # directives that the search for configurations may visit, in one file

_SCALAR = (
    rb"(?:int|float|double|char|bool|size_t|ssize_t|long|short|unsigned|signed|u?int\d+_t|u?long|u?int|uchar|dim3|auto)"
)
_NUMBER = (
    rb"(?:"
    + _SCALAR[3:-1]
    + rb"|(?:u?(?:char|short|int|long)|float|double|half|longlong)[1-4]|__half2?|half|__nv_bfloat16"
    rb"|cu(?:Float|Double)?Complex|cufft(?:Double)?Complex|(?:thrust|std)::complex<\s*(?:float|double)\s*>)"
)
_HARMLESS = re.compile(  # one declaration
    # another name of a number, or of a vector of numbers: that of a class decides which functions are called
    rb"(?:typedef\s+" + _NUMBER + rb"(?:\s+" + _NUMBER + rb")*[\s*]+\w+\s*;\s*"
    rb"|using\s+\w+\s*=\s*" + _NUMBER + rb"(?:\s+" + _NUMBER + rb")*[\s*]*;\s*"
    rb"|using\s+namespace\s+[\w:]+\s*;\s*"
    rb"|extern\s+(?!\")[^;{}]*;\s*"
    rb"|(?:struct|class|union|enum)\s+\w+\s*;\s*"
    # no constant that may be zero: so many rounds of a loop are none
    rb"|(?![^;{}]*\bconst(?:expr)?\b[^;{}]*[=(](?!\s*-?(?:0[xX]0*[1-9a-fA-F]|0*[1-9]|\d*\.\d)[\w.]*\s*\)?\s*;))"
    rb"(?:(?:static|const|constexpr|inline)\s+)*" + _SCALAR + rb"(?:\s+" + _SCALAR + rb")*(?:\s+const)?"
    rb"\s+\w+(?:\s*=\s*[-+*/%\w.\s]+|\s*\([-+*/%\w.,\s]*\))?;\s*"
    # a prototype at namespace scope: two words before the parenthesis, the first of them no keyword of a statement
    rb"|(?!return\b|delete\b|throw\b|else\b|goto\b|new\b|case\b|do\b)[A-Za-z_][\w:]*(?:\s+|\s*[*&]+\s*)\w+\s*\([\w\s*&:,\[\]]*\)\s*;\s*"
    rb")"
)
_BRACE = re.compile(rb"[{}]")
_KEPT = re.compile(rb"(push|pop)_macro\s*\(\s*\"(\w+)\"\s*\)")  # of GCC, Clang, MSVC and so of nvcc
_INCLUDES = (b"include", b"include_next", b"import")
_SCOPE = re.compile(rb"\s*(?:(?:inline\s+)?namespace\b|extern\s+\"C\")")
_SPACE = re.compile(rb"\s*")
_IDENTIFIER_BEFORE_PARENTHESIS = re.compile(rb"([A-Za-z_]\w*)\s*\(")
_PARENTHESIS = re.compile(rb"\s*\(")
_DEVICE_WORD = re.compile(rb"__(global|device|host)__")


_ALONE = Unit((), lambda path: Listing.of(()), lambda path, target: None, lambda path: (), ())

Redefined: TypeAlias = dict[str, tuple[tuple[int, Macro | None], ...]]
"""The macros that do not mean the same wherever their names stand: from which offset on which one holds, if any."""


@dataclass(slots=True)
class Run:
    """The file in one configuration. `asked` are the groups that met a free choice, `reached` all evaluated ones. In
    the ranges `filled` spaces stand for the rest of the names of macros that are written out (`expansion`).
    """

    text: bytes = b""
    filled: tuple[tuple[int, int], ...] = ()
    macros: dict[str, Macro] = field(default_factory=dict)
    redefined: Redefined = field(default_factory=dict)
    includes: list[str] = field(default_factory=list)
    between: list[tuple[int, str]] = field(default_factory=list)
    met: dict[str, bool] = field(default_factory=dict)
    asked: set[int] = field(default_factory=set)
    reached: set[int] = field(default_factory=set)
    never: set[int] = field(default_factory=set)  # directives in branches that this file itself switches off


@dataclass(slots=True)
class _Open:
    group: int
    outer: bool  # whether the code around the group is active
    taken: bool
    active: bool


class Preprocessor:
    """Runs the directives of one scanned file under different choices."""

    def __init__(
        self,
        scan: Scan,
        path: str,
        extra: Mapping[str, Macro],
        unit: Unit | None = None,
        decided: Iterable[tuple[str, bool]] = (),
    ) -> None:
        """`extra` are the macros that hold from the beginning; those of the `unit` come with the headers. Of some that
        conditions ask for, `decided` says whether they are defined.
        """
        self.scan = scan
        self.path = path
        self.extra = extra
        self.unit = unit
        self._decided = dict(decided)
        self._blank = blank(scan.code)
        self._macros = {
            i: macro
            for i, d in enumerate(scan.directives)
            if d.keyword == b"define" and (macro := define(d, path)) is not None
        }
        self._own = frozenset(macro.name for macro in self._macros.values())
        self._conditions: dict[int, Node] = {
            i: parse(d.keyword, d.rest)
            for i, d in enumerate(scan.directives)
            if i in scan.group_of and d.keyword not in (b"else", b"endif")
        }
        self._guards = {g for g in range(len(scan.groups)) if self._is_guard(g)}
        self._device: dict[int, bool] = {}
        self._explored: dict[frozenset[int], tuple[list[dict[str, bool]], bool]] = {}  # by the groups
        self._builtin = VERSIONS if path.endswith((".cpp", ".cc", ".cxx", ".c")) else {**VERSIONS, **NVCC}
        if path.endswith(".c"):
            self._builtin = {k: v for k, v in self._builtin.items() if k != "__cplusplus"}
        self.steps = 0

    def macros(self) -> dict[str, Macro]:
        """Every macro that the file defines in some configuration."""
        never = self.run({}, text=False).never
        return merge(macro for i, macro in self._macros.items() if i not in never)

    def listing(self) -> Listing:
        """The directives of the file that may change macros, for whoever includes it."""
        groups = (group for number, group in enumerate(self.scan.groups) if number not in self._guards)
        return Listing.of(self._steps(), self._guard_of_all(), ((group.start, group.end) for group in groups))

    def _guard_of_all(self) -> str:
        """The macro of the include guard around all of the file."""
        first = next((g for g, group in enumerate(self.scan.groups) if group.parent is None), None)
        if first is None or first not in self._guards:
            return ""
        group = self.scan.groups[first]
        if self.scan.code[: group.start].strip() or self.scan.code[group.end :].strip():
            return ""
        return next(iter(names(self._conditions[group.branches[0].directive])))

    def _steps(self) -> Iterator[Step]:
        opened = 0
        for i, directive in enumerate(self.scan.directives):
            keyword = directive.keyword
            if i in self.scan.group_of:
                opened += (keyword in OPENING) - (keyword == b"endif")
                plain = keyword in (b"else", b"endif")
                kind = keyword.decode() if plain else "if" if keyword in OPENING else "elif"
                yield Step(kind, condition=self._conditions.get(i), guards=self.scan.group_of[i] in self._guards)
            elif keyword in (b"define", b"undef"):
                name, macro = self._named(i)
                if name and (macro is None) == (keyword == b"undef"):
                    yield Step(keyword.decode(), name, macro, guards=self._is_default(i))
            elif keyword in _INCLUDES:
                yield Step("include", directive.rest.strip().decode("utf-8", "surrogateescape"))
            elif keyword == b"pragma" and directive.rest.split()[:1] == [b"once"]:
                yield Step("once")
            elif keyword == b"pragma" and (kept := _KEPT.match(directive.rest.strip())) is not None:
                yield Step(kept[1].decode(), kept[2].decode("utf-8", "replace"))
        yield from (Step("endif") for _ in range(opened))

    def _is_default(self, i: int) -> bool:
        """Whether a `#define` gives a macro its value only where an option of the compiler has given it none."""
        opens = i > 0 and self.scan.directives[i - 1].keyword in OPENING
        return opens and self.scan.group_of.get(i - 1) in self._guards

    def _named(self, i: int) -> tuple[str, Macro | None]:
        """The name in a `#define` or `#undef`, and the macro that the first makes."""
        macro = self._macros.get(i)
        words = self.scan.directives[i].rest.split()
        return (macro.name if macro else words[0].decode("utf-8", "replace") if words else ""), macro

    def run(self, chosen: Mapping[str, bool], fork: frozenset[int] = frozenset(), text: bool = True) -> Run:
        """Preprocess under the choices `chosen`. Raises `Free` at the first open choice in a group of `fork`."""
        result = Run()
        environment = Environment(self._builtin, dict(chosen), met=result.met)
        for name, is_defined in self._decided.items():
            environment.defined.update({name: None} if is_defined else {})
            environment.gone.update(() if is_defined else {name})
        if self.path.endswith(".c"):
            environment.gone.add("__cplusplus")
        stack: list[_Open] = []
        active, at, parts = True, 0, []
        defined: list[Macro] = []
        steps: dict[str, list[tuple[int, Macro | None]]] = {}
        walks = Walk(_ALONE, {}, self.extra), Walk(self.unit or _ALONE, chosen, self.extra)
        code, spaces = self.scan.code, self._blank
        self.steps += len(self.scan.directives)
        for i, directive in enumerate(self.scan.directives):
            if text:
                parts.append((code if active else spaces)[at : directive.start])
                parts.append(spaces[directive.start : directive.end])
                at = directive.end
            keyword = directive.keyword
            if i in self.scan.group_of:
                if keyword in OPENING:
                    stack.append(_Open(self.scan.group_of[i], active, False, False))
                elif keyword == b"endif":
                    active = stack.pop().outer
                    continue
                top = stack[-1]
                top.active = top.outer and not top.taken and self._takes(i, top.group, environment, result, fork)
                top.taken = top.taken or top.active
                active = top.active
            elif not active:
                if keyword == b"define" and self._is_switched_off(stack, result):
                    result.never.add(i)
                continue
            else:
                for name, meaning in self._changed(i, walks, result).items():
                    environment.defined.pop(name, None)
                    environment.gone.discard(name)
                    if meaning.defined:
                        environment.defined[name] = meaning.value
                    elif not meaning.macros and not meaning.unset:
                        environment.gone.add(name)
                    perhaps = meaning.unset and name.encode() in self._variables
                    macro = merged(meaning.macros, meaning.gone or perhaps)
                    defined += [macro] if macro is not None else []
                    steps.setdefault(name, []).append((directive.end, macro))
        if text:
            parts.append((code if active else spaces)[at:])
            result.text, result.filled = written_out(b"".join(parts), self.scan.strings, steps, self.extra)
            result.macros = {**self.extra, **merge(defined)}
            if others := unlike(result.macros):
                result.macros = {name: whole(macro, others) for name, macro in result.macros.items()}
                steps = {n: [(at, m and whole(m, others)) for at, m in changes] for n, changes in steps.items()}
            result.redefined = self._redefined(result.text, steps, result.macros)
        return result

    def _changed(self, i: int, walks: tuple[Walk, Walk], result: Run) -> Mapping[str, Meaning]:
        """What a directive that is read changes, and what the macros are behind it. The first of the `walks` knows the
        macros that headers do not change.
        """
        directive = self.scan.directives[i]
        if directive.keyword in (b"define", b"undef"):
            name, macro = self._named(i)
            if directive.keyword == b"define" and macro is None:
                return {}
            walk = walks[name in walks[1].unit.names]
            default = self._is_default(i)
            meaning = Meaning((macro,), given=default) if macro is not None else GONE
            if default and walk.of(name).perhaps:  # the guard around it is perhaps passed
                meaning = joined((replace(walk.of(name), gone=False, unset=False), meaning))
            walk.put(name, meaning)
            return {name: meaning}
        if directive.keyword in _INCLUDES:
            target = directive.rest.strip()
            result.includes.append(target.decode("utf-8", "replace"))
            result.between.append((directive.start, "#include"))
            return walks[1].included(self.path, target.decode("utf-8", "surrogateescape"))
        if directive.keyword == b"pragma" and (kept := _KEPT.match(directive.rest.strip())) is not None:
            name = kept[2].decode("utf-8", "replace")
            walk = walks[name in walks[1].unit.names]
            if kept[1] == b"push":
                walk.push(name)
                return {}
            return {name: walk.of(name)} if walk.pop(name) else {}
        if directive.keyword == b"pragma" and directive.rest.split()[:1] != [b"unroll"]:
            result.between.append((directive.start, directive.rest.strip().decode("utf-8", "replace")))
        return {}

    def _redefined(
        self, text: bytes, steps: Mapping[str, Sequence[tuple[int, Macro | None]]], macros: Mapping[str, Macro]
    ) -> Redefined:
        """Of the macros that the file defines or takes back, those that are no one macro in all of its text."""
        first: dict[str, int] = {}
        for word in WORD_IN_BYTES.finditer(text) if steps else ():
            name = word[0].decode()
            if name in steps and name not in first and _may_expand(text, word.start(), word.end(), steps[name]):
                first[name] = word.start()
        if hidden := {name for name, changes in steps.items() if name not in first and len(changes) > 1}:
            inner = set[bytes]().union(*(words(macro.body) for macro in macros.values()))
            first.update((name, 0) for name in hidden if name.encode() in inner)
        found: Redefined = {}
        for name, changes in steps.items():
            extra = self.extra.get(name)
            one = len(changes) == 1 and changes[0][1] is not None
            if name in first and not (one and extra is None and first[name] > changes[0][0]):
                found[name] = ((0, extra), *changes)
        return found

    def _is_switched_off(self, stack: Sequence[_Open], result: Run) -> bool:
        """Whether conditions that only ask for macros of this file leave out what stands here."""
        if any(o.group in result.asked for o in stack):
            return False
        asked = [b.directive for o in stack if not o.active for b in self.scan.groups[o.group].branches]
        conditions = [self._conditions[i] for i in asked if i in self._conditions]
        return all(self._own.issuperset(names(c)) for c in conditions)

    def _takes(self, i: int, group: int, environment: Environment, result: Run, fork: frozenset[int]) -> bool:
        result.reached.add(group)
        condition = self._conditions.get(i)
        if condition is None:
            return True
        if group in self._guards:
            # a guard is there to be passed once; what the program's headers define already is not defined again
            (name,) = names(condition)
            return name not in environment.defined and (name not in self.extra or name in environment.gone)
        environment.fork = group in fork
        environment.device = "__CUDA_ARCH__" in names(condition) and self._is_device(group)
        before = len(environment.met)
        holds = environment.holds(condition)
        if len(environment.met) > before or any(n in environment.met for n in _atoms(condition)):
            result.asked.add(group)
        return holds

    def _is_guard(self, number: int) -> bool:
        """`#ifndef X`, `#define X`, … `#endif`: an include guard or a default value."""
        group = self.scan.groups[number]
        first = group.branches[0].directive
        if len(group.branches) != 1 or first + 1 >= len(self.scan.directives):
            return False
        operator, operands, _ = self._conditions[first]
        following = self._macros.get(first + 1)
        return (
            operator == "!"
            and operands[0][0] == "defined"
            and following is not None
            and following.name == operands[0][2]
            and not self.scan.code[self.scan.directives[first].end : self.scan.directives[first + 1].start].strip()
        )

    def _is_device(self, number: int) -> bool:
        """Whether a group that asks for `__CUDA_ARCH__` stands in a device function or holds one."""
        if number not in self._device:
            group, code = self.scan.groups[number], self.scan.code
            inside = {m[1] for m in _DEVICE_WORD.finditer(code, group.start, group.end)}
            around = max(code.rfind(b"__global__", 0, group.start), code.rfind(b"__device__", 0, group.start))
            begin = max(code.rfind(b";", 0, max(around, 0)), code.rfind(b"}", 0, max(around, 0))) + 1
            head = code[begin : group.start].partition(b"{")[0]
            in_device_function = around >= 0 and b"__host__" not in head and _is_open(code[around : group.start])
            self._device[number] = in_device_function or (bool(inside) and b"host" not in inside)
        return self._device[number]

    # -- which groups matter ------------------------------------------------------------------------------------------

    def mattering(self) -> set[int]:
        """The groups whose branches may differ in what the program does."""
        groups, directives = self.scan.groups, self.scan.directives
        plain = self._plain
        result = {n for n, g in enumerate(groups) if not all(_is_harmless(plain, b) for b in g.branches)}
        made: dict[str, set[int]] = {}
        defines: dict[tuple[int, str], list[Directive]] = {}
        blocks: list[tuple[int, int]] | None = None
        inside = self._groups_of_directives()
        for i, directive in enumerate(directives):
            if inside[i] and directive.keyword == b"include":
                blocks = _blocks(plain) if blocks is None else blocks
                if any(start < directive.start < end for start, end in blocks) or self._brings(i):
                    result.update(inside[i])
            if not inside[i] or directive.keyword not in (b"define", b"undef"):
                continue
            macro = self._macros.get(i)
            name = macro.name if macro else directive.rest.strip().decode("utf-8", "replace")
            made.setdefault(name, set()).update(inside[i])
            if macro is not None and self.matters(macro) or self.unit is not None and name in self.unit.names:
                result.update(inside[i])
            elif macro is not None and macro.params is not None:
                defines.setdefault((inside[i][-1], name), []).append(directive)
        for (number, name), found in defines.items():  # where it is not defined, the name is that of a function
            branches = groups[number].branches
            each = all(any(b.start <= directive.start < b.end for directive in found) for b in branches)
            if not (each and directives[branches[-1].directive].keyword == b"else") and name.encode() in words(plain):
                result.update((number, *self._ancestors(groups[number])))
        while True:
            asked = {name for i, c in self._conditions.items() if self.scan.group_of[i] in result for name in names(c)}
            more = set().union(*(made[n] for n in asked if n in made)) - result
            if not more:
                return result
            result |= more

    def _brings(self, i: int) -> AbstractSet[str]:
        """Which macros of the unit an `#include` may change."""
        directive = self.scan.directives[i]
        if self.unit is None or directive.keyword not in _INCLUDES:
            return frozenset()
        return self.unit.changed_by(self.path, directive.rest.strip().decode("utf-8", "surrogateescape"))

    def matters(self, macro: Macro) -> bool:
        """Whether a macro may do something, has the name of a variable of this file, or stands for memory: a variable,
        or a place one leads to.
        """
        if macro.kind != "constant" or PLACE.search(macro.body) or opens_or_closes(macro):
            return True
        if macro.params is None and macro.name.encode() in self._variables:
            return True
        return not self._variables.isdisjoint(words(macro.body))

    @cached_property
    def _variables(self) -> set[bytes]:
        return set(VARIABLE.findall(self._plain)) - TYPE_WORDS

    @cached_property
    def _plain(self) -> bytes:
        """The code without directives, at the same offsets."""
        parts: list[bytes] = []
        at = 0
        for directive in self.scan.directives:
            parts += (self.scan.code[at : directive.start], self._blank[directive.start : directive.end])
            at = directive.end
        return b"".join((*parts, self.scan.code[at:]))

    def _groups_of_directives(self) -> list[tuple[int, ...]]:
        """For each directive the groups that it stands in, without guards; a conditional is not in its own group."""
        result: list[tuple[int, ...]] = []
        stack: list[int] = []
        for i, directive in enumerate(self.scan.directives):
            conditional = i in self.scan.group_of
            if conditional and directive.keyword not in OPENING:
                own = stack.pop()
                result.append(tuple(g for g in stack if g not in self._guards))
                if directive.keyword != b"endif":
                    stack.append(own)
                continue
            result.append(tuple(g for g in stack if g not in self._guards))
            if conditional:
                stack.append(self.scan.group_of[i])
        return result

    # -- which configurations -----------------------------------------------------------------------------------------

    def choices(
        self, default: Run, functions_of: Callable[[], Sequence[tuple[int, int]]]
    ) -> tuple[list[dict[str, bool]], tuple[tuple[int, int], ...]]:
        """The configurations to read, the default first, and the ranges whose combinations are not all among them.

        `functions_of` gives the ranges of the function definitions in the default configuration.
        """
        if self._depth() > DEEPEST:
            return [{}], ((0, len(self.scan.code)),)
        free = self._undecided(default)
        groups = self.mattering() & free if free else set()
        if not groups:
            return [{}], ()
        regions = self._regions(groups, functions_of())
        requirements: list[tuple[tuple[int, int], list[dict[str, bool]]]] = []
        too_many: list[tuple[int, int]] = []
        for region, (own, called) in regions.items():
            wanted, complete = self._explore(own | called)
            if not complete and called:
                wanted, complete = self._explore(own)
            if not complete:
                too_many.append(region)
            requirements.append((region, wanted))
        configurations: list[dict[str, bool]] = []
        for region, wanted in sorted(requirements, key=lambda r: -len(r[1])):
            for want in wanted:
                fits = (c for c in configurations if all(c.get(k, v) == v for k, v in want.items()))
                chosen = next(fits, None)
                if chosen is not None:
                    chosen.update(want)
                elif len(configurations) < MOST:
                    configurations.append(dict(want))
                else:
                    too_many.append(region)
                    break
        return configurations or [{}], tuple(sorted(set(too_many)))

    def _depth(self) -> int:
        """How deep groups are nested."""
        depths: list[int] = []
        for group in self.scan.groups:  # an outer one comes before those in it
            depths.append(1 if group.parent is None else depths[group.parent] + 1)
        return max(depths, default=0)

    def _undecided(self, default: Run) -> set[int]:
        free: set[int] = set()
        for number, group in enumerate(self.scan.groups):
            below = group.parent is not None and group.parent in free
            if number not in self._guards and (number in default.asked or number not in default.reached and below):
                free.add(number)
        # what stands in a guard that is open, or in an undecided group, may be reached in another configuration
        for number, group in enumerate(self.scan.groups):
            if number not in default.reached and any(a in free for a in self._ancestors(group)):
                if number not in self._guards:
                    free.add(number)
        return free

    def _ancestors(self, group: Group) -> list[int]:
        result = []
        while group.parent is not None:
            result.append(group.parent)
            group = self.scan.groups[group.parent]
        return result

    def _regions(
        self, groups: set[int], functions: Sequence[tuple[int, int]]
    ) -> dict[tuple[int, int], tuple[frozenset[int], frozenset[int]]]:
        """Ranges that are proved as one: each with its groups, and with those of the functions that it calls."""
        members: dict[tuple[int, int], set[int]] = {}
        functions = list(_outer(functions))
        for number in sorted(groups):
            group = self.scan.groups[number]
            holders = [f for f in functions if f[0] <= group.start and group.end <= f[1]]
            up = [a for a in self._ancestors(group) if a in groups]
            top = self.scan.groups[up[-1]] if up else group
            region = max(holders) if holders else (top.start, top.end)
            members.setdefault(region, set()).update({number, *up})
        code = self.scan.code
        made: dict[str, set[int]] = {}
        inside = self._groups_of_directives()
        for i, directive in enumerate(self.scan.directives):
            if directive.keyword in (b"define", b"undef"):
                name = (directive.rest.split(b"(")[0].split() or [b""])[0].decode("utf-8", "replace")
                made.setdefault(name, set()).update(g for g in inside[i] if g in groups)
            for name in self._brings(i) if inside[i] else ():
                made.setdefault(name, set()).update(g for g in inside[i] if g in groups)
        asks = {
            n: {x for b in self.scan.groups[n].branches for x in names(self._conditions.get(b.directive, ("", (), "")))}
            for n in groups
        }
        needs: dict[tuple[int, int], set[int]] = {}
        uses: dict[tuple[int, int], set[str]] = {}
        provides: dict[str, set[tuple[int, int]]] = {}
        everywhere = {*members, *functions}
        for region in everywhere:
            own = members.get(region, set())
            uses[region] = {w.decode("utf-8", "replace") for w in words(code[region[0] : region[1]])}
            needed, fresh = set(own), {x for n in own for x in asks[n]} | uses[region]
            while fresh:
                more = set().union(*(made[x] for x in fresh if x in made)) - needed
                needed |= more
                fresh = {x for n in more for x in asks[n]}
            needs[region] = needed
            if region in members and region not in functions:
                provided = {m[1] for m in _IDENTIFIER_BEFORE_PARENTHESIS.finditer(code, *region)}
            else:
                head = code[region[0] : region[1]].partition(b"{")[0]
                match = _IDENTIFIER_BEFORE_PARENTHESIS.search(head)
                provided = {match[1]} if match else set()
            for word in provided:
                provides.setdefault(word.decode("utf-8", "replace"), set()).add(region)
        result = {}
        for region in everywhere:
            if not needs[region]:
                continue
            called: set[int] = set()
            todo, seen = [region], {region}
            while todo:
                for name in uses[todo.pop()] & provides.keys():
                    for other in provides[name] - seen:
                        seen.add(other)
                        todo.append(other)
                        called |= needs[other]
            result[region] = (frozenset(needs[region]), frozenset(called))
        return dict(sorted(result.items()))

    def _explore(self, groups: frozenset[int]) -> tuple[list[dict[str, bool]], bool]:
        """All choices that the groups leave open, the default first, at most `MOST`; and whether these are all."""
        if groups not in self._explored:
            self._explored[groups] = self._choices_of(groups)
        return self._explored[groups]

    def _choices_of(self, groups: frozenset[int]) -> tuple[list[dict[str, bool]], bool]:
        result: list[dict[str, bool]] = []
        todo: list[dict[str, bool]] = [{}]
        while todo:
            if len(result) == MOST or self.steps > _STEPS:
                return result, False
            chosen = todo.pop()
            try:
                self.run(chosen, groups, text=False)
            except Free as free:
                environment = Environment(self._builtin, {})
                likely = environment.holds(("atom", (), free.atom))
                todo += ({**chosen, free.atom: not likely}, {**chosen, free.atom: likely})
            else:
                result.append(chosen)
        return result, True


def _outer(functions: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The functions that do not stand in `INNER` others: deeper ones are read where braces do not match."""
    around: list[int] = []  # where those end that are open
    for start, end in sorted(functions, key=lambda f: (f[0], -f[1])):
        while around and around[-1] <= start:
            around.pop()
        around.append(end)
        if len(around) <= INNER:
            yield start, end


def _is_open(text: bytes) -> bool:
    """Whether the first block that opens in `text` is still open at its end."""
    depth = 0
    for match in _BRACE.finditer(text):
        depth += 1 if match[0] == b"{" else -1
        if depth <= 0:
            return False
    return depth > 0


def _blocks(text: bytes) -> list[tuple[int, int]]:
    """The outermost blocks that are more than namespaces."""
    found: list[tuple[int, int]] = []
    opened: list[int | None] = []  # where each open block starts; None for a namespace
    before = 0
    for match in _BRACE.finditer(text):
        at = match.start()
        if match[0] == b"{":
            head = text[max(before, text.rfind(b";", before, at) + 1) : at]
            opened.append(None if _SCOPE.match(head) else at)
        elif opened:
            start = opened.pop()
            if start is not None and all(outer is None for outer in opened):
                found.append((start, at))
        before = match.end()
    return found


def _is_harmless(plain: bytes, branch: Branch) -> bool:
    """Whether the branch holds nothing but declarations that no order depends on."""
    at = _SPACE.match(plain, branch.start, branch.end).end()  # type: ignore[union-attr]
    while at < branch.end:
        match = _HARMLESS.match(plain, at, branch.end)
        if match is None:
            return False
        at = match.end()
    return True


def _atoms(node: Node) -> set[str]:
    _, operands, text = node
    return {text, f"defined({text})", f"defined({decider(text)})"}.union(*(_atoms(o) for o in operands))


VARIABLE = re.compile(rb"(?:[\w>]\s+|[*&,]\s*)([A-Za-z_]\w*)\s*(?=[;,=\[){])")
"""Where one may be declared."""


def _may_expand(text: bytes, start: int, end: int, changes: Sequence[tuple[int, Macro | None]]) -> bool:
    """Whether a name in a text may be one of its macros. That of a function-like macro is none without a parenthesis
    behind it (C++17, 19.3 [cpp.replace] 10), but as the argument of another macro.
    """
    if any(macro is not None and macro.params is None for _, macro in changes):
        return True
    return _PARENTHESIS.match(text, end) is not None or text[max(0, start - 99) : start].rstrip()[-1:] in (
        b"(",
        b",",
        b"",
    )


def in_force(
    macros: Mapping[str, Macro], redefined: Redefined, text: bytes, start: int, end: int
) -> Mapping[str, Macro]:
    """The macros by which `text[start:end]` is read: a name stands for the macro that holds where it is used (C++17,
    19.3.5 [cpp.scope]). Where it is used under several, or also under none, it is opaque.
    """
    if not redefined:
        return macros
    result = dict(macros)
    for name, changes in redefined.items():
        bounds = [at for at, _ in changes[1:]] + [len(text)]
        parts = [(max(start, at), min(end, until), macro) for (at, macro), until in zip(changes, bounds, strict=True)]
        parts = [part for part in parts if part[0] < part[1]] or [(start, end, changes[-1][1])]
        if len(parts) > 1:
            parts = [part for part in parts if _uses(text[part[0] : part[1]], name, changes, macros)] or parts
        meant = {None if macro is None else (macro.params, macro.body): macro for _, _, macro in parts}
        known = [macro for macro in meant.values() if macro is not None]
        result.pop(name, None)
        if len(meant) == 1:
            result.update((name, macro) for macro in known)
        else:
            body = b" ".join(macro.body for macro in known)
            result[name] = replace(known[-1], body=body, kind="opaque", passes=None, looks=False, several=True)
    return result


def _uses(text: bytes, name: str, changes: Sequence[tuple[int, Macro | None]], macros: Mapping[str, Macro]) -> bool:
    """Whether a text may use what a name stands for, itself or through other macros."""
    word = name.encode()
    found = (one for one in WORD_IN_BYTES.finditer(text) if one[0] == word)
    if any(_may_expand(text, one.start(), one.end(), changes) for one in found):
        return True
    used = (macros.get(one.decode()) for one in _used(text, macros) - {word})
    return any(macro is not None and word in words(macro.body) for macro in used)


def _used(text: bytes, macros: Mapping[str, Macro]) -> set[bytes]:
    """The words in a text, and those in the macros that it uses."""
    found: set[bytes] = set()
    left = words(text)
    while left:
        found |= left
        bodies = (words(macro.body) for word in left if (macro := macros.get(word.decode())) is not None)
        left = set[bytes]().union(*bodies) - found
    return found
