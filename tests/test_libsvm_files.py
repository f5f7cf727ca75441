"""Models in LIBSVM's format: LIBSVM itself reads ours, and we read its own."""

import numpy as np
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import SVC, SVDD, SVR, Calibrated, KernelClassifier, NuSVC, NuSVR, OneClassSVM, export, load, save
from mercer.exports import read_libsvm, read_range
from mercer.io import DataError
from mercer.kernels import Gaussian

from .exported import by_libsvm

rng = np.random.default_rng(1)
X, NEW = rng.normal(size=(60, 3)), rng.normal(size=(50, 3))
TWO = np.where(X[:, 0] * X[:, 1] > 0, 1, -1)
FOUR = (X[:, 0] > 0).astype(int) + 2 * (X[:, 1] > 0)
NUMBERS = np.sin(X[:, 0]) + X[:, 1]


@pytest.mark.parametrize(
    ("estimator", "data"),
    [
        (
            SVC("rbf"),
            (
                X,
                FOUR,
            ),
        ),
        (
            SVC(None),
            (
                X,
                FOUR,
            ),
        ),
        (
            SVC("polynomial(degree=3, coef0=0.5)"),
            (
                X,
                TWO,
            ),
        ),
        (
            SVC("rbf", rank=20),
            (
                X,
                FOUR,
            ),
        ),
        (
            NuSVC("rbf", nu=0.15),
            (
                X,
                FOUR,
            ),
        ),
        (
            KernelClassifier("rbf"),
            (
                X,
                TWO,
            ),
        ),
        (
            SVR("rbf"),
            (
                X,
                NUMBERS,
            ),
        ),
        (
            NuSVR(None),
            (
                X,
                NUMBERS,
            ),
        ),
        (OneClassSVM("rbf", nu=0.2), (X,)),
        (SVDD("rbf", nu=0.2), (X,)),
    ],
    ids=lambda each: str(each) if hasattr(each, "fit") else "",
)
def test_libsvm_decides_as_the_model_does_and_so_does_what_is_read_back(estimator, data, tmp_path):
    model = clone(estimator).fit(*data)
    export(model, tmp_path / "m", to="libsvm")
    labels, values = by_libsvm(tmp_path / "m", NEW)
    back = read_libsvm(tmp_path / "m")
    if is_regressor(model):
        np.testing.assert_allclose(labels, model.predict(NEW), atol=1e-12)
        np.testing.assert_allclose(back.predict(NEW), model.predict(NEW), atol=1e-12)
        return
    pairs = model.pair_scores(NEW) if is_classifier(model) and len(model.classes_) > 2 else None
    signed = -model.decision_function(NEW)[:, None] if is_classifier(model) else model.decision_function(NEW)[:, None]
    np.testing.assert_allclose(values, signed if pairs is None else -pairs, atol=1e-12)
    np.testing.assert_allclose(back.decision_function(NEW), model.decision_function(NEW), atol=1e-12)
    if pairs is None:
        np.testing.assert_array_equal(labels, model.predict(NEW))
    else:
        assert np.mean(labels == model.predict(NEW)) > 0.9  # votes that tie aside


def test_a_precomputed_kernel_goes_both_ways(tmp_path):
    kernel = Gaussian(gamma=0.3)
    model = SVC("precomputed").fit(kernel(X), FOUR)
    export(model, tmp_path / "m", to="libsvm")
    _, values = by_libsvm(tmp_path / "m", kernel(NEW, X), precomputed=True)
    np.testing.assert_allclose(values, -model.pair_scores(kernel(NEW, X)), atol=1e-12)
    back = read_libsvm(tmp_path / "m", n_features=60)
    np.testing.assert_array_equal(back.predict(kernel(NEW, X)), model.predict(kernel(NEW, X)))


def test_rows_of_a_precomputed_kernel_begin_with_their_serial_number(mercer, tmp_path):
    kernel = Gaussian(gamma=0.3)
    model = SVC("precomputed").fit(kernel(X), TWO)
    export(model, tmp_path / "m", to="libsvm")
    lines = [" ".join([f"1 0:{row + 1}", *(f"{k}:{value!r}" for k, value in enumerate(values, 1))])
             for row, values in enumerate(kernel(NEW, X).tolist())]  # fmt: skip
    (tmp_path / "new.svm").write_text("\n".join(lines) + "\n")
    mercer(f"import m -o n.safetensors --features {len(X)}")
    found = mercer("run n.safetensors new.svm -o - --ignore-labels").stdout.splitlines()
    place = found[0].split(",").index("score")
    scores = [float(line.split(",")[place]) for line in found[1:]]
    np.testing.assert_allclose(scores, model.decision_function(kernel(NEW, X)), atol=1e-12)
    mercer("export n.safetensors --to libsvm -o again")
    assert (tmp_path / "again").read_text() == (tmp_path / "m").read_text()
    shown = mercer("inspect n.safetensors").stdout
    assert "None" not in shown
    assert "errors" not in shown


@pytest.mark.parametrize("svm", range(5))
@pytest.mark.parametrize("kernel", range(4))
def test_files_of_libsvm_are_read(svm, kernel, tmp_path):
    from libsvm.svmutil import svm_save_model, svm_train

    y = NUMBERS if svm > 1 else 7 - 3 * TWO  # labels in another order than sorted
    rows = [dict(enumerate(row.tolist(), 1)) for row in X]
    svm_save_model(str(tmp_path / "m"), svm_train(y.tolist(), rows, f"-s {svm} -t {kernel} -n 0.3 -g 0.3 -r 0.5 -q"))
    labels, values = by_libsvm(tmp_path / "m", NEW)
    model = read_libsvm(tmp_path / "m")
    save(model, tmp_path / "m.safetensors")
    for machine in (model, load(tmp_path / "m.safetensors")):
        np.testing.assert_allclose(machine.predict(NEW), labels, atol=1e-11)
        if svm < 3:
            np.testing.assert_allclose(np.abs(machine.decision_function(NEW)), np.abs(values[:, 0]), atol=1e-11)


def test_labels_that_are_no_whole_numbers_get_some_and_are_told(tmp_path):
    notes = export(SVC("rbf").fit(X, np.where(TWO > 0, "b", "a")), tmp_path / "m", to="libsvm")
    assert "0 is 'a', 1 is 'b'" in notes[0]
    assert read_libsvm(tmp_path / "m").classes_.tolist() == [0, 1]


def test_probabilities_by_sigmoids_go_along(tmp_path):
    from libsvm.svmutil import svm_load_model, svm_predict

    model = Calibrated(SVC("rbf"), cv=3).fit(X, TWO)
    export(model, tmp_path / "m", to="libsvm")
    rows = [dict(enumerate(row.tolist(), 1)) for row in NEW]
    labels, _, values = svm_predict([], rows, svm_load_model(str(tmp_path / "m")), "-b 1 -q")
    np.testing.assert_allclose(values, model.predict_proba(NEW), atol=1e-6)  # LIBSVM keeps off 0 and 1 by 1e-7
    np.testing.assert_array_equal(labels, model.predict(NEW))


def test_scaled_rows_have_a_file_for_svm_scale(tmp_path):
    model = make_pipeline(StandardScaler(), SVC("rbf")).fit(5 * X + 3, TWO)
    notes = export(model, tmp_path / "m", to="libsvm")
    assert any("svm-scale -r" in note for note in notes)
    back = make_pipeline(read_range(f"{tmp_path / 'm'}.range", 3), read_libsvm(tmp_path / "m"))
    rows = 5 * NEW + 3
    np.testing.assert_allclose(back.decision_function(rows), model.decision_function(rows), atol=1e-12)


def test_sparse_rows_of_many_features(tmp_path):
    from scipy import sparse

    rows = sparse.random_array((30, 200_000), density=1e-3, rng=np.random.default_rng(0), format="csr")
    model = SVC("linear").fit(rows, np.arange(30) % 2)
    kernel = SVC("gaussian(gamma=0.1)").fit(rows, np.arange(30) % 2)
    for each in (model, kernel):
        export(each, tmp_path / "m", to="libsvm")
        back = read_libsvm(tmp_path / "m", n_features=200_000)
        np.testing.assert_allclose(back.decision_function(rows), each.decision_function(rows), atol=1e-12)


WHOLE = """svm_type c_svc
kernel_type rbf
gamma 0.5
nr_class 2
total_sv 2
rho 0.25
label 1 -1
nr_sv 1 1
SV
1 1:0.5 2:1
-1 1:-0.5
"""


def test_the_format_by_hand(tmp_path):
    (tmp_path / "m").write_text(WHOLE)
    model = read_libsvm(tmp_path / "m")
    x = np.array([[0.5, 1.0]])
    decision = 1.0 - np.exp(-0.5 * 2) - 0.25  # positive for the first label, 1, which is the second of -1 and 1
    assert model.decision_function(x)[0] == pytest.approx(decision, abs=1e-15)
    assert model.predict(x).tolist() == [1]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("c_svc", "d_svc", "svm_type 'd_svc' is not known; c_svc, nu_svc"),
        ("rbf", "__import__", "kernel_type '__import__' is not known"),
        ("gamma 0.5", "gamma nan", "gamma is 'nan', which is no finite number"),
        ("gamma 0.5", "gamma 0.5\ngamma 1", "it says gamma twice"),
        ("gamma 0.5", "gamma -1", "gamma must be"),
        ("gamma 0.5\n", "", "gamma should have 1 values, it has 0"),
        ("nr_class 2", "nr_class 1000000", "nr_class is 1000000, which is not between"),
        ("total_sv 2", "total_sv 99999999999", "total_sv is 99999999999, which is not between"),
        ("total_sv 2", "total_sv 1", "it should have 1 rows, it has 2"),
        ("rho 0.25", "rho 1e999", "no finite number"),
        ("label 1 -1", "label 1 1", "do not fit together"),
        ("label 1 -1", "label 1 x", "a label is 'x', which is no whole number"),
        ("nr_sv 1 1", "nr_sv -1 3", "do not fit together"),
        ("SV\n", "", "there is no '1' in such files"),
        ("1 1:0.5 2:1", "", "row 1 has 0 coefficients, 1 are needed"),
        ("1:0.5 2:1", "2:1 1:0.5", "features are NUMBER:VALUE in increasing order"),
        ("1:0.5", "0:0.5", "features are counted from 1"),
        ("1:0.5", "1:inf", "feature 1 of row 1 is 'inf'"),
        ("1:0.5", "4294967296:1", "features are NUMBER:VALUE"),
        ("1:0.5", "1;0.5", "no whole number"),
    ],
)
def test_a_damaged_file_is_refused_in_a_sentence(old, new, said, tmp_path):
    (tmp_path / "m").write_text(WHOLE.replace(old, new, 1))
    with pytest.raises(DataError, match=said):
        read_libsvm(tmp_path / "m")


def test_a_feature_of_a_large_number_takes_no_memory(tmp_path):
    (tmp_path / "m").write_text(WHOLE.replace("2:1", "2147483646:1"))
    assert read_libsvm(tmp_path / "m").n_features_in_ == 2**31 - 2


@pytest.mark.parametrize(
    "text", ["", "y\n0 1\n", "x\n-1 1\n9 0 1\n", "x\n-1 1\n1 0 0\n", "x\n1 -1\n", "x\n-1 1\n1 nan 2\n"]
)
def test_a_bad_range_is_refused_in_a_sentence(text, tmp_path):
    (tmp_path / "range").write_text(text)
    with pytest.raises(DataError, match="is no file of svm-scale"):
        read_range(tmp_path / "range", 3)
