"""The least that a client in Python can do: a timestamp for each read, nothing parsed.

    python -m benchmarks.client.floor --port 8000 --streams 512 --tokens 64 --out result.json

What it costs is the kernel's and the loop's; no client on that loop can cost less. `--core` takes another compiled one
than uvloop, to see what it would give: `rloop`, an event loop in Rust, or `pycurl`, libcurl, which reads HTTP as well.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import select
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import cast

from moonpad.load.endpoint_url import target_of
from moonpad.load.event_loop import run_in_loop
from moonpad.load.request_builder import RequestBuilder
from moonpad.stats.percentiles import percentile
from moonpad.values.endpoint import Endpoint

END = b"0\r\n\r\n"


class Reads(asyncio.Protocol):
    def __init__(self) -> None:
        self.times: list[float] = []
        self.over = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self.times.append(time.perf_counter())
        if data.endswith(END):
            self.over.set_result(None)


def request(port: int, tokens: int) -> bytes:
    target = target_of(Endpoint(f"http://127.0.0.1:{port}/v1", "kimi-k2"))
    return RequestBuilder(target, "kimi-k2").stream("word " * 22, tokens)


async def run(port: int, streams: int, tokens: int) -> dict[str, float]:
    loop = asyncio.get_running_loop()
    wire = request(port, tokens)
    reads = [(await loop.create_connection(Reads, "127.0.0.1", port))[1] for _ in range(streams)]
    await asyncio.sleep(0.25)
    begun_s = time.perf_counter()
    for stream in reads:
        stream.transport.write(wire)
    await asyncio.gather(*(stream.over for stream in reads))
    return figures([stream.times for stream in reads], begun_s)


def figures(streams: Sequence[Sequence[float]], begun_s: float) -> dict[str, float]:
    gaps = sorted(later - earlier for times in streams for earlier, later in pairwise(times))
    return {
        "completed": len(streams),
        "duration": time.perf_counter() - begun_s,
        "mean_ttft_ms": 1000 * sum(times[0] - begun_s for times in streams) / len(streams),
        "p99_itl_ms": 1000 * percentile(gaps, 99.0),
    }


def run_pycurl(port: int, streams: int, tokens: int) -> dict[str, float]:
    """libcurl's multi interface under an epoll of our own, as its documentation recommends for many transfers."""
    import pycurl

    body = request(port, tokens).split(b"\r\n\r\n", 1)[1]
    poll, multi, due_s = select.epoll(), pycurl.CurlMulti(), [0.0]
    wanted = {pycurl.POLL_IN: select.EPOLLIN, pycurl.POLL_OUT: select.EPOLLOUT, pycurl.POLL_INOUT: 5}
    watched: set[int] = set()

    def on_socket(what: int, descriptor: int, *_: object) -> None:
        if what == pycurl.POLL_REMOVE:
            watched.discard(descriptor)
            poll.unregister(descriptor)
        elif descriptor in watched:
            poll.modify(descriptor, wanted[what])
        else:
            watched.add(descriptor)
            poll.register(descriptor, wanted[what])

    def on_timer(wait_ms: int) -> None:
        due_s[0] = time.perf_counter() + wait_ms / 1000 if wait_ms >= 0 else float("inf")

    multi.setopt(pycurl.M_SOCKETFUNCTION, on_socket)
    multi.setopt(pycurl.M_TIMERFUNCTION, on_timer)
    times: list[list[float]] = [[] for _ in range(streams)]
    clock = time.perf_counter
    handles = []
    begun_s = clock()
    for row in times:
        handle = pycurl.Curl()
        handle.setopt(pycurl.URL, f"http://127.0.0.1:{port}/v1/chat/completions")
        handle.setopt(pycurl.POSTFIELDS, body)
        handle.setopt(pycurl.WRITEFUNCTION, lambda data, append=row.append: append(clock()))
        multi.add_handle(handle)
        handles.append(handle)
    running = streams
    while (running or not all(times)) and clock() < begun_s + 60:
        for descriptor, events in poll.poll(max(0.0, min(due_s[0] - clock(), 1.0))):
            _, running = multi.socket_action(descriptor, bool(events & 1) + 2 * bool(events & 4))
        if clock() >= due_s[0]:
            due_s[0] = float("inf")
            _, running = multi.socket_action(pycurl.SOCKET_TIMEOUT, 0)
    failed = [why for _, _, why in multi.info_read(streams)[2]]
    assert not failed, failed
    return figures(times, begun_s)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--streams", type=int, default=512)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--core", choices=("uvloop", "rloop", "pycurl"), default="uvloop")
    args = parser.parse_args()
    load = args.port, args.streams, args.tokens
    if args.core == "pycurl":
        result = run_pycurl(*load)
    elif args.core == "rloop":
        import rloop

        with asyncio.Runner(loop_factory=rloop.new_event_loop) as runner:
            result = runner.run(run(*load))
    else:
        result = run_in_loop(run(*load))
    args.out.write_text(json.dumps(result))


if __name__ == "__main__":
    main()
