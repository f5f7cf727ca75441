"""``python -m mercer`` is the command line."""

from .cli import main

if __name__ == "__main__":  # processes of ours read this file too
    main(prog_name="mercer")
