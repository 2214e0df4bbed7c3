"""What a Python program does that a change of its memory allocator could bring out of order.

CuPy and Numba give the memory of an array back when Python drops the array, which no statement says. So the order of
allocation, use and release is not proved statement by statement: a program qualifies if all of its work runs on streams
that are ordered with the legacy stream, and if nothing that the host sees leans on the wait that a release was.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import NamedTuple

import libcst as cst

from cudafix.findings import Assumption, Place
from cudafix.frontends.python import clocks, kernel_texts, streams
from cudafix.frontends.python.meaning import Dotted
from cudafix.frontends.python.terms import literal
from cudafix.frontends.python.uses import File, PythonProgram, Use
from cudafix.models.python import GPU_LIBRARIES, HOST_PACKAGES
from cudafix.project.including import MOST_MODULES
from cudafix.project.prefilter import NOTEBOOK

_THREADS = frozenset("threading _thread concurrent asyncio multiprocessing joblib gevent trio anyio".split())
"""Packages that run functions in other host threads."""
_CLOCKS = re.compile(
    r"(?:time\.(?:time|perf_counter|monotonic|process_time|thread_time|clock_gettime)(?:_ns)?|timeit\..*|psutil\..*|"
    r"time\.(?:localtime|gmtime|ctime|asctime|strftime)|datetime\.(?:datetime\.(?:now|utcnow|today)|date\.today)|"
    r"(?:os\.times|resource\.getrusage|uuid\.uuid1)|subprocess\..*|os\.(?:popen|system|stat|getloadavg)|"
    r"cupy\.cuda\.get_elapsed_time|cupyx\.profiler\..*|cupyx\.time\..*|pynvml\..*)$"
)
_INDEPENDENT_HOST_MEMORY = re.compile(
    r".*(?:pinned|Pinned|_async$|malloc_managed|ManagedMemory|managed_array|mapped_array|\.mapped$|hostAlloc|"
    r"mallocManaged|memAdvise|memPrefetch|hostRegister|runtime\.\w+Async$|launchHostFunc|add_callback).*"
)
_IN_FLIGHT = re.compile(
    r"(?:empty|zeros)(?:_like)?_pinned|alloc_pinned_memory|set_pinned_memory_allocator|Pinned\w+|malloc_managed|"
    r"ManagedMemory|(?:copy_\w+|memset)_async|mem(?:cpy|set|Prefetch)\w*Async|hostAlloc|mallocManaged|memAdvise|"
    r"hostRegister|launchHostFunc|launch_host_func|add_callback"
)
"""The same of CuPy by their last names, wherever a program has them: they need not be called where they stand."""

_ASKS = re.compile(
    r"query|\w+query\w*|is_done|(?:\w+_?)?(?:add_?callback|host_?func)\w*|async_done|"
    # what gives a method by any name
    r"__dict__|__getattribute__|getmembers\w*|getattr_static",
    re.IGNORECASE,
)
"""By their last names, what may tell the host, or have it told, whether the device is done with something."""
_SHOWS = re.compile(
    r"\w*(?:pinned|mapped|managed)\w*|mempin|mem_?host_?alloc|\w*host_?(?:alloc|register)\w*|"
    r"\w*(?:memcpy|memset|memprefetch|memadvise)\w*|(?:copy_\w+|memset)_async|\w*elapsed_?time\w*",
    re.IGNORECASE,
)
"""The same of memory that the host may read while it is written, what writes it, and times that the device takes."""
_DONE = "done"
"""The same of CuPy's events and streams."""
_BY_NAME = frozenset(("builtins.getattr", "operator.methodcaller", "operator.attrgetter"))
# Python 3.14 Library Reference: modules with attributes that lead to any object, `sys.modules` and `gc.get_objects` for
# example, or that get one by its name
_LEAD_ANYWHERE = frozenset("sys gc builtins inspect importlib operator types pkgutil runpy traceback".split())
_OF_THE_DRIVER = re.compile(r"cu[A-Z]\w*")
_ORDERS = re.compile(
    r"cu(?:Init|DriverGetVersion|Device(?:Get|PrimaryCtx)|Ctx(?:Synchronize|GetCurrent|SetCurrent)|"
    r"Stream(?:Create|Synchronize|WaitEvent|Destroy)|Event(?:Create|Record|Synchronize|Destroy))\w*"
)
"""Functions of the driver that make, order or await something."""


_LOOKS = "the host may look at memory that is still being written, and the release of an array was the wait"
_PRINTED = "what kernels print appears when the host waits, and the release of an array was a wait"


class Obstacle(NamedTuple):
    """Why a program's memory cannot move: the name of a refusal, and where."""

    name: str
    text: str
    place: Place


def _at(use: Use, words: str) -> Place:
    return Place(use.path, use.site.span.start, words)


def _in_text(file: File, pattern: re.Pattern[bytes]) -> Place | None:
    found = pattern.search(file.source.data)
    return Place(file.path, found.start(), "here") if found is not None else None


_PRINTS = re.compile(rb"\bprintf\s*\(")
_PROCESSES = ("multiprocessing", "concurrent.futures.ProcessPoolExecutor", "os.fork", "joblib")
_SETTINGS = re.compile(rb"CUPY_GPU_MEMORY_LIMIT|PER_THREAD_DEFAULT_STREAM")


def common(program: PythonProgram, own: frozenset[str]) -> Iterator[Obstacle]:
    """What no allocator of a Python package may change under. `own`: the packages whose memory is to move."""
    for path in program.unread:
        yield Obstacle("parse_error", f"`{path}` cannot be read", Place(path, 0, "here"))
    if len(program.files) >= MOST_MODULES:
        yield Obstacle("budget", "the program has too many files", Place(program.main.path, 0, "here"))
    if program.default_stream_is_open:
        text = "the default stream may be chosen where the program is started"
        yield Obstacle("several_streams", text, Place(program.main.path, 0, "here"))
    for file in program.files.values():
        outline = program.tree.outline(file.path)
        if outline is not None and program.tree.modules.hides(outline):
            star = _in_text(file, re.compile(rb"\bimport[ \t]*\*"))
            yield Obstacle("unknown_call", "what `import *` brings is not seen", star or Place(file.path, 0, "here"))
        for name in sorted(file.imports):
            package = name.split(".")[0]
            if package in GPU_LIBRARIES and package not in own:
                place = _in_text(file, re.compile(rb"\b" + package.encode() + rb"\b"))
                text = f"`{package}` works on the same device, on streams of its own choice"
                yield Obstacle("external_library", text, place or Place(file.path, 0, "here"))
        found = _in_text(file, _SETTINGS)
        if found is not None:
            yield Obstacle("several_streams", "the default stream or the limit of the pool is set elsewhere", found)
    for use in program.uses():
        last = use.name.rpartition(".")[2]
        if last in ("get_ipc_handle", "open_ipc_handle", "ipcGetMemHandle", "ipcOpenMemHandle"):
            yield Obstacle("ipc_handle", "memory of the stream-ordered pool has no such handle", _at(use, "here"))
        elif last in ("memGetInfo", "get_memory_info"):
            yield Obstacle("free_memory_is_measured", "the program asks how much memory is free", _at(use, "here"))
        elif last in ("begin_capture", "deviceEnablePeerAccess", "enable_peer_access"):
            name = "under_capture" if last == "begin_capture" else "peer_access"
            yield Obstacle(name, f"`{last}`", _at(use, "here"))
        elif use.name == "ctypes.CDLL" or use.name.startswith(("ctypes.cdll", "ctypes.CDLL")):
            yield Obstacle("foreign_pointer", "code that is no Python is loaded", _at(use, "here"))
        elif use.name in ("builtins.exec", "builtins.eval"):
            yield Obstacle("unknown_call", "code that is made while the program runs", _at(use, "here"))
        elif last in ("toDlpack", "to_dlpack", "from_dlpack", "fromDlpack"):
            yield Obstacle("external_library", "the array is handed to another package", _at(use, "here"))
    for file in program.files.values():
        for name in ("mem_info", "__cuda_array_interface__"):
            if name in file.names:
                place = _in_text(file, re.compile(rb"\b" + name.encode() + rb"\b")) or Place(file.path, 0, "here")
                if name == "mem_info":
                    yield Obstacle("free_memory_is_measured", "the program asks how much memory is free", place)
                else:
                    yield Obstacle("external_library", "the address of an array is handed on", place)


def _streams(program: PythonProgram) -> Iterator[Obstacle]:
    """Where streams of the program's own go out of sight."""
    if not streams.needed(file.source.data for file in program.files.values()):
        return
    may_catch = streams.catches(file.source.data for file in program.files.values())
    for file in program.files.values():
        threads = next((one for one in sorted(file.imports) if one.split(".")[0] in _THREADS), None)
        if threads is not None:
            word = re.compile(rb"\b" + threads.split(".")[0].encode() + rb"\b")
            place = _in_text(file, word) or Place(file.path, 0, "here")
            yield Obstacle("several_host_threads", "a thread may work on a stream while another drops arrays", place)
        if file.path.endswith(NOTEBOOK):
            yield Obstacle("several_streams", "streams of a notebook are not followed", Place(file.path, 0, "here"))
            continue
        try:
            streams.waits(file.path, file.source.data, "", None, may_catch)  # they can be written
        except streams.Unordered as reason:
            lines = file.source.data.splitlines(keepends=True)[: getattr(reason.node, "lineno", 1) - 1]
            yield Obstacle("several_streams", str(reason), Place(file.path, sum(map(len, lines)), "here"))


def cupy(program: PythonProgram) -> Iterator[Obstacle]:
    """What CuPy's asynchronous pool may not come under, where arrays used raw memory."""
    yield from common(program, frozenset({"cupy", "cupyx"}))
    yield from _streams(program)
    yield from _cupy_elsewhere(program)
    for use in program.uses():
        name = use.name
        if name in ("cupy.cuda.runtime.malloc", "cupy.cuda.runtime.free"):
            yield Obstacle("mixed_allocation_kinds", "it allocates through the runtime module too", _at(use, "here"))
        elif _INDEPENDENT_HOST_MEMORY.match(name) or _may_not_block(use, program) or _by_a_computed_name(use):
            yield Obstacle("host_memory_in_flight", _LOOKS, _at(use, "here"))
        elif name.startswith(_PROCESSES):
            yield Obstacle("several_host_threads", "the program starts processes of its own", _at(use, "here"))
    texts = kernel_texts.examine(program)
    if texts.prints is not None:
        yield Obstacle("host_memory_in_flight", _PRINTED, texts.prints)
    managed = texts.managed or texts.unseen
    if managed is not None and kernel_texts.reads_addresses(program):
        yield Obstacle("host_memory_in_flight", _LOOKS, managed)
    for file in program.files.values():
        for found in filter(_IN_FLIGHT.fullmatch, sorted(file.names)):
            where = _in_text(file, re.compile(rb"\b" + found.encode() + rb"\b")) or Place(file.path, 0, "here")
            yield Obstacle("host_memory_in_flight", _LOOKS, where)
        place = _in_text(file, _PRINTS)
        if place is None and ("printf" in file.names or "printf" in file.asked):
            place = Place(file.path, 0, "here")
        if place is not None:
            yield Obstacle("host_memory_in_flight", _PRINTED, place)
        for asked in (name for name in sorted(file.asked) if name == _DONE or _ASKS.fullmatch(name)):
            where = _in_text(file, re.compile(rb"\b" + asked.encode() + rb"\b")) or Place(file.path, 0, "here")
            text = "the host asks whether the device is done with something, and the release of an array was a wait"
            yield Obstacle("host_memory_in_flight", text, where)
        for caught in ("OutOfMemoryError", "CUDARuntimeError"):
            if caught in file.names:
                place = _in_text(file, re.compile(rb"\b" + caught.encode() + rb"\b")) or Place(file.path, 0, "here")
                text = f"the pool raises another exception than raw memory, and the program names `{caught}`"
                yield Obstacle("async_pool_differs", text, place)


def _cupy_elsewhere(program: PythonProgram) -> Iterator[Obstacle]:
    """Where CuPy works on another stream than the null stream, on another device, or with memory of others."""
    for use in program.uses():
        name, last = use.name, use.name.rpartition(".")[2]
        if last == "ExternalStream" and not use.own:
            yield Obstacle("several_streams", "where the stream waits for others is not known", _at(use, "here"))
        elif name.startswith(("cupy.cuda.Stream.ptds", "cupy.cuda.runtime.streamCreate")):
            yield Obstacle("several_streams", "work runs on a stream that is not the null stream", _at(use, "here"))
        elif name == "builtins.getattr" and use.node.args and _is_runtime(use):
            yield Obstacle("unknown_call", "a function of the runtime is called by its name", _at(use, "here"))
        elif last in ("setDevice", "use") or (last == "Device" and use.context):
            yield Obstacle("device_changes", "another device may be current when the array goes", _at(use, "here"))
        elif name.startswith(("cupyx.distributed", "cupy.cuda.nccl", "cupy.cuda.UnownedMemory")):
            yield Obstacle("external_library", f"`{name}` works with memory of others", _at(use, "here"))
    for file in program.files.values():
        several = _in_text(file, re.compile(rb"\b(?:use_multi_gpus|set_cufft_gpus|setDevice)\b"))
        if several is not None:
            yield Obstacle("device_changes", "the program works on several devices", several)


def numba(program: PythonProgram) -> Iterator[Obstacle]:
    """What a stream-ordered memory manager may not come under: RMM's, where the program has it.

    CuPy may work beside it, with memory of its own, as long as it does so on the null stream: the manager allocates and
    frees there, and whoever uses an array of Numba holds it.
    """
    own = {"numba", "numba_cuda", "cupy", "cupyx"}
    yield from common(program, frozenset(own | {"rmm"} if program.has_rmm else own))
    if any(name.split(".")[0] in ("cupy", "cupyx") for file in program.files.values() for name in file.imports):
        yield from _cupy_elsewhere(program)
        for use in program.uses():
            if use.name == "cupy.cuda.Stream":
                yield Obstacle("several_streams", "kernels of CuPy may use arrays of Numba on it", _at(use, "here"))
    yield from _kept_handles(program)
    # all other streams of Numba wait for the legacy stream, on which the manager allocates and frees, and it for them
    yield from _streams(program)
    for use in program.uses():
        name = use.name
        if name in ("numba.cuda.select_device", "numba.cuda.gpus.lst") and literal_of(use, 0) != "0":
            yield Obstacle("device_changes", "the program works on several devices", _at(use, "here"))
        elif name.startswith(_PROCESSES):
            yield Obstacle("several_host_threads", "the program starts processes of its own", _at(use, "here"))
    for file in program.files.values():
        foreign = _in_text(file, re.compile(rb"\b__cuda_stream__\b"))
        if foreign is not None:
            text = "the stream may not be ordered with the legacy stream, on which the manager allocates and frees"
            yield Obstacle("several_streams", text, foreign)
        if "gpus" in file.names:
            place = _in_text(file, re.compile(rb"\bgpus\b")) or Place(file.path, 0, "here")
            yield Obstacle("device_changes", "the program works on several devices", place)
        simulator = _in_text(file, re.compile(rb"NUMBA_ENABLE_CUDASIM|simulator"))
        if simulator is not None:
            yield Obstacle("site_not_editable", "the program also runs in Numba's simulator", simulator)


def _kept_handles(program: PythonProgram) -> Iterator[Obstacle]:
    """Where an external stream may be one of Numba's own, by its handle. Such a stream is destroyed some time after its
    object: with the eleventh object that is dropped, and the events of the waits that are added count among them.
    """
    if not streams.needed(file.source.data for file in program.files.values()):
        return
    if not any("stream" in file.asked for file in program.files.values()):
        return
    text = "a stream of Numba ends with its object, and is used by its handle"
    for file in program.files.values():
        for name in ("handle", "__int__", "__index__"):
            if name in file.asked:
                place = _in_text(file, re.compile(rb"\b" + name.encode() + rb"\b")) or Place(file.path, 0, "here")
                yield Obstacle("several_streams", text, place)
    for use in program.uses():
        if use.name in ("builtins.int", "operator.index") and use.node.args:
            given = use.node.args[0].value
            origin = use.resolver.origin(given) or ""
            if literal(given) is None and (not origin or origin.split(".")[0] in ("numba", "object")):
                yield Obstacle("several_streams", text, _at(use, "here"))


def host_may_look_early(program: PythonProgram) -> bool:
    """Whether the host of a Numba program may see how far the device is, or what it has written so far, without a wait
    of its own. A release of memory waits for the device: at once, where `NUMBA_CUDA_MAX_PENDING_DEALLOCS_COUNT` (or
    `_RATIO`, a file `.numba_config.yaml`, `numba.config`) says so, else with the eleventh object that is dropped, or
    where a fifth of the memory waits to be released (numba/cuda/cudadrv/driver.py, `_PendingDeallocs`). So where such
    a question stands, the release in front of it may have been the wait, whatever is known of these settings.
    """
    has_cupy = any(name.split(".")[0] in ("cupy", "cupyx") for file in program.files.values() for name in file.imports)
    for file in program.files.values():
        if any(_ASKS.fullmatch(name) or _SHOWS.fullmatch(name) or _is_raw(name) for name in file.asked):
            return True
        if _in_text(file, _PRINTS) is not None or (has_cupy and _DONE in file.asked):
            return True
        copies = [use for use in file.uses if use.name.endswith(".copy_to_host")]
        if file.asked.get("copy_to_host", 0) > len(copies) or any(map(_copies_on_a_stream, copies)):
            return True
    if kernel_texts.numba_may_print(program) or any(kernel_texts.examine(program)):
        return True
    return any(_by_a_computed_name(use) or (has_cupy and _may_not_block(use, program)) for use in program.uses())


def _is_raw(name: str) -> bool:
    """Whether this may be a function of the driver that does more than to make, order or await something."""
    return _OF_THE_DRIVER.fullmatch(name) is not None and _ORDERS.fullmatch(name) is None


def _copies_on_a_stream(use: Use) -> bool:
    """Whether a copy to the host may be on a stream: `x.copy_to_host(array, stream)`."""
    return any(one.star for one in use.node.args) or use.argument(1, "stream") is not None


def _by_a_computed_name(use: Use) -> bool:
    """Whether a call gets an attribute of what may be an object of Numba or CuPy by a name that is not in the text."""
    if use.name not in _BY_NAME:
        return False
    at = int(use.name == "builtins.getattr")
    if at and use.node.args:
        meaning = use.resolver.meaning(use.node.args[0].value)
        origin = meaning.name if isinstance(meaning, Dotted) else use.resolver.origin(use.node.args[0].value) or ""
        root = origin.split(".")[0]
        if (root in HOST_PACKAGES or root in sys.stdlib_module_names) and origin not in _LEAD_ANYWHERE:
            return False
    return len(use.node.args) <= at or not isinstance(use.node.args[at].value, cst.SimpleString)


def _may_not_block(use: Use, program: PythonProgram) -> bool:
    """Whether a call may copy to the host without waiting: `x.get(stream, order, out, blocking)`."""
    last = use.name.rpartition(".")[2]
    given = use.argument(3 if last == "get" else 99, "blocking")
    if last in ("get", "asnumpy") and any(argument.star == "**" for argument in use.node.args):
        return "blocking" in program.files[use.path].names
    return given is not None and not (isinstance(given, cst.Name) and given.value == "True")


def _is_runtime(use: Use) -> bool:
    """Whether `getattr` gets the runtime module of CuPy, or one around it."""
    meaning = use.resolver.meaning(use.node.args[0].value)
    return isinstance(meaning, Dotted) and "cupy.cuda.runtime".startswith(meaning.name)


def literal_of(use: Use, position: int) -> str | None:
    """The text of a literal argument."""
    given = use.argument(position, "")
    return literal(given) if given is not None else None


def assumptions(program: PythonProgram) -> Iterator[Assumption]:
    """What a change of the allocator takes for granted, where the program cannot show it."""
    unseen: set[str] = set()
    for file in program.files.values():
        for name in file.imports:
            root = name.lstrip(".").split(".")[0]
            known = root in sys.stdlib_module_names or root in HOST_PACKAGES or root in GPU_LIBRARIES
            if root and not known and program.tree.find(root, file.path) is None and not name.startswith("."):
                unseen.add(root)
    for one in sorted(unseen):
        yield Assumption("current_stream_only", f"`{one}`")
    if clocks.may_be_read(program) or any(_CLOCKS.match(use.name) for use in program.uses()):
        yield Assumption("no_release_is_timed", "")


def assumptions_of_cupy(program: PythonProgram) -> Iterator[Assumption]:
    """`assumptions`, and what is taken for granted of kernels whose text is not seen: what they print, and the error of
    one that traps, may come later, and is lost at the end of the process.
    """
    yield from assumptions(program)
    texts = kernel_texts.examine(program)
    if texts.unseen is not None or texts.traps is not None:
        yield Assumption("host_waits_itself", "")
