"""``mercer help``: what there is, topic by topic, and the help of every command."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable
from shutil import get_terminal_size
from typing import NamedTuple

import click
from click.shell_completion import get_completion_class

from ..messages import PAGES, nearest, printable
from .options import common
from .paths import topic_names
from .printing import Printer

# What there is, a screen for each topic of ``mercer help``, as the registries say it.


#: What is said of one thing: how it is written, and what it is good for.
Entry = tuple[str, str]


class Group(NamedTuple):
    """Entries of one kind, and the idea whose page of the guide explains them."""

    title: str
    idea: str
    entries: list[Entry]

    @property
    def heading(self) -> str:
        """The title and the page."""
        return f"{self.title} (guide: {PAGES[self.idea]})"


class Topic(NamedTuple):
    """A screen of help: what it is about, a sentence before it, and its groups, made when somebody asks."""

    title: str
    first: str
    groups: Callable[[], Iterable[Group]]
    last: str = ""


def _call(name: str, maker: type) -> str:
    """A thing as it is written, with its parameters and what they are unless told otherwise."""
    written = [
        each.name if each.default is each.empty else f"{each.name}={_short(each.default)}"
        for each in inspect.signature(maker).parameters.values()
        if each.default is not None
    ]
    return f"{name}({', '.join(written)})" if written else name


def _short(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else repr(value)


def with_underscores(name: str) -> str:
    """The name of a class as it is read most easily in a text.

    Examples
    --------
    >>> with_underscores("WeisfeilerLehman")
    'weisfeiler_lehman'
    """
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def _first_sentence(thing: type) -> str:
    return (inspect.getdoc(thing) or "").partition("\n")[0].partition(". ")[0].rstrip(".")


#: What kernels compare, in words, and the idea behind it.
_COMPARED = {
    "rows": ("on rows of numbers", "kernels"),
    "strings": ("on strings", "structures"),
    "sets": ("on sets and multisets", "structures"),
    "graphs": ("on graphs", "structures"),
    "categories": ("on columns of categories", "structures"),
}


def _kernels() -> Iterable[Group]:
    from ..kernels import registered

    groups: dict[str, list[Entry]] = {}
    for kernel in registered():
        made_of = "kernel" in inspect.signature(kernel).parameters or "kernels" in inspect.signature(kernel).parameters
        written = _call(with_underscores(kernel.__name__), kernel)
        if also := [name for name in kernel.__dict__.get("aliases", ()) if "_" not in name]:
            written += f", or {also[0]}"
        group = "made of kernels" if made_of else kernel.kind()
        groups.setdefault(group, []).append((written, kernel.good_for or _first_sentence(kernel)))
    for kind, (title, idea) in _COMPARED.items():
        yield Group(title, idea, groups.pop(kind, []))
    made = groups.pop("made of kernels", [])
    algebra = [
        ("k1 + k2, k1 * k2, 3 * k, k ** 2", "features side by side, of both at once, weighed, multiplied"),
        ("k.on(age, hours)", "some columns alone: gaussian.on(age) * spectrum.on(name)"),
    ]
    yield Group("made of kernels", "good kernels", algebra + made)
    for kind, entries in groups.items():
        yield Group(f"on {kind}", "new kernel", entries)


def _losses() -> Iterable[Group]:
    from ..losses import KNOWN, MarginLoss, ResidualLoss

    for title, kind in (
        ("of the margin m = y·f, for classes", MarginLoss),
        ("of the residual r = y − f", ResidualLoss),
    ):
        found = [loss for loss in KNOWN.values() if issubclass(loss, kind)]
        entries = [
            (_call(loss.name, loss), f"{_formula(loss)}; {loss.good_for}" if loss.good_for else _formula(loss))
            for loss in found
        ]
        yield Group(title, "losses", entries)


def _formula(loss: type) -> str:
    return re.split(r"[:.](?:\s|$)|, (?!−)(?=[a-z])", _first_sentence(loss).replace("``", ""))[0]


#: The ideas behind the estimators.
_IDEAS = {
    "Perceptron": "perceptron",
    "Pegasos": "pegasos",
    "SVC": "soft margin",
    "NuSVC": "soft margin",
    "SVR": "losses",
    "NuSVR": "losses",
    "KernelClassifier": "losses",
    "KernelRegressor": "losses",
    "KernelQuantiles": "probabilities",
    "GPRegressor": "probabilities",
    "OneClassSVM": "probabilities",
    "TableClassifier": "soft margin",
    "TableRegressor": "losses",
    "SVDD": "probabilities",
}
_LEARNED = {"classify": "classification", "regress": "regression", "detect": "outlier detection, without labels"}


def _learners() -> Iterable[Group]:
    from ..learners import LEARNERS

    groups: dict[tuple[str, str], list[Entry]] = {}
    for learner in LEARNERS.values():
        if learner.degree > 1:
            continue
        squared = "[-2]" if f"{learner.name}-2" in LEARNERS else ""
        tuned = ", ".join(name.removeprefix("kernel__") for name in learner.grid)
        kind = _LEARNED[learner.task], _IDEAS.get(_class_name(learner), "choosing")
        shown = tuned or ("nu" if learner.task == "detect" else "")
        written = f"{learner.name}{squared}" + (f" ({shown})" if shown else "")
        groups.setdefault(kind, []).append((written, learner.good_for or learner.title))
    for (title, idea), entries in groups.items():
        yield Group(title, idea, entries)


def _class_name(learner: object) -> str:
    """The name of the estimator, from the arguments that its maker is given."""
    return next(iter(getattr(getattr(learner, "make", None), "args", ())), "")


def _formats() -> Iterable[Group]:
    from ..io import FORMATS

    groups: dict[str, list[Entry]] = {}
    for entry in FORMATS.values():
        needed = f"; pip install 'mercer[{entry.extra}]'" if entry.extra else ""
        groups.setdefault(entry.holds, []).append((f"{entry.name}: {' '.join(entry.suffixes)}", entry.title + needed))
    for holds, entries in groups.items():
        yield Group(holds, "files" if holds == "rows" else "structures", entries)


_TUNE = "mercer tune {} unimi.csv --set {}"
_STEPS = "lam=1e-4,1e-3,1e-2,0.1 --set steps=5000,10000,20000,30000"


def _reports() -> Iterable[Group]:
    first = [
        ("Table 1, Figures 1 to 3", "mercer check unimi.csv"),
        ("Tables 2, 5", _TUNE.format("perceptron", "epochs=50,100,500,1000") + "; perceptron-2"),
        ("Tables 3, 6", _TUNE.format("pegasos", _STEPS) + "; pegasos-2"),
        ("Tables 4, 7", "the same with pegasos-logistic; pegasos-logistic-2"),
        ("Table 8, Figure 5", "mercer inspect MODEL"),
        ("Tables 9, 10", _TUNE.format("kernel-perceptron", "kernel__gamma=50,2,0.5") + "; poly-perceptron"),
        ("Tables 11, 12", _TUNE.format("kernel-pegasos", "steps=500,1000,2000") + "; poly-pegasos"),
        ("Figures 4, 6", "mercer compare unimi.csv --learners perceptron,pegasos,pegasos-logistic,..."),
    ]
    second = [
        ("1.3 train and run", "mercer train pegasos unimi.csv -o m.safetensors; mercer run m.safetensors"),
        ("2.1, 2.4 columns", "mercer check unimi.csv"),
        ("2.2, 2.3 scaling, outliers", "--min-max, --outliers zscore; --constant for 2.5"),
        ("3, 4 learners", "perceptron, pegasos, pegasos-logistic; with -2 of degree 2"),
        ("5 kernels", "kernel-perceptron, kernel-pegasos"),
    ]
    courses = [
        ("V. G. Honavar, margins and kernels", "the pages of the ideas, in the order of its slides"),
        ("G. Della Lunga, 3.3 SVM", "Perceptron, soft margin, kernels; coming from scikit-learn"),
    ]
    yield Group("M. Pancione, Kernelized Linear Classification", "reports", first)
    yield Group("D. Cognigni, Kernelized Linear Predictor", "reports", second)
    yield Group("courses", "reports", courses)


#: Every topic by its name.
TOPICS: dict[str, Topic] = {
    "kernels": Topic(
        "What \"similar\" means.",
        "A kernel is written as text: --kernel 'gaussian(gamma=0.5) + linear', SVC(\"spectrum(p=4)\"). Parameters not "
        "given are as below.",
        _kernels,
        "\"mercer kernel DATA --kernel TEXT\" says whether one is any good for your rows.",
    ),
    "losses": Topic(
        "What a mistake costs.",
        "KernelClassifier(loss=\"logistic\") and Pegasos take those of the margin, KernelRegressor(loss=\"huber\") "
        "those of the residual; on the command line --set loss=squared_hinge, or --set 'loss=Huber(delta=2)'.",
        _losses,
        "The other machines are known by their loss: an SVC has the hinge, an SVR the tube.",
    ),
    "learners": Topic(
        "What \"mercer train\", \"tune\" and \"compare\" take.",
        "In brackets what is searched; --set C=10 fixes it, --set C=1,10 says what to try. NAME-2 learns from products "
        "of two columns; those with gamma take any --kernel.",
        _learners,
        "\"mercer compare DATA\" tries the usual ones and says which to take (guide: choosing).",
    ),
    "formats": Topic(
        "What DATA may be.",
        "By --format, or by the suffix; each as it is or packed (.gz, .bz2, .xz, .zip). Several files, a folder or "
        "\"pattern*.csv\" are one table; book.xlsx#March is a sheet.",
        _formats,
        "Also the address of a database (pip install 'mercer[sql]'), - for the standard input, and the built-in tables "
        "of \"mercer datasets\".",
    ),
    "reports": Topic(
        "Where the tables of two reports and the slides of two courses are.",
        "unimi.csv is the table of both reports, which is not part of mercer; \"margins\", which is built in, has its "
        "shape.",
        _reports,
        "In the source, \"make reproduce DATA=unimi.csv\" rebuilds Tables 1 to 12 and Figures 1 to 6 of the first.",
    ),
}  # fmt: skip


#: Lines are as long as the terminal lets them, up to this.
_WIDTH = 120
#: How wide what is written may be, before what is said of it goes to the next line.
_WRITTEN = 50


@click.command("help")
@click.argument("topic", required=False, shell_complete=topic_names)
@click.pass_context
def help_command(context: click.Context, topic: str | None) -> None:
    """Say what kernels, losses, learners and file formats there are, or what a command does.

    \b
    Example:
      mercer help kernels
      mercer help train
    """
    group = context.parent.command if context.parent is not None else None
    assert isinstance(group, click.Group)
    if topic is None:
        click.echo(_topics(group, context))
    elif topic in TOPICS:
        click.echo(printable_lines(_screen(TOPICS[topic])))
    elif (command := group.get_command(context, topic)) is not None:
        with click.Context(command, parent=context.parent, info_name=topic) as asked:
            click.echo(command.get_help(asked))
        if f"{topic}s" in TOPICS:
            click.echo(f'\nWhat {topic}s there are: "mercer help {topic}s".')
    else:
        known = [*TOPICS, *group.list_commands(context)]
        near = nearest(topic.lower(), known)
        hint = f"did you mean {near!r}?" if near else '"mercer help" lists them.'
        raise click.UsageError(f"there is no topic {topic!r}; {hint}", context)


def printable_lines(text: str) -> str:
    """A text that any terminal takes, line by line."""
    return "\n".join(map(printable, text.splitlines()))


def _formatter() -> click.HelpFormatter:
    return click.HelpFormatter(width=min(get_terminal_size((_WIDTH, 0)).columns, _WIDTH) - 2)


def _screen(topic: Topic) -> str:
    formatter = _formatter()
    formatter.write_text(f"{topic.title} {topic.first}")
    for group in topic.groups():
        if group.entries:
            with formatter.section(group.heading):
                formatter.write_dl(group.entries, col_max=_WRITTEN)
    if topic.last:
        formatter.write_paragraph()
        formatter.write_text(topic.last)
    return formatter.getvalue().rstrip("\n")


def _topics(group: click.Group, context: click.Context) -> str:
    formatter = _formatter()
    formatter.write_text('"mercer help TOPIC" says what there is, "mercer help COMMAND" what a command does.')
    with formatter.section("Topics"):
        formatter.write_dl([(name, topic.title) for name, topic in TOPICS.items()])
    assert context.parent is not None
    group.format_commands(context.parent, formatter)
    formatter.write_paragraph()
    formatter.write_text('The guide is in docs/: "make docs" makes docs/_build/html of it, and (guide: ideas/kernels) '
                         "is its page ideas/kernels.html.")  # fmt: skip
    return formatter.getvalue().rstrip("\n")


# ``mercer completion``: the script by which a shell completes what is typed.


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the script by which a shell completes commands, learners, kernels, tables and files.

    \b
    Put this line where the shell starts:
      ~/.bashrc                               eval "$(mercer completion bash)"
      ~/.zshrc                                eval "$(mercer completion zsh)"
      ~/.config/fish/completions/mercer.fish  mercer completion fish | source

    \b
    Example:
      mercer completion zsh
    """
    script = get_completion_class(shell)
    assert script is not None
    click.echo(script(context.find_root().command, {}, "mercer", "_MERCER_COMPLETE").source())


# ``mercer datasets``: the tables that need no file.


@click.command()
@common
def datasets(printer: Printer, seed: int) -> None:
    """List the tables that are built in.

    Their names stand wherever a file may stand. Generated ones take a number of rows after a colon.

    \b
    Example:
      mercer check moons:500
    """
    from ..io import BUILTIN, read

    rows, facts = [], []
    for name, builtin in BUILTIN.items():
        table = read(name)
        classes = None if table.measured else len(table.class_counts)
        row = [name, table.n_rows, table.n_columns, classes, builtin.title]
        facts.append(dict(zip(("name", "rows", "columns", "classes", "title"), row, strict=True)))
        rows.append(["numbers" if cell is None else cell for cell in row])
    printer.json_result({"datasets": facts})
    printer.table(["<name", "rows", "columns", "classes", "<what it is"], rows)
