"""Sweeps: many cells, in one process, in several, or on a Dask cluster, with the same bytes as result."""

from __future__ import annotations

import os
import signal
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import CancelledError
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from joblib import Parallel, delayed, parallel_config
from threadpoolctl import threadpool_limits

from scheduling_core.errors import SchedulingError
from scheduling_core.queueing.cells import Cell, Result, key_of, request_of, run_cell
from scheduling_core.queueing.finished import Finished

T = TypeVar("T")
CONNECTS_WITHIN = "10s"
LOOKS_EVERY = 0.5
"""Seconds between two looks of a worker whether its parent is there."""


@dataclass(frozen=True)
class Sweep:
    """Results in the order of the cells; None for those that weren't reached before an interruption."""

    cells: tuple[Cell, ...]
    results: tuple[Result | None, ...]
    interrupted: bool = False


def sweep(
    cells: Sequence[Cell],
    *,
    jobs: int = 1,
    dask: str | None = None,
    finished: Path | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> Sweep:
    """Run every cell once, equal ones together.

    jobs : processes on this machine, -1 for one on each core. dask : the address of a Dask scheduler, on
    whose workers the cells run instead. finished : a file of JSON lines; cells that it has aren't run again,
    and each that ends is added, so that a sweep that was interrupted or killed goes on where it was.
    on_progress : called with (ended, all) different cells. Ctrl-C ends in what there is by then.

    Raises
    ------
    SchedulingError : for a cell that can't be asked for, before any runs; a file that isn't one of finished
        cells; a Dask cluster that isn't there; a worker that was ended from outside. What a simulation
        refuses is in its result.
    """
    _expect_processes(jobs)
    requests = [request_of(cell) for cell in cells]
    keys = [key_of(request) for request in requests]
    store = None if finished is None else Finished(finished)
    done = {} if store is None else {key: store.results[key] for key in keys if key in store.results}
    waiting = {k: (c, r) for k, c, r in zip(keys, cells, requests, strict=True) if k not in done}
    total = len(set(keys))
    interrupted = False
    try:
        if on_progress is not None:
            on_progress(len(done), total)
        with (
            _without_word_of_cancelled_work(),
            closing(spread(run_cell, list(waiting.values()), jobs=jobs, dask=dask)) as results,
        ):
            for result in results:
                done[result.key] = result
                if store is not None:
                    store.add(result)
                if on_progress is not None:
                    on_progress(len(done), total)
    except KeyboardInterrupt:
        interrupted = True
    finally:
        if store is not None:
            store.close()
    return Sweep(tuple(cells), tuple(done.get(key) for key in keys), interrupted)


def spread(
    work: Callable[..., T], tasks: Sequence[tuple[Any, ...]], *, jobs: int = 1, dask: str | None = None
) -> Generator[T, None, None]:
    """What `work` gives for each task (its arguments), as they end, in any order.

    work : a function of a module, that another process can be sent. jobs, dask : as of `sweep`.

    Raises
    ------
    SchedulingError : for a Dask cluster that isn't there, or a worker that was ended from outside.
    """
    _expect_processes(jobs)
    if not tasks:
        return
    if dask is None and jobs == 1:
        yield from (_run(work, task) for task in tasks)
        return
    with ExitStack() as stack:
        lost: tuple[type[Exception], ...] = (BrokenProcessPool, CancelledError)
        if dask is None:
            run, how = _run_in_process, parallel_config(backend="loky", n_jobs=jobs)
        else:
            client = stack.enter_context(_client(dask))
            lost += (_distributed().KilledWorker,)
            run, how = _run, parallel_config(backend="dask", client=client, n_jobs=-1)
        stack.enter_context(how)
        parallel = Parallel(return_as="generator_unordered", batch_size=1)
        try:
            yield from parallel(delayed(run)(work, task) for task in tasks)
        except lost as error:
            raise SchedulingError(
                "A worker of the sweep was ended from outside, perhaps for want of memory; cells that ended "
                "stay in the file of finished ones, where there is one."
            ) from error


@contextmanager
def _without_word_of_cancelled_work() -> Iterator[None]:
    """Who interrupts a sweep knows that cells weren't reached, and the result says which."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".* have been cancelled", UserWarning)
        yield


def _client(address: str) -> Any:
    """A client of the scheduler at this address, to be closed."""
    distributed = _distributed()
    try:
        distributed.comm.resolve_address(address)  # a client that can't be made doesn't close quietly
        return distributed.Client(address, timeout=CONNECTS_WITHIN, set_as_default=False)
    except (OSError, ValueError) as error:
        raise SchedulingError(f"No Dask scheduler answers at {address}: {error}.") from error


def _distributed() -> Any:
    try:
        return import_module("distributed")
    except ImportError as error:
        raise SchedulingError(
            "A sweep on a Dask cluster needs the package distributed, expected it here and on the workers."
        ) from error


def _run(work: Callable[..., T], task: tuple[Any, ...]) -> T:
    """One thread in each: with more, the last bits of a solver's numbers would depend on the machine."""
    with threadpool_limits(limits=1):
        return work(*task)


def _run_in_process(work: Callable[..., T], task: tuple[Any, ...]) -> T:
    """The same in a worker of our own, which leaves Ctrl-C to its parent and ends with it."""
    _follow_parent()
    return _run(work, task)


def _expect_processes(jobs: int) -> None:
    if jobs == 0 or jobs < -1:
        raise SchedulingError(f"A sweep in {jobs} processes, expected 1 or more, or -1 for all cores.")


@cache
def _follow_parent() -> None:
    """A worker whose parent was killed would wait for work, and hold its memory, for minutes."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_without, args=(os.getppid(),), daemon=True).start()


def _end_without(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(LOOKS_EVERY)
    os._exit(1)
