"""A fitted model as an ONNX model, computed in double precision by operators that every runtime has.

ONNX has operators of its own for support vector machines, but they compute in single precision: of scores of order one
they get 3e-6 to 1e-5 wrong, a thousand million times what double precision does, and they know four kernels alone. So
every model is written by primitive operators, and its labels are its own also where two classes are close.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from .. import __version__
from ..io import DataError
from .computation import Answer, Computation
from .literals import refuse_strange_labels
from .onnx_graph import DOUBLE, INTEGER, OPSETS, OnnxGraph, tensor

# Rows that a model refuses, in ONNX, which has no errors: they get no label and no number.


def unanswered(computation: Computation) -> Any:
    """What stands in the place of a label where there is none: no label of a class.

    Examples
    --------
    >>> from mercer import SVC
    >>> from mercer.exports.computed import computed
    >>> [unanswered(computed(SVC("linear").fit([[0.0], [1.0]], labels))) for labels in (["", "a"], [0, 1], [-1, 1])]
    ['?', -1, -9223372036854775808]
    """
    classes = computation.classes
    if computation.answer.kind == "outliers":
        return 0
    if computation.answer.kind == "labels" or not classes:
        return -1
    if isinstance(classes[0], str):
        return next(text for text in ("", "?", "no answer", "".join(classes)) if text not in classes)
    if isinstance(classes[0], float):
        return float("nan")
    return -1 if -1 not in classes else -(2**63)


def sound_rows(graph: OnnxGraph, computation: Computation) -> str:
    """The name of a column: whether all numbers of a row that go in are not infinite, and all that come out finite."""
    faults = [_any(graph, graph.add("IsInf", [name])) for name in _numbers_in(graph, computation)]
    for node in computation.outputs:
        name = graph.name(node)
        apart = graph.add("Sub", [name, name])  # NaN, unless the number is finite
        faults.append(_any(graph, graph.add("IsNaN", [apart])))
    count = graph.add("Sum", faults)
    return graph.add("Less", [count, graph.number(0.5)])


def _numbers_in(graph: OnnxGraph, computation: Computation) -> list[str]:
    """The tensors of numbers among the inputs."""
    pairs = zip(graph.columns, computation.columns, strict=True)
    return list(dict.fromkeys(name for (name, _), column in pairs if not column.words))


def _any(graph: OnnxGraph, flags: str) -> str:
    """How many of a row's flags are set."""
    return graph.summed(graph.add("Cast", [flags], to=DOUBLE))


#: The version of the file format that belongs to the operators in use.
_IR_VERSION = 8
_ABOUT = (
    "A missing word is the empty text, a missing number NaN. Of a row that the model refuses (an infinite number, a "
    "missing value that no step fills, a category that must not be new) all scores and probabilities are NaN, and the "
    "label is {!r}. A kernel machine is made of some of its training rows: share this file like the data."
)
_RESULTS = ("label", "probabilities", "scores", "variable")


def onnx_bytes(computation: Computation) -> bytes:
    """The ONNX model, as bytes.

    A model on numbers alone has one input "X" of doubles, a column for each in their order; one on columns of numbers
    and words has an input for each column, by its name. Results are "label", "probabilities" where the model has them,
    and "scores"; of numbers "variable". Of a row that the model refuses all numbers are NaN, and the label is empty, −1
    or another one that no class has.

    Examples
    --------
    >>> from mercer import SVC
    >>> from mercer.exports.computed import computed
    >>> data = onnx_bytes(computed(SVC("linear").fit([[0.0, 1.0], [1.0, 0.0]], ["no", "yes"])))
    >>> import onnx
    >>> [result.name for result in onnx.load_from_string(data).graph.output]
    ['label', 'scores']
    """
    try:
        import onnx
    except ImportError:
        raise DataError("ONNX models need the package onnx: pip install 'mercer[onnx]'.") from None
    refuse_strange_labels(computation.classes)
    graph = OnnxGraph()
    inputs = _inputs(computation, graph)
    outputs = []
    sound = sound_rows(graph, computation)
    if computation.answer.kind != "numbers":
        graph.rename(_label(computation, graph, sound), "label")
        outputs.append(_result("label", computation))
    if computation.probabilities is not None:
        graph.rename(graph.unless(sound, graph.name(computation.probabilities)), "probabilities")
        outputs.append(_numbers("probabilities", computation.probabilities.width))
    scores = "variable" if computation.answer.kind == "numbers" else "scores"
    graph.rename(graph.unless(sound, graph.name(computation.scores)), scores)
    outputs.append(_numbers(scores, computation.scores.width))
    made = onnx.helper.make_graph(graph.nodes, "mercer", inputs, outputs, graph.constants)
    model = onnx.helper.make_model(
        made,
        opset_imports=[onnx.helper.make_opsetid(domain, version) for domain, version in OPSETS.items()],
        ir_version=_IR_VERSION,
        producer_name="mercer",
        producer_version=__version__,
        doc_string=_ABOUT.format(unanswered(computation)),
    )
    about = {
        "model": computation.title,
        "columns": [column.name for column in computation.columns],
        "classes": computation.classes,
    }
    for key, value in about.items():
        model.metadata_props.add(key=key, value=value if isinstance(value, str) else json.dumps(value))
    onnx.checker.check_model(model)
    return model.SerializeToString()


def _inputs(computation: Computation, graph: OnnxGraph) -> list[Any]:
    from onnx import TensorProto, helper

    columns = computation.columns
    if not any(column.words for column in columns):
        graph.columns = [("X", place) for place in range(len(columns))]
        return [helper.make_tensor_value_info("X", TensorProto.DOUBLE, [None, len(columns)])]
    made = []
    for column in columns:
        name = f"input {column.name}" if column.name in _RESULTS or graph.owns(column.name) else column.name
        try:
            name.encode()
        except UnicodeEncodeError:
            raise DataError(f"the column {name!r} has letters that ONNX cannot write; rename it.") from None
        graph.columns.append((name, None))
        kind = TensorProto.STRING if column.words else TensorProto.DOUBLE
        made.append(helper.make_tensor_value_info(name, kind, [None, 1]))
    return made


def _label(computation: Computation, graph: OnnxGraph, sound: str) -> str:
    """The name of the answers."""
    answer, nothing = computation.answer, unanswered(computation)
    node = graph.name(answer.node)
    if answer.kind == "labels":
        present = graph.add("Cast", [graph.not_negative(node)], to=INTEGER)
        return graph.add("Where", [sound, present, graph.constant([[nothing]])])
    if answer.kind == "outliers":
        signs = graph.add("Where", [graph.not_negative(node), graph.constant([[1]]), graph.constant([[-1]])])
        return graph.flat(graph.add("Where", [sound, signs, graph.constant([[nothing]])]))
    labels = np.array([*map(_as_label, computation.classes), nothing])
    place = graph.add("Where", [graph.flat(sound), _place(answer, node, graph), graph.constant([len(labels) - 1])])
    return graph.add("Gather", [graph.constant(labels), place], axis=0)


def _place(answer: Answer, node: str, graph: OnnxGraph) -> str:
    """The numbers of the classes that are answered."""
    if answer.node.width > 1:
        return graph.add("ArgMax", [node], axis=1, keepdims=0)
    first, second = (graph.constant([place]) for place in answer.places)
    return graph.flat(graph.add("Where", [graph.not_negative(node), second, first]))


def _as_label(label: Any) -> Any:
    """Truth values are 0 and 1, so that there is room for neither."""
    return int(label) if isinstance(label, bool) else label


def _result(name: str, computation: Computation) -> Any:
    from onnx import TensorProto, helper

    if computation.answer.kind == "labels":
        return helper.make_tensor_value_info(name, TensorProto.INT64, [None, computation.answer.node.width])
    classes = [_as_label(label) for label in computation.classes]
    kind = tensor("", np.array(classes)).data_type if classes else TensorProto.INT64
    return helper.make_tensor_value_info(name, kind, [None])


def _numbers(name: str, width: int) -> Any:
    from onnx import TensorProto, helper

    return helper.make_tensor_value_info(name, TensorProto.DOUBLE, [None, width])
