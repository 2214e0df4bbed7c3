"""How the tables are written down: one line a row, names in families, parsed when a name of the row is asked for.

    cublas[SDCZ]gemm{,_64}   work   handle - - - - - hr r - r - hr rw -   ; waits=none
    `- names                 `- effect  `- one role for each parameter       `- extras

Names: `[SDCZ]` stands for one of these letters, `{,_64}` for one of these words; all combinations are rows. `name/4` is
the form with four arguments, for functions that changed their parameters; `type.method` is a method, `gl*` every name
that starts so, `npp*_Ctx` every name that starts and ends so. A name that is written out counts before one with a `*`
inside, that before one that ends in `*`; of each kind the table's first row of a name counts, of the last the longest.
One role may be repeated or left out: it ends in `*`. An argument in `use+keep` plays both roles. Extras are the fields
of `Api` by name, `sync`, `any`, `bytes`, `idle`, `reads_files`, `anywhere`, `timed`, `asks`, `ends` and `silent`
(`looks=False`) as bare words, and `why=` last, to the end of the line. A line that starts with `#` is a comment.

A line `@ DOCUMENT` says where the rows below it are documented, up to the next such line; the rows above the first one
are documented in the table's `source`. A row without a document counts as if it was not there: its names are those of
functions that may do anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from cudafix.models import nearest
from cudafix.models.api import Api, Effect, Waits, field_of

_ROLES = """
r w rw hr hw hrw put look use hidden new free stream streams stream? event handle pool graph stream_out event_out
handle_out pool_out graph_out out found alias of kind flags device fn kernel params args op keep keeper keeper_out swap
path setting command mode segment -
"""
ROLES = frozenset(_ROLES.split())
MEMORY = frozenset(("device", "async", "managed", "pinned", "mapped", "pitched", "array", "host", "shared"))
PLACES = frozenset(("legacy", "handle", "none", "unknown", "global"))
RETURNS = frozenset(("pointer", "same", "element", "view", "given", "time", "handle", "keeper", "hidden"))

UNDOCUMENTED = Api(Effect.EXTERNAL, ("rw*",), why="no document says what it does")
"""What stands for a row without a document: no call is answered with it."""

_LETTERS = re.compile(r"\[([^\[\]]+)\]")


@dataclass(frozen=True, slots=True)
class Table:
    """Rows from one document, or from several (see `@`). `looks`, `on` and `idle` are what rows mean that do not say.

    `exact`: a C library, where a call with fewer arguments is a call of something else (of an older interface).
    `templates`: see `Api`.
    `policies`: each function may be given an execution policy in front of its arguments (C++17, [algorithms.parallel]).
    """

    source: str
    rows: str
    looks: bool = True
    on: str = "legacy"
    exact: bool = False
    idle: bool = False
    policies: bool = False
    templates: bool = False

    def index(self) -> Iterator[tuple[str, str, str]]:
        """Every name in the table with its line, not yet parsed, and the document that says it ("" if none does)."""
        source = self.source
        for line in self.rows.splitlines():
            if line.startswith("@"):
                source = line[1:].strip()
            elif line and line[0] != "#":
                names = line.split(None, 1)[0]
                for name in expand(names) if "{" in names or "[" in names else (names,):
                    yield name, line, source

    def parse(self, line: str, source: str) -> Api:
        """The row as data, `UNDOCUMENTED` without a document. Raises ValueError with what is wrong."""
        if not source:
            return UNDOCUMENTED
        head, _, extras = line.partition(";")
        _, effect, *roles = head.split()
        fields: dict[str, str] = {}
        options, _, why = extras.partition("why=")
        for option in options.split():
            key, _, value = option.partition("=")
            fields[key] = value
        if why:
            fields["why"] = why.strip()
        return build(effect, roles, fields, self, source)


def expand(names: str) -> list[str]:
    """The names that a pattern stands for: `a[SD]{,_64}` is `aS`, `aS_64`, `aD`, `aD_64`. Braces nest."""
    return _alternatives(_LETTERS.sub(lambda letters: "{" + ",".join(letters[1]) + "}", names))


def _alternatives(text: str) -> list[str]:
    head, brace, rest = text.partition("{")
    if not brace:
        return [text]
    depth, start, options = 1, 0, []
    for position, char in enumerate(rest):
        depth += (char == "{") - (char == "}")
        if (char == "," and depth == 1) or depth == 0:
            options += _alternatives(rest[start:position])
            start = position + 1
        if depth == 0:
            tails = _alternatives(rest[start:])
            return [head + option + tail for option in options for tail in tails]
    raise ValueError(f"`{text}` opens a brace that it does not close")


def build(effect: str, roles: list[str], fields: dict[str, str], table: Table, source: str) -> Api:
    """An `Api` from words. Raises ValueError that says which word is wrong and which words there are."""
    check("effect", effect, _EFFECTS)
    for role in roles:
        for one in role.removesuffix("*").split("+"):
            check("role", "stream" if field_of(one, "stream") else one, ROLES)
    repeated = [role for role in roles if role.endswith("*")]
    if repeated[1:]:
        raise ValueError(f"only one role may be repeated, not `{'` and `'.join(repeated)}`")
    for key in fields:
        check("field", key, _FIELDS)
    for kind in ("memory", "holds"):
        check(kind, fields.get(kind, "device"), MEMORY)
    check("on", fields.get("on", table.on), PLACES)
    check("waits", fields.get("waits", "none"), _WAITS)
    check("returns", fields.get("returns", "same"), RETURNS)
    return Api(
        effect=Effect(effect),
        roles=tuple(roles),
        memory=fields.get("memory"),
        on=fields.get("on", table.on),
        waits=Waits(fields.get("waits", "none")),
        sync="sync" in fields,
        any="any" in fields,
        bytes="bytes" in fields,
        returns=fields.get("returns"),
        templates=table.templates,
        looks=table.looks and "silent" not in fields,
        idle=table.idle or "idle" in fields,
        holds=fields.get("holds"),
        reads_files="reads_files" in fields,
        unset=fields.get("unset"),
        why=fields.get("why"),
        anywhere="anywhere" in fields,
        timed="timed" in fields,
        asks="asks" in fields,
        ends="ends" in fields,
        source=source,
    )


def check(what: str, word: str, words: frozenset[str]) -> None:
    """Raise ValueError if `word` is none of `words`."""
    if word not in words:
        raise ValueError(f"unknown {what} `{word}`; {nearest.hint(word, words)}")


_EFFECTS = frozenset(effect.value for effect in Effect)
_WAITS = frozenset(waits.value for waits in Waits)
_FIELDS = frozenset(
    "memory on waits sync any bytes idle returns holds silent reads_files anywhere timed asks ends unset why".split()
)
