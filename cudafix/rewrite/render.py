"""From a proved plan to edits, findings and refusals. The words of the edits come from the codemods."""

from __future__ import annotations

import os
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, Protocol

from cudafix import ir, refusals
from cudafix.findings import Edit, Finding, Place, Refusal, Report, Runs, Safety
from cudafix.ir import walk
from cudafix.ir.link import SOURCES, Program, last
from cudafix.models import Tables
from cudafix.models.api import Effect
from cudafix.ordering.facts.clients import is_client, never_runs
from cudafix.ordering.interpreter.program import OF_A_ROUND, Key, Outcome, Site, StreamName, key_of
from cudafix.ordering.interpreter.state import Stream, StreamKind
from cudafix.project.config import Config
from cudafix.rewrite import pool_setup, statements
from cudafix.rewrite.groups import Group
from cudafix.rewrite.loops import Beside, LoopEvent
from cudafix.rewrite.naming import DEFAULT, spelled_call
from cudafix.rewrite.own_events import OwnEvent
from cudafix.rewrite.plan import Does, Insertion, Plan, moved_call
from cudafix.rewrite.wrapping import Wrapping
from cudafix.rewrite.writer import Writer

_CUDA = re.compile(rb"\bcuda[A-Z]\w*\s*\(|\bcuda_runtime|<<<")
_CUDA_TYPE = re.compile(rb"\bcuda_runtime|\bcuda(?:[A-Z]\w*_t|Success|DeviceProp|MemPool\w+)\b")
_CALL_IT = "Call its function from the code that is analysed, or add the files that call it to the paths."
_WRITE_IT = "Write the statement that the message names in plainer C++, or call the function outside of it."
_CALL_IT_BY_NAME = "Call the function by its name where it is to run."
_IN_ONE = "Call the function without a host thread of its own: what several host threads do is not proved."

TOO_LARGE_WORDS = "a program that runs it is too large for the proof"
_THRESHOLD = re.compile(  # or `cudaMallocAsync` has another pool than the default one
    rb"cudaMemPoolAttrReleaseThreshold|CU_MEMPOOL_ATTR_RELEASE_THRESHOLD|\.memPoolSetAttribute\(|[dD]eviceSetMemPool\b"
)


class View(Protocol):
    """One program from one root."""

    @property
    def program(self) -> Program: ...

    @property
    def root(self) -> ir.Function: ...


def shared_words(path: str) -> str:
    """Why a site stays that too many programs have."""
    return f"`{os.path.basename(path)}` is part of too many programs to be proved for all of them"


def starts_at(root: ir.Function | None) -> tuple[tuple[ir.Span, str], ...]:
    """Where a program starts that is too large, if that is a function of its own."""
    if root is None or is_client(root):
        return ()
    return ((root.span, f"the program that starts with `{last(root.name)}`"),)


def _places(named: Iterable[tuple[ir.Span, str]]) -> tuple[Place, ...]:
    return tuple(Place(span.path, span.start, words) for span, words in named)


class HandedOver(NamedTuple):
    """Where a function is given away as a value; the function that starts a `thread` with it, or `why` the text that
    names it is not understood.
    """

    place: Place
    thread: str = ""
    why: str = ""

    @property
    def words(self) -> tuple[str, str]:
        """Why what it does is not followed, and what would unlock that."""
        if self.why:
            return f"its function is called in text that is not understood: {self.why}", _WRITE_IT
        if self.thread:
            return f"its function runs in a host thread that `{self.thread}` starts, and is not followed there", _IN_ONE
        return "its function is handed over as a value, and is not followed where that is called", _CALL_IT_BY_NAME


class _SetUp(NamedTuple):
    """What sets the release threshold of a pool, in front of a statement, and what needs it: groups (by `id`), and
    allocations that are stream-ordered already. It is a call of a function, or the lines themselves.
    """

    site: ir.Site
    lines: list[str]
    owners: set[int]
    already: set[Key]
    calls: tuple[pool_setup.Function, bool] | None = None  # a function, and whether it may be called again and again
    asks: str = ""  # the function that says whether the device has a pool
    includes: Sequence[Edit] = ()  # of the header whose function it calls


class Rewriter:
    """Turns the plan for one cluster of programs into text."""

    def __init__(
        self,
        files: Mapping[str, bytes],
        config: Config,
        views: Sequence[View],
        survey: Sequence[Outcome],
        writer: Callable[[str], Writer],
        tables: Tables,
        header: pool_setup.Header | None = None,
        wrapping: Wrapping | None = None,
    ) -> None:
        self.writer = writer
        self.wrapping = wrapping
        self.header = header
        self.tables = tables
        self.files = files
        self.config = config
        self.views = views
        self.survey = survey
        self.of_group: dict[int, list[Edit]] = {}
        self.unset: list[Finding] = []
        self.names: dict[str, str] = {}  # of the functions that set up pools, by the file that gets one

    def edits(self, plan: Plan) -> list[Edit]:
        """All edits of the groups that move; `of_group` keeps those of each. `unset` gets what is found, with edits of
        its own, of pools that only memory needs which is stream-ordered already.
        """
        self.of_group = defaultdict(list)
        self.unset = []
        self.names = {}
        if self.wrapping is not None:
            self.wrapping.forget()
        moving = plan.moving()
        lines, owners = self._inserted_lines(plan)
        for group in moving:
            for key, site in group.sites():
                _, inside = lines.pop((key, False), (None, [])) if site.call.site.named else (None, [])
                self.of_group[id(group)] += self._moved(site.call, group.streams[key], inside)
        for event in (one for one in plan.events() if isinstance(one, OwnEvent)):
            declared = self._declared(event)
            for owner in {o for i, needed_by in plan.insertions.items() if i.event == event for o in needed_by}:
                self.of_group[owner] += declared
        set_ups = self._set_ups(moving)
        defined = self._defined(set_ups.values())
        for group in moving:  # in front of whatever else stands there
            paths = sorted({key.path for key, _ in group.sites()})
            self.of_group[id(group)][:0] = [edit for path in paths for edit in self._wrappers(path)]
        for (key, after), (at, texts) in sorted(lines.items(), key=lambda item: item[0]):
            data = self.files[key.path]
            set_up = None if after else set_ups.pop(key, None)
            if set_up is not None:
                texts = set_up.lines + texts
                set_up.owners.update(owners[key, after])  # who gets the call needs what it calls
            made = self._inserted(at, texts, data, after)
            for owner in owners[key, after]:
                self.of_group[owner] += made
            if set_up is not None:
                self._serve(set_up, made, defined)
        for set_up in set_ups.values():
            at = set_up.site
            self._serve(set_up, statements.before(at, set_up.lines, self.files[at.span.path]), defined)
        return list(dict.fromkeys(e for edits in self.of_group.values() for e in edits))

    def _serve(self, set_up: _SetUp, made: Sequence[Edit], defined: Mapping[str, list[Edit]]) -> None:
        """Give the edits of a set-up to the pairs that need it; without any they are a finding of their own."""
        path = set_up.site.span.path
        needs = defined[path] if set_up.calls is not None else set_up.includes
        made = [*(self._wrappers(path) if set_up.asks else ()), *made, *self.writer(path).threshold_needs(), *needs]
        for owner in set_up.owners:
            self.of_group[owner] += made
        if not set_up.owners:
            self.unset.append(self._unset(set_up, made))

    def _moved(self, call: ir.Call, stream: StreamName, in_front: Sequence[str]) -> list[Edit]:
        """The call in its stream-ordered form, behind statements `in_front` where it is only named; nothing if that is
        what stands there.
        """
        path, at = call.span.path, call.span.start
        moved, data = moved_call(call, stream), self.files[path]
        wrapper = self.wrapping.callee((moved or call).callee, path, at) if self.wrapping is not None else None
        if moved is not None:
            return self.writer(path).moved(call, stream, data, wrapper, in_front)
        start = data.rfind(call.callee.encode(), call.name_span.start, call.name_span.end)
        if wrapper is None or start < 0:
            return []
        return [Edit(path, start, start + len(call.callee), wrapper.name.encode())]

    def _wrappers(self, path: str) -> list[Edit]:
        """The definitions of the functions that a file calls in place of the runtime's."""
        return self.wrapping.edits(path) if self.wrapping is not None else []

    def _declared(self, event: OwnEvent) -> list[Edit]:
        """The data member that an object keeps an event in, behind another one."""
        data = self.files[event.declared.path]
        site = ir.Site(event.declared, _indent(data, event.declared.start), "", ";")
        return statements.after(site, [f"cudaEvent_t {event.name} = nullptr;"], data)

    def _inserted(self, at: ir.Site, lines: list[str], data: bytes, after: bool) -> list[Edit]:
        if after:
            return statements.after(at, lines, data, self.writer(at.span.path).comment)
        return statements.before(at, lines, data)

    def _inserted_lines(
        self, plan: Plan
    ) -> tuple[dict[tuple[Key, bool], tuple[ir.Site, list[str]]], dict[tuple[Key, bool], set[int]]]:
        lines: dict[tuple[Key, bool], tuple[ir.Site, list[str]]] = {}
        owners: dict[tuple[Key, bool], set[int]] = defaultdict(set)
        for insertion, needed_by in plan.insertions.items():
            at, writer = plan.anchors[insertion.anchor], self.writer(insertion.anchor.path)
            data = self.files[insertion.anchor.path]
            site = self._in_style(self._site(at.stmt, data) if isinstance(at, Beside) else at.site)
            where = insertion.anchor, insertion.after
            unit = statements.style_of(data).unit
            lines.setdefault(where, (site, []))[1].extend(_words(insertion, at, site, unit, writer))
            owners[where] |= needed_by
        for insertion, needed_by in plan.insertions.items():  # behind what stands at the same place, as in the plan
            if insertion.event is not None:
                for key, after, call in insertion.event.steps():
                    site = self._in_style(self._site(insertion.event.statements[key], self.files[key.path]))
                    site, texts = lines.setdefault((key, after), (site, []))
                    own = (insertion.event.stream,) if isinstance(insertion.event, OwnEvent) else ()
                    steps = [statements.checked(site, spelled_call(call, own))]
                    if isinstance(insertion.event, LoopEvent):
                        at, writer = plan.anchors[insertion.anchor], self.writer(key.path)
                        like = at.site if not (writer.is_cuda or isinstance(at, Beside)) else site
                        made, destroyed = writer.event(like, insertion.event.name)
                        steps = destroyed if after else [insertion.event.object] if insertion.event.cls else made
                    if steps[-1] not in texts:  # several waits share what makes an event
                        texts += steps
                    owners[key, after] |= needed_by
        return lines, owners

    # -- the release threshold -----------------------------------------------------------------------------------------

    def _set_ups(self, moving: Sequence[Group]) -> dict[Key, _SetUp]:
        """Where each program first allocates from the pool of a device: one place for each, in front of that
        statement. Only pairs that come and go need it: one that runs once gains nothing from it.
        """
        moved = {key: id(group) for group in moving if group.churn for key in group.allocations}
        found: dict[Key, _SetUp] = {}
        for view, outcome in zip(self.views, self.survey, strict=True):
            if never_runs(view.root):
                continue
            sites = {key: site for key, site in outcome.allocations.items() if key in moved}
            if view.root is view.program.main:  # else who calls it may set it
                sites |= {key: s for key, s in outcome.of_the_pool.items() if self._comes_and_goes(key, s)}
            reached = sorted((site.order, key) for key, site in sites.items())
            if not reached or self._sets_it([module.path for module in view.program.modules]):
                continue
            devices: dict[tuple[str, str], list[Key]] = {}
            for _, key in reached:
                site = sites[key]
                for device in dict.fromkeys(outcome.objects[number].device for number in sorted(site.objects)):
                    # which functions the rounds of a loop run is not known: each one sets up the pool by itself
                    by = site.function if device.startswith(OF_A_ROUND) else ""
                    devices.setdefault((device, by), []).append(key)
            for (device, _), (key, *others) in devices.items():
                if self.config.pool_threshold and self.config.is_on("pool_release_threshold", key.path):
                    for_one = len(devices) == 1 and device.isdigit()
                    anchor, set_up = self._set_up(view, sites[key].call, found, for_one)
                    if set_up is not None:
                        found[anchor] = set_up
                    elif anchor not in found:
                        continue  # nothing may stand there
                    for served in (key, *others):
                        if served in moved:
                            found[anchor].owners.add(moved[served])
                        else:
                            found[anchor].already.add(served)
        return found

    def _sets_it(self, paths: Collection[str]) -> bool:
        """Whether a program sets the threshold itself. The function that all programs may call has to be called."""
        header = self.config.pool_setup if self.header is not None else None
        return any(_THRESHOLD.search(self.files[path]) for path in paths if path != header) or (
            self.header is not None and header in paths and self.header.sets_up(paths)
        )

    def _comes_and_goes(self, key: Key, site: Site) -> bool:
        """Whether a stream-ordered allocation is run again and again, from the pool that its device has."""
        api = self.tables.lookup(site.call.callee, len(site.call.args))
        of_the_device = api is not None and "pool" not in api.roles and site.call.callee == "cudaMallocAsync"
        churns = site.in_loop or len(site.contexts) > 2
        return churns and of_the_device and key.path not in self.config.context

    def _unset(self, set_up: _SetUp, edits: Sequence[Edit]) -> Finding:
        """Memory of a pool that gives it back, as the program stands."""
        first, *others = sorted(set_up.already)
        return Finding(
            "pool_release_threshold",
            first.path,
            first.start,
            "the pool of this memory gives it back to the system at every synchronization",
            tuple(edits),
            tuple(Place(key.path, key.start, "so does the pool of this") for key in others),
            Runs.CHURN,
        )

    def _set_up(
        self, view: View, call: ir.Call, found: Mapping[Key, _SetUp], for_one: bool
    ) -> tuple[Key, _SetUp | None]:
        """The statement in front of which an allocation needs the pool to be set up, and how; None if another program
        has it there. `for_one`: the program works on one device, whichever statement makes it current.
        """
        key = key_of(call)
        function, block, once = self._where(view, key)
        every_round = False
        if function.problems or not self._can_call(function):  # a `main` that includes no header of CUDA
            function, block = next(f for f in view.program.functions() if _holds(f, key)), ()
        stmt = next((s for s in block if _contains(s, key, view.program)), None)
        if stmt is None and any(_holds(initializer, key) for initializer in view.program.initializers()):
            # no statement can stand there, and a pool gives nothing back before `main` synchronizes or frees
            stmt = next((s for s in block if _has_room(s, function)), None)
        if not for_one and stmt is not None and _sets_device(stmt, view.program):
            # the pool is that of the current device: each round sets up its own
            stmt, block, once, every_round = call, (), True, True
        elif (
            stmt is None
            or stmt.span.path in self.config.context
            or not _has_room(stmt, function)
            or (stmt is not call and _outside(stmt) is not None)  # what else the macro does may be used elsewhere too
            or self.writer(call.span.path).needs_context(call.site)
        ):
            stmt, once = call, False
        elif stmt is not call:
            stmt = self._before_the_clock(stmt, block, function)
        anchor = _anchor(stmt)
        there = [_anchor(s) for s in block] if for_one else []
        there = [other for other in (anchor, *there) if other in found]
        if there:
            return there[0], None
        data = self.files[anchor.path]
        if pool_setup.is_in_macro(data, anchor.start):
            return anchor, None
        unit = statements.style_of(data).unit
        site = self._in_style(self._site(stmt, data))
        writes_cuda = self.writer(anchor.path).is_cuda
        shared = self.header.call_in(anchor.path, anchor.start) if self.header is not None and writes_cuda else None
        if shared is not None:
            return anchor, _SetUp(site, [f"{shared.name}();"], set(), set(), includes=shared.edits)
        asks = self.wrapping.asks(anchor.path, anchor.start) if self.wrapping is not None and writes_cuda else ""
        if asks is None:
            return anchor, None  # on a device without pools it would fail
        calls = self._function(site) if writes_cuda else None
        if calls is not None:
            again = not once and not every_round
            return anchor, _SetUp(site, [f"{calls.name}();"], set(), set(), (calls, again), asks)
        lines = self.writer(anchor.path).threshold(
            site, once, unit, frozenset(function.types), self.config.pool_threshold, asks
        )
        return anchor, _SetUp(site, statements.lined_up(lines, data), set(), set(), None, asks)

    def _function(self, site: ir.Site) -> pool_setup.Function | None:
        """The function that sets up the pool, for a call at a site."""
        path = site.span.path
        around = [
            function.span.start
            for module in self._modules()
            for function in module.functions
            if module.path == path and function.span.start <= site.span.start < function.span.end
        ]
        beside = [name.encode() for other, name in self.names.items() if self._may_meet(path, other)]
        found = pool_setup.defined_in(self.files[path], min(around), [*self._texts(), *beside]) if around else None
        return found._replace(name=self.names.setdefault(path, found.name)) if found is not None else None

    def _may_meet(self, path: str, other: str) -> bool:
        """Whether two files may be in one translation unit."""
        pairs = ((path, other), (other, path))
        includes = any(os.path.basename(a).encode() in self.files[b] for a, b in pairs)
        return path != other and (includes or not path.endswith(SOURCES) or not other.endswith(SOURCES))

    def _modules(self) -> list[ir.Module]:
        return [module for view in self.views for module in view.program.modules]

    def _texts(self) -> list[bytes]:
        return [self.files[path] for path in dict.fromkeys(module.path for module in self._modules())]

    def _defined(self, set_ups: Iterable[_SetUp]) -> dict[str, list[Edit]]:
        """The definitions of the functions that are called, one for each file."""
        of_file: dict[str, list[tuple[pool_setup.Function, bool, ir.Site]]] = defaultdict(list)
        asks: dict[str, str] = {}
        for set_up in set_ups:
            if set_up.calls is not None:
                of_file[set_up.site.span.path].append((*set_up.calls, set_up.site))
                asks[set_up.site.span.path] = set_up.asks
        defined: dict[str, list[Edit]] = {}
        for path, calls in of_file.items():
            data = self.files[path]
            function, site = min(function for function, _, _ in calls), calls[0][2]
            names = {last(f.name) for module in self._modules() for f in module.functions if f.cls is None}
            names.update(self.config.check_macros)
            if not pool_setup.works_in_it(site.prefix, self._texts(), names):
                site = replace(site, prefix="", suffix=";")
            lines = self.writer(path).raised(
                replace(site, continuation=False),
                not any(again for _, again, _ in calls),
                statements.style_of(data).unit,
                self.config.pool_threshold,
                asks[path],
            )
            text = pool_setup.definition(function, statements.lined_up(lines, data), path, data)
            defined[path] = [Edit(path, function.at, function.at, text)]
        return defined

    def _before_the_clock(self, stmt: ir.Stmt, block: ir.Block, function: ir.Function) -> ir.Stmt:
        """The first of the looks at a clock right in front of a call, which would time what stands between; the call
        itself if there is none.
        """
        first = stmt
        for earlier in reversed(block[: block.index(stmt)]):
            api = self.tables.lookup(earlier.callee, len(earlier.args)) if isinstance(earlier, ir.Call) else None
            if api is not None and api.effect in (Effect.CLOCK, Effect.RECORD) and _has_room(earlier, function):
                first = earlier
            elif not isinstance(earlier, ir.Declare | ir.Assign):
                break
        return first

    def _can_call(self, function: ir.Function) -> bool:
        """Whether the file of a function can name the runtime. C allows calls of functions that nobody has declared."""
        path = function.span.path
        names = _CUDA_TYPE if path.endswith(".c") else _CUDA
        return bool(self.writer(path).threshold(ir.Site(function.span, "", "", ";"), True, "", frozenset(), 1)) and (
            not self.writer(path).is_cuda or names.search(self.files[path]) is not None
        )

    def _where(self, view: View, key: Key) -> tuple[ir.Function, ir.Block, bool]:
        """The function whose outermost block reaches the first allocation, from the root by calls that run once."""
        program, function = view.program, view.root
        once = function is program.main
        if is_client(function):
            call = next(s for s in walk(function.body) if isinstance(s, ir.Call) and _contains(s, key, program))
            function = next(f for f in program.functions() if f.span == call.span)
        while True:
            stmt = next((s for s in function.body if _contains(s, key, program)), None)
            if not isinstance(stmt, ir.Call) or key_of(stmt) == key:
                return function, function.body, once
            callees = program.resolve(stmt.callee, len(stmt.args), stmt.span.path, function.cls)
            if len(callees) != 1 or _calls_of(program, callees[0]) != 1 or callees[0].span.path in self.config.context:
                return function, function.body, once
            inner = next((s for s in callees[0].body if _contains(s, key, program)), stmt)
            if not isinstance(inner, ir.Call) and not _has_room(inner, callees[0]):
                return function, function.body, once
            function = callees[0]

    def _site(self, stmt: ir.Stmt, data: bytes) -> ir.Site:
        if isinstance(stmt, ir.Call | ir.Launch):
            return _outside(stmt) or stmt.site
        in_front = data[data.rfind(b"\n", 0, stmt.span.start) + 1 : stmt.span.start]
        if not self.writer(stmt.span.path).is_cuda and in_front.strip():  # a comprehension, inside of a statement
            inside = next((s for s in walk((stmt,)) if isinstance(s, ir.Call) and s.span.path == stmt.span.path), None)
            if inside is not None:
                return ir.Site(inside.site.span, inside.site.indent, "", ";")
        around = (s.site for s in walk((stmt,)) if isinstance(s, ir.Call) and _is_inside(stmt.span, s.site))
        if (site := next(around, None)) is not None:  # what one declarator does, in either of two ways
            return site
        return ir.Site(stmt.span, _indent(data, stmt.span.start), "", ";")

    def _in_style(self, site: ir.Site) -> ir.Site:
        """The site with a check wrapper that its own function uses; another function's may return what this one
        cannot.
        """
        data = self.files[site.span.path]
        if not self.writer(site.span.path).is_cuda:
            return site  # its writer knows the styles of the file
        if site.prefix and data.startswith(site.prefix.encode(), site.span.start):
            return site
        modules = [m for view in self.views for m in view.program.modules if m.path == site.span.path]
        around = [f for m in modules for f in m.functions if f.span.start <= site.span.start < f.span.end]
        check = statements.usual_check(around, data, site.span.start)
        if check is not None:
            return replace(site, prefix=check.prefix, suffix=check.suffix)
        in_main = any(function.name == "main" for function in around)  # it may return whatever a check returns
        styles = Counter(m.check_style for m in modules if in_main and m.check_style is not None)
        prefix, suffix = next((style for style, _ in styles.most_common() if "=" not in style[0]), ("", ";"))
        return replace(site, prefix=prefix, suffix=suffix)

    # -- the report ----------------------------------------------------------------------------------------------------

    def report(
        self,
        plan: Plan,
        sites: Mapping[tuple[str, int], ir.Call],
        faults: Sequence[Finding],
        too_large: Mapping[ir.Span, ir.Function | None],
        shared: Collection[str],
        handed_over: Callable[[str, int], HandedOver | None],
    ) -> Report:
        """What became of every site. `too_large` are the functions whose programs were not run to their end, and where
        these start; too many programs have the files that are `shared`; `handed_over` tells where the function around a
        place, or one that calls it, is given away.
        """
        findings: list[Finding] = [*faults, *self.unset]
        refused: list[Refusal] = []
        alone: list[str] = []
        decided: set[tuple[str, int]] = set()
        together = next((n for n, group in enumerate(plan.groups, 1) if id(group) in plan.bound), 0)
        for n, group in enumerate(plan.groups, 1):
            number = together if id(group) in plan.bound else n
            runs = Runs.CHURN if group.churn else Runs.ONCE
            left_alone = group.refused is not None and group.refused.name == "left_alone"
            for key, site in sorted(group.allocations.items()):
                if site.call.callee != "cudaMalloc" or key.path in self.config.context:
                    continue
                decided.add(key)
                if group.refused is not None:
                    if left_alone:
                        alone.append(group.refused.text)
                    else:
                        refused.append(self._refusal(group, key, runs))
                    continue
                findings.append(self._finding(plan, group, key, number, runs))
        for (path, start), call in sorted(sites.items()):
            if (path, start) not in decided:
                name, text = "control_flow", "no path from `main` or an exported function reaches it"
                unlock = _CALL_IT
                related: tuple[Place, ...] = ()
                if (given := handed_over(path, start)) is not None:
                    (text, unlock), related = given.words, (given.place,)
                around = [span for span in too_large if span.path == path and span.start <= start < span.end]
                if around:
                    name, text = "budget", TOO_LARGE_WORDS
                    unlock = refusals.REFUSALS[name].unlock
                    related = _places(starts_at(too_large[min(around, key=lambda span: span.start)]))
                elif path in shared:
                    name, text, related = "budget", shared_words(path), ()
                    unlock = refusals.REFUSALS[name].unlock
                refused.append(Refusal(name, path, call.span.start, text, unlock, related))
        return Report(tuple(findings), tuple(refused), (), len(sites), left_alone=tuple(alone))

    def _refusal(self, group: Group, key: Key, runs: Runs) -> Refusal:
        assert group.refused is not None
        name, text, places, clash, unlock = group.refused
        page = refusals.REFUSALS[name]
        related = _places(places)
        return Refusal(name, key.path, key.start, text, unlock or page.unlock, related, runs, order=clash is not None)

    def _finding(self, plan: Plan, group: Group, key: Key, number: int, runs: Runs) -> Finding:
        related = [
            Place(k.path, k.start, f"freed on `{self.writer(k.path).stream(group.streams[k])}`")
            for k in sorted(group.frees)
        ]
        for insertion, needed_by in plan.insertions.items():
            if id(group) in needed_by:
                related.append(Place(insertion.anchor.path, insertion.anchor.start, self._meaning(insertion)))
        related += self._on_another_stream(group)
        return Finding(
            self.writer(key.path).pairs,
            key.path,
            key.start,
            f"moves to stream `{self.writer(key.path).stream(group.streams[key])}`",
            tuple(dict.fromkeys(self.of_group.get(id(group), ()))),
            tuple(related),
            runs,
            Safety.ASSUMES if group.assumptions else Safety.PROVEN,
            tuple(sorted(group.assumptions)),
            number,
        )

    def _on_another_stream(self, group: Group) -> list[Place]:
        """Why a pair lands on the legacy stream although work on another one uses its memory."""
        sites = [site for _, site in group.sites()]
        legacy = {stream for site in sites for stream in (site.names or {}).get(DEFAULT, ())}
        others = [s for s in group.users if s.kind is not StreamKind.LEGACY]
        if set(group.streams.values()) != {DEFAULT} or {s.kind for s in legacy} != {StreamKind.LEGACY} or not others:
            return []
        operation = next(self._uses(group, others), None)
        if operation is None:
            return []
        if any(all(site.name_of([stream]) for site in sites) for stream in others):
            why = "stream `0` is in order with all that use the memory"
        else:
            in_cuda = all(self.writer(key.path).is_cuda for key, _ in group.sites())
            unlock = "; `stream` in the configuration can say one" * in_cuda
            why = f"it has no name at each allocation and free{unlock}"
        return [Place(operation.span.path, operation.span.start, f"works on another stream than `0`: {why}")]

    def _uses(self, group: Group, streams: Sequence[Stream]) -> Iterator[ir.Call | ir.Launch]:
        """The statements that use the memory of a group on one of some streams."""
        for outcome in self.survey:
            made = [site for key, site in outcome.allocations.items() if key in group.allocations]
            used = {number for site in made for number in site.objects}
            for op in outcome.operations:
                on = not op.streams.isdisjoint(streams)
                if op.stmt is not None and on and any(outcome.objects[n].used_by >> op.number & 1 for n in used):
                    yield op.stmt

    def _meaning(self, insertion: Insertion) -> str:
        names = [self.writer(insertion.anchor.path).stream(stream) for stream in insertion.streams]
        if isinstance(insertion.event, OwnEvent):
            waiter = f"`{names[0]}`" if insertion.does is Does.WAIT else "the host"
            return f"{waiter} waits for the event `{insertion.event.name}` of the object"
        if insertion.does is Does.WAIT:
            waits = f"`{names[0]}` waits for `{names[1]}`"
        elif insertion.does is Does.SYNC:
            waits = f"the host waits for `{names[0]}`"
        else:
            waits = "the host waits for the device"
        return f"{waits}, inserted {'behind' if insertion.after else 'in front of'} this"


def _indent(data: bytes, at: int) -> str:
    """The white space that the line of an offset starts with."""
    line = data[data.rfind(b"\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip())].decode("ascii", "replace")


def _has_room(stmt: ir.Stmt, function: ir.Function) -> bool:
    """Whether something may stand in front of a statement of a function: there may be no place for it in the body of a
    macro, and there is none in the initializer list of a constructor, in front of what nobody has written (the loop
    that makes the elements of a member), or in front of a function-try-block (C++17, 18 [except] 1).
    """
    span = _site_span(stmt)
    is_in = span.path == function.span.path and function.span.start <= span.start < function.span.end
    if (isinstance(stmt, ir.Try) and span.end == function.span.end) or span.start == span.end:
        return False
    return is_in and not (isinstance(stmt, ir.Call | ir.Launch) and stmt.site.blocked is not None)


def _is_inside(span: ir.Span, site: ir.Site) -> bool:
    """Whether a part of a statement is what a span says: something can only stand in front of the statement."""
    whole = site.span
    inside = whole.path == span.path and whole.start < span.start and span.end <= whole.end
    return inside and site.blocked is None


def _outside(stmt: ir.Stmt) -> ir.Site | None:
    """The statement that uses the macro which a call is written in, if something may stand in front of it."""
    use = stmt.site.use if isinstance(stmt, ir.Call | ir.Launch) else None
    if use is None or use.blocked is not None:
        return None
    is_argument = use.span.path == stmt.span.path and use.span.start <= stmt.span.start < use.span.end
    return None if is_argument else use


def _site_span(stmt: ir.Stmt) -> ir.Span:
    use = _outside(stmt)
    return stmt.span if use is None else use.span


def _anchor(stmt: ir.Stmt) -> Key:
    """The place of a statement; of one in a macro, that of the statement which uses the macro."""
    span = _site_span(stmt)
    return Key(span.path, span.start)


def _holds(function: ir.Function, key: Key) -> bool:
    return function.span.path == key.path and any(
        isinstance(s, ir.Call) and key_of(s) == key for s in walk(function.body)
    )


def _words(insertion: Insertion, at: ir.Call | Beside, site: ir.Site, unit: str, writer: Writer) -> list[str]:
    if isinstance(insertion.event, LoopEvent):
        waiter, awaited = insertion.streams
        return writer.wait_by(site, waiter, awaited, insertion.event.text)
    if insertion.event is not None:
        return [statements.checked(site, spelled_call(call, insertion.streams)) for call in insertion.calls(at)]
    if insertion.does is Does.WAIT:
        waiter, awaited = insertion.streams
        return writer.wait(site, waiter, awaited, unit)
    if insertion.does is Does.SYNC:
        return writer.synchronize(site, insertion.streams[0])
    return writer.synchronize_device(site)


def _contains(stmt: ir.Stmt, key: Key, program: Program) -> bool:
    """Whether the call at `key` runs inside a statement, through calls too."""
    return _runs(stmt, program, f"{key}", lambda call: key_of(call) == key)


def _sets_device(stmt: ir.Stmt, program: Program) -> bool:
    return _runs(stmt, program, "sets the device", lambda call: call.callee == "cudaSetDevice")


def _runs(stmt: ir.Stmt, program: Program, fact: str, holds: Callable[[ir.Call], bool]) -> bool:
    """Whether a call for which `holds` runs inside a statement, through calls too. Kept by `fact`."""
    reach = program.reaching(fact, lambda inner: isinstance(inner, ir.Call) and holds(inner))
    return any(
        holds(inner) or any(id(f) in reach for f in program.resolve(inner.callee, len(inner.args), inner.span.path))
        for inner in walk((stmt,))
        if isinstance(inner, ir.Call)
    )


def _calls_of(program: Program, function: ir.Function) -> int:
    """How many calls of a function there are; a call in a loop counts as several."""
    count = 0
    for other in program.functions():
        for stmt in walk(other.body):
            weight = 1
            if isinstance(stmt, ir.Loop):
                weight = sum(
                    1
                    for s in walk(stmt.body)
                    if isinstance(s, ir.Call) and function in program.resolve(s.callee, len(s.args), s.span.path)
                )
                count += weight
            elif isinstance(stmt, ir.Call) and function in program.resolve(stmt.callee, len(stmt.args), stmt.span.path):
                count += 1
    return count
