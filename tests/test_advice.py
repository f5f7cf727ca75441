"""Advice of a search: only what can be followed, and only where it may help."""

import numpy as np
import pytest
from sklearn.datasets import make_moons

from mercer import SVC, NuSVC, Pegasos
from mercer.displays import SearchCurve
from mercer.kernels import Spectrum
from mercer.search import KernelSearchCV, beyond, is_simpler, largest_nu, simplest_of

X, y = make_moons(120, noise=0.25, random_state=0)
APART = np.r_[X, X + 9], np.repeat([0, 1], len(X))


def said(search):
    return {one.kind: one.message for one in search.advice_}


def searched(machine, grid, data=(X, y)):
    return KernelSearchCV(machine, grid, cv=3, return_train_score=True).fit(*data)


@pytest.mark.parametrize(
    ("name", "edge", "beside", "further"),
    [
        ("degree", 2, 3, 1),
        ("degree", 3, 2, 4),
        ("degree", 3, 4, 2),
        ("degree", 1, 2, None),
        ("epochs", 100, 10, 1000),
        ("epochs", 10, 100, 1),
        ("C", 100, 10, 1000),
        ("C", 1, 10, 0.1),
        ("gamma", 0.5, 2, 0.125),
        ("coef0", 0, 1, -1),
        ("nu", 1.0, 0.5, None),
        ("p", 1.5, 2, 1.125),  # of a mixture: no number of letters
    ],
)
def test_the_next_value_is_one_that_the_parameter_can_have(name, edge, beside, further):
    assert beyond(name, edge, beside) == further


def test_a_degree_is_a_whole_number():
    edge = said(searched(SVC("poly"), {"kernel__degree": [2, 3]}))["edge"]
    assert edge.endswith("try larger ones, such as 4 (guide: ideas/tuning).")


def test_nothing_is_advised_where_all_tie():
    found = said(searched(SVC("gaussian(gamma=1)"), {"C": [1e-5, 1e-4, 1e-3]}, APART))
    assert set(found) == {"tie"}
    assert found["tie"].startswith("All 3 settings score the same (1), so that the choice says little")
    assert said(searched(SVC("gaussian(gamma=1)"), {"C": [1, 2]}, APART))["tie"].startswith(
        "Both settings score the same"
    )


def test_one_setting_and_names_need_no_advice():
    assert not searched(SVC("gaussian"), {"C": [1]}).advice_
    assert "edge" not in said(searched(SVC(), {"kernel": ["linear", "rbf", "poly"]}))


def test_a_share_that_the_classes_do_not_allow_is_not_advised():
    few = np.r_[np.flatnonzero(y == 0), np.flatnonzero(y == 1)[:12]]
    search = searched(NuSVC("gaussian"), {"nu": [0.05, 0.3]}, (X[few], y[few]))
    limit = 2 * 12 / 72
    assert largest_nu(y[few]) == pytest.approx(limit, abs=1e-3)
    for one in search.advice_:
        if one.kind == "edge" and one.facts["direction"] == "up":
            advised = one.message.rpartition("such as ")[2].partition(" ")[0]
            NuSVC("gaussian", nu=float(advised)).fit(X[few], y[few])


def test_remedies_are_parameters_that_the_machine_has():
    random = np.random.default_rng(0)
    noise = random.integers(0, 2, 60)
    rows = random.standard_normal((60, 5))
    over = said(searched(SVC("gaussian(gamma=9)"), {"C": [1, 100]}, (rows, noise)))["overfitting"]
    assert "More rows" in over
    assert "lam" not in over
    assert "λ" not in over
    more = random.standard_normal((300, 1)), random.integers(0, 2, 300)
    under = said(searched(Pegasos(random_state=0), {"lam": [0.1]}, more))["underfitting"]
    assert "smaller lam" in under
    assert " C " not in under


@pytest.mark.thorough
def test_strings_are_not_told_to_scale_columns():
    texts = ["ab" * k for k in range(1, 40)]
    with pytest.warns(Warning, match=r"normalised\(spectrum") as caught:
        SVC(Spectrum(p=2), C=1e6, max_iter=1).fit(texts, np.arange(39) % 2)
    assert not any("column" in str(one.message) for one in caught)


def test_every_line_of_a_tuning_curve_is_named_or_counted():
    pytest.importorskip("matplotlib")
    search = searched(SVC("gaussian"), {"C": [0.1, 1, 10], "kernel__gamma": [2.0**k for k in range(-4, 5)]})
    curve = SearchCurve.from_search(search, "C", others="each").plot()
    drawn = [line for line in curve.ax_.lines if line.get_linestyle() == "-"]
    names = [entry.get_text() for entry in curve.ax_.get_legend().get_texts()]
    assert len(names) == len(drawn) + 1
    assert names[-1] == f"({len(curve.lines) - len(drawn)} worse lines not shown)"
    long = {"params": [{"C": c, "kernel": f"normalised(a_very_long_name_of_a_kernel_number(h={h}))"}
                       for c in (1, 10) for h in (1, 2, 3)],
            "mean_test_score": np.arange(6.0), "std_test_score": np.ones(6)}  # fmt: skip
    curve = SearchCurve.from_results(long, "C", others="each").plot()
    assert len(curve.ax_.get_legend().get_texts()) == 3


def test_kernels_print_themselves_inside_machines():
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from mercer.kernels import Equal, Gaussian, Linear

    machine = SVC(2 * Gaussian() + Linear())
    assert repr(machine) == "SVC(kernel=2*gaussian + linear)"
    assert "('svc', SVC(kernel=2*gaussian + linear))" in repr(make_pipeline(StandardScaler(), machine))
    assert "SVC(kernel=2*gaussian + linear)" in machine._repr_html_()
    mixed = Gaussian(gamma=0.5).on("age") * Spectrum(p=3).on("sequence of letters") + Equal().on("job")
    assert "".join(repr(SVC(mixed)).split()) == f"SVC(kernel={mixed})".replace(" ", "")


def test_only_the_edge_is_said_where_the_best_value_is_one():
    random = np.random.default_rng(0)
    rows, noise = random.standard_normal((60, 5)), random.integers(0, 2, 60)
    for lam in ([1e-5, 1e-4, 1e-3, 1e-2], [1.0, 10.0], [0.1, 1.0]):
        kinds = set(said(searched(Pegasos("gaussian(gamma=9)", random_state=0), {"lam": lam}, (rows, noise))))
        assert not ("edge" in kinds and kinds & {"overfitting", "underfitting"})


def test_remedies_leave_searched_parameters_alone():
    random = np.random.default_rng(0)
    data = random.standard_normal((300, 1)), random.integers(0, 2, 300)
    found = searched(Pegasos(random_state=0, steps=3000), {"lam": [0.1]}, data)
    assert "more steps" in said(found)["underfitting"].lower()
    assert "smaller lam" in said(found)["underfitting"]
    inside = said(searched(SVC("gaussian(gamma=9)"), {"C": [1e-3, 1, 1e3]}))
    assert not any("smaller C" in words or "larger C" in words for words in inside.values())


def test_simplest_is_only_said_of_what_is():
    found = said(searched(SVC("poly"), {"kernel__degree": [1, 2, 3], "C": [0.5, 5.0]}))
    assert "simplest of them is kernel__degree = 3" not in found.get("tie", "")
    assert is_simpler({"degree": 2}, {"degree": 3})
    assert not is_simpler({"C": 50.0}, {"C": 5.0})
    assert simplest_of([{"nu": 0.2}, {"nu": 0.4}]) == {"nu": 0.4}
