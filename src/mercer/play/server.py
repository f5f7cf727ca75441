"""The application: static files, and an answer for each address."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import json
import multiprocessing
import os
import queue
import secrets
import signal
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import asynccontextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from ..checks import whole_number
from ..runtime import at_most, interrupted_by, until
from .data import EXAMPLES, KERNELS, example_scene
from .fit import collected_warnings, fit, in_a_sentence, recording_warnings
from .requests import LEARNERS
from .surface import Plan

# Who may ask: the page that this process has sent, in the browser of whoever started it, and nobody else.
#
# Other pages that are open in the same browser can send requests to 127.0.0.1 as well. What keeps them out: the token,
# which only the address that was printed holds; the Origin and Sec-Fetch-Site that browsers add and pages cannot
# change; the Host, which is that of the other page where a name was made to point here (DNS rebinding); a type of body
# that no form can send; and no CORS header that would let them read an answer.


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
    """An ASGI application around another one: requests for an answer have to know the token and come from the page."""

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


# A process for work that takes long, kept warm and out of the way: one job at a time, and the newest one wins.


#: How far the process steps back behind those who answer at once.
_NICENESS = 19
_GONE = "the process for long work has ended; ask again."
#: What ends the lines of a job: whether it was finished, ended by a newer one, or went wrong.
_FINISHED, _CANCELLED, _FAILED = "finished", "cancelled", "failed"


class Worker:
    """The process, as the server sees it. A job to begin with compiles what later ones need."""

    def __init__(self, warm: dict[str, Any] | None = None) -> None:
        self._warm = warm
        self._lock = threading.Lock()
        self._connection: Any = None
        self._number = 0
        #: Who gets the lines of each job: called with the way it ended, or None, and a line.
        self._takers: dict[int, Callable[[str | None, Any], None]] = {}

    def start(self) -> None:
        """Start the process where it is not running."""
        with self._lock:
            if self._connection is not None:
                return
            context = multiprocessing.get_context("spawn")
            self._connection, other = context.Pipe()
            context.Process(target=_work, args=(other, self._warm), daemon=True, name="mercer-play-worker").start()
            other.close()
            threading.Thread(target=self._listen, args=(self._connection,), daemon=True).start()

    def close(self) -> None:
        """End the process."""
        with self._lock, contextlib.suppress(OSError):
            if self._connection is not None:
                self._connection.send(None)

    async def lines(self, job: dict[str, Any]) -> AsyncIterator[dict[str, Any]]:
        """The lines of a job as they come; the last one says where it failed, or was ended by a newer job."""
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(None, self.start)
        found: asyncio.Queue[tuple[str | None, Any]] = asyncio.Queue()

        def take(end: str | None, line: Any) -> None:
            with contextlib.suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(found.put_nowait, (end, line))

        number = self._send(job, take)
        try:
            while True:
                end, line = await found.get()
                if end == _CANCELLED:
                    yield {"cancelled": True}
                elif end == _FAILED:
                    yield {"error": line}
                if end is not None:
                    return
                yield line
        finally:
            self._cancel(number)

    def _send(self, job: dict[str, Any], take: Callable[[str | None, Any], None]) -> int:
        with self._lock:
            self._number += 1
            self._takers[self._number] = take
            try:
                if self._connection is None:
                    raise OSError(_GONE)
                self._connection.send((self._number, job))
            except OSError:
                take(_FAILED, _GONE)
            return self._number

    def _cancel(self, number: int) -> None:
        with self._lock:
            if self._takers.pop(number, None) is not None and self._connection is not None:
                with contextlib.suppress(OSError):
                    self._connection.send((number, None))

    def _listen(self, connection: Any) -> None:
        """Hand lines on until the process ends, which the next job then starts again."""
        with contextlib.suppress(EOFError, OSError):
            while True:
                number, end, line = connection.recv()
                with self._lock:
                    take = self._takers.get(number) if end is None else self._takers.pop(number, None)
                if take is not None:
                    take(end, line)
        with self._lock:
            self._connection = None
            left, self._takers = list(self._takers.values()), {}
        for take in left:
            take(_FAILED, _GONE)


def _work(connection: Any, warm: dict[str, Any] | None) -> None:
    """What the process does: jobs, one after the other, until nobody listens any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which then ends this one
    with contextlib.suppress(OSError, AttributeError):  # which Windows does not know
        os.nice(_NICENESS)
    jobs: queue.SimpleQueue[tuple[int, dict[str, Any], threading.Event]] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(connection, jobs), daemon=True).start()
    from .surface import surface

    if warm is not None:
        with contextlib.suppress(ValueError):
            list(surface(warm))
    while True:
        number, job, stop = jobs.get()
        try:
            with interrupted_by(stop), at_most(1):  # the other cores are for those who answer at once
                for line in surface(job):
                    connection.send((number, None, line))
                    if stop.is_set():
                        raise KeyboardInterrupt
            connection.send((number, _FINISHED, None))
        except KeyboardInterrupt:
            connection.send((number, _CANCELLED, None))
        except Exception as error:
            connection.send((number, _FAILED, in_a_sentence(error)))


def _receive(connection: Any, jobs: queue.SimpleQueue[tuple[int, dict[str, Any], threading.Event]]) -> None:
    """Take jobs in; each of them ends the one before, and a job without content only that."""
    current, stop = 0, threading.Event()
    while True:
        try:
            message = connection.recv()
        except (EOFError, OSError):
            message = None
        if message is None:
            os._exit(0)  # in the middle of whatever is under way: nobody waits for it
        number, job = message
        if job is None:
            if number == current:
                stop.set()
            continue
        stop.set()
        current, stop = number, threading.Event()
        jobs.put((number, job, stop))


# Threads that answer, beside the loop that listens.


class Lane:
    """A queue of work and the threads that do it, which never keep the process from ending.

    ``stop`` ends the work under way, as Ctrl-C would.
    """

    def __init__(self, threads: int, stop: threading.Event) -> None:
        self._work: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._stop = stop
        for _ in range(threads):
            threading.Thread(target=self._go, daemon=True, name="mercer-play").start()

    async def run(self, work: Callable[[], Any]) -> Any:
        """The result of some work; others go on meanwhile."""
        found: concurrent.futures.Future[Any] = concurrent.futures.Future()
        self._work.put((work, found))
        return await asyncio.wrap_future(found)

    def _go(self) -> None:
        while True:
            work, found = self._work.get()
            if not found.set_running_or_notify_cancel():
                continue
            try:
                with interrupted_by(self._stop):
                    result = work()
                found.set_result(result)
            except Exception as error:
                found.set_exception(error)
            except BaseException as error:
                found.set_exception(RuntimeError(type(error).__name__))


# Compiled code, made or loaded before anybody waits for it.


def warm_up_first() -> None:
    """Fit what the page begins with."""
    _fit("moons", learner="svc")


def warm_up(stop: threading.Event) -> None:
    """Fit with every learner, and with every kernel that the page suggests."""
    for _ in range(2):  # the first of them may spend its time on compiling
        _fit("three", learner="svc")
    for _, kernel, _ in KERNELS:
        if not stop.is_set():
            _fit("moons", kernel=kernel)
    for task, learners in LEARNERS.items():
        name = next(name for name, example in EXAMPLES.items() if example.task == task)
        for learner in learners:
            if not stop.is_set():
                _fit(name, learner=learner)


def _fit(example: str, **chosen: str) -> None:
    with contextlib.suppress(ValueError):
        fit({"scene": {**example_scene(example, 0), **chosen}, "size": [40, 40]})


def surface_to_warm_up() -> dict[str, Any]:
    """A small surface, for the process that computes large ones."""
    return {"scene": example_scene("moons", 0), "C": [0.1, 1.0], "gamma": [0.5, 2.0]}


#: Every address under /api/ that is answered at once, and the module with the function of that name that answers.
ANSWERS = {
    "choices": "data", "code": "code", "data": "data", "fit": "fit", "graphs": "items", "lift": "surface",
    "boundary": "plane", "steps": "steps", "words": "items",
}  # fmt: skip
#: Seconds after which an answer that is not there is given up.
PATIENCE = 6.0
#: Answers that wait until the code which most of them need is compiled, but no longer than so many seconds.
_AT_WORK, _COMPILING = ("fit", "boundary", "steps"), 60.0
_STATIC = Path(__file__).parent / "static"

Answer = Callable[[dict[str, Any]], Awaitable[Response]]


def application(port: int, token: str, stop: threading.Event | None = None, first: Any = None) -> Guard:
    """The ASGI application of a page that was sent from this port; ``stop`` ends work that is under way.

    ``first`` is the answer of ``/api/data`` that the page begins with, and part of the answer of ``/api/choices``.
    """
    stop = stop or threading.Event()
    # What follows the hand has a lane to itself.
    lanes, others = {"fit": Lane(1, stop), "boundary": Lane(1, stop)}, Lane(2, stop)
    worker, warm, begun = Worker(surface_to_warm_up()), threading.Event(), threading.Event()
    begun.set()

    def answering(name: str) -> Answer:
        async def answer(asked: dict[str, Any]) -> Response:
            found = await lanes.get(name, others).run(lambda: _answered(name, asked, begun))
            return _json({**found, "ready": warm.is_set(), "first": first} if name == "choices" else found)

        return answer

    async def surface(asked: dict[str, Any]) -> Response:
        await others.run(lambda: Plan.of(asked))
        return StreamingResponse(_written(worker.lines(asked)), media_type="application/x-ndjson")

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        def get_ready() -> None:
            try:
                warm_up_first()  # code that is compiled here need not be compiled there
                begun.set()
                worker.start()
                warm_up(stop)
            finally:  # whatever went wrong, nobody waits for it
                begun.set()
                warm.set()

        begun.clear()
        threading.Thread(target=get_ready, daemon=True, name="mercer-play-warming").start()
        with recording_warnings():
            yield
        stop.set()
        worker.close()

    routes = [Route(f"/{name}", _endpoint(answering(name)), methods=["POST"]) for name in ANSWERS]
    routes.append(Route("/surface", _endpoint(surface), methods=["POST"]))
    page = StaticFiles(directory=_STATIC, html=True)
    refusals: dict[Any, Any] = {404: _refused, 405: _refused}
    app = Starlette(routes=[Mount("/api", routes=routes), Mount("/", page)], lifespan=lifespan,
                    exception_handlers=refusals)  # fmt: skip
    return Guard(app, port, token)


def _endpoint(answer: Answer) -> Callable[[Request], Awaitable[Response]]:
    """What is refused is the sentence that says why, and what goes wrong is one too."""

    async def endpoint(request: Request) -> Response:
        try:
            return await answer(_read(await request.body()))
        except ClientDisconnect:
            return Response(status_code=400)
        except Refused as refused:
            return _json({"error": refused.why}, refused.status)
        except ValueError as refused:
            return _json({"error": in_a_sentence(refused)}, 422)
        except Exception as error:
            return _json({"error": in_a_sentence(error)}, 500)

    return endpoint


def _read(body: bytes) -> dict[str, Any]:
    """The values of a body of JSON, as nested as its parser follows."""

    def refuse(constant: str) -> Any:
        raise ValueError(f"{constant} is no number that JSON knows.")

    try:
        asked = json.loads(body, parse_constant=refuse, parse_int=whole_number)
    except RecursionError:
        raise ValueError("the request is nested too deeply.") from None
    except UnicodeDecodeError:
        raise ValueError("the request is not JSON in UTF-8.") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"the request is not JSON: {error.msg} at character {error.pos}.") from None
    if not isinstance(asked, dict):
        raise ValueError("the request should be an object with named values.")
    return asked


def _answered(name: str, asked: dict[str, Any], begun: threading.Event) -> dict[str, Any]:
    answer = getattr(import_module(f".{ANSWERS[name]}", __package__), name)
    if name in _AT_WORK:
        begun.wait(_COMPILING)
    for _ in range(2):  # the first time may go by with compiling
        # Warnings belong to an answer, or to nobody. Of so few points a second thread would only be waited for, on a
        # core that the browser or the surface is at.
        with collected_warnings(), at_most(1), until(time.monotonic() + PATIENCE):
            return answer(asked)
    raise ValueError("this takes too long for a page; use fewer points or a simpler kernel.")


def _json(answer: dict[str, Any], status: int = 200) -> Response:
    try:
        body = _text(answer)
    except ValueError:
        body, status = _text({"error": "numbers became too large; choose smaller ones."}), 422
    return Response(body, status, media_type="application/json")


def _text(answer: dict[str, Any]) -> str:
    return json.dumps(answer, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


async def _written(lines: AsyncIterator[dict[str, Any]]) -> AsyncIterator[str]:
    async for line in lines:
        yield f"{_text(line)}\n"


async def _refused(request: Request, error: Any) -> Response:
    why = {404: "there is nothing here.", 405: "ask with another method."}[error.status_code]
    return _json({"error": why}, error.status_code)
