"""The server of ``mercer play`` in this process, asked as the page asks it."""

import time

import pytest

from mercer.play import example_scene

BOX = {"box": [-2, 3, -1.5, 2], "size": [12, 9]}
_PORT, _TOKEN = 8123, "a-token-of-the-tests"


def answering():
    """A client of a server that is ready."""
    for needed in ("starlette", "uvicorn", "httpx"):
        pytest.importorskip(needed)
    from starlette.testclient import TestClient

    from mercer.play import application

    headers = {"x-mercer-token": _TOKEN}
    with TestClient(application(_PORT, _TOKEN), base_url=f"http://127.0.0.1:{_PORT}", headers=headers) as client:
        while not client.post("/api/choices", json={}).json()["ready"]:  # compiling takes of the time that fits have
            time.sleep(0.1)
        yield client


def refused(client, name, body):
    """The sentence with which a request is refused."""
    answer = client.post(f"/api/{name}", json=body)
    assert 400 <= answer.status_code < 500, (answer.status_code, answer.text)
    return answer.json()["error"]


def scene_of(example="moons", **more):
    """A scene of the page."""
    return {**example_scene(example, 0), **more}
