"""What a wrong name was meant to be."""

from __future__ import annotations

from collections.abc import Collection


def hint(name: str, right: Collection[str]) -> str:
    """The nearest of the right names, else all of them."""
    import difflib  # only a mistake pays for its import

    near = difflib.get_close_matches(name, sorted(right), n=1, cutoff=0.5)
    return f"did you mean `{near[0]}`?" if near else "known: " + ", ".join(f"`{each}`" for each in sorted(right))
