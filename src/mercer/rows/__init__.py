"""Items that a machine learns from wherever they are: in memory, in files, or on the workers of a cluster.

:class:`Rows` is all that a low-rank Gram asks for: some items by their numbers, and work done on every chunk of them.
"""

from .base import Rows
from .dask_parts import dask_client, is_dask, values_of_dask
from .held import Held
from .memory_mapped import Mapped
from .number_rows import NumberRows
from .on_workers import OnWorkers
from .recognised import refuse_elsewhere, rows_of

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
