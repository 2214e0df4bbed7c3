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

from cudafix import codemod
from cudafix.refusals import REFUSALS
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
    for heading in ("What it does", "Why", "Refuses", "Use instead:", "Seen on a fixture", "Its fixtures"):
        assert heading in text


@pytest.mark.parametrize("name", REFUSALS)
def test_a_refusal_has_its_page(site: Path, name: str) -> None:
    text = text_of(site, f"refusals/{name}.html")
    assert "What would unlock it" in text
    assert REFUSALS[name].unlock.replace("`", "")[:60] in text


def test_a_refusal_shows_what_check_says_about_its_fixture(site: Path) -> None:
    said, source = seen_on_a_fixture(site, "refusals/needs_device_sync.html")
    assert re.search(r"refused: needs_device_sync: .+ when the memory is freed", said)
    assert "unlock: " in said
    for line in re.findall(r"^ +\d+ \| *(.+)$", said, re.MULTILINE):
        assert line in source


def test_a_codemod_that_rewrites_nothing_shows_what_check_says_about_its_fixture(site: Path) -> None:
    reporting = [name for name in codemod.names() if not list((ROOT / "fixtures" / name).glob("*/after"))]
    assert reporting
    for name in reporting:
        said, source = seen_on_a_fixture(site, f"codemods/{name}.html")
        assert re.search(rf"^\S+:\d+:\d+: {name}: ", said, re.MULTILINE)
        for line in re.findall(r"^ +\d+ \| *(.+)$", said, re.MULTILINE):
            assert line in source


def seen_on_a_fixture(site: Path, name: str) -> tuple[str, str]:
    """What `check` says on this page, and the sources it is said about."""
    source, _, said = text_of(site, name).partition("Seen on a fixture")[2].partition("What cudafix check says:")
    assert 'want "' not in source + said
    return said.partition("Its fixtures")[0], source


def test_a_link_that_leads_nowhere_stops_the_build(tmp_path: Path) -> None:
    page = manual.Page("x", "x.html", "[there](nowhere.md)", ROOT / "x.md")
    with pytest.raises(manual.BrokenLinkError, match=r"`nowhere\.md` leads nowhere"):
        manual.rendered(page, {}, tmp_path)
