"""``mercer help``: what there is, topic by topic, and the help of every command."""

from __future__ import annotations

from shutil import get_terminal_size

import click

from .._runtime.terminal import printable
from .._validation.wording import nearest
from .help_topics import TOPICS, Topic
from .suggestions import topic_names

__all__ = ["help_command"]

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
