"""What the environment knows of an object that is used as one of several classes: nothing of its parts."""

from __future__ import annotations

from cudafix.ordering.facts import paths
from cudafix.ordering.interpreter import memory as mem
from cudafix.ordering.interpreter.memory import Cell, Environment, Puns, Root

OBJECT: Root = ("memory", 1, "")
OTHER_OBJECT: Root = ("memory", 2, "")


def part(root: Root, *names: str) -> Cell:
    return root, (paths.FIRST, *(("field", name) for name in names))


def environment() -> Environment:
    puns = Puns(lambda one, other, told: False)
    found = Environment(puns=puns)
    found.write([part(OBJECT, "a")], frozenset({mem.Ptr(7)}))
    puns.add(OBJECT)
    return found


def test_any_part_may_hold_what_any_other_one_got() -> None:
    env = environment()
    env.write([part(OBJECT, "b", "c")], frozenset({mem.Ptr(8)}))
    assert {mem.Ptr(7), mem.Ptr(8), mem.ANYWHERE} <= env.read(part(OBJECT, "d"))
    assert len(env[OBJECT]) == 1


def test_what_two_paths_have_written_meets() -> None:
    env, other = environment(), environment()
    env.puns.add(OBJECT)
    other.write([part(OBJECT, "b")], frozenset({mem.Ptr(8)}))
    assert env.join(other)
    assert not env.join(other)
    assert {mem.Ptr(7), mem.Ptr(8), mem.ANYWHERE} <= env.read(part(OBJECT, "a"))


def test_a_copy_of_it_changes_the_parts_of_where_it_goes() -> None:
    env = environment()
    copy = (OTHER_OBJECT, (("at", paths.ANY),))
    env.write([part(OTHER_OBJECT, "stream")], frozenset({mem.ZERO}))
    env.write([copy], env.read(part(OBJECT)))
    env.write_parts([copy], env.parts([part(OBJECT)]))
    assert {mem.ZERO, mem.Ptr(7), mem.ANYWHERE} <= env.read(part(OTHER_OBJECT, "stream"))
