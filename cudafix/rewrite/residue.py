"""What of a program's text a migration may not change: all but statements that allocate, free, wait and set up pools.

The IR keeps what orders work, and drops the rest: values that the host computes, launch dimensions, initializers of
globals, device code, templates that nobody uses, strings. What it drops is compared as text here. Two texts are split
into statements; those that only one of them has must be ones that a migration writes or removes. Whether they are the
right ones is for the IR to say (`cudafix.rewrite.align`).
"""

from __future__ import annotations

import io
import re
import tokenize
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from cudafix.ir.names import WORD, WORD_IN_BYTES
from cudafix.models import Tables
from cudafix.models.api import Effect
from cudafix.rewrite.align import opcodes
from cudafix.rewrite.guard import CONDITION

Chunk = tuple[str, ...]

_TOKEN = re.compile(
    r"(?P<space>\s+|//(?:\\\n|[^\n])*|/\*.*?\*/|\\\n)"
    r'|(?P<raw>(?:u8|[uUL])?R"(?P<mark>[^\s()\\]*)\(.*?\)(?P=mark)")'
    r'|(?P<text>(?:u8|[uUL])?"(?:\\.|[^"\\\n])*"|(?:u8|[uUL])?\'(?:\\.|[^\'\\\n])*\')'
    r"|(?P<number>\.?\d(?:[eEpP][+-]|'?[\w.])*)"
    r"|(?P<name>[A-Za-z_$]\w*)"
    r"|(?P<sign><<<|>>>|::|->|\+\+|--|<<=|>>=|[-+*/%&|^=!<>]=|&&|\|\||.)",
    re.DOTALL,
)
_GUARDED = re.compile(  # see `cudafix.rewrite.guard`
    rb"^[ \t]*" + re.escape(CONDITION) + rb"[ \t]*\r?\n(.*?)(?:^[ \t]*#else[ \t]*\r?\n.*?)?^[ \t]*#endif[^\n]*\n",
    re.MULTILINE | re.DOTALL,
)
_ASSIGNS = frozenset("= += -= *= /= %= &= |= ^= <<= >>= ++ -- :=".split())
_BRACES = frozenset({("{",), ("}",)})
_LAUNCH = frozenset(("<<<", "asm", "__asm__", "new", "delete"))
# a variable of a plain type, and what it is at first
_DECLARES = re.compile(
    r"(?:(?:static|const|constexpr|unsigned|long|[A-Za-z_][\w]*|::) )+\*? ?[A-Za-z_]\w*(?: = [^;]*| { })? ;"
)
_LEAVES = frozenset("return break continue goto throw exit abort raise yield".split())
# What a migration may add a statement of: set-up of pools, waits, events, and frees (what the IR allows to appear).
_MOVES = frozenset(
    {
        Effect.SYNC_STREAM,
        Effect.SYNC_EVENT,
        Effect.SYNC_DEVICE,
        Effect.RECORD,
        Effect.WAIT,
        Effect.EVENT_CREATE,
        Effect.EVENT_DESTROY,
        Effect.STREAM_DESTROY,
        Effect.FREE,
        Effect.RESET,
        Effect.NOTHING,
        Effect.STATUS,
    }
)
_DROPS = {"cudaMallocAsync": ("cudaMalloc", 2), "cudaFreeAsync": ("cudaFree", 1)}
_CAST = ("(", "(", "void", "*", "*", ")")
_SPLITS = frozenset(";{}")
_KEYWORDS = frozenset("if else static const constexpr auto while for switch sizeof not and or is None in".split())
# The same in Python, where methods have no rows: events and waits of CuPy and Numba, and set-up of pools and managers.
_MOVES_PYTHON = frozenset(
    "synchronize record wait wait_event event Event Device set_memory_manager set_current_device_resource cuuint64_t"
    " CudaAsyncMemoryResource MemoryAsyncPool streamSynchronize eventRecord eventSynchronize eventCreate eventDestroy"
    " eventCreateWithFlags streamWaitEvent deviceSynchronize getDevice deviceGetDefaultMemPool memPoolSetAttribute"
    " streamDestroy free freeAsync legacy_default_stream default_stream per_thread_default_stream".split()
)
_DROPS_PYTHON = _DROPS | {
    "cudaMallocAsync": ("cudaMalloc", 1),
    "cuMemAllocAsync": ("cuMemAlloc", 1),
    "cuMemFreeAsync": ("cuMemFree", 1),
    "mallocAsync": ("malloc", 1),
    "freeAsync": ("free", 1),
    "MemoryAsync": ("Memory", 1),
}
_PACKAGES = frozenset("cuda cupy numba rmm cudafix_numba_memory".split())
_ALLOCATORS = frozenset(("set_allocator", "using_allocator"))
_COMPOUND = frozenset(
    "if elif else for while with try except finally def class async match case lambda del global nonlocal assert"
    " @".split()
)


Names = tuple[frozenset[str], frozenset[str]]
"""Of the program before and after."""


def new_variables(old: Mapping[str, bytes], new: Mapping[str, bytes]) -> Names:
    """The variables that only one of two programs has: declared in a file that differs, and named nowhere in the other
    program.
    """
    paths = [path for path in old if old[path] != new[path] and not path.endswith((".py", ".ipynb"))]
    found = [
        {name for path in paths for chunk in _statements(_unguarded(files[path])) for name in _declared(chunk)}
        for files in (old, new)
    ]
    used = [
        {word.decode() for path in files if paths for word in WORD_IN_BYTES.findall(files[path])}
        for files in (old, new)
    ]
    return frozenset(found[0] - used[1]), frozenset(found[1] - used[0])


def _declared(chunk: Chunk) -> Iterator[str]:
    if _DECLARES.fullmatch(" ".join(chunk)):
        yield _declares(chunk)


def _declares(chunk: Chunk) -> str:
    named = chunk[: chunk.index("=")] if "=" in chunk else chunk
    return next(word for word in reversed(named) if WORD.fullmatch(word))


def changed(old: bytes, new: bytes, path: str, tables: Tables, variables: Names, includes: Collection[str] = ()) -> str:
    """A statement that only one of two texts has, and that no migration writes or removes; empty if there is none.
    `variables` are those that only one of the programs has, and the functions of headers that set up the pool; the
    new text may have `includes` of these.
    """
    if old == new:
        return ""
    python = path.endswith((".py", ".ipynb"))
    one, other = (_lines(text) if python else list(_statements(_unguarded(text))) for text in (old, new))
    other = [chunk for chunk in other if not (chunk[0] == "#include" and len(chunk) == 2 and chunk[1] in includes)]
    return _unexplained(one, other, python, tables, variables)


def _unguarded(text: bytes) -> bytes:
    """The text as a CUDA with stream-ordered allocation reads it: what stands for older ones is the code as it was."""
    return _GUARDED.sub(rb"\1", text)


def _unexplained(one: Sequence[Chunk], other: Sequence[Chunk], python: bool, tables: Tables, variables: Names) -> str:
    names = tuple({word for chunk in side for word in chunk} for side in (one, other))
    members = tuple(_members(side) for side in (one, other))
    set_ups = [
        frozenset({_set_up(chunk) for chunk in side} - words - {""})
        for side, words in zip((one, other), names[::-1], strict=True)
    ]
    gone: list[Chunk] = []
    came: list[Chunk] = []
    joined = False  # whether only braces stand between this difference and the one before it
    for tag, i1, i2, j1, j2 in opcodes(list(one), list(other)):
        if tag == "equal":
            joined = joined and set(one[i1:i2]) <= _BRACES
            continue
        mine, theirs = one[i1:i2], other[j1:j2]
        gone += mine
        came += theirs
        if not python and {*mine, *theirs} <= _BRACES and not joined:  # what runs under a condition is another part
            return _words((*mine, *theirs)[0])
        joined = True
        for chunks, others, around, inside, own in (
            (mine, names[1], theirs, members[0][i1:i2], variables[0] | set_ups[0]),
            (theirs, names[0], mine, members[1][j1:j2], variables[1] | set_ups[1]),
        ):
            if python:
                for chunk in chunks:
                    if not _is_in_python(chunk[1:], others, tables):
                        return _words(chunk[1:])
                continue
            for chunk in _foreign(chunks, inside, others, own, tables):
                if not _rewraps(chunk, around, tables):
                    return _words(chunk)
    # what is allocated, and with how many bytes, is the same at as many places
    for kept in (_texts,) if python else (_allocations,):
        before, after = (Counter(part for chunk in side for part in kept(chunk, tables)) for side in (gone, came))
        if before != after:
            return _words(next(iter((before - after) or (after - before))))
    return ""


def _words(chunk: Chunk) -> str:
    text = " ".join(chunk)
    return text if len(text) <= 60 else text[:57] + "..."


def _texts(chunk: Chunk, _: Tables) -> Iterator[Chunk]:
    """The string literals of a line: a kernel may be one."""
    return ((word,) for word in chunk if word[-1:] in ("'", '"'))


def _calls(chunk: Chunk) -> Iterator[tuple[str, Chunk]]:
    """The calls in a statement: what is called, and the tokens from there to the closing parenthesis."""
    for n, word in enumerate(chunk):
        if word == "(" and n and WORD.fullmatch(chunk[n - 1]) and chunk[n - 1] not in _KEYWORDS:
            yield chunk[n - 1], chunk[n - 1 : _end(chunk, n) + 1]


def _end(tokens: Sequence[str], at: int) -> int:
    """Where the parenthesis at `at` closes."""
    depth = 0
    for n in range(at, len(tokens)):
        depth += (tokens[n] in "([{") - (tokens[n] in ")]}")
        if not depth:
            return n
    return len(tokens) - 1


def _arity(call: Chunk) -> int:
    depth = commas = 0
    for word in call[2:-1]:
        depth += (word in "([{") - (word in ")]}")
        commas += word == "," and not depth
    return commas + (len(call) > 3)


def _effect(name: str, call: Chunk, tables: Tables) -> Effect | None:
    api = tables.lookup(name, _arity(call))
    return api.effect if api is not None else None


def _allocations(chunk: Chunk, tables: Tables) -> Iterator[Chunk]:
    return (call for name, call in _calls(chunk) if _effect(name, call, tables) is Effect.ALLOC)


def _rewraps(chunk: Chunk, around: Sequence[Chunk], tables: Tables) -> bool:
    """Whether the same allocation stands in the other text, with another check around it, or it is the condition of a
    statement there: `if (p) cudaFree(p);` and `if (p) { cudaFree(p); }`.
    """
    if chunk[0] == "if" and chunk[-1] == ")" and any(other[: len(chunk)] == chunk for other in around):
        return True
    mine = list(_allocations(chunk, tables))
    theirs = [call for other in around for call in _allocations(other, tables)]
    return bool(mine) and all(call in theirs for call in mine) and not _LAUNCH & set(chunk)


def _assigned(chunk: Chunk) -> set[str]:
    """The names that a statement assigns, or may: those in front of an assignment, and behind `++`."""
    found: set[str] = set()
    for n, word in enumerate(chunk):
        if word in _ASSIGNS:
            beside = [*chunk[:n][::-1][:1], *chunk[n + 1 : n + 2]] if word in ("++", "--") else chunk[:n][::-1][:1]
            found.update(beside)
    return found


def _members(chunks: Sequence[Chunk]) -> list[bool]:
    """For each statement of C++, whether it stands in a class: a variable there is a part of all its objects."""
    found: list[bool] = []
    around: list[bool] = []
    opener: Chunk = ()
    for chunk in chunks:
        found.append(bool(around) and around[-1])
        if chunk == ("{",):
            around.append(bool({"class", "struct", "union", "enum"} & set(opener)) and ")" not in opener)
        elif chunk == ("}",) and around:
            around.pop()
        opener = chunk
    return found


def _is_in_python(chunk: Chunk, others: set[str], tables: Tables) -> bool:
    """Whether a migration may add a line of Python, or remove one, `others` being the words of the text without it."""
    if chunk[0] in ("import", "from"):
        named = chunk[chunk.index("import") + 1 :]
        bound = {word for n, word in enumerate(named) if WORD.fullmatch(word) and named[n + 1 : n + 2] != ("as",)} - {
            "as"
        }
        return chunk[1] in _PACKAGES and not bound & (others - _PACKAGES) and "*" not in named
    if {chunk[0], *chunk} & (_COMPOUND | _LEAVES | {":=", ";"}):
        return False
    calls = list(_calls(chunk))
    if any(not _moves_in_python(name, call, tables) for name, call in calls):
        return False
    if "=" not in chunk or (calls and chunk.index("=") > chunk.index("(")):  # a statement, with arguments by name
        return bool(calls) and not _assigned(chunk[: chunk.index("(")])
    target = chunk[: chunk.index("=")]
    return len(target) == 1 and target[0] not in others


def _moves_in_python(name: str, call: Chunk, tables: Tables) -> bool:
    return (
        name in _MOVES_PYTHON
        or _effect(name, call, tables) in _MOVES
        or any(_moves_in_python(inner, part, tables) for inner, part in _calls(call[1:]))  # a check around it
    )


def _foreign(
    chunks: Sequence[Chunk], members: Sequence[bool], others: set[str], own: frozenset[str], tables: Tables
) -> Iterator[Chunk]:
    """The statements of C++ that no migration adds or removes, `others` being the words of the text without them, and
    `members` says of each whether it stands in a class; `own` are the variables that only this program has, and its
    functions that set up the pool.
    """
    failed = -1  # how deep in braces the program is told that a call has failed
    depth = 0
    whole = chunks.count(("{",)) == chunks.count(("}",))
    for chunk, member in zip(chunks, members, strict=True):
        depth = max(depth + (chunk == ("{",)) - (chunk == ("}",)), 0)  # a brace of both texts may close here
        if failed >= 0 and chunk == ("}",) and depth <= failed:
            failed = -1
        elif (
            whole
            and chunk[0] == "if"
            and chunk[-1] == ")"
            and not (_assigned(chunk) or any(True for _ in _calls(chunk)))
        ):
            continue  # what it runs is looked at
        elif (not depth and _set_up(chunk) in own) or (chunk[0] in own and chunk[1:] == ("(", ")", ";")):
            continue  # what the function does is looked at, here and in the IR
        elif (
            failed < 0
            and chunk not in _BRACES
            and not _is_of_a_migration(chunk, others, own, depth > 0, member, tables)
        ):
            yield chunk
        elif chunk[0] == "if" and "cudaSuccess" in chunk and chunk[-1] == ")":  # what it runs, the IR looks at
            failed = depth


def _set_up(chunk: Chunk) -> str:
    """The name of a function that begins here and may be one that sets up the pool; empty if none does."""
    words = tuple(word for n, word in enumerate(chunk) if n > 1 or word not in ("static", "inline"))
    begins = len(words) < len(chunk) and words[:1] == ("void",) and words[2:] in (("(", ")"), ("(", "void", ")"))
    return words[1] if begins else ""


class SetUps(NamedTuple):
    """The functions of a header that may set up the pool by their text. `alone`: there is nothing else in it but a
    guard, and includes.
    """

    names: frozenset[str]
    alone: bool


def set_ups(data: bytes, tables: Tables) -> SetUps:
    """What a header holds, as if a migration had written it. Nothing is said of one with conditions in it."""
    chunks = list(_statements(data))
    alone = chunks[:1] == [("#pragma", "once")]
    if alone:
        chunks = chunks[1:]
    elif is_guarded_by_a_name(data):
        alone, chunks = True, chunks[2:-1]
    if any(chunk[0].startswith(("#if", "#el", "#endif", "#undef")) for chunk in chunks):
        return SetUps(frozenset(), False)
    names: list[str] = []
    at = 0
    while at < len(chunks):
        chunk, body = chunks[at], at + 1
        if chunk[0] != "#include":
            end = _closes(chunks, body) if _set_up(chunk) else body
            inside = chunks[body:end]
            own = frozenset(name for one in inside for name in _declared(one) if _is_local(name, inside))
            others = {word for one in (*chunks[:at], *chunks[end:]) for word in one}
            if inside and not any(_foreign(inside, [False] * len(inside), others, own, tables)):
                names.append(_set_up(chunk))
                at = end
                continue
            alone = False
        at += 1
    return SetUps(frozenset(names), alone and len(names) == len(set(names)))


def is_guarded_by_a_name(data: bytes) -> bool:
    """Whether a text begins with `#ifndef NAME` and `#define NAME`, and ends with the `#endif`."""
    chunks = list(_statements(data))
    if len(chunks) < 3 or chunks[0][0] != "#ifndef" or chunks[1] != ("#define", *chunks[0][1:]):
        return False
    depth = 1
    for chunk in chunks[1:-1]:
        depth += chunk[0].startswith("#if") - (chunk[0] == "#endif")
        if not depth or (depth == 1 and chunk[0].startswith("#el")):
            return False
    return depth == 1 and chunks[-1] == ("#endif",)


def only_called(name: str, texts: Iterable[bytes]) -> bool:
    """Whether a name means nothing else in some texts than a function that statements call with nothing."""
    word, call = name.encode(), (name, "(", ")", ";")
    found = (chunk for text in texts if word in text for chunk in _statements(text) if name in chunk)
    return all(chunk == call for chunk in found)


def _is_local(name: str, body: Sequence[Chunk]) -> bool:
    """Whether a name means one variable wherever a function has it, declared in front of all uses and around them."""
    uses = [n for n, chunk in enumerate(body) if name in chunk]
    if name not in _declared(body[uses[0]]) or sum(name in _declared(body[n]) for n in uses) > 1:
        return False
    depth = 0
    for n in range(uses[0], uses[-1]):
        depth += (body[n] == ("{",)) - (body[n] == ("}",))
        if depth < 0:
            return False
    return True


def _closes(chunks: Sequence[Chunk], at: int) -> int:
    """Behind the brace that closes the one at `at`; `at` itself if there is none, or it is not closed."""
    depth = 0
    for n in range(at, len(chunks)):
        depth += (chunks[n] == ("{",)) - (chunks[n] == ("}",))
        if depth <= 0:
            return n + 1 if n > at else at
    return at


def _is_of_a_migration(
    chunk: Chunk, others: set[str], own: frozenset[str], block: bool, member: bool, tables: Tables
) -> bool:
    """`block`: in braces that only this text has, whose variables are their own. `member`: of a class."""
    if chunk in ((";",), ("else",)) or (chunk[0] == "#include" and chunk[1:2] == ("<",)):
        return True
    if _LAUNCH & set(chunk) or chunk[0].startswith("#"):
        return False
    calls = list(_calls(chunk))
    moves = any(_effect(name, call, tables) in _MOVES for name, call in calls)
    for name, call in calls:
        checks = any(_effect(inner, part, tables) in _MOVES for inner, part in _calls(call[1:]))
        if not checks and _effect(name, call, tables) not in _MOVES and not (moves or "cudaSuccess" in chunk):
            return False
    written = _assigned(chunk)
    if moves or "cudaSuccess" in chunk:
        status = chunk[1:2] == ("=",) and written == {chunk[0]}  # `err = cudaStreamSynchronize(s);`
        return status or chunk[0] in ("cudaError_t", "auto", "if", "const") or not written & others
    if _LEAVES & set(chunk) or calls:
        return False
    if chunk[0] == "if":
        return not {word for word in chunk if WORD.fullmatch(word) and word not in _KEYWORDS} & others
    if written and chunk[1:2] == ("=",):  # one that is declared out of sight may be anybody's
        return written <= own
    if not _DECLARES.fullmatch(" ".join(chunk)):
        return False
    name = _declares(chunk)
    return block or (name not in others and (not member or chunk[0] == "static" or chunk[0].startswith("cuda")))


# -- C++ --------------------------------------------------------------------------------------------------------------


def _statements(text: bytes) -> Iterator[Chunk]:
    """The statements of a text: what stands between semicolons, braces and the ends of directives."""
    tokens = _named_again(_without_streams(list(_tokens(text.decode("utf-8", "replace"))), _DROPS))
    start = depth = 0
    for n, word in enumerate(tokens):
        depth += (word in "([") - (word in ")]")
        if word == "\n" or (word in _SPLITS and (depth <= 0 or word in "{}")):
            part = [t for t in tokens[start : n + (word in ";{")] if t != "\n"]
            if part and part != [";"]:
                if part[-1] == "{" and len(part) > 1:
                    yield tuple(part[:-1])
                    yield ("{",)
                else:
                    yield tuple(part)
            if word == "}":
                yield ("}",)
            start = n + 1
            depth = 0 if word in "{}\n" else depth
    if tokens[start:]:
        yield tuple(t for t in tokens[start:] if t != "\n")


def _tokens(text: str) -> Iterator[str]:
    """The tokens of C++; `#name` is one, and the end of a directive is a line feed."""
    directive = False
    at = 0
    while at < len(text) and (found := _TOKEN.match(text, at)) is not None:
        if found.lastgroup == "space" or found["space"] is not None:
            if directive and "\n" in found[0] and not found[0].startswith(("\\\n", "/*")):
                directive = False
                yield "\n"
        elif found[0] == "#" and not directive and not text[text.rfind("\n", 0, at) + 1 : at].strip():
            directive = True
            name = re.compile(r"#\s*(\w*)").match(text, at)
            yield "\n"
            yield f"#{name[1] if name is not None else ''}"
            at = name.end() if name is not None else at + 1
            continue
        else:
            yield found[0]
        at = found.end()


def _without_streams(tokens: list[str], drops: Mapping[str, tuple[str, int]]) -> list[str]:
    """The tokens with the blocking forms of the stream-ordered calls, which have the same arguments in front."""
    out: list[str] = []
    at = 0
    while at < len(tokens):
        word = tokens[at]
        plain, arity = drops.get(word, ("", 0))
        if word in ("cudaMalloc", "cudaMallocAsync") and tokens[at + 1 : at + 2] == ["<"]:  # the type of the pointer
            closes = next((n for n in range(at, len(tokens)) if tokens[n] == "("), at + 1)
            del tokens[at + 1 : closes]
        if word in ("cudaMalloc", "cudaMallocAsync") and tuple(tokens[at + 1 : at + 1 + len(_CAST)]) == _CAST:
            del tokens[at + 2 : at + 1 + len(_CAST)]  # the runtime's template makes it too
        if plain and tokens[at + 1 : at + 2] == ["("]:
            end = _end(tokens, at + 1)
            call = tuple(tokens[at : end + 1])
            if _arity(call) == arity + 1:
                last = max(n for n, t in enumerate(call) if t == "," and _arity((*call[:n], ")")) == arity)
                if not (_ASSIGNS - {"="} if drops is _DROPS_PYTHON else _ASSIGNS) & set(call[last:]):
                    tokens[at : end + 1] = [plain, *call[1:last], ")"]
                    continue
        out.append(word)
        at += 1
    return out


def _named_again(tokens: list[str]) -> list[str]:
    """The tokens with `cudaFree` where that is given as a value, or a lambda that calls it at its end: what else stands
    in the lambda comes in front.
    """
    out: list[str] = []
    begins = at = 0  # where the statement begins
    while at < len(tokens):
        named = tokens[at + 5] if tokens[at : at + 5] == ["[", "]", "(", "void", "*"] else ""
        end = _end(tokens, at + 7) if named and tokens[at + 6 : at + 8] == [")", "{"] else at
        if end > at and tokens[end - 6 : end + 1] == ["return", "cudaFree", "(", named, ")", ";", "}"]:
            out[begins:begins] = inside = tokens[at + 8 : end - 6]
            begins += len(inside)
            out.append("cudaFree")
            at = end + 1
            continue
        if tokens[at] == "cudaFree":
            while out[-2:-1] and out[-2] in "(,{&" and out[-1] in ("&", "::"):
                out.pop()
        out.append(tokens[at])
        if tokens[at] in _SPLITS:
            begins = len(out)
        at += 1
    return out


# -- Python -----------------------------------------------------------------------------------------------------------


def _lines(text: bytes) -> list[Chunk]:
    """The logical lines of Python, without comments; in front of each, how deep it stands."""
    chunks: list[Chunk] = []
    line: list[str] = []
    depth = 0
    skipped = (tokenize.COMMENT, tokenize.NL, tokenize.ENCODING, tokenize.ENDMARKER)
    try:
        for word in tokenize.tokenize(io.BytesIO(text).readline):
            if word.type == tokenize.NEWLINE:
                chunks.append((">" * depth, *_plain_memory(_without_streams(line, _DROPS_PYTHON))))
                line = []
            elif word.type in (tokenize.INDENT, tokenize.DEDENT):
                depth += 1 if word.type == tokenize.INDENT else -1
            elif word.type not in skipped:
                line.append(word.string)
    except (tokenize.TokenError, SyntaxError):
        return [("", text.decode("utf-8", "replace"))]
    return chunks


def _plain_memory(line: list[str]) -> list[str]:
    """A line without the allocator that CuPy is given: none, or the `malloc` of a pool."""
    for n, word in enumerate(line):
        if word in _ALLOCATORS and line[n + 1 : n + 2] == ["("]:
            end = _end(line, n + 1)
            given = line[n + 2 : end]
            if given[-1:] in (["None"], ["malloc"], ["_malloc"]):
                return [*line[: n + 2], *_plain_memory(line[end:])]
    return line
