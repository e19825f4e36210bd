"""A fast OpenAI endpoint whose own write times are the truth: 64 tokens of an answer, 40 ms apart, first after 100 ms.

    python -m benchmarks.client.fake_server --tokens 64 --gap-ms 40

`--format` says whose events they are like (see `formats.py`). With `--spread 512` the first tokens of so many requests
in a row are spread over one gap, as streams are that have nothing to do with each other; without it, requests that come
at once get each token at once, as from one step of an engine: the hardest that a client can be given.

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
from itertools import pairwise
from typing import Any, ClassVar, cast

from benchmarks.client.formats import FORMATS, answers, beginning, ending
from moonpad.load.event_loop import run_in_loop
from moonpad.stats.percentiles import percentile

FIRST_S = 0.1
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


class Fake(asyncio.Protocol):
    turnarounds: ClassVar[list[float]] = []
    """Of every connection: from the last token of a stream to the next request."""

    def __init__(
        self, answers: list[list[bytes]], gap_s: float, spread: int, streams: list[tuple[float, list[float]]]
    ) -> None:
        self.answers, self.gap_s, self.spread, self.streams = answers, gap_s, spread, streams
        self.pending = b""
        self.loop = asyncio.get_running_loop()
        self.tokens = len(answers[0])
        self.begin, self.end = HEAD + beginning(), ending(self.tokens)
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
        answer = self.answers[len(self.streams) % len(self.answers)]
        self.loop.call_at(first_s, self.write, answer, writes, first_s, 0)

    def write(self, answer: list[bytes], writes: list[float], first_s: float, number: int) -> None:
        if self.transport.is_closing():
            return
        writes.append(time.perf_counter())
        last = number + 1 == self.tokens
        self.transport.write((self.begin if number == 0 else b"") + answer[number] + (self.end if last else b""))
        if last:
            self.ended_s = writes[-1]
        else:
            self.loop.call_at(first_s + (number + 1) * self.gap_s, self.write, answer, writes, first_s, number + 1)

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


async def serve(form: str, tokens: int, gap_s: float, spread: int) -> None:
    streams: list[tuple[float, list[float]]] = []
    rows = answers(form, tokens)
    server = await asyncio.get_running_loop().create_server(
        lambda: Fake(rows, gap_s, spread, streams), "127.0.0.1", 0, backlog=4096
    )
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve_forever()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--gap-ms", type=float, default=40.0)
    parser.add_argument("--spread", type=int, default=1)
    parser.add_argument("--format", choices=FORMATS, default="vllm")
    args = parser.parse_args()
    run_in_loop(serve(args.format, args.tokens, args.gap_ms / 1000, args.spread))


if __name__ == "__main__":
    main()
