"""TableClassifier and TableRegressor as a model of AutoGluon."""

from __future__ import annotations

from typing import Any

import pandas as pd
from autogluon.core.models import AbstractModel

#: The part of a time limit that the fit is given; the rest is for predictions of the validation rows.
_SHARE = 0.9
#: Rows of which the matrix is factorised, and matrices of them that are held at once.
_LARGEST, _MATRICES = 10_000, 6


class MercerModel(AbstractModel):
    """Columns of numbers and of categories go in as they are: preparation is a part of the model.

    Validation rows are not looked at. Everything is chosen by leaving out training rows, so that the folds of a bag
    could be spared.
    """

    ag_key = "MERCER"
    ag_name = "Mercer"
    seed_name = "random_state"
    _supported_problem_types = ["binary", "multiclass", "regression"]  # noqa: RUF012
    _default_auxiliary_params_extra = {"valid_raw_types": ["int", "float", "category"]}  # noqa: RUF012
    default_resources_physical_cores_only = True

    def _fit(
        self,
        X: pd.DataFrame,
        y: pd.Series,
        time_limit: float | None = None,
        num_cpus: int = 1,
        sample_weight: Any = None,
        **kwargs: Any,
    ) -> None:
        from mercer import TableClassifier, TableRegressor

        kind = TableRegressor if self.problem_type == "regression" else TableClassifier
        params = {"time_limit": None if time_limit is None else _SHARE * time_limit} | self._get_model_params()
        self.model = kind(**params).fit(self.preprocess(X, is_train=True), y, sample_weight)

    @classmethod
    def warmup(cls, **kwargs: Any) -> None:
        """Compile what fits take, outside of what is timed."""
        import numpy as np

        from mercer import TableClassifier, TableRegressor

        rng = np.random.default_rng(0)
        rows = pd.DataFrame(rng.normal(size=(60, 3)), columns=list("abc"))
        for model, target in ((TableClassifier(), rows.a > 0), (TableRegressor(), rows.b)):
            model.fit(rows, target).predict(rows)

    @classmethod
    def _estimate_memory_usage_static(cls, *, X: pd.DataFrame, **kwargs: Any) -> int:
        n = min(len(X), _LARGEST)
        return int(1e9 + 8 * (_MATRICES * n * n + 8 * X.size))
