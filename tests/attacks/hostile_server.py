"""A server of raw sockets that answers soundly, but for an attack: the bytes of some of its answers."""

from __future__ import annotations

import gzip
import json
import random
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

MODEL = "kimi-k2"
GENERATE = ("/v1/chat/completions", "/v1/completions")
EVERYTHING = ("/v1/chat/completions", "/v1/completions", "/v1/models", "/tokenize", "/metrics", "/health")
CHUNKED = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
UNTIL_CLOSED = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
JSON_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
USAGE: dict[str, Any] = {"prompt_tokens": 12, "completion_tokens": 4, "total_tokens": 16}
METRICS = b'vllm:num_requests_running{engine="0"} 1.0\nvllm:kv_cache_usage_perc{engine="0"} 0.5\n'


@dataclass(frozen=True)
class Request:
    path: str
    body: dict[str, Any]

    @property
    def streamed(self) -> bool:
        return self.body.get("stream") is True


@dataclass
class Wire:
    """One connection. Each method ends with an OSError once the client has left or the server stops."""

    connection: socket.socket
    stopped: threading.Event

    def send(self, data: bytes) -> None:
        self.connection.sendall(data)

    def flood(self, data: bytes) -> None:
        while not self.stopped.is_set():
            self.connection.sendall(data)

    def trickle(self, data: bytes, pause_s: float = 0.1) -> None:
        """A byte at a time, again and again."""
        while True:
            for at in range(len(data)):
                self.send(data[at : at + 1])
                self.wait(pause_s)

    def wait(self, seconds: float) -> None:
        if self.stopped.wait(seconds):
            raise OSError("stopped")

    def hold(self) -> None:
        """Says nothing more, until the client leaves."""
        self.connection.settimeout(0.2)
        while not self.stopped.is_set():
            with suppress(TimeoutError):
                if not self.connection.recv(1 << 16):
                    return

    def reset(self) -> None:
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        raise OSError("reset")


Answer = Callable[[Wire, Request], None]


@dataclass(frozen=True)
class Attack:
    """`on`: the paths that it takes over. `on_accept`: it does not wait for a request."""

    name: str
    answer: Answer
    on: tuple[str, ...] = GENERATE
    on_accept: bool = False


# --- sound answers ---------------------------------------------------------------------------------------------------


def plain(document: object) -> bytes:
    body = document if isinstance(document, bytes) else json.dumps(document).encode()
    return JSON_HEAD + b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


def event(document: object) -> bytes:
    payload = document if isinstance(document, bytes) else json.dumps(document).encode()
    data = b"data: " + payload + b"\n\n"
    return b"%x\r\n%s\r\n" % (len(data), data)


def delta(**fields: object) -> dict[str, Any]:
    return {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": fields, "finish_reason": None}]}


def whole_answer(request: Request) -> dict[str, Any]:
    message = {"role": "assistant", "content": "one two three four"}
    choice: dict[str, Any] = {"index": 0, "message": message, "text": "one two", "finish_reason": "stop"}
    if request.body.get("echo"):
        choice["logprobs"] = {
            "tokens": ["a", "b", "c"],
            "token_logprobs": [None, -1.0, -2.0],
            "top_logprobs": [None, {"b": -1.0}, {"c": -2.0}],
        }
        return {"choices": [choice], "usage": {**USAGE, "prompt_tokens": 3}}
    return {"choices": [choice], "usage": USAGE}


def stream_events() -> list[dict[str, Any]]:
    end = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    words = [delta(content=f"{word} ") for word in ("one", "two", "three", "four")]
    return [delta(role="assistant", content=""), *words, end, {"choices": [], "usage": USAGE}]


def sound(wire: Wire | _Written, request: Request) -> None:
    if request.path == "/v1/models":
        wire.send(plain({"data": [{"id": MODEL, "max_model_len": 4096, "owned_by": "vllm"}]}))
    elif request.path == "/tokenize":
        words = str(request.body.get("prompt") or request.body.get("messages")).split()
        wire.send(plain({"count": len(words), "tokens": list(range(len(words)))}))
    elif request.path == "/metrics":
        wire.send(plain(METRICS))
    elif request.path == "/health":
        wire.send(plain(b""))
    elif request.streamed:
        wire.send(CHUNKED + b"".join(map(event, stream_events())) + event(b"[DONE]") + b"0\r\n\r\n")
    else:
        wire.send(plain(whole_answer(request)))


# --- attacks ---------------------------------------------------------------------------------------------------------


def says(data: bytes, then: str = "hold") -> Answer:
    def answer(wire: Wire, request: Request) -> None:
        wire.send(data)
        if then == "close":
            raise OSError("closed")
        if then == "reset":
            wire.reset()
        if then == "hold":
            wire.hold()

    return answer


def floods(head: bytes, data: bytes) -> Answer:
    def answer(wire: Wire, request: Request) -> None:
        wire.send(head)
        wire.flood(data)

    return answer


@dataclass
class _Written:
    """Takes what a sound answer would send."""

    data: bytes = b""

    def send(self, data: bytes) -> None:
        self.data += data


def garbles(seed: int) -> Answer:
    """Each sound answer with bytes flipped, cut out, repeated or put in: others for each answer, the same each time."""
    dice = random.Random(seed)

    def answer(wire: Wire, request: Request) -> None:
        written = _Written()
        sound(written, request)
        data = written.data
        for _ in range(dice.choice((0, 1, 1, 2, 4))):
            at, end = sorted(dice.randrange(len(data) + 1) for _ in range(2))
            junk = dice.choice((dice.randbytes(8), data[at:end] * 3, b"-1", b"9" * 20, b"[", b'"', b"\r\n\r\n"))
            data = dice.choice((data[:at] + junk + data[end:], data[:at] + data[end:], data[:at], data[:at] + junk))
        wire.send(data)
        if dice.random() < 0.7:
            raise OSError("closed")

    return answer


def says_much(head: bytes, times: int, data: bytes, end: bytes) -> Answer:
    def answer(wire: Wire, request: Request) -> None:
        wire.send(head)
        for _ in range(times):
            wire.send(data)
        wire.send(end)

    return answer


def trickles(head: bytes, data: bytes) -> Answer:
    def answer(wire: Wire, request: Request) -> None:
        wire.send(head)
        wire.trickle(data)

    return answer


def with_document(change: Callable[[dict[str, Any]], object]) -> Answer:
    """A sound answer, changed in each of its JSON documents."""

    def answer(wire: Wire, request: Request) -> None:
        if request.streamed:
            wire.send(CHUNKED + b"".join(event(_as_bytes(change(document))) for document in stream_events()))
            wire.send(event(b"[DONE]") + b"0\r\n\r\n")
        else:
            wire.send(plain(_as_bytes(change(whole_answer(request)))))

    return answer


def _as_bytes(document: object) -> bytes:
    return document if isinstance(document, bytes) else json.dumps(document).encode()


def with_usage(value: object, raw: bytes = b"") -> Answer:
    """`raw`: text for each count that is not of JSON, or of JSON that Python cannot write."""

    def change(document: dict[str, Any]) -> object:
        if "usage" not in document:
            return document
        names = ("prompt_tokens", "completion_tokens", "total_tokens")
        nested = {"completion_tokens_details": {"reasoning_tokens": value}}
        usage = {**dict.fromkeys(names, value), **nested} if value != "the whole" else [1, 2]
        text = json.dumps({**document, "usage": usage}).encode()
        return text.replace(b'"RAW"', raw) if raw else text

    return with_document(change)


def with_choice(**fields: object) -> Answer:
    def change(document: dict[str, Any]) -> object:
        choices = [{**choice, **fields} for choice in document["choices"]]
        return {**document, "choices": choices}

    return with_document(change)


def with_message(**fields: object) -> Answer:
    """Fields of the message, and of each delta."""

    def change(document: dict[str, Any]) -> object:
        choices = [
            {**choice, **{name: {**(choice.get(name) or {}), **fields} for name in ("message", "delta")}}
            for choice in document["choices"]
        ]
        return {**document, "choices": choices}

    return with_document(change)


def replaces(**fields: object) -> Answer:
    return with_document(lambda document: {**document, **fields})


def cut_at(at: int, then: str) -> Answer:
    """A sound stream or answer, cut after `at` bytes."""

    def answer(wire: Wire, request: Request) -> None:
        whole = plain(whole_answer(request))
        if request.streamed:
            whole = CHUNKED + b"".join(map(event, stream_events())) + event(b"[DONE]") + b"0\r\n\r\n"
        says(whole[:at], then)(wire, request)

    return answer


def call(**fields: object) -> dict[str, Any]:
    return {"id": "functions.f:0", "type": "function", "function": {"name": "f", "arguments": "{}"}, **fields}


def weather(arguments: str) -> dict[str, Any]:
    return call(id="functions.get_weather:0", function={"name": "get_weather", "arguments": arguments})


TOKEN = event(delta(content="word "))
BOMB = gzip.compress(b"0" * (16 << 20)) * 40
"""Of 640 MB."""
DEEP = b"[" * 100_000 + b"]" * 100_000


# --- the server ------------------------------------------------------------------------------------------------------


@dataclass
class HostileServer:
    """Serves each connection in a thread. `spare`: so many requests to attacked paths are answered soundly first."""

    attack: Attack | None
    spare: int = 0
    requests: list[Request] = field(default_factory=list)
    _stopped: threading.Event = field(default_factory=threading.Event)
    _listener: socket.socket = field(init=False)

    def __post_init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self._listener.settimeout(0.2)
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}/v1"

    def stop(self) -> None:
        self._stopped.set()
        self._listener.close()

    def _accept(self) -> None:
        while not self._stopped.is_set():
            try:
                connection, _ = self._listener.accept()
            except TimeoutError:
                continue
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        wire = Wire(connection, self._stopped)
        with suppress(OSError, ValueError), connection:
            connection.settimeout(60.0)
            if self.attack is not None and self.attack.on_accept:
                self.attack.answer(wire, Request("", {}))
            rest = b""
            while True:
                request, rest = _read(connection, rest)
                if request is None:
                    return
                self.requests.append(request)
                if self.attack is None or request.path not in self.attack.on or self._spared():
                    sound(wire, request)
                else:
                    self.attack.answer(wire, request)

    def _spared(self) -> bool:
        self.spare -= 1
        return self.spare >= 0


def _read(connection: socket.socket, data: bytes) -> tuple[Request | None, bytes]:
    while b"\r\n\r\n" not in data:
        piece = connection.recv(1 << 16)
        if not piece:
            return None, b""
        data += piece
    head, _, rest = data.partition(b"\r\n\r\n")
    lines = head.split(b"\r\n")
    length = next((int(line.split(b":")[1]) for line in lines if line.lower().startswith(b"content-length:")), 0)
    while len(rest) < length:
        rest += connection.recv(1 << 16)
    path = lines[0].split(b" ")[1].decode()
    try:
        body = json.loads(rest[:length] or b"{}")
    except ValueError:
        body = {}
    return Request(path, body if isinstance(body, dict) else {}), rest[length:]


@contextmanager
def hostile(attack: Attack | None, spare: int = 0) -> Iterator[HostileServer]:
    server = HostileServer(attack, spare)
    try:
        yield server
    finally:
        server.stop()
        time.sleep(0)
