"""Full names in a syntax tree of the standard library, from its imports alone."""

from __future__ import annotations

import ast


class Names:
    """The full names of what a file imports."""

    def __init__(self, tree: ast.Module) -> None:
        self.known: dict[str, str] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    root = alias.name if alias.asname else alias.name.split(".")[0]
                    self.known[alias.asname or root] = root
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                for alias in node.names:
                    self.known[alias.asname or alias.name] = f"{node.module}.{alias.name}"

    def full(self, node: ast.expr) -> str:
        """The text of an expression with full names."""
        match node:
            case ast.Name(id=name):
                return self.known.get(name, name)
            case ast.Attribute(value=inner, attr=name):
                return f"{self.full(inner)}.{name}"
            case ast.Call(func=func, args=args, keywords=keywords) if all(one.arg for one in keywords):
                given = [self.full(one) for one in args] + [f"{one.arg}={self.full(one.value)}" for one in keywords]
                return f"{self.full(func)}({', '.join(given)})"
            case _:
                return ast.unparse(node)
