"""Fault 61: what an exposed endpoint answers. The rendered front, a real nginx, before a server that tells what reached
it."""

from __future__ import annotations

import http.client
import os
import shutil
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from moonpad.render.proxy import PROGRAM
from moonpad.render.targets import render_for
from moonpad.spec.loader import parse_spec
from tests.configurations import make_plan
from tests.faults.helpers import wait_until
from tests.ports import free_port

SPEC = 'model = "kimi-k2-tiny"\nengine = "vllm-cpu"\n[endpoint]\nexpose = true\napi_key_env = "KIMI_KEY"\n'
pytestmark = pytest.mark.usefixtures("_nothing_seen")
PASSED = [("GET", "/health"), ("GET", "/v1/models"), ("POST", "/v1/chat/completions"), ("POST", "/v1/completions")]


class Engine(ThreadingHTTPServer):
    """Answers 200 to all, streams in two pieces with a pause between them that the test ends, and writes down each
    request as it came."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.seen: list[tuple[str, str, dict[str, str], bytes]] = []
        self.go_on = threading.Event()

    @property
    def lines(self) -> list[tuple[str, str]]:
        return [(method, path) for method, path, _, _ in self.seen]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Engine

    def handle_one(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.seen.append((self.command, self.path, dict(self.headers), body))
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.write(b"5\r\nfirst\r\n")
        self.wfile.flush()
        if b"pause" in body:
            self.server.go_on.wait(20)
        self.wfile.write(b"4\r\nlast\r\n0\r\n\r\n")

    do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = do_PATCH = do_OPTIONS = handle_one  # noqa: N815 - its names

    def log_message(self, *_: object) -> None:
        pass


@dataclass(frozen=True, slots=True)
class Front:
    port: int
    engine: Engine

    def ask(self, method: str, path: str, body: bytes = b"", **headers: str) -> http.client.HTTPResponse:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        connection.putrequest(method, path)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            connection.putheader(name, value)
        connection.endheaders(body)
        return connection.getresponse()

    def ask_raw(self, request: bytes) -> bytes:
        with socket.create_connection(("127.0.0.1", self.port), timeout=20) as connection:
            connection.sendall(request)
            return b"".join(iter(lambda: connection.recv(65536), b""))


@contextmanager
def running(folder: Path, stop: int) -> Iterator[Front]:
    if shutil.which(PROGRAM) is None:
        pytest.skip("nginx is not here: apt install nginx-light")
    spec = parse_spec(SPEC, name="opened")
    script = folder / "front.sh"
    script.write_text(render_for("shell", spec, make_plan(spec, 0)).files["node-0/front.sh"].text)
    engine = Engine()
    threading.Thread(target=engine.serve_forever, daemon=True).start()
    port = free_port()
    variables = {"MOONPAD_PORT_API": str(port), "MOONPAD_PORT_ENGINE_API": str(engine.server_port)}
    process = subprocess.Popen(
        ["bash", str(script)],
        env={"PATH": os.environ["PATH"], "MOONPAD_RUN": str(folder / "run"), **variables},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),  # under nohup nobody can trap it
    )
    try:
        wait_until(lambda: process.poll() is not None or listens(port), lambda: "no front", 20)
        assert process.poll() is None, process.stderr and process.stderr.read()
        yield Front(port, engine)
    finally:
        try:
            process.send_signal(stop)
            assert process.wait(20) == 0
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            engine.shutdown()
            engine.server_close()
    assert not listens(port)


@pytest.fixture(scope="module")
def front(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Front]:
    with running(tmp_path_factory.mktemp("front"), signal.SIGTERM) as front:
        yield front


def listens(port: int) -> bool:
    with socket.socket() as connection:
        return connection.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture
def _nothing_seen(front: Front) -> None:
    front.engine.seen.clear()
    front.engine.go_on.clear()


@pytest.mark.parametrize(("method", "path"), PASSED)
def test_what_clients_ask_passes_as_it_is(front: Front, method: str, path: str) -> None:
    answer = front.ask(method, path, b'{"a": 1}', Authorization="Bearer k")
    assert (answer.status, answer.read()) == (200, b"firstlast")
    ((seen_method, seen_path, headers, body),) = front.engine.seen
    assert (seen_method, seen_path, body, headers["Authorization"]) == (method, path, b'{"a": 1}', "Bearer k")


@pytest.mark.parametrize(
    "path",
    [
        *("/", "/metrics", "/invocations", "/pause", "/resume", "/tokenize", "/update_weights", "/v1", "/v1/", "/ping"),
        *("/v1/load_lora_adapter", "/v1/models/", "/health/", "/HEALTH", "/v1/chat/completions/render", "/docs"),
        *("/server_info", "/collective_rpc", "/flush_cache", "/generate", "/abort_requests", "/openapi.json"),
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_all_else_is_nowhere(front: Front, method: str, path: str) -> None:
    assert front.ask(method, path).status == 404
    assert front.engine.seen == []


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS"])
@pytest.mark.parametrize("path", [path for _, path in PASSED])
def test_no_other_methods(front: Front, method: str, path: str) -> None:
    assert front.ask(method, path).status == 403
    assert front.engine.seen == []


@pytest.mark.parametrize(
    "path",
    [
        *(
            "/v1/models/../../pause",
            "/v1/models/..%2f..%2fpause",
            "//pause",
            "/%70ause",
            "/./pause",
            "/v1/models%00/pause",
        ),
        *("/health/..;/pause", "/v1/models/..%252f..%252fpause", "/v1/models\\..\\..\\pause"),
    ],
)
def test_no_path_is_read_in_two_ways(front: Front, path: str) -> None:
    assert front.ask("GET", path).status in (400, 404)
    assert front.engine.seen == []


@pytest.mark.parametrize("path", ["/pause/../v1/models", "//v1//models", "/v1/%6dodels", "/v1/models?x=../pause"])
def test_a_path_in_disguise_reaches_the_engine_without_it(front: Front, path: str) -> None:
    assert front.ask("GET", path).status == 200
    assert [path.partition("?")[0] for _, path in front.engine.lines] == ["/v1/models"]


def test_no_second_request_inside_the_first(front: Front) -> None:
    inner = b"GET /pause HTTP/1.1\r\nHost: x\r\n\r\n"
    head = b"POST /v1/completions HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
    for lengths in (
        b"Content-Length: %d\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" % len(inner),
        b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
        b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    ):
        front.ask_raw(head + lengths + inner)
    assert ("GET", "/pause") not in front.engine.lines


def test_a_piece_is_passed_on_when_it_comes(front: Front) -> None:
    answer = front.ask("POST", "/v1/chat/completions", b"pause")
    assert answer.read(5) == b"first", "the engine has not written the rest"
    front.engine.go_on.set()
    assert answer.read() == b"last"


def test_a_long_prompt_passes(front: Front) -> None:
    body = b"x" * (8 << 20)
    assert front.ask("POST", "/v1/completions", body).status == 200
    assert [len(body) for _, _, _, body in front.engine.seen] == [8 << 20]


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGHUP])
def test_it_ends_with_its_script(tmp_path: Path, stop: signal.Signals) -> None:
    with running(tmp_path, stop) as front:
        assert front.ask("GET", "/health").status == 200
