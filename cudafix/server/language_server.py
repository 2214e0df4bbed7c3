"""The server: what editors send and get, by the Language Server Protocol 3.17, over standard input and output.

The loop answers; one thread works, on the newest texts only: an edit cancels what is done for older ones.
"""

from __future__ import annotations

import asyncio
import gc
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from lsprotocol import types as lsp
from pygls import uris
from pygls.lsp.server import LanguageServer

from cudafix import __version__, interrupts
from cudafix.api.checks import Report
from cudafix.findings import Edit
from cudafix.project.paths import SUFFIXES
from cudafix.project.prefilter import NOTEBOOK
from cudafix.report.listing import Level
from cudafix.report.results import Result
from cudafix.rewrite.edits import ordered
from cudafix.server import actions, hover
from cudafix.server.positions import Encoding, Point, Text
from cudafix.server.workspace import Said, Workspace, is_source

DELAY = 0.2
"""Seconds without an edit before work begins."""
_IDLE = 2.0  # seconds without one before memory is tidied
_PATIENCE = 20.0  # seconds that a request waits for what is said about the newest texts
_SEVERITIES = {
    Level.ERROR: lsp.DiagnosticSeverity.Error,
    Level.WARNING: lsp.DiagnosticSeverity.Warning,
    Level.NOTE: lsp.DiagnosticSeverity.Information,
    Level.REVIEW: lsp.DiagnosticSeverity.Information,
    Level.NONE: lsp.DiagnosticSeverity.Hint,
}
_FIX_ALL = f"{lsp.CodeActionKind.SourceFixAll.value}.cudafix"
_FILES = ",".join(f"*{suffix}" for suffix in sorted(SUFFIXES - {NOTEBOOK}))
_WATCHED = f"**/{{{_FILES},cudafix.toml,pyproject.toml,compile_commands.json}}"

T = TypeVar("T")


class Server(LanguageServer):
    """One for each editor. The whole text of a document comes with each change: columns of the lines before and after
    it are then nobody's to agree on.
    """

    def __init__(self) -> None:
        super().__init__("cudafix", __version__, text_document_sync_kind=lsp.TextDocumentSyncKind.Full)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="cudafix")
        self._files = Workspace()
        self._generation = 0  # of the texts
        self._opened: dict[str, str] = {}  # the URI of each open document, by its real path
        self._texts: dict[str, bytes] = {}  # of `_said`
        self._said = Said({}, ())
        self._settled = asyncio.Event()  # `_said` is about the newest texts
        self._anew = False
        self._told: set[str] = set()
        self._waiting: asyncio.Task[None] | None = None

    @property
    def encoding(self) -> Encoding:
        """The code units of columns, as the client and the server have agreed on."""
        chosen = self.workspace.position_encoding
        return "utf-8" if chosen == "utf-8" else "utf-32" if chosen == "utf-32" else "utf-16"

    # -- what the client tells ---------------------------------------------------------------------------------------

    def began(self, params: lsp.InitializeParams) -> None:
        """Take the folders that the editor has opened, and the options that it gives."""
        folders = [uris.to_fs_path(uri) for uri in self.workspace.folders] or [self.workspace.root_path]
        given = params.initialization_options
        config = given.get("config") if isinstance(given, Mapping) else None
        found = [folder for folder in folders if folder]
        if found and os.path.isdir(found[0]):
            os.chdir(found[0])  # where paths in messages start
        self._files = Workspace(found, config if isinstance(config, str) else None)

    async def watch(self) -> None:
        """Ask to be told of files that change on the disk."""
        watching = self.client_capabilities.workspace and self.client_capabilities.workspace.did_change_watched_files
        if watching and watching.dynamic_registration:
            options = lsp.DidChangeWatchedFilesRegistrationOptions([lsp.FileSystemWatcher(_WATCHED)])
            watched = lsp.Registration("watched", lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
            await self.client_register_capability_async(lsp.RegistrationParams([watched]))

    def opened(self, uri: str) -> None:
        path = _path(uri)
        if path is not None:
            self._opened[path] = uri
            self.changed(0.0)

    def closed(self, uri: str) -> None:
        path = _path(uri)
        if path is not None and self._opened.pop(path, None) is not None:
            self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, []))
            self.changed(0.0)

    def changed(self, delay: float = DELAY, *, disk: bool = True) -> None:
        """Some text is another one: what is done for the older ones ends, and the work begins anew. Unless only texts
        of the editor have changed, the `disk` is looked at too.
        """
        self._generation += 1
        self._anew = self._anew or disk
        self._settled.clear()
        if self._waiting is not None:
            self._waiting.cancel()
        self._waiting = asyncio.get_running_loop().create_task(self._look(delay))

    # -- what is done about it ---------------------------------------------------------------------------------------

    async def _look(self, delay: float) -> None:
        generation = self._generation
        await asyncio.sleep(delay)
        texts, anew = self._newest(), self._anew

        def look() -> Said:
            if anew:
                self._files.forget()
            return self._files.look(texts)

        said = await self._work(look)
        if said is None or generation != self._generation:
            return
        self._anew = False
        self._said, self._texts = said, texts
        for line in said.errors:
            if line not in self._told:  # once, not with each key
                self.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Error, f"cudafix: {line}"))
        self._told = set(said.errors)
        for path in texts:
            self._publish(path)
        self._settled.set()
        gc.freeze()  # nearly all of it is needed for the next answer: nobody looks through it meanwhile
        await asyncio.sleep(_IDLE)  # another edit ends this
        await self._work(_tidy)

    async def _work(self, work: Callable[[], T]) -> T | None:
        """What the thread finds out about the newest texts; None if they have changed meanwhile."""
        generation = self._generation

        def run() -> T | None:
            try:
                with interrupts.while_wanted(lambda: generation == self._generation):
                    interrupts.checkpoint()
                    return work()
            except interrupts.Cancelled:
                return None

        return await asyncio.shield(asyncio.get_running_loop().run_in_executor(self._thread, run))

    def _newest(self) -> dict[str, bytes]:
        documents = self.workspace.text_documents
        return {
            path: documents[uri].source.encode("utf-8", "replace")
            for path, uri in self._opened.items()
            if uri in documents
        }

    async def _now(self) -> bool:
        """Whether what is said is about the newest texts, after a while."""
        try:
            await asyncio.wait_for(self._settled.wait(), _PATIENCE)
        except asyncio.TimeoutError:
            return False
        return True

    # -- what the client gets ----------------------------------------------------------------------------------------

    def _publish(self, path: str) -> None:
        report, uri = self._said.reports.get(path), self._opened[path]
        found = (
            [] if report is None else [self._diagnostic(report, r) for r in _results(report, path) if not r.suppressed]
        )
        found += [] if report is None else self._problems(report, path)
        version = self.workspace.text_documents[uri].version
        self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, found, version))

    def _problems(self, report: Report, path: str) -> list[lsp.Diagnostic]:
        start = lsp.Range(lsp.Position(0, 0), lsp.Position(0, 0))
        return [
            lsp.Diagnostic(start, problem.message, lsp.DiagnosticSeverity.Warning, source="cudafix")
            for problem in report.problems
            if os.path.realpath(problem.path) == path
        ]

    def _diagnostic(self, report: Report, result: Result) -> lsp.Diagnostic:
        message = result.message
        if result.unlock:
            message += f"\nTo unlock: {result.unlock}"
        for each in result.assumptions:
            message += f"\nAssumes that {each.message}"
        return lsp.Diagnostic(
            range=self._range(report, result.path, result.region),
            message=message,
            severity=_SEVERITIES[result.level],
            code=result.rule,
            source="cudafix",
            related_information=[
                lsp.DiagnosticRelatedInformation(
                    lsp.Location(self._uri(place.path), self._range(report, place.path, place.region)), place.message
                )
                for place in result.related
            ],
            data=result.fingerprint,
        )

    async def offered(self, params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        """What can be done at a place of the newest text."""
        path = _path(params.text_document.uri)
        if path not in self._opened or not await self._now():
            return []
        report = self._said.reports.get(path)
        if report is None:
            return []
        only = [str(getattr(kind, "value", kind)) for kind in params.context.only or ()]
        here = [
            result
            for result in _results(report, path)
            if not result.suppressed and _meet(self._range(report, result.path, result.region), params.range)
        ]
        found: list[lsp.CodeAction] = []
        if not only or any(_covers(kind, lsp.CodeActionKind.QuickFix.value) for kind in only):
            offers = actions.at(report, here)
            found += [made for offer in offers if (made := self._action(report, offer, lsp.CodeActionKind.QuickFix))]
        if (not only and here) or any(_covers(kind, _FIX_ALL) for kind in only):
            all_of_it = actions.of_file(report, _named(report, path))
            made = self._action(report, all_of_it, _FIX_ALL) if all_of_it is not None else None
            found += [made] if made is not None else []
        return found

    def _action(self, report: Report, offer: actions.Offer, kind: str) -> lsp.CodeAction | None:
        edit = self._workspace_edit(report, offer)
        if edit is None:
            return None
        about = [self._diagnostic(report, offer.result)] if offer.result is not None else None
        return lsp.CodeAction(offer.title, kind, about, is_preferred=offer.preferred or None, edit=edit)

    def _workspace_edit(self, report: Report, offer: actions.Offer) -> lsp.WorkspaceEdit | None:
        """None where a file has changed since, a text is none in UTF-8, or the client cannot make a file."""
        can = (self.client_capabilities.workspace and self.client_capabilities.workspace.workspace_edit) or None
        changes: list[lsp.TextDocumentEdit | lsp.CreateFile | lsp.RenameFile | lsp.DeleteFile] = []
        for path, edits in offer.edits.items():
            uri = self._uri(path)
            if path not in report.sources:
                if not can or lsp.ResourceOperationKind.Create not in (can.resource_operations or ()):
                    return None
                changes.append(lsp.CreateFile(uri))
            elif not self._is_as_it_was(report, path):
                return None
            snippet = offer.reason and bool(can and can.document_changes and can.snippet_edit_support)
            made = list(self._edits(report, path, edits, snippet=snippet))
            if len(made) < len(ordered(edits)):
                return None
            document = self.workspace.text_documents.get(uri)
            version = document.version if document is not None else None
            identifier = lsp.OptionalVersionedTextDocumentIdentifier(uri, version)
            changes.append(lsp.TextDocumentEdit(identifier, made))
        if can and can.document_changes:
            return lsp.WorkspaceEdit(document_changes=changes)
        if any(isinstance(each, lsp.CreateFile) for each in changes):
            return None
        plain = [each for each in changes if isinstance(each, lsp.TextDocumentEdit)]
        return lsp.WorkspaceEdit(
            {each.text_document.uri: [e for e in each.edits if isinstance(e, lsp.TextEdit)] for each in plain}
        )

    def _edits(
        self, report: Report, path: str, edits: Sequence[Edit], *, snippet: bool
    ) -> Iterator[lsp.TextEdit | lsp.AnnotatedTextEdit | lsp.SnippetTextEdit]:
        text = Text(report.sources.get(path, b""), self.encoding)
        for edit in ordered(edits):
            try:
                new = edit.text.decode()
            except UnicodeDecodeError:
                return
            where = lsp.Range(_position(text.point(edit.start)), _position(text.point(edit.end)))
            if snippet:
                words, end = new.rstrip("\r\n"), new[len(new.rstrip("\r\n")) :]
                escaped = words.replace("\\", "\\\\").replace("$", "\\$").replace("}", "\\}")
                yield lsp.SnippetTextEdit(where, lsp.StringValue(f"{escaped}${{1:reason}}{end}"))
            else:
                yield lsp.TextEdit(where, new)

    def _is_as_it_was(self, report: Report, path: str) -> bool:
        """Whether a file has the text that was looked at: in the editor, or else on the disk."""
        real = os.path.realpath(path)
        if real in self._opened:
            return self._newest().get(real) == report.sources[path]
        try:
            with open(real, "rb") as file:
                return file.read() == report.sources[path]
        except OSError:
            return False

    async def hovered(self, params: lsp.HoverParams) -> lsp.Hover | None:
        """The proof, or what stands in its way, of the results at a place or with a place there."""
        path = _path(params.text_document.uri)
        if path not in self._opened or not await self._now():
            return None
        report = self._said.reports.get(path)
        if report is None or not self._at(report, path, params.position):
            return None
        texts = self._texts
        proved = await self._work(lambda: self._files.look(texts, proofs=True))
        if proved is None:
            return None
        report = proved.reports.get(path, report)
        found = self._at(report, path, params.position)
        if not found:
            return None
        words = "\n\n---\n\n".join(hover.markdown(result) for result, _ in found)
        return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, words), found[0][1])

    def _at(self, report: Report, path: str, position: lsp.Position) -> list[tuple[Result, lsp.Range]]:
        """The results at a place, or else those with a related place there."""
        here = lsp.Range(position, position)
        own: list[tuple[Result, lsp.Range]] = []
        related: list[tuple[Result, lsp.Range]] = []
        for result in report.results:
            places = ((own, result.path, result.region), *((related, p.path, p.region) for p in result.related))
            for among, name, region in places:
                if os.path.realpath(name) == path and _meet(where := self._range(report, name, region), here):
                    among.append((result, where))
        return own or related

    def _range(self, report: Report, path: str, region: tuple[int, int, int, int]) -> lsp.Range:
        text = Text(report.sources.get(path, b""), self.encoding)
        line, column, end_line, end_column = region
        return lsp.Range(_position(text.at(line, column)), _position(text.at(end_line, end_column)))

    def _uri(self, path: str) -> str:
        real = os.path.realpath(path)
        return self._opened.get(real) or uris.from_fs_path(real) or ""


def _position(point: Point) -> lsp.Position:
    return lsp.Position(*point)


def _path(uri: str) -> str | None:
    """The real path of a document that may be asked about."""
    path = uris.to_fs_path(uri) if uri.startswith("file:") else None
    return os.path.realpath(path) if path is not None and is_source(path) else None


def _named(report: Report, real: str) -> str:
    return next((path for path in report.sources if os.path.realpath(path) == real), real)


def _results(report: Report, real: str) -> list[Result]:
    """Those of a file."""
    return [result for result in report.results if os.path.realpath(result.path) == real]


def _tidy() -> None:
    """Free what refers to itself in circles, while nobody waits."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()


def _meet(one: lsp.Range, other: lsp.Range) -> bool:
    """Whether two ranges have a place in common, their ends too."""
    starts = max((r.start.line, r.start.character) for r in (one, other))
    return starts <= min((r.end.line, r.end.character) for r in (one, other))


def _covers(asked: str, kind: str) -> bool:
    """Whether a kind of action is one of those that are asked for."""
    return kind == asked or kind.startswith(f"{asked}.")


def made() -> Server:
    """A server that answers."""
    server = Server()

    @server.feature(lsp.INITIALIZE)
    def initialize(params: lsp.InitializeParams) -> None:
        server.began(params)

    @server.feature(lsp.INITIALIZED)
    async def initialized(_: lsp.InitializedParams) -> None:
        await server.watch()

    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    async def opened(params: lsp.DidOpenTextDocumentParams) -> None:
        server.opened(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    async def changed(params: lsp.DidChangeTextDocumentParams) -> None:
        if _path(params.text_document.uri) is not None:
            server.changed(disk=False)

    @server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    async def saved(params: lsp.DidSaveTextDocumentParams) -> None:
        if _path(params.text_document.uri) is not None:
            server.changed(0.0)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    async def closed(params: lsp.DidCloseTextDocumentParams) -> None:
        server.closed(params.text_document.uri)

    @server.feature(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    async def on_the_disk(_: lsp.DidChangeWatchedFilesParams) -> None:
        server.changed()

    kinds = lsp.CodeActionOptions([lsp.CodeActionKind.QuickFix, _FIX_ALL])

    @server.feature(lsp.TEXT_DOCUMENT_CODE_ACTION, kinds)
    async def code_actions(params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        return await server.offered(params)

    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    async def hover_at(params: lsp.HoverParams) -> lsp.Hover | None:
        return await server.hovered(params)

    return server


def run() -> None:
    """Serve until the editor ends it."""
    made().start_io()
