"""Branches: conditions taken apart as far as it tells something, `if`, `switch`."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from tree_sitter import Node

from cudafix import ir
from cudafix.frontends.cuda.lower.blocks import SKIPPED
from cudafix.frontends.cuda.lower.expressions import MAX_DEPTH
from cudafix.frontends.cuda.lower.syntax import first_named
from cudafix.frontends.cuda.lower.terms import (
    matters,
    size_of,
)
from cudafix.frontends.cuda.lower.variables import Variables
from cudafix.frontends.cuda.sema import sites
from cudafix.frontends.cuda.sema.declarators import declared
from cudafix.frontends.cuda.sema.type_texts import is_pointer
from cudafix.ir import (
    Block,
    Test,
)

_CASE = re.compile(rb"\s*case\b[^:?;{}]*:(?!:)")
_LABEL = re.compile(rb"\b(?:case|default)\b")


class _Plan:
    """A condition: a leaf with the statements before its test, or `&&`, `||`, `not` of others."""

    __slots__ = ("before", "operator", "parts", "test", "text")

    def __init__(self, operator: str, parts: tuple[_Plan, ...], before: Block, test: Test, text: str) -> None:
        self.operator, self.parts, self.before, self.test, self.text = operator, parts, before, test, text

    def calls(self) -> bool:
        return matters(self.before) or any(part.calls() for part in self.parts)

    def tells(self) -> bool:
        """Whether branching on the operands apart says more than branching on the whole."""
        if not self.operator:
            return self.test.kind != "other" or matters(self.before)
        return any(part.tells() for part in self.parts)


class Branches(Variables):
    """Lowers branches."""

    def _if(self, node: Node) -> None:
        condition = node.child_by_field_name("condition")
        then_node, else_node = node.child_by_field_name("consequence"), node.child_by_field_name("alternative")
        if condition is None:
            self.unread(ir.NOT_PARSED, node)
            return

        def run() -> None:
            nested = self.place is not None and self.place.needs_braces and _is_else(node)
            kept = self.blocked
            if nested:
                self.blocked = kept or "in the condition of an `else if`"
            value = self._opening(condition)
            if value.type == "declaration":
                self._declaration(value)
                declarator = value.child_by_field_name("declarator")
                one = declared("", declarator, self.source.text) if declarator is not None else None
                found = self.local(one.name) if one is not None else None
                kind = self.type_of(found) if found is not None else ""
                if found is not None:
                    self.converts(value, found)
                how = "nonnull" if is_pointer(kind) else "failed" if sites.STATUS_TYPE.fullmatch(kind) else "other"
                test = Test(how, found if how != "other" else None, self.condition_text(value))
                self.blocked = kept
                self._branch_on(test, then_node, else_node, node)
                return
            plan = self._plan(value)
            self.blocked = kept
            then = self.body_of(then_node)
            other = self._else_block(else_node)
            self.compose(plan, then, other, node)

        self.scoped(run, node)

    def _opening(self, condition: Node) -> Node:
        """Lower what stands in front of a condition in its parentheses; the condition itself."""
        if condition.type != "condition_clause":
            return condition
        first = condition.child_by_field_name("initializer")
        for child in first.children if first is not None else ():
            if child.type == "declaration":
                self._declaration(child)
            elif child.is_named:
                self.value(child, None, False)
        return condition.child_by_field_name("value") or condition

    def _branch_on(self, test: Test, then_node: Node | None, else_node: Node | None, node: Node) -> None:
        then = self.body_of(then_node)
        self._emit_if(test, then, self._else_block(else_node), node)

    def _else_block(self, node: Node | None) -> Block:
        if node is None:
            return ()
        if node.type == "else_clause":
            inner = [child for child in node.named_children if child.type != "comment"]
            return self.body_of(inner[-1]) if inner else ()
        return self.body_of(node)

    def _plan(self, node: Node, first: bool = True) -> _Plan:
        """A condition as a tree of tests; each leaf has the statements that run before its test."""
        inner = node
        while inner.type in ("parenthesized_expression", "condition_clause"):
            child = inner.child_by_field_name("value") or first_named(inner)
            if child is None or child.type == "compound_statement":
                break
            inner = child
        if inner.type == "unary_expression" and inner.children[0].type in ("!", "not"):
            argument = inner.child_by_field_name("argument")
            if argument is not None and _contains_logic(argument):
                plan = self._plan(argument, first)
                return _Plan("not", (plan,), (), plan.test, self.condition_text(node))
        if inner.type == "binary_expression":
            operator = inner.child_by_field_name("operator")
            left, right = inner.child_by_field_name("left"), inner.child_by_field_name("right")
            if operator is not None and left is not None and right is not None and operator.type in ("&&", "||"):
                if self.is_overloaded(operator.type):
                    return self._leaf(node)
                self.depth += 1
                one = self._plan(left, first) if self.depth < MAX_DEPTH else self._leaf(left)
                kept = self.blocked
                self.blocked = kept or f"in the second operand of `{operator.type}`"
                two = self._plan(right, False)
                self.blocked = kept
                self.depth -= 1
                return _Plan(
                    operator.type,
                    (one, two),
                    (),
                    Test("other", None, self.condition_text(node), self._asked(inner)),
                    self.condition_text(node),
                )
        return self._leaf(node)

    def _leaf(self, node: Node) -> _Plan:
        tests: list[Test] = []
        block = self.collect(lambda: tests.append(self.test(node)))
        return _Plan("", (), block, tests[0], tests[0].text)

    def compose(self, plan: _Plan, then: Block, other: Block, node: Node) -> None:
        """Emit the branches of a condition; `a || b` gets `then` twice where that tells the engine something."""
        if plan.operator == "not":
            self.compose(plan.parts[0], other, then, node)
            return
        if not plan.operator:
            self.merge(plan.before)
            self._emit_if(plan.test, then, other, node)
            return
        left, right = plan.parts
        twice = other if plan.operator == "&&" else then
        if not plan.tells():
            self._run_plan(plan, node)
            self._emit_if(plan.test, then, other, node)
            return
        if size_of(twice) > (60 if right.calls() else 8):
            self._run_plan(plan, node)
            self._emit_if(plan.test, then, other, node)
            return
        inner = self.collect(lambda: self.compose(right, then, other, node))
        if plan.operator == "&&":
            self.compose(left, inner, other, node)
        else:
            self.compose(left, then, inner, node)

    def branch_on(self, condition: Node, then: Block, other: Block, node: Node) -> None:
        """One of two blocks runs, as a condition says."""
        self.compose(self._plan(condition), then, other, node)

    def _run_plan(self, plan: _Plan, node: Node) -> None:
        """Evaluate a condition without branching on it."""
        if not plan.operator:
            self.merge(plan.before)
            return
        if plan.operator == "not":
            self._run_plan(plan.parts[0], node)
            return
        left, right = plan.parts
        self._run_plan(left, node)
        block = self.collect(lambda: self._run_plan(right, node))
        if not matters(block):
            self.merge(block)
        elif plan.operator == "&&":
            self.emit(ir.If(left.test, block, (), self.span(node)))
        else:
            self.emit(ir.If(left.test, (), block, self.span(node)))

    def _emit_if(self, test: Test, then: Block, other: Block, node: Node) -> None:
        if not matters(then) and not matters(other):
            self.merge(then)
            self.merge(other)
            return
        self.emit(ir.If(test, then, other, self.span(node)))

    def _switch(self, node: Node) -> None:
        condition, body = node.child_by_field_name("condition"), node.child_by_field_name("body")
        if condition is None or body is None:
            self.unread(ir.NOT_PARSED, node)
            return
        self.scoped(lambda: self._arms(node, condition, body), node)

    def _arms(self, node: Node, condition: Node, body: Node) -> None:
        value = self._opening(condition)
        if value.type == "declaration":
            self._declaration(value)
        else:
            self.test(value)
        if any(_has_label(child) for arm in body.children for child in _statements_of(arm)):
            self.unknown("a `case` inside of another statement", node)
            return
        arms: list[Block] = []
        has_default = False

        def run() -> None:
            nonlocal has_default
            begin: Callable[[], None] | None = None
            current: list[Node] = []
            at, labelled = body.start_byte, False

            def lower() -> None:
                if begin is not None:
                    begin()
                self.statement_list(current, at)

            def finish() -> None:
                block = self.collect(lower)
                if labelled:
                    arms.append(block)
                elif matters(block):  # only a label in there may be jumped to
                    self.unknown("a switch with statements in front of its cases", node)

            for child in body.children:
                opening = self._case_of_macro(child)
                if child.type == "case_statement" or opening is not None:
                    finish()
                    begin, at, labelled, current = opening, child.start_byte, True, []
                if child.type == "case_statement":
                    has_default = has_default or child.children[0].type == "default"
                    value = child.child_by_field_name("value")
                    current = [c for c in child.named_children if c != value]
                elif opening is None and child.type not in SKIPPED:
                    current.append(child)  # of the arm in front of it (C++17, 9.1 [stmt.label])
            finish()

        block = self.collect(lambda: self.scoped(run, node, breaks=True))
        self.merge(block)
        if any(matters(arm) for arm in arms):
            self.emit(ir.Switch(tuple(arms), has_default, self.span(node)))
        else:
            for arm in arms:
                self.merge(arm)

    def _case_of_macro(self, node: Node) -> Callable[[], None] | None:
        """What lowers a use of a macro that is an arm of its own: `#define NAME(x) case x: return #x`."""
        call = first_named(node) if node.type == "expression_statement" else None
        function, arguments = (
            (call.child_by_field_name("function"), call.child_by_field_name("arguments"))
            if call is not None and call.type == "call_expression"
            else (None, None)
        )
        macro = self.macro(self.raw(function), function) if function is not None else None
        label = _CASE.match(macro.body) if macro is not None else None
        if call is None or macro is None or label is None or _LABEL.search(macro.body, label.end()):
            return None
        bindings = self.bind(macro, [c for c in arguments.named_children if c.type != "comment"] if arguments else [])
        if bindings is None:
            return None
        rest = replace(
            macro,
            name=f"{macro.name}:",
            body=macro.body[label.end() :],
            body_start=macro.body_start + label.end(),
        )

        def lower() -> None:
            if self.expand(rest, bindings, call, want_value=False) is None:
                self.unread(f"macro `{macro.name}`", call)

        return lower


def _statements_of(arm: Node) -> list[Node]:
    """The statements that stand in a switch, behind its labels."""
    if arm.type != "case_statement":
        return [arm]
    return [one for child in arm.named_children for one in _statements_of(child)]


def _has_label(node: Node) -> bool:
    """Whether the switch around a statement may jump into it."""
    if node.type in ("switch_statement", "lambda_expression"):
        return False
    return any(child.type == "case_statement" or _has_label(child) for child in node.named_children)


def _contains_logic(node: Node) -> bool:
    while node.type == "parenthesized_expression" and (inner := first_named(node)) is not None:
        node = inner
    operator = node.child_by_field_name("operator") if node.type == "binary_expression" else None
    return operator is not None and operator.type in ("&&", "||")


def _is_else(node: Node) -> bool:
    return node.parent is not None and node.parent.type == "else_clause"
