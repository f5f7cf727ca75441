"""Tables side by side: TableClassifier and TableRegressor, with their defaults, beside what people use for tables.

    python -m benchmarks.tables [--learners mercer,lightgbm] [--only airfoil,crx] [--rows 2500] [--splits 3]
        [--settings 30] [--json tables.json]

The tables are those of ``tables/dev.npz`` in the data folder. Of at most 20 000 rows three quarters are for training,
of which ``--rows`` are learned from; all learners get the same rows, and no learner sees the test rows before its last
prediction. Numbers are told by R², classes by accuracy and log loss. LightGBM and xRFM are tuned: so many random
settings, of which the best in validation counts; LightGBM in five folds whose models are averaged, xRFM on a fifth of
the rows. scikit-learn's SVC has a grid of C and γ in five folds. What is not installed is named as not run.

Results are kept in the JSON file after every table, and are not computed again where the file has them.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.metrics import log_loss, r2_score
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.svm import SVC, SVR

from mercer import TableClassifier, TableRegressor
from reproductions.data import data_path

MOST_ROWS, TRAINING, FOLDS = 20_000, 0.75, 5
#: Foundation models, whose weights have to be downloaded, and their published Elo on TabArena (random forest: 1000).
NOT_RUN = {"TabPFN-3": 1652, "TabICLv2": 1586}


@dataclass(frozen=True)
class Task:
    """Rows for training and test, and what is to be told of them: codes of classes, or numbers."""

    name: str
    X: pd.DataFrame
    y: np.ndarray
    X_test: pd.DataFrame
    y_test: np.ndarray
    classes: int
    seed: int
    settings: int

    @property
    def words(self) -> list[str]:
        """The columns of categories."""
        return [name for name in self.X if not pd.api.types.is_numeric_dtype(self.X[name])]

    @property
    def numbers(self) -> list[str]:
        return [name for name in self.X if name not in self.words]

    def folds(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        rare = self.classes and np.bincount(self.y, minlength=self.classes).min() < FOLDS
        kind = StratifiedKFold if self.classes and not rare else KFold
        yield from kind(FOLDS, shuffle=True, random_state=self.seed).split(self.X, self.y)

    def loss(self, y: np.ndarray, told: np.ndarray) -> float:
        """Log loss, or the mean squared error: what tuning goes by."""
        if not self.classes:
            return float(np.mean(np.square(y - told)))
        return float(log_loss(y, np.clip(told, 1e-7, 1), labels=np.arange(self.classes)))


Learner = Callable[[Task], np.ndarray]
LEARNERS: dict[str, tuple[str, Learner]] = {}


def learner(name: str, package: str = "sklearn") -> Callable[[Learner], Learner]:
    """Enter a learner: from a task to what it says of the test rows, probabilities of all classes or numbers."""

    def enter(learn: Learner) -> Learner:
        LEARNERS[name] = package, learn
        return learn

    return enter


def told(model: Any, task: Task, X: Any) -> np.ndarray:
    """What a fitted model says; classes that it has not seen have no chance."""
    if not task.classes:
        return np.asarray(model.predict(X), dtype=float).ravel()
    out = np.zeros((len(X), task.classes))
    out[:, np.asarray(model.classes_, dtype=int)] = model.predict_proba(X)
    return out


def ordinal(task: Task) -> Any:
    """Categories as codes, the first columns; numbers as they are."""
    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    return make_column_transformer((codes, task.words), ("passthrough", task.numbers))


def one_hot(task: Task) -> Any:
    """Categories as columns of 0 and 1, numbers standardised."""
    columns = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    return make_column_transformer((columns, task.words), (StandardScaler(), task.numbers))


@learner("mercer")
def mercer(task: Task) -> np.ndarray:
    return told((TableClassifier if task.classes else TableRegressor)().fit(task.X, task.y), task, task.X_test)


@learner("boosting")
def boosting(task: Task) -> np.ndarray:
    kind = HistGradientBoostingClassifier if task.classes else HistGradientBoostingRegressor
    model = make_pipeline(
        ordinal(task), kind(categorical_features=list(range(len(task.words))), random_state=task.seed)
    )
    return told(model.fit(task.X, task.y), task, task.X_test)


@learner("forest")
def forest(task: Task) -> np.ndarray:
    kind = RandomForestClassifier if task.classes else RandomForestRegressor
    model = make_pipeline(ordinal(task), kind(400, random_state=task.seed, n_jobs=-1))
    return told(model.fit(task.X, task.y), task, task.X_test)


@learner("svc")
def svc(task: Task) -> np.ndarray:
    """A grid of C and γ; probabilities from a sigmoid."""
    kind = SVC(probability=True, random_state=task.seed) if task.classes else SVR()
    name = "svc" if task.classes else "svr"
    model = make_pipeline(one_hot(task), kind)
    width = model[0].fit_transform(task.X).shape[1]
    grid = {f"{name}__C": 10.0 ** np.arange(-1, 4), f"{name}__gamma": 10.0 ** np.arange(-2.0, 1.5, 0.5) / width}
    if not task.classes:
        grid = {**grid, "svr__C": task.y.std() * grid["svr__C"], "svr__epsilon": [0.05 * task.y.std()]}
    return told(GridSearchCV(model, grid, cv=FOLDS, n_jobs=-1).fit(task.X, task.y), task, task.X_test)


@learner("catboost", "catboost")
def catboost(task: Task) -> np.ndarray:
    from catboost import CatBoostClassifier, CatBoostRegressor

    model = (CatBoostClassifier if task.classes else CatBoostRegressor)(
        cat_features=task.words, verbose=False, random_seed=task.seed, allow_writing_files=False
    )
    return told(model.fit(task.X, task.y), task, task.X_test)


@learner("xgboost", "xgboost")
def xgboost(task: Task) -> np.ndarray:
    from xgboost import XGBClassifier, XGBRegressor

    model = (XGBClassifier if task.classes else XGBRegressor)(enable_categorical=True, random_state=task.seed)
    return told(model.fit(task.X, task.y), task, task.X_test)


def of_lightgbm(draw: np.random.Generator) -> dict[str, Any]:
    """Random settings; the first of all are the defaults with a smaller step."""
    return {
        "learning_rate": 10 ** draw.uniform(-1.7, -0.7),
        "num_leaves": int(2 ** draw.uniform(2, 7)),
        "min_child_samples": int(2 ** draw.uniform(1, 6)),
        "colsample_bytree": draw.uniform(0.4, 1.0),
        "subsample": draw.uniform(0.6, 1.0),
        "subsample_freq": 1,
        "reg_lambda": 10 ** draw.uniform(-3, 1.5),
    }


@learner("lightgbm", "lightgbm")
def lightgbm(task: Task) -> np.ndarray:
    """Random settings in five folds with early stopping; the five models of the best are averaged."""
    import lightgbm as lgb

    draw, best, least = np.random.default_rng(task.seed), None, np.inf
    kind = lgb.LGBMClassifier if task.classes else lgb.LGBMRegressor
    folds = list(task.folds())
    for k in range(task.settings):
        setting = of_lightgbm(draw) if k else {"learning_rate": 0.05}
        out = np.zeros((len(task.y), task.classes) if task.classes else len(task.y))
        models = []
        for train, held_out in folds:
            model = kind(n_estimators=2000, verbose=-1, random_state=task.seed, n_jobs=-1, **setting)
            X, y = task.X.iloc[train], task.y[train]
            seen = np.isin(task.y[held_out], y) if task.classes else slice(None)  # LightGBM knows no other classes
            validation = task.X.iloc[held_out[seen]], task.y[held_out[seen]]
            model.fit(X, y, eval_set=[validation], callbacks=[lgb.early_stopping(30, verbose=False)])
            out[held_out] = told(model, task, task.X.iloc[held_out])
            models.append(model)
        loss = task.loss(task.y, out)
        if loss < least:
            best, least = models, loss
    assert best is not None
    return np.mean([told(model, task, task.X_test) for model in best], axis=0)


def with_xrfm(task: Task, settings: list[dict[str, Any]]) -> np.ndarray:
    """xRFM with the best of some settings, judged as it asks for: on rows that are held out."""
    from xrfm import xRFM

    steps = one_hot(task).fit(task.X)
    X, X_test = (steps.transform(each).astype(np.float32) for each in (task.X, task.X_test))
    scale = 1.0 if task.classes else float(task.y.std())
    centre = 0.0 if task.classes else float(task.y.mean())
    y = task.y if task.classes else ((task.y - centre) / scale).astype(np.float32)[:, None]
    common = task.classes and np.bincount(task.y).min() > 1
    train, held_out = train_test_split(
        np.arange(len(y)), test_size=1 / FOLDS, random_state=task.seed, stratify=task.y if common else None
    )
    best, least = None, np.inf
    for setting in settings:
        regularisation, rfm = setting.pop("reg"), setting
        fit = {"reg": regularisation, "iters": 5, "verbose": False, "early_stop_rfm": True}
        model = xRFM(
            rfm_params={"model": rfm, "fit": fit}, device="cpu", verbose=False, classification_mode="prevalence",
            tuning_metric="brier" if task.classes else "mse", random_state=task.seed,
        )  # fmt: skip
        model.fit(X[train], y[train], X[held_out], y[held_out])

        def say(rows: np.ndarray, model: Any = model) -> np.ndarray:
            if task.classes:
                return np.asarray(model.predict_proba(rows))
            return np.asarray(model.predict(rows)).ravel() * scale + centre

        loss = task.loss(task.y[held_out], say(X[held_out]))
        if loss < least:
            best, least = say(X_test), loss
    assert best is not None
    return best


@learner("xrfm", "xrfm")
def xrfm(task: Task) -> np.ndarray:
    kernel = {"kernel": "l2", "bandwidth": 10.0, "exponent": 1.0, "diag": True, "bandwidth_mode": "constant"}
    return with_xrfm(task, [{**kernel, "reg": 1e-3}])


@learner("xrfm-tuned", "xrfm")
def xrfm_tuned(task: Task) -> np.ndarray:
    draw = np.random.default_rng(task.seed)
    settings: list[dict[str, Any]] = [
        {
            "kernel": str(draw.choice(["lpq", "l2"], p=[0.8, 0.2])),
            "bandwidth": float(np.exp(draw.uniform(np.log(0.5), np.log(200)))),
            "exponent": float(draw.uniform(0.7, 1.4)),
            "norm_p": float(draw.uniform(0, 0.8)),
            "diag": bool(draw.integers(2)),
            "bandwidth_mode": "constant",
            "reg": float(np.exp(draw.uniform(np.log(1e-6), np.log(10)))),
        }
        for _ in range(task.settings)
    ]
    for setting in settings:  # the power is between the exponent and 2
        share = setting.pop("norm_p")
        if setting["kernel"] == "lpq":
            setting["norm_p"] = setting["exponent"] + (2 - setting["exponent"]) * share
        setting["exponent"] = min(setting["exponent"], setting.get("norm_p", 2.0))
    return with_xrfm(task, settings)


def of_pytabkit(classes: str, numbers: str) -> Learner:
    def learn(task: Task) -> np.ndarray:
        from pytabkit import models

        kind = getattr(models.sklearn.sklearn_interfaces, classes if task.classes else numbers)
        model = kind(random_state=task.seed, device="cpu", n_threads=os.cpu_count())
        return told(model.fit(task.X, task.y), task, task.X_test)

    return learn


learner("realmlp", "pytabkit")(of_pytabkit("RealMLP_TD_Classifier", "RealMLP_TD_Regressor"))
learner("tabm", "pytabkit")(of_pytabkit("TabM_D_Classifier", "TabM_D_Regressor"))


def tables(path: Path, only: list[str] | None) -> Iterator[tuple[str, pd.DataFrame, np.ndarray, int]]:
    """The tables of a file: name, columns, targets, and the number of classes or 0."""
    with np.load(path, allow_pickle=True) as file:
        for name in sorted({key.rsplit("__", 1)[0] for key in file.files}):
            if only is not None and name not in only:
                continue
            values, words, y = (file[f"{name}__{part}"] for part in ("X", "cat", "y"))
            columns = {
                f"c{k + 1}": pd.Categorical([f"level {value:g}" for value in values[:, k]])
                if words[k]
                else values[:, k].astype(np.float64)
                for k in range(values.shape[1])
            }
            of_classes = str(file[f"{name}__task"]) == "class"
            codes = np.unique(y, return_inverse=True)[1] if of_classes else y.astype(np.float64)
            yield name, pd.DataFrame(columns), codes, int(codes.max()) + 1 if of_classes else 0


def split(name: str, X: pd.DataFrame, y: np.ndarray, classes: int, number: int, rows: int, settings: int) -> Task:
    draw = np.random.default_rng(number)
    order = draw.permutation(len(y))[:MOST_ROWS]
    many = int(TRAINING * len(order))
    train, test = order[:many][:rows], order[many:]
    return Task(name, X.iloc[train], y[train], X.iloc[test], y[test], classes, number, settings)


def compiled() -> None:
    """Fit small tables, so that what mercer compiles once is not counted."""
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(200, 3)), columns=["a", "b", "c"]).assign(d=["x", "y"] * 100)
    for classes, y in ((2, (X["a"] > 0).astype(int)), (3, X["b"].rank().astype(int) % 3), (0, X["a"])):
        LEARNERS["mercer"][1](Task("", X, y.to_numpy(), X, y.to_numpy(), classes, 0, 1))


def measured(learn: Learner, task: Task) -> dict[str, float]:
    """The figures of a learner, and its seconds: by the clock, and those that processors worked."""
    begin, used = time.perf_counter(), sum(os.times()[:4])
    answer = learn(task)
    seconds = {"seconds": time.perf_counter() - begin, "cpu": sum(os.times()[:4]) - used}
    if not task.classes:
        return {"score": float(r2_score(task.y_test, answer)), **seconds}
    right = float(np.mean(answer.argmax(axis=1) == task.y_test))
    return {"score": right, "log_loss": task.loss(task.y_test, answer), **seconds}


def summary(cells: pd.DataFrame) -> str:
    """Means, and how often the first learner is better than each other, on the tables that both have."""
    lines = []
    wide = {what: cells.pivot_table(index=["table", "split"], columns="learner", values=what) for what in _WHAT}
    classes = cells.set_index(["table", "split"])["log_loss"].groupby(level=[0, 1]).count() > 0
    for kind, chosen in (("classes", classes[classes].index), ("numbers", classes[~classes].index)):
        scores = wide["score"].reindex(chosen)
        for other in [each for each in scores if each != "mercer" and "mercer" in scores]:
            both = scores[["mercer", other]].dropna()
            if both.empty:
                continue
            ahead, means = both["mercer"] - both[other], both.mean()
            line = (
                f"{kind}, {len(both):3d} cells: mercer {means['mercer']:.4f}  {other:>11} {means[other]:.4f}  "
                f"{ahead.mean():+.4f}, better on {np.mean(ahead > 0):4.0%}, worse on {np.mean(ahead < 0):4.0%}"
            )
            if kind == "classes":
                losses = wide["log_loss"].reindex(both.index)[["mercer", other]]
                lower = np.mean(losses["mercer"] < losses[other])
                means = losses.mean()
                line += f"; log loss {means['mercer']:.4f} and {means[other]:.4f}, lower on {lower:4.0%}"
            for what, words in (("seconds", "seconds"), ("cpu", "of processors")):
                took = wide[what].reindex(both.index)
                line += f"; {words} {took['mercer'].median():.1f} and {took[other].median():.1f}"
            lines.append(line)
    return "\n".join(lines)


_WHAT = ("score", "log_loss", "seconds", "cpu")


def elo(cells: pd.DataFrame) -> str:
    """The ratings that TabArena's evaluator gives, random forest = 1000."""
    if importlib.util.find_spec("bencheval") is None:
        return "Elo: not computed, bencheval is not installed"
    from bencheval.evaluator import BenchmarkEvaluator

    errors = cells.assign(metric_error=cells["log_loss"].fillna(1 - cells["score"]))
    counts = errors.groupby(["table", "split"])["learner"].transform("nunique")
    errors = errors[counts == errors["learner"].nunique()]  # cells that all learners have
    if "forest" not in set(errors["learner"]):
        return "Elo: not computed, it needs the random forest"
    board = BenchmarkEvaluator(
        method_col="learner", task_col="table", seed_column="split", columns_to_agg_extra=None
    ).leaderboard(
        errors[["learner", "table", "split", "metric_error"]],
        elo_kwargs={"calibration_framework": "forest", "calibration_elo": 1000, "BOOTSTRAP_ROUNDS": 100},
    )  # fmt: skip
    return str(board[[name for name in board if name.startswith("elo")]].round(0))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--learners", default=",".join(LEARNERS), help="which, separated by commas")
    parser.add_argument("--only", help="which tables, separated by commas")
    parser.add_argument("--rows", type=int, default=2500, help="training rows")
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--settings", type=int, default=30, help="that LightGBM and xRFM are tuned over")
    parser.add_argument("--data", help="a file of tables")
    parser.add_argument("--json", help="write the figures to this file, and read those that are there")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    path = data_path("tables/dev.npz", options.data)
    if path is None:
        return
    chosen = [name for name in options.learners.split(",") if importlib.util.find_spec(LEARNERS[name][0])]
    for name in set(options.learners.split(",")) - set(chosen):
        print(f"{name}: not run, {LEARNERS[name][0]} is not installed")
    for name, rating in NOT_RUN.items():
        print(f"{name}: not run, its weights have to be downloaded; published Elo {rating}")
    kept = Path(options.json) if options.json else None
    cells: list[dict[str, Any]] = json.loads(kept.read_text()) if kept is not None and kept.exists() else []
    if "mercer" in chosen:
        compiled()
    have = {(each["table"], each["split"], each["learner"]) for each in cells}
    for number in range(options.splits):
        for table in tables(path, None if options.only is None else options.only.split(",")):
            task = split(*table, number, options.rows, options.settings)
            for name in chosen:
                if (task.name, number, name) in have:
                    continue
                cell = {"table": task.name, "split": number, "learner": name, **measured(LEARNERS[name][1], task)}
                cells.append(cell)
                figures = "  ".join(f"{key} {cell[key]:.4g}" for key in _WHAT if key in cell)
                print(f"{task.name:>24} {number} {len(task.y)} x {task.X.shape[1]}  {name:>11}: {figures}", flush=True)
            if kept is not None:
                kept.write_text(json.dumps(cells, indent=1) + "\n")
    frame = pd.DataFrame(cells).reindex(columns=["table", "split", "learner", *_WHAT])
    print(f"\n{summary(frame)}")
    print(elo(frame))


if __name__ == "__main__":
    main()
