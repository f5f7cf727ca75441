"""What people build from scikit-learn for a file that they know: the peers of ``mercer compare``."""

from __future__ import annotations

import json
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor, make_column_transformer
from sklearn.decomposition import TruncatedSVD
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.svm import SVC as ScikitSVC
from sklearn.svm import SVR as ScikitSVR

from mercer import SVC, SVR

from .public_files import Halves, PublicTable

__all__ = ["with_peers"]

_MOST_ROWS_OF_A_GRID = 10_000
_GRID = {"C": [1, 10, 100], "gamma": ["scale", 0.01]}
_PEERS = ("boosting", "forest", "svm", "svm grid", "mercer svm")


def _days(frame: pd.DataFrame) -> Any:
    """Of every date its day as a number, its hour and its day of the week."""
    columns = []
    for name in frame:
        moments = pd.to_datetime(frame[name], format="mixed", dayfirst="/" in str(frame[name].iloc[0]))
        days = (moments - pd.Timestamp("2000-01-01")) / pd.Timedelta(days=1)
        columns += [days, moments.dt.hour, moments.dt.dayofweek]
    return np.column_stack(columns)


def _filled_words(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.astype(object).where(frame.notna(), "missing").astype(str)


def _texts(frame: pd.DataFrame) -> pd.Series:
    return frame.iloc[:, 0].fillna("").astype(str)


def prepared(table: PublicTable, frame: pd.DataFrame, for_trees: bool) -> tuple[ColumnTransformer, int]:
    """What prepares the columns, and how many of the first features are categories by number (for trees)."""
    known = {table.target, *table.drop, *table.texts, *table.dates}
    others = [name for name in frame if name not in known and frame[name].notna().any()]
    numbers = [name for name in others if pd.api.types.is_numeric_dtype(frame[name]) and frame[name].dtype != bool]
    words = [name for name in others if name not in numbers]
    letters = make_pipeline(FunctionTransformer(_texts), TfidfVectorizer(analyzer="char", ngram_range=(1, 4), min_df=2))
    days = FunctionTransformer(_days)
    if for_trees:
        encode = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan, max_categories=250)
        few = make_pipeline(letters, TruncatedSVD(50, random_state=0))
        texts = [(few, [name]) for name in table.texts]
        steps = (encode, words), ("passthrough", numbers), (days, list(table.dates)), *texts
        return make_column_transformer(*steps), len(words)
    filled = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
    indicators = make_pipeline(FunctionTransformer(_filled_words), OneHotEncoder(handle_unknown="ignore"))
    texts = [(letters, [name]) for name in table.texts]
    dates = make_pipeline(days, StandardScaler())
    return make_column_transformer((filled, numbers), (indicators, words), (dates, list(table.dates)), *texts), 0


def learner(peer: str, classes: bool, categories: int) -> Any:
    """The learner of a peer; the first features are that many categories by number."""
    if peer == "boosting":
        boosting = HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
        return boosting(random_state=0, categorical_features=list(range(categories)))
    if peer == "forest":
        return (RandomForestClassifier if classes else RandomForestRegressor)(300, random_state=0)
    if peer == "mercer svm":
        machine = SVC() if classes else SVR()
    else:
        machine = (ScikitSVC if classes else ScikitSVR)(cache_size=1000)
    if peer == "svm grid":
        scoring = None if classes else "neg_root_mean_squared_error"
        machine = GridSearchCV(machine, _GRID, cv=3, scoring=scoring)
    return machine if classes else TransformedTargetRegressor(machine, transformer=StandardScaler())


def predicted(table: PublicTable, peer: str, halves: Halves) -> list[Any]:
    """What a peer says of the rows held out."""
    rows = halves.train[halves.train[table.target].notna()]
    if peer == "svm grid" and len(rows) > _MOST_ROWS_OF_A_GRID:
        rows = rows.sample(_MOST_ROWS_OF_A_GRID, random_state=0)
    classes = table.task == "classes"
    y = rows[table.target].astype(str if classes else float).to_numpy()
    preparation, categories = prepared(table, rows, for_trees=peer in ("boosting", "forest"))
    model = make_pipeline(preparation, learner(peer, classes, categories))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return list(model.fit(rows, y).predict(halves.held).tolist())


def with_peers(table: PublicTable, halves: Halves, cache: Path | None) -> dict[str, list[Any]]:
    """The predictions of every peer, from the cache where they are there."""
    answers = {}
    for peer in _PEERS:
        kept = cache / f"{table.name}.{peer.replace(' ', '-')}.json" if cache else None
        if kept and kept.exists() and (facts := json.loads(kept.read_text()))["digest"] == halves.digest:
            answers[peer] = facts["predictions"]
            continue
        begin = time.perf_counter()
        answers[peer] = predicted(table, peer, halves)
        if kept:
            seconds = round(time.perf_counter() - begin, 1)
            kept.write_text(json.dumps({"digest": halves.digest, "seconds": seconds, "predictions": answers[peer]}))
    return answers
