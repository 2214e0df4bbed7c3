"""What cudafix writes for random texts, against each path of the text before and after.

HYPOTHESIS_PROFILE=long pytest tests/soundness/test_exact_paths.py --hypothesis-show-statistics
"""

from __future__ import annotations

from hypothesis import event, given, note

from cudafix.findings import Safety
from cudafix.pipeline.driver import analyze
from cudafix.project.config import Config
from cudafix.rewrite.edits import apply
from tests.exact_paths import check
from tests.random_texts import texts

PATH = "random.cu"


def rewritten(text: str) -> str:
    """The text with all that is proven."""
    report = analyze({PATH: text.encode()}, Config())
    edits = [edit for finding in report.findings if finding.safety is Safety.PROVEN for edit in finding.edits]
    return apply(text.encode(), edits).decode()


@given(texts())
def test_no_rewrite_of_a_text_loses_what_the_program_guaranteed(text: str) -> None:
    after = rewritten(text)
    event("rewritten" if after != text else "left alone")
    found = check(text, after)
    if found is None:
        event("too many paths, or none without an error")
    note(text)
    note(after)
    assert not found
