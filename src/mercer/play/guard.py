"""Who may ask: the page that this process has sent, in the browser of whoever started it, and nobody else.

Other pages that are open in the same browser can send requests to 127.0.0.1 as well. What keeps them out: the token,
which only the address that was printed holds; the Origin and Sec-Fetch-Site that browsers add and pages cannot change;
the Host, which is that of the other page where a name was made to point here (DNS rebinding); a type of body that no
form can send; and no CORS header that would let them read an answer.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

__all__ = ["MOST_BYTES", "Guard", "Refused"]

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

#: The longest body of a request.
MOST_BYTES = 1_000_000

_POLICY = "; ".join(
    [
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data: blob:",
        "font-src 'self'", "connect-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
    ]
)  # fmt: skip
_HEADERS = [
    (b"content-security-policy", _POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
    (b"cache-control", b"no-store"),
]


class Refused(Exception):
    """A request that is not answered: the status, and why."""

    def __init__(self, status: int, why: str) -> None:
        self.status, self.why = status, why


class Guard:
    """An ASGI application around another one.

    Parameters
    ----------
    app : ASGI application
    port : int
        The port that the page was sent from.
    token : str
        What every request for an answer has to know.
    """

    def __init__(self, app: Any, port: int, token: str) -> None:
        self.app, self.token = app, token.encode()
        self.hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]")}
        self.origins = {f"http://{host}" for host in self.hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":  # nothing here speaks anything else
            return
        begun = False

        async def guarded_send(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                message = {**message, "headers": [*message.get("headers", []), *_HEADERS]}
            await send(message)

        try:
            self._check(scope)
            await self.app(scope, _counted(receive), guarded_send)
        except Refused as refused:
            if not begun:
                await _answer(guarded_send, refused.status, refused.why)

    def _check(self, scope: Scope) -> None:
        headers: dict[bytes, list[bytes]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.lower(), []).append(value)

        def only(name: bytes) -> str:
            values = headers.get(name, [])
            if len(values) > 1:
                raise Refused(400, f"the header {name.decode()} is given twice.")
            return values[0].decode("latin-1") if values else ""

        if only(b"host").lower() not in self.hosts:
            raise Refused(403, "this page is for the machine that it runs on; open the address that was printed.")
        origin = only(b"origin")
        if origin and origin.lower() not in self.origins:
            raise Refused(403, "another page may not ask; open the address that was printed.")
        api = scope["path"].startswith("/api/")
        # A link to the page itself, from wherever it was printed, is no secret and does nothing.
        if only(b"sec-fetch-site") in ("cross-site", "same-site") and api:
            raise Refused(403, "another page may not ask; open the address that was printed.")
        if not api:
            return
        if not secrets.compare_digest(only(b"x-mercer-token").encode("latin-1"), self.token):
            raise Refused(403, "the token is missing or not the one of this run; open the address that was printed.")
        if scope["method"] != "POST":
            return  # which the application refuses
        if only(b"content-type").partition(";")[0].strip().lower() != "application/json":
            raise Refused(415, "send JSON, with the content type application/json.")
        length = only(b"content-length")
        if length and not (length.isascii() and length.isdigit() and int(length[:12]) <= MOST_BYTES):
            raise Refused(413, f"the request is longer than {MOST_BYTES} bytes; send fewer points.")


def _counted(receive: Receive) -> Receive:
    """The same stream, which ends in a refusal where it is too long, whatever its length was said to be."""
    so_far = 0

    async def counted() -> Message:
        nonlocal so_far
        message = await receive()
        so_far += len(message.get("body", b""))
        if so_far > MOST_BYTES:
            raise Refused(413, f"the request is longer than {MOST_BYTES} bytes; send fewer points.")
        return message

    return counted


async def _answer(send: Send, status: int, why: str) -> None:
    body = json.dumps({"error": why}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
