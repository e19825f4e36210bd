"""The least that a client in Python can do: uvloop, a timestamp for each read, nothing parsed.

    python -m benchmarks.client.floor --port 8000 --streams 512 --tokens 64 --out result.json

What it costs is the kernel's and the loop's; no client on that loop can cost less.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
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


async def run(port: int, streams: int, tokens: int) -> dict[str, float]:
    loop = asyncio.get_running_loop()
    wire = RequestBuilder(target_of(Endpoint(f"http://127.0.0.1:{port}/v1", "kimi-k2")), "kimi-k2").stream(
        "word " * 22, tokens
    )
    reads = [(await loop.create_connection(Reads, "127.0.0.1", port))[1] for _ in range(streams)]
    await asyncio.sleep(0.25)
    begun_s = time.perf_counter()
    for stream in reads:
        stream.transport.write(wire)
    await asyncio.gather(*(stream.over for stream in reads))
    duration_s = time.perf_counter() - begun_s
    gaps = sorted(later - earlier for stream in reads for earlier, later in pairwise(stream.times))
    return {
        "completed": streams,
        "duration": duration_s,
        "mean_ttft_ms": 1000 * sum(stream.times[0] - begun_s for stream in reads) / streams,
        "p99_itl_ms": 1000 * percentile(gaps, 99.0),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--streams", type=int, default=512)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    args.out.write_text(json.dumps(run_in_loop(run(args.port, args.streams, args.tokens))))


if __name__ == "__main__":
    main()
