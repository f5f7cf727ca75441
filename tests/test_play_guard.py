"""Who may ask a running ``mercer play``, and how it ends."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from mercer.play import ANSWERS, MOST_BYTES

SRC = str(Path(__file__).parents[1] / "src")


class Running:
    """A server in a process of its own."""

    def __init__(self, *words):
        paths = os.pathsep.join(filter(None, [SRC, os.environ.get("PYTHONPATH")]))
        command = [sys.executable, "-m", "mercer", "play", "--no-browser", "--json", *words]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": paths}
        )
        said = ""
        while not said.rstrip().endswith("}"):
            line = self.process.stdout.readline()
            assert line, self.process.stderr.read()
            said += line
        self.facts = json.loads(said)
        self.port, self.token = self.facts["port"], self.facts["token"]

    def ask(self, path="/api/choices", body=b"{}", method="POST", **headers):
        """Status, headers and body of an answer; headers that are None are left out."""
        usual = {"Host": f"127.0.0.1:{self.port}", "X-Mercer-Token": self.token, "Content-Type": "application/json"}
        given = {**usual, **{name.replace("_", "-"): value for name, value in headers.items()}}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in given.items():
            for each in value if isinstance(value, list) else [value]:
                if each is not None:
                    connection.putheader(name, each)
        if method == "POST":
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body if method == "POST" else None)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, content

    def end(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        _, self.said = self.process.communicate(timeout=30)
        return self.process.returncode


@pytest.fixture(scope="module")
def server():
    running = Running()
    yield running
    assert running.end() == 0
    # Whatever was asked, nothing of it was printed.
    assert running.said.splitlines() == ["Ctrl-C ends it.", "mercer play has ended."]


def test_the_page_asks_and_is_answered(server):
    assert server.facts["address"] == f"http://127.0.0.1:{server.port}/?token={server.token}"
    assert len(server.token) >= 32
    status, _, body = server.ask()
    assert status == 200
    assert json.loads(body)["learners"]
    for origin in (f"http://127.0.0.1:{server.port}", f"http://localhost:{server.port}"):
        assert server.ask(Origin=origin, Sec_Fetch_Site="same-origin")[0] == 200
    assert server.ask(Host=f"localhost:{server.port}")[0] == 200
    assert server.ask("/", method="GET", X_Mercer_Token=None, Content_Type=None)[0] == 200


@pytest.mark.parametrize("path", ["/", "/index.html", "/api/choices", "/nothing", "/api/nothing"])
def test_every_answer_has_the_headers(server, path):
    _, headers, _ = server.ask(path, method="GET")
    assert headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'; style-src 'self'")
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["cache-control"] == "no-store"
    assert headers["referrer-policy"] == "no-referrer"
    assert not [name for name in headers if name.startswith("access-control")]
    assert "server" not in headers


@pytest.mark.parametrize(
    "foreign",
    [
        {"X_Mercer_Token": None},
        {"X_Mercer_Token": ""},
        {"X_Mercer_Token": "guess"},
        {"X_Mercer_Token": "é"},
        {"Host": "evil.example"},
        {"Host": "127.0.0.1"},
        {"Host": "127.0.0.1:1"},
        {"Host": "127.0.0.1.evil.example"},
        {"Host": None},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "https://127.0.0.1"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
    ],
)
def test_others_are_refused(server, foreign):
    for path in ("/api/choices", "/api/fit", "/api/surface"):
        status, _, body = server.ask(path, **foreign)
        assert status in (400, 403)
        assert b"learners" not in body


def test_a_name_that_was_made_to_point_here_gets_no_page(server):
    assert server.ask("/", method="GET", Host=f"evil.example:{server.port}")[0] == 403


def test_a_header_given_twice_is_refused(server):
    assert server.ask(X_Mercer_Token=[server.token, "other"])[0] == 400
    assert server.ask(Origin=[f"http://127.0.0.1:{server.port}", "http://evil.example"])[0] == 400


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", None, ""])
def test_forms_of_other_pages_are_refused(server, kind):
    assert server.ask(Content_Type=kind)[0] == 415


@pytest.mark.parametrize("name", [*ANSWERS, "surface"])
def test_only_posts_are_answered(server, name):
    for method in ("GET", "PUT", "DELETE", "HEAD", "OPTIONS"):
        assert server.ask(f"/api/{name}", method=method)[0] == 405


@pytest.mark.parametrize(
    "path",
    ["/api/", "/api", "/api/fit/", "/api/../fit", "/../pyproject.toml", "/..%2f..%2fserver.py", "/%2e%2e/server.py",
     "/static/../server.py", "/server.py", "/%00", "/api/__class__"],
)  # fmt: skip
def test_nothing_else_is_served(server, path):
    for method in ("GET", "POST"):
        status, _, body = server.ask(path, method=method)
        assert status in (400, 404, 405, 307)
        assert b"Starlette" not in body


def test_a_long_body_is_refused_before_it_is_read(server):
    long = b'{"text": "' + b"a" * MOST_BYTES + b'"}'
    assert server.ask("/api/data", long)[0] == 413
    # A stream that does not say how long it is.
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
        head = (
            f"POST /api/data HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nX-Mercer-Token: {server.token}\r\n"
            "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        connection.sendall(head.encode())
        answered = b""
        try:
            for _ in range(40):
                connection.sendall(b"10000\r\n" + b"a" * 0x10000 + b"\r\n")
            answered = connection.recv(1000)
        except OSError:  # it has hung up, which is as good
            pass
        assert not answered or b" 413 " in answered
    assert server.ask()[0] == 200


def test_a_lie_about_the_length(server):
    for length in ("-1", "1e9", "9" * 30, "abc"):
        assert server.ask(Content_Length=[length])[0] in (400, 413)
    assert server.ask()[0] == 200


def test_many_at_once(server):
    from concurrent.futures import ThreadPoolExecutor

    scene = {"points": [[0, 0], [1, 1], [0, 1]], "labels": [0, 1, 1]}
    body = json.dumps({"scene": scene, "size": [20, 20]}).encode()
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda _: server.ask("/api/fit", body)[0], range(64)))
    assert set(answers) == {200}


def test_warnings_are_notes_of_whoever_asked(server):
    scene = {"points": [[0, 0], [1, 1], [0, 0.1], [1, 0.9]], "labels": [0, 1, 1, 0], "kernel": "linear"}
    asked = json.dumps({"scene": {**scene, "learner": "kernel-perceptron", "epochs": 2}}).encode()
    (note,) = json.loads(server.ask("/api/fit", asked)[2])["notes"]
    assert note.startswith("Perceptron still made mistakes in epoch 2")
    quiet = json.dumps({"scene": {**scene, "learner": "svc"}}).encode()
    assert json.loads(server.ask("/api/fit", quiet)[2])["notes"] == []


def test_a_newer_surface_ends_an_older_one(server):
    points = [[k % 17, k % 13] for k in range(120)]
    values = [10.0 ** (k / 4) for k in range(-8, 8)]
    scene = {"points": points, "labels": [k % 2 for k in range(120)]}
    body = json.dumps({"scene": scene, "C": values, "gamma": values})
    older = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    older.request("POST", "/api/surface", body, {"X-Mercer-Token": server.token, "Content-Type": "application/json"})
    first = older.getresponse()
    first.readline()  # it is under way
    short = json.dumps({"scene": scene, "C": [1.0], "gamma": [1.0]}).encode()
    newer = server.ask("/api/surface", short)[2].decode().splitlines()
    assert json.loads(newer[-1])["done"]
    assert json.loads(first.read().decode().splitlines()[-1]) == {"cancelled": True}


def test_another_machine_cannot_reach_it(server):
    with socket.socket() as there:
        there.settimeout(2)
        others = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
        for address in others - {"127.0.0.1"}:
            if not address.startswith("127."):
                assert there.connect_ex((address, server.port)) != 0


@pytest.mark.thorough
def test_ctrl_c_ends_it_at_once_even_at_work():
    running = Running("moons:300")
    while not json.loads(running.ask()[2])["ready"]:
        time.sleep(0.2)
    assert json.loads(running.ask()[2])["first"]["scene"]["names"] == ["lower", "upper"]
    points = [[k % 37 + k / 1000, k % 41] for k in range(2000)]
    body = json.dumps({"scene": {"points": points, "labels": [k % 2 for k in range(2000)], "C": 1e9,
                                 "kernel": "laplacian(gamma=1e-3)"}, "size": [200, 200]})  # fmt: skip
    at_work = http.client.HTTPConnection("127.0.0.1", running.port)
    at_work.request("POST", "/api/fit", body, {"X-Mercer-Token": running.token, "Content-Type": "application/json"})
    time.sleep(0.5)
    begun = time.monotonic()
    assert running.end() == 0
    assert time.monotonic() - begun < 10


def test_a_port_that_is_taken_is_named(server):
    command = [sys.executable, "-m", "mercer", "play", "--no-browser", "--port", str(server.port)]
    paths = os.pathsep.join(filter(None, [SRC, os.environ.get("PYTHONPATH")]))
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": paths})
    assert done.returncode == 1
    assert f"port {server.port} cannot be used" in done.stderr
    assert "Traceback" not in done.stderr
