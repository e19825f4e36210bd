"""A server of the OpenAI API that sends the key and terminal codes back in every place that it can."""

from __future__ import annotations

import base64
import html
import json
import threading
import urllib.parse
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

CODES = "\x1b[31m\x1b]8;;http://evil\x07\x9b2J\x7f\u202eabc\u2066\u200b\u2028\U000e0041[bold][link=http://evil]x"
"""Control characters of each kind, and the markup of rich."""


def spellings(key: str) -> dict[str, str]:
    """The simple encodings of a key, by the functions of the standard library."""
    return {
        "plain": key,
        "JSON": json.dumps(key)[1:-1],
        "HTML": html.escape(key),
        "percent": urllib.parse.quote(key, safe=""),
        "base64": base64.b64encode(key.encode()).decode(),
        "url-safe base64": base64.urlsafe_b64encode(key.encode()).decode(),
        "basic": base64.b64encode(f"me:{key}".encode()).decode(),
        "repr": repr(key)[1:-1],
        "hex": key.encode().hex(),
    }


class Hostile(BaseHTTPRequestHandler):
    """`server.mode` is what it does beside that: answers, errors, sse-error, broken, cut."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def echo(self) -> str:
        key = self.headers.get("Authorization", "").removeprefix("Bearer ") or self.server.key  # type: ignore[attr-defined]
        return " ".join((f"Bearer {key}", *spellings(key).values(), CODES))

    def do_GET(self) -> None:
        self.answer(None)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        try:
            self.answer(json.loads(body or b"{}"))
        except ValueError:  # a probe that sends no JSON
            self.send(400, {"error": {"message": self.echo() + body.decode(errors="replace")}})

    def answer(self, asked: Any) -> None:
        mode: str = self.server.mode  # type: ignore[attr-defined]
        with suppress(OSError):
            if self.path.endswith("/health"):
                self.send(200, self.echo())
            elif self.path.endswith("/models"):
                self.send(200, {"object": "list", "data": [{"id": self.model(), "owned_by": self.echo()}]})
            elif self.path.endswith("/metrics"):
                self.send(200, f'vllm:num_requests_running{{model_name="{json.dumps(self.echo())[1:-1]}"}} 1\n')
            elif mode.startswith("error"):
                self.send(int(mode.removeprefix("error")), {"error": {"message": self.echo(), "type": self.echo()}})
            elif mode == "broken":
                self.send(200, "{" + self.echo(), kind="text/event-stream" if asked and asked.get("stream") else "")
            elif self.path.endswith("/tokenize"):
                self.send(200, {"count": 7, "tokens": [1] * 7, "echo": self.echo()})
            elif isinstance(asked, dict) and asked.get("stream"):
                self.stream(mode, "messages" in asked)
            else:
                self.send(200, self.completion(isinstance(asked, dict) and "messages" in asked))

    def model(self) -> str:
        return f"kimi-{self.headers.get('Authorization', '').removeprefix('Bearer ') or 'k2'}"

    def usage(self) -> dict[str, Any]:
        return {"prompt_tokens": 20, "completion_tokens": 7, "total_tokens": 27, self.echo(): self.echo()}

    def call(self) -> dict[str, Any]:
        function = {"name": self.echo(), "arguments": json.dumps({"key": self.echo()})}
        return {"index": 0, "id": self.echo(), "type": "function", "function": function}

    def completion(self, chat: bool) -> dict[str, Any]:
        message = {"role": "assistant", "content": self.echo(), "reasoning": self.echo(), "tool_calls": [self.call()]}
        choice = {"message": message} if chat else {"text": self.echo(), "logprobs": {"tokens": [self.echo()]}}
        head = {"id": self.echo(), "model": self.echo(), "usage": self.usage(), "system_fingerprint": self.echo()}
        return {**head, "choices": [{"index": 0, "finish_reason": "stop", **choice}]}

    def stream(self, mode: str, chat: bool) -> None:
        """The echo in pieces of three characters, so that keys and escapes are split."""
        text = self.echo()
        pieces = [text[at : at + 3] for at in range(0, len(text), 3)]
        events: list[Any] = []
        for piece in pieces:
            delta = {"reasoning": piece, "content": piece}
            for name, value in delta.items() if chat else (("text", piece),):
                choice = {"delta": {name: value}} if chat else {"text": value}
                events.append({"id": text, "model": text, "choices": [{"index": 0, **choice}]})
        if chat:
            events += [{"id": text, "choices": [{"index": 0, "delta": {"content": piece}}]} for piece in pieces]
            events.append({"choices": [{"index": 0, "delta": {"tool_calls": [self.call()]}}]})
        events.append({"choices": [{"index": 0, "finish_reason": "stop", "delta": {}, "text": ""}]})
        events.append({"choices": [], "usage": self.usage()})
        if mode == "sse-error":
            events[len(events) // 2 :] = [{"error": {"message": text, "code": text}}]
        body = "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"
        self.send(200, body[: len(body) // 2] if mode == "cut" else body, kind="text/event-stream", cut=mode == "cut")

    def send(self, status: int, document: Any, *, kind: str = "", cut: bool = False) -> None:
        body = (document if isinstance(document, str) else json.dumps(document)).encode()
        words = "".join(char for char in self.echo() if " " <= char < "\x7f")
        self.send_response(status, words)
        for name in ("X-Key", "Server", "WWW-Authenticate", "X-Request-Id"):
            self.send_header(name, words)
        self.send_header("Content-Type", kind or ("text/plain" if isinstance(document, str) else "application/json"))
        self.send_header("Content-Length", str(len(body) + 100 * cut))
        self.end_headers()
        self.wfile.write(body)
        if cut:
            self.close_connection = True


@contextmanager
def hostile(mode: str, key: str) -> Iterator[str]:
    """Its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hostile)
    server.daemon_threads = True
    server.mode, server.key = mode, key  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
