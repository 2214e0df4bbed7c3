"""Who proves besides this process: processes of this machine, or the workers of a Dask cluster."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager


class ExecutorError(Exception):
    """The workers cannot be used, or were lost. The message is one line."""


@contextmanager
def processes(jobs: int) -> Iterator[Executor]:
    """Processes of this machine; where they can be forked they start with what is loaded here. None outlives this one,
    however that ends, and none has hold of its input and output.
    """
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    method = "fork" if "fork" in multiprocessing.get_all_start_methods() else None
    context = multiprocessing.get_context(method)
    pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_serve, initargs=(os.getpid(),))
    try:
        yield pool
    except BaseException:
        # what they do now is of no use to anybody
        for process in list((getattr(pool, "_processes", None) or {}).values()):
            process.kill()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _serve(parent: int) -> None:
    """What a worker does first."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal sends it to the parent too
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if sys.platform == "linux":
        _end_with_parent()
    if hasattr(os, "getppid") and os.getppid() != parent:  # it has ended in the meantime
        os._exit(1)
    threading.Thread(target=_watch, daemon=True).start()
    # whoever reads what the parent writes waits until nobody has hold of its end of the pipe
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    os.close(nowhere)


def _end_with_parent() -> None:
    import ctypes

    # PR_SET_PDEATHSIG, prctl(2): the kernel sends the signal, also to a process that computes
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, int(signal.SIGKILL), 0, 0, 0)


def _watch() -> None:
    """End this worker when its parent has ended; where the kernel does not do it."""
    from multiprocessing import parent_process

    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


@contextmanager
def opened(name: str | None) -> Iterator[Executor | None]:
    """The executor of this name: `dask:ADDRESS`, a scheduler that runs already. Raises `ExecutorError`."""
    if name is None:
        yield None
        return
    kind, _, address = name.partition(":")
    if kind != "dask" or not address:
        raise ExecutorError(f"`{name}` is no executor: `dask:ADDRESS`")
    try:
        from distributed import Client, KilledWorker
    except ImportError:
        raise ExecutorError("`dask:` needs `distributed`: pip install 'cudafix[dask]'") from None
    try:
        client = Client(address, timeout=10)
    except (OSError, ValueError) as error:
        raise ExecutorError(f"no Dask scheduler answers at {address}: {error}".replace("\n", " ")) from None
    with client:
        if not client.scheduler_info()["workers"]:
            raise ExecutorError(f"the Dask scheduler at {address} has no workers")
        try:
            # what a worker had that was lost goes to another one: a report follows from its batch alone
            yield client.get_executor(pure=False)
        except KilledWorker as error:
            raise ExecutorError(f"a batch was given up, its workers were lost: {error}".replace("\n", " ")) from None
