"""The application: static files, and an answer for each address."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from .._runtime.interrupts import until
from .._runtime.parallel import at_most
from .._validation.parameters import whole_number
from .guard import Guard, Refused
from .heard import hearing, in_a_sentence, listening
from .lanes import Lane
from .surface import Plan
from .warming import surface_to_warm_up, warm_up, warm_up_first
from .worker import Worker

__all__ = ["ANSWERS", "application"]

#: Every address under /api/ that is answered at once, by the function of that name in the module of that name.
ANSWERS = ("choices", "code", "data", "fit", "graphs", "lift", "boundary", "steps", "words")
#: Seconds after which an answer that is not there is given up.
PATIENCE = 6.0
#: Answers that wait until the code which most of them need is compiled, but no longer than so many seconds.
_AT_WORK, _COMPILING = ("fit", "boundary", "steps"), 60.0
_STATIC = Path(__file__).parent / "static"

Answer = Callable[[dict[str, Any]], Awaitable[Response]]


def application(port: int, token: str, stop: threading.Event | None = None, first: Any = None) -> Guard:
    """The ASGI application of a page that was sent from this port.

    Parameters
    ----------
    port : int
    token : str
    stop : Event, optional
        Ends work that is under way.
    first : dict, optional
        The answer of ``/api/data`` that the page begins with: ``first`` in the answer of ``/api/choices``.

    Returns
    -------
    ASGI application
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
        with listening():
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
    answer = getattr(import_module(f".{name}", __package__), name)
    if name in _AT_WORK:
        begun.wait(_COMPILING)
    for _ in range(2):  # the first time may go by with compiling
        # Warnings belong to an answer, or to nobody. Of so few points a second thread would only be waited for, on a
        # core that the browser or the surface is at.
        with hearing(), at_most(1), until(time.monotonic() + PATIENCE):
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
