"""Options that several commands share, each group as one decorator."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..composition import machine_of
from ..io import FORMATS, DataError, Options
from .paths import READ, ROWS, learner_names, scoring_names
from .printing import Printer

if TYPE_CHECKING:
    from ..learners import Learner

Command = Callable[..., Any]
#: One place where rows are, or a list of them.
Places = Any


def _grouped(options: list[Command], into: str, make: Callable[..., Any]) -> Command:
    """A decorator that adds options and hands them to the command as one argument."""
    names = [click.command(option(lambda: None)).params[0].name for option in options]

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def wrapped(*args: Any, **given: Any) -> Any:
            group = {name: given.pop(name) for name in names}
            return command(*args, **{into: make(**group)}, **given)

        for option in reversed(options):
            wrapped = option(wrapped)
        return wrapped

    return decorate


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
    command = click.option(
        "--config",
        type=READ,
        is_eager=True,
        expose_value=False,
        callback=_use_config,
        help="A TOML file with options, for all commands or under [command].",
    )(command)
    command = click.option(
        "--seed", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True, help="Fixes everything random."
    )(command)
    return _grouped(
        [
            click.option("--json", is_flag=True, help="Print the result as JSON."),
            click.option("-q", "--quiet", is_flag=True, help="No notes and no progress, results only."),
        ],
        "printer",
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
            "-t",
            "--target",
            help="The column of labels, by name or position from 0. [default: -1, the last; none for cluster and map]",
        ),
        click.option("--drop", multiple=True, metavar="COLUMN", help="Leave a column out. May be repeated."),
        click.option(
            "--category",
            "categories",
            multiple=True,
            metavar="COLUMN",
            help="Read a column as categories though it looks like numbers.",
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
            help="Fill missing numbers; missing categories become one of their own. none: refuse them. [default: the "
            "median, and a column that says where]",
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
    """What a text stands for: a number, a word, or a list of them, with commas between."""
    if "," in text and "(" not in text:
        return [_value(each.strip()) for each in text.split(",") if each.strip()]
    words: dict[str, Any] = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


# Options about what is good, and how rows are divided to find out.


def _known_measure(context: click.Context, parameter: click.Parameter, given: str | None) -> str | None:
    """The name of a measure, of classes or of numbers; a wrong one is a mistake of usage."""
    if given is None:
        return None
    from ..study import class_measures, measure_named, number_measures

    refusals = []
    for task in ("classify", "regress"):
        try:
            measure_named(given, task)
        except ValueError as error:
            refusals.append(str(error))
    if len(refusals) == 2:
        hint = refusals[0].partition("; ")[2].partition("The names")[0].partition("the names")[0]
        of_classes, of_numbers = ", ".join(class_measures([0, 1])), ", ".join(number_measures())
        raise click.BadParameter(
            f"there is no measure {given!r}; {hint}Of classes there are {of_classes}; of numbers {of_numbers}."
        )
    return given


_JUDGING = [
    click.option(
        "--scoring",
        callback=_known_measure,
        shell_complete=scoring_names,
        metavar="MEASURE",
        help="What is good: accuracy, balanced_accuracy, roc_auc, average_precision, f1, mcc or log_loss of classes; "
        'rmse, mae, r2 or "pinball(0.9)" of numbers. [default: accuracy, or where a class is rare '
        "balanced_accuracy, of several classes f1; rmse]",
    ),
    click.option(
        "--positive", metavar="LABEL", help="Of two classes the one that f1 and average_precision are of. [default: "
        "the rarer one]"
    ),
    click.option(
        "--group", metavar="COLUMN", help="Keep rows with the same value here on one side of every split; no feature."
    ),
    click.option(
        "--time",
        metavar="COLUMN",
        help="Order rows by this column: predict later rows from earlier ones only. Its trend, season, "
        "weekday and hour become features.",
    ),
    click.option("--ordered", is_flag=True, help="The rows of the file are in the order of time already."),
    click.option(
        "--repeats",
        type=click.IntRange(1, 100),
        help="How often folds are drawn. [default: 3 below 500 training rows, else 1]",
    ),
]  # fmt: skip


def judging_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--scoring``, ``--positive``, ``--group``, ``--time``, ``--ordered``, ``--repeats``, under these names."""
    for option in reversed(_JUDGING):
        command = option(command)
    return command


def with_apart(reading: dict[str, Any], group: str | None, time: str | None) -> dict[str, Any]:
    """How to read a table of groups or in the order of time: columns that tell these may look like ids."""
    apart = {**({group: "category"} if group else {}), **({time: "keep"} if time else {})}
    return {**reading, "kinds": {**apart, **reading["kinds"]}}


def placing(learner: Learner, **said: Any) -> dict[str, Any]:
    """Parameters that say where the kernel matrix lives, of a learner that has them."""
    given = {name: value for name, value in said.items() if value is not None}
    known = machine_of(learner.build()).get_params(deep=False)
    if strange := [name for name in given if name not in known or not learner.takes_kernel]:
        raise DataError(
            f"{learner.name} has no --{strange[0]}; svc, kernel-logistic, kernel-squared-hinge and kernel-ridge do."
        )
    return given


def options_of(reading: dict[str, Any]) -> Any:
    """Arguments of :func:`mercer.read` as the options that they stand for."""
    sets = ("drop", "missing", "columns")
    given: dict[str, Any] = {name: frozenset(reading[name]) for name in sets if reading.get(name) is not None}
    return Options(**{**reading, **given})
