"""What there is, a screen for each topic of ``mercer help``, as the registries say it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from .._validation.guide import PAGES

__all__ = ["TOPICS", "Topic", "with_underscores"]

#: What is said of one thing: how it is written, and what it is good for.
Entry = tuple[str, str]


class Group(NamedTuple):
    """Entries of one kind, and the idea whose page of the guide explains them."""

    title: str
    idea: str
    entries: list[Entry]

    @property
    def heading(self) -> str:
        """The title and the page."""
        return f"{self.title} (guide: {PAGES[self.idea]})"


class Topic(NamedTuple):
    """A screen of help: what it is about, a sentence before it, and its groups, made when somebody asks."""

    title: str
    first: str
    groups: Callable[[], Iterable[Group]]
    last: str = ""


def _call(name: str, maker: type) -> str:
    """A thing as it is written, with its parameters and what they are unless told otherwise."""
    written = [
        each.name if each.default is each.empty else f"{each.name}={_short(each.default)}"
        for each in inspect.signature(maker).parameters.values()
        if each.default is not None
    ]
    return f"{name}({', '.join(written)})" if written else name


def _short(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else repr(value)


def with_underscores(name: str) -> str:
    """The name of a class as it is read most easily in a text.

    Examples
    --------
    >>> with_underscores("WeisfeilerLehman")
    'weisfeiler_lehman'
    """
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def _first_sentence(thing: type) -> str:
    return (inspect.getdoc(thing) or "").partition("\n")[0].partition(". ")[0].rstrip(".")


#: What kernels compare, in words, and the idea behind it.
_COMPARED = {
    "rows": ("on rows of numbers", "kernels"),
    "strings": ("on strings", "structures"),
    "sets": ("on sets and multisets", "structures"),
    "graphs": ("on graphs", "structures"),
    "categories": ("on columns of categories", "structures"),
}


def _kernels() -> Iterable[Group]:
    from .. import kernels
    from ..kernels.registry import registered

    assert kernels.__all__  # importing them enters them
    groups: dict[str, list[Entry]] = {}
    for kernel in registered():
        made_of = "kernel" in inspect.signature(kernel).parameters or "kernels" in inspect.signature(kernel).parameters
        written = _call(with_underscores(kernel.__name__), kernel)
        if also := [name for name in kernel.__dict__.get("aliases", ()) if "_" not in name]:
            written += f", or {also[0]}"
        group = "made of kernels" if made_of else kernel.kind()
        groups.setdefault(group, []).append((written, kernel.good_for or _first_sentence(kernel)))
    for kind, (title, idea) in _COMPARED.items():
        yield Group(title, idea, groups.pop(kind, []))
    made = groups.pop("made of kernels", [])
    algebra = [
        ("k1 + k2, k1 * k2, 3 * k, k ** 2", "features side by side, of both at once, weighed, multiplied"),
        ("k.on(age, hours)", "some columns of a table, as they are: gaussian.on(age) * spectrum.on(name)"),
    ]
    yield Group("made of kernels", "good kernels", algebra + made)
    for kind, entries in groups.items():
        yield Group(f"on {kind}", "new kernel", entries)


def _losses() -> Iterable[Group]:
    from ..losses import MarginLoss, ResidualLoss
    from ..losses.base import KNOWN

    for title, kind in (
        ("of the margin m = y·f, for classes", MarginLoss),
        ("of the residual r = y − f", ResidualLoss),
    ):
        found = [loss for loss in KNOWN.values() if issubclass(loss, kind)]
        entries = [
            (_call(loss.name, loss), f"{_formula(loss)}; {loss.good_for}" if loss.good_for else _formula(loss))
            for loss in found
        ]
        yield Group(title, "losses", entries)


def _formula(loss: type) -> str:
    return re.split(r"[:.](?:\s|$)|, (?!−)(?=[a-z])", _first_sentence(loss).replace("``", ""))[0]


#: The ideas behind the estimators.
_IDEAS = {
    "Perceptron": "perceptron",
    "Pegasos": "pegasos",
    "SVC": "soft margin",
    "NuSVC": "soft margin",
    "SVR": "losses",
    "NuSVR": "losses",
    "KernelClassifier": "losses",
    "KernelRegressor": "losses",
    "KernelQuantiles": "probabilities",
    "OneClassSVM": "probabilities",
    "SVDD": "probabilities",
}
_LEARNED = {"classify": "of classes", "regress": "of numbers", "detect": "of what is usual, without labels"}


def _learners() -> Iterable[Group]:
    from ..learners import LEARNERS

    groups: dict[tuple[str, str], list[Entry]] = {}
    for learner in LEARNERS.values():
        if learner.degree > 1:
            continue
        squared = "[-2]" if f"{learner.name}-2" in LEARNERS else ""
        tuned = ", ".join(name.removeprefix("kernel__") for name in learner.grid)
        kind = _LEARNED[learner.task], _IDEAS.get(_class_name(learner), "choosing")
        written = f"{learner.name}{squared} ({tuned or 'nu'})"
        groups.setdefault(kind, []).append((written, learner.good_for or learner.title))
    for (title, idea), entries in groups.items():
        yield Group(title, idea, entries)


def _class_name(learner: object) -> str:
    """The name of the estimator, from the arguments that its maker is given."""
    return next(iter(getattr(getattr(learner, "make", None), "args", ())), "")


def _formats() -> Iterable[Group]:
    from ..io.formats import FORMATS

    groups: dict[str, list[Entry]] = {}
    for entry in FORMATS.values():
        needed = f"; pip install 'mercer[{entry.extra}]'" if entry.extra else ""
        groups.setdefault(entry.holds, []).append((f"{entry.name}: {' '.join(entry.suffixes)}", entry.title + needed))
    for holds, entries in groups.items():
        yield Group(holds, "files" if holds == "rows" else "structures", entries)


#: Every topic by its name.
TOPICS: dict[str, Topic] = {
    "kernels": Topic(
        "What \"similar\" means.",
        "A kernel is written as text: --kernel 'gaussian(gamma=0.5) + linear', SVC(\"spectrum(p=4)\"). Parameters not "
        "given are as below.",
        _kernels,
        "\"mercer kernel DATA --kernel TEXT\" says whether one is any good for your rows.",
    ),
    "losses": Topic(
        "What a mistake costs.",
        "KernelClassifier(loss=\"logistic\") and Pegasos take those of the margin, KernelRegressor(loss=\"huber\") "
        "those of the residual; on the command line --set loss=squared_hinge, or --set 'loss=Huber(delta=2)'.",
        _losses,
        "The other machines are known by their loss: an SVC has the hinge, an SVR the tube.",
    ),
    "learners": Topic(
        "What \"mercer train\", \"tune\" and \"compare\" take.",
        "In brackets what \"mercer tune\" searches; --set C=10 fixes it, --kernel \"gaussian(gamma=1)\" what is the "
        "kernel's. NAME-2 learns from products of two columns. Those "
        "with gamma take any --kernel, and with it rows, strings, sets or graphs.",
        _learners,
        "\"mercer compare DATA\" tries the usual ones and says which to take (guide: choosing).",
    ),
    "formats": Topic(
        "What DATA may be.",
        "By --format, or by the suffix; each as it is or packed (.gz, .bz2, .xz, .zip). Several files, a folder or "
        "\"pattern*.csv\" are one table; book.xlsx#March is a sheet.",
        _formats,
        "Also the address of a database (pip install 'mercer[sql]'), - for the standard input, and the built-in tables "
        "of \"mercer datasets\".",
    ),
}  # fmt: skip
