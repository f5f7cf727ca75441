"""Everything that a model file can hold, by the name it has there.

A file names a class only as :data:`SAVED_TYPES` does; each entry says how a fitted object is stored, what each of its
fields must be (``meanings.py``) and how it is restored.
"""

from __future__ import annotations

from inspect import isroutine
from typing import Any

from sklearn.exceptions import NotFittedError

from .._validation.guide import guide
from .._validation.wording import enumeration
from ..io.table import DataError
from .packing import Packer, Unpacker
from .saved_machines import machine_types
from .saved_steps import step_types
from .saved_tables import table_types
from .saved_type import SavedType
from .saved_wrappers import wrapper_types

__all__ = ["SAVED_TYPES", "pack_object", "unpack_object"]

SAVED_TYPES: dict[str, SavedType] = {
    each.name: each for types in (machine_types(), step_types(), wrapper_types(), table_types()) for each in types
}
#: What is stored inside others, never on its own.
_PARTS = ("KernelModel", "LinearModel", "OutlierReport")


def pack_object(packer: Packer, value: Any) -> dict[str, Any]:
    """The JSON node of a machine or a step."""
    known = next((each for each in SAVED_TYPES.values() if each.cls is type(value)), None)
    if known is None:
        name = f"{type(value).__module__}.{type(value).__name__}"
        if hasattr(value, "best_estimator_"):
            raise DataError(f"a {name} cannot be saved in a model file, but what it found can: its .best_estimator_.")
        if isroutine(value):
            raise DataError(
                "a function as a kernel cannot be saved in a model file, which holds no code; write it as a class "
                f"{guide('new kernel')}, or pickle the model."
            )
        these = enumeration((each for each in SAVED_TYPES if each[0] != "_" and each not in _PARTS), len(SAVED_TYPES))
        raise DataError(
            f"a {name} cannot be saved in a model file; these can: {these}; use one of them, such as Texts for a "
            "column of texts, or pickle."
        )
    try:
        state = known.state(value)
    except NotFittedError:
        raise DataError(f"{type(value).__name__} is not fitted yet; only fitted models can be saved.") from None
    return {"object": known.name, "fields": {key: packer.pack(item) for key, item in state.items()}}


def unpack_object(unpacker: Unpacker, node: dict[str, Any]) -> Any:
    """The machine or step of a JSON node."""
    known = SAVED_TYPES.get(node["object"])
    if known is None:
        raise ValueError(f"it holds an unknown kind of step, {node['object'][:40]!r}")
    fields = node["fields"]
    if not isinstance(fields, dict):
        raise ValueError(f"a {known.name} has no fields")
    return known.restored({key: unpacker.unpack(item) for key, item in fields.items()})
