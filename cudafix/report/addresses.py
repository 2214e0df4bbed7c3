"""Where the project is on the web, if the package says so: whoever publishes it writes that into its metadata.

The labels are those of https://packaging.python.org/en/latest/specifications/well-known-project-urls/.
"""

from __future__ import annotations

from functools import cache

from cudafix.refusals import REFUSALS


def home() -> str | None:
    """Where the project is."""
    return _labelled().get("homepage")


def page(name: str) -> str | None:
    """The page of a codemod or a refusal in the documentation (`docs/hooks.py` makes it)."""
    site = _labelled().get("documentation")
    kind = "refusals" if name in REFUSALS else "codemods"
    return f"{site}/reference/{kind}/{name}.html" if site is not None else None


@cache
def _labelled() -> dict[str, str]:
    from importlib.metadata import PackageNotFoundError, metadata  # with the modules for mail

    try:
        given = metadata("cudafix").get_all("Project-URL") or []
    except PackageNotFoundError:  # run from the sources
        return {}
    pairs = (line.partition(", ") for line in given)
    return {label.lower(): address.rstrip("/") for label, _, address in pairs}
