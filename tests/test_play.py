"""The answers of ``mercer play``: what the library says itself, from whoever may ask, and nothing else."""

import base64
import json
import multiprocessing
import os
import re
import runpy
import shlex
import sys
import warnings
from importlib.resources import files

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from mercer import SVC, Conformal, KernelQuantiles, KernelRegressor, KernelSearchCV, Pegasos, Perceptron
from mercer.margins import leave_one_out_bound, mistake_bound
from mercer.play import EXAMPLES, LEARNERS, SLIDERS, example_scene

from .asking import BOX, answering, refused, scene_of

client = pytest.fixture(scope="module")(answering)


@pytest.fixture(scope="module")
def ask(client):
    def asked(name, body, status=200):
        answer = client.post(f"/api/{name}", json=body)
        assert answer.status_code == status, answer.text
        return answer.json()

    return asked


def floats(text):
    return np.frombuffer(base64.b64decode(text), "<f4")


def grid_places():
    (x0, x1, y0, y1), (width, height) = BOX["box"], BOX["size"]
    across, up = np.meshgrid(np.linspace(x0, x1, width), np.linspace(y0, y1, height))
    return np.column_stack([across.ravel(), up.ravel()])


def directly(scene):
    """The estimator of a scene, fitted as anybody would."""
    kernel = scene["kernel"].replace("?", repr(scene["gamma"]))
    C, lam, nu, epsilon, epochs = (scene.get(name, SLIDERS[name].start) for name in
                                   ("C", "lam", "nu", "epsilon", "epochs"))  # fmt: skip
    seed, n = scene["seed"], len(scene["points"])
    machine = {
        "svc": lambda: SVC(kernel, C=C, random_state=seed),
        "nu-svc": lambda: mercer.NuSVC(kernel, nu=nu, random_state=seed),
        "kernel-perceptron": lambda: Perceptron(kernel, epochs=epochs, random_state=seed),
        "averaged-perceptron": lambda: Perceptron(kernel, epochs=epochs, variant="averaged", random_state=seed),
        "kernel-pegasos": lambda: Pegasos(kernel, lam=lam, steps=epochs * n, random_state=seed),
        "kernel-logistic": lambda: mercer.KernelClassifier(kernel, "logistic", lam),
        "kernel-squared-hinge": lambda: mercer.KernelClassifier(kernel, "squared_hinge", lam),
        "kernel-ridge": lambda: KernelRegressor(kernel, lam=lam),
        "kernel-huber": lambda: KernelRegressor(kernel, mercer.losses.Huber(epsilon), lam),
        "svr": lambda: mercer.SVR(kernel, C=C, epsilon=epsilon, random_state=seed),
        "nu-svr": lambda: mercer.NuSVR(kernel, C=C, nu=nu, random_state=seed),
        "quantile": lambda: KernelQuantiles(kernel, (0.05, 0.5, 0.95), lam),
        "one-class": lambda: mercer.OneClassSVM(kernel, nu=nu, random_state=seed),
        "svdd": lambda: mercer.SVDD(kernel, nu=nu, random_state=seed),
    }[scene["learner"]]()
    model = make_pipeline(StandardScaler(), machine) if scene["scaled"] else machine
    points = np.array(scene["points"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        if scene["task"] == "numbers":
            return model.fit(points[:, :1], points[:, 1])
        return model.fit(points, scene.get("labels"))


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("learner", [*LEARNERS["classes"], *LEARNERS["novelty"]])
def test_the_plane_is_that_of_the_estimator(ask, learner, scaled):
    task = "classes" if learner in LEARNERS["classes"] else "novelty"
    scene = scene_of("moons" if task == "classes" else "blob", learner=learner, scaled=scaled)
    answer = ask("fit", {"scene": scene, **BOX})
    model, points = directly(scene), np.array(scene["points"])
    scores, own = model.decision_function(grid_places()), model.decision_function(points)
    np.testing.assert_array_equal(floats(answer["grid"]["values"]), scores.astype("<f4"))
    assert (answer["grid"]["width"], answer["grid"]["height"]) == tuple(BOX["size"])
    np.testing.assert_array_equal(answer["points"]["score"], own)
    machine = model[-1] if scaled else model
    alpha = np.zeros(len(points))
    alpha[machine.support_] = np.abs(machine.dual_coef_).max(axis=0)
    np.testing.assert_array_equal(answer["points"]["alpha"], alpha)
    assert answer["support"] == np.count_nonzero(alpha)
    expected = scene["labels"] if task == "classes" else np.ones(len(points))
    np.testing.assert_array_equal(answer["points"]["wrong"], model.predict(points) != expected)
    assert answer["kernel"] == str(machine.kernel_)
    if hasattr(machine, "duality_gap_"):
        assert answer["certificate"]["gap"] == np.sum(machine.duality_gap_)
        assert answer["certificate"]["objective"] == np.sum(machine.objective_)
        assert answer["certificate"]["converged"] == machine.converged_
    else:
        assert answer["certificate"] is None


@pytest.mark.parametrize("learner", ["svc", "kernel-logistic", "kernel-perceptron"])
def test_several_classes(ask, learner):
    scene = scene_of("three", learner=learner)
    answer = ask("fit", {"scene": scene, **BOX})
    model = directly(scene)
    scores = np.sort(model.decision_function(grid_places()), axis=1)
    winner = np.frombuffer(base64.b64decode(answer["classes"]["winner"]), np.uint8)
    np.testing.assert_array_equal(winner, model.predict(grid_places()))
    lead = floats(answer["classes"]["lead"])
    assert lead.min() >= 0
    if learner != "svc":  # where pairs of classes vote, and a vote is no distance
        np.testing.assert_allclose(lead, scores[:, -1] - scores[:, -2], rtol=1e-5, atol=1e-6)
    assert answer["grid"] is None
    # Of three names two may be there.
    two = {**scene, "labels": [2 * (label > 0) for label in scene["labels"]]}
    winner = np.frombuffer(base64.b64decode(ask("fit", {"scene": two, **BOX})["classes"]["winner"]), np.uint8)
    np.testing.assert_array_equal(winner, directly(two).predict(grid_places()))


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("learner", LEARNERS["numbers"])
def test_the_curve_and_its_band(ask, learner, scaled):
    scene = scene_of("fan", learner=learner, scaled=scaled, coverage=0.9)
    answer = ask("fit", {"scene": scene, **BOX})
    points, across = np.array(scene["points"]), np.linspace(*BOX["box"][:2], BOX["size"][0])[:, None]
    model = directly(scene)
    predicted = model.predict(across)
    middle = predicted if predicted.ndim == 1 else predicted[:, 1]
    np.testing.assert_array_equal(answer["curve"]["y"], middle)
    method = "jackknife+" if learner == "kernel-ridge" else "split"
    band = Conformal(model, method, coverage=0.9, random_state=0).fit(points[:, :1], points[:, 1])
    np.testing.assert_array_equal(
        np.column_stack([answer["bands"][0]["low"], answer["bands"][0]["high"]]), band.predict_interval(across)
    )
    if learner == "quantile":
        np.testing.assert_array_equal([each["y"] for each in answer["quantiles"]], predicted.T)
    if learner in ("svr", "nu-svr"):
        machine = model[-1] if scaled else model
        half = 0.1 if learner == "svr" else machine.epsilon_
        np.testing.assert_allclose(answer["tube"]["high"], predicted + half)
        outside = np.abs(points[:, 1] - model.predict(points[:, :1])) - half
        np.testing.assert_allclose(answer["points"]["slack"], np.maximum(0, outside))


def test_a_band_that_needs_more_points_says_so(ask):
    scene = {"task": "numbers", "points": [[0, 0], [1, 1], [2, 0]], "learner": "svr"}
    answer = ask("fit", {"scene": scene, **BOX})
    assert answer["bands"] == []
    assert "needs the errors of 9 rows" in answer["estimates"][-1]["note"]


def test_estimates_are_those_of_the_library(ask):
    scene = scene_of("clouds")
    found = {each["name"]: each for each in ask("fit", {"scene": scene, **BOX})["estimates"]}
    model, points = directly({**scene, "learner": "svc"}), np.array(scene["points"])
    assert found["leave-one-out error"]["value"] == float(leave_one_out_bound(model, len(points)))
    margins = mercer.margins.geometric_margins(points, scene["labels"], model=model)
    radius = np.sqrt((points**2).sum(axis=1).max())
    bound = mercer.margins.margin_bound(radius, float(margins), len(points))
    assert found["order of the error by the margin"]["value"] == pytest.approx(float(bound))
    assert found["VC bound on the error"]["value"] == float(mercer.margins.vc_bound(0.0, 3, len(points)))
    assert found["training error"]["text"] == f"0 of {len(points)}"


def test_one_bound_on_mistakes_is_told_everywhere(ask):
    scene = {**scene_of("thin"), "learner": "kernel-perceptron", "epochs": 50}
    told = {each["name"]: each for each in ask("fit", {"scene": scene, **BOX})["estimates"]}["mistakes on the way"]
    steps = ask("steps", {"scene": scene, "algorithm": "perceptron", "most": 2000})
    assert told["text"].endswith(f"≤ {steps['bound']['value']:.0f}")
    assert told["value"] == steps["steps"][-1]["mistakes"] > 10  # the margin is thin, and costs mistakes


def test_a_mistake_bound_holds_with_any_kernel():
    scene = scene_of("moons")
    points, labels = np.array(scene["points"]), np.array(scene["labels"])
    for kernel in ("linear", "gaussian(gamma=2)", "polynomial(degree=3)"):
        rival = SVC(kernel).fit(points, labels)
        for seed in range(3):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                made = Perceptron(kernel, epochs=7, random_state=seed).fit(points, labels)
            bound = mistake_bound(points, labels, model=rival, passes=made.n_iter_)
            assert made.mistakes_[0].sum() <= float(bound)
    weights = SVC(None).fit(points, labels)
    longer, u = np.column_stack([points, np.ones(len(points))]), np.append(weights.coef_[0], weights.intercept_)
    same = mistake_bound(longer, np.where(labels, 1, -1), u)
    assert float(mistake_bound(points, labels, model=weights)) == pytest.approx(float(same))


def test_what_is_missing_is_named_in_a_sentence(monkeypatch):
    from click.testing import CliRunner

    from mercer.cli import main

    monkeypatch.setitem(sys.modules, "uvicorn", None)
    done = CliRunner().invoke(main, ["play"])
    assert done.exit_code == 1
    assert "pip install 'mercer[play]'" in done.output
    assert len(done.output.strip().splitlines()) == 1


# -- steps ----------------------------------------------------------------------------------------------------------


def after_all(answer, points):
    coef = np.zeros(points)
    for step in answer["steps"]:
        for place, value in step["coef"].items():
            coef[int(place)] = value
    return coef, answer["steps"][-1]["intercept"]


@pytest.mark.parametrize("kernel", ["gaussian(gamma=?)", "linear", "polynomial(degree=2) + gaussian(gamma=?)"])
@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize(
    ("algorithm", "learner", "exactly"),
    [("perceptron", "kernel-perceptron", 1e-12), ("pegasos", "kernel-pegasos", 1e-12), ("smo", "svc", 3e-3)],
)
def test_after_the_last_step_the_model_is_that_of_the_estimator(ask, algorithm, learner, exactly, scaled, kernel):
    scene = scene_of("moons", learner=learner, scaled=scaled, kernel=kernel, epochs=4, lam=0.05)
    answer = ask("steps", {"scene": scene, "algorithm": algorithm, "most": 2000})
    coef, intercept = after_all(answer, len(scene["points"]))
    model = directly(scene)
    if kernel != "linear":
        machine = model[-1] if scaled else model
        expected = np.zeros(coef.size)
        expected[machine.support_] = machine.dual_coef_[0]
        if algorithm != "smo":  # whose coefficients are one solution of several that are as good
            np.testing.assert_array_equal(coef, expected)
            assert intercept == machine.intercept_[0]
    drawn = ask("boundary", {"scene": scene, "coef": coef.tolist(), "intercept": intercept, **BOX})["grid"]
    scores = model.decision_function(grid_places())
    np.testing.assert_allclose(floats(drawn["values"]), scores, rtol=1e-5, atol=exactly * np.abs(scores).max() + 1e-6)


def test_every_step_says_why(ask):
    scene = scene_of("moons", epochs=3)
    points, labels = np.array(scene["points"]), np.array(scene["labels"])
    perceptron = ask("steps", {"scene": scene, "algorithm": "perceptron"})
    assert all("mistake" in step["why"] and len(step["at"]) == 1 for step in perceptron["steps"][:-1])
    assert perceptron["steps"][-1]["mistakes"] <= perceptron["bound"]["value"]
    smo = ask("steps", {"scene": scene, "algorithm": "smo"})
    assert all(len(step["at"]) == 2 for step in smo["steps"][:-1])
    assert smo["converged"]
    gaps = [step["gap"] for step in smo["steps"]]
    assert gaps[-1] < 1e-4 < gaps[0]
    best = SVC("gaussian(gamma=1)").fit(points, labels).objective_[0]
    assert smo["steps"][-1]["objective"] == pytest.approx(best, rel=1e-3)
    pegasos = ask("steps", {"scene": scene, "algorithm": "pegasos", "most": 25})
    assert len(pegasos["steps"]) == 25
    coef, intercept = after_all(pegasos, len(points))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        short = Pegasos("gaussian(gamma=1.0)", lam=0.01, steps=25, average=False, random_state=0).fit(points, labels)
    np.testing.assert_array_equal(coef[short.support_], short.dual_coef_[0])
    assert intercept == short.intercept_[0]


# -- data, surfaces, code -------------------------------------------------------------------------------------------


def test_choices_can_be_asked_for(ask):
    offered = ask("choices", {})
    assert offered["version"] == mercer.__version__
    assert {each["name"] for each in offered["learners"]["classes"]} == set(LEARNERS["classes"])
    for kernel in offered["kernels"]:
        ask("fit", {"scene": scene_of(kernel=kernel["text"]), **BOX})
    for kernel in offered["word_kernels"] + offered["graph_kernels"]:
        mercer.kernels.parse(kernel["text"])
    for each in offered["data"]:
        found = ask("data", {"name": each["name"], "seed": 3})
        assert ask("fit", {"scene": found["scene"], **BOX})["points"]["score"]
        assert found["scene"]["task"] == each["task"]


def test_a_file_becomes_a_scene(ask, client):
    rows = "\n".join(f"{x},{x % 7},{'word' if x % 3 else ''},{'yes' if x % 2 else 'no'}" for x in range(40))
    request = {"file": "C:\\data\\fruit.csv", "text": f"a,b,note,kind\n{rows}\n1,?,x,yes\n"}
    found = ask("data", request)
    assert found["target"] == "kind"
    assert found["scene"]["names"] == ["no", "yes"]
    assert found["scene"]["axes"] == ["a", "b"]
    assert len(found["scene"]["points"]) == 40
    assert "1 row was left out" in found["note"]
    assert found["note"].startswith("fruit.csv: 41 rows")
    ask("fit", {"scene": found["scene"], **BOX})
    other = ask("data", {**request, "columns": ["b", "a"], "target": "kind"})
    assert other["scene"]["axes"] == ["b", "a"]
    numbers = ask("data", {"file": "n.tsv", "text": "x\ty\n" + "\n".join(f"{k}\t{k * k / 7}" for k in range(60))})
    assert numbers["scene"]["task"] == "numbers"
    assert "there is no column of numbers 'c'" in refused(client, "data", {**request, "columns": ["a", "c"]})
    assert "is not a table of text" in refused(client, "data", {"file": "../../etc/passwd", "text": ""})
    for hostile in ("", "\x00", "a\n", "a,b\n1,2", "=" * 1000, '{"a": [[[', "1,2\n" * 3):
        for name in ("x.csv", "x.json", "x.arff", "x.svm"):
            client_answer = client.post("/api/data", json={"file": name, "text": hostile})
            assert client_answer.status_code in (200, 422)
            assert "mercer-play-" not in client_answer.text  # no path of this machine


def test_many_rows_and_classes_are_cut(ask):
    rows = "\n".join(f"{k % 97},{k % 89},c{k % 8}" for k in range(3000))
    found = ask("data", {"file": "many.csv", "text": f"a,b,c\n{rows}"})
    assert len(found["scene"]["points"]) == 2000
    assert len(found["scene"]["names"]) == 6


def test_a_surface_is_that_of_a_search(client):
    scene = scene_of("moons")
    values = {"C": [0.1, 1.0, 10.0], "gamma": [0.1, 1.0, 10.0]}
    answer = client.post("/api/surface", json={"scene": scene, **values, "folds": 4})
    lines = [json.loads(line) for line in answer.text.splitlines()]
    folds = StratifiedKFold(4, shuffle=True, random_state=0)
    grid = {"C": values["C"], "kernel__gamma": values["gamma"]}
    search = KernelSearchCV(SVC("gaussian"), grid, cv=folds).fit(scene["points"], scene["labels"])
    scores = np.full((3, 3), np.nan)
    for setting, score in zip(search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True):
        scores[values["gamma"].index(setting["kernel__gamma"]), values["C"].index(setting["C"])] = score
    np.testing.assert_allclose([line["errors"] for line in lines[:-1]], 1 - scores, atol=1e-12)
    assert [line["gamma"] for line in lines[:-1]] == values["gamma"]
    assert lines[-1]["best"]["error"] == pytest.approx(1 - search.best_score_)
    assert lines[-1]["fits"] == 36


@pytest.mark.thorough
def test_a_process_that_is_lost_is_started_again(client):
    request = {"scene": scene_of(), "C": [1.0], "gamma": [1.0], "folds": 3}
    assert "done" in client.post("/api/surface", json=request).text
    (process,) = [each for each in multiprocessing.active_children() if each.name == "mercer-play-worker"]
    process.kill()
    process.join()
    for _ in range(3):  # who asks before anybody has noticed is told so
        said = client.post("/api/surface", json=request).text
        if "done" in said:
            break
        assert "has ended; ask again" in said
    assert "done" in said


def test_a_surface_of_prepared_rows_and_of_numbers(client):
    for scene, cost in ((scene_of("moons", scaled=True), "C"), (scene_of("wave", learner="kernel-ridge"), "lam")):
        answer = client.post("/api/surface", json={"scene": scene, cost: [0.01, 1.0], "gamma": [1.0], "folds": 3})
        lines = [json.loads(line) for line in answer.text.splitlines()]
        assert lines[-1]["done"], lines
        assert all(error is not None for error in lines[0]["errors"])
    assert "no ? that γ" in refused(client, "surface", {"scene": scene_of(kernel="linear"), "C": [1], "gamma": [1, 2]})
    assert "has no surface" in refused(client, "surface", {"scene": scene_of(learner="kernel-perceptron")})


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("learner", [name for learners in LEARNERS.values() for name in learners])
def test_code_makes_the_same_machine(ask, mercer_command, monkeypatch, learner, scaled):
    task = next(task for task, learners in LEARNERS.items() if learner in learners)
    example = next(name for name in EXAMPLES if EXAMPLES[name].task == task)
    odd = {"names": ["it's \"odd\", isn't it?", "b`$(touch hacked)`"]} if task == "classes" else {}
    scene = {**example_scene(example, 2), "learner": learner, "scaled": scaled, "C": 2.5, "gamma": 0.7, **odd,
             "axes": ["'); import os #", "\\"]}  # fmt: skip
    answer, points = ask("fit", {"scene": scene, **BOX}), np.array(scene["points"])
    code = ask("code", {"scene": scene})
    monkeypatch.setenv("MPLBACKEND", "Agg")
    with open("picture.py", "w", encoding="utf-8") as file:
        file.write(code["python"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = runpy.run_path("picture.py")["model"]
    assert not os.path.exists("hacked")
    if task == "numbers":
        predicted = model.predict(points[:, :1])
        np.testing.assert_array_equal(predicted if predicted.ndim == 1 else predicted[:, 1], answer["points"]["score"])
    else:
        np.testing.assert_array_equal(model.decision_function(points), answer["points"]["score"])
    with open("points.csv", "w", encoding="utf-8") as file:
        file.write(code["csv"])
    mercer_command(shlex.split(code["command"])[1:])
    trained = mercer.load("model.safetensors")
    rows = pd.DataFrame(points, columns=["x", "y"] if task == "numbers" else ["x1", "x2"])
    again = trained.predict(rows[["x"]]) if task == "numbers" else trained.decision_function(rows)
    np.testing.assert_allclose(again, answer["points"]["score"], rtol=1e-9, atol=1e-11)


def test_a_script_has_the_colours_and_the_view_of_the_page(ask, mercer_command):
    """Where the second class wins, the picture is nearer to the colour of its points than to that of the first."""
    scene, box = scene_of("clouds"), [-4.0, 4.0, -3.0, 3.0]
    classes = [4, 2]
    plt.switch_backend("Agg")
    plt.close("all")
    with open("picture.py", "w", encoding="utf-8") as file:
        file.write(ask("code", {"scene": scene, "classes": classes, "box": box})["python"].replace("plt.show()", ""))
    runpy.run_path("picture.py")
    figure = plt.gcf()
    axes = figure.axes[0]
    assert (*axes.get_xlim(), *axes.get_ylim()) == pytest.approx(box)
    figure.canvas.draw()
    pixels = np.asarray(figure.canvas.buffer_rgba())[::-1, :, :3].astype(float)
    theme = (files("mercer.play") / "static" / "theme.css").read_text("utf-8")
    colours = [to_rgb(re.search(rf"--c{place}: (#\w+)", theme)[1]) for place in classes]
    for place, (own, other) in (((-3.5, -2.5), colours), ((3.5, 2.5), colours[::-1])):
        across, up = axes.transData.transform(place).astype(int)
        tint = pixels[up, across] / 255
        assert np.linalg.norm(tint - own) < np.linalg.norm(tint - other)
    plt.close(figure)


@pytest.mark.parametrize("kernel", ["normalised(spectrum(p=2))", "2*spectrum(p=1) + subsequence(k=2, decay=0.5)"])
def test_code_of_words_makes_the_same_machine(ask, mercer_command, kernel):
    words = ["it's", '"odd"', "a,b", "Straße", "casa", "acqua", "notte", "{x}", "$(touch hacked)"]
    request = {"words": words, "labels": [0, 1, 0, 1, 1, 1, 0, 0, 0], "names": ["it's \"odd\"", "`touch hacked`"],
               "kernel": kernel, "C": 3.0, "asked": "'); exit() #"}  # fmt: skip
    answer, code = ask("words", request), ask("code", request)
    with open("words.py", "w", encoding="utf-8") as file:
        file.write(code["python"])
    again = runpy.run_path("words.py")
    np.testing.assert_array_equal(again["model"].decision_function(words), answer["scores"])
    assert again["label"] == answer["asked"]["label"]
    with open(code["file"], "w", encoding="utf-8") as file:
        file.write(code["csv"])
    mercer_command(shlex.split(code["command"])[1:])
    trained = mercer.load("model.safetensors")
    np.testing.assert_allclose(trained.decision_function(pd.DataFrame({"word": words})), answer["scores"], atol=1e-9)
    assert not os.path.exists("hacked")
    assert "'nan' stands for a value that is missing" in ask("code", {**request, "words": [*words[:-1], "nan"]})["note"]


def test_code_of_graphs_makes_the_same_machine(ask, tmp_path):
    chain, ring = ({"nodes": ["C'", "C", '"'], "edges": edges} for edges in ([[0, 1]], [[0, 1], [1, 2], [2, 0]]))
    request = {"graphs": [chain, ring, chain], "labels": [0, 1, 0], "asked": chain}
    (tmp_path / "graphs.py").write_text(ask("code", request)["python"], encoding="utf-8")
    again = runpy.run_path(str(tmp_path / "graphs.py"))
    np.testing.assert_array_equal(again["model"].decision_function(again["graphs"]), ask("graphs", request)["scores"])


@pytest.fixture
def mercer_command(tmp_path, monkeypatch):
    from click.testing import CliRunner

    from mercer.cli import main

    monkeypatch.chdir(tmp_path)

    def run(words):
        done = CliRunner().invoke(main, words)
        assert done.exit_code == 0, done.output

    return run
