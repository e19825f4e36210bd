"""Runs a verb of moonpad against an attack, as a process of its own, and what must hold of every such run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.attacks.hostile_server import MODEL, Attack, hostile

TIMEOUT_S = 1.0
"""Given as --timeout. A verb asks several times in a row, so its whole time is a multiple."""
MOST_S = 45.0
MOST_MIB = 500
CODES = {0, 2, 3, 5, 6}
REQUESTS = 3
VENDOR_LINE = {
    "messages": [{"role": "user", "content": "hi"}],
    "tools": [{"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}],
    "max_tokens": 64,
}
VERBS: dict[str, Sequence[str]] = {
    "chat": ("chat", "--once", "hello", "--max-tokens", "16", "--demo-tool"),
    "verify": ("verify", "--json", "--out", "verdict"),
    "vendor": ("verify", "--json", "--out", "rows.jsonl"),
    "vendor streamed": ("verify", "--json", "--vendor", "vendor.jsonl", "--stream", "--out", "rows.jsonl"),
    "loop": ("verify", "--json", "--loop", "3", "--out", "loop"),
    "numerics": ("verify", "--json", "--numerics", "--record", "recording.json"),
    "bench": (
        "bench", "--json", "--requests", str(REQUESTS), "--concurrency", "2", "--warmup", "1", "--output-tokens", "16",
        "--no-calibrate", "--out", "run",
    ),
    "conversation": (
        "bench", "--json", "--requests", "4", "--concurrency", "2", "--warmup", "0", "--output-tokens", "16",
        "--no-calibrate", "--dataset", "agent", "--turns", "2", "--out", "run",
    ),
    "sweep": (
        "bench", "--json", "--sweep", "concurrency=1,2", "--requests-per-stream", "2", "--warmup", "0",
        "--output-tokens", "16", "--no-calibrate", "--out", "run",
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Run:
    verb: str
    attack: str
    code: int
    seconds: float
    mib: int
    stdout: str
    stderr: str
    folder: Path
    problems: tuple[str, ...] = field(default=())


def run(
    verb: str, attack: Attack | None, folder: Path, *, spare: int = 0, named: bool = True, more: Sequence[str] = ()
) -> Run:
    """`named`: the model is, so that the verb need not ask for it."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps({**VENDOR_LINE, "stream": number == 1}) for number in range(3)]
    (folder / "vendor.jsonl").write_text("\n".join(lines))
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "XDG_STATE_HOME": str(folder / "state"), "NO_COLOR": "1"}
    with hostile(attack, spare) as server:
        argv = [*VERBS[verb], "--url", server.url, "--timeout", f"{TIMEOUT_S:g}s", *more]
        argv += ["--model", MODEL] if named else []
        argv += ["--vendor", "vendor.jsonl"] if verb == "vendor" and "--vendor" not in argv else []
        begun_s = time.monotonic()
        with (folder / "out").open("wb") as out, (folder / "err").open("wb") as err:
            process = subprocess.Popen(
                [sys.executable, "-m", "moonpad", *argv], cwd=folder, env=env, stdout=out, stderr=err
            )
            peak_kib = 0
            while process.poll() is None:
                peak_kib = max(peak_kib, _peak_kib(process.pid))
                if time.monotonic() - begun_s > MOST_S:
                    process.kill()
                time.sleep(0.01)
        seconds = time.monotonic() - begun_s
    done = Run(
        verb, attack.name if attack else "none", process.returncode, seconds, peak_kib >> 10,
        (folder / "out").read_text(errors="replace"), (folder / "err").read_text(errors="replace"), folder,
    )  # fmt: skip
    return Run(**{**vars(done), "problems": tuple(_problems(done))})


def _peak_kib(pid: int) -> int:
    """Of its resident memory. Not by wait4: that counts what its parent had before the program was loaded."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:")), 0)


def _problems(done: Run) -> list[str]:
    problems = []
    if done.code not in CODES:
        problems.append(f"exit code {done.code}")
    for sign in ("Traceback", "was never retrieved", "Exception in callback", "protocol.data_received"):
        if sign in done.stderr + done.stdout:
            problems.append(f"{sign}: {done.stderr[-600:]}")
    if done.seconds > MOST_S:
        problems.append(f"{done.seconds:.0f} s")
    if done.mib > MOST_MIB:
        problems.append(f"{done.mib} MiB")
    if not done.stdout.strip() and not done.stderr.strip():
        problems.append("it says nothing")
    if "could not be judged" in done.stdout:
        problems.append("a probe ended by an exception")
    problems += _lost(done)
    return problems


def _lost(done: Run) -> list[str]:
    """What was measured and is neither written nor printed."""
    written = done.folder / "run" / "requests.jsonl"
    if done.verb != "bench" or not written.exists() or not (done.folder / "run" / "run.json").exists():
        return []
    records = [json.loads(line) for line in written.read_text().splitlines()]
    try:
        document, printed = json.loads((done.folder / "run" / "result.json").read_text()), json.loads(done.stdout)
    except (OSError, ValueError) as error:
        return [f"the result of {len(records)} records is lost: {error}"]
    good = sum(record["failure"] is None for record in records)
    problems = [] if document == printed else ["what is printed is not what is written"]
    if len(records) != REQUESTS:
        problems.append(f"{len(records)} records of {REQUESTS} requests")
    if (document["completed"], document["failed"]) != (good, REQUESTS - good):
        problems.append(f"{document['completed']} and {document['failed']} requests, not {good} and {REQUESTS - good}")
    # Whatever the server counts: a request of 16 tokens has no thousands, nor a short prompt a hundred thousand.
    if not 0 <= document["total_output_tokens"] <= REQUESTS * 4096:
        problems.append(f"{document['total_output_tokens']} output tokens")
    if not 0 <= document["total_input_tokens"] <= REQUESTS * 100_000:
        problems.append(f"{document['total_input_tokens']} input tokens")
    return problems
