"""How Python calls the CUDA API: which C function a dotted name is, and how its arguments and results lie.

The bindings of cuda-python have the C names. Parameters through which C gives something back are missing; what they
would receive comes behind the status in the tuple that the call returns, in the same order. CuPy's runtime module
leaves out the `cuda` of the names, raises instead of returning a status, and returns a single result bare.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from cudafix import models
from cudafix.models.api import Api, Effect
from cudafix.models.python import CONTEXTS, MODULES, RESULTS, TWINS

_OUT = frozenset(
    ("new", "out", "found", "alias", "stream_out", "event_out", "handle_out", "keeper_out", "pool_out", "graph_out")
)
_API = re.compile("|".join(map(re.escape, MODULES)))
_INERT = frozenset((Effect.NOTHING, Effect.HOST, Effect.STATUS))
_GRAPHS = frozenset(
    f"{cu}Graph{word}" for cu in ("cu", "cuda") for word in ("Launch", "Upload", "Destroy", "ExecDestroy")
)
_TOUCHES = frozenset(("keep", "keeper_out", "graph", "r", "w", "rw", "free", "new", "graph_out", "params"))


class Signature(NamedTuple):
    """`callee` as the tables and the engine know it. `slots`: for each C parameter the number of the argument or of
    the result that stands for it (`(is_result, number)`). `status`: the call returns one. `plain`: whatever goes in and
    comes out does not matter for ordering.
    """

    callee: str
    slots: tuple[tuple[bool, int], ...]
    results: int
    status: bool
    api: Api
    plain: bool = False


@cache
def tables() -> models.Tables:
    return models.built_in()


def module_of(dotted: str) -> str | None:
    """The binding module that a dotted name is in, None for any other name."""
    found = _API.match(dotted)
    return found[0] if found is not None and dotted[found.end() : found.end() + 1] == "." else None


def member(dotted: str) -> str | None:
    """The name within its binding module."""
    module = module_of(dotted)
    return dotted[len(module) + 1 :] if module is not None else None


def c_name(dotted: str) -> str | None:
    """The C name of a function of a binding module: `cupy.cuda.runtime.malloc` is `cudaMalloc`."""
    module, name = module_of(dotted), member(dotted)
    if module is None or not name or "." in name:
        return None
    prefix = MODULES[module].prefix
    return prefix + name[0].upper() + name[1:] if prefix and not name.startswith(prefix) else name


@cache
def signature(dotted: str, count: int) -> Signature | None:
    """The C function for a call with `count` arguments; None where no table knows it in this form."""
    name = c_name(dotted)
    module = module_of(dotted)
    if name is None or module is None:
        return None
    status = MODULES[module].status
    known = tables()
    if name in CONTEXTS:
        chosen = known.lookup("cudaSetDevice", 1)
        assert chosen is not None
        return Signature("cudaSetDevice", ((CONTEXTS[name], 0),), int(CONTEXTS[name]), status, chosen)
    if "Graph" in name and name not in _GRAPHS:
        return None  # what a node is made of comes in structs
    for more in range(7) if name not in RESULTS else ():
        api = known.lookup(name, count + more)
        if api is None or any(role.endswith("*") for role in api.roles):
            continue
        outs = [n for n, role in enumerate(api.roles) if role in _OUT]
        if len(outs) != more or len(api.roles) - more < count:
            continue
        slots: list[tuple[bool, int]] = []
        given = 0
        for n in range(len(api.roles)):
            if n in outs:
                slots.append((True, outs.index(n)))
            elif given < count:
                slots.append((False, given))
                given += 1
            elif any(later > n for later in outs):
                break  # an optional parameter before a result
        else:
            return Signature(TWINS.get(name, name), tuple(slots), len(outs), status, api)
        continue
    api = known.lookup(name, count) or next((a for n in range(12) if (a := known.lookup(name, n)) is not None), None)
    if api is not None and api.effect in _INERT and not _TOUCHES & {role.rstrip("*") for role in api.roles}:
        # attributes and properties: whatever comes back is a plain value
        return Signature(TWINS.get(name, name), (), RESULTS.get(name, 1), status, api, plain=True)
    return None
