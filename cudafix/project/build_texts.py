"""What a text says about the default stream that files are compiled with, or that Python programs are started with.

Any text of a tree may say so, as any of them may be part of a build: makefiles, scripts in every language, presets,
workflows, lists of options. What counts is nvcc's option and its macro,

- whole, in every text; in a C or C++ source in a string or a flag only, as code asks for the macro too;
- made of parts, by variables, concatenation, quotes or a line that goes on (`-DCUDA_API_$(MODE)_DEFAULT_STREAM`);
- a part that stands by itself (`per-thread`, `API_PER_THREAD`), and the words of it close together, in whatever case
  (`list(JOIN parts _ macro)`), in build files and in what names nvcc;
- in documentation, a command that a reader may enter: prose and comments say nothing.

Of Makefiles and `CMakeLists.txt` it is understood whether it holds for all that they compile.

The packages of Python read a variable of the environment instead (`variable_line`).

Makefiles and files of CMake also say which macros they define (`definitions`).
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from cudafix.models.constants import is_library_constant
from cudafix.project.paths import HEADERS, SUFFIXES

MACRO = "CUDA_API_PER_THREAD_DEFAULT_STREAM"
SOURCES = tuple(sorted(SUFFIXES - {*HEADERS, ".py", ".ipynb"}))
MAKEFILES = ("GNUmakefile", "makefile", "Makefile")  # in the order of GNU make
DESCRIPTIONS = frozenset(
    (
        *MAKEFILES, "CMakeLists.txt", "meson.build", "BUILD", "BUILD.bazel", "SConstruct", "SConscript", "xmake.lua",
        "setup.py", "wscript", "premake5.lua", "build.ninja", "build.rs", "Makefile.am", "Makefile.in",
    )
)  # fmt: skip
"""Build files that every folder may have: their name alone does not say which of them is meant."""

DATABASE = "compile_commands.json"
NOT_READ = frozenset((DATABASE, "cudafix.toml"))  # they are understood, as what they are

# Whether it is defined counts, whatever its value (docs/FACTS.md); projects have options named after it. CuPy, Numba
# and cuda-python read variables of their own, which say nothing of C++.
_WHOLE = re.compile(
    r"default-stream(?![\w`-])[\s=\\\"',]*(?P<value>[\w-]*)"
    rf"|(?<!CUPY_CUDA_)(?<!NUMBA_CUDA_)(?<!CUDA_PYTHON_CUDA_)(?<!CUDA_API_)PER_THREAD_DEFAULT_STREAM|{MACRO}"
)
_PART = re.compile(
    # a word or two of it; `default_stream` is our own key
    r"(?<![A-Za-z0-9])_?(?:(?:CUDA_)?(?:API_)?PER_THREAD(?:_DEFAULT)?|(?:CUDA_)?API_PER|THREAD_DEFAULT(?:_STREAM)?)_?"
    r"(?![A-Za-z0-9_])"
    r"|(?<!default_stream)(?<==)per-thread\b"
    r"|(?<!default_stream = [\"'])(?<!default_stream=[\"'])(?<![\w-])per-thread(?![\w-]|[ \t]+\w)"
    # a part of a word, in front of a quotation mark or beside a variable
    r"|(?<=[)}])-thread\b|(?<![\w-])per-(?=[\"'$])"
)
_JOINT = (
    r"(?:\$\{\{[^{}\n]*\}\}|\$\((?:[^()\n]|\([^()\n]*\))*\)|\$\{[^{}\n]*\}|\$\w+|[@%!]\w+[@%!]|%\(\w+\)s|%[sdv](?![a-z])"
    r"|#?\{+[^{}\n]*\}+|<@?\(\w+\)|`[^`\n]*`|\\\r?\n[ \t]*|\^\r?\n[ \t]*"
    r"|(?<=[\w)}-])[\"'](?:[\s+.~&]*(?:\w+[\s+.~&]+)?[\"'])?(?=[\w$%{-]))"
)
_JOINED = re.compile(rf"(?<![\w-])[\w-]*(?:{_JOINT}[\w-]*)+")
_SPLIT = re.compile(_JOINT)
_LEAST_WRITTEN = 7  # letters of a word made of parts that are written: `CUDA_API_$(X)`, `--default-$(X)`

_ONE_WORD = re.compile(r"(?i)(?<![a-z])(?:per|thread|default|stream)(?![a-z])")
_WORDS, _CLOSE = 4, 120  # different words, characters from the first to the last

_HINTS = (
    b"default-", b"-stream", b"-thread", b"PER_THREAD", b"THREAD_DEFAULT", b"API_PER", b"DEFAULT_STREAM", b"CUDA_API",
    b"_STREAM", b'per-"', b"per-'", b"per-$",
)  # fmt: skip
"""One of them is in each text that says something: looking for bytes is quick, and nearly no file holds any."""

_IN_FRONT = rb"^[ \t>/*#$%!`|+-]*(?:<[^>\n]*>)*(?:\d+\.)?(?:[\w ]+:)?[ \t$`]*"
_DOCUMENTED = re.compile(  # a command on a line of its own, in a comment too
    _IN_FRONT + rb"(?:nvcc|make(?![ \t]+sure)|cmake|meson|bazel|xmake|ninja|scons|env|export|[A-Z_]+=\S*)[ \t=]"
    rb"(?:[^\n\\]|\\[^\n]|\\\r?\n)*(?:default-stream[ =]+per-thread|" + MACRO.encode() + rb")",
    re.MULTILINE,
)
# https://nvidia.github.io/cuda-python/cuda-bindings/latest/environment_variables.html
# https://docs.cupy.dev/en/stable/reference/environment.html
# https://numba.readthedocs.io/en/stable/reference/envvars.html, which also reads `cuda_per_thread_default_stream` in a
# file, and has `config.CUDA_PER_THREAD_DEFAULT_STREAM`
_VARIABLE = re.compile(
    r"(?<![A-Z0-9_])(?:(?P<of>CUPY|NUMBA|CUDA_PYTHON)_|_)?CUDA_PER_THREAD_DEFAULT_STREAM(?![A-Za-z0-9_])"
    r"|(?<![A-Za-z0-9_])cuda_per_thread_default_stream(?![A-Za-z0-9_])"
    # what a part of the name is, in front of the other or behind it
    r"|(?<![A-Z0-9_])(?:CUPY|NUMBA|CUDA_PYTHON)_CUDA_(?:PER_?(?:THREAD_?(?:DEFAULT_?)?)?)?(?![A-Z0-9_])"
    r"|(?<=[\"'})s])_?(?:CUDA_)?(?:PER_)?THREAD_DEFAULT(?:_STREAM|_)?(?![A-Za-z0-9_])"
)
_VARIABLE_HINTS = (b"THREAD_DEFAULT", b"CUPY_CUDA_", b"NUMBA_CUDA_", b"CUDA_PYTHON_CUDA_", b"cuda_per_thread")
_ZERO = re.compile(
    r"[\"'\]}]{0,2}[ \t]*(?:[:?]?=|:|[ \t])[ \t]*[\"']?0[\"']?(?=[ \t]*(?:\r?\n|[;,)}\]\\]|\Z))"
    r"|=0[ \t]+(?!(?:if|or|and)\b)[\w./]"  # in front of a command
)
_PYTHON = (".py", ".ipynb")
_OF_OTHERS = ("CUPY", "NUMBA")  # of cuda-python, before 13.2.1, `0` counted as any other value (its release notes)
_DOCUMENTED_VARIABLE = re.compile(
    _IN_FRONT.decode()
    + r"(?:(?:env|export|set|docker|podman|srun|conda|[A-Z_]+=\S*)[ \t](?:[^\n\\]|\\[^\n]|\\\r?\n)*)?"
    r"(?P<name>(?:CUPY|NUMBA|CUDA_PYTHON)_CUDA_PER_THREAD_DEFAULT_STREAM)"
    r"=[\"']?[\w$][^\s`]*(?:[ \t]+[\w./\\]|[ \t]*\r?$)",
    re.MULTILINE,
)
_PROSE = (".md", ".markdown", ".rst", ".html", ".htm", ".adoc", ".asciidoc", ".tex", ".org", ".textile", ".sarif")
_PROSE_NAMES = frozenset("authors changelog changes citation contributing copying faq history install licence license "
                         "news notice release_notes releases todo".split())  # fmt: skip

_BUILD_SUFFIXES = tuple(
    ".ac .am .bash .bat .bazel .bazelrc .bzl .cmake .cmd .config .csh .def .dockerfile .env .fish .gn .gni .gradle "
    ".groovy .in .inc .ini .job .lsf .lua .m4 .mak .make .mk .ninja .nix .options .pbs .pri .pro .props .ps1 .rsp "
    ".sbatch .sh .slurm .targets .vcxproj "
    ".yaml .yml .zsh".split()
)
_BUILD_NAMES = frozenset(
    ".bazelrc .env .envrc CMakeCache.txt CMakePresets.json CMakeSettings.json CMakeUserPresets.json Cargo.toml "
    "binding.gyp c_cpp_properties.json conanfile.py config.toml configure.py devcontainer.json dodo.py fabfile.py "
    "meson_options.txt noxfile.py package.json pixi.toml pyproject.toml settings.json setup.cfg tasks.json "
    "tasks.py".split()
)
_BUILD_STARTS = (
    "makefile", "gnumakefile", "dockerfile", "containerfile", "jenkinsfile", "justfile", "cmakelists", "readme",
)  # fmt: skip
_NO_TEXT = frozenset(
    (
        ".7z .a .avi .bin .bmp .bz2 .class .csv .dat .dds .dll .doc .docx .dylib .eps .exe .exr .fbx .fits .gif .glb "
        ".gz .h5 .hdf5 .hdr .ico .iso .jar .jp2 .jpeg .jpg .lib .mat .mp3 .mp4 .mtx .node .npy .npz .nsys-rep .o .obj "
        ".onnx .otf .parquet .pb .pdb .pdf .pgm .pkl .ply .png .ppm .ppt .pptx .pt .pth .ptx .pyc .pyd .raw "
        ".safetensors .so .sqlite .stl .svg .tar .tga .tif .tiff .ttf .wasm .wav .webm .webp .whl .woff .woff2  "
        ".xls .xlsx .xz .zip .zst .cubin .fatbin .qdrep .ncu-rep .gcda .gcno .lock .sum .map .tsv .log"
    ).split()
)  # fmt: skip
_HASH_SUFFIXES = frozenset(
    (
        ".am .bash .bazel .bazelrc .build .bzl .cfg .cmake .conf .config .csh .dockerfile .env .envrc .fish .gn .gni "
        ".in .ini .jl .job .lsf .mak .make .mk .nix .ninja .options .pbs .pl .pm .pri .pro .ps1 .py .r .rb .sbatch .sh "
        ".slurm .tcl .toml .yaml .yml .zsh"
    ).split()
)  # fmt: skip
_COMMENT = re.compile(
    r"(?:^|(?<=[\s;]))#(?!\s*(?:(?:define|cmakedefine\w*|undef|if)\b|distutils:)|[!{\[$]|SBATCH|PBS|BSUB|FLUX)"
)
_FLAG = re.compile(r"(?:[-/]D\s*|[\"'])\Z")

_MAKE_OPENS = re.compile(r"[ \t]*(?:ifeq|ifneq|ifdef|ifndef|define)\b")
_MAKE_CLOSES = re.compile(r"[ \t]*(?:endif|endef)\b")
_MAKE_VARIABLE = re.compile(r"[ ]*(?:export\s+|override\s+)?([\w.-]+)\s*(?:[:?+!]|::)?=(.*)")
_COMPILES = re.compile(r"nvcc|NVCC|\.cu\b")
_CMAKE_COMMAND = re.compile(r"(\w+)\s*\(")
_FOR_A_FOLDER = frozenset(("add_compile_options", "add_compile_definitions", "add_definitions"))
_VARIABLES = re.compile(r"\(\s*(?:APPEND\s+|PREPEND\s+)?(?:CMAKE_CUDA_FLAGS|CUDA_NVCC_FLAGS|CMAKE_CXX_FLAGS)\b")
_TARGETS = re.compile(r"(?:cuda_)?add_(?:executable|library)|add_subdirectory|include|fetchcontent_makeavailable")


_MAKE_INCLUDE = re.compile(r"^ *(-include|sinclude|include)[ \t]+((?:[^#\n\\]|\\\n|\\.)*)", re.MULTILINE)
_CMAKE_INCLUDE = re.compile(r"^[ \t]*include[ \t]*\(\s*([^)#]*)\)", re.MULTILINE | re.IGNORECASE)
_MAKE_WORD = re.compile(r"(?:\$\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)|\$\{[^{}]*\}|\S)+")
_MAKE_NAME = re.compile(r"\$[({]([\w.-]+)[)}]")
_DEPENDENCIES = re.compile(r"\.(?:d|dep|deps|depend|P|Po|Plo)(?![A-Za-z0-9_])|\bdepend(?:s|encies)?\b")
# https://cmake.org/cmake/help/latest/manual/cmake-modules.7.html: none of them sets options of nvcc
_OF_CMAKE = re.compile(
    r"(?:Check|CMake|CPack|CTest|Test|Use|Write|Find)\w*|AddFileDependencies|AndroidTestUtilities|BundleUtilities"
    r"|CSharpUtilities|Dart|DeployQt4|Documentation|ExternalData|ExternalProject|FeatureSummary|FetchContent"
    r"|FortranCInterface|GenerateExportHeader|GetPrerequisites|GNUInstallDirs|GoogleTest"
    r"|InstallRequiredSystemLibraries|MacroAddFileDependencies|ProcessorCount|SelectLibraryConfigurations"
    r"|SquishTestScript"
)


def takes_options(name: str, data: bytes) -> bool:
    """Whether who starts a build may give the compiler more options: in a variable that a recipe of make uses and that
    is not `override` (GNU make, "Overriding Variables"), in `CMAKE_CUDA_FLAGS`, in an argument of a script. Of builds
    that are not known nothing is excluded.
    """
    if not _is_make(name):
        return True
    lines = [line for _, line in _logical(data.decode("utf-8", "replace"))]
    fixed = {found[1] for line in lines if (found := _OVERRIDE.match(line)) is not None}
    compiling = [line for line in lines if line.startswith("\t") and _COMPILES_SOURCE.search(line) is not None]
    return not compiling or any(not fixed.issuperset(_MAKE_NAME.findall(line)) for line in compiling)


def _is_make(name: str) -> bool:
    return name in MAKEFILES or suffix_of(name) in (".mk", ".mak", ".make")


_OVERRIDE = re.compile(r"[ ]*override[ \t]+(?:define[ \t]+)?([\w.-]+)")


class Include(NamedTuple):
    """A file that a build file includes: by which path, and whether it need not be there."""

    path: str
    optional: bool


def includes(name: str, data: bytes) -> Iterator[Include]:
    """The files that a Makefile or a file of CMake includes. In a path, variables that are not known stay; files of
    dependencies, which compilers write, and the modules of CMake are left out.
    """
    text = _without_comments(name, data.decode("utf-8", "replace"))
    if name in MAKEFILES or suffix_of(name) in (".mk", ".mak", ".make"):
        values = _values(text)
        for match in _MAKE_INCLUDE.finditer(text):
            for word in _MAKE_WORD.findall(match[2].replace("\\\n", " ")):
                for _ in range(9):  # variables of variables
                    word = _MAKE_NAME.sub(lambda found: values.get(found[1], found[0]), word)
                found = word.removeprefix("$(wildcard ").removesuffix(")") if word.startswith("$(wildcard ") else word
                optional = match[1] != "include" or found != word
                for path in _MAKE_WORD.findall(found):
                    if _DEPENDENCIES.search(path) is None:
                        yield Include(path, optional)
    elif name == "CMakeLists.txt" or suffix_of(name) == ".cmake":
        for match in _CMAKE_INCLUDE.finditer(text):
            words = match[1].replace('"', "").split()
            if words and _OF_CMAKE.fullmatch(words[0]) is None:
                is_file = "/" in words[0] or words[0].endswith(".cmake") or "$" in words[0]
                path = words[0] if is_file else f"{words[0]}.cmake"
                yield Include(path, "OPTIONAL" in words[1:])


def header_folders(name: str, data: bytes) -> Iterator[str]:
    """The folders that a Makefile or a file of CMake names for headers, under whatever condition, as they are written.

    https://cmake.org/cmake/help/latest/command/include_directories.html
    """
    if name == "CMakeLists.txt" or suffix_of(name) == ".cmake":
        text = _without_comments(name, data.decode("utf-8", "replace"))
        for call in _CMAKE_CALL.finditer(text):
            if call[1].lower() in _OF_HEADERS:
                words = (word.strip('"') for word in _CMAKE_WORD.findall(call[2]))
                yield from (word for word in words if word not in _VISIBILITY and ("$" in word or not word.isupper()))
    elif name in MAKEFILES or suffix_of(name) in (".mk", ".mak", ".make"):
        text = _without_comments(name, data.decode("utf-8", "replace"))
        yield from (match[1] for match in _FOLDER_OPTION.finditer(text))


def _values(text: str) -> dict[str, str]:
    """The variables of a Makefile that are set once. One that is set again may have any of its values."""
    values: dict[str, str] = {}
    again = set()
    for line in text.replace("\\\n", " ").split("\n"):
        variable = _MAKE_VARIABLE.fullmatch(line) if not line.startswith("\t") else None
        if variable is not None:
            again |= {variable[1]} & values.keys()
            values[variable[1]] = variable[2].strip()
    return {name: value for name, value in values.items() if name not in again}


class Place(NamedTuple):
    """A line that speaks of the default stream."""

    line: int
    plain: bool  # for all that the file compiles, under no condition
    per_thread: bool  # else it says the legacy one
    macro: bool  # it holds for every compiler, not only for nvcc


class Mention(NamedTuple):
    """The option or the macro in a text. Without a known value it may be either default stream."""

    start: int
    text: str
    value: str | None
    macro: bool

    @property
    def known(self) -> bool:
        return self.macro or self.value in ("per-thread", "legacy", "null")


def is_build_file(name: str) -> bool:
    """Whether a file describes or starts a build, as far as its name says."""
    lower = name.lower()
    return (
        name in DESCRIPTIONS
        or name in _BUILD_NAMES
        or lower.endswith(_BUILD_SUFFIXES)
        or lower.startswith(_BUILD_STARTS)
        or "." not in name
    )


def is_prose(name: str) -> bool:
    """Whether a file is written for people, and commands in it are examples."""
    stem, suffix = os.path.splitext(name.lower())
    is_named = stem in _PROSE_NAMES and (suffix == ".txt" or (not suffix and name.isupper()))
    return stem.startswith("readme") or suffix in _PROSE or is_named


def may_be_text(name: str) -> bool:
    """Whether a build may take options from a file, as far as its name says; headers are read where they are used."""
    return name not in NOT_READ and not name.endswith((*HEADERS, ".cu")) and suffix_of(name) not in _NO_TEXT


def suffix_of(name: str) -> str:
    return os.path.splitext(name)[1].lower()


def may_say(data: bytes) -> bool:
    """Whether a text may say anything: quick, and true of more texts than do."""
    if any(hint in data for hint in _HINTS):
        return True
    lower = data.lower()
    return all(word in lower for word in (b"thread", b"stream", b"default", b"per"))


def documents_per_thread(source: bytes) -> bool:
    """Whether a source tells to build it with a default stream for each thread."""
    return may_say(source) and _DOCUMENTED.search(source) is not None


def whole(text: str) -> Iterator[Mention]:
    """Where the option or the macro is written in full."""
    for match in _WHOLE.finditer(text):
        yield Mention(match.start(), match[0], match["value"], match[0] == MACRO)


def places(name: str, data: bytes) -> list[Place]:
    """The lines of a file that speak of the default stream."""
    if not may_say(data):
        return []
    if is_prose(name):
        starts = (match.start() for match in _DOCUMENTED.finditer(data))
        return [Place(data.count(b"\n", 0, start) + 1, False, True, False) for start in starts]
    text = _without_comments(name, data.decode("utf-8", "replace"))
    is_source = name.endswith(SOURCES)
    plain = _plain_in_make(text) if name in MAKEFILES else _plain_in_cmake(text) if name == "CMakeLists.txt" else set()
    found = []
    for mention in _mentions(text, not is_source and (is_build_file(name) or b"nvcc" in data)):
        if not is_source or _is_in_a_string(text, mention):
            line = text.count("\n", 0, mention.start) + 1
            known = mention.known and line in plain
            found.append(Place(line, known, mention.value not in ("legacy", "null"), mention.macro))
    return found


def variable_line(name: str, data: bytes) -> int | None:
    """The first line of a file that may set the variable by which cuda-python, CuPy or Numba take a default stream of
    each thread, for itself or for a program that it starts. Who names it may set it, whatever the code around it does;
    a part of the name counts too. Comments and prose say nothing, but for a command; nor does the value `0`.
    """
    if not any(hint in data for hint in _VARIABLE_HINTS):
        return None
    text = data.decode("utf-8", "replace")
    lines = []
    if is_prose(name) or name.endswith(_PYTHON):
        starts = (match.start("name") for match in _DOCUMENTED_VARIABLE.finditer(text))
        lines += [_line(text, start) for start in starts if not _sets_zero(text, _VARIABLE.match(text, start), name)]
    if not is_prose(name):
        text = _without_comments(name, text)
        lines += [_line(text, m.start()) for m in _VARIABLE.finditer(text) if not _sets_zero(text, m, name)]
    return min(lines, default=None)


class Definition(NamedTuple):
    """A macro that options of a compiler define; a constant if its value runs nothing and reads no variable."""

    name: str
    is_constant: bool


_TAKEN_BACK = re.compile(r"""(?<![\w-])-U[ \t]*["']?([A-Za-z_]\w*)""")
_COMPILES_SOURCE = re.compile(r"\$<|\$\^|(?<![\w-])-d?c\b|\.(?:cu|cpp|cc|cxx|c)\b")
_OPTION = re.compile(r"""(?<![\w-])-D[ \t]*(?P<quote>["']?)(?P<name>[A-Za-z_]\w*)(?P<value>=)?""")
_VALUE = re.compile(r"""(?:\\.|"(?:\\.|[^"\\\n])*"|'[^'\n]*'|`[^`\n]*`|\$\((?:[^()\n]|\([^()\n]*\))*\)|[^\s"'`;\\])*""")
_TO_QUOTE = {quote: re.compile(rf"(?:\\.|[^{quote}\\\n])*") for quote in "\"'"}
_CONFIGURES = re.compile(r"(?i)cmake")  # its own `-D` sets a variable of its own
_ESCAPED = re.compile(r"\\(.)")
_LITERAL = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])'")
_IN_VALUE = re.compile(r"[\w.]+|\S")
_NUMBER = re.compile(r"(?:0[xX][\da-fA-F]+|0[bB][01]+|\d+)[uUlL]*|(?:\d+\.?\d*|\.\d+)(?:[eE]\d+)?[fFlL]?")
_KEYWORD = re.compile(r"true|false|nullptr|const|signed|unsigned|bool|char|short|int|long|float|double")
_CMAKE_CALL = re.compile(r"""\b(\w+)[ \t]*\(((?:"(?:\\.|[^"\\])*"|\([^()]*\)|[^()"])*)\)""")
_CMAKE_SET = re.compile(r"""\bset[ \t]*\(\s*(\w+)\s+"?([^\s()$";]+)"?\s*(?:CACHE\b[^()]*)?\)""", re.IGNORECASE)
_CMAKE_SETS = re.compile(r"\b(?:set|option|list|string|math|file|foreach)[ \t]*\(([^()]*)\)", re.IGNORECASE)
_CMAKE_NAME = re.compile(r"\$\{(\w+)\}")
_CMAKE_WORD = re.compile(r"""(?:"(?:\\.|[^"\\])*"|[^\s"])+""")
_MAKES_TARGET = re.compile(r"(?i)\w*add_(?:executable|library|module)")
_TAKES_OUT = frozenset(("REPLACE", "REMOVE_ITEM", "REMOVE_AT", "FILTER"))
_OF_DEFINITIONS = frozenset(("add_definitions", "add_compile_definitions", "target_compile_definitions"))
_OF_HEADERS = frozenset(("include_directories", "target_include_directories"))
_FOLDER_OPTION = re.compile(r"""(?<![\w-])-I[ \t]*["']?([^\s"']+)""")
_OF_OPTIONS = frozenset(("add_compile_options", "target_compile_options"))
_IN_EXPRESSION = re.compile(r"[:;](?:-D)?([A-Za-z_]\w*)")
_VISIBILITY = frozenset(("PUBLIC", "PRIVATE", "INTERFACE", "BEFORE"))


def definitions(name: str, data: bytes) -> Iterator[Definition]:
    """The macros that a text of the build defines for a compiler: as constants those of Makefiles and of CMake, under
    no condition and for all that they compile; as something else those of every text, and what any takes back.
    """
    if b"-D" not in data and b"-U" not in data and b"_definitions" not in data.lower():
        return
    text = _without_comments(name, data.decode("utf-8", "replace"))
    if name == "CMakeLists.txt" or suffix_of(name) == ".cmake":
        yield from _defined_in_cmake(text)
        return
    is_make = _is_make(name)
    values = _values(text) if is_make else {}
    depth = 0
    lines = text.replace("\\\r\n", " ").replace("\\\n", " ").split("\n")
    by_all = _in_all_recipes(lines) if is_make else None
    for line in lines:
        depth += bool(_MAKE_OPENS.match(line)) - bool(_MAKE_CLOSES.match(line))
        if ("-D" in line or "-U" in line) and _CONFIGURES.search(line) is None:
            for found in _options(line, _MAKE_NAME, values):
                if not found.is_constant or (by_all is not None and depth == 0 and by_all(line, found.name)):
                    yield found


def _in_all_recipes(lines: Iterable[str]) -> Callable[[str, str], bool]:
    """Whether what a line of a Makefile defines, by the name of the macro, is defined for all sources that its recipes
    compile: each uses the variable that the line sets, or has the option too. What is set for one target is not.
    """
    named: dict[str, set[str]] = {}
    recipes: list[str] = []
    for line in lines:
        variable = _MAKE_VARIABLE.match(line)
        if line.startswith("\t") and _COMPILES_SOURCE.search(line) is not None:
            recipes.append(line)
        elif variable is not None:
            named.setdefault(variable[1], set()).update(_MAKE_NAME.findall(line))

    def uses(recipe: str) -> set[str]:
        found = fresh = set(_MAKE_NAME.findall(recipe))
        while fresh:
            fresh = set[str]().union(*(named.get(one, ()) for one in fresh)) - found
            found = found | fresh
        return found

    used = [uses(recipe) for recipe in recipes]

    def by_all(line: str, name: str) -> bool:
        variable = _MAKE_VARIABLE.match(line)
        if variable is not None and not line.startswith("\t"):
            return all(variable[1] in each for each in used)
        option = re.compile(rf"(?<![\w-])-D[ \t]*[\"']?{name}\b")
        return line.startswith("\t") and all(option.search(recipe) is not None for recipe in recipes)

    return by_all


def defined_by(words: Iterable[str]) -> Iterator[Definition]:
    """The macros that the words of a command define."""
    words = list(words)
    for word, following in zip(words, (*words[1:], ""), strict=True):
        if word.startswith(("-D", "-U")):
            name, _, value = (word[2:] or following).partition("=")
            yield Definition(name, word.startswith("-D") and _is_constant(value))


def _options(text: str, variable: re.Pattern[str], values: Mapping[str, str]) -> Iterator[Definition]:
    """The macros of the options `-D` and `-U` in a text."""
    yield from (Definition(name, False) for name in _TAKEN_BACK.findall(text))
    for option in _OPTION.finditer(text):
        quote = option["quote"] or text[: option.start()][-1:]
        found = _TO_QUOTE.get(quote, _VALUE).match(text, option.end()) if option["value"] else None
        written = found[0] if found is not None else ""
        if quote not in _TO_QUOTE and written[:1] in ("'", '"') and written[-1:] == written[:1] and len(written) > 1:
            written = written[1:-1]
        yield Definition(option["name"], _is_constant(_ESCAPED.sub(r"\1", _with(written, variable, values))))


def _with(text: str, variable: re.Pattern[str], values: Mapping[str, str]) -> str:
    for _ in range(9):  # variables of variables
        text = variable.sub(lambda found: values.get(found[1], found[0]), text)
    return text


def _is_constant(value: str) -> bool:
    """Whether a macro of this value runs nothing and reads no variable: numbers, what is computed from them, literals,
    the words of types and constants of libraries.
    """
    value = value.strip()
    if _LITERAL.fullmatch(value) is not None:
        return True
    return all(
        word in "()+-*/%<>&|^~"
        or any(kind.fullmatch(word) for kind in (_NUMBER, _KEYWORD))
        or is_library_constant(word)
        for word in _IN_VALUE.findall(value)
    )


def _defined_in_cmake(text: str) -> Iterator[Definition]:
    set_in = Counter(words[0] for match in _CMAKE_SETS.finditer(text) if (words := match[1].split()))
    values = {name: value for name, value in _CMAKE_SET.findall(text) if set_in[name] == 1}
    depth = 0
    targets = {
        words[0]
        for call in _CMAKE_CALL.finditer(text)
        if _MAKES_TARGET.fullmatch(call[1]) and (words := call[2].split())
    }
    defined_for: dict[str, set[str]] = {}  # the targets for which a macro is a constant
    for call in _CMAKE_CALL.finditer(text):
        command, arguments = call[1].lower(), call[2]
        depth += command in ("if", "function", "macro", "foreach", "while", "block")
        depth -= command in ("endif", "endfunction", "endmacro", "endforeach", "endwhile", "endblock")
        words = _CMAKE_WORD.findall(arguments)
        if command.startswith("target_") and "INTERFACE" in words:  # for those that link with it
            words = words[: words.index("INTERFACE")]
            arguments = " ".join(words)
        found: list[Definition] = []
        if command in _OF_DEFINITIONS:
            for word in words[1:] if command.startswith("target_") else words:
                plain = word[1:-1] if word.startswith('"') and word.endswith('"') else word
                name, _, value = plain.removeprefix("-D").partition("=")
                if "$<" in word:  # under a condition
                    found += (Definition(one, False) for one in _IN_EXPRESSION.findall(word))
                elif word not in _VISIBILITY and name.isidentifier():
                    value = _ESCAPED.sub(r"\1", _with(value, _CMAKE_NAME, values))
                    found.append(Definition(name, _is_constant(value)))
        elif command in _OF_OPTIONS or (command in ("set", "string", "list") and "FLAGS" in arguments):
            found += _options(arguments, _CMAKE_NAME, values)
            if command != "set" and any(word in _TAKES_OUT for word in words):
                found = [one._replace(is_constant=False) for one in found]
        elif command == "remove_definitions":
            found += (one._replace(is_constant=False) for one in _options(arguments, _CMAKE_NAME, values))
        found = [one for one in found if not one.is_constant or depth == 0]
        if command.startswith("target_"):
            for one in (one for one in found if one.is_constant):
                defined_for.setdefault(one.name, set()).add(words[0])
            found = [one for one in found if not one.is_constant]
        yield from found
    yield from (Definition(name, True) for name, of in defined_for.items() if targets <= of)


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _sets_zero(text: str, match: re.Match[str] | None, name: str) -> bool:
    """Whether what follows the name of a variable is the value `0`, and the library takes that for the legacy one."""
    zero = _ZERO.match(text, match.end()) if match is not None and match["of"] in _OF_OTHERS else None
    # a key of a dictionary may get another value
    return zero is not None and not (name.endswith(_PYTHON) and "=" not in zero[0])


def _mentions(text: str, parts: bool) -> Iterator[Mention]:
    """The option or the macro, whole or made of parts, and `parts` that stand by themselves."""
    known = list(whole(text))
    yield from known
    said = {offset for mention in known for offset in range(mention.start, mention.start + len(mention.text))}
    for match in _JOINED.finditer(text):
        if _may_become(match[0]) and said.isdisjoint(range(*match.span())):
            yield Mention(match.start(), match[0], None, False)
    for match in _PART.finditer(text) if parts else ():
        if said.isdisjoint(range(*match.span())):
            yield Mention(match.start(), match[0], None, False)
    for mention in _close_words(text) if parts else ():
        if said.isdisjoint(range(mention.start, mention.start + len(mention.text))):
            yield mention


def _close_words(text: str) -> Iterator[Mention]:
    """Where all words of the option or the macro stand close together, in any order: commands may join them."""
    last: dict[str, int] = {}
    names = [match.span() for match in _VARIABLE.finditer(text)]  # of packages of Python
    for match in _ONE_WORD.finditer(text):
        if any(start <= match.start() < end for start, end in names):
            continue
        last[match[0].lower()] = match.start()
        if len(last) == _WORDS and match.end() - min(last.values()) <= _CLOSE:
            start = min(last.values())
            yield Mention(start, text[start : match.end()], None, False)
            last.clear()


def _may_become(word: str) -> bool:
    """Whether a word with parts that are not known may be the option or the macro, by what is written of it."""
    written = _SPLIT.split(word)
    if sum(sum(map(str.isalpha, part)) for part in written) < _LEAST_WRITTEN:
        return False
    first, *others = written
    rest = "".join(f".*{re.escape(part)}" for part in others)
    is_macro = re.fullmatch(re.escape(re.sub(r"\A[-/]D", "", first)) + rest, MACRO) is not None
    is_option = first.startswith("-") or not first
    return is_macro or (is_option and re.fullmatch(re.escape(first.lstrip("-")) + rest, "default-stream") is not None)


def says_something(line: str) -> bool:
    return next(_mentions(line, True), None) is not None


def _is_in_a_string(text: str, mention: Mention) -> bool:
    """Whether a C or C++ source may hand it to a compiler that it starts: code and comments do not."""
    start = text.rfind("\n", 0, mention.start) + 1
    before = text[start : mention.start]
    if before.lstrip().startswith(("//", "*", "/*")) or ("//" in before and before.count('"') % 2 == 0):
        return False
    return "-stream" in mention.text or _FLAG.search(before) is not None or before.count('"') % 2 == 1


def _has_hash_comments(name: str) -> bool:
    lower = name.lower()
    return "." not in name or name == "CMakeLists.txt" or lower.startswith(_BUILD_STARTS) or (
        (suffix_of(name) or lower) in _HASH_SUFFIXES
    )  # fmt: skip


def _without_comments(name: str, text: str) -> str:
    """The text of a file without comments that `#` starts, where it has such ones. The lines keep their numbers."""
    if not _has_hash_comments(name):
        return text
    return "\n".join(_code(line) if "#" in line else line for line in text.split("\n"))


def _code(line: str) -> str:
    """A line without its comment. One that may be part of a string stays."""
    for match in _COMMENT.finditer(line):
        before = line[: match.start()]
        if before.count('"') % 2 == 0 and before.count("'") % 2 == 0:
            return before
    return line


def _plain_in_make(text: str) -> set[int]:
    """The lines that set, under no condition, a variable which every command that compiles with nvcc uses. What goes on
    behind a backslash is one line to make, and each of its lines here.
    """
    depth = 0
    set_at: list[tuple[range, str]] = []  # under no condition
    values: list[tuple[str, str]] = []
    commands: list[tuple[range, str]] = []
    for numbers, line in _logical(text):
        depth += bool(_MAKE_OPENS.match(line)) - bool(_MAKE_CLOSES.match(line))
        variable = _MAKE_VARIABLE.fullmatch(line) if not line.startswith("\t") else None
        if variable is not None:
            values.append((variable[1], variable[2]))
            if depth == 0:
                set_at.append((numbers, variable[1]))
        elif _COMPILES.search(line) and line.startswith("\t"):
            commands.append((numbers, line))
    plain: set[int] = set()
    for numbers, variable_name in set_at:
        holding = {variable_name}
        while more := {n for n, value in values if n not in holding and any(_uses(value, v) for v in holding)}:
            holding |= more
        if all(any(_uses(command, v) for v in holding) for _, command in commands):
            plain.update(numbers)
    said = [numbers for numbers, command in commands if says_something(command)]
    return plain.union(*said) if len(said) == len(commands) else plain


def _logical(text: str) -> Iterator[tuple[range, str]]:
    """The lines of a Makefile as make reads them, each with the numbers of its lines in the file."""
    start, parts = 1, list[str]()
    for number, line in enumerate(text.split("\n"), 1):
        parts.append(line.rstrip("\r"))
        if parts[-1].endswith("\\"):
            parts[-1] = parts[-1][:-1]
            continue
        yield range(start, number + 1), " ".join(parts)
        start, parts = number + 1, []
    if parts:
        yield range(start, start + len(parts)), " ".join(parts)


def _uses(text: str, variable: str) -> bool:
    return f"$({variable})" in text or f"${{{variable}}}" in text


def _plain_in_cmake(text: str) -> set[int]:
    """The lines in commands for the whole folder, under no condition and in front of its targets."""
    depth, command, arguments, targets = 0, "", "", False
    plain = set()
    for number, line in enumerate(text.split("\n"), 1):
        started = _CMAKE_COMMAND.match(line.strip())
        if started:
            command, arguments = started[1].lower(), line.strip()[started.end() - 1 :]
            depth += command in ("if", "function", "macro", "foreach", "while", "block")
            depth -= command in ("endif", "endfunction", "endmacro", "endforeach", "endwhile", "endblock")
            targets = targets or _TARGETS.fullmatch(command) is not None
        if not says_something(line) or depth or re.search(r"\$<\$<(?!COMPILE_LANGUAGE:CUDA>)", line):
            continue
        # CMake uses the value that the variable has at the end of the folder
        variable = command in ("set", "string", "list") and _VARIABLES.match(arguments) is not None
        if variable or (command in _FOR_A_FOLDER and not targets):
            plain.add(number)
    return plain
