"""Ctrl-C at twenty moments of a real start: what is left of it.

    python benchmarks/interrupts.py --moments 20 --over 40 --out benchmarks/results/interrupts.json

The moments are spread evenly over `--over` seconds with a seeded jitter. This process makes itself a child subreaper,
so every orphan of a start ends up below it and is counted, whatever it calls itself.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

from moonpad.run import keeper

ROOT = Path(__file__).resolve().parent.parent


def interrupt(spec: Path, port: int, delay_s: float) -> dict[str, object]:
    with tempfile.TemporaryDirectory() as state:
        env = {**os.environ, "XDG_STATE_HOME": state, "NO_COLOR": "1"}
        before = keeper.descendants({os.getpid()})
        up = subprocess.Popen(
            (sys.executable, "-m", "moonpad", "up", str(spec)),
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            process_group=0,
        )
        time.sleep(delay_s)
        begun = time.monotonic()
        os.killpg(up.pid, signal.SIGINT)
        output, _ = up.communicate(timeout=120)
        ended_s = time.monotonic() - begun
        if up.returncode == 0:  # it was ready before
            subprocess.run(
                (sys.executable, "-m", "moonpad", "down", str(spec)), env=env, capture_output=True, check=True
            )
        reap()
        left = {pid for pid in keeper.descendants({os.getpid()}) if pid not in before}
        with socket.socket() as sock:
            served = sock.connect_ex(("127.0.0.1", port)) == 0
        locks = [path.name for path in Path(state).rglob("*.lock")]
        phases = [line.rpartition(" (")[0] for line in output.splitlines() if line.startswith("tiny: ")]
        return {
            "delay_s": round(delay_s, 2),
            "exit": up.returncode,
            "phase": phases[-1] if phases else "",
            "ended_after_s": round(ended_s, 2),
            "processes_left": len(left),
            "port_left": served,
            "locks_left": len(locks),
        }


def reap() -> None:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--moments", type=int, default=20)
    parser.add_argument("--over", type=float, default=40.0, help="seconds that the moments are spread over")
    parser.add_argument("--spec", type=Path, default=ROOT / "examples" / "tiny.toml")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    keeper.set_process_option(keeper.PR_SET_CHILD_SUBREAPER, 1)
    # A shell's `&` starts us with SIGINT ignored, and the commands below would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    port = tomllib.loads(args.spec.read_text()).get("endpoint", {}).get("port", 8000)
    chance = random.Random(7)
    rows = []
    for number in range(args.moments):
        rows.append(interrupt(args.spec, port, args.over * (number + chance.random()) / args.moments))
        print(rows[-1], flush=True)
    left = sum(bool(row["processes_left"] or row["port_left"] or row["locks_left"]) for row in rows)
    result = {
        "what": "Ctrl-C during `moonpad up` on the real engine",
        "at": time.strftime("%Y-%m-%d"),
        "machine": f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}",
        "moments": rows,
        "moments_that_left_something": left,
    }
    print(f"{len(rows)} moments, {left} left something")
    if args.out:
        args.out.parent.mkdir(parents=True, exist_ok=True)
        args.out.write_text(json.dumps(result, indent=1) + "\n")
    sys.exit(1 if left else 0)


if __name__ == "__main__":
    main()
