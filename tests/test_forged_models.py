"""Model files that somebody made on purpose, with a right checksum: a sentence, or a model that answers in numbers."""

import json
import time
import tracemalloc
import warnings

import numpy as np
import pytest

from benchmarks.fault_trials._forgery import TEXTS, forged, parts_of, sealed
from mercer import load, save
from mercer.io import DataError
from mercer.model_files import SAVED_TYPES
from tests.golden_models import GOLDEN, HOME, QUESTIONS, X, rows_of_json


def changed(name, change):
    """The golden file of a name, after a change of its JSON value and arrays."""
    content, arrays = parts_of((HOME / f"{name}.safetensors").read_bytes())
    change(content, arrays)
    return sealed(content, arrays)


def objects(content, kind):
    """The fields of all objects of a kind."""
    waiting, found = [content["model"]], []
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict) and node.get("object") == kind:
            found.append(node["fields"])
        waiting += list(node.values()) if isinstance(node, dict) else node if isinstance(node, list) else []
    return found


def put(kind, path, value):
    """A change that puts another value, or another array, into a field of the first object of a kind."""

    def change(content, arrays):
        here = objects(content, kind)[0]
        *way, last = path.split(".")
        for key in way:
            here = here[key] if key in here else dict_of(here)[key]
        pairs = here.get("pairs") if isinstance(here, dict) else None
        if callable(value):
            node = here[last] if pairs is None else dict(map(tuple, pairs))[last]
            arrays[node["array"]] = np.asarray(value(arrays[node["array"]]))
        elif pairs is None:
            here[last] = value
        else:
            here["pairs"] = [[key, value if key == last else old] for key, old in pairs]

    return change


def dict_of(node):
    return dict(map(tuple, node["pairs"]))


def first(value):
    def change(array):
        array = array.copy()
        array.flat[0] = value
        return array

    return change


def nested(depth):
    def change(content, arrays):
        for _ in range(depth):
            content["model"] = {"object": "Pipeline", "fields": {"steps": [["a", content["model"]]]}}

    return change


def twice(content, arrays):
    fields = objects(content, "KernelModel")[0]
    fields["coef"] = fields["items"]


@pytest.mark.parametrize(
    ("name", "change", "sentence"),
    [
        ("svc", put("KernelModel", "coef", first(np.nan)), "coef of KernelModel must be finite numbers"),
        ("svc", put("KernelModel", "items", first(np.inf)), "items of KernelModel must be"),
        ("svc", put("KernelModel", "coef", lambda a: a.astype(np.float16)), "coef of KernelModel must be finite"),
        ("svc", put("KernelModel", "support", lambda a: -a), "support of KernelModel must be whole numbers"),
        ("svc-sparse", lambda c, a: objects(c, "KernelModel")[0]["items"].update(shape=[20, 2**60]), "sparse rows"),
        ("svc", put("SVC", "attributes.classes_", "yes"), "classes_ of SVC must be different labels"),
        ("svc", put("SVC", "attributes.classes_", {"words": ["a", "a"], "fixed": True}), "must be different labels"),
        ("svc", put("SVC", "attributes.classes_", {"labels": [[1], [2]]}), "must be different labels"),
        ("svc", put("SVC", "attributes.intercept_", lambda a: a + 1), "intercept_ is not that of its model"),
        ("svc", put("SVC", "parameters.C", -1.0), "C must be a number greater than 0"),
        ("svc", put("SVC", "parameters.memory", "much"), "memory"),
        ("svc", put("KernelModel", "kernel", {"kernel": "gaussian"}), "lacks a parameter that the training rows"),
        ("svc", put("KernelModel", "kernel", {"kernel": "linear.on(7)"}), "not a whole mercer model"),
        ("graphs", put("KernelModel", "kernel", {"kernel": "weisfeilerlehman(h=1000000000)"}), "of at most 100"),
        ("svc", put("KernelModel", "kernel", {"kernel": "polynomial(degree=1000000000)"}), "of at most 1000"),
        ("strings", put("KernelModel", "kernel", {"kernel": "spectrum(p=(1, 1000000))"}), "take at most 100 of them"),
        ("svc", nested(14), "nested too deeply"),
        ("svc", nested(6), "more than 6 estimators inside each other"),
        ("svc", twice, "missing, or is used twice"),
        ("svc", lambda c, a: a.update(more=np.ones(3)), "arrays that belong to nothing"),
        ("svc", lambda c, a: c.update(about=[1]), "what it says about itself"),
        ("svc", lambda c, a: c.update(format=True), "no file format True"),
        ("numbers", put("PolynomialFeatures", "parameters.degree", 10**9), "more than 262,144 columns"),
        ("numbers", put("PolynomialFeatures", "width", 10**6), "more than 262,144 columns"),
        ("numbers", put("CorrelationFilter", "attributes.kept_", lambda a: a + 5), "less than columns"),
        ("numbers", put("StandardScaler", "attributes.scale_", lambda a: a * 0), "scale_ of StandardScaler"),
        ("numbers", put("OutlierFilter", "parameters.rule", "none"), "rule must be"),
        ("table", put("Texts", "attributes.keys_", []), "keys are not those of texts"),
        ("table", put("DateParts", "attributes.parts_", [["century"]]), "parts_ of DateParts"),
        ("table", put("OneHotEncoder", "categories", [{"words": []}]), "without categories"),
        ("table", lambda c, a: objects(c, "ColumnTransformer")[0]["parts"][0].__setitem__(2, ["x"]), "do not fit the"),
        ("filled", put("Filled", "attributes.medians_", lambda a: a * np.nan), "medians do not fit"),
        ("threshold", put("TunedThreshold", "best_threshold", {"number": "nan"}), "best_threshold of TunedThreshold"),
        ("threshold", put("TunedThreshold", "parameters.scoring", "os.system"), "scoring"),
        ("calibrated-isotonic", put("_IsotonicMap", "values", lambda a: a + 1), "values of _IsotonicMap"),
        ("calibrated-venn", put("_VennAbersMap", "values", lambda a: a[:, ::-1].copy()), "intervals do not fit"),
        ("calibrated-sigmoid", put("_SigmoidMap", "slope", {"number": "inf"}), "slope of _SigmoidMap"),
        ("perceptron-voted", put("_Voter", "column", lambda a: a + 10**6), "votes do not fit"),
        ("conformal", put("Conformal", "owner", lambda a: a + 1), "errors do not fit its machines"),
        ("conformal", put("Conformal", "errors", first(np.nan)), "errors of Conformal"),
        ("pegasos", put("Pegasos", "progress", [1, 2]), "progress of Pegasos"),
        ("svdd", put("SVDD", "attributes.centre_square_", {"number": "nan"}), "centre_square_ of SVDD"),
    ],
)  # fmt: skip
def test_what_is_no_model_is_refused_in_one_sentence(tmp_path, name, change, sentence):
    path = tmp_path / "m.safetensors"
    path.write_bytes(changed(name, change))
    with pytest.raises(DataError, match=sentence) as caught:
        load(path)
    assert "\n" not in str(caught.value)


def asked(path, rows):
    """All answers of a file; ``ValueError`` is a sentence, anything else is a failure."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = load(path, 10**8)
            return [np.asarray(getattr(model, each)(rows)) for each in QUESTIONS if hasattr(model, each)]
        except ValueError:
            return []


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(6))
def test_forged_files_end_in_a_sentence_or_in_numbers(tmp_path, seed):
    random, path = np.random.default_rng(seed), tmp_path / "m.safetensors"
    for name in sorted(GOLDEN)[seed::6]:
        stored = json.loads((HOME / f"{name}.json").read_text())
        for _ in range(6):
            path.write_bytes(forged((HOME / f"{name}.safetensors").read_bytes(), random, sorted(SAVED_TYPES)))
            for answer in asked(path, rows_of_json(name, stored["rows"])):
                assert answer.dtype.kind not in "fc" or np.isfinite(answer).all(), name


@pytest.mark.thorough
def test_kernels_that_would_take_for_ever_do_not(tmp_path):
    path, began = tmp_path / "m.safetensors", time.perf_counter()
    for text in TEXTS:
        path.write_bytes(changed("svc", put("KernelModel", "kernel", {"kernel": text})))
        asked(path, X)
    assert time.perf_counter() - began < 60


def test_few_long_words_are_not_many_bytes(tmp_path):
    words = {"words": ["x" * 100_000, *map(str, range(10_000))], "fixed": True}
    path = tmp_path / "m.safetensors"
    path.write_bytes(changed("svc", put("SVC", "attributes.classes_", words)))
    tracemalloc.start()
    with pytest.raises(DataError, match="all as wide as the longest, would take more than 268,435,456 bytes"):
        load(path)
    assert tracemalloc.get_traced_memory()[1] < 10**7
    tracemalloc.stop()


def test_what_loading_takes_is_known_before(tmp_path):
    path = tmp_path / "m.safetensors"
    path.write_bytes(changed("svc", lambda c, a: c.update(about={"lists": [[]] * 10**6})))
    tracemalloc.start()
    with pytest.raises(DataError, match=r"may take .* bytes to load; max_bytes allows 50,000,000: allow more"):
        load(path, 50 * 10**6)
    assert tracemalloc.get_traced_memory()[1] < 2 * path.stat().st_size + 10**6
    tracemalloc.stop()


def test_frequencies_are_not_counted_out(tmp_path):
    path = tmp_path / "m.safetensors"
    path.write_bytes(changed("table", put("OneHotEncoder", "parameters.min_frequency", 10**15)))
    rows = rows_of_json("table", json.loads((HOME / "table.json").read_text())["rows"])
    whole = load(HOME / "table.safetensors")
    np.testing.assert_array_equal(load(path).predict(rows), whole.predict(rows))


def test_keys_that_all_want_one_place_are_refused(tmp_path):
    def change(content, arrays):
        pairs = dict(map(tuple, objects(content, "Texts")[0]["attributes"]["pairs"]))
        for name, made in (
            ("keys_", lambda n: np.arange(n, dtype=np.uint64) << np.uint64(40)),
            ("importance_", np.ones),
        ):
            arrays[pairs[name][0]["array"]] = made(1000)
        pairs["terms_"][0]["words"] = [str(k) for k in range(1000)]

    path = tmp_path / "m.safetensors"
    path.write_bytes(changed("table", change))
    with pytest.raises(DataError, match="keys are not those of texts"):
        load(path)


def test_what_cannot_be_read_again_is_not_written(tmp_path):
    model = load(HOME / "svc.safetensors")
    model.set_params(C=-1)
    with pytest.raises(DataError, match="this SVC cannot be saved: SVC: C must be a number greater than 0"):
        save(model, tmp_path / "m")
    model.set_params(C=1).note_ = "mine"
    save(model, tmp_path / "m")
    assert not hasattr(load(tmp_path / "m"), "note_")
