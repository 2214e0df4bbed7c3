"""Streams in lists, dictionaries and objects of Python: which statement can name them, and where none can any more."""

from __future__ import annotations

import textwrap

import pytest

from cudafix.pipeline.driver import analyze
from cudafix.project.config import Config
from cudafix.rewrite import edits

HEAD = """\
import sys
import numpy as np
from cuda.bindings import driver, runtime as cudart

def check(result):
    status, *rest = result
    if status != cudart.cudaError_t.cudaSuccess:
        raise RuntimeError(status)
    return rest[0] if rest else None

BACK = cudart.cudaMemcpyKind.cudaMemcpyDeviceToHost
n = 4096

def stream():
    return check(cudart.cudaStreamCreateWithFlags(cudart.cudaStreamNonBlocking))

def show(host):
    print(np.frombuffer(host, dtype=np.uint8).sum())
"""
MAIN = """
def main(host, flag):
{body}

main(check(cudart.cudaMallocHost(4 * n)), len(sys.argv) > 1)
"""


def decided(text: str, name: str = "main.py") -> list[str]:
    """The lines that change, less those of the pool; else what is refused."""
    report = analyze({name: text.encode()}, Config())
    changes = [edit for finding in report.findings for edit in finding.edits if edit.path == name]
    after = edits.apply(text.encode(), changes).decode()
    assert not changes or analyze({name: after.encode()}, Config()).findings == ()
    had = text.splitlines()
    moved = [line.strip() for line in after.splitlines() if line not in had]
    moved = [line for line in moved if "pool" not in line and "Pool" not in line and "threshold" not in line]
    return moved + [refusal.name for refusal in report.refusals]


def program(before: str, body: str = "") -> str:
    inner = textwrap.indent(textwrap.dedent(body or before).strip(), "    ")
    return HEAD + (textwrap.dedent(before) if body else "") + MAIN.format(body=inner)


@pytest.mark.parametrize(
    ("made", "name"),
    [
        ("streams = [stream(), stream()]", "streams[0]"),
        ("streams = (stream(), stream())", "streams[1]"),
        ('streams = {"up": stream(), "down": stream()}', 'streams["down"]'),
    ],
)
def test_a_stream_of_a_container_is_named_by_its_place(made: str, name: str) -> None:
    body = f"""
    {made}
    d = check(cudart.cudaMalloc(n))
    check(cudart.cudaMemcpyAsync(host, d, n, BACK, {name}))
    check(cudart.cudaStreamSynchronize({name}))
    check(cudart.cudaFree(d))
    show(host)
    """
    assert decided(program(body)) == [
        f"d = check(cudart.cudaMallocAsync(n, {name}))",
        f"check(cudart.cudaFreeAsync(d, {name}))",
    ]


@pytest.mark.parametrize(
    "change",
    [
        "streams.pop(0)",
        "streams.insert(0, stream())",
        "streams.reverse()",
        "streams.sort()",
        "streams.remove(streams[0])",
        "del streams[0]",
        "streams[:] = streams[::-1]",
        "streams = list(reversed(streams))",
        "streams = [stream()] + streams",
        "streams.clear()\n    streams.append(stream())",
        "streams[flag] = stream()",
    ],
)
def test_elements_that_change_places_are_other_streams(change: str) -> None:
    body = f"""
    streams = [stream(), stream()]
    d = check(cudart.cudaMalloc(n))
    check(cudart.cudaMemcpyAsync(host, d, n, BACK, streams[0]))
    {change}
    check(cudart.cudaStreamSynchronize(streams[0]))
    check(cudart.cudaFree(d))
    show(host)
    """
    assert decided(program(body)) in (["out_of_order"], ["needs_device_sync"])


def test_an_element_that_is_gone_is_not_named() -> None:
    body = """
    streams = [stream()]
    last = streams.pop()
    d = check(cudart.cudaMalloc(n))
    check(cudart.cudaMemcpyAsync(host, d, n, BACK, last))
    check(cudart.cudaFree(d))
    show(host)
    """
    moved = ["d = check(cudart.cudaMallocAsync(n, last))", "check(cudart.cudaStreamSynchronize(last))"]
    assert decided(program(body)) == [*moved, "check(cudart.cudaFreeAsync(d, last))"]


def test_an_index_that_is_not_known_may_be_any_element() -> None:
    body = """
    streams = [stream()]
    other = stream()
    streams.append(other)
    d = check(cudart.cudaMalloc(n))
    check(cudart.cudaMemcpyAsync(host, d, n, BACK, streams[flag]))
    check(cudart.cudaStreamSynchronize(other))
    check(cudart.cudaFree(d))
    show(host)
    """
    assert decided(program(body)) == ["needs_device_sync"]


@pytest.mark.parametrize(
    "made",
    [
        "if flag:\n        s = stream()",
        "s = stream() if flag else None",
        "for _ in range(len(sys.argv)):\n        s = stream()",
    ],
)
def test_a_stream_that_is_not_made_on_every_path_is_not_named(made: str) -> None:
    body = f"""
    {made}
    for _ in range(3):
        d = check(cudart.cudaMalloc(n))
        if flag:
            check(cudart.cudaMemcpyAsync(host, d, n, BACK, s))
        check(cudart.cudaFree(d))
    """
    assert decided(program(body)) in (["out_of_order"], ["needs_device_sync"])


FIELDS = """
class Context:
    def __init__(self):
        self.stream = stream()

class Engine:
    def __init__(self, count):
        {made}
        self.count = count
        self.d = check(cudart.cudaMalloc(n))

    def run(self, host):
        check(cudart.cudaMemcpyAsync(host, self.d, n, BACK, {name}))
        check(cudart.cudaStreamSynchronize({name}))

    def close(self):
        check(cudart.cudaFree(self.d))
"""


@pytest.mark.parametrize(
    ("made", "name"),
    [
        ("self.ctx = Context()", "self.ctx.stream"),
        ("self.streams = [stream(), stream()]", "self.streams[1]"),
        ('self.streams = {"up": stream()}', 'self.streams["up"]'),
        ("self.lanes = [Context(), Context()]", "self.lanes[0].stream"),
        ('self.lanes = {"main": [Context()]}', 'self.lanes["main"][0].stream'),
    ],
)
def test_a_stream_of_nested_objects_is_named_from_self(made: str, name: str) -> None:
    text = program(FIELDS.format(made=made, name=name), "e = Engine(3)\ne.run(host)\ne.close()\nshow(host)")
    assert decided(text) == [
        f"self.d = check(cudart.cudaMallocAsync(n, {name}))",
        f"check(cudart.cudaFreeAsync(self.d, {name}))",
    ]


POOL = """
class Pool:
    def __init__(self, count):
        self.count = count
        self.streams = [stream() for _ in range(count)]
        self.buffers = [check(cudart.cudaMalloc(n)) for k in range(count)]

    def run(self, host):
        for i in range(%s):
            check(cudart.cudaMemcpyAsync(host + n * i, self.buffers[i], n, BACK, self.streams[i]))

    def wait(self):
        for i in range(%s):
            check(cudart.cudaStreamSynchronize(self.streams[i]))

    def close(self):
        for i in range(self.count):
            check(cudart.cudaFree(self.buffers[i]))
"""
MOVED = [
    "self.buffers = [check(cudart.cudaMallocAsync(n, self.streams[k])) for k in range(count)]",
    "check(cudart.cudaFreeAsync(self.buffers[i], self.streams[i]))",
]


@pytest.mark.parametrize(
    ("run", "wait", "right"),
    [
        ("self.count", "self.count", True),
        ("4", "self.count", True),
        ("self.count", "2", False),
        ("self.count", "len(sys.argv)", False),
    ],
)
def test_buffers_and_streams_of_one_index_belong_together(run: str, wait: str, right: bool) -> None:
    text = program(POOL % (run, wait), "p = Pool(4)\np.run(host)\np.wait()\np.close()\nshow(host)")
    assert [line for line in decided(text) if "Synchronize" not in line] == MOVED
    assert waits(text) == (1 if right else 2)  # loops with other bounds wait for other streams


def waits(text: str) -> int:
    """How many statements of the rewritten program wait for the stream of a loop."""
    report = analyze({"main.py": text.encode()}, Config())
    after = edits.apply(text.encode(), [edit for finding in report.findings for edit in finding.edits])
    return after.count(b"cudaStreamSynchronize(streams[i])") + after.count(b"cudaStreamSynchronize(self.streams[i])")


SHARED = """
streams, buffers = [], []

def setup(n_):
    global streams, buffers
    streams = [stream() for i in range(n_)]
    buffers = [check(cudart.cudaMalloc(n)) for i in range(n_)]

def launch(n_, host):
    for i in range(n_):
        check(cudart.cudaMemcpyAsync(host + n * i, buffers[i], n, BACK, streams[i]))

def wait(n_):
    for i in range(n_):
        check(cudart.cudaStreamSynchronize(streams[i]))

def release(n_):
    for i in range(n_):
        check(cudart.cudaFree(buffers[i]))
"""


@pytest.mark.parametrize(
    ("waiting", "right"),
    [
        ("wait(4)", True),
        ("count = 4\nwait(count)", True),
        ("wait(2)", False),
        ("count = len(sys.argv)\nwait(count)", False),
        ("for count in (2, 4):\n    wait(count)", False),
        ("count = 4\nwhile count > 2:\n    count = count - 1\nwait(count)", False),
    ],
)
def test_a_parameter_is_what_it_is_given(waiting: str, right: bool) -> None:
    """Each function has a `n_` of its own: loops over them are the same range only where the numbers are."""
    text = program(SHARED, f"setup(4)\nlaunch(4, host)\n{waiting}\nrelease(4)\nshow(host)")
    assert [line for line in decided(text) if "Synchronize" not in line] == [
        "buffers = [check(cudart.cudaMallocAsync(n, streams[i])) for i in range(n_)]",
        "check(cudart.cudaFreeAsync(buffers[i], streams[i]))",
    ]
    assert waits(text) == (1 if right else 2)
