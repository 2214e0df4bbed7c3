"""Hooks of MkDocs (`mkdocs.yml`): adds the pages that come from the code and from the root of the repository.

* `<!-- generated: NAME -->` in a page is replaced by what `docs.generated` makes for NAME.
* Pages of codemods and refusals are made whole.
* README.md is the home page; the other Markdown files of the root are pages as they are.
* A link to a file that is no page (a test, a script) leads to a copy of that file in the site.
"""

from __future__ import annotations

import os
import posixpath
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from docs import generated, links  # noqa: E402 as above

AT_THE_ROOT = {
    "README.md": "index.md",
    "ARCHITECTURE.md": "ARCHITECTURE.md",
    "CHANGELOG.md": "CHANGELOG.md",
    "CODE_OF_CONDUCT.md": "CODE_OF_CONDUCT.md",
    "CONTRIBUTING.md": "CONTRIBUTING.md",
    "SECURITY.md": "SECURITY.md",
    "benchmarks/README.md": "evidence/benchmarks.md",
}
"""Pages that lie outside of `docs/`, and where they stand in the site."""

_running = ExitStack()
_made: dict[str, Callable[[], str]] = {}
_MARK = re.compile(r"^<!-- generated: (\w+) -->$", re.MULTILINE)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the pages of codemods and refusals into the navigation."""
    names = {"reference/codemods": generated.codemod_names(), "reference/refusals": generated.refusal_names()}
    for section in config.nav or ():
        for entries in section.values():
            for entry in entries if isinstance(entries, list) else ():
                for title, folder in entry.items():
                    if folder in names:
                        pages = [f"{folder}/index.md", *({n: f"{folder}/{n}.md"} for n in names[folder])]
                        entry[title] = pages
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that do not lie in `docs/`, and the files that pages link to."""
    for name, uri in AT_THE_ROOT.items():
        files.append(File.generated(config, uri, abs_src_path=str(ROOT / name)))
    _made.clear()
    _made.update(_running.enter_context(generated.pages()))
    for uri in _made:
        files.append(File.generated(config, uri, content=""))
    known = {file.src_uri for file in files}
    for file in [file for file in files if file.is_documentation_page()]:
        for target in _targets(file, files):
            if target not in known:
                known.add(target)
                files.append(File.generated(config, target, abs_src_path=str(ROOT / target.partition("/")[2])))
    return files


def on_page_read_source(page: Page, config: MkDocsConfig) -> str | None:
    """The text of a page that is made from the code: other processes have worked on it since `on_files`."""
    return _made[page.file.src_uri]() if page.file.src_uri in _made else None


def on_post_build(config: MkDocsConfig) -> None:
    """End these processes."""
    _running.close()


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Fill in what is generated, and turn links of the repository into links of the site."""
    filled = _MARK.sub(lambda found: generated.part(found[1]), markdown)
    return links.changed(filled, lambda link: _linked(link, page.file, files))


def _targets(file: File, files: Files) -> Iterator[str]:
    found: list[str] = []

    def note(link: str) -> str:
        found.append(_uri(link.partition("#")[0], file, files))
        return link

    links.changed(file.content_string, note)
    return (uri for uri in found if uri.startswith("files/"))


def _linked(link: str, file: File, files: Files) -> str:
    path, hash_, anchor = link.partition("#")
    uri = _uri(path, file, files)
    return (posixpath.relpath(uri, posixpath.dirname(file.src_uri) or ".") + hash_ + anchor) if uri else link


def _uri(path: str, file: File, files: Files) -> str:
    """What a path in a file is in the site: a page, something else that lies in `docs/`, or a copy under `files/`.

    Empty if there is nothing: MkDocs then says which link is broken.
    """
    at_home = posixpath.normpath(posixpath.join(posixpath.dirname(file.src_uri), path))
    if file.abs_src_path is None:  # made from the code
        return at_home
    real = Path(os.path.normpath(Path(file.abs_src_path).parent / path))
    if not real.is_file() or not real.is_relative_to(ROOT):
        return at_home if files.get_file_from_path(at_home) is not None else ""
    name = real.relative_to(ROOT).as_posix()
    of_docs = name.removeprefix("docs/")
    if name in AT_THE_ROOT:
        return AT_THE_ROOT[name]
    known = files.get_file_from_path(of_docs)
    if name != of_docs and known is not None and known.inclusion is not InclusionLevel.EXCLUDED:
        return of_docs
    return f"files/{name}"
