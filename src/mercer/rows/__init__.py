"""Items that a machine learns from wherever they are: in memory, in files, or on the workers of a cluster.

:class:`Rows` is all that a low-rank Gram asks for: some items by their numbers, and work done on every chunk of them.
"""

from .base import Held, Mapped, NumberRows, Rows
from .dask import OnWorkers, dask_client, refuse_elsewhere, rows_of
from .guests import as_host, in_memory, is_dask, on_card

__all__ = [
    "Held",
    "Mapped",
    "NumberRows",
    "OnWorkers",
    "Rows",
    "as_host",
    "dask_client",
    "in_memory",
    "is_dask",
    "on_card",
    "refuse_elsewhere",
    "rows_of",
]
