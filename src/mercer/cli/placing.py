"""Where the kernel matrix of a machine lives, as ``mercer train`` is told, and whether its rows are read in chunks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..io.table import DataError
from .arguments import Places
from .large_files import in_chunks, only_path

if TYPE_CHECKING:
    from ..learners.learner import Learner
    from .recipe import Recipe

__all__ = ["placing", "streams"]


def placing(learner: Learner, **said: Any) -> dict[str, Any]:
    """Parameters that say where the kernel matrix lives, of a learner that has them."""
    from .._validation.unwrapped import machine_of

    given = {name: value for name, value in said.items() if value is not None}
    known = machine_of(learner.build()).get_params(deep=False)
    if strange := [name for name in given if name not in known or not learner.takes_kernel]:
        raise DataError(
            f"{learner.name} has no --{strange[0]}; svc, kernel-logistic, kernel-squared-hinge and kernel-ridge do."
        )
    return given


def streams(data: Places, recipe: Recipe, reading: dict[str, Any]) -> bool:
    """Whether the rows are read in chunks: landmarks are asked for, and the table would take more than the memory.

    With --cluster they are read by its workers, or not at all.
    """
    from .._validation.memory import bytes_of
    from ..rows import dask_client

    if dask_client() is not None:
        return _on_cluster(data, recipe)
    if recipe.params.get("rank") is None:
        return False
    return in_chunks(data, min(bytes_of(recipe.params.get("memory", "1GB")), bytes_of(reading["max_bytes"])))


def _on_cluster(data: Places, recipe: Recipe) -> bool:
    """Refuse what the workers of a cluster cannot do."""
    from ..io.scanning import is_parquet

    path = only_path(data)
    if recipe.params.get("rank") is None:
        raise DataError(
            f"{recipe.learner.name} compares all pairs of rows, which it needs in memory; on a cluster add --rank 1000 "
            "to learn from so many landmarks (kernel-logistic, kernel-squared-hinge, kernel-ridge), or leave --cluster "
            "out."
        )
    if path is None or not is_parquet(path):
        raise DataError(
            "the workers of a cluster read one Parquet file, or a folder of them; store the table as Parquet, or leave "
            "--cluster out."
        )
    return True
