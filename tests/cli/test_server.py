"""`cudafix server`: a client over standard input and output gets what `check` says, of the texts that it shows."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient

import cudafix

LIMIT = 120.0  # seconds for one answer, on a machine with much else to do
SERVER = "from cudafix.cli.main import main; main(['server'])"
PROGRAM = """#include <cuda_runtime.h>
__global__ void k(float *p) { p[0] = 1; }
int main() {
    float *d;
    /* \N{ROCKET} */ cudaMalloc(&d, 4);
    k<<<1, 1>>>(d);
    cudaFree(d);
    return 0;
}
"""
NOT_FREED = PROGRAM.replace("    cudaFree(d);\n", "")


class Editor:
    """A client with one folder open."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.client: Any = LanguageClient("test", "1")  # it has types for what it sends, and not for how it runs
        self.shown: asyncio.Queue[lsp.PublishDiagnosticsParams] = asyncio.Queue()
        self.messages: list[str] = []

        def show(shown: lsp.PublishDiagnosticsParams) -> None:
            self.shown.put_nowait(shown)

        def tell(said: lsp.ShowMessageParams) -> None:
            self.messages.append(said.message)

        self.client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(show)
        self.client.feature(lsp.WINDOW_SHOW_MESSAGE)(tell)

    async def start(self, encodings: list[lsp.PositionEncodingKind | str] | None) -> None:
        await self.client.start_io(sys.executable, "-c", SERVER)
        edits = lsp.WorkspaceEditClientCapabilities(document_changes=True)
        general = lsp.GeneralClientCapabilities(position_encodings=encodings)
        can = lsp.ClientCapabilities(lsp.WorkspaceClientCapabilities(workspace_edit=edits), general=general)
        uri = self.folder.as_uri()
        folders = [lsp.WorkspaceFolder(uri, "tree")]
        await self.client.initialize_async(lsp.InitializeParams(can, root_uri=uri, workspace_folders=folders))
        self.client.initialized(lsp.InitializedParams())

    async def stop(self) -> None:
        await self.client.shutdown_async(None)
        self.client.exit(None)
        await self.client.stop()

    def uri(self, name: str) -> str:
        return (self.folder / name).as_uri()

    def open(self, name: str, text: str) -> None:
        document = lsp.TextDocumentItem(self.uri(name), "cuda", 1, text)
        self.client.text_document_did_open(lsp.DidOpenTextDocumentParams(document))

    def edit(self, name: str, version: int, text: str) -> None:
        document = lsp.VersionedTextDocumentIdentifier(version=version, uri=self.uri(name))
        change = lsp.TextDocumentContentChangeWholeDocument(text)
        self.client.text_document_did_change(lsp.DidChangeTextDocumentParams(document, [change]))

    async def diagnostics(self, name: str, version: int) -> list[lsp.Diagnostic]:
        """What is shown of this version of a document."""
        while True:
            shown = await asyncio.wait_for(self.shown.get(), LIMIT)
            if shown.uri == self.uri(name) and shown.version == version:
                return list(shown.diagnostics)

    async def actions(self, name: str, where: lsp.Range, only: list[str] | None = None) -> list[lsp.CodeAction]:
        asked = lsp.CodeActionParams(
            lsp.TextDocumentIdentifier(self.uri(name)), where, lsp.CodeActionContext([], only=only)
        )
        found = await asyncio.wait_for(self.client.text_document_code_action_async(asked), LIMIT)
        return [each for each in found or () if isinstance(each, lsp.CodeAction)]

    async def hover(self, name: str, where: lsp.Position) -> str:
        asked = lsp.HoverParams(lsp.TextDocumentIdentifier(self.uri(name)), where)
        found = await asyncio.wait_for(self.client.text_document_hover_async(asked), LIMIT)
        return found.contents.value if found is not None and isinstance(found.contents, lsp.MarkupContent) else ""


def session(
    folder: Path,
    act: Callable[[Editor], Awaitable[None]],
    encodings: list[lsp.PositionEncodingKind | str] | None = None,
) -> Editor:
    async def run() -> Editor:
        editor = Editor(folder)
        await editor.start(encodings)
        try:
            await act(editor)
        finally:
            await editor.stop()
        return editor

    return asyncio.run(run())


def edited(text: str, action: lsp.CodeAction, unit: str = "utf-16-le") -> str:
    """A text after an action, whose places count code units."""
    assert action.edit is not None
    (change,) = action.edit.document_changes or ()
    assert isinstance(change, lsp.TextDocumentEdit)
    size = {"utf-16-le": 2, "utf-8": 1}[unit]
    lines = [line.encode(unit) for line in text.splitlines(keepends=True)]
    starts = [sum(map(len, lines[:n])) for n in range(len(lines) + 1)]
    data = b"".join(lines)

    def offset(at: lsp.Position) -> int:
        return starts[at.line] + at.character * size

    for edit in reversed(change.edits):
        assert isinstance(edit, lsp.TextEdit)
        data = data[: offset(edit.range.start)] + edit.new_text.encode(unit) + data[offset(edit.range.end) :]
    return data.decode(unit)


@pytest.mark.parametrize("unit", ["utf-16-le", "utf-8"])
def test_the_editor_shows_what_check_says_and_its_fixes_are_those_of_apply(tmp_path: Path, unit: str) -> None:
    (tmp_path / "main.cu").write_text(PROGRAM, encoding="utf-8")
    report = cudafix.check(tmp_path)
    (expected,) = report.findings

    async def act(editor: Editor) -> None:
        editor.open("main.cu", PROGRAM)
        (shown,) = await editor.diagnostics("main.cu", 1)
        assert (shown.code, shown.message) == (expected.rule, expected.message)
        assert shown.severity is lsp.DiagnosticSeverity.Information
        column = len(PROGRAM.splitlines()[4].partition("cudaMalloc")[0].encode(unit)) // (1 + (unit != "utf-8"))
        assert shown.range.start == lsp.Position(4, column)
        (freed,) = shown.related_information or ()
        assert (freed.message, freed.location.range.start) == ("freed on `0`", lsp.Position(6, 4))
        fix, ignore, every = await editor.actions("main.cu", shown.range)
        assert edited(PROGRAM, fix, unit).encode() == next(iter(report.fixed().values()))
        assert edited(PROGRAM, every, unit) == edited(PROGRAM, fix, unit)
        assert "cudaMalloc(&d, 4); // cudafix: ignore[stream_ordered_pairs] \n" in edited(PROGRAM, ignore, unit)
        (alone,) = await editor.actions("main.cu", lsp.Range(lsp.Position(0, 0), lsp.Position(0, 0)), ["source.fixAll"])
        assert alone.edit == every.edit

    session(tmp_path, act, [lsp.PositionEncodingKind.Utf8] if unit == "utf-8" else None)


def test_what_is_typed_counts_and_not_what_is_on_the_disk(tmp_path: Path) -> None:
    (tmp_path / "main.cu").write_text(PROGRAM, encoding="utf-8")

    async def act(editor: Editor) -> None:
        editor.open("main.cu", NOT_FREED)
        (shown,) = await editor.diagnostics("main.cu", 1)
        assert (shown.code, shown.severity) == ("free_not_found", lsp.DiagnosticSeverity.Hint)
        assert "To unlock: " in shown.message
        editor.edit("main.cu", 2, PROGRAM)
        (shown,) = await editor.diagnostics("main.cu", 2)
        assert shown.code == "stream_ordered_pairs"
        ignored = PROGRAM.replace("&d, 4);", "&d, 4); // cudafix: ignore[stream_ordered_pairs] a measurement")
        editor.edit("main.cu", 3, ignored)
        assert await editor.diagnostics("main.cu", 3) == []
        editor.edit("main.cu", 4, ignored.replace(" a measurement", ""))
        codes = [each.code for each in await editor.diagnostics("main.cu", 4)]
        assert codes == ["stream_ordered_pairs", "suppression"]

    session(tmp_path, act)


def test_a_program_of_several_files_is_that_of_the_editor_and_the_disk(tmp_path: Path) -> None:
    declared = "#pragma once\nvoid fill(float *);\n"
    defined = (
        '#include "fill.cuh"\n__global__ void k(float *p) { p[0] = 1; }\nvoid fill(float *p) { k<<<1, 1>>>(p); }\n'
    )
    kernel = "__global__ void k(float *p) { p[0] = 1; }"
    main = PROGRAM.replace("k<<<1, 1>>>", "fill").replace(kernel, '#include "fill.cuh"')
    (tmp_path / "fill.cuh").write_text(declared)
    (tmp_path / "main.cu").write_text(main, encoding="utf-8")
    (tmp_path / "fill.cu").write_text(defined.replace("k<<<", "unknown(p); k<<<"))

    async def act(editor: Editor) -> None:
        editor.open("main.cu", main)
        (shown,) = await editor.diagnostics("main.cu", 1)
        assert shown.code == "unknown_call"  # what is on the disk
        editor.open("fill.cu", defined)
        assert await editor.diagnostics("fill.cu", 1) == []
        editor.edit("main.cu", 2, main)
        (shown,) = await editor.diagnostics("main.cu", 2)
        assert shown.code == "stream_ordered_pairs"

    session(tmp_path, act)


def test_the_proof_or_the_blocker_is_shown_at_each_of_its_places(tmp_path: Path) -> None:
    (tmp_path / "main.cu").write_text(PROGRAM, encoding="utf-8")

    async def act(editor: Editor) -> None:
        editor.open("main.cu", PROGRAM)
        (shown,) = await editor.diagnostics("main.cu", 1)
        at_the_site = await editor.hover("main.cu", shown.range.start)
        assert "- *ordered*: every use runs on the default stream" in at_the_site
        assert await editor.hover("main.cu", lsp.Position(6, 6)) == at_the_site
        assert await editor.hover("main.cu", lsp.Position(0, 0)) == ""
        editor.edit("main.cu", 2, NOT_FREED)
        (shown,) = await editor.diagnostics("main.cu", 2)
        assert "To unlock: " in await editor.hover("main.cu", shown.range.start)

    session(tmp_path, act)


def test_an_edit_ends_the_work_for_the_text_before(tmp_path: Path) -> None:
    """Nothing is shown of a text that was edited at once: not in the end either."""
    (tmp_path / "main.cu").write_text(PROGRAM, encoding="utf-8")

    async def act(editor: Editor) -> None:
        editor.open("main.cu", PROGRAM)
        await editor.diagnostics("main.cu", 1)
        for version in range(2, 12):
            editor.edit("main.cu", version, PROGRAM.replace("p[0] = 1", f"p[0] = {version}"))
        shown = await asyncio.wait_for(editor.shown.get(), LIMIT)
        assert shown.version == 11
        assert editor.shown.empty()

    session(tmp_path, act)


def test_a_broken_configuration_is_told_once(tmp_path: Path) -> None:
    (tmp_path / "main.cu").write_text(PROGRAM, encoding="utf-8")
    (tmp_path / "cudafix.toml").write_text("excluded = []\n")

    async def act(editor: Editor) -> None:
        editor.open("main.cu", PROGRAM)
        assert await editor.diagnostics("main.cu", 1) == []
        editor.edit("main.cu", 2, NOT_FREED)
        assert await editor.diagnostics("main.cu", 2) == []

    (said,) = session(tmp_path, act).messages
    assert "unknown key `excluded`" in said


def test_without_pygls_one_line_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['pygls'] = None\n")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    ran = subprocess.run([sys.executable, "-c", SERVER], capture_output=True, text=True, env=environment, check=False)
    assert ran.returncode == 2
    assert ran.stderr == "cudafix: `server` needs `pygls`: pip install 'cudafix[server]'\n"
