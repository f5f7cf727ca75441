"""Model files: arrays in the safetensors format with a JSON text beside them. Data only, never code.

The text says what the file is (``about``) and what the machine is made of (``model``, see ``packing.py``). The layout
of the bytes is in ``container.py``, signatures in ``signing.py``. A kernel machine is made of some of its training
rows, so its file holds them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from inspect import isroutine
from pathlib import Path
from typing import Any

from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline

from .. import __version__
from ..checks.parameters import whole_number
from ..checks.schema import Meaning
from ..estimators import KNOWN, KernelMachine
from ..io.sources import raw_bytes
from ..io.table import DataError
from ..io.writing import write_whole
from ..kernels.text_form import UnknownKernel
from ..losses import UnknownLoss
from ..messages import enumeration, guide
from .packing import Content, Packer, Unpacker, checksum, content_of, file_of
from .saved_machines import machine_type, machine_types, table_types
from .saved_steps import step_types, wrapper_types
from .saved_type import SavedType
from .signing import Keys, signature_fits, signature_of, signer_told, verified

__all__ = [
    "FORMAT",
    "SAVED_TYPES",
    "ModelFile",
    "load",
    "objects_in_words",
    "open_model",
    "pack_object",
    "save",
    "sign",
    "unpack_object",
    "write_model",
]

# Everything that a model file can hold, by the name it has there.
#
# A file names a class only as :data:`SAVED_TYPES` does; each entry says how a fitted object is stored, what each of its
# fields must be (``checks/schema.py``) and how it is restored.


SAVED_TYPES: dict[str, SavedType] = {
    each.name: each for types in (machine_types(), step_types(), wrapper_types(), table_types()) for each in types
}
_TYPES_BY_CLASS = {each.cls: each for each in SAVED_TYPES.values()}
#: What is stored inside others, never on its own.
_PARTS = ("KernelModel", "LinearModel", "OutlierReport")


def pack_object(packer: Packer, value: Any) -> dict[str, Any]:
    """The JSON node of a machine or a step."""
    known = _TYPES_BY_CLASS.get(type(value))
    if known is None and isinstance(value, KernelMachine):
        known = _type_of_ones_own(type(value))
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


def _type_of_ones_own(cls: type[KernelMachine]) -> SavedType:
    """How an estimator from outside the library is kept."""
    if cls.__name__ in SAVED_TYPES or KNOWN.get(cls.__name__) is not cls:
        raise DataError(f"another class than this has the name {cls.__name__} in model files; rename yours to save it.")
    return machine_type(cls)


def unpack_object(unpacker: Unpacker, node: dict[str, Any]) -> Any:
    """The machine or step of a JSON node."""
    name = node["object"]
    known = SAVED_TYPES.get(name)
    if known is None and name in KNOWN:
        known = machine_type(KNOWN[name])
    if known is None:
        raise _UnknownObject(f"it holds an unknown kind of step, {name[:40]!r}")
    fields = node["fields"]
    if not isinstance(fields, dict):
        raise ValueError(f"a {known.name} has no fields")
    return known.restored({key: unpacker.unpack(item) for key, item in fields.items()})


class _UnknownObject(ValueError):
    """A name that no class has, as long as nobody has imported it."""


#: The number of the file format; raised whenever an older mercer could not read what this one writes.
FORMAT = 1
#: What loading may take: a file of half of it, as its bytes and its arrays are there at once for a moment.
MAX_BYTES = 8 * 10**9
#: Endings of other files that hold models or data, and what writes them.
_OTHER_KINDS = {
    ".c": "mercer.export(model, path, to='c')",
    ".joblib": "joblib.dump",
    ".json": "pickle.dump and another name",
    ".onnx": "mercer.export(model, path, to='onnx')",
    ".pickle": "pickle.dump",
    ".pkl": "pickle.dump",
    ".py": "mercer.export(model, path, to='python')",
}
_REFUSED = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError, MemoryError)


@dataclass(frozen=True)
class ModelFile:
    """What a model file holds: the fitted estimator, and what was written about it.

    ``signer`` is the key that signed the file: of a name where it was verified, else as the file says itself.
    ``signature_fits`` says whether the signature in it was made with the key in it, of this content; ``None`` where
    there is none, or where the package ``cryptography`` is missing.
    """

    estimator: Any
    about: dict[str, Any] = field(repr=False)
    signer: str | None = None
    verified: bool = False
    signature_fits: bool | None = None


def save(model: Any, path: str | Path, about: Mapping[str, Any] | None = None, *, sign: Any = None) -> None:
    """Write a fitted model to a file.

    Parameters
    ----------
    model : estimator
        A machine of mercer, or a pipeline of such with steps of :mod:`mercer.preprocess`.
    path : str or Path
        Usually ending in ``.safetensors``; endings of other kinds of files, such as ``.pkl`` and ``.onnx``, are
        refused. An existing file is replaced whole, or not at all.
    about : mapping, optional
        What to remember besides: the target's name, where the training rows came from, … Anything JSON can say.
    sign : str, Path or Ed25519PrivateKey, optional
        Your private key, or a file with it, made by ``ssh-keygen -t ed25519`` or ``openssl genpkey -algorithm
        ed25519``. The checksum of a file tells damage, not forgery; a signature tells who wrote it.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from mercer import SVC
    >>> from mercer import load, save
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "xor.safetensors"
    >>> save(SVC("gaussian", C=10).fit([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]), path)
    >>> load(path).predict([[0, 1], [1, 1]]).tolist()
    [1, 0]
    """
    _refuse_other_kinds(path)
    write_model(model, path, about, sign=sign)


def _refuse_other_kinds(path: str | Path) -> None:
    """A name that says what the file will not be."""
    suffix = Path(path).suffix.lower()
    if suffix in _OTHER_KINDS:
        raise DataError(
            f"save writes model files, and {Path(path).name!r} says another kind: name it "
            f"{Path(path).with_suffix('.safetensors').name!r}, or use {_OTHER_KINDS[suffix]}."
        )


def write_model(model: Any, path: str | Path, about: Mapping[str, Any] | None = None, *, sign: Any = None) -> None:
    """As :func:`save`, whatever the name of the file ends in."""
    packer = Packer(pack_object)
    node = packer.pack(model)
    content = {"format": FORMAT, "mercer": __version__, "about": dict(about or {}), "model": node}
    try:
        text = json.dumps(content, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ValueError(f"save: what is written about a model must be JSON: {error}.") from None
    try:
        _machine(node, packer.arrays)  # what cannot be read again is not written
    except _REFUSED as error:
        raise DataError(f"this {type(model).__name__} cannot be saved: {_reason(error)}.") from None
    more = {} if sign is None else signature_of(checksum(text, packer.arrays), sign)
    write_whole(path, file_of(text, packer.arrays, more))


def sign(path: str | Path, key: str | Path, max_bytes: int = MAX_BYTES) -> str:
    """Sign a model file that is there already; the name of the key. See :func:`save`."""
    content = _content(path, max_bytes)
    _opened(content, repr(Path(path).name))  # nobody signs what cannot be loaded
    more = signature_of(content.checksum, key)
    write_whole(path, file_of(content.text, content.arrays, more))
    return str(signer_told(more))


def load(path: str | Path, max_bytes: int = MAX_BYTES, *, verify: Keys | None = None) -> Any:
    """The fitted model in a file, which predicts exactly as it did when it was saved.

    Parameters
    ----------
    path : str or Path
    max_bytes : int, default=8·10⁹
        What loading may take in memory, whatever the file says of itself. It takes about twice the size of the file.
    verify : str, Path or list of them, optional
        Files of public keys. The model must be signed with one of them, else it is refused before a model is made of
        it. Without, the checksum alone is looked at: it tells damage, not forgery, as whoever changes a file on purpose
        computes it anew. Such a file can hold another model, but no code.

    Returns
    -------
    estimator

    Raises
    ------
    DataError
        Where the file is damaged, of another kind, written by a newer mercer, not signed as it should be, or holds
        what is no model: numbers that are not finite, shapes that do not fit together, places out of range.
    """
    return open_model(path, max_bytes, verify=verify).estimator


def open_model(path: str | Path, max_bytes: int = MAX_BYTES, *, verify: Keys | None = None) -> ModelFile:
    """As :func:`load`, with what was written about the model."""
    shown = repr(Path(path).name)
    content = _content(path, max_bytes)
    if verify is None:
        return _opened(content, shown)
    signer = verified(content.checksum, content.metadata, verify, shown)
    found = _opened(content, shown)
    return ModelFile(found.estimator, found.about, signer, verified=True, signature_fits=True)


def _content(path: str | Path, max_bytes: int) -> Content:
    shown = repr(Path(path).name)
    return content_of(raw_bytes(str(path), max_bytes, shown), shown, max_bytes)


def _opened(content: Content, shown: str) -> ModelFile:
    try:
        said = json.loads(content.text, parse_constant=_no_number, parse_int=whole_number)
        version = said["format"]
        if not isinstance(version, int) or version > FORMAT:
            raise DataError(f"{shown} was written by a newer mercer (file format {version!r}); update mercer.")
        if version < 1 or isinstance(version, bool):
            raise ValueError(f"there is no file format {version!r}")
        if not isinstance(said["about"], dict) or not isinstance(said["mercer"], str):
            raise ValueError("what it says about itself is no list of names and values")
        estimator = _machine(said["model"], content.arrays)
        about = {**said["about"], "mercer": said["mercer"]}
    except DataError:
        raise
    except _REFUSED as error:
        unknown = error if isinstance(error, (_UnknownObject, UnknownLoss)) else error.__context__
        if isinstance(unknown, (_UnknownObject, UnknownKernel, UnknownLoss)):
            raise DataError(
                f"{shown}: {str(unknown).partition(';')[0]}; import the module that defines it first, if it is yours "
                f"{guide('own parts')}."
            ) from None
        raise DataError(f"{shown} is not a whole mercer model: {_reason(error)}.") from None
    fits = signature_fits(content.checksum, content.metadata)
    return ModelFile(estimator, about, signer_told(content.metadata), signature_fits=fits)


def _machine(node: Any, arrays: dict[str, Any]) -> Any:
    unpacker = Unpacker(arrays, unpack_object)
    estimator = unpacker.unpack(node)
    last = estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator
    if not (hasattr(last, "predict") or isinstance(last, KernelMachine)):
        raise ValueError("it holds no machine")
    unpacker.refuse_unused()
    return estimator


def _no_number(word: str) -> None:
    raise ValueError(f"{word} is no number in JSON")


def _reason(error: BaseException) -> str:
    return str(error).splitlines()[0][:200].rstrip(".") if str(error) else type(error).__name__


# The part of the specification of model files that the code knows best: every kind of object, and its fields.
#
# python -m mercer.model_files.models        prints what docs/model-files.md has under "Objects"


def objects_in_words() -> str:
    """A Markdown list of every kind of object with its fields and what each must be.

    Examples
    --------
    >>> "- `coef`: finite numbers (scores × columns)" in objects_in_words().splitlines()
    True
    """
    names = [name for name in SAVED_TYPES if name in KNOWN]
    machines = [SAVED_TYPES[name].meanings for name in names]
    shared = {field: each for field, each in machines[0].items() if all(own.get(field) is each for own in machines)}
    parts = [_object(f"Every machine ({', '.join(names)})", shared)]
    for name, known in SAVED_TYPES.items():
        inherits = name in names
        own = {field: each for field, each in known.meanings.items() if not (inherits and field in shared)}
        parts.append(_object(name, own, "as every machine" if inherits else ""))
    return "\n".join(parts)


def _object(name: str, meanings: Mapping[str, Meaning], also: str = "") -> str:
    lines = [f"**{name}**{f' {also}' if also and not meanings else f' {also}, and' if also else ''}", ""]
    for name, meaning in meanings.items():
        lines.append(f"- `{name}`{'' if meaning.needed else ' (optional)'}: {meaning.words}")
    return "\n".join([*lines, ""] if meanings else lines)


if __name__ == "__main__":
    print(objects_in_words())
