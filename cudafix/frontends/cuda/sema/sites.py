"""Where text may be inserted around a call, in which words, and which calls only look at a status."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from tree_sitter import Node

from cudafix.ir import Site, Span

# Functions of the GPU libraries: what a check is put around.
API_NAME = re.compile(
    r"(?:cuda|cublas|cufft|cusparse|curand|cusolver|cudnn|nccl|nvrtc|nvml|nvjpeg|cutensor|nvshmem)[A-Z_]\w*|cu[A-Z]\w*"
    r"|MPI_[A-Z]\w*"
)
_LIBRARY = re.compile(r"(cuda|cublas|cufft|cusparse|curand|cusolver|cudnn|cu)(?=[A-Z_])")
# A function or macro with such a name that is given a status looks at it and does nothing else that matters.
CHECK_NAME = re.compile(
    r"\w*(?:check|chk|err|safe|assert|verify|ck|cuda|cublas|cufft|nccl|curand|cusparse|cusolver|cudnn|call|try|handle|succe"
    r"|require|expect|status|must|gpu|ensure)\w*",
    re.IGNORECASE,
)
STATUS_TYPE = re.compile(
    r"(?:cuda|cublas|cufft|cusparse|curand|cusolver|cudnn|nccl)\w*(?:Error|Status|Result)\w*|CUresult"
)
# What tells the text of a status, and returns none: that of the driver API (`cuGetErrorString`) does.
TEXT_OF_STATUS = re.compile(r"(?!cu[A-Z])\w+(?:Error|Status)(?:String|Name)")
SUCCESS = re.compile(
    r"(?:cuda|CUDA_|(?:CUBLAS|CUFFT|CUSPARSE|CURAND|CUSOLVER|CUDNN)_(?:STATUS_)?|nccl|cuda::error::)(?:Success|SUCCESS)"
)
# What a check function may itself call and still be only a check: it reports, and may end the program.
_HARMLESS = re.compile(
    rb"cuda(?:GetErrorString|GetErrorName|GetLastError|PeekAtLastError|DeviceReset)|cu(?:GetError\w+)"
)
_API_CALL = re.compile(
    rb"\b(?:(?:cuda|cublas|cufft|cusparse|curand|cusolver|cudnn|nccl)[A-Z]\w*|cu[A-Z]\w*)\s*\(|<<<|\b(?:delete|free)\b"
)


def is_api(name: str) -> bool:
    return API_NAME.fullmatch(name) is not None


def of_the_global_scope(function: Node) -> Node:
    """What names the callee: of `::cudaFree` the name alone, which no namespace around it can mean another function by
    ([basic.lookup.qual]).
    """
    name = function.child_by_field_name("name")
    if function.type != "qualified_identifier" or name is None or function.child_by_field_name("scope") is not None:
        return function
    return name if name.type == "identifier" and name.text is not None and is_api(name.text.decode()) else function


def status_type(name: str) -> str:
    """The type of the status that a function returns; empty if it returns none, or is none of these libraries'."""
    found = _LIBRARY.match(name)
    if found is None or "String" in name or "Name" in name:
        return ""
    if found.group(1) == "cuda":
        return "cudaError_t"
    return f"{found.group(1)}Status_t" if found.group(1) != "cu" else "CUresult"


def is_check_name(name: str, defined: bool = False) -> bool:
    """Whether a function may be a check by its name; what the program has `defined` is none of a library's."""
    return CHECK_NAME.fullmatch(name.rpartition("::")[2]) is not None and (defined or not is_api(name))


def only_looks(body: bytes) -> bool:
    """Whether a function with this body that is given a status does no GPU work of its own."""
    return all(_HARMLESS.match(found.group()) is not None for found in _API_CALL.finditer(body))


@dataclass(slots=True)
class Place:
    """The statement that is being lowered. `core` is the API call that it wraps, if that is all it does."""

    node: Node
    span: Span
    indent: str
    needs_braces: bool
    needs_do: bool = False
    core: Node | None = None
    style: tuple[str, str] | None = None
    continuation: bool = False
    calls: int = 0


def line_indent(text: bytes, at: int) -> str:
    """The white space that the line around `at` starts with."""
    start = text.rfind(b"\n", 0, at) + 1
    end = start
    while end < at and text[end : end + 1] in (b" ", b"\t"):
        end += 1
    return text[start:end].decode("ascii")


_NAMED = re.compile(rb"\w")
_NO_STYLE = re.compile(rb"//|/\*|\\[ \t]*\r?\n|\n[ \t]*#")  # comments, continued lines and directives are not copied
_BROKEN = re.compile(
    rb"(\()?[ \t]*[\r\n]\s*(\))?"
)  # a line end in a call, behind what opens or closes it, or elsewhere


def wrapper(statement: bytes, prefix: int, suffix: int, in_macro: bool) -> tuple[str, str] | None:
    """The text around the core call of a statement (the first `prefix`, the last `suffix` bytes), as a style.

    Code may use a macro without a semicolon; the last statement of a macro's body may leave it to the use.
    """
    before, after = statement[:prefix], statement[len(statement) - suffix :] if suffix > 0 else b""
    if _NO_STYLE.search(before + after):
        return None
    before, after = (
        _BROKEN.sub(lambda found: (found[1] or b"") + (found[2] or b"") or b" ", part) for part in (before, after)
    )
    if before.strip() and not _NAMED.search(before):
        return "", ";"  # parentheses alone check nothing
    if not after.endswith(b";"):
        if in_macro:
            after += b";"
        elif not before.strip():
            return None
    return before.decode("utf-8", "replace"), after.decode("utf-8", "replace")


_GROUP = re.compile(rb"\([^(){}]*\)|\{[^(){}]*\}")
_DECLARATION = re.compile(
    rb"(?:^|[;\0])\s*(?!(?:do|while|if|else|for|switch|return|throw|delete|new|goto|case|sizeof)\b)"
    rb"[A-Za-z_][\w:]*(?:\s*<[^;]*>)?[\s*&]+[A-Za-z_]\w*"
)


def declares(body: bytes) -> bool:
    """Whether the text of a macro may declare something in the scope in which it is used: outside of its own braces."""
    while body != (body := _GROUP.sub(b"\0", body)):
        pass
    return _DECLARATION.search(body) is not None


class Styles:
    """Collects the check wrappers of a file, and gives the most common one to sites that have none of their own."""

    def __init__(self) -> None:
        self._seen: Counter[tuple[str, str]] = Counter()
        self._waiting: list[Site] = []

    def saw(self, style: tuple[str, str], span: Span) -> None:
        if style[0].strip() and '"' not in style[1] and "=" not in style[0]:
            self._seen[style] += 1

    def wants_style(self, site: Site) -> None:
        self._waiting.append(site)

    def finish(self) -> tuple[str, str] | None:
        """The file's own style, after giving it to every site that waits for it."""
        style = self._seen.most_common(1)[0][0] if self._seen else None
        if style is not None:
            for site in self._waiting:
                site.prefix, site.suffix = style
        return style
