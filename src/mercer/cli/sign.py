"""``mercer sign``: say with a key who made a model file."""

from __future__ import annotations

import click

from .arguments import common
from .printing import Printer
from .reading_paths import MODEL, READ

__all__ = ["sign"]


@click.command()
@click.argument("model", type=MODEL)
@click.option("--key", type=READ, required=True, metavar="KEY", help="A file with a private Ed25519 key.")
@common
def sign(model: str, key: str, printer: Printer, seed: int) -> None:
    """Sign a model file with a key of yours.

    The checksum of a model file tells damage, not forgery: whoever changes a file on purpose computes it anew. A
    signature can be made with your private key alone, and be checked by everybody who has the public one.

    A key is made by "ssh-keygen -t ed25519 -f mercer.key" or "openssl genpkey -algorithm ed25519 -out mercer.key". Its
    passphrase, if it has one, is asked for, or taken from the environment variable MERCER_KEY_PASSPHRASE.

    \b
    Example:
      mercer sign moons.safetensors --key mercer.key
      mercer run moons.safetensors new.csv --verify mercer.key.pub
    """
    from ..model_files.models import sign as sign_file

    name = sign_file(model, key)
    printer.json_result({"model": model, "signer": name})
    printer.line(f"{model} is signed with the key {name}.")
