"""Which places of an object may be the same: what the index says is what comparing all of them says."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cudafix.ordering.facts.paths import ANY, Index, Path, overlaps, within_itself
from cudafix.ordering.interpreter.memory import OTHER, Cells, Environment, Ptr, Root

_KEYS = ("0", "1", "7", ANY, "k|0:n", "o|0:n", "k|2:4", 'c|"a"', 'c|"b"')
_STEPS = st.one_of(
    st.tuples(st.just("field"), st.sampled_from("abc")),
    st.tuples(st.just("at"), st.sampled_from(_KEYS)),
)
_PATHS = st.lists(_STEPS, max_size=4).map(tuple)


def _may_be_same(one: Path, other: Path) -> bool:
    return one == other or (len(one) == len(other) and overlaps(one, other))


@settings(deadline=None)
@given(st.lists(_PATHS, max_size=24, unique=True), st.lists(_PATHS, max_size=8), _PATHS)
def test_the_index_finds_what_looking_at_all_places_finds(first: list[Path], later: list[Path], asked: Path) -> None:
    cells = Cells((path, frozenset({Ptr(n)})) for n, path in enumerate(first))
    assert cells.index  # from here on it grows with the places
    before = cells.copy()
    for path in later:
        cells[path] = frozenset({OTHER})
    beside = before.copy()  # versions that grow apart share no list that either appends to
    for path in reversed(later[::2]):
        beside[path] = frozenset({OTHER})
    for found, places in ((before, {*first}), (cells, {*first, *later}), (beside, {*first, *later[::2]})):
        inside = [path for path in places if _may_be_same(path[: len(asked)], asked)]
        assert set(found.same(asked)) == {path for path in places if _may_be_same(path, asked)}
        assert set(found.inside(asked)) == set(inside)
        assert found.content(asked) == frozenset().union(*(found[path] for path in inside))


@settings(deadline=None)
@given(st.lists(_PATHS, max_size=24, unique=True), st.lists(_PATHS, max_size=8))
def test_members_are_compared_when_they_are_new(first: list[Path], later: list[Path]) -> None:
    def members(paths: Iterable[Path]) -> set[frozenset[str]]:
        found: dict[Path, set[str]] = {}
        for path in paths:
            for n, (kind, name) in enumerate(path):
                if kind == "field":
                    found.setdefault(tuple((k, f if k == "field" else "") for k, f in path[:n]), set()).add(name)
        return set(map(frozenset, found.values()))

    index = Index(first)
    assert set(index.not_compared(False)) == members(first)
    assert not index.not_compared(False)
    for path in later:
        index.add(path)
    fresh = set(index.not_compared(False))
    assert members([*first, *later]) - members(first) <= fresh <= members([*first, *later])
    assert set(index.not_compared(True)) == members([*first, *later])


@settings(deadline=None)
@given(st.lists(_PATHS, max_size=12, unique=True), st.lists(st.tuples(_PATHS, st.integers(0, 3)), max_size=8))
def test_many_stores_are_one_after_the_other(first: list[Path], stores: list[tuple[Path, int]]) -> None:
    root: Root = ("local", "", "o")
    one, other = Environment(), Environment()
    for env in (one, other):
        env.write_parts([(root, ())], {path: frozenset({Ptr(n)}) for n, path in enumerate(first)})
    for path, number in stores:
        one.write([(root, path), (root, path)], frozenset({Ptr(number)}))
    other.write_each(((root, path), frozenset({Ptr(number)})) for path, number in stores)
    assert dict(one[root]) == dict(other[root])


@pytest.mark.parametrize(
    ("path", "around"),
    [
        pytest.param("a.b.c", None, id="other_members"),
        pytest.param("buffer.buffer", None, id="a_member_of_a_member_of_one_name"),
        pytest.param("a.b.a.b.a.c", "a.b.a.b", id="again_and_again"),
    ],
)
def test_no_object_is_a_part_of_itself(path: str, around: str | None) -> None:
    def steps(names: str) -> Path:
        return tuple(("field", name) for name in names.split("."))

    assert within_itself(steps(path)) == (None if around is None else steps(around))


def test_a_part_too_deep_is_one_of_any_part() -> None:
    """What is stored in a part of a part of the same name may be in any part of that."""
    env = Environment()
    deep: Path = tuple(("field", name) for name in ("a", "b", "a", "b", "a"))
    place: Root = ("local", "", "o")
    env.write_parts([(place, ())], {deep: frozenset({Ptr(3)})})
    assert Ptr(3) in env.read((place, deep))
    assert Ptr(3) in env.read((place, (*deep, ("field", "c"))))
