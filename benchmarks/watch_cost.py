"""What watching costs: processor time of `moonpad watch` at the fake engine under a constant load, a look every 2 s.

    python -m benchmarks.watch_cost --seconds 60 --out benchmarks/results/watch_cost.json

Three commands, one after the other: `--json` and the screen (in a terminal of 80 × 24) at the run of ours, and `--json`
at a server of this script that answers what eight data-parallel ranks of vLLM answer: 3,000 lines, of which a watch
reads a quarter. The time of a command's start is left out: it begins to count at the second look. Its children count
too. The counters of that server stand still while requests run, so that the watch must call it hung; of the run of ours
no alert may be told. No vendor's tool was on the machine of the recorded run: those are called at most every 10 s, and
cost extra.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import pty
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from benchmarks.stage import Stage, Streams, about, write
from moonpad.facts.processes import PR_SET_CHILD_SUBREAPER, set_process_option
from tests.faults import forked

TICK_S = 1 / os.sysconf("SC_CLK_TCK")
EVERY_S = 2.0
RANKS = 8
METRICS = Path(__file__).parent.parent / "tests" / "unit" / "watch" / "vllm.txt"


def cpu_s(pid: int) -> float:
    """Of a process and the children that it has waited for."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) * TICK_S


def metrics_of_ranks() -> bytes:
    """The samples of every rank, and three times as many lines that a watch does not read."""
    lines = []
    for line in METRICS.read_text().splitlines():
        ranks = range(RANKS) if not line.startswith("#") else range(1)
        lines += [line.replace('engine="0"', f'engine="{rank}"') for rank in ranks]
    others = [line.replace("vllm:", "vllm:another_", 1) for line in lines if not line.startswith("#")]
    return ("\n".join(lines + others * 3) + "\n").encode()


class Ranks:
    """A server that answers `/health` and `/metrics` as a large deployment does."""

    def __init__(self) -> None:
        body = metrics_of_ranks()
        self.lines = body.count(b"\n")

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                text = body if self.path == "/metrics" else b""
                self.send_response(200)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class Command:
    """`moonpad watch` in a terminal of its own, whose output is read and counted."""

    def __init__(self, argv: tuple[str, ...], env: dict[str, str], *, terminal: bool) -> None:
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        output = theirs if terminal else subprocess.PIPE
        environment = {**env, "TERM": "xterm-256color", "COLUMNS": "80", "LINES": "24"}
        self._process = subprocess.Popen(
            (sys.executable, "-m", "moonpad", "watch", *argv),
            env=environment, stdin=theirs, stdout=output, stderr=theirs,
        )  # fmt: skip
        os.close(theirs)
        self.written, self._output = 0, bytearray()
        source = ours if terminal else self._process.stdout.fileno()  # type: ignore[union-attr]
        threading.Thread(target=self._read, args=(source,), daemon=True).start()
        if not terminal:
            threading.Thread(target=self._drain, args=(ours,), daemon=True).start()
        self.pid = self._process.pid

    def _read(self, source: int) -> None:
        try:
            while data := os.read(source, 1 << 16):
                self.written += len(data)
                self._output += data
        except OSError:
            return

    def _drain(self, source: int) -> None:
        try:
            while os.read(source, 1 << 16):
                pass
        except OSError:
            return

    def measure(self, seconds: float) -> dict[str, Any]:
        limit_s = time.monotonic() + 60
        while not self.written and time.monotonic() < limit_s:
            time.sleep(0.05)
        time.sleep(EVERY_S * 1.5)
        assert self.written, "it showed nothing"
        begun_s, before_s, bytes_before = time.monotonic(), cpu_s(self.pid), self.written
        time.sleep(seconds)
        passed_s, used_s = time.monotonic() - begun_s, cpu_s(self.pid) - before_s
        return {
            "seconds": round(passed_s, 1),
            "cpu_s": round(used_s, 3),
            "cpu_ms_a_look": round(1000 * used_s / (passed_s / EVERY_S), 2),
            "share_of_a_core": round(used_s / passed_s, 5),
            "bytes_written": self.written - bytes_before,
        }

    def said(self) -> dict[str, Any]:
        """Of a command that writes JSON: how many looks it showed, and how many of them had which alert."""
        documents = [json.loads(line) for line in self._output.splitlines() if line.endswith(b"}")]
        codes = [alert["code"] for document in documents for row in document["endpoints"] for alert in row["alerts"]]
        return {"looks": len(documents), "alerts": dict(Counter(codes))}

    def end(self) -> None:
        self._process.send_signal(signal.SIGINT)
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0, help="of each of the three commands")
    parser.add_argument("--streams", type=int, default=4)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    set_process_option(PR_SET_CHILD_SUBREAPER, 1)
    forked.import_moonpad()
    home = Path(tempfile.mkdtemp(prefix="wc"))
    stage, ranks = Stage(home, "fake", fake={"FAKE_TOKEN_S": "0.02"}), Ranks()
    stage.up()
    streams = Streams(stage.port, args.streams)
    commands = {
        "run_json": (("k", "--json"), False),
        "run_screen": (("k",), True),
        "ranks_json": (("--url", ranks.url, "--json"), False),
    }
    rows: dict[str, Any] = {}
    try:
        for name, (argv, terminal) in commands.items():
            command = Command(argv, stage.env, terminal=terminal)
            try:
                rows[name] = command.measure(args.seconds)
            finally:
                command.end()
            rows[name] |= {} if terminal else command.said()
    finally:
        streams.stop()
        stage.down()
        ranks.close()
    result = {
        **about(f"processor time of moonpad watch, a look every {EVERY_S:g} s, fake engine, {args.streams} streams"),
        "lines_of_ranks": ranks.lines,
        "load_average": [round(load, 2) for load in os.getloadavg()],
        **rows,
    }
    print(result)
    write(args.out, result)
    shutil.rmtree(home)


if __name__ == "__main__":
    main()
