"""Public files, cut into the rows to learn from and the rows held out. None of them is part of the project."""

from __future__ import annotations

import csv
import hashlib
import io
import tomllib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from .data import data_path

__all__ = ["Halves", "PublicTable", "found", "split", "tables_of"]

_MOST_ROWS = 40_000
_SUFFIXES = (".csv", ".tsv", ".xlsx", ".parquet")


@dataclass(frozen=True)
class PublicTable:
    """A file, the column that is learned from it, and what the peers are told of the others."""

    name: str
    target: str
    task: str
    drop: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()


def tables_of(folder: Path | None) -> list[PublicTable]:
    """The tables that a folder lists, else those listed beside this script."""
    listed = folder / "tables.toml" if folder else None
    if listed is None or not listed.exists():
        listed = Path(__file__).with_name("public_tables.toml")
    return [PublicTable(name, **facts) for name, facts in tomllib.loads(listed.read_text()).items()]


def found(table: PublicTable, folder: Path | None) -> Path | None:
    """The file of a table in one of the formats; ``None``, said aloud, where there is none."""
    for suffix in _SUFFIXES:
        if folder and (folder / f"{table.name}{suffix}").exists():
            return folder / f"{table.name}{suffix}"
    return data_path(f"{table.name}.csv", str(folder / f"{table.name}.csv") if folder else None)


def cells(path: Path) -> tuple[list[str], list[list[str]]]:
    """The names of the columns, and the rows as they are written."""
    if path.suffix in (".xlsx", ".parquet"):
        frame = pd.read_excel(path) if path.suffix == ".xlsx" else pd.read_parquet(path)
        words = frame.astype(object).where(frame.notna(), "").astype(str)
        return [str(name) for name in frame], words.to_numpy().tolist()
    text = path.read_text("utf-8-sig")
    first = text.partition("\n")[0]
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=first.count))
    names, *others = [row for row in rows if row]
    return names, others


def write(path: Path, names: list[str], rows: list[list[str]]) -> None:
    """Write rows as a CSV file."""
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([names, *rows])


@dataclass(frozen=True)
class Halves:
    """The rows to learn from and those held out, as frames, and the files that mercer gets."""

    train: pd.DataFrame
    held: pd.DataFrame
    train_file: Path
    new_file: Path

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.train_file.read_bytes() + self.new_file.read_bytes()).hexdigest()


def split(table: PublicTable, path: Path, folder: Path) -> Halves:
    """Write the training rows and, without their target, the rows held out."""
    names, rows = cells(path)
    place = [name.strip() for name in names].index(table.target)
    if len(rows) > _MOST_ROWS:
        print(f"{table.name}: {_MOST_ROWS} of {len(rows)} rows are drawn")
        rows = [rows[i] for i in np.sort(np.random.default_rng(0).choice(len(rows), _MOST_ROWS, False))]
    write(folder / "all.csv", names, rows)
    frame = pd.read_csv(folder / "all.csv", na_values="?", skipinitialspace=True, low_memory=False)
    frame.columns = frame.columns.str.strip()
    target = frame[table.target]
    classes = table.task == "classes"
    known = (target.notna() & (target.map(target.value_counts()) > 1 if classes else True)).to_numpy()
    taken = np.zeros(len(rows), bool)
    stratify = target[known] if classes else None
    taken[train_test_split(np.flatnonzero(known), test_size=0.25, random_state=0, stratify=stratify)[1]] = True
    halves = Halves(frame[~taken], frame[taken], folder / "train.csv", folder / "new.csv")
    write(halves.train_file, names, [row for row, held in zip(rows, taken, strict=True) if not held])
    without = [row[:place] + row[place + 1 :] for row, held in zip(rows, taken, strict=True) if held]
    write(halves.new_file, names[:place] + names[place + 1 :], without)
    return halves
