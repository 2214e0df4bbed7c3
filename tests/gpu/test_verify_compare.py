"""When two outputs count as the same, and what is said where they do not; the bisection; the timings."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cudafix.verify import bisect, timing
from cudafix.verify.compare import Comparison, Seen, difference
from cudafix.verify.process import Ran


def seen(stdout: bytes = b"", stderr: bytes = b"", code: int | None = 0, **files: bytes | None) -> Seen:
    return Seen(Ran(code, 0.1, stdout, stderr, "stopped after 1 s" if code is None else ""), files)


TIME = Comparison(ignore=(r"[Tt]ime: [\d.]+ ?ms",))
CLOSE = Comparison(tolerance=1e-6)


@pytest.mark.parametrize(
    ("how", "one", "other", "said"),
    [
        (Comparison(), seen(b"a\n"), seen(b"a\n"), ""),
        (Comparison(), seen(b"a\nb\n"), seen(b"a\nc\n"), "stdout: line 2: 'b', then 'c'"),
        (Comparison(), seen(b"a\n"), seen(b"a\nb\n"), "stdout: 1 lines, then 2: 'b'"),
        (Comparison(), seen(b"a\n"), seen(b"a\r\n"), "stdout: the line ends differ"),
        (Comparison(), seen(), seen(code=1), "exit code: 0, then 1"),
        (Comparison(), seen(), seen(code=-11), "exit code: 0, then signal 11"),
        (Comparison(), seen(), seen(code=None), "exit code: 0, then stopped after 1 s"),
        (Comparison(), seen(stderr=b"x"), seen(stderr=b"y"), "stderr: line 1: 'x', then 'y'"),
        (Comparison(streams=("stdout",)), seen(stderr=b"x"), seen(stderr=b"y"), ""),
        (Comparison(streams=()), seen(b"x"), seen(b"y"), ""),
        (Comparison(), seen(out=b"1"), seen(out=b"2"), "out: line 1: '1', then '2'"),
        (Comparison(), seen(out=b"1"), seen(out=None), "out: written only before"),
        (Comparison(), seen(b"\xff\n"), seen(b"\xfe\n"), r"stdout: line 1: '\\xff', then '\\xfe'"),
        (TIME, seen(b"Time: 1.5 ms\nok\n"), seen(b"Time: 22 ms\nok\n"), ""),
        (TIME, seen(b"Time: 1.5 ms\nok\n"), seen(b"Time: 22 ms\nno\n"), "stdout: line 2: 'ok', then 'no'"),
        (CLOSE, seen(b"sum = 1.0000001e3,\n"), seen(b"sum =  1000.0001,\n"), ""),
        (CLOSE, seen(b"sum = 1.001"), seen(b"sum = 1.002"), "stdout: line 1: 'sum = 1.001', then 'sum = 1.002'"),
        (CLOSE, seen(b"1e-9 nan inf 3.5ms"), seen(b"2e-9 NaN inf 3.5000001ms"), ""),
        (CLOSE, seen(b"inf"), seen(b"-inf"), "stdout: line 1: 'inf', then '-inf'"),
        (CLOSE, seen(b"GPU0 is 0x1f"), seen(b"GPU0 is 0x2f"), "stdout: line 1: 'GPU0 is 0x1f', then 'GPU0 is 0x2f'"),
        (CLOSE, seen(b"1 2"), seen(b"1 2 3"), "stdout: line 1: '1 2', then '1 2 3'"),
        (CLOSE, seen(b"x 1"), seen(b"y 1"), "stdout: line 1: 'x 1', then 'y 1'"),
    ],
)
def test_differences(how: Comparison, one: Seen, other: Seen, said: str) -> None:
    assert difference(one, other, how) == said


@given(st.integers(1, 14).flatmap(lambda n: st.tuples(st.just(n), st.sets(st.integers(0, n - 1), min_size=1))))
def test_bisection_finds_the_set_that_is_needed(drawn: tuple[int, set[int]]) -> None:
    count, needed = drawn
    assert bisect.smallest(range(count), lambda fixes: needed <= set(fixes)) == sorted(needed)


@given(st.lists(st.sets(st.integers(0, 9), min_size=1), min_size=1, max_size=4))
def test_no_fix_can_be_left_out_of_what_bisection_finds(causes: list[set[int]]) -> None:
    def breaks(fixes: Sequence[int]) -> bool:
        return any(cause <= set(fixes) for cause in causes)

    found = bisect.smallest(range(10), breaks)
    assert breaks(found)
    assert not any(breaks([fix for fix in found if fix != out]) for out in found)


def test_one_fix_of_many_is_found_in_few_tries() -> None:
    tries = 0

    def breaks(fixes: Sequence[int]) -> bool:
        nonlocal tries
        tries += 1
        return 700 in fixes

    assert bisect.smallest(range(1000), breaks) == [700]
    assert tries <= 2 * 10


@pytest.mark.parametrize(
    ("before", "after", "slower"),
    [
        ([9.0, 1.0, 1.0, 1.1], [9.0, 1.2, 1.3, 1.2], True),
        ([9.0, 1.0, 1.0, 1.4], [9.0, 1.2, 1.3, 1.5], False),  # slower in each round, but not out of what varies
        ([9.0, 1.0, 1.0, 1.0], [9.0, 1.03, 1.03, 1.03], False),  # less than what counts
        ([9.0, 0.01, 0.01, 0.01], [9.0, 0.016, 0.016, 0.016], False),  # the pool is made once
        ([1.0], [2.0], False),  # one round says nothing
    ],
)
def test_slower_means_apart_and_by_enough(before: list[float], after: list[float], slower: bool) -> None:
    assert timing.compare(before, after).slower is slower


def test_the_ratio_is_of_rounds_not_of_medians() -> None:
    found = timing.compare([9.0, 1.0, 2.0, 4.0], [1.0, 0.5, 1.0, 2.0])  # a machine that gets slower and slower
    assert (found.ratio, found.least, found.greatest, found.rounds) == (0.5, 0.5, 0.5, 3)
