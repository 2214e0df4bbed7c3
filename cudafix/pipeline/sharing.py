"""Proofs that were made elsewhere: `check --shard I/N` writes them to a file, `cudafix merge` takes them over.

A file holds the reports on the clusters of a shard by the same keys as the cache, so a run that has merged those of all
shards proves nothing itself, and says what a run of its own would say: there is no other kind of union.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from cudafix.findings import Report
from cudafix.pipeline import cache
from cudafix.pipeline.cache import Cache, signature
from cudafix.project import outputs

_FORMAT = "cudafix proofs 1"


class ShardError(Exception):
    """A shard that cannot be, or a file that cannot be used. The message is one line."""


class Shard(NamedTuple):
    """Shard `number`, from 1, `of` so many."""

    number: int
    of: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """From `I/N`. Raises `ShardError`."""
        match = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text)
        if match is None or not 1 <= int(match[1]) <= int(match[2]):
            raise ShardError(f"`{text}`: a shard is `I/N`, from 1/N to N/N")
        return cls(int(match[1]), int(match[2]))

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


def may_write(file: str) -> None:
    """Whether proofs may be written there. Raises `ShardError`."""
    try:
        outputs.check(file, outputs.Kind.PROOFS)
    except outputs.OutputError as error:
        raise ShardError(str(error)) from None


def write(file: str, shard: Shard, proofs: Mapping[bytes, Report]) -> None:
    """Write the proofs of a shard, whole or not at all. Raises `ShardError`."""
    content = {
        "format": _FORMAT,
        "cudafix": signature().hex(),
        "shard": str(shard),
        "proofs": {key.hex(): b64encode(cache.dumped(proofs[key])).decode() for key in sorted(proofs)},
    }
    try:
        outputs.write(file, json.dumps(content, indent=0) + "\n", outputs.Kind.PROOFS)
    except outputs.OutputError as error:
        raise ShardError(str(error)) from None


def merge(files: Sequence[str], into: Cache) -> str:
    """Put the proofs of all files into the cache; in words what that was. Raises `ShardError`, taking nothing then."""
    proofs: dict[bytes, Report] = {}
    shards: set[Shard] = set()
    for file in files:
        shard, found = _read(file)
        shards.add(shard)
        proofs |= found
    if not into.put_entries(proofs):
        raise ShardError(f"{into.file}: the cache cannot be written")
    wanted = {Shard(n, shard.of) for shard in shards for n in range(1, shard.of + 1)}
    missing = ", ".join(map(str, sorted(wanted - shards)))
    return f"{len(proofs)} proofs of {len(shards)} shard{'s' * (len(shards) != 1)}" + (
        f"; {missing} missing: the next run makes those proofs itself" if missing else ""
    )


def _read(file: str) -> tuple[Shard, dict[bytes, Report]]:
    try:
        content = json.loads(Path(file).read_bytes())
    except OSError as error:
        raise ShardError(f"{file}: cannot be read: {error.strerror}") from None
    except ValueError:
        content = None
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        raise ShardError(f"{file}: not a file that `check --shard` has written")
    if content.get("cudafix") != signature().hex():
        raise ShardError(f"{file}: made by another version of cudafix, or of its parsers")
    try:
        shard = Shard.parse(content["shard"])
        found = {bytes.fromhex(key): cache.loaded(b64decode(value), Report) for key, value in content["proofs"].items()}
    except (KeyError, TypeError, ValueError, AttributeError):
        raise ShardError(f"{file}: damaged") from None
    whole = {key: report for key, report in found.items() if report is not None}
    if len(whole) != len(found):
        raise ShardError(f"{file}: damaged")
    return shard, whole
