"""Names in the IR that no text has, and names that stand for several."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

WORD = re.compile(r"[A-Za-z_]\w*")
"""A name or a keyword of C, C++ or Python, without what only Unicode has."""
WORD_IN_BYTES = re.compile(rb"[A-Za-z_]\w*")
SHRUNK = "<shrunk>"
"""A field of a container that some of its elements have left: none can be named by its place any more. In C++ it gets
the number of elements that are to be left, and only those beyond are gone.
"""
MOVES, COPIES = "the vector moves its elements", "the vector moves or copies its elements"
"""The texts of tests behind which a vector gets other memory: each element ends when another one is made of it."""
ENDED = "%ended"
"""In the type of a vector, behind that of its elements: each of these ends where the function says so."""
DELETER = "%deleter"
"""A field of a smart pointer whose deleter is a pointer to a function: that pointer, and the variable that it is called
by. It may be any function of the program that is used as a value.
"""
SIZE = "<size>"
"""A field of a container of C++: how many elements it has, where that is known. It is only found out for those whose
elements may be addresses or handles.
"""
KEYS = "<keys>"
"""Begins the range of a loop through dictionaries: the number of a round does not say what these hold."""
ROUND = "<round>"
"""Begins the name of the index of a loop through a container: nothing in the text has it."""
INSTANCE = "<instance>"
"""Begins the name of the index of a family of variables, of which each instantiation of a template has one: behind it
stand the arguments of the template, in brackets.
"""
OWNS = "<owns>"
"""A field of an object of Python that has made the stream or the event in its field `ptr`, and destroys it when the
object ends.
"""
CLASS = "<class>"
"""A field of an object of Python: the class that it is of, and those that this one derives from."""
NOT_KEPT = "<not kept yet>"
"""The class of the object that stands for the result of a function which runs once, before it has run."""
_MAX_NAMES = 50
_ANY = "|"
_HELD = "*"
HANDED_OUT = "::<functions that code which is not seen has got>"
"""The name of a variable for the functions of the program that code which is not seen may call whenever it runs."""
NO_OBJECT = "<no object>"
"""In `Function.unwritten`: a value of a type that is known, and is no class of the program."""
FUNCTIONS = "<functions>"
"""In `Module.template_arguments`: a container may be given any function of which there is a value, and calls it."""
LAMBDA = "::<lambda@"
"""In the name of a function that is a lambda: `outer::<lambda@offset>`."""
DEFAULTS = "<defaults>"
"""The last name component of a function that evaluates the default arguments of the one around it."""
INITIALIZERS = "<initializers>"
"""The last name component of the functions that run before `main`."""
OF_THREADS = f"<thread>::{INITIALIZERS}"
"""The one that makes `thread_local` variables, which may also run when one of them is used for the first time."""
HANDLE_KINDS = {"cudaStream_t": "stream", "CUstream": "stream", "cudaEvent_t": "event", "CUevent": "event"}
HANDLES = frozenset(HANDLE_KINDS)
"""The types of streams and events."""
PYTHON = (".py", ".ipynb")
"""How the paths of files in Python end."""
LONG_TEXT = '"…"'
"""What stands for a text that is too long to be kept."""
LAUNCHES = "<<<"
"""In `Unknown.names`: a kernel is launched."""
NOT_PARSED = "text that could not be parsed"
JUMPS_BACK = frozenset(("backward goto", "computed goto"))
"""Why the order of statements is not known where one may run again."""
"""Why the order of statements is not known where the grammar could not read one."""
IN_ANOTHER_FILE, OUTSIDE = "it stands in a macro that another file defines", "outside of a function body"
"""Why a text cannot be edited, or nothing inserted beside it."""
INCLUDED = "code of "
"""How the reason of an `Unknown` begins that stands for the text of a file which a function includes."""
THROUGH_POINTER = "call through a function pointer"
"""Why a call is `Unknown` of which the first part is what is called, and the others are what that is given."""
AT_ANY_TIME = "runs at any time"
"""How the reason of an `Unknown` ends that stands where a function is registered, which runs at moments that no
statement shows.
"""
STORES_AT_ANY_TIME = f"stores in what others hold, and {AT_ANY_TIME}"
"""The same of one that may change what any variable leads to."""
IS_KEPT = "is kept"
"""How the reason of an `Unknown` ends that stands where a method is a value, together with its object: `called` are the
methods that it may be.
"""
POINTER_TO_MEMBER = "a pointer to a member"
"""Why a place is `Unknown` of which the first part is the object."""


def template_arguments(kind: str) -> list[str]:
    """The outermost template arguments of a type as written: those of `std::map<int, A<B, C>>` are `int`, `A<B, C>`."""
    first, behind = kind.find("<"), kind.rfind(">")
    if not -1 < first < behind:
        return []
    found, depth, start = [], 0, first + 1
    parentheses = 0  # between them `>` ends no list of arguments (C++17, 17.2 [temp.names] 3)
    for at in range(start, behind):
        parentheses += (kind[at] == "(") - (kind[at] == ")")
        depth += ((kind[at] == "<") - (kind[at] == ">")) * (parentheses == 0)
        if kind[at] == "," and depth == parentheses == 0:
            found.append(kind[start:at].strip())
            start = at + 1
    return [*found, kind[start:behind].strip()]


def any_of(names: Sequence[str]) -> str:
    """The callee of a call of one of the methods of these names, of whatever class the object is, if it has one."""
    return _ANY + _ANY.join(names)


def begun_by_macro(cls: str | None) -> bool:
    """Whether this is the class of a function that a macro begins: its name is the use of the macro. No expression can
    name the function.
    """
    return cls is not None and cls.endswith(")")


def is_any_of(callee: str) -> bool:
    """Whether this is what `any_of` has made."""
    return callee.startswith(_ANY)


def held_in(text: str) -> str:
    """The callee of a call of the function that the receiver of the call is, or holds; `text` is how it is written."""
    return _HELD + text


def is_held(callee: str) -> bool:
    """Whether this is what `held_in` has made."""
    return callee.startswith(_HELD)


def names_of(callee: str) -> list[str]:
    """The names in a callee: of `any_of` all of them."""
    return callee.split(_ANY)[1:] if is_any_of(callee) else [callee.removeprefix(_HELD)]


def found_as(name: str, namespaces: Mapping[str, tuple[str, ...]]) -> list[str]:
    """The qualified names by which something may be found: its own first, then those through the namespaces that are
    open to others (`Module.namespaces`).
    """
    found = [name]
    for one in found if namespaces else ():
        parts = one.split("::")
        for count in range(1, len(parts)):
            for other in namespaces.get("::".join(parts[:count]), ()):
                through = "::".join((other, *parts[count:]))
                if through not in found and len(found) < _MAX_NAMES:
                    found.append(through)
    return found


def scopes_around(scope: str) -> Iterator[str]:
    """A scope and those around it, the outermost namespace last, then the global one, which has no name."""
    while scope:
        yield scope
        scope = scope.rpartition("::")[0]
    yield ""
