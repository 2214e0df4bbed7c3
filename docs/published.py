"""Make this tree what a package index gets: `python -m docs.published REPOSITORY TAG SITE`.

The sources name no address, since whoever publishes cudafix has one of their own. This writes the addresses into
`pyproject.toml`, from where they reach the index and the reports (`cudafix.report.addresses`), and turns the links and
pictures of README.md into absolute ones: an index shows that text alone. What is new in the version goes to standard
output. Nothing is written unless the tag is that of the version, and the changelog has a section for it.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from cudafix import __version__
from docs import links

ROOT = Path(__file__).resolve().parents[1]
_PICTURES = (".png", ".svg")


def news(changelog: str, version: str) -> str:
    """The section of a version. Raises `SystemExit`."""
    found = re.search(rf"^## {re.escape(version)}\b.*\n((?:(?!## ).*\n)*)", changelog, re.MULTILINE)
    if not found:
        raise SystemExit(f"CHANGELOG.md has no section `## {version}`")
    return found[1].strip() + "\n"


def readme(text: str, repository: str, tag: str) -> str:
    """README.md with absolute links: pictures are files (`raw`), the rest is what the repository shows (`blob`)."""

    def absolute(link: str) -> str:
        view = "raw" if link.endswith(_PICTURES) else "blob"
        return f"{repository}/{view}/{tag}/{link}"

    return links.changed(text, absolute)


def project(text: str, repository: str, tag: str, site: str) -> str:
    """pyproject.toml with the addresses, by the names that an index knows:
    https://packaging.python.org/en/latest/specifications/well-known-project-urls/.
    """
    addresses = {
        "Homepage": repository,
        "Documentation": site,
        "Source": repository,
        "Issues": f"{repository}/issues",
        "Changelog": f"{repository}/blob/{tag}/CHANGELOG.md",
    }
    table = "".join(f'{name} = "{address}"\n' for name, address in addresses.items())
    return f"{text}\n[project.urls]\n{table}"


def main(repository: str, tag: str, site: str) -> None:
    if tag != f"v{__version__}":
        raise SystemExit(f"the tag is {tag}, and the version of cudafix/__init__.py is {__version__}")
    said = news((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), __version__)
    for name, text in (
        ("README.md", readme((ROOT / "README.md").read_text(encoding="utf-8"), repository, tag)),
        ("pyproject.toml", project((ROOT / "pyproject.toml").read_text(encoding="utf-8"), repository, tag, site)),
    ):
        (ROOT / name).write_text(text, encoding="utf-8")
    sys.stdout.write(said)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        raise SystemExit("usage: python -m docs.published REPOSITORY TAG SITE")
    main(*(argument.rstrip("/") for argument in sys.argv[1:]))
