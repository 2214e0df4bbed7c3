"""Which functions come to call one for which something holds."""

from __future__ import annotations

import random

from cudafix import ir
from cudafix.ir.link import Program
from cudafix.pipeline.tree import Tree


def test_what_is_found_of_one_function_at_a_time_is_what_calls_lead_to() -> None:
    chance = random.Random(1)
    for _ in range(25):
        count = chance.randrange(2, 9)
        calls = {n: {m for m in range(count) if chance.random() < 0.3} for n in range(count)}
        texts = (f"void f{n}(int i) {{ {' '.join(f'f{m}(i);' for m in called)} }}" for n, called in calls.items())
        declared = (f"void f{n}(int i);" for n in range(count))
        tree = Tree({"main.cu": "\n".join((*declared, *texts)).encode()})
        program = Program(variant.module for variant in tree.variants_of("main.cu"))
        holds = {n for n in range(count) if chance.random() < 0.2}
        wanted = set(holds)
        while more := {n for n, called in calls.items() if called & wanted} - wanted:
            wanted |= more
        asked = {f"f{n}" for n in holds}

        def is_asked(function: ir.Function, asked: set[str] = asked) -> bool:
            return function.name in asked

        found = program.reaching_those("named", is_asked)
        functions = list(program.functions())
        chance.shuffle(functions)
        assert {function.name for function in functions if id(function) in found} == {f"f{n}" for n in wanted}
        assert bool(found) == bool(wanted)
