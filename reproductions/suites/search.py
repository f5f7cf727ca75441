"""scikit-learn's own tests of GridSearchCV, run on KernelSearchCV."""

from __future__ import annotations

from typing import Any

from mercer.search import KernelSearchCV

NAME = "search"
MODULE = "sklearn.model_selection.tests.test_search"

MEANT = {
    "test_custom_run_search": "compares all attributes with those of a search of its own, which gives no advice_",
}


def patches() -> dict[str, Any]:
    return {"sklearn.model_selection.GridSearchCV": KernelSearchCV}
