"""The API server: the root of the engine's processes. It forks the core, waits until that has loaded, and listens."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import time
from pathlib import Path
from typing import Any, NoReturn

from fake_engine import answers
from fake_engine.answers import Completion, prompt_tokens_of
from fake_engine.core import run_core
from fake_engine.loop import Channel, Loop
from fake_engine.nodes import Nodes, run_headless
from fake_engine.say import say
from fake_engine.switches import Switches, seconds
from fake_engine.titles import set_name
from fake_engine.wire import Connection, HttpRequest

STOPS = (signal.SIGINT, signal.SIGTERM)
LAST_WORDS_S = 0.5  # /health goes on for so long after the core was lost
CORE_LIMIT_S = 2.0  # the core may take so long to end, then it is killed
VERSION = "0.32.0+cpu"


class Options:
    """What of vLLM's command line means something here; everything else is taken and ignored."""

    def __init__(self, argv: list[str]) -> None:
        words = [part for word in argv for part in (word.split("=", 1) if word.startswith("--") else [word])]

        def value(flag: str, default: str) -> str:
            return words[words.index(flag) + 1] if flag in words[:-1] else default

        self.host, self.port = value("--host", "0.0.0.0"), int(value("--port", "8000"))
        self.model = value("--served-model-name", words[1] if len(words) > 1 else "model")
        self.shutdown_timeout_s = seconds(value("--shutdown-timeout", "0"))
        self.nodes = Nodes(words)
        self.key = value("--api-key", os.environ.get("VLLM_API_KEY", ""))
        self.log_requests = "--enable-log-requests" in words


class ApiServer:
    def __init__(self, options: Options, switches: Switches, core_pid: int, sock: socket.socket, ipc: Path) -> None:
        self.options, self.switches, self.core_pid, self.ipc = options, switches, core_pid, ipc
        self.loop = Loop()
        self.core = Channel(self.loop, sock, self.received, self.core_lost)
        self.listener: socket.socket | None = None
        self.ready_s: float | None = None
        self.connections: set[Connection] = set()
        self.open: dict[int, Completion] = {}  # number → what is running or waiting
        self.number = 0
        self.stats = (0, 0, 0.0)  # running, waiting, share of the KV cache, as the core last said
        self.generated = self.prompted = self.finished = self.aborted = 0
        self.hung = self.dead = self.core_ends = self.stopping = self.ending = False
        if switches.ignore_term:
            for number in STOPS:
                signal.signal(number, signal.SIG_IGN)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPS)
        else:
            self.loop.on_signals(STOPS, self.stop)

    # --- the core -----------------------------------------------------------------------------------------------------

    def received(self, message: list[Any]) -> None:
        match message:
            case ["ready"]:
                self.listen()
            case ["stats", running, waiting, used]:
                self.stats = (running, waiting, used)
            case ["step", given, done, running, waiting, used]:
                self.stats = (running, waiting, used)
                self.step(given, done)
            case ["hung"]:
                self.hung = True
            case ["dead"]:
                self.core_died()
            case ["bye"]:  # the core was asked to end, not through us
                self.core_ends = self.stopping = True

    def step(self, given: list[int], done: list[int]) -> None:
        self.generated += len(given)
        for number in given:
            if (completion := self.open.get(number)) is not None:
                self.prompted += completion.prompt_tokens if not completion.tokens else 0
                completion.token()
        for number in done:
            if (completion := self.open.pop(number, None)) is not None:
                self.finished += 1
                completion.finish()
        self.end_if_drained()

    def core_lost(self) -> None:
        """Its socket has ended."""
        if self.ending:
            self.exit(0)
        elif self.core_ends:
            self.end()
        elif self.switches.core_abort_at is not None:
            pass  # nobody looks: what was sent to it is never answered
        elif self.ready_s is None and not self.dead:
            self.exit(self.failed("Engine core initialization failed. See root cause above."))
        else:
            self.core_died()

    def core_died(self) -> None:
        if self.dead or self.ending:
            return
        self.dead = True
        for completion in list(self.open.values()):
            completion.fail()
        self.open.clear()
        if self.switches.crash_at is not None or not self.switches.health_lies:
            status = self.failed("EngineCore encountered an issue. See stack trace (above) for the root cause.")
            self.loop.after(LAST_WORDS_S, lambda: self.exit(status))

    def failed(self, text: str) -> int:
        say("APIServer", f"RuntimeError: {text}", "ERROR")
        return self.switches.exit_status

    # --- listening ----------------------------------------------------------------------------------------------------

    def listen(self) -> None:
        if self.switches.no_port or self.stopping:
            return
        listener = bound(self.options)
        if listener is None:
            self.dead = True
            self.exit(1)
        self.listener = listener
        listener.listen(512)
        listener.setblocking(False)
        self.ready_s = time.monotonic()
        self.loop.watch(listener.fileno(), lambda _: self.accept())
        say("APIServer", f"Starting vLLM server on http://{self.options.host}:{self.options.port}")
        say("APIServer", "INFO:     Application startup complete.")
        self.core.send("listening")

    def accept(self) -> None:
        assert self.listener is not None
        with contextlib.suppress(BlockingIOError):
            while True:
                sock, _ = self.listener.accept()
                self.connections.add(Connection(self.loop, sock, self.handle, self.connections.discard))

    # --- requests -----------------------------------------------------------------------------------------------------

    def handle(self, connection: Connection, request: HttpRequest) -> None:
        path = request.path
        key = self.options.key
        if path.startswith("/v1/") and key and request.headers.get("authorization") != f"Bearer {key}":
            connection.answer(401, {"error": "Unauthorized"})
        elif request.method == "POST" and path in ("/v1/completions", "/v1/chat/completions", "/tokenize"):
            self.complete_request(connection, request)
        elif path == "/metrics":
            connection.answer(200, self.metrics(), "text/plain; version=0.0.4; charset=utf-8")
        elif path in ("/health", "/ping"):
            connection.answer(200 if self.healthy() else 503, "")
        elif path == "/v1/models":
            model = {"id": self.options.model, "object": "model", "owned_by": "vllm", "max_model_len": 2048}
            connection.answer(200, {"object": "list", "data": [model]})
        elif path == "/version":
            connection.answer(200, {"version": VERSION})
        else:
            connection.answer(404, {"detail": "Not Found"})

    def complete_request(self, connection: Connection, request: HttpRequest) -> None:
        try:
            body = json.loads(request.body)
            tokens = prompt_tokens_of(body)
        except (ValueError, AttributeError, TypeError):
            connection.answer(400, error("the body is no request", 400))
            return
        if request.path == "/tokenize":
            connection.answer(200, {"count": tokens, "max_model_len": 2048, "tokens": list(range(tokens))})
        elif body.get("model") not in (None, self.options.model):
            connection.answer(404, error(f"The model `{body['model']}` does not exist.", 404))
        elif self.stopping:
            connection.answer(503, error("Server is shutting down", 503))
        elif self.switches.first_request:
            connection.answer(self.switches.first_request, error("the engine core died", self.switches.first_request))
        elif self.dead:
            connection.answer(500, error("EngineCore encountered an issue.", 500))
        else:
            if self.options.log_requests and (name := request.headers.get("x-request-id")):
                say("APIServer", f"Received request cmpl-{name}: params: …", "INFO")
            self.complete(connection, body, chat=request.path.endswith("/chat/completions"))

    def complete(self, connection: Connection, body: dict[str, Any], *, chat: bool) -> None:
        self.number += 1
        number = self.number
        completion = Completion(connection, number, self.options.model, body, chat=chat)
        self.open[number] = completion
        connection.gone = lambda: self.left(number)
        self.core.send("add", number, completion.prompt_tokens, completion.max_tokens)

    def left(self, number: int) -> None:
        """The client went away before its answer was whole."""
        if self.open.pop(number, None) is not None:
            self.aborted += 1
            self.core.send("abort", number)
            self.end_if_drained()

    def healthy(self) -> bool:
        since_s = time.monotonic() - (self.ready_s or 0.0)
        if self.switches.flap_s and since_s < self.switches.flap_until_s:
            return int(since_s / self.switches.flap_s) % 2 == 0
        return self.switches.health_lies or not self.hung

    def metrics(self) -> str:
        running, waiting, used = self.stats
        labels = f'engine="0",model_name="{self.options.model}"'
        rows = (
            ("num_requests_running", "gauge", "", running),
            ("num_requests_waiting", "gauge", "", waiting),
            ("kv_cache_usage_perc", "gauge", "", used),
            ("prompt_tokens", "counter", "", self.prompted),
            ("generation_tokens", "counter", "", self.generated),
            ("request_success", "counter", ',finished_reason="length"', self.finished),
            ("request_success", "counter", ',finished_reason="abort"', self.aborted),
        )
        lines, described = [], ""
        for name, kind, more, value in rows:
            if name != described:
                lines += [f"# HELP vllm:{name} As the fake engine counts it.", f"# TYPE vllm:{name} {kind}"]
                described = name
            total = "_total" if kind == "counter" else ""
            lines.append(f"vllm:{name}{total}{{{labels}{more}}} {float(value)}")
        return "\n".join(lines) + "\n"

    # --- the end ------------------------------------------------------------------------------------------------------

    def stop(self, _: int) -> None:
        """INT or TERM: what is new is refused, what runs may finish where there is a time for that. Another ends it."""
        first, self.stopping = not self.stopping, True
        if first:
            say("APIServer", "INFO:     Shutting down")
        if first and self.options.shutdown_timeout_s > 0 and self.open and not self.dead:
            self.loop.after(self.options.shutdown_timeout_s, self.end)
        else:
            self.end()

    def end_if_drained(self) -> None:
        if self.stopping and not self.open:
            self.loop.after(0.0, self.end)

    def end(self) -> None:
        """Cuts what still runs, and waits for the core."""
        if self.ending:
            return
        self.ending = True
        if self.listener is not None:
            self.loop.forget(self.listener.fileno())
            self.listener.close()
        for connection in list(self.connections):
            connection.close()
        if not self.core.open:
            self.exit(0)
        self.core.send("shutdown")
        self.loop.after(CORE_LIMIT_S, lambda: self.exit(0))

    def exit(self, status: int) -> NoReturn:
        """The core is gone, or going, or is killed here."""
        self.ipc.unlink(missing_ok=True)
        if status and self.core.open:
            self.core.send("shutdown")
        until_s = time.monotonic() + CORE_LIMIT_S
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(self.core_pid, os.WNOHANG)[0] == 0:
                if time.monotonic() > until_s or (self.ending and self.core.open):
                    os.kill(self.core_pid, signal.SIGKILL)
                time.sleep(0.005)
        os._exit(status)


def error(message: str, code: int) -> dict[str, object]:
    return {"error": {"message": message, "type": "error", "code": code}}


def bound(options: Options) -> socket.socket | None:
    """A socket at the port, None where somebody has it."""
    sock = socket.socket(socket.AF_INET)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind((options.host, options.port))
    except OSError as taken:
        say("APIServer", f"OSError: [Errno {taken.errno}] {os.strerror(taken.errno or 0)}", "ERROR")
        sock.close()
        return None
    return sock


def serve(argv: list[str]) -> None:
    """Does not return. INT and TERM are held back until there is somebody to act on them."""
    signal.pthread_sigmask(signal.SIG_BLOCK, STOPS)
    options, switches = Options(argv), Switches(os.environ)
    if switches.fast_flag in argv:
        switches.token_s /= 4
    if switches.other_flag in argv:
        answers.WORD = "moon "
    set_name("VLLM::APIServer")
    if options.nodes.headless:
        run_headless(options.nodes, switches, options.port)
    if (early := bound(options)) is None:
        os._exit(1)
    early.close()  # taken for good after loading, so that a test can be faster
    ipc = Path(os.environ.get("TMPDIR") or "/tmp") / f"fake-engine-{options.port}-{os.getpid()}"
    # A socket's path may have 107 bytes and a temporary folder more, so it is reached through a descriptor.
    folder = os.open(ipc.parent, os.O_RDONLY | os.O_DIRECTORY)
    short = f"/proc/self/fd/{folder}/{ipc.name}"
    listener = socket.socket(socket.AF_UNIX)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(short)  # in a container that was started again the pid is the same  # noqa: PTH108
    listener.bind(short)
    listener.listen()
    core_pid = os.fork()
    if core_pid == 0:
        listener.close()
        run_core(switches, short, options.port, options.shutdown_timeout_s, options.nodes)
    listener.settimeout(10.0)
    sock, _ = listener.accept()
    listener.close()
    ApiServer(options, switches, core_pid, sock, ipc).loop.run()
