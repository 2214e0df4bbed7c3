"""What is decided on a program is decided on others that mean the same (`tests/metamorphic.py`).

Of each fixture one variant is looked at; all of them with `HYPOTHESIS_PROFILE=long`.
"""

from __future__ import annotations

import os
import re
from collections import Counter

import pytest

from cudafix.findings import Report
from cudafix.pipeline.driver import analyze
from cudafix.project.config import Config
from cudafix.verify.cases import sources_of
from tests import metamorphic
from tests.cases import Case, cases
from tests.fixtures import rewritten

INSERTED = {b"device", b"pool", b"threshold", b"done"}  # names that cudafix declares, others where they are taken
CASES = [case for case in cases() if not case.is_python]
VARIANTS = [
    pytest.param(case, name, id=f"{name}-{case.id}")
    for n, case in enumerate(CASES)
    for k, name in enumerate(metamorphic.CHANGES)
    if (n + k) % len(metamorphic.CHANGES) == 0 or os.environ.get("HYPOTHESIS_PROFILE") == "long"
]


def decisions(report: Report) -> Counter[tuple[object, ...]]:
    """What a report says, without places and with the old names."""
    found = Counter[tuple[object, ...]]()
    for f in report.findings:
        related = tuple(sorted(_old(place.text) for place in f.related))
        found[f.codemod, _old(f.message), f.runs, f.safety, len(f.assumptions), related] += 1
    for r in report.refusals:
        found["refused", r.name, r.runs] += 1
    return found


def _old(text: str) -> str:
    return text.replace("_of_mine", "")


def _words(data: bytes) -> list[bytes]:
    """A text without its layout and its comments."""
    return re.findall(rb'"(?:[^"\\]|\\.)*"|\w+|[^\w\s\\]', re.sub(rb"//[^\n]*|/\*.*?\*/", b"", data, flags=re.DOTALL))


NOT_TOLD_APART = {("static_helpers_of_one_name_stay_in_their_files", "function_in_a_header")}
"""A call counts as one of each `static` function of its name that a header has, whichever headers its file includes."""
OTHER_SITES = {
    ("empty_input_allocates_zero_bytes", "inlined"),
    ("a_macro_that_frees_is_rewritten_in_its_definition", "function_in_a_header"),
}
"""A function that is called three times is three pairs once it is inlined, and the definition of a macro is in another
file than its uses once they are in a header.
"""
MORE_WAITS = {("every_early_exit_frees_what_is_live_there", "in_a_check")}
"""The same sites move there, with a synchronization more than is needed."""


@pytest.mark.parametrize(("case", "name"), VARIANTS)
def test_a_program_that_means_the_same_gets_the_same_decisions(case: Case, name: str) -> None:
    if (case.path.name, name) in OTHER_SITES:
        pytest.skip("the variant has other sites")
    if (case.path.name, name) in NOT_TOLD_APART:
        pytest.xfail("static functions of one name in two headers are not told apart")
    if (case.path.name, name) in MORE_WAITS:
        pytest.xfail("a synchronization more than is needed")
    files = sources_of(case.files("before"))
    variant = metamorphic.CHANGES[name](files)
    if variant is None:
        return  # nothing to change in this one
    config = Config(default_stream=case.config.default_stream)
    before, after = analyze(files, config), analyze(variant, config)
    assert decisions(after) == decisions(before)
    one, two = rewritten(files, before), rewritten(variant, after)
    match name:
        case "renamed" if not INSERTED & metamorphic.new_names(files).keys():
            assert {path: data.replace(b"_of_mine", b"") for path, data in two.items()} == one
        case "with_other_line_ends":
            assert {path: data.replace(b"\r\n", b"\n") for path, data in two.items()} == one
        case "reformatted":
            assert {p: _words(data) for p, data in two.items()} == {p: _words(data) for p, data in one.items()}
