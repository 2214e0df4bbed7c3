"""Broken files for the front ends: mutations of real ones, and what has to hold on each.

    python -m tests.fuzz TREE --seconds 3600 [--seed N] [--keep FOLDER] [--coverage]

A mutated file is read and lowered within `LIMIT` seconds of processor time, nothing is raised, and what is to be
written lies in functions that were read and parses as well as the file did. The same tree and seed give the same
files. A worker that dies takes nothing with it: what it looked at is in the `--keep` folder, with what was wrong, and
the next one goes on behind it. With `--coverage`, atheris chooses the mutations by the branches that they reach.
"""

from __future__ import annotations

import argparse
import faulthandler
import os
import random
import re
import resource
import signal
import subprocess
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from cudafix.findings import Edit
from cudafix.frontends.python.notebook import Notebooks
from cudafix.pipeline.driver import analyze
from cudafix.pipeline.tree import Tree
from cudafix.project import discovery
from cudafix.project.config import Config
from cudafix.rewrite import edits
from tests.fixtures import errors_in

LIMIT = 2.0
"""Seconds of processor time for the front end on one file."""
PROOF_LIMIT = 20.0
"""Seconds of processor time for the whole analysis of one file: a bound against hangs, the proof has its own budget."""
LARGEST = 60_000  # bytes of a file to start from

_TOKEN = re.compile(rb"\s+|\w+|//[^\n]*|\"[^\"\n]*\"|[^\w\s]")
_WORDS = tuple(
    b"cudaMalloc cudaFree cudaMallocAsync cudaFreeAsync cudaStreamCreate cudaDeviceReset <<<1,1>>> #if #else #endif\n "
    b"#define\\\n { } ( ) [ ] ; , < > :: -> = == & * ? : ... ## if else for while do switch case return goto break try "
    b"catch template<class operator() [&] [=] lambda: def class with async await yield del global import * ''' \"\"\" "
    b'/* */ // \\\n " \' R"( \0 \xff\xfe \xef\xbb\xbf \r \t auto static extern"C" __global__ __device__ struct using '
    b"namespace new delete throw co_await requires #include #pragma\tomp 0x 1'000 cp. numba cuda.to_device".split(b" ")
)
_NESTS = tuple(
    tuple(pair.split(b" "))
    for pair in (
        b"{ }|( )|[ ]|if(1){ }|for(;;){ }|[&]{ }()|f( )|a<( )>|- 1|!! 1|*& p|?( ):1|#if\tX\n \n#endif\n|namespace\tn{ }"
        b"|x= 0|lambda: 0|not\t 1|x. y|\n#define\tM M\n|case\t0: ;|do{ }while(0);|struct\tS{ };|else\tif(x){ }"
    ).split(b"|")
)


# ---------------------------------------------------------------------------------------------------------------------
# mutations


def mutated(chance: random.Random, files: Sequence[bytes]) -> bytes:
    """A file, changed in one to four ways."""
    data = chance.choice(files)
    for _ in range(chance.randint(1, 4)):
        data = chance.choice(_WAYS)(chance, data, files)
    return data


def _flip(chance: random.Random, data: bytes, __: Sequence[bytes]) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 4, 32)) if data else 0):
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def _tokens(chance: random.Random, data: bytes, __: Sequence[bytes]) -> bytes:
    """Take tokens out, double them, exchange them, put others in."""
    tokens = _TOKEN.findall(data)
    for _ in range(chance.choice((1, 2, 8, 40)) if tokens else 0):
        at, other = chance.randrange(len(tokens)), chance.randrange(len(tokens))
        match chance.randrange(5):
            case 0:
                tokens[at] = b""
            case 1:
                tokens[at] += b" " + tokens[at]
            case 2:
                tokens[at], tokens[other] = tokens[other], tokens[at]
            case 3:
                tokens[at] = chance.choice(_WORDS)
            case _:
                tokens[at] += b" " + chance.choice(_WORDS)
    return b"".join(tokens)


def _lines(chance: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """Take lines out, or put them elsewhere."""
    lines = data.splitlines(keepends=True)
    start = chance.randrange(len(lines) + 1)
    some = lines[start : start + chance.choice((1, 3, 20))]
    del lines[start : start + len(some)]
    if chance.random() < 0.5:
        to = chance.randrange(len(lines) + 1)
        lines[to:to] = some
    return b"".join(lines)


def _cut(chance: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    at = chance.randrange(len(data) + 1)
    return data[:at] if chance.random() < 0.8 else data[at:]


def _splice(chance: random.Random, data: bytes, files: Sequence[bytes]) -> bytes:
    other = chance.choice(files)
    at, there = chance.randrange(len(data) + 1), chance.randrange(len(other) + 1)
    behind = data[at:] if chance.random() < 0.5 else b""
    return data[:at] + other[there : there + chance.choice((200, 4000, LARGEST))] + behind


def _nest(chance: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    opening, closing = chance.choice(_NESTS)
    depth = chance.choice((10, 100, 1000, 10_000))
    at = chance.randrange(len(data) + 1)
    end = chance.choice((at, min(at + 40, len(data)), data.find(b"\n", at) + 1 or len(data)))
    closed = closing * depth if chance.random() < 0.8 else b""
    return data[:at] + opening * depth + data[at:end] + closed + data[end:]


_WAYS = (_flip, _tokens, _tokens, _tokens, _lines, _lines, _cut, _splice, _nest)


# ---------------------------------------------------------------------------------------------------------------------
# what has to hold


class TooSlow(BaseException):
    """No `except Exception` on the way may take it for an error of its own."""


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise `TooSlow` inside after so many seconds of processor time."""

    def stop(*_: object) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def complaint(path: str, data: bytes, limit: float = LIMIT) -> str | None:
    """What is wrong with how cudafix takes a file; None if nothing is. `limit` is for the front end, in seconds."""
    files = {path: data}
    try:
        with at_most(limit):
            tree = Tree(Notebooks(files).texts)
            python = tree.python.paths if tree.python is not None else frozenset()
            read_here = [p for p in tree.files if p in python or not p.endswith(".py")]
            modules = [variant.module for p in read_here for variant in tree.variants_of(p)]
    except TooSlow:
        return f"the front end takes more than {limit} s"
    except Exception:
        return f"the front end fails\n{traceback.format_exc()}"
    try:
        with at_most(PROOF_LIMIT):
            report = analyze(files, Config())
    except TooSlow:
        return f"the analysis takes more than {PROOF_LIMIT} s"
    except Exception:
        return f"the analysis fails\n{traceback.format_exc()}"
    changes = list(dict.fromkeys(e for f in report.findings for e in f.edits if e.path == path))
    if not changes:
        return None
    read = [f.span for m in modules for f in m.functions if not any(p[0] == "parse_error" for p in f.problems)]
    if not path.endswith((".py", ".ipynb")):  # libcst reads these as a whole, or not at all
        outside = [e for e in changes if not any(s.start <= e.start <= e.end <= s.end for s in read)]
        if outside:
            return f"an edit outside of a function that was read: {outside[0]}"
    return _worse(files, path, changes)


def _worse(files: Mapping[str, bytes], path: str, changes: Sequence[Edit]) -> str | None:
    after = {path: edits.apply(files[path], changes)}
    return "parses worse than before" if errors_in(after) > errors_in(files) else None


# ---------------------------------------------------------------------------------------------------------------------
# a long run


def seeds_of(tree: Path) -> list[tuple[str, bytes]]:
    """Files to start from: those that allocate four times as often as the others."""
    found: list[tuple[str, bytes]] = []
    for path, data in discovery.discover([str(tree)], Config()).files.items():
        if len(data) <= LARGEST:
            weight = (
                4 if re.search(rb"cudaMalloc|cudaFree|malloc_async|\bcuda\.(?:to_device|device_array)", data) else 1
            )
            found += [(os.path.splitext(path)[1], data)] * weight
    return found


def work(tree: Path, first: int, until: float, keep: Path) -> None:
    """Look at mutated files from seed `first` on; one line of figures at the end of each."""
    by_kind: dict[bool, list[tuple[str, bytes]]] = {False: [], True: []}
    for suffix, data in seeds_of(tree):
        by_kind[suffix in (".py", ".ipynb")].append((suffix, data))
    faulthandler.register(signal.SIGXCPU, chain=True)
    number = first
    current = keep / "current"
    while time.time() < until:
        chance = random.Random(number)
        kind = by_kind[chance.random() < 0.3] or by_kind[False] or by_kind[True]
        data = mutated(chance, [text for _, text in kind])
        path = "fuzz" + chance.choice(kind)[0]
        current.write_bytes(data)
        print(f"at {number} {path}", flush=True)
        # what hangs in a parser does not see the signals of `at_most`
        resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time() + 2 * PROOF_LIMIT), resource.RLIM_INFINITY))
        wrong = complaint(path, data)
        if wrong is not None:
            (keep / f"{number}-{path}").write_bytes(data)
            (keep / f"{number}.txt").write_text(wrong)
            print(f"wrong {wrong.strip().splitlines()[-1]}", flush=True)
        number += 1


def run(tree: Path, seconds: float, first: int, keep: Path) -> Counter[str]:
    """Workers, one after the other, until the time is up. How often each thing was seen."""
    keep.mkdir(parents=True, exist_ok=True)
    figures: Counter[str] = Counter()
    until = time.time() + seconds
    number = first
    while time.time() < until:
        command = [sys.executable, "-m", "tests.fuzz", str(tree), "--worker", str(until), "--seed", str(number)]
        worker = subprocess.Popen([*command, "--keep", str(keep)], stdout=subprocess.PIPE, text=True)
        path = ""
        assert worker.stdout is not None
        for line in worker.stdout:
            what, _, rest = line.strip().partition(" ")
            if what == "at":
                number, path = int(rest.split()[0]), rest.split()[1]
                figures["files"] += 1
                figures[f"files{os.path.splitext(path)[1]}"] += 1
            else:
                figures[rest] += 1
        if worker.wait() != 0:
            figures[f"a worker died: {worker.returncode}"] += 1
            if path:
                os.replace(keep / "current", keep / f"{number}-{path}")
        number += 1
    return figures


def guided(tree: Path, seconds: float, keep: Path) -> None:
    """Mutations by coverage. Does not return: libFuzzer ends the process, with the file that was wrong in `keep`."""
    import atheris  # pip install atheris

    corpus = keep / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    for number, (suffix, data) in enumerate(dict.fromkeys(seeds_of(tree))):
        if len(data) < 8_000:
            (corpus / f"{number}").write_bytes(bytes([suffix == ".py"]) + data)

    def one(data: bytes) -> None:
        wrong = complaint("fuzz.py" if data[:1] == b"\1" else "fuzz.cu", data[1:])
        if wrong is not None:
            raise AssertionError(wrong)

    atheris.instrument_all()
    options = [f"-max_total_time={seconds:.0f}", "-max_len=8001", f"-artifact_prefix={keep}/", "-print_final_stats=1"]
    atheris.Setup([sys.argv[0], *options, str(corpus)], one)
    atheris.Fuzz()


def main() -> int:
    """Exit status 1 where something was wrong."""
    parser = argparse.ArgumentParser(description="Broken files for the front ends.")
    parser.add_argument("tree", type=Path)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, default=Path("fuzz-found"))
    parser.add_argument("--coverage", action="store_true")
    parser.add_argument("--worker", type=float, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker is not None:
        work(arguments.tree, arguments.seed, arguments.worker, arguments.keep)
        return 0
    if arguments.coverage:
        guided(arguments.tree, arguments.seconds, arguments.keep)
    figures = run(arguments.tree, arguments.seconds, arguments.seed, arguments.keep)
    for what, number in figures.most_common():
        print(f"{number:8} {what}")
    return int(any(not what.startswith("files") for what in figures))


if __name__ == "__main__":
    sys.exit(main())
