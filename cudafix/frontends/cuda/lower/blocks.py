"""Blocks and statements: scopes with their destructors, directives, and where text may go around a statement."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping
from typing import ClassVar

from tree_sitter import Node

from cudafix import ir
from cudafix.frontends.cuda.lower.calls import Calls
from cudafix.frontends.cuda.lower.context import File, Scope, Source
from cudafix.frontends.cuda.lower.expressions import MAX_DEPTH
from cudafix.frontends.cuda.sema import sites
from cudafix.frontends.cuda.sema.declarations import Class
from cudafix.ir import (
    Block,
    Span,
)

SKIPPED = frozenset(
    (
        "comment ; { } static_assert_declaration struct_specifier "
        "class_specifier union_specifier enum_specifier preproc_call preproc_include preproc_def "
        "attribute_declaration access_specifier template_declaration empty_declaration"
    ).split()
)


class Blocks(Calls):
    """Lowers blocks. What each kind of statement becomes is in `handlers`."""

    handlers: ClassVar[Mapping[str, Callable[..., None]]] = {}

    end = 0  # where the function ends

    def __init__(self, file: File, source: Source, name: str, cls: str | None, namespace: str, text: bytes) -> None:
        super().__init__(file, source, name, cls, namespace, text)
        self.ranged: list[tuple[ir.Loop, frozenset[str], Block]] = []  # canonical loops, their bounds and their steps

    def statement_list(self, nodes: Iterable[Node], start: int) -> None:
        between = self.file.between if self.source.shift == 0 else ()
        previous = start
        for node in nodes:
            if between and (node.type == "}" or node.type not in SKIPPED):
                self._between(previous, node)
                previous = node.end_byte
            if node.type not in SKIPPED:
                self.statement(node)

    def _between(self, start: int, node: Node) -> None:
        """The directives before a statement. `#pragma omp parallel`: several host threads run it, up to the call's
        `close`. `#include`: statements of another file, which may use all that is in scope.
        """
        between = self.file.between
        at = bisect_left(between, (start, ""))
        while at < len(between) and between[at][0] < node.start_byte:
            offset, text = between[at]
            if text == "#include":
                self.unwritten.add("")  # any operator or method may be called in there
                named = {name: None for scope in self.scopes for name in scope.names.values()}
                line = self.file.original[offset:].partition(b"\n")[0].decode("utf-8", "replace")
                path = tuple(re.findall(r'[<"]([^>"]+)[>"]', line)[:1])
                why = ir.INCLUDED + (f"`{path[0]}`" if path else "a file that is included in a function")
                self.emit(ir.Unknown(why, self.span(node), tuple(map(ir.Var, named)), None, path))
            words = text.replace("#", " ").replace("pragma", " ", 1).split()
            if words[:1] == ["omp"] and any(
                word.startswith(("parallel", "sections", "task", "target", "teams")) for word in words
            ):
                name = " ".join(word for word in words[:2])
                span = Span(self.source.path, offset, offset)
                site = ir.Site(span, "", "", ";", blocked="a pragma")
                self.emit(ir.Call(f"#pragma {name}", (), span, span, node.end_byte, site))
            at += 1

    def scoped(
        self,
        run: Callable[[], None],
        end: Node,
        breaks: bool = False,
        continues: bool = False,
        close: int | None = None,
        catches: bool = False,
    ) -> None:
        """Run in a new scope; at its end the destructors of its locals run."""
        self.scopes.append(Scope(breaks=breaks, continues=continues, catches=catches))
        try:
            run()
            self._destroy(self.scopes[-1:], end, close)
        finally:
            self.scopes.pop()

    def may_declare(self, node: Node, name: str) -> None:
        """A statement that is a macro of a header that is not seen: it may declare an object, which ends with the
        scope, or give one the block behind it.
        """
        if self.scopes:
            made = Class(name, methods={f"~{name}"}, unseen=True)
            self.scopes[-1].destroyed.append((self.temporary(name), made, ""))

    def _destroy(
        self, scopes: Iterable[Scope], at: Node, close: int | None = None, given: ir.Expr | None = None
    ) -> None:
        """Call the destructors of these scopes. Whether that of the local object `given`, which a function returns,
        runs is left to the compiler, which may make it where it is returned to (C++17, 15.8.3 [class.copy.elision]).
        """
        made = 0
        for scope in scopes:
            for variable, cls, count in reversed(scope.destroyed):
                if self.out and isinstance(self.out[-1], (ir.Return, ir.Break, ir.Continue, ir.Goto)):
                    return
                if isinstance(variable, ir.Var) and variable.name in self.storage:
                    # its memory is given back, and the next one to use that memory writes there
                    place = ir.Index(variable, ir.Opaque(()))
                    self.emit(ir.HostAccess((), (place,), self.span(at)))
                    continue
                if cls is None:
                    continue
                # each call has an offset of its own, backwards from the closing brace
                start = close + made if close is not None else max(self.span(at).end - 1 - made, 0)
                made += 1
                span = Span(self.source.path, start, start)
                site = ir.Site(span, "", "", ";", blocked="a destructor at the end of a scope")
                callee = f"{cls.name}::{cls.destructor}"
                index = self.temporary("size_t") if count else None
                receiver = ir.Index(variable, index) if index is not None else variable
                call = ir.Call(callee, (), span, span, span.end, site, (), receiver)
                if variable == given:
                    test = ir.Test("other", None, f"not made where it is returned to@{start}")
                    self.emit(ir.If(test, (call,), (), span))
                elif variable in scope.owners:
                    test = ir.Test("held", scope.owners[variable], "it holds something")
                    self.emit(ir.If(test, (call,), (), span))
                else:
                    bounds = (ir.Field(variable, ir.SIZE),) if "{}" in count else ()
                    loop = ir.Loop((call,), span, index=index, range=count, bounds=bounds)
                    self.emit(call if index is None else loop)

    def body_of(self, node: Node | None, breaks: bool = False, continues: bool = False, catches: bool = False) -> Block:
        """The block of a branch or loop body, which may be one statement without braces."""
        if node is None:
            return ()

        def run() -> None:
            if node.type == "compound_statement":
                self.statement_list(node.children, node.start_byte)
            else:
                self.statement(node, braceless=True)

        self.branches += 1
        try:
            return self.collect(lambda: self.scoped(run, node, breaks, continues, catches=catches))
        finally:
            self.branches -= 1

    def statement(self, node: Node, braceless: bool = False) -> None:
        self.depth += 1
        kept = self.place
        try:
            if self.depth > MAX_DEPTH:
                self.unknown("nested too deeply", node)
                return
            method = self.handlers.get(node.type)
            if method is None:
                if node.type in SKIPPED:
                    return
                if not node.type.endswith(("expression", "identifier", "literal")):
                    if node.type == "ERROR":
                        self.unread(ir.NOT_PARSED, node)
                    else:
                        self.unknown(f"`{node.type}`", node)
                    return
                method = self.handlers["expression_statement"]
            self._at(node, braceless)
            ending = len(self.ending)
            method(self, node)
            self.end_moves(node)
            self.end_temporaries(ending)
        finally:
            self.place = kept
            self.depth -= 1

    def _at(self, node: Node, braceless: bool) -> None:
        span = self.span(node)
        original = self.file.original if span.path == self.file.path else self.source.text
        at = span.start if span.path == self.file.path else node.start_byte
        # a semicolon that is only in the masked text is no part of the statement
        written = original[at : at + max(0, span.end - span.start)]
        span = Span(span.path, span.start, span.end - len(written) + len(written.rstrip()))
        alone = self.macro_body is not None and (braceless or node.parent == self.macro_body)
        indent = sites.line_indent(original, at)
        self.place = sites.Place(node, span, indent, braceless, alone, continuation=self.continuation)
