"""One cluster of programs: surveyed, proved, repaired, rewritten, and validated.

Programs that share candidates (a header with an allocation, a library file of two programs) are decided together: a
site moves only if it is proved for every program, root and configuration that reaches it.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

from cudafix import ir
from cudafix.codemod import codemods
from cudafix.codemod import module as codemod
from cudafix.findings import Assumption, Edit, Finding, Place, Refusal, Report, Runs, Safety
from cudafix.ir.link import SOURCES, handed_over, last
from cudafix.ir.names import WORD_IN_BYTES
from cudafix.models import Tables
from cudafix.models.api import Effect
from cudafix.ordering.interpreter import check
from cudafix.ordering.interpreter.program import Key, Outcome, Overlay, key_of, lacks_stream
from cudafix.pipeline.alike import Alike, differences
from cudafix.pipeline.lockstep import lockstep, undefined, words
from cudafix.pipeline.programs import Part
from cudafix.pipeline.shared_set_up import Header
from cudafix.pipeline.tree import Tree, Variant, View
from cudafix.pipeline.views import functions_of, views_of
from cudafix.pipeline.writers import CudaWriter
from cudafix.project import build, prefilter
from cudafix.project.config import Config
from cudafix.project.failures import made_readable
from cudafix.project.files import is_in_code
from cudafix.refusals import REFUSALS
from cudafix.rewrite import guard
from cudafix.rewrite.certificates import Scenes, scenes
from cudafix.rewrite.defects import Context, completions, defects, is_of_the_pool
from cudafix.rewrite.edits import OverlapError, apply
from cudafix.rewrite.groups import Group, Refused, groups_of, only_read, settled_sites, static_refusal
from cudafix.rewrite.loops import Loops
from cudafix.rewrite.naming import DEFAULT
from cudafix.rewrite.own_events import OwnEvents
from cudafix.rewrite.pairs import in_one_function
from cudafix.rewrite.plan import Plan
from cudafix.rewrite.render import TOO_LARGE_WORDS, HandedOver, Rewriter, shared_words, starts_at
from cudafix.rewrite.repair import Repair
from cudafix.rewrite.statements import Names
from cudafix.rewrite.wrapping import Wrapping
from cudafix.rewrite.writer import Writer

TOO_LARGE = 12
"""Roots of one cluster that may take up the whole budget; so a cluster of a library ends."""
MOST_STEPS, MOST_OF_A_CLUSTER = 500_000, 1_000_000
"""Statements that may be run from one root, in all programs and all that is tried, and from all roots together: some
minutes. A run ends whatever it is given: what is not proved by then is refused as too large.
"""
MOST_FOR_A_REASON = 20_000
"""Statements that may be run for sites that stay because something that runs them is too large: what else is found may
say more of why they do.
"""
_DEFINED = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.MULTILINE)
_MANAGES = re.compile(
    rb"\bcu(?:da(?:Malloc(?:(?:FromPool)?Async)?|FreeAsync|DeviceReset|ThreadExit)"
    rb"|Mem(?:Alloc(?:(?:FromPool)?Async)?|FreeAsync)|CtxDestroy|DevicePrimaryCtxReset)(?:_\w+)?\b"
)
"""What allocates memory of a device, manages it in the order of a stream, or resets the device."""
_PASTES = re.compile(rb"\bcu\w*\s*##")
_GENERATOR_EXPRESSION, _CLEANUP, _MACRO = "generator_expression", "cleanup", "macro"
"""Problems that are refused as `generator`, and as `control_flow`: a macro that begins or ends a block, or that names
something else, and could not be written out.
"""
_PROBLEMS = {
    "generator": "is a generator",
    _GENERATOR_EXPRESSION: "makes a generator expression, which may run later, bit by bit",
    "coroutine": "is a coroutine",
    "budget": "is too large, or nested too deeply",
    "control_flow": "is left and entered again by `setjmp` and `longjmp`",
    _CLEANUP: "has the attribute `cleanup`, which calls a function where a variable ends",
    "implicit_call": "is called by Python itself",
    "finalizer": "works with memory or a stream that `__del__` gives back",
}
_FILL_A_LIST = "Make a list of it (`[...]`), or run through the generator expression where it stands."
_SAY_WHERE = "Make a compile_commands.json, which says where the build looks for headers."
_CALL_THE_CLEANUP = "Take the attribute out, and call its function where the variable ends."


class _Moved(NamedTuple):
    """The calls that manage device memory which some code may run: those that allocate and block, all that block, and
    those of programs that are stream-ordered already, or that reset the device, and so may have defects.
    """

    allocations: frozenset[Key]
    all: frozenset[Key]
    of_the_pool: frozenset[Key]


_OF_THE_DRIVER = frozenset(("cuMemAlloc", "cuMemAlloc_v2"))  # what `cudaMalloc` is in the driver API
UNKNOWN_DEFAULT = "it is not known which default stream its files are compiled with"


class Cluster:
    """The programs that share candidates: surveyed, repaired and rewritten as one."""

    def __init__(self, tree: Tree, part: Part, tables: Tables, config: Config) -> None:
        self.tree = tree
        self.programs = programs = part.programs
        self.shared = part.shared
        self.tables = tables
        self.config = config
        self.paths = list(dict.fromkeys(p for program in programs for p in program))
        # a header is compiled as the sources are that include it, and what names nothing of CUDA does not matter
        python = [p for p in self.paths if p.endswith(prefilter.SUFFIX)]
        sources = [p for p in self.paths if p.endswith(SOURCES) and re.search(rb"cuda|PER_THREAD", tree.files[p])]
        of_python = set(map(self._is_per_thread, python))  # one environment for all of them
        threads = {next(said for said in (True, None, False) if said in of_python)} if python else set()
        threads |= {self._is_per_thread(p) for p in sources or ([] if python else self.paths)}
        self.per_thread = True in threads
        self.default_streams = threads
        # a program with one source has one default stream or the other, so that what holds with both is proved
        one_source = all(len({*program} & {*sources}) == 1 for program in programs)
        self.either = threads == {None} and not python and one_source and not any(map(self._speaks, sources))
        compiled = [path for path in sources or self.paths if not self.per_thread]
        self.unbuilt = not self.config.unbuilt.isdisjoint(compiled)
        self.partly_built = not self.config.partly_built.isdisjoint(compiled)
        self.to_be_chosen = not self.config.to_be_chosen.isdisjoint(sources or self.paths)
        # of views that differ only in quiet statements from one that is surveyed, by the `id` of that: the functions in
        # which they differ, which matter only while the host does not know all that it knew
        self.alike: dict[int, list[tuple[View, frozenset[ir.Span]]]] = {}
        self.steps: Counter[ir.Span] = Counter()  # statements run so far, by root, see `MOST_STEPS`
        # what is left of how calls from a root may be followed: what one configuration is too large for, all are
        self.ways: dict[tuple[ir.Span, str], list[check.Followed]] = {}
        self.memory: dict[int, dict[object, list[Outcome]]] = {}  # what views did, by `id` and what was changed
        # the functions that a view reaches which is too large for the proof, and where that starts
        self.too_large: dict[ir.Span, ir.Function | None] = {}
        self.stay: set[Key] = set()  # what such views may allocate or free
        known = [tree.wrappers_of(program) for program in programs]
        self.wrapping = Wrapping(tree, config, known, self._start_of, self._writer)
        self.of_wrappers: dict[str, set[tuple[int, int]]] = {}  # where they are defined
        for path, spans in (item for one in known for item in one.spans.items()):
            self.of_wrappers.setdefault(path, set()).update(spans)
        self.views: list[View] = []
        self.tells = part.tells or any(one.calls for one in known) or self._names_memory()
        if self.tells and not part.tells:
            views = views_of(tree, programs)
            self.tables = tables.without(undefined(views))
            self.views = self._concerned(views)

    def _is_per_thread(self, path: str) -> bool | None:
        """Whether stream 0 is another stream in each thread: by the configuration, the file itself, or its build, which
        may leave it open.
        """
        said = self.config.default_stream_of(path)
        if said == "per-thread" or (said == "auto" and path in self.config.per_thread):
            return True
        if path.endswith(prefilter.SUFFIX):
            names_it = build.variable_line(os.path.basename(path), self.tree.files[path]) is not None
            is_open = names_it or path in self.config.perhaps_per_thread
            return None if said == "auto" and is_open else False
        said_in = [self.tree.default_streams_in(each) for each in (path, *self.tree.included(path))]
        if any(found.named for found in said_in):
            return None
        if said == "legacy":
            return False
        # nvcc includes the runtime's header in front of the text of a `.cu` file: a `#define` in it comes too late, and
        # elsewhere the order of the includes decides (CUDA programming guide, "Default Stream")
        if any(found.defined for found in said_in) or build.documents_per_thread(self.tree.files[path]):
            return None
        return None if path in self.config.perhaps_per_thread else False

    def _speaks(self, path: str) -> bool:
        """Whether a source or a header of it chooses the default stream itself, which may be for a part of it only."""
        return any(any(self.tree.default_streams_in(each)) for each in (path, *self.tree.included(path)))

    def _names_memory(self) -> bool:
        """Whether a file that is not `shared` names what `_MANAGES`, or a macro that does: without that there is
        nothing to say.
        """
        if self.config.tables or any(path.endswith(prefilter.SUFFIX) for path in self.paths):
            return True
        own = [path for path in self.paths if path not in self.shared]
        if any(is_in_code(_MANAGES, self.tree.files[path]) for path in own):
            return True
        macros = [macro for path in self.paths for macro in self.tree.macros_of(path).values()]
        naming = {macro.name for macro in macros if _MANAGES.search(macro.body) or _PASTES.search(macro.body)}
        count = -1
        while len(naming) > count:
            count = len(naming)
            naming |= {
                one.name for one in macros if not naming.isdisjoint(map(bytes.decode, WORD_IN_BYTES.findall(one.body)))
            }
        return any(not naming.isdisjoint(self.tree.names_in(path)) for path in own)

    def _concerned(self, views: list[View]) -> list[View]:
        """The views that say something of an allocation in the files that are not only read: they run one, free what
        another one allocates, or may have defects.
        """
        calls = [(view, self._may_move(view)) for view in views]
        found = [moved for _, moved in calls if not moved.of_the_pool]
        concerned = (moved.all for moved in found if any(self._is_given(key.path) for key in moved.allocations))
        allocating = frozenset[Key]().union(*concerned)
        return [view for view, moved in calls if moved.of_the_pool or not allocating.isdisjoint(moved.all)]

    def _is_given(self, path: str) -> bool:
        """Whether something is said about a file, and may be written to it: it is not only read."""
        return path not in self.config.context

    def run(
        self,
        overlay: Overlay,
        view: View,
        known: frozenset[object] | None = None,
        settled: Callable[[Outcome], bool] | None = None,
        once: bool = False,
    ) -> Outcome:
        """Raises OutOfBudget where the program is too large, or has been run too often. `once`: if it is too large for
        one way to follow calls, no other one is tried.
        """
        if self.steps[view.root.span] > MOST_STEPS or self.steps.total() > MOST_OF_A_CLUSTER:
            raise check.OutOfBudget
        ways = self.ways.setdefault((view.root.span, view.root.name), list(check.Followed))
        try:
            found = check.run(
                view.program,
                self.tables,
                overlay,
                view.root,
                per_thread=self.per_thread,
                known=known,
                settled=settled,
                asked=self.config.stream_in,
                ways=ways[:1] if once else ways,
            )
        except check.OutOfBudget as error:
            self.steps[view.root.span] += error.steps
            raise
        self.steps[view.root.span] += found.steps
        return found

    def survey(self) -> list[Outcome]:
        """One run of the original program for each view, of those that differ only in quiet statements for one. Views
        that are too large are left out and their sites refused: where one configuration is, the others from the same
        root count as too large, and after `TOO_LARGE` roots all that are left. A view is not run if all that it may
        allocate or free has been refused for what another view does with it: no further run can take such a reason
        back. For the same reason a run ends as soon as it has found one for each of them. If all of these stay anyway,
        as a view that runs them is too large, few are run (`MOST_FOR_A_REASON`). Where no site can move, whatever is
        done with it, one run that reaches it is enough.
        """
        outcomes: list[Outcome] = []
        fitting: list[View] = []
        left_out: set[ir.Span] = set()
        decided: set[Key] = set()
        spent = 0  # see `MOST_FOR_A_REASON`
        of_all = self._problem_of_all() is not None
        alike = Alike(self.tables, self.views)
        for view in self.views:
            moved = self._may_move(view)
            for_a_reason = not moved.of_the_pool and moved.all <= decided | self.stay
            if for_a_reason and (moved.all <= decided or spent > MOST_FOR_A_REASON):
                continue
            before = self.steps.total()
            if view.root.span not in left_out and len(left_out) < TOO_LARGE:
                first = alike.first(view)
                if first is None:
                    continue
                if first is not view:
                    self.alike.setdefault(id(first), []).append((view, differences(first, view)))
                    continue
                try:
                    settled = None if moved.of_the_pool else _refuses(moved.all - decided)
                    found = self.run(Overlay(), view, settled=settled, once=for_a_reason)
                    outcomes.append(found)
                    fitting.append(view)
                    groups = groups_of([found])
                    refused = [g for g in groups if of_all or static_refusal(g, [found]) is not None]
                    decided.update(key for group in refused for key, _ in group.sites())
                    decided |= settled_sites(found)
                    continue
                except check.OutOfBudget:
                    if for_a_reason:
                        continue
                    left_out.add(view.root.span)
                finally:
                    spent += for_a_reason * (self.steps.total() - before)
            self._leave_out(view)
        self.views = fitting
        return outcomes

    def _may_move(self, view: View) -> _Moved:
        """The allocations and frees that a view may run. Those of `shared` files that are stream-ordered stay as they
        are too: nothing is said of defects of their memory.
        """
        parts = [function.kept("may move", self._moved_in) for function in functions_of(view)]
        allocations, both, of_the_pool = (frozenset[Key]().union(*calls) for calls in zip(*parts, strict=True))
        return _Moved(allocations, both, frozenset(key for key in of_the_pool if key.path not in self.shared))

    def _moved_in(self, function: ir.Function) -> _Moved:
        allocations: set[Key] = set()
        both: set[Key] = set()
        of_the_pool: set[Key] = set()
        for call in function.statements:
            api = self.tables.lookup(call.callee, len(call.args)) if isinstance(call, ir.Call) else None
            if api is None:
                continue
            if api.memory == "async" or api.effect is Effect.RESET:
                of_the_pool.add(key_of(call))
            elif api.effect in (Effect.ALLOC, Effect.FREE) and api.memory == "device":
                both.add(key_of(call))
                if api.effect is Effect.ALLOC:
                    allocations.add(key_of(call))
        return _Moved(frozenset(allocations), frozenset(both), frozenset(of_the_pool))

    def _leave_out(self, view: View) -> None:
        for one in (view, *(other for other, _ in self.alike.get(id(view), ()))):
            self.stay |= self._may_move(one).all
            for function in functions_of(one):
                roots = [r for r in (self.too_large.get(function.span), one.root) if r is not None]
                self.too_large[function.span] = min(roots, key=lambda root: (root.span.path, root.span.start))

    def report(self) -> tuple[Report, Scenes]:
        """What was found, and what it takes to show it as certificates."""
        if not self.tells:
            return Report((), ()), Scenes({}, per_thread=self.per_thread)
        numbers = {}
        if self.views:
            numbers = {id(view): number for number, view in enumerate(views_of(self.tree, self.programs))}
        survey = self.survey()
        groups = groups_of(survey)
        self._refuse(groups, survey)
        if self.config.only is not None:
            for group in groups:
                if (Runs.CHURN if group.churn else Runs.ONCE) is not self.config.only:
                    group.refused = group.refused or Refused("left_alone", f"not `--only {self.config.only.value}`")
        plan, outcomes = self._plan(groups, survey)
        header = None
        if self.config.pool_setup is not None and not self.config.is_too_old:
            header = Header(self.tree, self.config.pool_setup, self.programs, self.tables)
        faults, mended = self._defects(survey)
        if self.wrapping.falls_back:  # a call of the runtime fails where there are no pools
            faults = [f if all(b"Async" not in e.text for e in f.edits) else replace(f, edits=()) for f in faults]
        completed = self._completions(survey, mended) if not self.wrapping.falls_back else []
        rewriter = self._rewriter(survey, header)
        refused = self._refuses_edits(plan, rewriter, [*faults, *completed], outcomes)
        if refused is not None and refused.name == "own_edit_failed" and plan.moves_waits():
            plan.put_waits_back()  # what goes from round to round is more than its text can show
            rewriter = self._rewriter(survey, header)
            refused = self._refuses_edits(plan, rewriter, [*faults, *completed], outcomes)
        if refused is not None:
            for group in plan.moving():
                group.refused = refused
            faults, completed = [replace(f, edits=()) for f in faults], []
            rewriter.unset = []
        moving = {(k.path, k.start) for g in plan.moving() for k, site in g.sites() if lacks_stream(site.call)}
        faults = [f for f in faults if (f.path, f.offset) not in moving]  # mended with the pair
        faults += completed
        report = rewriter.report(plan, self._sites(), faults, self.too_large, self.shared, self._handed_over)
        report = replace(report, findings=self._resting(report.findings, plan, survey))
        report = self._with_driver(self._with_lost(report))
        report = replace(report, in_one_function=in_one_function(self._functions(), survey))
        surveyed = [numbers[id(view)] for view in self.views]
        return report, scenes(report, plan, survey, surveyed, mended, self.tables, per_thread=self.per_thread)

    def _refuses_edits(
        self, plan: Plan, rewriter: Rewriter, others: Sequence[Finding], outcomes: Sequence[Outcome]
    ) -> Refused | None:
        """Why the edits of a plan, with those of other findings, are not to be written; None where they are proved."""
        edits = [*rewriter.edits(plan), *(e for f in others for e in f.edits)]
        if rewriter.unset and not self._go_together(edits, rewriter.unset, outcomes, plan.overlay()):
            rewriter.unset = []  # what is slow as it stands keeps no pair from moving
        if closed := sorted({edit.path for edit in edits if not self._is_given(edit.path)}):
            text = f"`{closed[0]}` would have to change with it and was not given"
            if shared := next((path for path in closed if path in self.shared), None):
                return Refused("budget", shared_words(shared))
            return Refused("site_not_editable", text, unlock=f"Add `{closed[0]}` to the paths.")
        if edits and (reason := self._validate(edits, outcomes, plan.overlay())) is not None:
            return Refused("own_edit_failed", f"the rewritten text could not be proved again: {reason}")
        if edits and self.either and not self._holds_per_thread(edits, plan):
            return Refused("mixed_default_streams", UNKNOWN_DEFAULT)
        return None

    def _with_lost(self, report: Report) -> Report:
        """A report with the allocations that no function has (`Module.lost`): only a candidate has any."""
        known = {(f.path, f.offset) for f in report.findings} | {(r.path, r.offset) for r in report.refusals}
        lost = {
            (path, offset): name
            for path in filter(self._is_given, self.paths)
            if self.tree.is_candidate(path)
            for variant in self._variants(path)
            for offset, name in variant.module.lost
            if (path, offset) not in known
        }
        texts = {name: f"the code around it {_PROBLEMS.get(name, 'cannot be read')}" for name in lost.values()}
        refusals = [
            Refusal(name, path, offset, texts[name], REFUSALS[name].unlock)
            for (path, offset), name in sorted(lost.items())
        ]
        return replace(report, refusals=(*report.refusals, *refusals), sites=report.sites + len(refusals))

    def _with_driver(self, report: Report) -> Report:
        """A report with the allocations of C++ by the driver API, which are left alone."""
        calls = {
            (stmt.span.path, stmt.span.start): stmt.callee
            for function in self._functions()
            for stmt in function.statements
            if isinstance(stmt, ir.Call) and stmt.receiver is None and stmt.callee in _OF_THE_DRIVER
            if self._is_given(stmt.span.path) and not stmt.span.path.endswith(prefilter.SUFFIX)
        }
        own = {last(function.name) for function in self._functions()}
        page = REFUSALS["driver_memory"]
        refusals = [
            Refusal("driver_memory", path, offset, f"`{name}` is a call of the driver API", page.unlock)
            for (path, offset), name in sorted(calls.items())
            if name not in own
        ]
        return replace(report, refusals=(*report.refusals, *refusals), sites=report.sites + len(refusals))

    def _resting(self, findings: Sequence[Finding], plan: Plan, survey: Sequence[Outcome]) -> tuple[Finding, ...]:
        """The findings, with what holds unless something is said against it: nvcc's default stream, where a proof uses
        that and no build is found, or that nobody chooses another one on the command line of a build; and what checks
        do of headers that are not in the tree. Where a build includes what is not there, that may say something against
        it: an assumption like any other.
        """
        used = any(outcome.default_stream for outcome in survey) or any(
            DEFAULT in group.streams.values() for group in plan.moving()
        )
        if used and self.partly_built:
            findings = [
                replace(
                    f,
                    safety=Safety.ASSUMES,
                    assumptions=(*f.assumptions, Assumption("legacy_default_stream", f"`{f.path}`")),
                )
                if f.edits
                else f
                for f in findings
            ]
        streams = ["legacy_default_stream"] * self.unbuilt or ["built_as_written"] * self.to_be_chosen
        streams = streams if used and not self.partly_built else []
        checks = sorted({name for view in self.views for module in view.program.modules for name in module.checks})
        evaluating = tuple(Assumption("evaluates_its_argument", f"`{name}`") for name in checks)
        return tuple(
            replace(f, defaults=(*(Assumption(name, f"`{f.path}`") for name in streams), *evaluating)) if f.edits else f
            for f in findings
        )

    def _plan(self, groups: list[Group], survey: list[Outcome]) -> tuple[Plan, list[Outcome]]:
        """The plan, and the outcomes of the original programs that it concerns."""
        while True:
            relevant = self._relevant(groups, survey)
            outcomes = [o for _, o in relevant]
            try:
                programs = [view.program for view, _ in relevant]
                events = OwnEvents(programs, self.tables)
                loops = Loops(programs, self.tree.files, self._names, self.tables)
                run, unclear = _Memory(self, relevant, loops).run, self._unclear()
                return Repair(run, outcomes, groups, events, unclear, self.config.context, loops).search(), outcomes
            except _TooLarge as found:  # the rewritten program takes more steps than the original
                for view in (view for view, _ in relevant if view.root.span == found.view.root.span):
                    self._leave_out(view)
                for group in groups:
                    group.refused = group.refused or self._too_large_at(group)

    def _defects(self, survey: list[Outcome]) -> tuple[list[Finding], Overlay]:
        faulty = [(v, o) for v, o in zip(self.views, survey, strict=True) if o.violations]
        if not faulty:
            return [], Overlay()
        found = {
            name: (module.DEFECTS, module.propose)
            for name, declared in codemods().items()
            if declared.finds_defects
            and hasattr(module := codemod(name), "DEFECTS")
            and not self.config.is_off_everywhere(name)
        }
        outcomes = [o for _, o in faulty]
        memory = _Memory(self, faulty)

        def run(overlay: Overlay) -> list[Outcome]:
            try:
                return memory.run(overlay)
            except _TooLarge:
                return outcomes  # as if nothing were mended

        return defects(
            outcomes,
            run,
            Context(self.tree.files, self.tables, outcomes, self._writer, self._unclear(), self.config.context),
            found,
        )

    def _completions(self, survey: list[Outcome], mended: Overlay) -> list[Finding]:
        """What is in order, and only half migrated."""
        freeing = [
            (v, o)
            for v, o in zip(self.views, survey, strict=True)
            if any(is_of_the_pool(o, site) for site in o.frees.values())
        ]
        if not freeing or len(self.default_streams) > 1 or None in self.default_streams:
            return []
        found = {
            name: module.completes
            for name, declared in codemods().items()
            if hasattr(module := codemod(name), "completes") and not self.config.is_off_everywhere(name)
        }
        outcomes = [o for _, o in freeing]
        memory = _Memory(self, freeing)
        context = Context(self.tree.files, self.tables, outcomes, self._writer, self._unclear(), self.config.context)
        try:
            return completions(outcomes, memory.run, context, found, mended)
        except _TooLarge:
            return []

    def _rewriter(self, survey: list[Outcome], header: Header | None) -> Rewriter:
        return Rewriter(
            self.tree.files, self.config, self.views, survey, self._writer, self.tables, header, self.wrapping
        )

    def _writer(self, path: str) -> Writer:
        """The words of statements in a file, with the names that are free in it."""
        writer = self.tree.writer(path)
        return CudaWriter(self._names(path)) if writer.is_cuda else writer

    def _names(self, path: str) -> Names:
        """The names that are free in a file."""
        programs = [[module.path for module in view.program.modules] for view in self.views]
        beside = {one for paths in programs if path in paths for one in paths if not one.endswith(prefilter.SUFFIX)}
        return Names(self._macros, any(map(self.tree.lacks_headers, sorted(beside))))

    @cached_property
    def _macros(self) -> frozenset[str]:
        """The macros that the files of the programs define, and the builds: no variable can have the name of one."""
        paths = dict.fromkeys(module.path for view in self.views for module in view.program.modules)
        found = (name for path in paths for name in _DEFINED.findall(self.tree.files[path]))
        built = (name for _, names in self.config.constants for name in names)
        return frozenset(name.decode("utf-8", "replace") for name in found).union(built)

    def _unclear(self) -> list[ir.Span]:
        """The functions that could not be read as a whole."""
        return [function.span for function in self._functions() if function.problems]

    def _relevant(self, groups: list[Group], survey: list[Outcome]) -> list[tuple[View, Outcome]]:
        """The views that reach a site which may move."""
        keys = {key for group in groups if group.refused is None for key, _ in group.sites()}
        return [
            (view, outcome)
            for view, outcome in zip(self.views, survey, strict=True)
            if not keys.isdisjoint(outcome.allocations) or not keys.isdisjoint(outcome.frees)
        ]

    def _refuse(self, groups: list[Group], survey: list[Outcome]) -> None:
        for group in groups:
            group.refused = (
                self._problem_at(group)
                or static_refusal(group, survey)
                or self.wrapping.refused(group)
                or self._too_large_at(group)
                or self._only_read(group)
            )

    def _only_read(self, group: Group) -> Refused | None:
        """What would have to change in a file that is only read, or stays as it is."""
        for key, site in sorted(group.sites()):
            if key.path in self.shared:
                return Refused("budget", shared_words(key.path), ((site.call.span, f"`{site.call.callee}`"),))
            if not self._is_given(key.path):
                return only_read(key.path, site.call.span, f"`{site.call.callee}`")
        return None

    def _too_large_at(self, group: Group) -> Refused | None:
        for key, _ in group.sites():
            for span, root in self.too_large.items():
                if span.path == key.path and span.start <= key.start < span.end:
                    return Refused("budget", TOO_LARGE_WORDS, starts_at(root))
            if key in self.stay:
                return Refused("budget", TOO_LARGE_WORDS)
        return None

    def _problem_at(self, group: Group) -> Refused | None:
        """A function that was not understood, or a name that the program gives another meaning."""
        if self.config.is_too_old and (refused := self._too_old(group)) is not None:
            return refused
        if (refused := self._problem_of_all()) is not None:
            return refused
        for key, _ in group.sites():
            for variant in self._variants(key.path):
                for function in variant.module.functions:
                    if function.problems and function.span.start <= key.start < function.span.end:
                        name, offset = function.problems[0]
                        span = ir.Span(key.path, offset, offset + 1)
                        inside = function.span.start <= offset < function.span.end
                        whole = "is not understood as a whole"
                        text = _PROBLEMS.get(name, whole if inside else f"stands in text that {whole}")
                        unlock = ""
                        if name == "parse_error" and key.path.endswith(prefilter.SUFFIX):
                            unlock = made_readable(self.tree.files[key.path])
                            return Refused(name, "the file cannot be parsed", ((span, "here"),), unlock=unlock)
                        if name == _GENERATOR_EXPRESSION:
                            name, unlock = "generator", _FILL_A_LIST
                        if name == _MACRO:
                            word = WORD_IN_BYTES.match(self.tree.files[key.path], offset)
                            name, text = (
                                "control_flow",
                                f"{text}: macro `{word[0].decode() if word is not None else ''}`",
                            )
                        if name == _CLEANUP:
                            name, unlock = "control_flow", _CALL_THE_CLEANUP
                        return Refused(name, f"`{last(function.name)}` {text}", ((span, "here"),), unlock=unlock)
            for name in ("cudaMalloc", "cudaFree"):
                for path in (key.path, *self.tree.included(key.path)):
                    if name in self.tree.macros_of(path):
                        return Refused("renaming_header", f"`{path}` gives `{name}` another meaning")
            for function in self._functions():
                if last(function.name) in ("cudaMallocAsync", "cudaFreeAsync") and function.cls is None:
                    name, span = last(function.name), ir.Span(*function.span[:2], function.span.start + 1)
                    text = f"the program has a `{name}` of its own, which may be called instead of that of CUDA"
                    return Refused(
                        "renaming_header", text, ((span, "here"),), unlock=f"Give that `{name}` another name."
                    )
            for program in (p for p in self.programs if key.path in p):
                for macro in self.tree.defined_around(key.path, program):
                    if macro.name in ("cudaMalloc", "cudaFree"):
                        return Refused("renaming_header", f"`{macro.path}` gives `{macro.name}` another meaning")
        return None

    def _problem_of_all(self) -> Refused | None:
        """Why no site can move, whatever is done with it."""
        if None in self.default_streams and not self.either:
            return Refused("mixed_default_streams", UNKNOWN_DEFAULT)
        if len(self.default_streams) > 1:
            return Refused("mixed_default_streams", "the files of the program have different default streams")
        for one in self.config.replaced:
            if one.path in self.paths:
                text = f"`{one.header}` may be the `{one.included}` of `{one.path}`, and has a `{one.name}` of its own"
                return Refused("renaming_header", text, unlock=_SAY_WHERE)
        return None

    def _too_old(self, group: Group) -> Refused | None:
        """Why a group cannot move where the code is also built with a CUDA that lacks the asynchronous calls."""
        assert self.config.cuda is not None
        version = ".".join(map(str, self.config.cuda))
        if not self.config.guard:
            return Refused("old_cuda", f"the code is built with CUDA {version} too, which has no `cudaMallocAsync`")
        for key, site in group.sites():
            span = site.call.span
            if key.path.endswith(prefilter.SUFFIX) or guard.is_in_directive(self.tree.files[key.path], key.start):
                text = f"no version check for CUDA {version} can stand around it"
                return Refused("old_cuda", text, ((span, "here"),))
        return None

    def _sites(self) -> dict[tuple[str, int], ir.Call]:
        """Every host call of `cudaMalloc` in a file that is not only read, reached or not."""
        found: dict[tuple[str, int], ir.Call] = {}
        for function in self._functions():
            for stmt in function.statements:
                own = isinstance(stmt, ir.Call) and stmt.receiver is not None  # `pool.cudaMalloc(n)` is the program's
                if (
                    isinstance(stmt, ir.Call)
                    and stmt.callee == "cudaMalloc"
                    and not own
                    and self._is_given(stmt.span.path)
                ):
                    found[stmt.span.path, stmt.span.start] = stmt
        return found

    def _functions(self) -> Iterator[ir.Function]:
        """The host functions of the files that may allocate, in every configuration."""
        for path in self.paths:
            candidate = self.tree.is_candidate(path)
            for variant in self._variants(path):
                if candidate or variant.lowered:
                    yield from (f for f in variant.module.functions if not self._is_a_wrapper(f.span))

    def _start_of(self, path: str, at: int) -> int | None:
        """Where the outermost function begins that holds a place; None if none does."""
        around = (f.span.start for f in self._functions() if f.span.path == path and f.span.start <= at < f.span.end)
        return min(around, default=None)

    def _is_a_wrapper(self, span: ir.Span) -> bool:
        """Whether a function stands for one of the runtime, or tells such a one what to do."""
        return any(start <= span.start < end for start, end in self.of_wrappers.get(span.path, ()))

    def _handed_over(self, path: str, at: int) -> HandedOver | None:
        """Where the function around a place, or one that calls it, is given away as a value, or named in text that is
        not understood.
        """
        functions = list(self._functions())
        around = {last(f.name) for f in functions if f.span.path == path and f.span.start <= at < f.span.end}
        asked: set[str] = set()
        while around - asked:
            asked |= around
            for function in functions:
                for stmt in function.statements:
                    if any(last(name) in around for name in handed_over(stmt)):
                        return self._handing(stmt)
            around = {
                last(function.name)
                for function in functions
                if any(isinstance(stmt, ir.Call) and last(stmt.callee) in around for stmt in function.statements)
            }
        return None

    def _handing(self, stmt: ir.Stmt) -> HandedOver:
        if isinstance(stmt, ir.Unknown) and stmt.why != ir.THROUGH_POINTER:
            return HandedOver(Place(stmt.span.path, stmt.span.start, "the function is named here"), why=stmt.why)
        place = Place(stmt.span.path, stmt.span.start, "the function is handed over here")
        row = self.tables.lookup(stmt.callee, len(stmt.args)) if isinstance(stmt, ir.Call) else None
        if isinstance(stmt, ir.Call) and row is not None and "host thread" in (row.why or ""):
            return HandedOver(place, thread=stmt.callee)
        return HandedOver(place)

    def _variants(self, path: str) -> Iterator[Variant]:
        """A file in each of its configurations, in each program that has it."""
        found = (self.tree.variants_of(path, program) for program in self.programs if path in program)
        yield from {id(variant): variant for variants in found for variant in variants}.values()

    def _go_together(
        self, edits: Sequence[Edit], findings: Sequence[Finding], survey: Sequence[Outcome], proved: Overlay
    ) -> bool:
        """Whether some findings can be mended beside what else is written."""
        try:
            return self._validate([*edits, *(e for f in findings for e in f.edits)], survey, proved) is None
        except OverlapError:
            return False

    def _validate(self, edits: Sequence[Edit], survey: Sequence[Outcome], proved: Overlay) -> str | None:
        """Parse, lower and prove the text that would be written. None if it is proved, else what is wrong.

        Where the text turns out to say what is `proved` already, it is not run again.
        """
        known = {(v.kind, v.later.span) for outcome in survey for v in outcome.violations}
        for violation in lockstep(
            self.tree, self._rewritten(edits), self.programs, self.tables, self.per_thread, proved
        ):
            if isinstance(violation, str):
                return violation
            if not violation.is_assumed and (violation.kind, violation.later.span) not in known:
                return f"{violation.words}: {violation.later.text}"
        return None

    def _holds_per_thread(self, edits: Sequence[Edit], plan: Plan) -> bool:
        """Whether what is proved for the legacy default stream holds for those of the threads, and assumes no more."""
        assumed = set[Assumption]().union(*(group.assumptions for group in plan.moving()))
        found = lockstep(self.tree, self._rewritten(edits), self.programs, self.tables, True)
        return all(not isinstance(v, str) and v.earlier is not None and v.earlier.assumption in assumed for v in found)

    def _rewritten(self, edits: Sequence[Edit]) -> Tree:
        changed = {p: [e for e in edits if e.path == p] for p in {e.path for e in edits}}
        files = {p: apply(data, changed[p]) if p in changed else data for p, data in self.tree.files.items()}
        return self.tree.rewritten(files)


def _refuses(sites: frozenset[Key]) -> Callable[[Outcome], bool]:
    """Whether a run has found what refuses all of these sites, whatever else it finds."""

    def settled(outcome: Outcome) -> bool:
        return sites <= settled_sites(outcome)

    return settled


class _TooLarge(Exception):
    """A view that is too large for the proof once it is rewritten."""

    def __init__(self, view: View) -> None:
        self.view = view


class _Memory:
    """Runs views again only where the overlay changed something that they reach."""

    def __init__(self, cluster: Cluster, views: Sequence[tuple[View, Outcome]], loops: Loops | None = None) -> None:
        self.cluster = cluster
        self.views = views
        self.called: AbstractSet[Key] = loops.called if loops is not None else frozenset()
        self.reached = [_anchors(outcome, loops) for _, outcome in views]
        self.done = [cluster.memory.setdefault(id(view), {}) for view, _ in views]

    def run(self, overlay: Overlay) -> list[Outcome]:
        outcomes: list[Outcome] = []
        for (view, original), reached, done in zip(self.views, self.reached, self.done, strict=True):
            reached = reached | self.called if self.called else reached
            seen = (
                frozenset((k, c.args) for k, c in overlay.replaced.items() if k in reached),
                frozenset((k, words(calls)) for k, calls in overlay.before.items() if k in reached),
                frozenset((k, words(calls)) for k, calls in overlay.after.items() if k in reached),
                frozenset(overlay.removed & reached),
                overlay.apart,
                overlay.mends,
            )
            if seen not in done:
                known = frozenset((v.kind, v.later.span) for v in original.violations)
                try:
                    done[seen] = list(self._run(overlay, view, known))
                except check.OutOfBudget:
                    raise _TooLarge(view) from None
            outcomes += done[seen]
        return outcomes

    def _run(self, overlay: Overlay, view: View, known: frozenset[object]) -> Iterator[Outcome]:
        first = self.cluster.run(overlay, view, known)
        yield first
        for other, differ in self.cluster.alike.get(id(view), ()):
            if not differ.isdisjoint(first.uncalm):
                yield self.cluster.run(overlay, other, known)


def _anchors(outcome: Outcome, loops: Loops | None) -> set[Key]:
    """The statements that an overlay may change or stand next to, as far as a view runs them."""
    found = {
        *(key_of(v.later.stmt) for v in outcome.violations if v.later.stmt is not None),
        *outcome.allocations,
        *outcome.frees,
        *outcome.resets,
        *(key_of(op.stmt) for op in outcome.operations if op.stmt is not None),
    }
    found |= {key_of(call) for calls in outcome.destroys.values() for call in calls}
    return found.union(*map(loops.every, found)) if loops is not None else found
