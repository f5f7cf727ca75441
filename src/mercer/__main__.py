"""``python -m mercer`` is the command line."""

from mercer.cli import main

main(prog_name="mercer")
