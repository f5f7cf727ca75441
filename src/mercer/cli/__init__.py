"""The command line. Commands are imported when they are called, so that ``mercer --help`` is quick."""

from __future__ import annotations

import os
import re
from importlib import import_module
from typing import Any

import click
from click.shell_completion import CompletionItem

from .. import __version__
from ..io import formats_in_words
from ..messages import nearest, printable
from . import streams

__all__ = ["COMMANDS", "main"]

#: Where each command is, and what it does in a few words.
COMMANDS: dict[str, tuple[str, str]] = {
    "check": ("mercer.cli.check:check", "Describe a table, and warn of what learners stumble over."),
    "compare": ("mercer.cli.compare:compare", "Compare learners on a table, with a report."),
    "drift": ("mercer.cli.drift:drift", "Compare the rows of two tables: do they come from one place?"),
    "train": ("mercer.cli.train:train", "Train a learner on a table and store the model."),
    "run": ("mercer.cli.run:run", "Predict a table with a model, and count its errors."),
    "explain": ("mercer.cli.explain:explain", "Explain a model, as a whole or for one row."),
    "tune": ("mercer.cli.tune:tune", "Find good parameters for a learner by cross-validation."),
    "cluster": ("mercer.cli.find_clusters:cluster", "Find clusters in a table, and say what they are worth."),
    "map": ("mercer.cli.map:map_rows", "Lay the rows of a table out on a plane."),
    "kernel": ("mercer.cli.kernel:kernel", "Look at the kernel matrix of a table."),
    "inspect": ("mercer.cli.inspect:inspect", "Show what is in a model file."),
    "export": ("mercer.cli.export:export", "Write a model as ONNX, for LIBSVM, in C or in Python."),
    "import": ("mercer.cli.export:import_model", "Read a model that LIBSVM has written."),
    "sign": ("mercer.cli.inspect:sign", "Sign a model file."),
    "play": ("mercer.cli.play:play", "Open a page to try kernels by hand."),
    "datasets": ("mercer.cli.help:datasets", "List the tables that are built in."),
    "help": ("mercer.cli.help:help_command", "List kernels, losses, learners and formats."),
    "warmup": ("mercer.cli.warmup:warmup", "Compile ahead, so that nothing has to wait for it later."),
    "completion": ("mercer.cli.help:completion", "Let the shell complete what is typed."),
}


class _Commands(click.Group):
    def main(self, *args: Any, **options: Any) -> Any:
        streams.open_streams()
        return super().main(*args, **options)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module, function = COMMANDS[name][0].split(":")
        return getattr(import_module(module), function)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Commands by name, without importing them."""
        options = click.Command.shell_complete(self, ctx, incomplete)
        return [
            *(CompletionItem(name, help=text) for name, (_, text) in COMMANDS.items() if name.startswith(incomplete)),
            *options,
        ]

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args and args[0] not in COMMANDS:
            near = nearest(args[0], COMMANDS)
            hint = "" if near is None else f" Did you mean {near!r}?"
            ctx.fail(f"No such command {args[0]!r}.{hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, help_text) for name, (_, help_text) in COMMANDS.items()])

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; whatever goes wrong becomes one line, and the exit status says whose fault it was."""
        try:
            done = super().invoke(ctx)
            if reason := streams.lost_output():
                raise OSError(f"the standard output could not be written: {reason}; the results on it are lost.")
            return done
        except click.ClickException as error:
            error.message = _cut(error.message)  # type: ignore[misc]
            raise
        except (click.exceptions.Exit, click.Abort):
            raise
        except KeyboardInterrupt:
            click.echo("mercer: interrupted.", err=True)
            ctx.exit(130)
        except Exception as error:
            if os.environ.get("MERCER_DEBUG"):
                raise
            click.echo(f"mercer: {_one_line(error)}", err=True)
            ctx.exit(1)


def _one_line(error: Exception) -> str:
    text = _cut(" ".join(str(error).split())) or type(error).__name__
    expected = isinstance(error, (ValueError, OSError, MemoryError))
    return printable(text if expected else f"unexpected {type(error).__name__}: {text} (MERCER_DEBUG=1 shows where)")


def _cut(text: str) -> str:
    """A message without the middle of words that fill a screen."""
    return re.sub(r"\S{300,}", lambda found: f"{found[0][:60]}…{found[0][-20:]}", text)


_HELP = f"""Kernel machines from the command line: bring a table, get an honest answer.

\b
mercer check data.csv                       what is in it
mercer train svc data.csv -o m.safetensors  learn
mercer run m.safetensors new.csv            predict, count errors
mercer compare data.csv                     all learners, with a report

DATA is a file, as it is or packed (.gz, .bz2, .xz, .zip), a folder or "pattern*.csv", the address of a database,
- for the standard input, or the name of a built-in table, see "mercer datasets". There are {formats_in_words()}.

"mercer help" lists what there is. The shell completes names after: eval "$(mercer completion bash)"
"""


@click.group(
    cls=_Commands, help=_HELP, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(__version__, prog_name="mercer")
def main() -> None:
    """The command itself."""
