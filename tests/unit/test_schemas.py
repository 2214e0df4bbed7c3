"""The JSON schemas that are installed: made from the names in the code, and true of what is read and written."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from cudafix import codemod
from cudafix.project import config
from docs import schemas
from tests import reports

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
CONFIGURATIONS = sorted({*ROOT.glob("fixtures/**/cudafix.toml"), *ROOT.glob("docs/examples/**/cudafix.toml")})


def fits(schema: dict[str, Any], data: object) -> bool:
    jsonschema.Draft7Validator.check_schema(schema)
    return jsonschema.Draft7Validator(schema).is_valid(data)


def test_the_files_are_what_the_code_says() -> None:
    written = {path: path.read_text(encoding="utf-8") for path in schemas.texts()}
    assert written == schemas.texts(), "names changed: run `python -m docs.schemas`"


def test_the_schema_of_the_configuration_has_the_keys_that_are_read() -> None:
    made = schemas.configuration()["properties"]
    assert sorted(made) == sorted(config._KEYS)
    assert sorted(made["ignore"]["items"]["properties"]) == sorted(config._IGNORE_KEYS)
    assert sorted(made["overrides"]["items"]["properties"]) == sorted(config._OVERRIDE_KEYS)


@pytest.mark.parametrize("path", CONFIGURATIONS, ids=lambda path: str(path.parent.relative_to(ROOT)))
def test_a_configuration_that_is_read_fits(path: Path) -> None:
    jsonschema.Draft7Validator(schemas.configuration()).validate(tomllib.loads(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    "text",
    [
        "excluded = []",
        "paths = 'src'",
        "cuda = 11.0",
        "guard = 'yes'",
        "pool_threshold = '64 MB'",
        "default_stream = 'new'",
        "check_macros = ['a b']",
        "codemods = { no_such = true }",
        "assume = { no_such = true }",
        "ignore = [{ files = ['a'], names = ['stream_ordered_pairs'] }]",
        "ignore = [{ files = [], names = ['stream_ordered_pairs'], reason = 'r' }]",
        "overrides = [{ codemods = {} }]",
    ],
)
def test_a_configuration_that_is_refused_does_not_fit(tmp_path: Path, text: str) -> None:
    (tmp_path / "cudafix.toml").write_text(text)
    with pytest.raises(config.ConfigError):
        config.load(tmp_path / "cudafix.toml", codemod.names())
    assert not fits(schemas.configuration(), tomllib.loads(text))


def test_the_report_fits_its_schema(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    written = json.loads(reports.rendered("json"))
    jsonschema.Draft7Validator(schemas.report()).validate(written)
    assert not fits(schemas.report(), {**written, "version": 2})
    for result in written["results"]:
        del result["fingerprint"]
    assert not fits(schemas.report(), written)
