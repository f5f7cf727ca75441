"""``mercer completion``: the script by which a shell completes what is typed."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

__all__ = ["completion"]


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
