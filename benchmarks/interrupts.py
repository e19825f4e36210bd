"""Ctrl-C at moments of a start, once or twice: how it ends and what is left of it.

    python -m benchmarks.interrupts --moments 20 --over 40 --out benchmarks/results/interrupts.json
    python -m benchmarks.interrupts --engine fake --moments 50 --over 8 --out benchmarks/results/interrupts_fake.json
    python -m benchmarks.interrupts --engine fake --double --moments 50 --over 8 --out ….json

The moments are spread evenly over `--over` seconds with a seeded jitter; the fake engine is given as long to load.
`--double` sends a second Ctrl-C up to half a second after the first. A command that was interrupted ends with 130; 0
means that it was ready before, and it is taken down; -2 that Python itself was still starting. This process makes
itself a child subreaper, so every orphan of a start ends up below it and is counted, whatever it calls itself.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.stage import about, write
from moonpad.facts.processes import PR_SET_CHILD_SUBREAPER, find_descendants, set_process_option
from tests.fake_environment import make_environment
from tests.faults import machine, oracle

ROOT = Path(__file__).resolve().parent.parent
EXPECTED = (130, 0, -2)
FAKE = """\
model = "kimi-k2-tiny"

[engine]
name = "vllm-cpu"
python = "{python}"

[endpoint]
port = {port}
"""


def interrupt(spec: Path, port: int, delay_s: float, again_s: float | None, env: Mapping[str, str]) -> dict[str, Any]:
    """One start, interrupted after `delay_s`, and once more `again_s` later."""
    with tempfile.TemporaryDirectory() as state:
        env = {**env, "XDG_STATE_HOME": state, "NO_COLOR": "1"}
        before = find_descendants({os.getpid()})
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
        send(up)
        if again_s is not None:
            time.sleep(again_s)
            send(up)
        output, _ = up.communicate(timeout=120)
        ended_s = time.monotonic() - begun
        if up.returncode == 0:
            subprocess.run(
                (sys.executable, "-m", "moonpad", "down", str(spec)), env=env, capture_output=True, check=True
            )
        oracle.reap()
        left = {pid for pid in find_descendants({os.getpid()}) if pid not in before}
        locks = [path.name for path in Path(state).rglob("*.lock")]
        phases = [line.rpartition(" (")[0] for line in output.splitlines() if line.startswith(f"{spec.stem}: ")]
        return {
            "delay_s": round(delay_s, 2),
            **({"again_s": round(again_s, 2)} if again_s is not None else {}),
            "exit": up.returncode,
            "phase": phases[-1] if phases else "",
            "ended_after_s": round(ended_s, 2),
            "traceback": "Traceback" in output and up.returncode != -signal.SIGINT,
            "processes_left": len(left),
            "port_left": oracle.served(port),
            "locks_left": len(locks),
        }


def send(command: subprocess.Popen[str]) -> None:
    """As a terminal does, to its process group; it may have ended."""
    if command.poll() is None:
        os.killpg(command.pid, signal.SIGINT)


def left_something(row: Mapping[str, Any]) -> bool:
    return bool(row["processes_left"] or row["port_left"] or row["locks_left"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", choices=("real", "fake"), default="real")
    parser.add_argument("--moments", type=int, default=20)
    parser.add_argument("--over", type=float, default=40.0, help="seconds that the moments are spread over")
    parser.add_argument("--double", action="store_true", help="a second Ctrl-C soon after the first")
    parser.add_argument("--spec", type=Path, default=ROOT / "examples" / "tiny.toml", help="for the real engine")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    set_process_option(PR_SET_CHILD_SUBREAPER, 1)
    # A shell's `&` starts us with SIGINT ignored, and the commands below would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    chance = random.Random(7)
    rows = []
    with tempfile.TemporaryDirectory() as home:
        spec, env = args.spec, dict(os.environ)
        if args.engine == "fake":
            port = machine.free_ports(chance)[0]
            spec = Path(home) / "fake.toml"
            spec.write_text(FAKE.format(python=make_environment(Path(home) / "engine"), port=port))
            env["FAKE_LOAD_S"] = str(args.over)
        else:
            port = tomllib.loads(spec.read_text()).get("endpoint", {}).get("port", 8000)
        for number in range(args.moments):
            delay_s = args.over * (number + chance.random()) / args.moments
            rows.append(interrupt(spec, port, delay_s, chance.uniform(0.0, 0.5) if args.double else None, env))
            print(rows[-1], flush=True)
    left = sum(left_something(row) for row in rows)
    odd = [row for row in rows if row["exit"] not in EXPECTED or row["traceback"]]
    interrupted = [row["ended_after_s"] for row in rows if row["exit"] == 130] or [0.0]
    result = {
        **about(f"Ctrl-C {'twice ' if args.double else ''}during `moonpad up`, {args.engine} engine"),
        "moments_that_left_something": left,
        "exits": {str(code): count for code, count in sorted(Counter(row["exit"] for row in rows).items())},
        "ready_before": sum(row["exit"] == 0 for row in rows),
        "other_ends": len(odd),
        "ended_after_s": {"median": statistics.median(interrupted), "max": max(interrupted)},
        "moments": rows,
    }
    print(f"{len(rows)} moments, {left} left something, exits {result['exits']}, {len(odd)} ended otherwise")
    write(args.out, result)
    sys.exit(1 if left or odd else 0)


if __name__ == "__main__":
    main()
