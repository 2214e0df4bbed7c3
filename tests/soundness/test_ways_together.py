"""Ways of Python to hold memory, one inside another: what one of them keeps, the next gets, up to four of them, picked
at random from a fixed seed. What is read, or worked on, at the end is still waited for.
"""

from __future__ import annotations

import random

import pytest

from tests.soundness.test_ways_to_memory import cases
from tests.soundness.test_ways_to_memory_python import READER, USER, WAITS, is_in_order

MORE = """
class Table:
    rows = []
    last = None
    def __init__(self): self.mine = {}
    def add(self, key, value): self.mine[key] = value; return self
    def find(self, key): return self.mine[key]
    @classmethod
    def keep(cls, value): cls.last = value
    @classmethod
    def kept(cls): return cls.last
class Node:
    def __init__(self, value, behind=None): self.value, self.behind = value, behind
    @property
    def held(self): return self.value
class Leaf(Node):
    def __init__(self, value): super().__init__(value)
@dataclasses.dataclass
class First:
    a: object
@dataclasses.dataclass
class Second(First):
    b: int = 0
def named(*, value): return value
def last(*values): return values[-1]
def of_words(**words): return words["value"]
GLOBAL = None
def set_global(value):
    global GLOBAL
    GLOBAL = value
def get_global(): return GLOBAL
"""
# how `$` is kept, with a variable `@` to do it, and where it is found again
WAYS = r"""
@ = [$] | @[0]
@ = [[$]] | @[0][0]
@ = [None]; @[0] = $ | @[0]
@ = []; @.extend([$]) | @[0]
@ = [x for x in [$]] | @[0]
@ = sorted([$], key=id) | @[0]
@ = [$, 1]; @1, @2 = @ | @1
*@, _ = $, 1 | @[0]
@ = (1, $) | @[1]
@ = {'k': $} | @['k']
@ = {}; @.update(k=$) | @['k']
@ = dict(zip(['k'], [$])) | @['k']
@ = list({1: $}.values()) | @[0]
@ = collections.deque([$]) | @[0]
@ = next(iter([$])) | @
@ = [$].pop() | @
@ = max([$], key=id) | @
@ = copy.copy([$]) | @[0]
@ = Pair($, 1) | @.first
@ = Typed($, 1) | @.first
@ = types.SimpleNamespace(a=$) | @.a
@ = Data($) | @.p
@ = Second($, 1) | @.a
@ = Box($) | @.p
@ = Box($) | @.addr()
@ = Box($); @1 = @.ptr | @1
@ = Box(None); @.set_addr($) | @.p
@ = [Box($)] | @[0].p
@ = Sub($) | @.more_addr()
@ = Node($) | @.held
@ = Node(1, Node($)) | @.behind.value
@ = Leaf($) | @.held
Box.shared = $ | Box.shared
Box.store($) | Box.shared
@ = Table().add('a', $) | @.find('a')
@ = Table(); @.add('a', $) | @.mine['a']
Table.rows.append($) | Table.rows[0]
Table.keep($) | Table.kept()
Table.last = $ | Table().last
@, _ = both($, 1) | @
@ = same($) | @
@ = named(value=$) | @
@ = last(1, $) | @
@ = of_words(value=$) | @
set_global($) | get_global()
set_global($) | GLOBAL
look.kept = $ | look.kept
KEPT.append($) | KEPT[-1]
TABLE['d'] = $ | get_table()
@1 = $; @ = lambda: @1 | @()
@ = (lambda q: q)($) | @
@ = apply(lambda: $) | @
@ = functools.partial(same, $) | @()
def @(p=$): return p | @()
@ = $ if n else None | @
@ = None\n    for i in range(2):\n        if i: @ = $ | @
for @ in [$]: pass | @
with contextlib.nullcontext($) as @: pass | @
match $:\n        case @: pass | @
(@ := $) | @
"""
READS = """
ok = $[0]
print($)
look($)
ok = [y for y in $]
ok = f"{$}"
ok = np.sum($)
$[0] = 1
for y in $: pass
"""
WORK = """
run(f, $, s)
Runner(f, $, s).go()
check(cudart.cudaMemsetAsync($, 0, 80, s))
"""


def way_through(seed: str, start: str, ends: str) -> str:
    """`set up | use`: some ways that follow each other; where the one part ends and the other begins is random too."""
    dice = random.Random(seed)
    at, steps = start, []
    for number in range(dice.randint(2, 4)):
        keep, _, find = dice.choice(cases(WAYS)).partition(" | ")
        steps.append(keep.replace("@", f"v{number}_").replace("$", at))
        at = find.replace("@", f"v{number}_").replace("$", at)
    cut = dice.randint(0, len(steps))
    steps.append(dice.choice(cases(ends)).replace("$", at))
    return " | ".join("\\n    ".join(part) for part in (steps[:cut], steps[cut:]))


@pytest.mark.parametrize("number", range(60))
def test_what_is_read_at_the_end_of_several_ways_is_waited_for(number: int) -> None:
    assert is_in_order(READER, way_through(f"read {number}", "h", READS), WAITS, MORE)


@pytest.mark.parametrize("number", range(20))
def test_a_free_behind_work_at_the_end_of_several_ways_is_in_order(number: int) -> None:
    assert is_in_order(USER, way_through(f"work {number}", "d", WORK), (*WAITS, ", s"), MORE)
