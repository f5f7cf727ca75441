"""The file formats. One entry of :data:`FORMATS` is all that :func:`mercer.read`, the command line and its help need.

A new format of rows is a function ``columns_of(source, options)`` that gives named columns, and one call of
:func:`register`; a format of other items has a function ``read(source, options) -> Table`` instead. Modules of the
library's own formats are imported when a file needs them, so that the entries cost nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..messages import enumeration

if TYPE_CHECKING:
    from .assemble import RawTable
    from .sources import Source
    from .table import Options, Table


def _never(source: Any) -> bool:
    return False


@dataclass(frozen=True)
class Folder:
    """A format whose data is a folder of files.

    Parameters
    ----------
    title : str
        What messages call such a folder.
    holds : callable
        Whether a path, of a folder or of no file at all, is one.
    read : callable
        Makes a table of such a path, as the options say.
    """

    title: str
    holds: Callable[[Path], bool]
    read: Callable[[Path, Options], Table]


@dataclass(frozen=True)
class Format:
    """A kind of file that can be read.

    Parameters
    ----------
    name : str
        As in ``read(..., format=...)`` and ``--format``.
    title : str
        What help calls such files.
    suffixes : tuple of str
        In small letters, each with its dot.
    read : callable, optional
        Makes a table of a source, as the options say. A format of rows has ``columns_of`` instead.
    holds : {"rows", "strings", "sets", "graphs"}
        What a table of it is made of. Labels of items other than rows may be in a file of their own.
    looks_like : callable
        Whether a source without a known suffix looks like this format. The first that says so reads it.
    signed : bool
        Whether ``looks_like`` finds a signature that no other file has, and that counts more than a suffix.
    extra : str
        The extra of the package that brings what it needs, as in ``pip install 'mercer[excel]'``.
    folder : Folder, optional
        How it is read from a folder of files.
    columns_of : callable, optional
        Gives the columns of a source before a table is made of them, so that several files can become one table: a
        mapping from names to lists of numbers, words or dates, ``None`` where one is missing; or a
        :class:`~mercer.io.RawTable`.
    has_sheets : bool
        Whether a file may hold several tables, each with a name (``read(..., sheet=...)``).

    Examples
    --------
    >>> import pathlib, tempfile, mercer
    >>> from mercer.io import FORMATS, Format, register
    >>> def columns_of(source, options):  # a word and a number in each line
    ...     words, numbers = zip(*(line.split(":") for line in source.text.splitlines()))
    ...     return {"number": numbers, "word": words}
    >>> _ = register(Format("pairs", "files of pairs", (".pairs",), columns_of=columns_of))
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "scores.pairs"
    >>> _ = path.write_text("a:1\\nb:2.5\\n")
    >>> mercer.read(path)
    <Table 'scores': 2 rows, 1 column; target 'word': 'a' (1) and 'b' (1)>
    >>> _ = FORMATS.pop("pairs")
    """

    name: str
    title: str
    suffixes: tuple[str, ...]
    read: Callable[[Source, Options], Table] | None = None
    holds: str = "rows"
    looks_like: Callable[[Source], bool] = _never
    signed: bool = False
    extra: str = ""
    folder: Folder | None = None
    columns_of: Callable[[Source, Options], RawTable | Mapping[str, Any]] | None = None
    has_sheets: bool = False

    def __post_init__(self) -> None:
        if self.read is None and self.columns_of is None:
            raise ValueError(f"the format {self.name!r} cannot be read: give it columns_of or read.")

    def raw_table(self, source: Source, options: Options) -> RawTable:
        """The columns of a source, of a format that has ``columns_of``."""
        from .assemble import RawTable, of_values

        assert self.columns_of is not None
        found = self.columns_of(source, options)
        return found if isinstance(found, RawTable) else of_values(found, source, options)

    def table(self, source: Source, options: Options) -> Table:
        """The table of a source."""
        from .assemble import assembled

        if self.read is not None:
            return self.read(source, options)
        return assembled(self.raw_table(source, options), options)


#: Every format by its name, in the order in which files are tried.
FORMATS: dict[str, Format] = {}


def register(entry: Format) -> Format:
    """Make a format known.

    Parameters
    ----------
    entry : Format

    Returns
    -------
    Format
        The same.
    """
    if entry.name in FORMATS:
        raise ValueError(f"there is a format {entry.name!r} already; choose another name.")
    FORMATS[entry.name] = entry
    return entry


def format_of(source: Source) -> Format:
    """The format of a file: by its signature, by its suffix, or else by what it looks like."""
    for entry in FORMATS.values():
        if entry.signed and entry.looks_like(source):
            return entry
    for entry in FORMATS.values():
        if source.suffix in entry.suffixes:
            return entry
    return next((entry for entry in FORMATS.values() if entry.looks_like(source)), FORMATS["csv"])


def formats_in_words() -> str:
    """What can be read, in a sentence.

    Examples
    --------
    >>> formats_in_words()  # doctest: +ELLIPSIS
    'rows from CSV files and their relatives, Excel workbooks, ... and svmlight files; strings from FASTA files; ...'
    """
    titles: dict[str, list[str]] = {}
    for entry in FORMATS.values():
        titles.setdefault(entry.holds, []).append(entry.title)
    return "; ".join(f"{holds} from {enumeration(each)}" for holds, each in titles.items())


def _later(module: str, function: str) -> Callable[..., Any]:
    """A function of a module beside this one, which is imported when it is called."""
    return lambda *given: getattr(import_module(f".{module}", __package__), function)(*given)


def _of_rows(
    name: str, title: str, suffixes: tuple[str, ...], module: str, function: str = "columns_of", **more: Any
) -> Format:
    """A format of rows, whose module has a function that gives their columns."""
    return Format(name, title, suffixes, columns_of=_later(module, function), **more)


def _signed(module: str, function: str = "looks_like") -> dict[str, Any]:
    return {"looks_like": _later(module, function), "signed": True}


for _entry in (
    _of_rows("csv", "CSV files and their relatives", (".csv", ".tsv", ".tab"), "csv"),
    _of_rows("excel", "Excel workbooks", (".xlsx", ".xlsm"), "sheets", has_sheets=True, extra="excel",
             **_signed("sheets")),
    _of_rows("json", "JSON files, also with a record in each line", (".json", ".jsonl", ".ndjson"), "records",
             looks_like=_later("records", "looks_like")),
    _of_rows("arff", "ARFF and KEEL files", (".arff",), "arff", **_signed("arff")),
    _of_rows("parquet", "Parquet files", (".parquet",), "arrow", "parquet_columns", extra="parquet",
             **_signed("arrow", "looks_like_parquet")),
    _of_rows("feather", "Feather and Arrow files", (".feather", ".arrow"), "arrow", "feather_columns", extra="parquet",
             **_signed("arrow", "looks_like_feather")),
    _of_rows("sqlite", "SQLite databases", (".sqlite", ".sqlite3", ".db"), "databases", has_sheets=True,
             **_signed("databases")),
    Format("svmlight", "svmlight files", (".svm", ".svmlight", ".libsvm"), _later("svmlight", "read"),
           looks_like=_later("svmlight", "looks_like")),
    Format("fasta", "FASTA files", (".fasta", ".fa", ".fna", ".faa"), _later("structures", "fasta_table"),
           holds="strings", looks_like=_later("structures", "looks_like_fasta")),
    Format("baskets", "basket files, one set a line", (".basket", ".baskets"), _later("structures", "basket_table"),
           holds="sets"),
    Format("graphs", "folders and tar archives in the TU format", (".tar", ".tgz", ".txz"),
           _later("structures", "graph_table"), holds="graphs", looks_like=_later("structures", "looks_like_tar"),
           folder=Folder(
               "a folder of graphs with files NAME_A.txt, NAME_graph_indicator.txt and NAME_graph_labels.txt",
               _later("structures", "in_folder"), _later("structures", "graph_folder_table"))),
):  # fmt: skip
    register(_entry)
