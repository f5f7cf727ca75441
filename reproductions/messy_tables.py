"""Tables as people have them: mixed, with gaps, ids, dates and texts, in many formats. None is part of the project."""

from __future__ import annotations

import inspect
import pkgutil
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn import datasets

from .data import data_path

__all__ = ["TABLES", "MessyTable", "census"]


@dataclass(frozen=True)
class MessyTable:
    """A table and the format it comes in; what is learned is its last column.

    Parameters
    ----------
    name : str
    suffix : str
        The format of its files.
    make : callable
        Makes the frame; ``None`` where the data are not there.
    measure : {"accuracy", "auc", "rmse"}
        What is measured on the test rows.
    """

    name: str
    suffix: str
    make: Callable[[], pd.DataFrame | None]
    measure: str = "accuracy"

    def write(self, frame: pd.DataFrame, folder: Path, part: str) -> str:
        """Write rows in the format of this table, and return what a command reads them by."""
        path = folder / f"{self.name}-{part}{self.suffix}"
        if self.suffix == ".db":
            with sqlite3.connect(path) as connection:
                frame.to_sql("rows", connection, index=False)
            connection.close()
            return f"sqlite:///{path}?table=rows"
        _WRITERS[self.suffix](frame, path)
        return str(path)


def _write_arff(frame: pd.DataFrame, path: Path) -> None:
    lines = ["@relation table"]
    for name, kind in frame.dtypes.items():
        words = "numeric" if pd.api.types.is_numeric_dtype(kind) else "{" + ",".join(sorted(set(frame[name]))) + "}"
        lines.append(f"@attribute '{name}' {words}")
    path.write_text("\n".join([*lines, "@data", *(",".join(map(str, row)) for row in frame.itertuples(index=False))]))


_WRITERS: dict[str, Callable[[pd.DataFrame, Path], Any]] = {
    ".csv": lambda frame, path: frame.to_csv(path, index=False),
    ".csv.xz": lambda frame, path: frame.to_csv(path, index=False, header=False),
    ".tsv": lambda frame, path: frame.to_csv(path, index=False, sep="\t"),
    ".comma.csv": lambda frame, path: frame.to_csv(path, index=False, sep=";", decimal=","),
    ".csv.zip": lambda frame, path: frame.to_csv(path, index=False),
    ".json": lambda frame, path: frame.to_json(path, orient="records"),
    ".jsonl": lambda frame, path: frame.to_json(path, orient="records", lines=True),
    ".parquet": lambda frame, path: frame.to_parquet(path, index=False),
    ".feather": lambda frame, path: frame.to_feather(path),
    ".xlsx": lambda frame, path: frame.to_excel(path, index=False),
    ".arff": _write_arff,
}


def _bundled(load: Callable[..., Any], words: bool = True) -> Callable[[], pd.DataFrame]:
    def make() -> pd.DataFrame:
        found = load(as_frame=True)
        target = found.target_names[found.target] if words and hasattr(found, "target_names") else found.target
        return found.data.assign(target=np.asarray(target))

    return make


def _statsmodels(name: str, target: str, drop: tuple[str, ...] = (), most: int = 6000) -> Callable[[], pd.DataFrame]:
    def make() -> pd.DataFrame:
        import statsmodels.api as sm

        frame = getattr(sm.datasets, name).load_pandas().data.drop(columns=list(drop))
        frame = frame.sample(min(most, len(frame)), random_state=0).reset_index(drop=True)
        return frame[[*(column for column in frame if column != target), target]]

    return make


def _public(path: str, most: int = 6000, **reading: Any) -> Callable[[], pd.DataFrame | None]:
    def make() -> pd.DataFrame | None:
        found = data_path(path)
        if found is None:
            return None
        frame = pd.read_csv(found, skipinitialspace=True, na_values="?", keep_default_na=False, **reading)
        frame.columns = [str(name) for name in frame.columns]
        return frame.sample(min(most, len(frame)), random_state=0).reset_index(drop=True)

    return make


#: The columns of the adult table, whose file has no header.
_ADULT = [
    *("age", "workclass", "fnlwgt", "education", "education_num", "marital_status", "occupation", "relationship"),
    *("race", "sex", "capital_gain", "capital_loss", "hours", "country", "income"),
]
#: Words of a text that says nothing.
_CALM = [
    "asked",
    "called",
    "wrote",
    "about",
    "an",
    "account",
    "card",
    "address",
    "question",
    "answered",
    "later",
    "again",
]
_adult = _public("adult_raw/adult.data.xz", names=_ADULT)
#: The same with all rows.
census = _public("adult_raw/adult.data.xz", 10**9, names=_ADULT)


def _uneven_adult() -> pd.DataFrame | None:
    """Adult with an id, a date, gaps and a free text, and one row in twenty positive."""
    frame = census()
    if frame is None:
        return None
    rng = np.random.default_rng(0)
    rich = frame["income"] == ">50K"
    kept = np.concatenate(
        [rng.choice(np.flatnonzero(~rich), 7600, False), rng.choice(np.flatnonzero(rich), 400, False)]
    )
    frame = frame.iloc[rng.permutation(kept)].reset_index(drop=True)
    days = pd.Timestamp("2021-01-01") + pd.to_timedelta(rng.integers(0, 1000, len(frame)), unit="D")
    # Some texts say a little about the class, as texts of real people do.
    tells = np.where(frame["income"] == ">50K", rng.random(len(frame)) < 0.4, rng.random(len(frame)) < 0.1)
    texts = [
        " ".join([*rng.choice(_CALM, rng.integers(4, 12)), *(["invested", "savings"] if told else [])])
        for told in tells
    ]
    for name in ("age", "hours", "education_num", "occupation"):
        frame.loc[rng.random(len(frame)) < 0.08, name] = np.nan
    last = frame.pop("income")
    return frame.assign(customer_id=rng.permutation(len(frame)) + 10_000, since=days.strftime("%Y-%m-%d"),
                        note=texts, income=last)  # fmt: skip


def _sms() -> pd.DataFrame | None:
    frame = _public("sms_spam/SMSSpamCollection.tsv.xz", 10**9, sep="\t", names=["label", "message"], quoting=3)()
    if frame is None:
        return None
    return pd.DataFrame({"id": np.arange(1, len(frame) + 1), "message": frame["message"], "label": frame["label"]})


def _names() -> pd.DataFrame | None:
    frame = _public("names18/names.tsv.xz", sep="\t", names=["language", "surname"])()
    return None if frame is None else frame[["surname", "language"]]


def _docstrings() -> pd.DataFrame:
    """Which library is it? Long texts: the documentation of functions and classes, without the names of libraries."""
    rows = []
    for library in ("numpy", "scipy", "sklearn", "pandas"):
        seen: set[str] = set()
        for module in pkgutil.walk_packages(import_module(library).__path__, f"{library}."):
            if "test" in module.name or "._" in module.name or "externals" in module.name:
                continue
            try:
                members = inspect.getmembers(import_module(module.name))
            except Exception:  # an optional part that is not installed
                continue
            for _, member in members:
                text = inspect.getdoc(member) if callable(member) else None
                if text and len(text) > 600 and text not in seen:
                    seen.add(text)
                    for word in ("numpy", "scipy", "sklearn", "scikit-learn", "pandas", "np.", "pd.", "sp."):
                        text = text.replace(word, " ")
                    rows.append({"documentation": text, "library": library})
    return pd.DataFrame(rows).groupby("library").head(700).sample(frac=1, random_state=0).reset_index(drop=True)


TABLES = [
    MessyTable("breast_cancer", ".csv", _bundled(datasets.load_breast_cancer)),
    MessyTable("wine", ".json", _bundled(datasets.load_wine)),
    MessyTable("iris", ".arff", _bundled(datasets.load_iris)),
    MessyTable("digits", ".parquet", _bundled(datasets.load_digits)),
    MessyTable("diabetes", ".xlsx", _bundled(datasets.load_diabetes, words=False), "rmse"),
    MessyTable("adult", ".csv.zip", _adult),
    MessyTable("adult_uneven", ".csv", _uneven_adult, "auc"),
    MessyTable("sms_spam", ".csv", _sms),
    MessyTable("names18", ".tsv", _names),
    MessyTable("splice", ".csv.xz", _public("splice_uci/splice.csv.xz", header=None)),
    MessyTable("spambase", ".feather", _public("spambase/spam.data.xz", sep=" ", header=None)),
    MessyTable("docstrings", ".jsonl", _docstrings),
    MessyTable("anes96", ".csv", _statsmodels("anes96", "vote")),
    MessyTable("affairs", ".db", _statsmodels("fair", "affairs"), "rmse"),
    MessyTable("doctor_visits", ".comma.csv", _statsmodels("randhie", "mdvis"), "rmse"),
    MessyTable("star98", ".comma.csv", _statsmodels("star98", "NABOVE"), "rmse"),
]
