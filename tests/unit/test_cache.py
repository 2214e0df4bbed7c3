"""The cache saves time and nothing else: the report is the same whatever state it is in."""

from __future__ import annotations

import os
import pickle
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from cudafix.findings import Report
from cudafix.pipeline import cache, driver
from cudafix.pipeline.cache import Cache
from cudafix.pipeline.cluster import Cluster
from cudafix.project.config import Config
from cudafix.rewrite.certificates import Scenes

PROGRAM = b"""#include <cuda_runtime.h>
__global__ void k(float *p) { p[0] = 1; }
int main() {
    float *d;
    cudaMalloc(&d, 4);
    k<<<1, 1>>>(d);
    cudaFree(d);
    return 0;
}
"""
OTHER = PROGRAM.replace(b"    cudaFree(d);\n", b"")
FILES = {"a/main.cu": PROGRAM, "b/main.cu": OTHER}


@pytest.fixture
def proofs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many programs were proved, in the one element."""
    counted = [0]
    prove = Cluster.report

    def report(cluster: Cluster) -> tuple[Report, Scenes]:
        counted[0] += 1
        return prove(cluster)

    monkeypatch.setattr(Cluster, "report", report)
    return counted


def test_only_what_changed_is_proved_again(proofs: list[int]) -> None:
    first = driver.analyze(FILES, Config(), cache=Cache())
    assert proofs == [2]
    assert driver.analyze(FILES, Config(), cache=Cache()) == first
    assert proofs == [2]
    changed = {**FILES, "b/main.cu": PROGRAM}
    assert driver.analyze(changed, Config(), cache=Cache()) == driver.analyze(changed, Config())
    assert proofs == [2 + 1 + 2]


def test_certificates_are_made_without_another_proof(proofs: list[int]) -> None:
    asked = Config(certificates=True)
    expected = driver.analyze(FILES, asked)
    assert all(finding.certificate is not None for finding in expected.findings)
    proofs[0] = 0
    plain = driver.analyze(FILES, Config(), cache=Cache())
    assert proofs == [2]
    for _ in range(2):
        assert driver.analyze(FILES, asked, cache=Cache()) == expected
    assert driver.analyze(FILES, Config(), cache=Cache()) == plain
    assert proofs == [2]


def test_a_plain_report_is_known_after_one_with_certificates(proofs: list[int]) -> None:
    plain = driver.analyze(FILES, Config())
    driver.analyze(FILES, Config(certificates=True), cache=Cache())
    proofs[0] = 0
    assert driver.analyze(FILES, Config(), cache=Cache()) == plain
    assert proofs == [0]


def test_a_header_is_part_of_what_was_proved(proofs: list[int]) -> None:
    files = {"main.cu": b'#include "free.h"\n' + OTHER.replace(b"return", b"release(d);\n    return")}
    files["free.h"] = b"inline void release(float *p) { cudaFree(p); }\n"
    driver.analyze(files, Config(), cache=Cache())
    files["free.h"] = b"inline void release(float *p) {}\n"
    assert driver.analyze(files, Config(), cache=Cache()) == driver.analyze(files, Config())
    assert driver.analyze(files, Config(), cache=Cache()).refusals


def test_a_module_of_python_is_part_of_what_was_proved(proofs: list[int]) -> None:
    work = b"""
from cuda.bindings import runtime as cudart
from helper import check

def main():
    d = check(cudart.cudaMalloc(64))
    check(cudart.cudaFree(d))

main()
"""
    files = {"main.py": work, "helper.py": b"def check(found):\n    return found[1]\n"}
    driver.analyze(files, Config(), cache=Cache())
    files["helper.py"] = b"import unseen\n\ndef check(found):\n    return unseen.keep(found)\n"
    assert driver.analyze(files, Config(), cache=Cache()) == driver.analyze(files, Config())


def test_another_configuration_is_another_question(proofs: list[int]) -> None:
    driver.analyze(FILES, Config(), cache=Cache())
    per_thread = Config(default_stream="per-thread")
    assert driver.analyze(FILES, per_thread, cache=Cache()) == driver.analyze(FILES, per_thread)
    off = Config(disabled=frozenset({"pool_release_threshold"}))
    assert driver.analyze(FILES, off, cache=Cache()) == driver.analyze(FILES, off)
    churning = {"main.cu": b"int main() { for (int i = 0; i < 9; i++) { float *d; cudaMalloc(&d, 4); cudaFree(d); } }"}
    for kept in (2**64 - 1, 64 << 20, 0):
        sized = Config(pool_threshold=kept)
        assert driver.analyze(churning, sized, cache=Cache()) == driver.analyze(churning, sized)


@pytest.mark.parametrize("content", [b"", b"this is no database, but as long as the header of one would be" * 40])
def test_a_file_that_is_no_database_is_replaced(content: bytes, proofs: list[int]) -> None:
    expected = driver.analyze(FILES, Config(), cache=Cache())
    Cache().file.write_bytes(content)
    assert driver.analyze(FILES, Config(), cache=Cache()) == expected
    driver.analyze(FILES, Config(), cache=Cache())
    driver.analyze(FILES, Config(), cache=Cache())
    before = proofs[0]
    assert driver.analyze(FILES, Config(), cache=Cache()) == expected
    assert proofs[0] == before


@pytest.mark.parametrize("entry", [b"", b"short"])
def test_a_damaged_entry_is_a_miss(entry: bytes, proofs: list[int]) -> None:
    expected = driver.analyze(FILES, Config(), cache=Cache())
    with sqlite3.connect(Cache().file) as database:
        database.execute("UPDATE kept SET content = ?", (entry,))
    database.close()
    assert driver.analyze(FILES, Config(), cache=Cache()) == expected
    assert proofs == [4]


class _Harm:
    def __init__(self, *does: object) -> None:
        self.does = does

    def __reduce__(self) -> tuple[object, ...]:
        return self.does


def _by_a_name_of_findings() -> bytes:
    """A pickle of what `cudafix.findings` imports: `re.enum.bltns.eval` is Python's."""
    name, code = b"re.enum.bltns.eval", b"print('harm')"
    start = b"\x80\x04\x8c\x10cudafix.findings\x8c" + bytes([len(name)]) + name + b"\x93"
    return start + b"\x8c" + bytes([len(code)]) + code + b"\x85R."


@pytest.mark.parametrize(
    "content",
    [b"", b"short", pickle.dumps(_Harm(os.system, ("echo harm",))), pickle.dumps(17), _by_a_name_of_findings()],
)
def test_only_a_report_is_made_of_an_entry(content: bytes, capfd: pytest.CaptureFixture[str]) -> None:
    Cache().put({b"key": content})
    assert Cache().get([b"key"]) == {b"key": content}
    assert Cache().reports([b"key"]) == {}
    assert "harm" not in capfd.readouterr().out


def test_a_flipped_bit_is_noticed(proofs: list[int]) -> None:
    expected = driver.analyze(FILES, Config(), cache=Cache())
    with sqlite3.connect(Cache().file) as database:
        for key, report in database.execute("SELECT key, content FROM kept").fetchall():
            flipped = bytearray(report)
            flipped[-20] ^= 1
            database.execute("UPDATE kept SET content = ? WHERE key = ?", (bytes(flipped), key))
    database.close()
    assert driver.analyze(FILES, Config(), cache=Cache()) == expected
    assert proofs == [4]


def test_another_process_that_writes_is_waited_for_and_then_passed_over(
    monkeypatch: pytest.MonkeyPatch, proofs: list[int]
) -> None:
    expected = driver.analyze(FILES, Config(), cache=Cache())
    monkeypatch.setattr(cache, "_WAIT", 0.05)
    other = sqlite3.connect(Cache().file, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    assert driver.analyze(FILES, Config(), cache=Cache()) == expected
    other.close()
    assert driver.analyze(FILES, Config(), cache=Cache()) == expected
    assert proofs == [4]


def test_a_cache_that_cannot_be_written_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("no folder")
    monkeypatch.setenv("CUDAFIX_CACHE_DIR", str(blocked / "cache"))
    assert driver.analyze(FILES, Config(), cache=Cache()) == driver.analyze(FILES, Config())


def test_the_oldest_half_goes_when_it_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "FRESH", 0)
    report = driver.analyze(FILES, Config())
    for n in range(4):
        Cache().put_entries({bytes([n]): report})
    Cache().get([bytes([0])])
    monkeypatch.setattr(cache, "LIMIT", 1)
    Cache().put_entries({bytes([9]): report})
    left = Cache().reports([bytes([n]) for n in (0, 1, 2, 3, 9)])
    assert left.keys() == {bytes([0]), bytes([3]), bytes([9])}  # 1 and 2 were not used since


def test_what_decides_is_part_of_the_key() -> None:
    signature = cache.signature()
    assert signature == cache.signature()
    program = "from cudafix import ir; from cudafix.pipeline import cache; ir.__file__; print(cache.signature().hex())"
    again = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert again.stdout.strip() == signature.hex()


def test_a_kept_report_is_whole() -> None:
    report = driver.analyze(FILES, Config())
    assert report.findings
    assert report.refusals
    Cache().put_entries({b"key": report})
    assert Cache().reports([b"key", b"other"]) == {b"key": report}
    assert Cache().entries([b"key"], Scenes) == {}


WRITER = """
import sys
from cudafix.pipeline.cache import Cache
cache = Cache()
print("ready", flush=True)
for n in range(100_000):
    cache.put({b"%d" % (n % 50): b"%s " % sys.argv[1].encode() * 2000})
"""


def test_processes_share_it_and_a_kill_while_it_is_written_loses_nothing() -> None:
    Cache().put({b"before": b"whole"})
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, name], stdout=subprocess.PIPE) for name in ("one", "two")
    ]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"ready\n"
    while len(Cache().get([b"%d" % n for n in range(50)])) < 50:
        pass
    for writer in writers:
        writer.kill()
        writer.communicate()
    found = Cache().get([b"before", *(b"%d" % n for n in range(50))])
    assert len(found) == 51
    assert found.pop(b"before") == b"whole"
    assert set(found.values()) <= {b"one " * 2000, b"two " * 2000}
    with sqlite3.connect(Cache().file) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    database.close()


def test_an_entry_under_another_key_is_none(proofs: list[int]) -> None:
    Cache().put({b"one": b"content"})
    with sqlite3.connect(Cache().file) as database:
        database.execute("UPDATE kept SET key = ?", (b"two",))
    database.close()
    assert Cache().get([b"one", b"two"]) == {}
