"""Exported models in their places, for tests: C by a compiler, ONNX by onnxruntime, LIBSVM by itself."""

import ctypes
import subprocess

import numpy as np


def compiled(path):
    """A shared library of a C file, in which every warning is an error."""
    library = path.with_suffix(".so")
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O0", "-shared", "-fPIC"]
    done = subprocess.run(["gcc", *flags, str(path), "-o", str(library), "-lm"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return ctypes.CDLL(str(library))


def scores_of_c(library, rows, width, words=None, function="mercer_scores"):
    out = (ctypes.c_double * width)()
    found = []
    for place, row in enumerate(np.asarray(rows, dtype=float)):
        arguments = [(ctypes.c_double * max(1, len(row)))(*row)]
        if words is not None:
            own = [None if word is None else word.encode() for word in words[place]]
            arguments.append((ctypes.c_char_p * len(own))(*own))
        assert getattr(library, function)(*arguments, out) == 0
        found.append(list(out))
    return np.array(found)


def by_onnx(path, feed):
    import onnxruntime

    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    names = [each.name for each in session.get_outputs()]
    return dict(zip(names, session.run(None, feed), strict=True))


def by_libsvm(path, rows, precomputed=False):
    """Labels and decision values; not by svmutil, whose buffer is too small for pairs of nu_svc."""
    from libsvm.svmutil import svm_load_model

    return answers_of_libsvm(svm_load_model(str(path)), rows, precomputed)


def answers_of_libsvm(model, rows, precomputed=False):
    """Labels and decision values of a model that LIBSVM has in memory."""
    from libsvm.svm import gen_svm_nodearray, libsvm

    classes = model.get_nr_class()
    width = classes * (classes - 1) // 2 if model.get_svm_type() < 2 else 1
    out, labels, values = (ctypes.c_double * width)(), [], []
    for row in np.asarray(rows, dtype=float):
        numbers = {**({0: 1} if precomputed else {}), **dict(enumerate(row.tolist(), 1))}
        nodes, _ = gen_svm_nodearray(numbers, isKernel=precomputed)
        labels.append(libsvm.svm_predict_values(model, nodes, out))
        values.append(list(out))
    return np.array(labels), np.array(values)
