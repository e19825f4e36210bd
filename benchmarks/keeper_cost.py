"""What it costs to keep an engine up: memory and processor time of the keeper and the controller under a constant load.

    python -m benchmarks.keeper_cost --minutes 60 --out benchmarks/results/keeper_cost.json

Each ten seconds VmRSS, the processor time and how often a process has been woken (voluntary context switches). A keeper
reads /proc at each look, so its cost grows with the processes of the machine, which are counted too. The first minute
is left out of the medians and of the growth: the keeper looks more often while an engine is young.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.stage import Stage, Streams, about, write
from moonpad.facts.processes import PR_SET_CHILD_SUBREAPER, set_process_option
from tests.faults import forked, oracle

TICK_S = 1 / os.sysconf("SC_CLK_TCK")
YOUNG_S = 60.0


def sample(pid: int) -> dict[str, float]:
    """Of one process: KiB, seconds, times."""
    fields = {}
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        name, _, value = line.partition(":")
        fields[name] = value.split()
    times = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return {
        "rss_kib": int(fields["VmRSS"][0]),
        "peak_kib": int(fields["VmHWM"][0]),
        "cpu_s": round((int(times[11]) + int(times[12])) * TICK_S, 2),
        "wakes": int(fields["voluntary_ctxt_switches"][0]),
    }


def judged(samples: list[dict[str, Any]], who: str) -> dict[str, float]:
    old = [sample for sample in samples if sample["after_s"] >= YOUNG_S] or samples
    memory = [sample[who]["rss_kib"] for sample in old]
    first, last = old[0], old[-1]
    seconds = max(last["after_s"] - first["after_s"], 1e-9)
    cpu_s = last[who]["cpu_s"] - first[who]["cpu_s"]
    wakes = last[who]["wakes"] - first[who]["wakes"]
    return {
        "rss_kib_median": statistics.median(memory),
        "rss_kib_max": max(memory),
        "rss_kib_growth": memory[-1] - memory[0],
        "peak_kib": last[who]["peak_kib"],
        "cpu_s": round(cpu_s, 2),
        "cpu_s_an_hour": round(cpu_s / seconds * 3600, 2),
        "wakes_a_second": round(wakes / seconds, 3),
        "cpu_ms_a_wake": round(1000 * cpu_s / wakes, 3) if wakes else 0.0,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--every", type=float, default=10.0, help="seconds between samples")
    parser.add_argument("--streams", type=int, default=4)
    parser.add_argument("--engine", choices=("fake", "real"), default="fake")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    set_process_option(PR_SET_CHILD_SUBREAPER, 1)
    forked.import_moonpad()
    home = Path(tempfile.mkdtemp(prefix="kc"))
    stage = Stage(home, args.engine)
    stage.up()
    run = stage.run()
    assert run.keeper is not None, "a run has a keeper"
    assert run.controller is not None, "and a controller"
    pids = {"keeper": run.keeper[0], "controller": run.controller[0]}
    streams = Streams(stage.port, args.streams)
    begun = time.monotonic()
    samples: list[dict[str, Any]] = []
    try:
        while (after_s := time.monotonic() - begun) <= args.minutes * 60:
            row = {name: sample(pid) for name, pid in pids.items()}
            samples.append({"after_s": round(after_s, 1), "processes": len(oracle.processes()), **row})
            time.sleep(max(0.0, args.every * len(samples) - (time.monotonic() - begun)))
        seconds = time.monotonic() - begun
        same = stage.run()
        assert (same.keeper, same.controller) == (run.keeper, run.controller), "one of them was replaced"
        streams.stop()  # before the next command: it is a fork, and threads do not fork
        state = stage.row()["state"]
    finally:
        streams.stop()
        stage.down()
    result = {
        **about(f"memory and processor time of keeper and controller, {args.engine} engine, {args.streams} streams"),
        "minutes": round(seconds / 60, 1),
        "processes": statistics.median(sample["processes"] for sample in samples),
        **{name: judged(samples, name) for name in pids},
        "load": {
            "requests": streams.done,
            "failed": streams.failed,
            "tokens_a_second": round(streams.tokens / seconds, 1),
            "state_at_the_end": state,
        },
        "samples": samples,
    }
    print({name: value for name, value in result.items() if name != "samples"})
    write(args.out, result)
    shutil.rmtree(home)


if __name__ == "__main__":
    main()
