"""The review page in a real browser: what a reviewer sees, filters, ticks, downloads and applies."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from cudafix.findings import Certificate, Edit, Finding, Place, Refusal, Report, Step
from cudafix.pipeline import driver
from cudafix.project.config import Config
from cudafix.report import html
from cudafix.report.picks import read
from cudafix.report.selection import select
from cudafix.verify.cases import UNREAD
from tests.browser.headless import chromium, need_chromium

need_chromium()

ROOT = Path(__file__).parents[2]
PAIRS = ROOT / "fixtures" / "stream_ordered_pairs"
CASES = {
    "fixed": PAIRS / "pinned_result_is_read_after_the_free",
    "together": PAIRS / "swapped_buffers_move_together",
    "refused": PAIRS / "one_free_waits_for_any_number_of_streams",
    "library": PAIRS / "function_from_nowhere_gets_the_buffer",
    "waits": ROOT / "fixtures" / "wait_between_streams" / "owner_frees_the_block_while_another_stream_reads_it",
}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tree")
    for name, case in CASES.items():
        shutil.copytree(case / "before", folder / name, ignore=shutil.ignore_patterns(f"*{UNREAD}"))
    return folder


@pytest.fixture(scope="module")
def made(tree: Path) -> Path:
    run = cudafix(tree, "diff", "--html", "review/")
    assert run.returncode == 0, run.stderr
    assert "review: review/index.html" in run.stderr
    return tree / "review" / "index.html"


def cudafix(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from cudafix.cli.main import main; main()", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


class Seen(NamedTuple):
    page: Page
    errors: list[str]
    requests: list[str]


@pytest.fixture
def seen(browser: Browser, made: Path) -> Iterator[Seen]:
    with looked_at(browser, made) as found:
        yield found


class looked_at:  # noqa: N801  # used as a function
    def __init__(self, browser: Browser, file: Path, **how: Any) -> None:
        self.context = browser.new_context(viewport={"width": 1400, "height": 900}, accept_downloads=True, **how)
        self.file = file

    def __enter__(self) -> Seen:
        page = self.context.new_page()
        page.set_default_timeout(20_000)
        found = Seen(page, [], [])
        page.on("pageerror", lambda error: found.errors.append(str(error)))
        page.on("console", lambda message: found.errors.append(message.text))
        page.on("request", lambda request: found.requests.append(request.url))
        page.goto(self.file.as_uri())
        page.wait_for_selector("html[data-ready]")
        self.found = found
        return found

    def __exit__(self, *error: object) -> None:
        self.context.close()
        if error[0] is None:
            assert self.found.errors == []
            assert {url.partition(":")[0] for url in self.found.requests} <= {"file", "blob"}


def rows(page: Page) -> list[str]:
    return page.locator("#list .item").all_inner_texts()


def search(page: Page, text: str) -> None:
    if not page.locator("#query").is_visible():  # on a small screen
        page.click("#more")
    page.fill("#query", text)
    page.wait_for_timeout(250)


def test_it_opens_with_every_finding_and_no_other_file(seen: Seen, made: Path) -> None:
    data = json.loads(seen.page.locator("#data").text_content() or "")
    assert len(rows(seen.page)) == len(data["items"]) >= 6
    assert seen.requests == [made.as_uri()]
    assert seen.page.locator("#detail h2").inner_text()


def test_a_fix_shows_its_lines_side_by_side(seen: Seen) -> None:
    search(seen.page, "fixed/main.cu")
    cells = seen.page.locator("table.diff tr", has_text="cudaFreeAsync").locator("td").all_inner_texts()
    assert cells[1].strip() == "CHECK(cudaFree(d_v));"
    assert cells[3].strip() == "CHECK(cudaFreeAsync(d_v, stream));"
    assert seen.page.locator("table.diff .kt", has_text="int").count()


def test_a_fix_says_where_its_memory_is_used_and_what_orders_that(seen: Seen) -> None:
    search(seen.page, "fixed/main.cu")
    said = seen.page.locator(".words").inner_text()
    for expected in ("d_v on stream", "square<<<…>>> and cudaMemcpyAsync", "cudaStreamSynchronize, inserted", "freed"):
        assert expected.lower() in said.lower()
    assert "nothing about code that was not seen" in said
    assert "is compiled for the legacy default stream, as nvcc does unless it is told otherwise" in said
    assert "the new code runs on devices with memory pools" in said


def test_the_timeline_shows_the_stall_before_and_the_inserted_wait_after(seen: Seen) -> None:
    search(seen.page, "fixed/main.cu")
    before, after = seen.page.locator("svg.time").all()
    assert before.locator("rect.stall.mine").count() == 1  # the host in cudaFree
    assert after.locator("rect.stall.mine").count() == 0
    assert after.locator("rect.stall.inserted").count() == 1
    assert after.locator("path.edge.inserted").count() == 1
    assert {"host", "stream"} <= set(before.locator("text.laneno").all_text_contents())


def test_a_stall_ends_when_the_work_that_it_waits_for_ends(seen: Seen) -> None:
    search(seen.page, "fixed/main.cu")
    before = seen.page.locator("svg.time").first
    stall = before.locator("rect.stall.mine").bounding_box()
    copy = before.locator("rect.copy").bounding_box()
    assert stall is not None
    assert copy is not None
    assert stall["x"] < copy["x"] + copy["width"] <= stall["x"] + stall["width"]


def test_a_refusal_shows_both_lines_and_the_missing_order_in_red(seen: Seen) -> None:
    search(seen.page, "refused/main.cu")
    assert [text.split("\n")[-1].strip() for text in seen.page.locator(".clash .box").all_inner_texts()] == [
        "scale<<<1, 1, 0, s>>>(in, i, out + i);",
        "CHECK(cudaFree(in));",
    ]
    lost = seen.page.locator("path.lost")
    assert lost.count() == 1
    assert lost.evaluate("e => getComputedStyle(e).stroke") == "rgb(184, 50, 42)"
    assert seen.page.locator("rect.clashing").count() == 2
    assert "Wait for the stream" in seen.page.locator(".unlock").inner_text()


def test_a_refusal_with_one_place_does_not_call_it_the_earlier_of_two(seen: Seen) -> None:
    search(seen.page, "library/main.cu")
    assert seen.page.locator("#detail .box > .name").count() == 1
    assert "earlier operation" not in seen.page.locator("#detail").inner_text()


HEAD = """#include <cuda_runtime.h>
__global__ void fill(int *p) { p[0] = 1; }
"""
REFUSED = {
    "twice.cu": "int main() { int *p; cudaMalloc(&p, 4); fill<<<1, 1>>>(p); cudaFree(p);\n    cudaFree(p);\n}\n",
    "kinds.cu": """int main(int argc, char **) {
    int *p;
    if (argc > 1)
        cudaMallocManaged(&p, 4);
    else
        cudaMalloc(&p, 4);
    cudaFree(p);
}
""",
    "inner.cu": "int main() { int *p; cudaMalloc(&p, 64); fill<<<1, 1>>>(p); p++; cudaFree(p); }\n",
    "either.cu": """cudaStream_t make(int which) {
    cudaStream_t stream = nullptr;
    if (which)
        cudaStreamCreate(&stream);
    else
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    return stream;
}
void release(int *p) { cudaFree(p); }
int main(int argc, char **) {
    int *v;
    cudaStream_t stream = make(argc);
    cudaMalloc(&v, 4);
    fill<<<1, 1, 0, stream>>>(v);
    release(v);
    cudaStreamDestroy(stream);
    return 0;
}
""",
}


@pytest.fixture
def refused(browser: Browser, tmp_path: Path) -> Iterator[Page]:
    for name, text in REFUSED.items():
        (tmp_path / name).write_text(HEAD + text)
    run = cudafix(tmp_path, "diff", "--html", "review.html")
    assert run.returncode == 0, run.stderr
    with looked_at(browser, tmp_path / "review.html") as found:
        yield found.page


def test_what_comes_behind_a_free_is_shown_with_it_in_red(refused: Page) -> None:
    search(refused, "twice.cu")
    assert "The free, and what comes behind it" in (refused.locator("#detail").text_content() or "")
    assert (refused.locator("path.lost").count(), refused.locator(".losttext").inner_html()) == (1, "freed already")
    box = refused.locator(".times")
    refused.set_viewport_size({"width": 500, "height": 900})
    box.evaluate("e => { e.scrollLeft = e.scrollWidth }")
    refused.wait_for_timeout(200)
    left = box.bounding_box()
    for name in (*box.locator("h4").all(), *box.locator(".laneno").all()):  # what the rows are stays in view
        at = name.bounding_box()
        assert left is not None
        assert at is not None
        assert at["x"] >= left["x"]


def test_every_place_that_stands_in_the_way_is_shown(refused: Page) -> None:
    search(refused, "kinds.cu")
    assert refused.locator(".clash .name").all_inner_texts() == [
        "this free",
        "cudaMallocManaged allocates managed memory",
    ]
    assert "out of order" not in (refused.locator("#detail").text_content() or "")


def test_a_refusal_of_an_order_that_has_no_edge_says_why(refused: Page) -> None:
    search(refused, "inner.cu")
    assert refused.locator("path.lost").count() == 0
    assert "no missing order can be drawn" in refused.locator("#detail").inner_text()


def test_a_sketch_is_called_so_and_has_the_edge(refused: Page) -> None:
    search(refused, "either.cu")
    assert "of the paths that were tried none shows both" in refused.locator(".times").inner_text()
    assert refused.locator("path.lost").count() == 1


def test_the_filters_stand_in_one_line(seen: Seen) -> None:
    tops = seen.page.locator(".filters > *").evaluate_all("all => all.map((e) => e.getBoundingClientRect())")
    assert max(at["top"] for at in tops) < min(at["bottom"] for at in tops)


def test_a_defect_shows_the_program_as_it_is_with_the_missing_order(seen: Seen) -> None:
    search(seen.page, "waits/main.cu")
    assert "The two operations that are out of order" in (seen.page.locator("#detail").text_content() or "")
    assert seen.page.locator(".times h4").all_inner_texts() == ["As it is", "After"]
    before, after = seen.page.locator("svg.time").all()
    assert (before.locator("path.lost").count(), after.locator("path.lost").count()) == (1, 0)
    said = seen.page.locator(".words").inner_text()
    assert "owner waits for cudaEventRecord on reader (cudaStreamWaitEvent, inserted)" in said
    assert (before.locator(".inserted").count(), after.locator("circle.inserted").count()) == (0, 2)


def test_filters_by_kind_file_codemod_and_reason(seen: Seen) -> None:
    page = seen.page
    everything = len(rows(page))
    page.click("#kinds [data-kind=refusal]")
    refused = rows(page)
    assert 0 < len(refused) < everything
    page.click("#kinds [data-kind=all]")
    page.select_option("#reason", "needs_device_sync")
    assert len(rows(page)) == 1
    page.select_option("#reason", "")
    page.select_option("#codemod", "stream_ordered_pairs")
    assert all("✕" not in row for row in rows(page))
    page.select_option("#codemod", "")
    page.select_option("#file", "together/main.cu")
    assert page.locator(".folder").count() == 1
    page.select_option("#file", "")
    search(page, "no such text")
    assert rows(page) == []
    assert "Nothing matches" in page.locator("#detail").inner_text()
    page.keyboard.press("Escape")
    assert len(rows(page)) == everything


def test_what_is_ticked_is_downloaded_and_applied(seen: Seen, tree: Path, tmp_path: Path) -> None:
    page = seen.page
    copy = tmp_path / "copy"
    shutil.copytree(tree, copy)
    page.click("#none")
    assert page.locator("#count").inner_text() == "0"
    search(page, "fixed/main.cu")
    page.check(".take input")
    assert page.locator("#count").inner_text() == "1"
    with page.expect_download() as download:
        page.click("#download")
    download.value.save_as(copy / "picked.json")
    assert download.value.suggested_filename == "cudafix-selection.json"
    assert "cudafix apply --only" in page.locator("#toast").inner_text()
    run = cudafix(copy, "apply", "--only", "picked.json")
    assert run.returncode == 0, run.stderr
    names = [path.relative_to(copy).as_posix() for path in copy.rglob("*.cu")]
    assert [n for n in names if (copy / n).read_bytes() != (tree / n).read_bytes()] == ["fixed/main.cu"]
    assert (copy / "fixed" / "main.cu").read_bytes() == (CASES["fixed"] / "after" / "main.cu").read_bytes()


def test_what_moves_together_is_ticked_together(seen: Seen) -> None:
    search(seen.page, "together/main.cu")
    boxes = seen.page.locator("#list input").all()
    assert len(boxes) >= 2
    assert "move" in seen.page.locator(".with").inner_text()
    boxes[0].uncheck()
    assert not any(box.is_checked() for box in boxes)


def test_keys_move_tick_and_switch_the_theme(seen: Seen) -> None:
    page = seen.page
    first = page.locator("#detail .crumb").inner_text()
    page.keyboard.press("j")
    second = page.locator("#detail .crumb").inner_text()
    assert second != first
    page.keyboard.press("k")
    assert page.locator("#detail .crumb").inner_text() == first
    page.keyboard.press("/")
    page.keyboard.type("fixed/main")
    page.wait_for_timeout(250)
    page.locator("#detail").focus()
    before = int(page.locator("#count").inner_text())
    page.keyboard.press("x")
    assert int(page.locator("#count").inner_text()) == before - 1
    page.keyboard.press("t")
    assert page.locator("html").get_attribute("data-theme") == "dark"
    page.keyboard.press("?")
    assert page.locator("#keys").is_visible()


def test_what_is_looked_at_stays_in_view_when_filters_go(seen: Seen) -> None:
    seen.page.set_viewport_size({"width": 420, "height": 700})
    search(seen.page, "waits/main.cu")
    search(seen.page, "")
    list_, item = (seen.page.locator(at).bounding_box() for at in ("#list", "#list .item[aria-current]"))
    assert list_ is not None
    assert item is not None
    assert list_["y"] <= item["y"] <= item["y"] + item["height"] <= list_["y"] + list_["height"] + 1


def test_a_narrow_screen_shows_old_and_new_lines_below_each_other(seen: Seen) -> None:
    seen.page.set_viewport_size({"width": 420, "height": 700})
    search(seen.page, "fixed/main.cu")
    row = seen.page.locator("table.diff tr", has_text="cudaFreeAsync")
    old, new = (row.locator(cell).bounding_box() for cell in ("td.old:not(.n)", "td.new:not(.n)"))
    assert old is not None
    assert new is not None
    assert new["y"] >= old["y"] + old["height"] - 1
    assert new["width"] > 250


def test_it_is_dark_where_the_system_is(browser: Browser, made: Path) -> None:
    with looked_at(browser, made, color_scheme="dark") as seen:
        colour = seen.page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert sum(map(int, colour[4:-1].split(","))) < 150


def test_all_that_is_shown_is_printed(seen: Seen) -> None:
    seen.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    seen.page.emulate_media(media="print")
    assert seen.page.locator("#print .card").count() == len(rows(seen.page))
    assert not seen.page.locator("#list").is_visible()
    assert len(seen.page.pdf()) > 10_000


def test_an_address_leads_to_one_finding(browser: Browser, made: Path) -> None:
    with looked_at(browser, made) as seen:
        search(seen.page, "refused/main.cu")
        address = seen.page.url
        seen.page.goto("about:blank")
        seen.page.goto(address)
        seen.page.wait_for_selector("html[data-ready]")
        assert "refused/main.cu" in seen.page.locator("#detail .crumb").inner_text()


def test_what_a_reviewer_did_survives_a_reload_and_goes_into_the_selection(seen: Seen, tmp_path: Path) -> None:
    page = seen.page
    count = int(page.locator("#count").inner_text())
    search(page, "fixed/main.cu")
    page.uncheck(".take input")
    page.click(".approve")
    page.fill(".say textarea", "seen with the author\n")
    page.reload()
    page.wait_for_selector("html[data-ready]")
    assert page.locator("#count").inner_text() == str(count - 1)
    assert page.locator("#approved").inner_text() == "1 approved"
    assert "fixed/main.cu" in page.locator("#detail .crumb").inner_text()  # the address was kept
    assert page.locator(".approve").get_attribute("aria-pressed") == "true"
    assert page.locator(".say textarea").input_value() == "seen with the author"
    assert page.locator("#list [aria-current] .said").inner_text() == "✓✎"
    search(page, "refused/main.cu")
    page.locator("#detail").press("a")
    with page.expect_download() as download:
        page.click("#download")
    download.value.save_as(tmp_path / "picked.json")
    picks = read(str(tmp_path / "picked.json"))
    assert len(picks.fixes) == count - 1
    assert [(r.rule, r.file, r.approved, r.comment) for r in picks.reviews] == [
        ("stream_ordered_pairs", "fixed/main.cu", True, "seen with the author"),
        ("needs_device_sync", "refused/main.cu", True, ""),
    ]


def test_an_address_opens_and_marks_its_fix_whatever_the_filters_hide(seen: Seen) -> None:
    page = seen.page
    search(page, "fixed/main.cu")
    address = page.locator(".crumb .link").get_attribute("href")
    page.click("#kinds [data-kind=refusal]")
    search(page, "refused")
    assert page.locator(".card.linked").count() == 0
    page.evaluate("address => { location.hash = address }", address)
    page.wait_for_selector(".card.linked")
    assert "fixed/main.cu" in page.locator("#detail .crumb").inner_text()
    assert page.locator("#query").input_value() == ""


HIDDEN = """() => [...document.querySelectorAll("body *")]
    .filter((e) => /auto|scroll/.test(getComputedStyle(e).overflow))
    .filter((e) => (e.scrollWidth > e.clientWidth || e.scrollHeight > e.clientHeight)
    && e.tabIndex < 0 && !e.querySelector("[tabindex='0']")).map((e) => e.outerHTML.slice(0, 80))"""
CLIPPED = """() => [...document.querySelectorAll("svg.time text")].filter((e) => e.getBBox().x < 0
    || e.getBBox().x + e.getBBox().width > e.ownerSVGElement.width.baseVal.value).map((e) => e.textContent)"""


def test_a_telephone_shows_one_line_of_header_and_hides_nothing_from_the_keyboard(seen: Seen) -> None:
    page = seen.page
    search(page, "refused/main.cu")
    page.set_viewport_size({"width": 390, "height": 844})
    header = page.locator("#top").bounding_box()
    assert header is not None
    assert header["height"] < 50
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert (page.evaluate(HIDDEN), page.evaluate(CLIPPED)) == ([], [])
    assert page.locator(".times").get_attribute("aria-label") == "Timeline"
    page.click("#more")
    assert page.locator("#query").is_visible()


@pytest.mark.parametrize(
    ("theme", "width", "names"),
    [("light", 1400, ("fixed", "refused")), ("dark", 1400, ("waits", "library")), ("light", 390, ("fixed",))],
    ids=["light", "dark", "telephone"],
)
def test_axe_finds_nothing(browser: Browser, made: Path, theme: str, width: int, names: tuple[str, ...]) -> None:
    with looked_at(browser, made, color_scheme=theme) as seen:
        seen.page.set_viewport_size({"width": width, "height": 844})
        for name in names:
            search(seen.page, f"{name}/main.cu")
            found = Axe().run(seen.page).response
            assert "color-contrast" in {rule["id"] for rule in found["passes"]}
            assert [(name, rule["id"], [node["html"] for node in rule["nodes"]]) for rule in found["violations"]] == []


def test_a_line_that_is_too_long_goes_on_below_its_start(seen: Seen) -> None:
    seen.page.set_viewport_size({"width": 390, "height": 844})
    search(seen.page, "fixed/main.cu")
    cell = seen.page.locator("table.diff td.new", has_text="cudaMallocAsync")
    starts = cell.evaluate(
        """e => { const range = document.createRange(); range.selectNodeContents(e);
        return [...range.getClientRects()].filter((at) => at.width > 4).map((at) => [at.top, at.left]) }"""
    )
    lines = {round(top): min(left for t, left in starts if round(t) == round(top)) for top, _ in starts}
    first, *others = (left for _, left in sorted(lines.items()))
    assert len(others) >= 1
    assert all(left >= first for left in others)


HOSTILE = "</script><img src=x onerror='window.broken=1'><script>window.broken=1</script><!--"


def test_text_from_a_program_is_never_markup(browser: Browser, tmp_path: Path) -> None:
    name = "a<img src=x onerror=broken=1>&\"'.cu"
    line = f'int *p; cudaMalloc(&p, 4); // {HOSTILE} "\u2028'.encode()
    content = b"\n".join([line] * 9)
    at = Place(name, content.index(b"cudaMalloc"), f"`{HOSTILE}`")
    steps = (
        Step("allocate", "", at, (), mine=True),
        Step("kernel", HOSTILE, at, (0,)),
        Step("free", "", at, (1,), True, True),
    )
    shown = Certificate((at,), steps, steps, (1, 2))
    edit = Edit(name, at.offset, at.offset + 10, f"cudaMallocAsync /*{HOSTILE}*/".encode())
    fix = Finding("stream_ordered_pairs", name, at.offset, HOSTILE, (edit,), (at,), certificate=shown)
    refusal = Refusal("escapes", name, at.offset, HOSTILE, HOSTILE, (at, at), None, shown)
    file = page_of(Report((fix,), (refusal,), sites=2), {name: content}, tmp_path, title=HOSTILE)
    with looked_at(browser, file) as seen:
        for _ in range(2):
            seen.page.wait_for_timeout(100)
            assert seen.page.evaluate("window.broken") is None
            assert seen.page.locator("main img, main script, header img").count() == 0
            assert "onerror" in seen.page.locator("#detail").inner_text()
            seen.page.keyboard.press("j")


def page_of(report: Report, sources: Mapping[str, bytes], folder: Path, title: str = "test") -> Path:
    file = folder / "review.html"
    file.write_text(html.page(report, select(report, Config(unsafe=True)), sources, title), encoding="utf-8")
    return file


def test_a_file_that_a_fix_makes_is_shown_and_not_part_of_the_selection(browser: Browser, tmp_path: Path) -> None:
    content = b"import numba\n"
    made = Edit("helper.py", 0, 0, b"def made():\n    return 1\n")
    fix = Finding("numba", "main.py", 0, "uses a helper", (Edit("main.py", 0, 0, b"import helper\n"), made))
    file = page_of(Report((fix,), (), sites=1), {"main.py": content}, tmp_path)
    with looked_at(browser, file) as seen:
        assert "def made():" in seen.page.locator("table.diff td.new").all_inner_texts()
        with seen.page.expect_download() as download:
            seen.page.click("#download")
        assert list(json.loads(download.value.path().read_text())["files"]) == ["main.py"]


def test_two_thousand_fixes_open_at_once(browser: Browser, tmp_path: Path) -> None:
    content = (CASES["fixed"] / "before" / "main.cu").read_bytes()
    one = driver.analyze({"main.cu": content}, Config(certificates=True)).findings[0]
    sources = {f"src/part{n // 4}/file{n}.cu": content for n in range(2000)}
    file = page_of(Report(tuple(map(moved, [one] * 2000, sources)), (), sites=2000), sources, tmp_path)
    assert file.stat().st_size < 20e6
    started = time.monotonic()
    with looked_at(browser, file) as seen:
        assert time.monotonic() - started < 10
        assert seen.page.locator("#list .item").count() == 2000
        assert seen.page.locator("#detail .card").count() == 1  # the others are made when they are looked at
        started = time.monotonic()
        for _ in range(20):
            seen.page.keyboard.press("j")
        assert time.monotonic() - started < 5
        search(seen.page, "file1999.cu")
        assert seen.page.locator("#list .item").count() == 1


def moved(finding: Finding, path: str) -> Finding:
    shown = finding.certificate
    assert shown is not None

    def steps(of: tuple[Step, ...]) -> tuple[Step, ...]:
        return tuple(step._replace(place=step.place._replace(path=path)) for step in of)

    return replace(
        finding,
        path=path,
        edits=tuple(edit._replace(path=path) for edit in finding.edits),
        related=tuple(place._replace(path=path) for place in finding.related),
        certificate=replace(
            shown,
            memory=tuple(place._replace(path=path) for place in shown.memory),
            before=steps(shown.before),
            after=steps(shown.after),
        ),
    )
