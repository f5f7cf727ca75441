"""Items that a machine learns from wherever they are: in memory, in files, or on the workers of a cluster.

:class:`Rows` is all that a low-rank Gram asks for: some items by their numbers, and work done on every chunk of them.
"""

from .base import Held, Mapped, NumberRows, Rows
from .dask import OnWorkers, dask_client, is_dask, refuse_elsewhere, rows_of, values_of_dask

__all__ = [
    "Held",
    "Mapped",
    "NumberRows",
    "OnWorkers",
    "Rows",
    "dask_client",
    "is_dask",
    "refuse_elsewhere",
    "rows_of",
    "values_of_dask",
]
