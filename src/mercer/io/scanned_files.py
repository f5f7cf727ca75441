"""Which files a table that is read in chunks consists of."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from .._validation.parameters import shown as as_shown
from .._validation.wording import enumeration
from .naming import named, together
from .options import Options
from .sources import suffix_of
from .table import DataError

__all__ = ["ARRAY", "CSV", "PARQUET", "SVMLIGHT", "ScannedFiles"]

#: Suffixes of files that can be read in chunks.
PARQUET, CSV = (".parquet",), (".csv", ".tsv", ".tab")
SVMLIGHT, ARRAY = (".svm", ".svmlight", ".libsvm"), (".npy",)
_KNOWN = (*PARQUET, *CSV, *SVMLIGHT, *ARRAY)


class ScannedFiles(NamedTuple):
    """Files of one kind, in the order of their rows."""

    paths: list[Path]
    #: What tables and messages call all of them together.
    name: str
    shown: str

    @classmethod
    def of(cls, source: str | Path | Sequence[str | Path]) -> ScannedFiles:
        """The files that a path, a folder, a pattern or several of them stand for."""
        sources = [Path(source)] if isinstance(source, (str, Path)) else [Path(each) for each in source]
        if not sources:
            raise DataError("no file is named; give at least one.")
        paths = [path for each in sources for path in _paths(each)]
        if len({suffix_of(path) for path in paths}) != 1:
            kinds = enumeration(sorted({suffix_of(path) for path in paths}))
            raise DataError(f"files that are read together must be of one kind, and these are {kinds}; name one kind.")
        if len(sources) == 1 and sources[0].is_dir():
            folder = sources[0].resolve().name
            return cls(paths, folder, repr(folder))
        name = paths[0].name.partition(".")[0]
        return cls(paths, name, repr(paths[0].name) if len(paths) == 1 else together([str(path) for path in paths]))

    @property
    def suffix(self) -> str:
        """What tells the kind of the files."""
        return suffix_of(self.paths[0])

    def the_only_one(self, kind: str) -> Path:
        """The file, where a table of this kind is one."""
        if len(self.paths) != 1:
            raise DataError(f"{self.shown}: {len(self.paths)} {kind} are not read together; name one of them.")
        return self.paths[0]

    @property
    def divided_by(self) -> dict[str, str]:
        """The columns by which files are divided among folders such as ``year=2024``, each with one of the folders.

        Examples
        --------
        >>> ScannedFiles([Path("t/year=1/a.csv"), Path("t/year=2/a.csv")], "t", "'t'").divided_by
        {'year': 'year=1'}
        """
        folders: dict[str, dict[str, None]] = {}
        for path in self.paths:
            for part in path.parent.parts:
                column, mark, _ = part.partition("=")
                if column and mark:
                    folders.setdefault(column, {})[part] = None
        return {column: next(iter(parts)) for column, parts in folders.items() if len(parts) > 1}

    def refuse_divided(self, columns: Sequence[str], options: Options) -> None:
        """Raise where a column that is asked for is in the names of folders, and in no file."""
        for column, folder in self.divided_by.items():
            asked = options.columns is None or column in options.columns or column == options.target
            if column not in columns and column not in options.drop and asked:
                raise DataError(
                    f"{self.shown}: the column {column!r} is in the names of folders ({folder!r}) and in no file; "
                    f"store it in the files, or leave it out (drop={[column]!r})."
                )


def _paths(place: Path) -> list[Path]:
    if place.is_dir():
        return _inside(place)
    paths = [Path(path) for path, _ in named(str(place), None)]
    for path in paths:
        if not path.exists():
            raise DataError(f"there is no file {as_shown(str(path))}.")
        if suffix_of(path) not in _KNOWN:
            raise DataError(
                f"{path.name!r} cannot be read in chunks, which {enumeration(_KNOWN, last='or')} files can; use "
                "mercer.read, or store it as Parquet."
            )
    return paths


def _inside(folder: Path) -> list[Path]:
    """The files of a folder and of those in it, in the order of their names."""
    inside = sorted(each for each in folder.rglob("*") if each.is_file() and each.name[0] not in "._")
    found = [each for each in inside if suffix_of(each) in _KNOWN]
    if len({suffix_of(each) for each in found}) != 1:
        raise DataError(
            f"the folder {folder.name!r} should hold files of one kind that can be read in chunks "
            f"({enumeration(_KNOWN, last='or')}); it holds "
            f"{enumeration(sorted({each.suffix for each in inside}) or ['none'])}."
        )
    return found
