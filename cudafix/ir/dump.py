"""A readable text of the IR: one statement a line, blocks indented. For golden tests, and to see what is proved."""

from __future__ import annotations

from collections.abc import Iterator

from cudafix import ir


def expression(expr: ir.Expr | None) -> str:
    """An expression in C-like text; `…` stands for a computed value, with what it was computed from."""
    match expr:
        case None:
            return "-"
        case ir.Var(name):
            return name
        case ir.Field(ir.Deref(base), name):
            return f"{expression(base)}->{name}"
        case ir.Field(base, name):
            return f"{expression(base)}.{name}"
        case ir.Index(base, index):
            return f"{expression(base)}[{expression(index)}]"
        case ir.Deref(base):
            return f"*{expression(base)}"
        case ir.Addr(base):
            return f"&{expression(base)}"
        case ir.Offset(base):
            return f"{expression(base)}+…"
        case ir.Const(text):
            return text
        case ir.Choice(options):
            return "{" + " | ".join(map(expression, options)) + "}"
        case ir.Opaque(parts):
            return "…(" + ", ".join(map(expression, parts)) + ")" if parts else "…"
        case ir.FuncRef(name):
            return f"&{name}()"


def _list(exprs: tuple[ir.Expr, ...]) -> str:
    return ", ".join(map(expression, exprs))


def _test(test: ir.Test) -> str:
    return f"{test.kind} {expression(test.place)}" if test.place is not None else f"`{test.text}`"


def _site(site: ir.Site) -> str:
    marks = [f"{site.prefix}…{site.suffix}"] if site.prefix or site.suffix != ";" else []
    marks += ["braces"] if site.needs_braces else []
    marks += ["do"] if site.needs_do else []
    marks += ["continuation"] if site.continuation else []
    marks += [f"fixed: {site.fixed}"] if site.fixed else [f"blocked: {site.blocked}"] if site.blocked else []
    return f"  [{'; '.join(marks)}]" if marks else ""


def _statement(statement: ir.Stmt) -> Iterator[tuple[int, str]]:
    match statement:
        case ir.Call():
            result = f"{expression(statement.result)} = " if statement.result is not None else ""
            receiver = f"{expression(statement.receiver)}." if statement.receiver is not None else ""
            template = f"<{statement.template_args}>" if statement.template_args else ""
            checked = " checked" if statement.look is ir.Look.CHECKED else ""
            yield (
                0,
                f"{result}{receiver}{statement.callee}{template}({_list(statement.args)}){checked}{_site(statement.site)}",
            )
        case ir.Launch():
            stream = f" on {expression(statement.stream)}" if statement.stream is not None else ""
            kernel = statement.kernel if statement.pointer is None else f"({expression(statement.pointer)})"
            yield 0, f"launch {kernel}({_list(statement.args)}){stream}{_site(statement.site)}"
        case ir.Assign(target, value):
            yield 0, f"{expression(target)} = {expression(value)}"
        case ir.Declare(var, kind, array):
            yield 0, f"declare {var.name}: {kind}{' array' if array else ''}"
        case ir.HostAccess(reads, writes):
            parts = [f"read {_list(reads)}"] if reads else []
            parts += [f"write {_list(writes)}"] if writes else []
            yield 0, "host " + "; ".join(parts)
        case ir.If(test, then, other):
            yield 0, f"if {_test(test)}"
            yield from _indented(then)
            if other:
                yield 0, "else"
                yield from _indented(other)
        case ir.Loop():
            words = ["loop"]
            if statement.index is not None:
                bounds = statement.range or ""
                bounds = bounds.format(*map(expression, statement.bounds)) if statement.bounds else bounds
                words.append(f"{statement.index.name} in {bounds}")
            words += ["at least once"] if statement.at_least_once else []
            words += ["forever"] if statement.forever else []
            yield 0, " ".join(words)
            if statement.condition:
                yield 1, "while"
                yield from ((depth + 1, text) for depth, text in _indented(statement.condition))
            yield from _indented(statement.body)
            if statement.step:
                yield 1, "step"
                yield from ((depth + 1, text) for depth, text in _indented(statement.step))
        case ir.Switch(arms, has_default):
            yield 0, "switch" + (" with default" if has_default else "")
            for arm in arms:
                yield 1, "case"
                yield from ((depth + 1, text) for depth, text in _indented(arm))
        case ir.Return(value):
            yield 0, f"return {expression(value)}" if value is not None else "return"
        case ir.Break():
            yield 0, "break"
        case ir.Continue():
            yield 0, "continue"
        case ir.Goto(label):
            yield 0, f"goto {label}"
        case ir.Label(name):
            yield 0, f"{name}:"
        case ir.Try(body, handlers):
            yield 0, "try"
            yield from _indented(body)
            for handler in handlers:
                yield 0, "catch"
                yield from _indented(handler)
        case ir.Unknown(why, _, parts):
            yield 0, f"unknown: {why} ({_list(parts)})" if parts else f"unknown: {why}"


def _indented(block: ir.Block) -> Iterator[tuple[int, str]]:
    for statement in block:
        for depth, text in _statement(statement):
            yield depth + 1, text


def lines(block: ir.Block, indent: int = 0) -> Iterator[str]:
    """The lines of a block."""
    for statement in block:
        for depth, text in _statement(statement):
            yield "  " * (depth + indent) + text


def _param(param: ir.Param) -> str:
    default = f" = {expression(param.default)}" if param.default is not None else ""
    return f"{param.name}: {param.type}{'&' if param.by_reference else ''}{default}"


def dump(module: ir.Module) -> str:
    """The whole module: globals, kernels, functions."""
    out = [f"{variable.space} global {variable.name}: {variable.type}" for variable in module.globals]
    out += map(_kernel, module.kernels)
    for function in module.functions:
        out.append(f"function {function.name}({', '.join(map(_param, function.params))})")
        out += [f"  problem: {why}" for why, _ in function.problems]
        out += lines(function.body, 1)
    if module.check_style is not None:
        out.append(f"style {module.check_style[0]}…{module.check_style[1]}")
    if module.references:
        out.append("references " + ", ".join(sorted(module.references)))
    return "\n".join(out) + "\n"


def _kernel(kernel: ir.Kernel) -> str:
    def names(positions: frozenset[int]) -> str:
        return ", ".join(kernel.params[position].name or f"#{position}" for position in sorted(positions))

    parts = [f"reads {names(kernel.reads)}"] if kernel.reads else []
    parts += [f"writes {names(kernel.writes)}"] if kernel.writes else []
    parts += ["prints"] if kernel.prints else []
    parts += ["traps"] if kernel.traps else []
    parts += ["times"] if kernel.times else []
    parts += [f"reads global {', '.join(sorted(kernel.globals_read))}"] if kernel.globals_read else []
    parts += [f"writes global {', '.join(sorted(kernel.globals_written))}"] if kernel.globals_written else []
    parts += [f"calls unknown {', '.join(sorted(kernel.calls_unknown))}"] if kernel.calls_unknown else []
    return f"kernel {kernel.name}: {'; '.join(parts) or 'nothing'}"
