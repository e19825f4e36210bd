"""A small server of known faults and known counts, in the loop of the test.

It answers what `moonpad bench` asks first (models, token counts) as it should, and each streamed chat with the bytes of
a script.
"""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from moonpad.values.endpoint import Endpoint

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
LAST_CHUNK = b"0\r\n\r\n"
CUT = None  # in a script: close the connection here

Script = list["bytes | float | None"]  # bytes to write, seconds to wait, CUT


def http_chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


def event(payload: bytes) -> bytes:
    return http_chunk(b"data: " + payload + b"\n\n")


def delta(**fields: object) -> bytes:
    return event(json.dumps({"choices": [{"index": 0, "delta": fields}]}, ensure_ascii=False).encode())


def usage(prompt: int, completion: int, reasoning: int | None = None) -> bytes:
    counts: dict[str, object] = {"prompt_tokens": prompt, "completion_tokens": completion}
    if reasoning is not None:
        counts["completion_tokens_details"] = {"reasoning_tokens": reasoning}
    return event(json.dumps({"choices": [], "usage": counts}).encode())


FINISH = event(b'{"choices":[{"index":0,"delta":{},"finish_reason":"length"}]}')
DONE = event(b"[DONE]") + LAST_CHUNK


def answer(words: int, *, tokens_per_word: int = 1) -> Script:
    """A good stream: the empty first chunk that servers send, then `words` chunks, then usage."""
    return [
        HEAD + delta(role="assistant", content=""),
        *[delta(content=f"w{word} ") for word in range(words)],
        FINISH + usage(12, words * tokens_per_word) + DONE,
    ]


@dataclass
class StreamingServer:
    """`script_of(n)` is the script of the n-th streamed chat; warm-up requests count."""

    script_of: Callable[[int], Script]
    model: str = "kimi-k2"
    more_models: tuple[str, ...] = ()
    endpoint: Endpoint = field(init=False)
    chats: int = 0
    connections: int = 0
    heads: list[str] = field(default_factory=list)
    bodies: list[dict[str, Any]] = field(default_factory=list)
    """Of the streamed requests, as they came."""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while await self._answer(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        self.heads.append(head)
        length = next((int(line[15:]) for line in head.split("\r\n") if line.startswith("Content-Length:")), 0)
        body = await reader.readexactly(length)
        if b'"stream"' not in body:
            writer.write(self._plain(head, body))
            return True
        self.bodies.append(json.loads(body))
        script = self.script_of(self.chats)
        self.chats += 1
        for step in script:
            if step is CUT:
                await writer.drain()
                return False
            if isinstance(step, bytes):
                writer.write(step)
                await writer.drain()
            else:
                await asyncio.sleep(step)
        return True

    def _plain(self, head: str, body: bytes) -> bytes:
        path = head.split(" ")[1]
        if path == "/v1/models":
            document: dict[str, object] = {"data": [{"id": name} for name in (self.model, *self.more_models)]}
        elif path == "/tokenize":
            document = {"count": self.tokens_of(json.loads(body))}
        else:
            return b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
        data = json.dumps(document).encode()
        return b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(data), data)

    @staticmethod
    def tokens_of(body: dict[str, Any]) -> int:
        """A word is a token; a chat has ten more."""
        if "prompt" in body:
            return len(body["prompt"].split())
        return 10 + sum(len(str(message["content"]).split()) for message in body["messages"])


@asynccontextmanager
async def streaming_server(
    script_of: Callable[[int], Script], *, tls: ssl.SSLContext | None = None
) -> AsyncIterator[StreamingServer]:
    served = StreamingServer(script_of)
    tasks: set[asyncio.Task[None]] = set()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(served.serve(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    server = await asyncio.start_server(accept, "127.0.0.1", 0, limit=1 << 24, ssl=tls)
    port = server.sockets[0].getsockname()[1]
    served.endpoint = Endpoint(f"{'https' if tls else 'http'}://127.0.0.1:{port}/v1", "")
    try:
        yield served
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
