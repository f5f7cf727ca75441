"""``mercer play``: kernels on a page, to touch."""

from __future__ import annotations

import secrets
import socket
import threading
import webbrowser
from typing import Any

import click

from .options import common
from .paths import READ
from .printing import Printer


@click.command()
@click.argument("data", type=READ, required=False)
@click.option("--target", help="The column of labels or numbers of DATA. [default: the last one]")
@click.option("--port", type=click.IntRange(0, 65535), default=0, show_default=True, help="0: any that is free.")
@click.option("--no-browser", is_flag=True, help="Only print the address.")
@common
def play(data: str | None, target: str | None, port: int, no_browser: bool, printer: Printer, seed: int) -> None:
    """Open a page to try kernels by hand.

    Put points into the plane, drag C and γ, and see the boundary, the margin and the support vectors follow; watch a
    Perceptron, Pegasos or the SMO algorithm step by step; see which words or graphs are alike. Every number comes from
    the library, with its certificate. The page exports what it shows as Python and as a "mercer train" line.

    DATA is a file, or the name of a built-in table, to begin with. Of more than two columns those are drawn that tell
    most of the target.

    The page is served to this machine alone, and the address holds a token that nobody else knows. Nothing is fetched
    from anywhere. Ctrl-C ends it. It needs two packages more: pip install 'mercer[play]'

    \b
    Example:
      mercer play
      mercer play breast_cancer
      mercer play data.csv --target kind --no-browser
    """
    try:
        import starlette  # noqa: F401
        import uvicorn
    except ImportError:
        raise ValueError("mercer play needs starlette and uvicorn; pip install 'mercer[play]' brings both.") from None
    listener = _listener(port)
    from ..play import application

    first = None if data is None else _scene_of(data, target, seed)
    port, token, stop = listener.getsockname()[1], secrets.token_urlsafe(32), threading.Event()

    class Server(uvicorn.Server):
        def handle_exit(self, sig: int, frame: Any) -> None:
            stop.set()  # work that is under way ends as well
            super().handle_exit(sig, frame)

    config = uvicorn.Config(
        application(port, token, stop, first),
        log_level="error",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ws="none",
        lifespan="on",
        timeout_graceful_shutdown=1,
    )
    address = f"http://127.0.0.1:{port}/?token={token}"
    printer.json_result({"address": address, "port": port, "token": token})
    printer.line(f"mercer play is at {address}")
    printer.note("Ctrl-C ends it.")
    if not no_browser:
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
    try:
        Server(config).run(sockets=[listener])
    except KeyboardInterrupt:
        printer.note("mercer play has ended.")


def _scene_of(data: str, target: str | None, seed: int) -> dict[str, Any]:
    from ..io import read
    from ..play import scene_of_table

    found = scene_of_table(read(data, target, unlabelled_rows="drop"))
    return {**found, "scene": {**found["scene"], "seed": seed}}


def _listener(port: int) -> socket.socket:
    """A socket that only this machine can reach."""
    # With its protocol named, asyncio sends each part of an answer at once (TCP_NODELAY); otherwise the second part of
    # an answer waits 40 ms for the first one to be acknowledged.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", port))
    except OSError as error:
        raise OSError(f"port {port} cannot be used ({error.strerror}); choose another, or none.") from None
    listener.listen(128)
    return listener
