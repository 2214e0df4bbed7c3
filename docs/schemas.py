"""The JSON schemas of the configuration and of the JSON report: `python -m docs.schemas` writes them.

They are made from the names that the code knows, so that an editor offers all of them and no other.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from cudafix import codemod
from cudafix.findings import ASSUMPTIONS, Runs, Safety
from cudafix.models import api
from cudafix.project import config
from cudafix.refusals import REFUSALS
from cudafix.report import suppressions
from cudafix.report.listing import Level

FOLDER = Path(__file__).resolve().parents[1] / "cudafix" / "report" / "schemas"
_DRAFT = "http://json-schema.org/draft-07/schema#"  # what editors and taplo read
_QUALIFIED = r"^[A-Za-z_]\w*(::[A-Za-z_]\w*)*$"
Schema = dict[str, Any]


def _table(properties: Schema, description: str = "", required: tuple[str, ...] = ()) -> Schema:
    """A table with these keys and no others."""
    return {
        **({"description": description} if description else {}),
        "type": "object",
        "properties": properties,
        **({"required": list(required)} if required else {}),
        "additionalProperties": False,
    }


def _strings(description: str, least: int = 0) -> Schema:
    found: Schema = {"description": description, "type": "array", "items": {"type": "string"}}
    return found | ({"minItems": least} if least else {})


def _one_of(values: list[str], description: str = "") -> Schema:
    return {**({"description": description} if description else {}), "enum": values}


def configuration() -> Schema:
    """Of `cudafix.toml`, and of `tool.cudafix` in `pyproject.toml`."""
    names = sorted(codemod.names())
    switches = _table({name: {"type": "boolean"} for name in names}, "codemods that are on or off; all are on")
    assumed = {
        "description": "`true`, or the subjects that it holds for",
        "oneOf": [{"type": "boolean"}, {"type": "array", "items": {"type": "string"}}],
    }
    assume = _table(dict.fromkeys(ASSUMPTIONS, assumed), "assumptions that hold")
    stream = _one_of(["auto", "legacy", "per-thread"], "how the code is compiled; `auto`: as its build says")
    named = {
        "description": "what a stream is called wherever that means the right one",
        "type": "string",
        "examples": ["ctx.stream()"],
    }
    ignored = _table(
        {
            "files": _strings("patterns in .gitignore syntax", 1),
            "names": {"type": "array", "items": _one_of(sorted((*names, *REFUSALS))), "minItems": 1},
            "reason": {"description": "why these results stay", "type": "string", "pattern": r"\S"},
        },
        required=("files", "names", "reason"),
    )
    override = _table(
        {
            "assume": assume,
            "codemods": switches,
            "default_stream": stream,
            "files": _strings("patterns in .gitignore syntax", 1),
            "functions": _strings("the functions that `stream` is for", 1),
            "stream": named,
        },
        required=("files",),
    )
    row = {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "effect": _one_of(sorted(effect.value for effect in api.Effect)),
            "roles": {"type": "string"},
        },
        "required": ["name"],
    }
    keys: Schema = {
        "assume": assume,
        "baseline": {"description": "the baseline of `check`, relative to this file", "type": "string"},
        "check_macros": {
            **_strings("macros and functions of headers outside the tree that only look at the status they get"),
            "items": {"type": "string", "pattern": r"^[A-Za-z_]\w*$"},
        },
        "codemods": switches,
        "cuda": {
            "description": "the oldest CUDA that is built with",
            "type": "string",
            "pattern": r"^\d+\.\d+$",
            "examples": ["11.0"],
        },
        "default_stream": stream,
        "exclude": _strings("patterns in .gitignore syntax, relative to this file"),
        "fail_on": {
            "description": "what makes `check` fail",
            "type": "array",
            "items": _one_of(sorted(config.FAIL_ON)),
        },
        "guard": {"description": "below 11.2, put each edit behind a check of the version", "type": "boolean"},
        "ignore": {"description": "results that stay, and why", "type": "array", "items": ignored},
        "overrides": {"description": "what holds for some files", "type": "array", "items": override},
        "paths": _strings("files and folders to work on, relative to this file"),
        "pool_setup": {"description": "the header whose function sets up pools", "type": "string"},
        "pool_threshold": {
            "description": "what a pool keeps: `max`, `keep` (the driver's default: nothing), or a size",
            "type": "string",
            "pattern": r"^(max|keep|[1-9]\d* ?([KMG]iB|B))$",
            "examples": ["max", "keep", "64 MiB"],
        },
        "pools": _one_of(["fallback", "required"], "what becomes of devices without memory pools"),
        "stream": named,
        "tables": {
            "description": "rows of your own, or TOML files with [[api]] rows: what calls do",
            "type": "array",
            "items": {"oneOf": [{"type": "string"}, row]},
        },
        "wrappers": _table(
            {key: {"type": "string", "pattern": _QUALIFIED} for key in ("free", "malloc")},
            "functions of the project that are called instead of those of the runtime",
            required=("free", "malloc"),
        ),
    }
    return {"$schema": _DRAFT, "title": "Configuration of cudafix", **_table(keys)}


def report() -> Schema:
    """Of `check --format json`."""
    text, count = {"type": "string"}, {"type": "integer", "minimum": 0}
    at = {name: {"type": "integer", "minimum": 1} for name in ("line", "column", "end_line", "end_column")}
    place = _table({"path": text, **at, "message": text}, required=("path", *at, "message"))
    resting = _table({"name": _one_of(sorted(ASSUMPTIONS)), "subject": text, "message": text})
    edit = _table({"path": text, "start": count, "end": count, "text": text}, required=("path", "start", "end", "text"))
    rules = sorted((*codemod.names(), *REFUSALS, suppressions.NAME))
    shared = {
        "rule": _one_of(rules, "a codemod or a refusal: `cudafix explain NAME`"),
        "level": _one_of([level.value for level in Level]),
        "fails": {"description": "whether `check` fails with it", "type": "boolean"},
        "path": {"description": "from the repository", "type": "string"},
        **at,
        "message": text,
        "fingerprint": {"description": "stays when lines move", "type": "string", "pattern": "^[0-9a-f]{32}$"},
        "runs": {"enum": [*(runs.value for runs in Runs), None]},
        "related": {"type": "array", "items": place},
        "suppressed": {"description": "the reason that a comment or the configuration gives", "type": "string"},
    }
    finding = _table(
        {
            **shared,
            "safety": _one_of([safety.value for safety in Safety]),
            "assumptions": {"type": "array", "items": resting},
            "defaults": {"type": "array", "items": resting},
            "group": {"description": "results of one group, if it is not 0, move together", **count},
            "edits": {
                "description": "in bytes of the files; null if a text is no UTF-8",
                "oneOf": [{"type": "array", "items": edit}, {"type": "null"}],
            },
        },
        "a finding",
        (*(name for name in shared if name != "suppressed"), "safety", "assumptions", "defaults", "group", "edits"),
    )
    refusal = _table(
        {**shared, "unlock": {"description": "what would let the site move", "type": "string"}},
        "a refusal: a site that stays as it is",
        (*(name for name in shared if name != "suppressed"), "unlock"),
    )
    reason = _table({"name": text, "sites": count, "files": count, "details": {"type": "object"}})
    counts = dict.fromkeys(("sites", "migrated", "ready", "churn", "assumed", "refused"), count)
    statistics = _table(
        {
            **counts,
            "reasons": {"type": "array", "items": reason},
            "assumptions": {"type": "array", "items": reason},
            "left": {"type": "object", "additionalProperties": count},
        },
        required=(*counts, "reasons", "assumptions", "left"),
    )
    left = _table({"path": text, "line": at["line"], "rule": _one_of(rules), "reason": text})
    keys = {
        "version": {"description": "changes when a key goes or changes its meaning", "const": 1},
        "statistics": statistics,
        "results": {"type": "array", "items": {"oneOf": [finding, refusal]}},
        "left": {"description": "fixes that are not made, and why", "type": "array", "items": left},
    }
    return {"$schema": _DRAFT, "title": "Report of cudafix check", **_table(keys, required=tuple(keys))}


def texts() -> dict[Path, str]:
    """What the files hold."""
    made = {"configuration": configuration(), "report": report()}
    return {FOLDER / f"{name}.json": json.dumps(schema, indent=1) + "\n" for name, schema in made.items()}


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for path, text in texts().items():
        path.write_text(text, encoding="utf-8")
