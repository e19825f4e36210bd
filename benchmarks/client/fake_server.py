"""A fast OpenAI endpoint whose own write times are the truth: 64 tokens of an answer, 40 ms apart, first after 100 ms.

    python -m benchmarks.client.fake_server --tokens 64 --gap-ms 40

With `--spread 512` the first tokens of so many requests in a row are spread over one gap, as streams are that have
nothing to do with each other; without it, requests that come at once get each token at once, as from one step of an
engine: the hardest that a client can be given.

It prints its port. `GET /truth` gives, of the streams since the last such question: how many, the mean seconds from a
request's last byte to its first token, the 99th percentile of all gaps between its own writes, and the instants of the
first request and of the last token, on the machine's monotonic clock; when each request came, and how long after the
end of the answer before on its connection.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from functools import cache
from itertools import pairwise
from typing import Any, ClassVar, cast

from moonpad.load.event_loop import run_in_loop
from moonpad.stats.percentiles import percentile

FIRST_S = 0.1
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


def event(payload: bytes) -> bytes:
    data = b"data: " + payload + b"\n\n"
    return b"%x\r\n%s\r\n" % (len(data), data)


def delta(fields: dict[str, Any], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": fields, "logprobs": None, "finish_reason": finish}
    common = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "kimi-k2"}
    return event(json.dumps({**common, "choices": [choice]}, separators=(",", ":")).encode())


TOKEN = delta({"content": " four"})
BEGIN = HEAD + delta({"role": "assistant", "content": ""})


@cache
def end_of(tokens: int) -> bytes:
    usage = {"prompt_tokens": 12, "completion_tokens": tokens, "total_tokens": 12 + tokens}
    last = json.dumps({"choices": [], "usage": usage}, separators=(",", ":")).encode()
    return delta({}, "length") + event(last) + event(b"[DONE]") + b"0\r\n\r\n"


class Fake(asyncio.Protocol):
    turnarounds: ClassVar[list[float]] = []
    """Of every connection: from the last token of a stream to the next request."""

    def __init__(self, tokens: int, gap_s: float, spread: int, streams: list[tuple[float, list[float]]]) -> None:
        self.tokens, self.gap_s, self.spread, self.streams = tokens, gap_s, spread, streams
        self.pending = b""
        self.loop = asyncio.get_running_loop()
        self.end = end_of(tokens)
        self.ended_s: float | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self.pending += data
        while (end := self.pending.find(b"\r\n\r\n")) >= 0:
            lines = self.pending[:end].lower().split(b"\r\n")
            length = next((int(line[15:]) for line in lines if line.startswith(b"content-length:")), 0)
            if len(self.pending) < end + 4 + length:
                return
            body, path = self.pending[end + 4 : end + 4 + length], self.pending.split(b" ", 2)[1]
            self.pending = self.pending[end + 4 + length :]
            self.answer(path, body)

    def answer(self, path: bytes, body: bytes) -> None:
        if path.endswith(b"/chat/completions") and b'"stream":true' in body.replace(b" ", b""):
            self.stream()
        elif path.endswith(b"/models"):
            self.plain({"data": [{"id": "kimi-k2", "object": "model"}]})
        elif path.endswith(b"/tokenize"):
            messages = json.loads(body).get("messages") or [{"content": ""}]
            self.plain({"count": 10 + len(messages[0]["content"].split())})
        elif path.endswith(b"/truth"):
            self.plain(self.truth())
        else:
            self.plain({})

    def plain(self, document: dict[str, Any]) -> None:
        body = json.dumps(document).encode()
        head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
        self.transport.write(head + body)

    def stream(self) -> None:
        """The instants are fixed now, so that a late write does not make the next one late."""
        writes: list[float] = []
        late_s = self.gap_s * (len(self.streams) % self.spread) / self.spread
        now_s = time.perf_counter()
        self.streams.append((now_s, writes))
        if self.ended_s is not None:
            self.turnarounds.append(now_s - self.ended_s)
        first_s = self.loop.time() + FIRST_S + late_s
        self.loop.call_at(first_s, self.write, writes, first_s, 0)

    def write(self, writes: list[float], first_s: float, number: int) -> None:
        if self.transport.is_closing():
            return
        writes.append(time.perf_counter())
        last = number + 1 == self.tokens
        self.transport.write((BEGIN if number == 0 else b"") + TOKEN + (self.end if last else b""))
        if last:
            self.ended_s = writes[-1]
        else:
            self.loop.call_at(first_s + (number + 1) * self.gap_s, self.write, writes, first_s, number + 1)

    def truth(self) -> dict[str, Any]:
        whole = [(asked_s, writes) for asked_s, writes in self.streams if len(writes) == self.tokens]
        turnarounds = self.turnarounds[:]
        self.streams.clear()
        self.turnarounds.clear()
        ttfts = [writes[0] - asked_s for asked_s, writes in whole]
        gaps = sorted(later - earlier for _, writes in whole for earlier, later in pairwise(writes))
        if not ttfts or not gaps:
            return {"streams": 0}
        return {
            "streams": len(whole),
            "from_s": min(asked_s for asked_s, _ in whole),
            "to_s": max(writes[-1] for _, writes in whole),
            "arrivals_s": [asked_s for asked_s, _ in whole],
            "turnarounds_s": turnarounds,
            "mean_ttft_ms": 1000 * sum(ttfts) / len(ttfts),
            "p99_itl_ms": 1000 * percentile(gaps, 99.0),
        }


async def serve(tokens: int, gap_s: float, spread: int) -> None:
    streams: list[tuple[float, list[float]]] = []
    server = await asyncio.get_running_loop().create_server(
        lambda: Fake(tokens, gap_s, spread, streams), "127.0.0.1", 0, backlog=4096
    )
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve_forever()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--gap-ms", type=float, default=40.0)
    parser.add_argument("--spread", type=int, default=1)
    args = parser.parse_args()
    run_in_loop(serve(args.tokens, args.gap_ms / 1000, args.spread))


if __name__ == "__main__":
    main()
