"""scikit-learn's parameters for what is no estimator: it is cloned, searched over and nested, and prints itself."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator

__all__ = ["Parametrised"]


class Parametrised:
    """``get_params`` and ``set_params`` as estimators have them.

    It does not derive from ``BaseEstimator``: scikit-learn prints whatever does as ``Class(parameter=value)``, wherever
    it stands, and would never ask it for its own text. Its own kernels (of Gaussian processes) are made the same way.

    Examples
    --------
    >>> from mercer import SVC
    >>> from mercer.kernels import Gaussian, Linear
    >>> SVC(2 * Gaussian() + Linear())
    SVC(kernel=2*gaussian + linear)
    """

    get_params = BaseEstimator.get_params
    set_params = BaseEstimator.set_params
    _get_param_names: Any = classmethod(BaseEstimator._get_param_names.__func__)
