"""kill -9 of `moonpad tune` at drawn moments, and the same command again: what of the world is as before.

    python -m benchmarks.tune_kills --times 20 --out benchmarks/results/tune_kills.json

The fake engine serves a user's deployment, and a tune of its spec runs beside it; every other trial is `--in-place`,
which drains that deployment and has to bring it back. The moment is drawn over the whole of a tune. Then, by /proc and
the ports alone (tests/faults/oracle.py):

- candidate_gone_s  from the kill until nothing of the candidate lives, before the command is given again
- resumed           the same command ended with a result, and measured only what was missing (`visits_before` were kept)
- as_before         the user's deployment answers at its port: the same processes, or with --in-place as many new ones;
                    no candidate lives
- left              what lives, is locked or lies in /dev/shm or /tmp at the end, and did not before the first `up`
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.kills import left_of, leftovers
from benchmarks.stage import Stage, about, write
from moonpad.facts.processes import PR_SET_CHILD_SUBREAPER, set_process_option
from tests.faults import forked, machine, mounts, oracle
from tests.faults.tuning import QUICK, Tuning

LONGEST_S = 30.0
"""Moments are drawn up to here. A tune that has ended before its moment is no kill, and is drawn again."""
READY_LIMIT_S = 30.0


def trial(stage: Stage, tuning: Tuning, number: int, dice: random.Random) -> dict[str, Any]:
    in_place = number % 2 == 1
    at_s = round(dice.uniform(0.3, LONGEST_S), 3)
    before = tuning.own()
    tuning.more = ("--fresh", "--in-place") if in_place else ("--fresh",)
    child = tuning.start()
    time.sleep(at_s)
    running = child.poll() is None
    tuning.kill(child) if running else child.communicate()
    events = tuning.journal()
    last = events[-1]["event"] if events else ""
    visits = tuning.count("visit")
    gone_s = tuning.await_candidate_gone()
    tuning.more = ("--in-place",) if in_place else ()
    document = tuning.finish()
    state = await_ready(stage)
    after = tuning.own()
    names = [row["name"] for row in rows(stage)]
    answers = state == "ready" and oracle.served(stage.port)
    same = len(after) == len(before) if in_place else after == before
    return {
        "in_place": in_place,
        "killed_at_s": at_s,
        "was_running": running,
        "last_line": last,
        "visits_before": visits,
        "visits": tuning.count("visit"),
        "candidate_gone_s": gone_s,
        "standing": document["standing"],
        "resumed": tuning.count("order") == 1 and tuning.count("visit") >= visits,
        "state": state,
        "endpoints": names,
        "as_before": answers and same and names == ["k"] and not tuning.candidate_lives(),
    }


def await_ready(stage: Stage) -> str:
    until = time.monotonic() + READY_LIMIT_S
    while True:
        row = next((row for row in rows(stage) if row["name"] == "k"), {"state": "missing"})
        if row["state"] == "ready" or time.monotonic() > until:
            return str(row["state"])
        time.sleep(0.1)


def rows(stage: Stage) -> list[dict[str, Any]]:
    ended = stage.moonpad("status", "--json")
    assert ended.code == 0, ended.stderr
    endpoints: list[dict[str, Any]] = json.loads(ended.stdout)["endpoints"]
    return endpoints


def summary(trials: list[dict[str, Any]], left: list[str]) -> dict[str, Any]:
    gone = sorted(trial["candidate_gone_s"] for trial in trials)
    return {
        "kills": sum(trial["was_running"] for trial in trials),
        "trials": len(trials),
        "resumed": sum(trial["resumed"] for trial in trials),
        "world_as_before": sum(trial["as_before"] for trial in trials),
        "in_place": sum(trial["in_place"] for trial in trials),
        "candidate_gone_s": {"median": gone[len(gone) // 2], "max": gone[-1]} if gone else {},
        "left": left,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--seed", type=int, default=28)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--own-mounts", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    out = args.out.resolve() if args.out else None
    isolated = mounts.isolate("benchmarks.tune_kills", sys.argv[1:])
    set_process_option(PR_SET_CHILD_SUBREAPER, 1)
    forked.import_moonpad()
    home = Path(tempfile.mkdtemp(prefix="k"))
    stage = Stage(home, "fake", fake=QUICK)
    before = leftovers()
    dice = random.Random(args.seed)
    trials: list[dict[str, Any]] = []
    left: list[str] = []
    try:
        stage.up()
        tuning = Tuning(stage.spec, stage.env, stage.state, "k")
        while sum(row["was_running"] for row in trials) < args.times and len(trials) < 3 * args.times:
            trials.append(trial(stage, tuning, len(trials), dice))
            print(trials[-1], flush=True)
        stage.down()
        left = left_of(stage, before, isolated=isolated)
    finally:
        machine.end_all()
        result = {
            **about("kill -9 of moonpad tune at drawn moments, fake engine"),
            "isolated": isolated,
            "summary": summary(trials, left),
            "trials": trials,
        }
        print(json.dumps(result["summary"], indent=1))
        write(out, result)
    shutil.rmtree(home)
    sound = all(trial["resumed"] and trial["as_before"] for trial in trials) and not left
    sys.exit(0 if sound else 1)


if __name__ == "__main__":
    main()
