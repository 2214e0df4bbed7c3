"""Masks: bytes that the grammar stumbles over, replaced by others of the same length, so that every offset still fits."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import tree_sitter
import tree_sitter_cuda

from cudafix.frontends.cuda.directives import blank
from cudafix.frontends.cuda.macros import Macro, closing

_LANGUAGE = tree_sitter.Language(tree_sitter_cuda.language())
_ERRORS = tree_sitter.Query(_LANGUAGE, "(ERROR) @error (MISSING) @missing")
_NESTED = tree_sitter.Query(_LANGUAGE, "(compound_statement (function_definition) @nested)")
_STRING = rb'"(?:[^"\\\n]|\\.)*"'
_ARGUMENTS = rb"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"

# always masked: it changes nothing that lowering reads, and the grammar knows it in some places only
_ALWAYS = re.compile(
    rb"\b__(?:align__|launch_bounds__|cluster_dims__|block_size__|maxnreg__|attribute__|declspec)\s*" + _ARGUMENTS +
    rb"|\b__(?:grid_constant__|restrict__|restrict|forceinline__|noinline__|extension__|inline__|tile_global__)\b"
)
_LAMBDA = re.compile(rb"\]\s*((?:__(?:host|device)__\s*)+)")
_LAUNCH = re.compile(rb"<<<(?=[^;]*?\{)")
_QUALIFIER = re.compile(rb"__(?:global|device|host|managed|constant|shared)__")


@dataclass(slots=True)
class Masked:
    """The masked text, its tree, the ranges that are still errors, and the CUDA qualifiers that masks hid."""

    text: bytes
    tree: tree_sitter.Tree
    errors: tuple[tuple[int, int], ...]
    qualifiers: tuple[tuple[int, str], ...]


def mask(text: bytes, macros: Mapping[str, Macro], parser: tree_sitter.Parser) -> Masked:
    """Mask `text` until `parser` reads it as well as it can."""
    qualifiers: list[tuple[int, str]] = []
    text = _ALWAYS.sub(lambda m: blank(m[0]), text)
    tree = parser.parse(text)
    return Masked(text, tree, tuple(_errors(tree)), tuple(qualifiers))


def _errors(tree: tree_sitter.Tree) -> list[tuple[int, int]]:
    if not tree.root_node.has_error:
        return []
    captures = tree_sitter.QueryCursor(_ERRORS).captures(tree.root_node)
    found = [(n.start_byte, n.end_byte) for n in captures.get("error", [])]
    found += [(n.start_byte, n.end_byte) for n in captures.get("missing", []) if n.type != ";"]
    return sorted(found)
