"""The colours of the review page: text can be told from what it stands on, in the light and in the dark.

WCAG 2.2: contrast of 4.5 for text (1.4.3), of 3 for what has to be seen beside it (1.4.11).
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

STYLE = (Path(__file__).parents[2] / "cudafix" / "report" / "page" / "page.css").read_text(encoding="utf-8")
LIST, CODE = ("panel", "bg", "pick", "hover"), ("panel", "old", "new", "old-mark", "new-mark")
ON = {
    "ink": (*LIST, *CODE), "soft": LIST, "number": (*LIST, "old", "new"),
    "good": ("panel", "bg"), "warn": LIST, "bad": LIST, "accent": LIST, "accent-ink": ("accent",), "bg": ("ink",),
    **dict.fromkeys("kscmft", (*CODE, "bg")),
}  # fmt: skip
"""What text of each colour stands on."""
BARS = ("kernel", "copy", "alloc", "free", "mark")
DRAWN = (*BARS, "stall", "other", "good", "bad", "soft", "accent")


def colours(theme: str) -> dict[str, tuple[int, int, int]]:
    """The colours of a theme, by name."""
    start = {"light": ":root {", "dark": ':root[data-theme="dark"] {'}[theme]
    block = STYLE.partition(start)[2].partition("}")[0]
    found = re.findall(r"--([\w-]+): #([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})\b(?!\w)", block)
    return {name: (int(red, 16), int(green, 16), int(blue, 16)) for name, red, green, blue in found}


def contrast(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    """The ratio of relative luminances, as WCAG 2.2 defines both."""

    def luminance(colour: tuple[float, ...]) -> float:
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (part / 255 for part in colour)]
        return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_the_ratio_is_that_of_the_standard() -> None:
    assert contrast((0, 0, 0), (255, 255, 255)) == pytest.approx(21)
    assert contrast((0x76, 0x76, 0x76), (255, 255, 255)) == pytest.approx(4.54, abs=0.01)


def test_every_colour_of_text_is_looked_at() -> None:
    assert set(re.findall(r"[{ ;]color: var\(--([\w-]+)\)", STYLE)) <= ON.keys()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_can_be_read(theme: str) -> None:
    known = colours(theme)
    pairs = [(text, ground) for text, grounds in ON.items() for ground in grounds]
    assert {pair: ratio for pair in pairs if (ratio := contrast(*(known[name] for name in pair))) < 4.5} == {}
    label = (255, 255, 255) if theme == "light" else (0x0C, 0x10, 0x13)  # `svg .label`
    assert [bar for bar in BARS if contrast(label, known[bar]) < 4.5] == []
    pale = {bar: tuple(0.42 * a + 0.58 * b for a, b in zip(known[bar], known["panel"], strict=True)) for bar in BARS}
    assert [bar for bar in BARS if contrast(known["ink"], pale[bar]) < 4.5] == []  # `svg .bar.other`


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_what_is_drawn_can_be_seen(theme: str) -> None:
    known = colours(theme)
    assert [name for name in DRAWN if contrast(known[name], known["panel"]) < 3] == []
