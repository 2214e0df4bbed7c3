"""Programs that mean the same, made from one: what is decided on them must be the same.

Each function takes the files of a program in CUDA C++ and gives others, or None where there is nothing for it to do.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

import tree_sitter
import tree_sitter_cuda

Files: TypeAlias = Mapping[str, bytes]
Change: TypeAlias = Callable[[Files], "dict[str, bytes] | None"]

_LANGUAGE = tree_sitter.Language(tree_sitter_cuda.language())
_PARSER = tree_sitter.Parser(_LANGUAGE)
_WORD = re.compile(rb"[A-Za-z_]\w*")
CLANG_FORMAT = shutil.which("clang-format", path=str(Path(sys.executable).parent)) or shutil.which("clang-format")


def parse(data: bytes) -> tree_sitter.Node:
    return _PARSER.parse(data).root_node


def nodes(root: tree_sitter.Node, *kinds: str) -> list[tree_sitter.Node]:
    query = tree_sitter.Query(_LANGUAGE, "[" + " ".join(f"({kind})" for kind in kinds) + "] @it")
    captured = tree_sitter.QueryCursor(query).captures(root)
    return sorted(captured.get("it", []), key=lambda node: node.start_byte)


def text(node: tree_sitter.Node) -> bytes:
    assert node.text is not None
    return node.text


def replaced(data: bytes, changes: list[tuple[int, int, bytes]]) -> bytes:
    for start, end, new in sorted(changes, reverse=True):
        data = data[:start] + new + data[end:]
    return data


# ---------------------------------------------------------------------------------------------------------------------
# names and layout


def new_names(files: Files) -> dict[bytes, bytes]:
    """New names for the variables, parameters and functions that the files declare, other than `main`."""
    declared: set[bytes] = set()
    other: set[bytes] = {b"main"}
    defined: set[bytes] = set()
    prototypes: set[bytes] = set()  # of a library, if nothing defines them
    for data in files.values():
        root = parse(data)
        for node in nodes(root, "identifier"):
            parent = node.parent
            while parent is not None and parent.type in (
                "pointer_declarator",
                "reference_declarator",
                "array_declarator",
            ):
                parent = parent.parent
            kinds = ("init_declarator", "declaration", "parameter_declaration", "function_declarator")
            if parent is not None and parent.type in kinds and not _is_value(node, parent):
                declared.add(text(node))
            if parent is not None and parent.type == "function_declarator":
                holder = parent.parent
                while holder is not None and holder.type.endswith("_declarator"):
                    holder = holder.parent
                body = holder is not None and holder.type == "function_definition"
                (defined if body else prototypes).add(text(node))
        other |= {text(n) for n in nodes(root, "field_identifier", "type_identifier", "namespace_identifier")}
        other |= {text(n).rpartition(b"::")[2] for n in nodes(root, "qualified_identifier")}
        other |= set(_WORD.findall(b" ".join(re.findall(rb"^[ \t]*#.*(?:\\\n.*)*", data, re.MULTILINE))))
    return {name: name + b"_of_mine" for name in declared - other - (prototypes - defined)}


def _is_value(node: tree_sitter.Node, parent: tree_sitter.Node) -> bool:
    value = parent.child_by_field_name("value") or parent.child_by_field_name("default_value")
    return value is not None and value.start_byte <= node.start_byte < value.end_byte


def rename(files: Files, names: Mapping[bytes, bytes]) -> dict[str, bytes]:
    return {path: _WORD.sub(lambda m: names.get(m[0], m[0]), data) for path, data in files.items()}


def renamed(files: Files) -> dict[str, bytes] | None:
    names = new_names(files)
    return rename(files, names) if names else None


_NUMBERS = (b"bool", b"char", b"double", b"float", b"int")


def with_names_for_numbers(files: Files) -> dict[str, bytes] | None:
    """Each type of a plain number under another name."""
    defined = b"".join(b"typedef %b %b_of_mine;\n" % (kind, kind) for kind in _NUMBERS)
    done = {}
    for path, data in files.items():
        kinds = [node for node in nodes(parse(data), "primitive_type") if text(node) in _NUMBERS]
        of_main = re.compile(rb"\s+main\b")
        whole = [n for n in kinds if n.parent is not None and n.parent.type != "sized_type_specifier"]
        whole = [n for n in whole if not of_main.match(data, n.end_byte)]
        done[path] = defined + replaced(data, [(n.start_byte, n.end_byte, text(n) + b"_of_mine") for n in whole])
    return done


def reformatted(files: Files) -> dict[str, bytes] | None:
    """As another project would lay it out."""
    if CLANG_FORMAT is None:
        return None
    style = (
        "{BasedOnStyle: GNU, IndentWidth: 3, ColumnLimit: 60, SortIncludes: Never, ReflowComments: false, "
        "BreakStringLiterals: false, UseTab: Never, PointerAlignment: Middle, AllowShortBlocksOnASingleLine: Never}"
    )
    done = {}
    for path, data in files.items():
        command = [CLANG_FORMAT, f"--style={style}", "--assume-filename=a.cu"]
        done[path] = subprocess.run(command, input=data, capture_output=True, check=True).stdout
    return done


def with_other_line_ends(files: Files) -> dict[str, bytes] | None:
    return {path: data.replace(b"\n", b"\r\n") for path, data in files.items()}


# ---------------------------------------------------------------------------------------------------------------------
# functions


_OWN_LINES = ("preproc_include", "preproc_def", "preproc_function_def")


def functions(data: bytes) -> Iterator[tuple[tree_sitter.Node, bytes]]:
    """The definitions at file scope that a prototype can stand for, with it."""
    root = parse(data)
    if root.has_error:
        return
    for node in root.children:
        body = node.child_by_field_name("body")
        declarator = node.child_by_field_name("declarator")
        if node.type != "function_definition" or body is None or declarator is None:
            continue
        head = data[node.start_byte : body.start_byte].strip()
        if re.search(rb"[=\[]|\bauto\b|\bmain\b|\b(?:inline|constexpr|extern)\b|::", head):
            continue
        yield node, head + b";"


def functions_at_the_end(files: Files) -> dict[str, bytes] | None:
    """Prototypes where the functions stood, and the functions behind all others, in the other order."""
    done = dict(files)
    for path, data in files.items():
        found = list(functions(data))
        if found and not path.endswith((".h", ".cuh", ".hpp")):
            changes = [(node.start_byte, node.end_byte, head) for node, head in found]
            bodies = [text(node) for node, _ in reversed(found)]
            done[path] = replaced(data, changes) + b"\n" + b"\n\n".join(bodies) + b"\n"
    return done if done != dict(files) else None


def function_in_a_header(files: Files) -> dict[str, bytes] | None:
    """Each first function moves into a file that is included in its place, with the includes and macros above it; not
    where an unnamed namespace stands above, as a header cannot name what only the including file sees.
    """
    done = dict(files)
    for path, data in files.items():
        found = next(functions(data), None)
        if found is not None and b"namespace {" not in data[: found[0].start_byte]:
            name = f"part_of_{Path(path).stem}.cuh"
            start, end = found[0].start_byte, found[0].end_byte
            above = (n for n in parse(data).children if n.type.startswith("preproc") and n.end_byte <= start)
            needed = b"".join(text(n) + b"\n" for n in above if n.type in _OWN_LINES)
            done[str(Path(path).with_name(name))] = b"#pragma once\n" + needed + data[start:end] + b"\n"
            done[path] = replaced(data, [(start, end, f'#include "{name}"'.encode())])
    return done if done != dict(files) else None


def functions_in_another_source(files: Files) -> dict[str, bytes] | None:
    """The host functions of a program of one file, without globals and types of its own, in a second file."""
    ((path, data),) = files.items() if len(files) == 1 else (("", b""),)
    found = list(functions(data))
    moved = [node for node, head in found if b"__" not in head and b"static" not in head]
    plain = all(
        node.type in ("function_definition", "comment", "using_declaration") or node.type.startswith("preproc")
        for node in parse(data).children
    )
    if not moved or not plain or sum(n.type == "function_definition" for n in parse(data).children) != len(found) + 1:
        return None
    shared = b"".join(text(n) + b"\n" for n in parse(data).children if n.type.startswith(("preproc", "using")))
    shared += b"\n".join(head for _, head in found) + b"\n"
    rest = replaced(data, [(node.start_byte, node.end_byte, b"") for node in moved])
    first = next(n for n in parse(rest).children if n.type == "function_definition").start_byte
    prototypes = b"\n".join(head for _, head in found) + b"\n"
    return {
        path: rest[:first] + prototypes + rest[first:],
        str(Path(path).with_name("other.cu")): shared + b"\n\n".join(map(text, moved)) + b"\n",
    }


def inlined(files: Files) -> dict[str, bytes] | None:
    """The body of a `void` function in place of its calls; the function goes."""
    done = dict(files)
    for path, data in files.items():
        for node, head in functions(data):
            body, declarator = node.child_by_field_name("body"), node.child_by_field_name("declarator")
            assert body is not None
            assert declarator is not None
            if not re.match(rb"(?:static\s+)?void\s+\w+\s*\(", head) or b"return" in text(body) or b"&" in head:
                continue
            (name,) = re.findall(rb"void\s+(\w+)\s*\(", head)
            parameters = [text(n) for n in nodes(declarator, "parameter_declaration")]
            calls = [n for n in nodes(parse(data), "call_expression") if text(n).startswith(name + b"(")]
            statements = [n.parent for n in calls]
            uses = len(re.findall(rb"\b" + name + rb"\b", b" ".join(files.values())))
            if (
                not calls
                or uses != len(calls) + 1
                or any(s is None or s.type != "expression_statement" for s in statements)
                or any(b"(" in parameter for parameter in parameters)
            ):
                continue
            changes = [(node.start_byte, node.end_byte, b"")]
            for call, statement in zip(calls, statements, strict=True):
                arguments = call.child_by_field_name("arguments")
                assert arguments is not None
                assert statement is not None
                values = [text(n) for n in arguments.named_children if n.type != "comment"]
                changes.append((statement.start_byte, statement.end_byte, _body(text(body), parameters, values)))
            done[path] = replaced(data, changes)
            break
    return done if done != dict(files) else None


def _body(body: bytes, parameters: list[bytes], values: list[bytes]) -> bytes:
    names = {re.findall(_WORD, parameter)[-1]: b"" for parameter in parameters}
    names = {name: name + b"_here" for name in names}
    declared = [
        b"    " + _WORD.sub(lambda m: names.get(m[0], m[0]), parameter) + b" = " + value + b";\n"
        for parameter, value in zip(parameters, values, strict=True)
    ]
    inner = _WORD.sub(lambda m: names.get(m[0], m[0]), body[1:-1])
    return b"{\n" + b"".join(declared) + inner + b"}"


# ---------------------------------------------------------------------------------------------------------------------
# checks

_LOOKS = b"""
#include <cstdio>
#define LOOK_AT(call)                                             \\
    do {                                                          \\
        cudaError_t status_ = (call);                             \\
        if (status_ != cudaSuccess)                               \\
            fprintf(stderr, "%s\\n", cudaGetErrorString(status_)); \\
    } while (0)
"""


def in_a_check(files: Files) -> dict[str, bytes] | None:
    """Calls of the runtime whose status nobody looks at, in a macro that prints it."""
    done = dict(files)
    for path, data in files.items():
        changes = []
        for node in nodes(parse(data), "expression_statement"):
            call = node.named_children[0] if node.named_children else node
            if call.type == "call_expression" and re.match(
                rb"cuda(?:Malloc|Free|Memcpy|Memset|Stream)\w*\(", text(call)
            ):
                changes.append((call.start_byte, call.end_byte, b"LOOK_AT(" + text(call) + b")"))
        includes = list(re.finditer(rb"^[ \t]*#[ \t]*include.*\n", data, re.MULTILINE))
        if changes and includes:
            at = includes[-1].end()
            done[path] = replaced(data, [*changes, (at, at, _LOOKS)])
    return done if done != dict(files) else None


CHANGES: dict[str, Change] = {
    change.__name__: change
    for change in (
        renamed,
        with_names_for_numbers,
        reformatted,
        with_other_line_ends,
        functions_at_the_end,
        function_in_a_header,
        functions_in_another_source,
        inlined,
        in_a_check,
    )
}
