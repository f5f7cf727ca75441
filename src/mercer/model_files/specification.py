"""The part of the specification of model files that the code knows best: every kind of object, and its fields.

python -m mercer.model_files.specification        prints what docs/model-files.md has under "Objects"
"""

from __future__ import annotations

from collections.abc import Mapping

from .. import estimators
from .meanings import Meaning
from .saved_types import SAVED_TYPES

__all__ = ["objects_in_words"]


def objects_in_words() -> str:
    """A Markdown list of every kind of object with its fields and what each must be.

    Examples
    --------
    >>> "- `coef`: finite numbers (scores × columns)" in objects_in_words().splitlines()
    True
    """
    machines = [SAVED_TYPES[name].meanings for name in estimators.__all__]
    shared = {field: each for field, each in machines[0].items() if all(own.get(field) is each for own in machines)}
    parts = [_object(f"Every machine ({', '.join(estimators.__all__)})", shared)]
    for name, known in SAVED_TYPES.items():
        inherits = name in estimators.__all__
        own = {field: each for field, each in known.meanings.items() if not (inherits and field in shared)}
        parts.append(_object(name, own, "as every machine" if inherits else ""))
    return "\n".join(parts)


def _object(name: str, meanings: Mapping[str, Meaning], also: str = "") -> str:
    lines = [f"**{name}**{f' {also}' if also and not meanings else f' {also}, and' if also else ''}", ""]
    for field, meaning in meanings.items():
        lines.append(f"- `{field}`{'' if meaning.needed else ' (optional)'}: {meaning.words}")
    return "\n".join([*lines, ""] if meanings else lines)


if __name__ == "__main__":
    print(objects_in_words())
