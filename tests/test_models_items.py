"""Model files of machines on strings, sets, graphs and mixed tables."""

import json
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import load as load_arrays
from safetensors.numpy import save as save_arrays

from mercer import SVC, KernelClassifier, Perceptron, load, save
from mercer.io import DataError
from mercer.kernels import Bags, Diffusion, Graphs, Polynomial, Strings, full_text, parse
from mercer.margins import width
from mercer.model_files import Packer, Unpacker
from mercer.model_files import checksum as _checksum

from . import cases

TEXTS = ["GATTACA", "", "naïve 🙂", "GATTA", "CATCAT", "TACTAC", "\ud800lone", "CAT"]
SETS = [{"milk", 3}, set(), Counter(egg=2), [("a", 1), "milk"], {b"\xff"}, {frozenset({"x", "y"})}, {2.5}, {"egg"}]
GRAPHS = [
    (3, [[0, 1], [1, 2]], ["C", "O", "C"], [1, 2]), (1, [], ["N"]), (0, []), (2, [[0, 1]], ["C", "C"], [1]),
    (3, [[0, 1], [1, 2], [2, 0]], ["C", "C", "C"], [1, 1, 1]), (2, [], ["O", "O"]), (2, [[0, 1]], ["N", "O"], [2]),
    (4, [[0, 3]], ["C", "O", "N", "C"], [2]),
]  # fmt: skip
BARE = [(size, [[0, 1]] if size > 1 else []) for size in range(8)]
MIXED = pd.DataFrame(
    {
        "age": np.arange(8.0),
        "text": [*TEXTS[:6], "TAG", "CAT"],
        "job": pd.Categorical(list("abcabcab")),
        "size": [1, 2] * 4,
    }
)
Y = np.array(["yes", "no"] * 4)

CASES = [
    ("spectrum(p=2)", TEXTS),
    ("normalised(spectrum(p=(1, 3), tokens='bytes'))", TEXTS[:6] * 2),
    ("subsequence(k=2)", TEXTS),
    ("minmax", SETS),
    ("subsets(normalised=True) + jaccard", SETS),
    ("tanimoto", np.array([[1, 0, 2], [0, 0, 0], [0, 3, 1], [1, 1, 1]] * 2)),
    ("weisfeiler_lehman(h=2)", GRAPHS),
    ("weisfeilerlehmanassignment", GRAPHS),
    ("normalised(shortestpath)", BARE),
    ("graphlet(size=3)", BARE),
    ("gaussian(gamma=.1).on('age','size')*spectrum(2).on('text')+equal().on('job')", MIXED),
    ("hamming.on(job, text)", MIXED),
    ("2*spectrum(p=1).on(text)", MIXED),
]


@pytest.mark.parametrize(("kernel", "items"), CASES, ids=[kernel for kernel, _ in CASES])
@pytest.mark.parametrize("machine", [SVC(C=3), Perceptron(epochs=3, variant="voted", random_state=0)], ids=["svc", "p"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_what_is_loaded_decides_exactly_as_what_was_saved(tmp_path, kernel, items, machine):
    labels = np.resize(Y, len(items))
    model = machine.set_params(kernel=kernel).fit(items, labels)
    save(model, tmp_path / "m")
    again = load(tmp_path / "m")
    assert str(again.kernel_) == str(model.kernel_)
    assert again.classes_.tolist() == model.classes_.tolist()
    np.testing.assert_array_equal(again.decision_function(items), model.decision_function(items))
    np.testing.assert_array_equal(again.predict(items[:3]), model.predict(items[:3]))


def test_only_support_items_are_in_the_file(tmp_path):
    far = "A" * 30  # well beyond the margin
    model = SVC("spectrum(p=1)", C=10).fit([far, "A", "B", "BA"], ["a", "a", "b", "b"])
    assert 0 not in model.support_
    save(model, tmp_path / "m")
    assert far.encode() not in (tmp_path / "m").read_bytes()
    assert list(load(tmp_path / "m").support_vectors_) == list(model.support_vectors_)
    assert float(width(model=load(tmp_path / "m"))) == float(width(model=model))


def packed(items):
    packer = Packer(lambda packer, value: {})
    node = json.loads(json.dumps(packer.pack(items)))
    return Unpacker(packer.arrays, lambda unpacker, node: None).unpack(node)


def graphs():
    def of(size):
        pairs = st.lists(st.tuples(*[st.integers(0, max(0, size - 1))] * 2), max_size=6 if size else 0)
        return pairs.map(lambda edges: (size, [list(edge) for edge in edges], ["x", ("y", 2)] * size)[: 2 + (size > 0)])

    return st.lists(
        st.integers(0, 5).flatmap(of).map(lambda g: (*g[:2], g[2][: g[0]]) if len(g) > 2 else g), max_size=5
    )


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(max_size=6), max_size=6), st.lists(st.sets(st.text() | st.integers()), max_size=6), graphs())
def test_collections_go_and_come_back(texts, sets, drawn):
    assert list(packed(Strings.of(texts))) == texts
    assert list(packed(Bags.of(sets))) == [Counter(one) for one in sets]
    known = Graphs.of(drawn)
    back = packed(known)
    assert list(back) == list(known)
    for name in ("node_starts", "starts", "neighbours", "node_labels", "edge_labels"):
        np.testing.assert_array_equal(getattr(back, name), getattr(known, name))


def hostile(path, change):
    """The same file with its parts changed, and a checksum that is right again."""
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    content = json.loads(json.loads(data[8 : 8 + length])["__metadata__"]["mercer"])
    arrays = dict(load_arrays(data))
    change(content["model"]["fields"]["model"]["fields"]["items"], arrays)
    text = json.dumps(content)
    path.write_bytes(save_arrays(arrays, metadata={"mercer": text, "sha256": _checksum(text, arrays)}))


def put(kind, place, value):
    def change(items, arrays):
        name = items[kind][place]["array"]
        arrays[name] = value(arrays[name])

    return change


def first(value):
    def change(array):
        array = array.copy()
        array.flat[0] = value
        return array

    return change


@pytest.mark.parametrize(
    ("kernel", "given", "change", "hint"),
    [
        ("spectrum", TEXTS, put("strings", 1, first(5)), "strings do not fit together"),
        ("spectrum", TEXTS, put("strings", 1, lambda a: a[::-1].copy()), "strings do not fit together"),
        ("spectrum", TEXTS, put("strings", 0, first(255)), "no text in UTF-8"),
        ("spectrum", TEXTS, put("strings", 0, lambda a: a.astype(np.float64)), "no bytes"),
        ("minmax", SETS, put("sets", 1, first(10**9)), "items of sets are out of range"),
        ("minmax", SETS, put("sets", 1, first(-1)), "items of sets are out of range"),
        ("minmax", SETS, put("sets", 2, first(np.nan)), "counts of items do not fit"),
        ("minmax", SETS, put("sets", 0, lambda a: a[:-1].copy()), "sets do not fit together"),
        ("minmax", SETS, lambda items, arrays: items.update(names=[["list"]] * 20), "not a whole mercer model"),
        ("shortestpath", GRAPHS, put("graphs", 1, first(10**12)), "edges are out of range"),
        ("shortestpath", GRAPHS, put("graphs", 1, first(9)), "edges join different graphs"),
        ("shortestpath", GRAPHS, put("graphs", 0, first(1)), "graphs do not fit together"),
        ("shortestpath", GRAPHS, put("graphs", 2, first(99)), "labels are out of range"),
        ("shortestpath", GRAPHS, put("graphs", 3, lambda a: a[:-1].copy()), "edge labels do not fit"),
        ("equal.on(job)", MIXED, lambda items, arrays: items["parts"].pop(), "not a whole mercer model"),
        ("equal.on(job)", MIXED, lambda items, arrays: items["parts"][0].update(levels=[["a"]]), "out of range"),
        ("spectrum", TEXTS, lambda items, arrays: items.update(kernel=items.pop("strings")), "unknown part"),
    ],
)
def test_hostile_items_are_refused_in_one_sentence(tmp_path, kernel, given, change, hint):
    path = tmp_path / "m"
    save(KernelClassifier(kernel, tol=1e-2).fit(given, Y), path)
    hostile(path, change)
    with pytest.raises(DataError, match=hint) as caught:
        load(path)
    assert "\n" not in str(caught.value)


def test_items_of_another_kind_than_the_kernel_compares_are_refused(tmp_path):
    save(SVC("spectrum").fit(TEXTS, Y), tmp_path / "a")

    def swap(items, arrays):
        arrays["x"], arrays["y"] = np.array([0, 1]), np.array([0])
        arrays["z"] = np.ones(1)
        items.clear()
        items.update({"sets": [{"array": "x"}, {"array": "y"}, {"array": "z"}], "names": ["milk"]})

    hostile(tmp_path / "a", swap)
    with pytest.raises(DataError, match="not a whole mercer model"):
        load(tmp_path / "a")


def test_a_damaged_file_is_told_from_a_whole_one(tmp_path):
    path = tmp_path / "m"
    save(SVC("weisfeilerlehman").fit(GRAPHS, Y), path)
    whole = path.read_bytes()
    for place in np.random.default_rng(0).integers(0, len(whole), 60):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        with pytest.raises(DataError):
            load(path)


def test_sets_in_whichever_order_are_the_same_file(tmp_path):
    files = []
    for turn in (1, -1):
        numbers = frozenset([0, 8, 16][::turn])  # which a set tells in the order that they came in
        items = [["milk", "egg", 3][::turn], ["egg", numbers, "oil"][::turn], ["salt"], ["milk", "oil"][::turn]]
        save(SVC("minmax", C=10).fit(items, [0, 1, 0, 1]), tmp_path / "m")
        files.append((tmp_path / "m").read_bytes())
    assert files[0] == files[1]


@pytest.mark.parametrize("kernel", [*cases.KERNELS, *(kernel for kernel, _ in cases.STRUCTURED)], ids=str)
def test_files_tell_every_parameter_of_a_kernel(kernel):
    text = full_text(kernel)
    if "<" not in text and not isinstance(kernel, Diffusion):  # which has no name in texts
        assert full_text(parse(text)) == text
        assert str(parse(text)) == str(kernel)


def test_a_changed_default_leaves_old_models_as_they_are(tmp_path, monkeypatch):
    model = SVC("polynomial", C=3).fit(X := np.arange(8.0).reshape(4, 2), [0, 1, 1, 0])
    decided = model.decision_function(X)
    save(model, tmp_path / "m")
    monkeypatch.setattr(Polynomial.__init__, "__defaults__", (7, 5.0, 5.0)[: len(Polynomial.__init__.__defaults__)])
    np.testing.assert_array_equal(load(tmp_path / "m").decision_function(X), decided)
