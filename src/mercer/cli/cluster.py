"""``--cluster``: let the machines of a dask cluster do the work of a command."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import click

from ..io import DataError

#: Seconds after which nobody is expected to answer any more, and that processes of this machine have to end.
_PATIENCE, _FAREWELL = 10, 1
_LOCAL = re.compile(r"local(?::([1-9]\d*))?")


def _address(context: click.Context, parameter: click.Parameter, given: str | None) -> str | None:
    if given is not None and not (_LOCAL.fullmatch(given) or re.fullmatch(r"[a-z]+://\S+", given)):
        raise click.BadParameter(
            f"{given!r} should be the address of a scheduler, such as tcp://10.0.0.1:8786, or local, or local:4 for "
            "four processes of this machine"
        )
    return given


def cluster_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--cluster``: the command runs while the cluster is connected, and need not know of it."""

    @click.option(
        "--cluster",
        metavar="ADDRESS",
        callback=_address,
        help="Work on a dask cluster: the address of its scheduler (tcp://...), or local, or local:4 for four "
        "processes of this machine. [default: threads of one process]",
    )
    @functools.wraps(command)
    def wrapped(*args: Any, cluster: str | None, **given: Any) -> Any:
        with working_on(cluster):
            return command(*args, **given)

    return wrapped


@contextmanager
def working_on(address: str | None) -> Iterator[None]:
    """Inside this block tasks of joblib and arrays of dask's are computed by this cluster; ``None`` stands for none."""
    if address is None:
        yield
        return
    try:
        import dask
        import distributed
    except ImportError:
        raise DataError("--cluster needs dask; install it with: pip install 'mercer[dask]'") from None
    import logging

    from joblib import cpu_count, parallel_config

    quiet = {"logging.distributed": "critical", "distributed.logging.distributed": "critical"}
    with ExitStack() as stack:
        stack.enter_context(dask.config.set(quiet))
        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        local = _LOCAL.fullmatch(address)
        if local:
            workers = int(local[1]) if local[1] else cpu_count()
            where: Any = stack.enter_context(
                distributed.LocalCluster(
                    n_workers=workers, threads_per_worker=1, dashboard_address=None, silence_logs=logging.CRITICAL
                )
            )
            stack.callback(_end_workers, where)
        else:
            where = address
        try:
            client = stack.enter_context(distributed.Client(where, timeout=_PATIENCE))
        except (OSError, TimeoutError, ValueError) as error:
            why = " ".join(str(error).split()) or type(error).__name__
            raise DataError(
                f'no scheduler answers at {address} ({why}); start one with "dask scheduler", or use --cluster local.'
            ) from None
        if not client.nthreads():
            raise DataError(
                f'the scheduler at {address} has no workers; start some with "dask worker {address}" on machines that '
                "have mercer installed."
            )
        stack.enter_context(parallel_config("dask"))
        yield


def _end_workers(cluster: Any) -> None:
    """End the processes of a local cluster, whatever they still do: nobody waits for it any more."""
    import asyncio

    async def end() -> None:
        await asyncio.gather(*(each.close(timeout=_FAREWELL) for each in cluster.workers.values()))

    cluster.sync(end)
