"""Methods that some estimators have and others have not, depending on their parameters.

scikit-learn asks ``hasattr`` before it uses ``predict_proba``, ``decision_function`` or ``partial_fit``, and its
``available_if`` answers. That says only that there is no such method; the decorators here also say why, and what to do
about it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Any

from sklearn.utils.metaestimators import available_if


class _Offered:
    """A method behind a check: scikit-learn's own descriptor, with the reason of a refusal as its message."""

    def __init__(self, method: Callable, check: Callable[[Any], Any]) -> None:
        self.conditional = available_if(check)(method)
        update_wrapper(self, method)  # type: ignore[arg-type]

    def __get__(self, estimator: Any, owner: Any = None) -> Any:
        try:
            return self.conditional.__get__(estimator, owner)
        except AttributeError as error:
            if error.__cause__ is None:
                raise
            raise AttributeError(str(error.__cause__)) from error.__cause__


def offered_if(check: Callable[[Any], Any]) -> Callable[[Callable], Any]:
    """A method that is there if ``check(estimator)`` is true; where the check raises, its words are the reason.

    Examples
    --------
    >>> def is_open(shop):
    ...     if not shop.open:
    ...         raise AttributeError("the shop is closed; come tomorrow.")
    ...     return True
    >>> class Shop:
    ...     open = False
    ...     @offered_if(is_open)
    ...     def buy(self):
    ...         return "bread"
    >>> hasattr(Shop(), "buy")
    False
    """
    return lambda method: _Offered(method, check)


def offered_as(inner: Callable[[Any], Any]) -> Callable[[Callable], Any]:
    """A method of a wrapper that is there if ``inner(wrapper)`` has one of the same name, else for its reason not."""
    return lambda method: _Offered(method, lambda wrapper: getattr(inner(wrapper), method.__name__))
