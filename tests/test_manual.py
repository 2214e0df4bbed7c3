"""The manual: every name has its page, and every link leads somewhere."""

from __future__ import annotations

import html
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

from cudafix import codemod, edits, nvcc
from cudafix.refusals import NOT_OF_THE_TEXT, REFUSALS
from docs import manual

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, str(ROOT / "docs" / "manual.py"), str(folder)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return folder


class Links(HTMLParser):
    def __init__(self, file: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src") and value is not None:
                self.links.append(value)
            elif name == "id" and value is not None:
                self.ids.add(value)


def test_every_link_leads_to_a_file_and_to_a_heading_in_it(site: Path) -> None:
    files = {file: Links(file) for file in site.rglob("*.html")}
    assert len(files) > 40
    broken = []
    for file, found in files.items():
        for link in found.links:
            path, _, anchor = link.partition("#")
            if path.startswith("https://"):
                continue
            target = (file.parent / unquote(path)).resolve() if path else file
            if not target.is_file() or (anchor and anchor not in files[target].ids):
                broken.append(f"{file.relative_to(site)}: {link}")
    assert broken == []


def text_of(site: Path, name: str) -> str:
    content = (site / name).read_text(encoding="utf-8").partition("<main>")[2]
    return html.unescape(re.sub(r"<[^>]+>", "", content))


@pytest.mark.parametrize("name", codemod.names())
def test_a_codemod_has_its_page(site: Path, name: str) -> None:
    text = text_of(site, f"codemods/{name}.html")
    shown = "What cudafix check says:" if name in EXAMPLES else "Seen on a fixture"
    for heading in ("What it does", "Why", "Refuses", "Use instead:", shown, "Its fixtures"):
        assert heading in text


@pytest.mark.parametrize("name", REFUSALS)
def test_a_refusal_has_its_page(site: Path, name: str) -> None:
    text = text_of(site, f"refusals/{name}.html")
    assert "What would unlock it" in text
    assert REFUSALS[name].unlock.replace("`", "")[:60] in text
    if name in NOT_OF_THE_TEXT:
        return
    assert text.index("\nBefore\n") < text.index("\nAfter\n") < text.index("The change:")


SAYS = "What cudafix check says:"
EXAMPLES = sorted(path.name for path in manual.EXAMPLES.iterdir())
# cudafix leaves a pool alone that the program, or its environment, has chosen
BY_HAND = {
    "async_pool_differs",
    "foreign_allocator",
    "host_memory_in_flight",
    "ipc_handle",
    "pycuda_memory",
    "several_streams",
    "torch_memory",
}


def test_what_a_person_has_to_change_has_an_example() -> None:
    reporting = {name for name in codemod.names() if not list((ROOT / "fixtures" / name).glob("*/after"))}
    assert set(EXAMPLES) == (REFUSALS.keys() - NOT_OF_THE_TEXT) | reporting


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_is_held_back_until_it_is_changed(site: Path, name: str) -> None:
    before, after = (manual.example(manual.EXAMPLES / name / which) for which in ("before", "after"))
    assert name in {item.name for item in before.report.refusals} | {item.codemod for item in before.report.findings}
    assert after.report.refusals == ()
    assert bool(after.selection().edits()) == (name in REFUSALS.keys() - BY_HAND)
    _, _, shown = text_of(site, f"{'refusals' if name in REFUSALS else 'codemods'}/{name}.html").partition("\nBefore\n")
    said, _, changed = shown.partition(SAYS)[2].partition("The change:")
    assert re.search(rf"\b{name}: ", said)
    assert re.search(r"^[+-]", changed, re.MULTILINE)
    assert ("What cudafix apply does then" in changed) == (name in REFUSALS.keys() - BY_HAND)


@pytest.mark.skipif(nvcc.find() is None, reason=nvcc.MISSING)
@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_compiles(name: str, tmp_path: Path) -> None:
    """The rewritten one too, but for those that need headers of others."""
    found = nvcc.find()
    assert found is not None
    after = manual.example(manual.EXAMPLES / name / "after")
    if any(b"mpi.h" in data for data in after.files.values()):
        pytest.skip("needs MPI")
    for path, data in after.files.items():
        (tmp_path / path).write_bytes(edits.apply(data, after.selection().edits().get(path, ())))
    for source in sorted(tmp_path.glob("*.cu")):
        result = found.compile(source)
        assert result.ok, result.log


def test_a_link_that_leads_nowhere_stops_the_build(tmp_path: Path) -> None:
    page = manual.Page("x", "x.html", "[there](nowhere.md)", ROOT / "x.md")
    with pytest.raises(manual.BrokenLinkError, match=r"`nowhere\.md` leads nowhere"):
        manual.rendered(page, {}, tmp_path)
