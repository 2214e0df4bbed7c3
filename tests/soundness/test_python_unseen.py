"""Python: every way in which a buffer gets to code that is not seen keeps it where it is.

`engine` is a module that is not in the tree: its functions may work on any stream and keep what they are given.
"""

from __future__ import annotations

import textwrap

import pytest

from cudafix.frontends.python.tree import PythonTree
from cudafix.pipeline.driver import analyze
from cudafix.project.config import Config

PROGRAM = """\
import collections, contextlib, copy, ctypes, functools, importlib, itertools, operator, pickle, struct, types, typing
import engine
import numpy as np
from cuda.bindings import runtime as cudart

def main():
    stream = cudart.cudaStreamCreate()[1]
    for _ in range(3):
        block = cudart.cudaMalloc(64)[1]
{body}
        cudart.cudaStreamSynchronize(stream)
        cudart.cudaFree(block)

main()
"""


def refused(body: str) -> list[str]:
    """The names of what is refused; empty where the pair moves."""
    text = PROGRAM.format(body=textwrap.indent(textwrap.dedent(body).strip(), " " * 8))
    report = analyze({"main.py": text.encode()}, Config())
    assert not report.problems
    return [refusal.name for refusal in report.refusals]


@pytest.mark.parametrize(
    "body",
    [
        # objects that come out of functions which say nothing about their kind
        "importlib.import_module('engine').run(block)",
        "copy.deepcopy(engine.context).run(block)",
        "pickle.load(open('x', 'rb')).run(block)",
        "typing.cast(object, engine.context).run(block)",
        "getattr(engine.context, 'run')(block)",
        "next(iter([engine.context])).run(block)",
        "min([engine.context]).run(block)",
        "types.SimpleNamespace(c=engine.context).c.run(block)",
        "with contextlib.nullcontext(engine.context) as c:\n    c.run(block)",
        "with contextlib.ExitStack() as stack:\n    stack.enter_context(engine.context).run(block)",
        # elements of containers
        "[engine.context].pop().run(block)",
        "{'a': engine.context}.get('a').run(block)",
        "{'a': engine.context}['a'].run(block)",
        "collections.deque([engine.context]).popleft().run(block)",
        "for c, p in zip([engine.context], [block]):\n    c.run(p)",
        # functions that call what they are given
        "list(map(engine.run, [block]))",
        "list(map(lambda p: engine.run(p), [block]))",
        "sorted([block], key=engine.run)",
        "functools.reduce(engine.run, [block, block])",
        "list(itertools.starmap(engine.run, [(block,)]))",
        "np.apply_along_axis(engine.run, 0, np.array([int(block)]))",
        # calls of what a call returned
        "functools.partial(engine.run, block)()",
        "operator.methodcaller('run', block)(engine.context)",
        "operator.attrgetter('run')(engine.context)(block)",
        # functions and classes that lead to it
        "engine.run(lambda: block)",
        "def get():\n    return block\nengine.run(get)",
        "def get(p=block):\n    return p\nengine.run(get)",
        "class Given:\n    @property\n    def address(self):\n        return int(block)\nengine.run(Given())",
        "class Given(engine.Base):\n    address = block",
        "class Given(engine.Base, address=block): pass",
        "@engine.keep\ndef get():\n    return block",
        "def get(p=engine.run(block)):\n    return p",
        # other forms of the address
        "engine.run((ctypes.c_void_p * 1)(int(block)))",
        "engine.run(ctypes.byref(ctypes.c_void_p(int(block))))",
        "engine.run(np.array([int(block)], dtype=np.uint64))",
        "engine.run(struct.pack('Q', int(block)))",
        "engine.run(f'{int(block):x}')",
        "engine.run('at ' + hex(block))",
        "engine.run(int(block) + 16)",
        "engine.run(*(block,))",
        "engine.run(**{'address': block})",
        "sizes = {block: 64}\nfor p in sizes:\n    engine.run(p)",
        "sizes = {}\nsizes[block] = 64\nengine.run(sizes)",
        "def each(sizes):\n    for p in sizes:\n        engine.run(p)\neach({block: 64})",
        "for p, _ in {block: 64}.items():\n    engine.run(p)",
        "match [block]:\n    case [p]:\n        engine.run(p)",
        "sum_ = 16\nsum_ += int(block)\nengine.run(sum_)",
        "all_ = []\nmore = [block]\nall_ += more\nengine.run(all_)",
        # places of others
        "engine.context.address = block",
        "engine.context.address += block",
        "engine.context.addresses['a'] = block",
        "engine.context.addresses.append(block)",
        "setattr(engine.context, 'address', block)",
    ],
)
def test_a_buffer_that_reaches_unseen_code_stays(body: str) -> None:
    assert refused(body)


@pytest.mark.parametrize(
    "body",
    [
        "print(f'{int(block):x}')",
        "print('at ' + hex(block))",
        "names = sorted(['b', 'a'], key=lambda name: name.lower())",
        "sizes = list(map(int, ['1', '2']))",
        "largest = max([1, 2], key=abs)",
        "assert len([block]) == 1 and isinstance(int(block), int)",
    ],
)
def test_what_only_looks_at_the_address_does_not_keep_the_pair(body: str) -> None:
    assert refused(body) == []


def test_a_script_that_reaches_only_a_file_that_cannot_be_read_is_no_program() -> None:
    files = {
        "broken.py": b"from cuda.bindings import runtime as cudart\ndef f(:\n    cudart.cudaMalloc(4)\n",
        "main.py": b"import broken\nif __name__ == '__main__':\n    broken.f()\n",
    }
    assert list(PythonTree(files).programs()) == [["broken.py"]]
    assert [(r.path, r.name) for r in analyze(files, Config()).refusals] == [("broken.py", "parse_error")]
