"""Options that several commands share, each group as one decorator."""

from __future__ import annotations

import functools
import io
import os
import sys
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..io import FORMATS, DataError
from ..messages import enumeration, nearest
from .paths import READ, ROWS, learner_names
from .printing import Printer

if TYPE_CHECKING:
    from ..io import Table
    from ..learners import Learner
    from .recipe import Recipe

Command = Callable[..., Any]
#: One place where rows are, or a list of them.
Places = Any


def _grouped(options: list[Command], into: str, names: dict[str, str], make: Callable[..., Any]) -> Command:
    """A decorator that adds options and hands them to the command as one argument."""

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def wrapped(*args: Any, **given: Any) -> Any:
            group = {argument: given.pop(option) for option, argument in names.items()}
            return command(*args, **{into: make(**group)}, **given)

        for option in reversed(options):
            wrapped = option(wrapped)
        return wrapped

    return decorate


def _same(*names: str) -> dict[str, str]:
    return dict(zip(names, names, strict=True))


def _use_config(context: click.Context, parameter: click.Parameter, path: str | None) -> None:
    """Options from a TOML file stand where none are given on the command line."""
    if path is None:
        return
    try:
        content = tomllib.loads(Path(path).read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise click.BadParameter(f"{path!r} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    except ValueError:  # Python reads no number of thousands of digits
        raise click.BadParameter(f"{path!r} holds a number of more digits than can be read; correct it") from None
    name = context.info_name or ""
    values = {key: value for key, value in content.items() if not isinstance(value, dict)}
    own = content.get(name)
    own = own if isinstance(own, dict) else {}
    options = {text.lstrip("-"): option.name for option in context.command.params for text in option.opts}
    for key in own:
        if key not in options:
            raise click.BadParameter(f"{path!r} sets {key!r} for {name}, which has no such option")
    found = {options[key]: value for key, value in {**values, **own}.items() if key in options}
    context.default_map = {**(context.default_map or {}), **found}


def common(command: Command) -> Command:
    """``--json``, ``--quiet``, ``--seed``, ``--config``: the command gets ``printer`` and ``seed``."""
    return _grouped(
        [
            click.option("--json", "as_json", is_flag=True, help="Print the result as JSON."),
            click.option("-q", "--quiet", is_flag=True, help="No notes and no progress, results only."),
            click.option(
                "--seed",
                type=click.IntRange(0, 2**32 - 1),
                default=0,
                show_default=True,
                help="Fixes everything random.",
            ),
            click.option(
                "--config",
                type=READ,
                is_eager=True,
                expose_value=False,
                callback=_use_config,
                help="A TOML file with options, for all commands or under [command].",
            ),
        ],
        "printer",
        {"as_json": "json", "quiet": "quiet"},
        Printer,
    )(command)


def _kinds(context: click.Context, parameter: click.Parameter, given: tuple[str, ...]) -> dict[str, str]:
    """``--as age=number`` and the like, as a dictionary; names of columns may hold ``=``."""
    from ..columns import KINDS, check_kind

    found = {}
    for text in given:
        name, equals, kind = text.rpartition("=")
        if not equals or not name or not check_kind(kind):
            known = ", ".join(KINDS)
            raise click.BadParameter(f"{text!r} should look like COLUMN=KIND, where KIND is one of {known}")
        found[name] = kind
    return found


def one_or_several(context: click.Context, parameter: click.Parameter, given: tuple[str, ...]) -> str | list[str]:
    return given[0] if len(given) == 1 else list(given)


#: Where the rows are: the command gets ``data``, one place or a list of them, as :func:`mercer.read` takes it.
data_argument = click.argument("data", type=ROWS, nargs=-1, required=True, callback=one_or_several)


def _reading(**given: Any) -> dict[str, Any]:
    if given["delimiter"] == "\\t":  # a tab as people write it in a shell
        given["delimiter"] = "\t"
    given["kinds"] = {**dict.fromkeys(given.pop("categories"), "category"), **given.pop("kinds")}
    given["unlabelled_rows"] = "drop" if given.pop("drop_unlabelled") else None
    return given


#: How to read DATA: the command gets ``reading``, arguments of :func:`mercer.read`.
data_options = _grouped(
    [
        click.option(
            "-t", "--target", help="The column of labels, by name or by position from 0 (-1: the last). [default: -1]"
        ),
        click.option("--drop", multiple=True, metavar="COLUMN", help="Leave a column out. May be repeated."),
        click.option(
            "--category",
            "categories",
            multiple=True,
            metavar="COLUMN",
            help="Read a column as words though it looks like numbers.",
        ),
        click.option(
            "--as",
            "kinds",
            multiple=True,
            metavar="COLUMN=KIND",
            callback=_kinds,
            help="What a column holds, whatever it looks like: number, category, date (or how dates are written, "
            "date:%d.%m.%Y), text, keep (as it looks, but not left out) or ignore. May be repeated. [default: look]",
        ),
        click.option(
            "--missing",
            multiple=True,
            metavar="WORD",
            help="A further word that means a missing value, besides ? and NA.",
        ),
        click.option(
            "--missing-words/--no-missing-words",
            default=True,
            help="Whether ?, NA, NaN and NULL mean a missing value, or empty cells only.",
        ),
        click.option(
            "--drop-unlabelled", is_flag=True, help="Leave rows without a label out, even if these are more than half."
        ),
        click.option(
            "--header/--no-header", default=None, help="Whether the first line names the columns. [default: look]"
        ),
        click.option("--delimiter", help="What stands between cells. [default: look]"),
        click.option("--decimal", type=click.Choice([".", ","]), help="The decimal sign. [default: look]"),
        click.option("--quotes/--no-quotes", default=True, help='Whether " protects a cell.'),
        click.option(
            "--format",
            type=click.Choice(list(FORMATS)),
            help="The format of DATA. [default: look]",
        ),
        click.option(
            "--sheet",
            metavar="NAME",
            help="The sheet of a workbook, the file of an archive or the table of a database. [default: the first "
            "sheet, all files, the only table]",
        ),
        click.option(
            "--zero-based/--one-based",
            default=None,
            help="Whether features of a svmlight file are numbered from 0 or 1. [default: as in training, or look]",
        ),
        click.option(
            "--labels",
            type=READ,
            metavar="FILE",
            help="The labels of strings, sets or graphs: one a line, or name and label.",
        ),
        click.option(
            "--task",
            type=click.Choice(["classify", "regress"]),
            help="Whether the target holds classes or numbers. [default: look]",
        ),
        click.option("--max-bytes", default="1GB", show_default=True, help="What the file may take, unpacked."),
    ],
    "reading",
    _same(
        "target",
        "drop",
        "categories",
        "kinds",
        "missing",
        "missing_words",
        "drop_unlabelled",
        "header",
        "delimiter",
        "decimal",
        "quotes",
        "format",
        "sheet",
        "zero_based",
        "labels",
        "task",
        "max_bytes",
    ),
    _reading,
)


def _preparing(**given: Any) -> dict[str, Any]:
    scale, min_max = given.pop("standardise"), given.pop("min_max")
    if min_max and scale:
        raise click.UsageError("--standardise and --min-max exclude each other.")
    given["standardise"] = "minmax" if min_max else "auto" if scale is None else scale
    return given


#: What happens to rows before they are learned: the command gets ``preparing``, arguments of ``preprocess.pipeline``.
preparation_options = _grouped(
    [
        click.option(
            "--standardise/--no-standardise",
            default=None,
            help="Bring numbers to mean 0 and deviation 1. [default: unless sparse]",
        ),
        click.option("--min-max", is_flag=True, help="Bring numbers to the range 0 to 1 instead."),
        click.option(
            "--impute",
            type=click.Choice(["mean", "median", "most_frequent", "none"]),
            help="Fill missing numbers; missing words become a category. none: refuse them. [default: the median, "
            "and a column that says where]",
        ),
        click.option(
            "--outliers", type=click.Choice(["iqr", "zscore"]), help="Leave outliers out of the training rows."
        ),
        click.option(
            "--outlier-factor",
            type=click.FloatRange(0, min_open=True),
            help="How far out. [default: 1.5 (iqr), 3 (zscore)]",
        ),
        click.option(
            "--correlation",
            type=click.FloatRange(0, 1, min_open=True),
            metavar="R",
            help="Keep the first of columns correlated more than R.",
        ),
        click.option("--constant", is_flag=True, help="Add a constant feature."),
    ],
    "preparing",
    _same("standardise", "min_max", "impute", "outliers", "outlier_factor", "correlation", "constant"),
    _preparing,
)


#: What happens to targets before they are learned.
target_transform_option = click.option(
    "--target-transform",
    type=click.Choice(["auto", "log", "none"]),
    default="auto",
    show_default=True,
    help="Of numbers: learn the logarithm of the target. auto: where it is skewed and has less error so.",
)


class _LearnerName(click.ParamType):
    name = "learner"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        from ..learners import Learner, named

        if isinstance(value, Learner):
            return value
        try:
            return named(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


learner_argument = click.argument("learner", type=_LearnerName(), shell_complete=learner_names)


#: What stands above the learners of each task.
_TITLES = {
    "classify": "Classifiers",
    "regress": "Regressors",
    "detect": "Outlier detectors, from rows without labels (mercer train)",
}


class LearnerCommand(click.Command):
    """A command whose help ends with the learners there are; they are looked up when somebody asks for help."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        from ..learners import LEARNERS

        for task, title in _TITLES.items():
            families: dict[str, list[str]] = {}
            for learner in LEARNERS.values():
                if learner.task == task:
                    families.setdefault(learner.family, []).append(learner.name)
            with formatter.section(title):
                formatter.write_dl([(family, ", ".join(names)) for family, names in families.items()])


def parameters(context: click.Context, parameter: click.Parameter, given: tuple[str, ...]) -> dict[str, Any]:
    """``--set C=10`` and the like, as a dictionary."""
    found = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name.strip().isidentifier():
            raise click.BadParameter(f"{text!r} should look like C=10")
        found[name.strip()] = _value(value.strip())
    if "kernel" in found:
        raise click.BadParameter(f"a kernel has an option of its own; write --kernel {found['kernel']!r}")
    return found


def _value(text: str) -> Any:
    words: dict[str, Any] = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


# Tables in files that may take more than the memory allowed, and that can be read in chunks then.


#: Suffixes of tables that can be read in chunks, which all files of a folder must share.
_KINDS: list[set[str]] = [{".parquet"}, {".csv"}, {".tsv"}, {".tab"}]
#: What a number takes in memory, in bytes; a cell of text takes about as much on disk.
_NUMBER = 8
#: Text that is packed is about so many times larger unpacked; gzip's own record of its size is lost beyond 4 GB.
_UNPACKED = 4


def in_chunks(data: Places, allowed: int) -> bool:
    """Whether a table can be read in chunks and would take more than so many bytes.

    A Parquet file tells how many numbers it holds; of a text file the size on disk is taken for that in memory, and
    four times that of a packed one.
    """
    from ..io import suffix_of

    path = only_path(data)
    if path is None or not path.exists():
        return False
    files = _data_files(path)
    if {suffix_of(each) for each in files} not in _KINDS:
        return False
    return sum(map(_size, files)) > allowed


def only_path(data: Places) -> Path | None:
    """The one place that is named; ``None`` where there are several."""
    return Path(data if isinstance(data, str) else data[0]) if isinstance(data, str) or len(data) == 1 else None


def options_of(reading: dict[str, Any]) -> Any:
    """Arguments of :func:`mercer.read` as the options that they stand for."""
    from ..io import Options

    sets = ("drop", "missing", "columns")
    given: dict[str, Any] = {name: frozenset(reading[name]) for name in sets if reading.get(name) is not None}
    return Options(**{**reading, **given})


def _data_files(path: Path) -> list[Path]:
    """The file, or those of a folder, where other programs leave marks such as ``_SUCCESS`` as well."""
    from ..io import data_files

    if not path.is_dir():
        return [path]
    inside = [each.as_posix() for each in path.rglob("*") if each.is_file() and each.name[0] not in "._"]
    return [Path(name) for name in data_files(inside, packed=False)]


def _size(path: Path) -> int:
    """About what the table of a file takes in memory."""
    from ..io import suffix_of

    suffix = suffix_of(path)
    if suffix == ".parquet":
        return _size_of_parquet(path)
    packed = path.suffix.lower() != suffix
    return os.path.getsize(path) * (_UNPACKED if packed else 1)


def _size_of_parquet(path: Path) -> int:
    """As the file tells; nothing where it is damaged, or there is nobody to ask: whoever reads it will say so."""
    try:
        import pyarrow.parquet as pq

        facts = pq.read_metadata(path)
    except (ImportError, OSError, ValueError):
        return 0
    return _NUMBER * facts.num_rows * facts.num_columns


# Where the kernel matrix of a machine lives, as ``mercer train`` is told, and whether its rows are read in chunks.


def placing(learner: Learner, **said: Any) -> dict[str, Any]:
    """Parameters that say where the kernel matrix lives, of a learner that has them."""
    from ..checks import machine_of

    given = {name: value for name, value in said.items() if value is not None}
    known = machine_of(learner.build()).get_params(deep=False)
    if strange := [name for name in given if name not in known or not learner.takes_kernel]:
        raise DataError(
            f"{learner.name} has no --{strange[0]}; svc, kernel-logistic, kernel-squared-hinge and kernel-ridge do."
        )
    return given


def streams(data: Places, recipe: Recipe, reading: dict[str, Any]) -> bool:
    """Whether the rows are read in chunks: landmarks are asked for, and the table would take more than the memory.

    With --cluster they are read by its workers, or not at all.
    """
    from ..checks import bytes_of
    from ..rows import dask_client

    if dask_client() is not None:
        return _on_cluster(data, recipe)
    if recipe.params.get("rank") is None:
        return False
    return in_chunks(data, min(bytes_of(recipe.params.get("memory", "1GB")), bytes_of(reading["max_bytes"])))


def _on_cluster(data: Places, recipe: Recipe) -> bool:
    """Refuse what the workers of a cluster cannot do."""
    from ..io import is_parquet

    path = only_path(data)
    if recipe.params.get("rank") is None:
        raise DataError(
            f"{recipe.learner.name} compares all pairs of rows, which it needs in memory; on a cluster add --rank 1000 "
            "to learn from so many landmarks (kernel-logistic, kernel-squared-hinge, kernel-ridge), or leave --cluster "
            "out."
        )
    if path is None or not is_parquet(path):
        raise DataError(
            "the workers of a cluster read one Parquet file, or a folder of them; store the table as Parquet, or leave "
            "--cluster out."
        )
    return True


# Columns of the input that go through to the predictions as they are written in the file.


#: The word for all columns.
ALL = "all"


def kept_columns(data: Places, table: Table, keep: tuple[str, ...], reading: dict[str, Any]) -> dict[str, list[Any]]:
    """Columns as texts, also those that a model does not use.

    The file is read once more, all of these columns as words, so that ``007`` stays ``007``.

    Parameters
    ----------
    data : str or list of str
    table : Table
        What was read for the model, with all rows.
    keep : tuple of str
        Names of columns, or ``"all"``.
    reading : dict
        Arguments of :func:`mercer.read`, as the table was read.

    Returns
    -------
    dict of lists
    """
    if not keep:
        return {}
    if table.frame is None:
        raise DataError(f"--keep carries columns of a table through, and {table.name} has none; leave it out.")
    names = {*table.columns, *keep}
    if ALL in keep:
        found = _whole(data, reading, {})
        names |= {*found.columns, *found.left_out}
    whole = _whole(data, reading, dict.fromkeys(names - {ALL}, "category"))
    wanted = whole.columns if ALL in keep else list(dict.fromkeys(keep))
    for name in wanted:
        if name not in whole.columns:
            there = [*whole.columns, *whole.left_out]
            near = nearest(name, there)
            hint = f"the columns are {enumeration(map(repr, there))}." if near is None else f"did you mean {near!r}?"
            raise DataError(f"{table.name} has no column {name!r} to keep; {hint}")
    return {name: ["" if cell != cell else cell for cell in whole.X[name].tolist()] for name in wanted}


def _whole(data: Places, reading: dict[str, Any], kinds: dict[str, str]) -> Table:
    """The whole table, its target as a column like the others."""
    from ..io import read

    if "-" in ([data] if isinstance(data, str) else data):
        sys.stdin.buffer.seek(0)
    as_it_is = {"target": None, "labelled": False, "unlabelled_rows": "keep", "drop": (), "task": None, "kinds": kinds}
    return read(data, **{**reading, **as_it_is})


@contextmanager
def read_twice(data: Places, keep: tuple[str, ...], max_bytes: int | str) -> Iterator[None]:
    """Hold what stands on the standard input, where it is read and columns of it are kept."""
    if not keep or "-" not in ([data] if isinstance(data, str) else data):
        yield
        return
    from ..checks import bytes_of

    given = sys.stdin
    sys.stdin = io.TextIOWrapper(io.BytesIO(given.buffer.read(bytes_of(max_bytes) + 1)))
    try:
        yield
    finally:
        sys.stdin = given
