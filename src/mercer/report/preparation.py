"""Preprocessing around a learner, and what it removed."""

from __future__ import annotations

from typing import Any

from sklearn.pipeline import Pipeline

from .._compile import Array
from ..preprocess import prepare


class Preparation:
    """The steps that every learner's rows go through."""

    def __init__(self, table: Any, **options: Any) -> None:
        self.table, self.options = table, options

    def around(self, learner: Any) -> Any:
        """The learner behind the steps, not fitted."""
        return Pipeline([*prepare(self.table, **self.options), ("learner", learner)])

    #: Where the learner's parameters are found in what :meth:`around` makes.
    prefix = "learner__"

    def facts(self, y: Array) -> dict[str, Any]:
        """What the steps remove from the training rows."""
        steps = Pipeline(prepare(self.table, **self.options)).fit(self.table.X, y)
        return {"features": len(steps.get_feature_names_out()), "rows": None, "words": []}
