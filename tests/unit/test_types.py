"""What a type is that is written: each line is asked what the others are asked."""

from __future__ import annotations

import pytest

from cudafix.ir.types import Type

# the text, the name, what declarators add, whether what they are added to is qualified, and the template arguments
WRITTEN = [
    ("", "", (), False, ()),
    ("unsigned long long", "unsigned long long", (), False, ()),
    ("const struct N::A<const B *> *const &", "N::A", ("*", "&"), True, ("const B *",)),
    ("A *const", "A", ("*",), False, ()),
    ("char const *", "char", ("*",), True, ()),
    ("constants &", "constants", ("&",), False, ()),
    ("structure", "structure", (), False, ()),
    ("T &?", "T", ("&?",), False, ()),
    ("Ts &&...", "Ts", ("&&", "..."), False, ()),
    ("float *[]", "float", ("*", "[]"), False, ()),
    ("float * __restrict__", "float", ("*",), False, ()),
    ("A<B>::C *", "A::C", ("*",), False, ("B",)),
    ("const std::map<int, A<B, C>> &", "std::map", ("&",), True, ("int", "A<B, C>")),
    ("std::conditional_t<(sizeof(A) > 2), A, B>", "std::conditional_t", (), False, ("(sizeof(A) > 2)", "A", "B")),
    ("vector < tuple <int, float> >", "vector", (), False, ("tuple <int, float>",)),
]


@pytest.mark.parametrize("written", WRITTEN, ids=[text or "nothing" for text, *_ in WRITTEN])
def test_what_is_written(written: tuple[str, str, tuple[str, ...], bool, tuple[str, ...]]) -> None:
    of = Type.of(written[0])
    assert (written[0], of.name, of.marks, of.qualified, of.arguments) == written


def test_a_text_has_one_value() -> None:
    assert Type.of("const A *") is Type.of("const A *")


def test_names_are_global_where_that_is_written() -> None:
    assert [Type.of(text).written_name for text in ("::A", "const ::N::A &", "N::A")] == ["::A", "::N::A", "N::A"]


@pytest.mark.parametrize("text", ["std::vector<int>", "vector < int >", "const std::vector<int> &"])
def test_the_library_is_known_however_it_is_written(text: str) -> None:
    assert Type.of(text).library.name == "vector"


@pytest.mark.parametrize("text", ["vector", "std::vector<int>::iterator", "my::vector<int>", "vector_of<int>"])
def test_what_is_no_object_of_the_library(text: str) -> None:
    assert not Type.of(text).library.name


def test_what_is_inside() -> None:
    of = Type.of("std::map<A, std::pair<B *, int>>")
    assert [one.text for one in of.inside] == ["A", "std::pair<B *, int>", "B *", "int"]
    assert Type.of("std::vector<std::pair<float *, int>>").innermost.text == "float *"
