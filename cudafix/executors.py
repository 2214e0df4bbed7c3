"""Who proves besides this process: processes of this machine, or the workers of a Dask cluster."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager


class ExecutorError(Exception):
    """The workers cannot be used, or were lost. The message is one line."""


@contextmanager
def processes(jobs: int) -> Iterator[Executor]:
    """Processes of this machine; where they can be forked they start with what is loaded here."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    method = "fork" if "fork" in multiprocessing.get_all_start_methods() else None
    pool = ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context(method))
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


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
