"""The documentation: every name has its page, and the site is built strictly and can be read on a phone."""

from __future__ import annotations

import html
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Page

from cudafix import codemod
from cudafix.cli import checking, commands
from cudafix.findings import ASSUMPTIONS
from cudafix.models.api import Effect
from cudafix.project.paths import SUFFIXES
from cudafix.refusals import NOT_OF_THE_TEXT, REFUSALS
from cudafix.rewrite import edits
from cudafix.verify import nvcc
from docs import generated
from tests.browser import headless

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built strictly: a link or an anchor that leads nowhere is an error."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    proofs = ROOT / ".cache" / "proofs"  # of the examples: they are kept while cudafix stays as it is
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1", "CUDAFIX_CACHE_DIR": str(proofs)}
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env=environment)
    assert run.returncode == 0, run.stdout + run.stderr
    return folder


def text_of(page: Path) -> str:
    article = page.read_text(encoding="utf-8").partition("<article")[2].partition("</article>")[0]
    return html.unescape(re.sub(r"<[^>]+>", "", article))


def test_every_name_of_the_code_is_in_the_reference(site: Path) -> None:
    reference = site / "reference"
    told = text_of(reference / "commands.html")
    for name, command in commands.cli.commands.items():
        assert f"cudafix {name}" in told
        for option in [o for param in command.params if param.param_type_name == "option" for o in param.opts]:
            assert option in told, f"{name} {option}"
    for page, names in (
        ("assumptions.html", ASSUMPTIONS),
        ("formats.html", checking.FORMATS),
        ("files.html", sorted(SUFFIXES)),
        ("tables.html", [effect.value for effect in Effect]),
        ("codemods/index.html", codemod.names()),
        ("refusals/index.html", REFUSALS),
    ):
        told = text_of(reference / page)
        assert [name for name in names if name not in told] == [], page
    for folder, pages in (("codemods", codemod.names()), ("refusals", REFUSALS)):
        missing = [name for name in pages if name not in text_of(reference / folder / f"{name}.html")]
        assert missing == []


def test_the_pages_are_whole_and_load_nothing_from_elsewhere(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 90
    for page in pages:
        content = page.read_text(encoding="utf-8")
        assert not re.search(r'<(?:script|img|link|iframe)[^>]* (?:src|href)="(?:https?:)?//', content), page
        assert "<!-- generated" not in content, page
        assert not re.search(r"<p>[^<]*\n- ", content), f"{page}: a list without a blank line in front of it"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Page]:
    headless.need_chromium()
    with headless.chromium() as running:
        yield running.new_page()


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 the name that it has there
        pass


@pytest.mark.parametrize("width", [390, 1280])
def test_no_page_is_wider_than_the_window(site: Path, chromium: Page, width: int) -> None:
    chromium.set_viewport_size({"width": width, "height": 800})
    wide = []
    pages = sorted(site.rglob("*.html"))
    for page in [page for n, page in enumerate(pages) if page.parent.name != "refusals" or n % 8 == 0]:
        chromium.goto(page.as_uri())
        if chromium.evaluate("document.documentElement.scrollWidth") > width:
            wide.append(page.relative_to(site).as_posix())
    assert wide == []


def test_the_search_finds_a_refusal(site: Path, chromium: Page) -> None:
    chromium.set_viewport_size({"width": 1280, "height": 800})
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        chromium.goto(f"http://127.0.0.1:{server.server_port}/index.html")
        # The theme reads the query when a key goes up, not when a script sets the value.
        chromium.locator(".md-search__input").press_sequentially("needs_device_sync")
        found = chromium.locator(".md-search-result__item a").first
        found.wait_for()
        server.shutdown()
        assert "needs_device_sync" in (found.get_attribute("href") or "")


# ---------------------------------------------------------------------------------------------------------------------
# pages of codemods and refusals


@pytest.mark.parametrize("name", codemod.names())
def test_a_codemod_has_its_page(name: str) -> None:
    text = generated.page(name)
    shown = SAYS if name in EXAMPLES else "## Seen on a fixture"
    for part in ("## What it does", "## Why", "## Refuses", "Use instead:", shown, "## Its fixtures"):
        assert part in text


@pytest.mark.parametrize("name", REFUSALS)
def test_a_refusal_has_its_page(name: str) -> None:
    text = generated.page(name)
    assert "## What would unlock it" in text
    assert REFUSALS[name].unlock in text
    if name in NOT_OF_THE_TEXT:
        return
    assert text.index("\n## Before\n") < text.index("\n## After\n") < text.index("The change:")


SAYS = "What `cudafix check` says:"
EXAMPLES = sorted(path.name for path in generated.EXAMPLES.iterdir())
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
def test_an_example_is_held_back_until_it_is_changed(name: str) -> None:
    before, after = (generated.example(generated.EXAMPLES / name / which) for which in ("before", "after"))
    assert name in {item.name for item in before.report.refusals} | {item.codemod for item in before.report.findings}
    assert after.report.refusals == ()
    assert bool(after.selection().edits()) == (name in REFUSALS.keys() - BY_HAND)
    _, _, shown = generated.page(name).partition("\n## Before\n")
    said, _, changed = shown.partition(SAYS)[2].partition("The change:")
    assert re.search(rf"\b{name}: ", said)
    assert re.search(r"^[+-]", changed, re.MULTILINE)
    assert ("What `cudafix apply` does then" in changed) == (name in REFUSALS.keys() - BY_HAND)


@pytest.mark.skipif(nvcc.find() is None, reason=nvcc.MISSING)
@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_compiles(name: str, tmp_path: Path) -> None:
    """The rewritten one too, but for those that need headers of others."""
    found = nvcc.find()
    assert found is not None
    after = generated.example(generated.EXAMPLES / name / "after")
    if any(b"mpi.h" in data for data in after.files.values()):
        pytest.skip("needs MPI")
    for path, data in after.files.items():
        (tmp_path / path).write_bytes(edits.apply(data, after.selection().edits().get(path, ())))
    for source in sorted(tmp_path.glob("*.cu")):
        result = found.compile(source)
        assert result.ok, result.log
