"""How one class of objects is kept in a file: its name there, its fields and their meanings, and the way back."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..checks.schema import Meaning, Sizes, check
from ..composition import layers

__all__ = ["Fields", "SavedType", "own_fields", "plain", "plain_state", "refuse_layers"]

Fields = dict[str, Any]

#: Estimators around estimators that predict. Scikit-learn asks each layer three times over what the one inside can do,
#: so that each makes a prediction three times slower; four are a lot.
_LAYERS = 6


@dataclass(frozen=True)
class SavedType:
    """The name of a class in files, its state as values, what each value means, and an object of such values.

    ``state`` gives the fields of an object; those under "attributes" are fitted attributes, whose meanings stand beside
    those of the fields. ``restore`` is called with the class and with fields that mean what they must.
    """

    name: str
    cls: Any
    state: Callable[[Any], Fields]
    restore: Callable[[Any, Fields], Any]
    meanings: Mapping[str, Meaning]

    def restored(self, fields: Fields) -> Any:
        """The object of these fields, checked."""
        self.check(fields)
        return self.restore(self.cls, fields)

    def check(self, fields: Fields) -> Sizes:
        """Raise ``ValueError`` where a field is not what it must be; else the sizes."""
        attributes = fields.get("attributes", {})
        if not isinstance(attributes, dict) or not all(map(is_attribute, attributes)):
            strange = next((name for name in attributes if not is_attribute(name)), "")
            raise ValueError(f"{self.name} names an attribute {str(strange)[:40]!r}")
        others = {name: value for name, value in fields.items() if name != "attributes"}
        return check(self.name, {**others, **attributes}, self.meanings)


def is_attribute(name: Any) -> bool:
    """Whether this is the name of a fitted attribute that users read."""
    return isinstance(name, str) and name.endswith("_") and name.isidentifier() and not name.startswith("_")


def own_fields(model: Any) -> Fields:
    """All that a dataclass is made of, without what it has worked out from that for itself."""
    return {each.name: getattr(model, each.name) for each in dataclasses.fields(model)}


def plain_state(value: Any) -> Fields:
    """Parameters and fitted attributes, of which an object wholly consists."""
    attributes = {name: item for name, item in vars(value).items() if is_attribute(name)}
    return {"parameters": value.get_params(deep=False), "attributes": attributes}


def plain(cls: Any, fields: Fields) -> Any:
    """The object of parameters and fitted attributes."""
    made = cls(**known_parameters(cls, fields["parameters"]))
    if hasattr(made, "_parameter_constraints"):
        made._validate_params()  # scikit-learn's own check of its parameters
    vars(made).update(fields["attributes"])
    return made


def known_parameters(cls: Any, parameters: Fields) -> Fields:
    """Parameters without those that this version of a library does not know and that are off."""
    names = cls._get_param_names()
    for name, value in parameters.items():
        if name not in names and value is not None and value is not False:
            raise ValueError(f"{cls.__name__} has no parameter {name[:40]!r} here; a newer scikit-learn may have it")
    return {name: value for name, value in parameters.items() if name in names}


def refuse_layers(estimator: Any) -> None:
    """Refuse more estimators inside each other than any model needs."""
    if sum(1 for _ in layers(estimator)) > _LAYERS:
        raise ValueError(f"it has more than {_LAYERS} estimators inside each other")
