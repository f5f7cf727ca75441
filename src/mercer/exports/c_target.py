"""A fitted model as one file of C99 without dependencies."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .. import __version__
from .c_body import CBody
from .c_parts import C_PARTS
from .computation import Computation
from .escaping import c_comment, c_string, refuse_strange_labels

__all__ = ["c_text"]

_HEAD = """\
/* A fitted model in C99 without dependencies, written by mercer {version}: {title}.

   Compile it with your program and the mathematical library: cc -std=c99 -O2 program.c model.c -lm. Declare what you
   call as it stands at the end of this file. Two models in one program: -Dmercer_predict=other_predict, and so on.

{columns}
{answers}
   A missing number is NAN{missing_word}. What the model refuses (an infinite number, a gap that no step
   fills, a word that must not be new) has no answer: functions return -1, or 0 where 1 and -1 are answers.
   Functions keep no state, so several threads may call them at once.

   A kernel machine is made of some of its training rows: share this file as you would share the data. */

#include <float.h>
#include <math.h>
{string}
"""

_FINITE = """\
static int mercer_finite(const double *values, int count)
{
    int k;
    for (k = 0; k < count; k++)
        if (!isfinite(values[k]))
            return 0;
    return 1;
}
"""

_INFINITE = """\
static int mercer_infinite(const double *numbers)
{{
    int k;
    (void) numbers;
    for (k = 0; k < {count}; k++)
        if (isinf(numbers[k]))
            return 1;
    return 0;
}}
"""

_SCORES = """\
/* {what}: writes {width} numbers; returns 0, or -1 where one of them is not finite. */
int mercer_{name}({row}, double *{name})
{{
    double out[3][{room}];
    int k;
    if (mercer_infinite(numbers))
        return -1;
    mercer_computed({values}, out[0], out[1], out[2]);
    for (k = 0; k < {width}; k++)
        {name}[k] = out[{place}][k];
    return mercer_finite({name}, {width}) ? 0 : -1;
}}
"""

_PREDICT = """\
/* {what} */
int mercer_predict({row}{result})
{{
    double out[3][{room}];
    int k{more};
    if (mercer_infinite(numbers))
        return {nothing};
    mercer_computed({values}, out[0], out[1], out[2]);
    if (!mercer_finite(out[2], {width}))
        return {nothing};
{answer}
}}
"""

_ANSWERS = {
    "sign": "    k = out[2][0] >= 0 ? {1} : {0};\n    return k;",
    "largest": "    for (k = 1; k < {width}; k++)\n        best = out[2][k] > out[2][best] ? k : best;\n"
    "    return best;",
    "usual": "    k = out[2][0] >= 0 ? 1 : -1;\n    return k;",
    "labels": "    for (k = 0; k < {width}; k++)\n        labels[k] = out[2][k] >= 0;\n    return 0;",
    "numbers": "    for (k = 0; k < {width}; k++)\n        values[k] = out[2][k];\n    return 0;",
}
_SAID = {
    "class": "The number of the class, whose label is mercer_labels[number]; -1 where a score is not finite.",
    "usual": "1 for what is usual, -1 for what is not; 0 where the score is not finite.",
    "labels": "Writes 1 for each label that the row has, else 0; returns 0, or -1 where a score is not finite.",
    "numbers": "Writes the predicted numbers; returns 0, or -1 where one is not finite.",
}


def c_text(computation: Computation) -> str:
    """The C file of a model.

    Examples
    --------
    >>> from mercer import SVC
    >>> from mercer.exports.computed import computed
    >>> text = c_text(computed(SVC("linear").fit([[0.0, 1.0], [1.0, 0.0]], ["no", "yes"])))
    >>> "int mercer_predict(const double *numbers)" in text
    True
    """
    refuse_strange_labels(computation.classes)
    body = CBody(computation.columns)
    for place, node in enumerate((computation.scores, computation.probabilities, computation.answer.node)):
        if node is not None:
            body.write(node, ("scores", "probabilities", "answer")[place])
    lines = "\n".join(body.lines)
    words = [column for column in computation.columns if column.words]
    row = "const double *numbers" + (", const char *const *words" if words else "")
    pieces = [
        _head(computation),
        *(text for name, text in C_PARTS.items() if f"{name}(" in lines or _calls(name, lines)),
        "\n".join(body.constants),
        f"static void mercer_computed({row}, double *scores, double *probabilities, double *answer)\n{{\n{lines}\n}}\n",
        _FINITE,
        _INFINITE.format(count=sum(not column.words for column in computation.columns)),
        *_labels(computation),
        *_functions(computation, row, "numbers, words" if words else "numbers"),
    ]
    return "\n".join(pieces)


def _calls(name: str, lines: str) -> bool:
    """Whether a part is called by another one that is."""
    return name == "mercer_to_one" and "mercer_coupled(" in lines


def _head(computation: Computation) -> str:
    words = any(column.words for column in computation.columns)
    listed = []
    for kind, title in ((False, "numbers"), (True, "words")):
        own = [column.name for column in computation.columns if column.words is kind]
        listed += [f"   {title}[{place}]  {c_comment(name)}" for place, name in enumerate(own)]
    answers = [f"   class {place}  {c_comment(str(label))}" for place, label in enumerate(computation.classes)]
    return _HEAD.format(
        version=__version__,
        title=c_comment(computation.title),
        columns="   A row is these columns:\n" + "\n".join(listed) + "\n",
        answers="\n".join([*answers, ""]) if answers else "",
        missing_word="; a missing word is NULL, not an empty text. Words are in UTF-8, without spaces around them"
        if words
        else "",
        string="#include <string.h>\n" if words else "",
    )


def _labels(computation: Computation) -> Iterable[str]:
    if computation.classes:
        texts = ",\n    ".join(c_string(str(label)) for label in computation.classes)
        yield f"/* The labels of the classes. */\nconst char *const mercer_labels[] = {{\n    {texts}\n}};\n"


def _functions(computation: Computation, row: str, values: str) -> Iterable[str]:
    answer = computation.answer
    room = max(node.width for node in computation.outputs)
    common: dict[str, Any] = {"row": row, "values": values, "room": room}
    yield _SCORES.format(
        what="Decision values, or predicted numbers", name="scores", width=computation.scores.width, place=0, **common
    )
    if computation.probabilities is not None:
        width = computation.probabilities.width
        yield _SCORES.format(what="The probability of each class", name="probabilities", width=width, place=1, **common)
    kind = answer.kind
    if kind == "class":
        kind = "sign" if answer.node.width == 1 else "largest"
    yield _PREDICT.format(
        what=_SAID[answer.kind],
        result={"labels": ", int *labels", "numbers": ", double *values"}.get(kind, ""),
        more=", best = 0" if kind == "largest" else "",
        nothing=0 if kind == "usual" else -1,
        width=answer.node.width,
        answer=_ANSWERS[kind].format(*answer.places, width=answer.node.width),
        **common,
    )
