"""How long an edited file takes in `cudafix server`: from the change to its diagnostics, for many files of a tree.

    python benchmarks/editor.py TREE [--every 1] [--at-most 0.3]

Needs the extra `server`. Each file of the tree that allocates device memory is opened, and then gets one more statement
at the end of its last function; the time that the server waits for the next key is not counted. Prints the median and
the time within which nine of ten are. With `--at-most`, the exit status is 1 if the median takes more seconds.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import time
from pathlib import Path
from typing import Any

from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from cudafix.server.language_server import DELAY

SERVER = "from cudafix.cli.main import main; main(['server'])"
SECONDS = 600.0  # for one answer; the first one proves the tree


def edited(text: str) -> str | None:
    """The text with a statement more; None where no function ends with a closing brace of its own line."""
    at = text.rfind("\n}")
    return f"{text[:at]}\n    (void)0;{text[at:]}" if at >= 0 else None


async def measure(files: list[Path], root: Path) -> dict[Path, float]:
    """Seconds for each file."""
    client: Any = LanguageClient("benchmark", "1")  # it has types for what it sends, and not for how it runs
    shown: asyncio.Queue[lsp.PublishDiagnosticsParams] = asyncio.Queue()

    def show(said: lsp.PublishDiagnosticsParams) -> None:
        shown.put_nowait(said)

    client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(show)
    await client.start_io(sys.executable, "-c", SERVER)
    folders = [lsp.WorkspaceFolder(root.as_uri(), "tree")]
    can = lsp.ClientCapabilities()
    await client.initialize_async(lsp.InitializeParams(can, root_uri=root.as_uri(), workspace_folders=folders))
    client.initialized(lsp.InitializedParams())

    async def told(uri: str, version: int) -> None:
        while True:
            said = await asyncio.wait_for(shown.get(), SECONDS)
            if (said.uri, said.version) == (uri, version):
                return

    found: dict[Path, float] = {}
    for file in files:
        text, uri = file.read_text(encoding="utf-8", errors="replace"), file.as_uri()
        changed = edited(text)
        if changed is None:
            continue
        document = lsp.TextDocumentItem(uri, "cuda", 1, text)
        client.text_document_did_open(lsp.DidOpenTextDocumentParams(document))
        await told(uri, 1)
        version = lsp.VersionedTextDocumentIdentifier(version=2, uri=uri)
        start = time.perf_counter()
        change = lsp.TextDocumentContentChangeWholeDocument(changed)
        client.text_document_did_change(lsp.DidChangeTextDocumentParams(version, [change]))
        await told(uri, 2)
        found[file] = time.perf_counter() - start - DELAY
        client.text_document_did_close(lsp.DidCloseTextDocumentParams(lsp.TextDocumentIdentifier(uri)))
    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description="Time edits in `cudafix server`.")
    parser.add_argument("tree", type=Path)
    parser.add_argument("--every", type=int, default=1, metavar="N", help="take each Nth file only")
    parser.add_argument("--at-most", type=float, metavar="SECONDS", help="fail if the median is above it")
    arguments = parser.parse_args()
    root = arguments.tree.resolve()
    files = [file for file in sorted(root.rglob("*.c[up]*")) if file.is_file() and b"cudaMalloc(" in file.read_bytes()]
    seconds = sorted(asyncio.run(measure(files[:: arguments.every], root)).values())
    if not seconds:
        raise SystemExit("editor: no file that allocates device memory")
    median, most = statistics.median(seconds), seconds[int(0.9 * (len(seconds) - 1))]
    print(f"{len(seconds)} files: median {median:.3f} s, nine of ten within {most:.3f} s")
    return 1 if arguments.at_most is not None and median > arguments.at_most else 0


if __name__ == "__main__":
    sys.exit(main())
