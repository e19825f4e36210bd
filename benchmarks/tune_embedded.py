"""`moonpad tune` on the real vLLM on this processor: the tuned spec against the default, and against a whole grid.

    python -m benchmarks.tune_embedded --budget 20m --out benchmarks/results/tune_embedded.json
    python -m benchmarks.tune_embedded --grid --out benchmarks/results/tune_embedded.json
    python -m benchmarks.tune_embedded --last --out benchmarks/results/tune_embedded.json

The first runs the command as a person would, with its proof, and records its result: goodput under a stated SLO,
default and candidates side by side in one run, the ratio with its interval. The second measures every point of a grid
of the same knobs once, in a drawn order, with the default in between: a point counts as its ratio to the requests a
second of the default before and after it, since a machine drifts over hours. The third lets what tune chose, the grid's
best two, the point of the best values on average and the default take turns, so that the best of many is not the
luckiest of many. Each can be interrupted and started again: `--home` keeps the tune's state, and OUT is written after
each point, which is not measured again.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import geometric_mean
from typing import Any

from benchmarks.stage import about, write
from moonpad.catalog.knobs import KnobValue, knobs
from moonpad.cli.bench_options import read_slo
from moonpad.cli.load_options import read_workload
from moonpad.spec.loader import load_spec
from moonpad.tune.answers import Answers
from moonpad.tune.candidate import UNCHANGED, Candidate, Change
from moonpad.tune.halving import Measure
from moonpad.tune.journal import TuneFolder
from moonpad.tune.load import TuneLoad
from moonpad.tune.measurer import DeploymentMeasurer
from moonpad.tune.order import Judged
from moonpad.tune.search import Search
from moonpad.tune.subject import Subject
from moonpad.values.records import replace

SPEC = 'model = "kimi-k2-tiny"\nengine = "vllm-cpu"\n\n[endpoint]\nport = 8377\n'
WORKLOAD = "128:32"
GRID: dict[str, tuple[KnobValue | None, ...]] = {
    "max_num_seqs": (8, 16, 32, 64, 128, 256),
    "max_num_batched_tokens": (None, 512, 1024, 2048, 4096, 8192, 16384),
    "enforce_eager": (True, False),
    "prefix_caching": (True, False),
}
"""What tune takes from its table here, and what is in force; None: what the engine takes by itself."""
SEED = 28
ALL = "request_throughput"
EVERY = 8
"""Points between two of the default."""
ROUNDS = 4
BEST = 2


def environment(home: Path) -> dict[str, str]:
    """Its state is its own; the engine is the installed one."""
    return {**os.environ, "XDG_STATE_HOME": str(home / "state"), "NO_COLOR": "1"}


def load_words(users: int, slo: str) -> tuple[str, ...]:
    return ("--workload", WORKLOAD, "--concurrency", str(users), "--slo", slo, "--goal", "throughput")


def tuned(home: Path, load: tuple[str, ...], budget: str, requests: int) -> dict[str, Any]:
    """The command's own document, and what it took."""
    spec = home / "tiny.toml"
    spec.write_text(SPEC)
    command = [sys.executable, "-m", "moonpad", "tune", str(spec), *load, "--knobs", ",".join(GRID)]
    command += ["--budget", budget, "--requests"]
    begun = time.monotonic()
    done = subprocess.run(  # its progress goes to our stderr
        [*command, str(requests), "--json"], env=environment(home), stdout=subprocess.PIPE, text=True, check=False
    )
    took_s = round(time.monotonic() - begun, 1)
    document = json.loads(done.stdout) if done.stdout else {}
    kept = {name: value for name, value in document.items() if name not in ("folder", "spec", "spec_written")}
    return {"exit_code": done.returncode, "command_s": took_s, "load_average": os.getloadavg()[0], **kept}


class Visits:
    """Starts that the measurer of tune loads and stops, each as a row."""

    def __init__(self, home: Path, users: int, slo: str, requests: int) -> None:
        os.environ.update(environment(home))
        workload = replace(read_workload(WORKLOAD), concurrency=users)
        load = TuneLoad(workload, WORKLOAD, "throughput", read_slo(slo), requests)
        subject = Subject.of(load_spec(home / "tiny.toml"), load)
        folder = TuneFolder(home / "grid")
        self.requests = requests
        answers = Answers(folder, lambda name: None, lambda card: None, False)
        self.measurer = DeploymentMeasurer(subject, folder, answers)

    def row(self, candidate: Candidate) -> dict[str, Any]:
        search = Search("throughput")
        search.judged[candidate.id] = Judged(candidate)
        # The last stage: nothing is given up halfway, and nothing taken from before.
        action = Measure(candidate.id, "final", 0, self.requests, 1)
        visit = self.measurer.measure(search, action, 1e9, lambda seconds: None)
        row = {"id": candidate.id, "changes": candidate.as_json(), "worth": visit.worth, "problem": visit.problem}
        return {**row, "figures": dict(visit.figures), "s": visit.seconds}


def points() -> list[Candidate]:
    """Every one of the grid, in a drawn order."""
    found = [
        Candidate(
            tuple(
                Change.to(knobs()[name], value) for name, value in zip(GRID, values, strict=True) if value is not None
            )
        )
        for values in itertools.product(*GRID.values())
    ]
    random.Random(SEED).shuffle(found)
    return found


def grid(visits: Visits, rows: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """What is missing of it; the default before, between and behind."""
    done = {row["id"] for row in rows}
    missing = [candidate for candidate in points() if candidate.id not in done]
    for place, candidate in enumerate(missing):
        if place % EVERY == 0:
            yield visits.row(UNCHANGED)
        yield visits.row(candidate)
    if rows and rows[-1]["id"] != UNCHANGED.id:
        yield visits.row(UNCHANGED)


def ratios(rows: list[dict[str, Any]]) -> dict[str, float]:
    """Of each point that ran: its good requests a second to all requests a second of the default before and after it,
    which says how fast the machine was then, also where the default keeps the limits for none."""
    found: dict[str, float] = {}
    for place, row in enumerate(rows):
        if row["id"] == UNCHANGED.id or row["worth"] is None:
            continue
        own = [
            next((one["figures"][ALL] for one in side if one["id"] == UNCHANGED.id and one["figures"]), None)
            for side in (reversed(rows[:place]), rows[place:])
        ]
        near = [speed for speed in own if speed]
        if near:
            found[row["id"]] = row["worth"] / (sum(near) / len(near))
    return found


def grid_summary(rows: list[dict[str, Any]], tune: dict[str, Any]) -> dict[str, Any]:
    ranked = sorted(ratios(rows).items(), key=lambda item: -item[1])
    visited = tune.get("measurements")
    measured = [row for row in rows if row["id"] != UNCHANGED.id]
    default = [row["worth"] for row in rows if row["id"] == UNCHANGED.id and row["worth"]]
    return {
        "points": len(measured),
        "of": len(points()),
        "that did not run": sum(row["worth"] is None for row in measured),
        "visits": len(rows),
        "default_req_per_s": [min(default), max(default)] if default else [],
        "best": [{"id": id_, "ratio": round(ratio, 3)} for id_, ratio in ranked[:10]],
        "visits_of_tune": visited,
        "visits_of_tune_by_points": visited and round(visited / len(points()), 3),
    }


def by_effects(rows: list[dict[str, Any]]) -> str:
    """The point of the values that were the best of their knobs on average over all points: a lucky visit moves it
    little."""
    worths: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        for change in row["changes"]:
            worths.setdefault((change["knob"], str(change["value"])), []).append(row["worth"] or 0.0)
    means = {key: sum(values) / len(values) for key, values in worths.items()}
    points = [row for row in rows if row["changes"]]
    return str(max(points, key=lambda row: sum(means[c["knob"], str(c["value"])] for c in row["changes"]))["id"])


def last(visits: Visits, chosen: Candidate, best: list[Candidate]) -> Iterator[dict[str, Any]]:
    """Turns, forth and back."""
    sides = list(dict.fromkeys([UNCHANGED, chosen, *best]))
    for number in range(ROUNDS):
        for candidate in sides if number % 2 == 0 else reversed(sides):
            yield {"round": number, **visits.row(candidate)}


def last_summary(rows: list[dict[str, Any]], chosen: str) -> dict[str, Any]:
    """Good requests a second of each, on average over whole rounds; geometric means of the ratios within each round."""
    rounds: dict[int, dict[str, float]] = {}
    for row in rows:
        rounds.setdefault(row["round"], {})[row["id"]] = row["worth"] or 0.0
    ids = list(dict.fromkeys(row["id"] for row in rows))
    whole = [one for one in rounds.values() if len(one) == len(ids)]
    if not whole or chosen == UNCHANGED.id or chosen not in ids:
        return {}
    means = {id_: sum(one[id_] for one in whole) / len(whole) for id_ in ids}
    to_chosen = {
        id_: round(geometric_mean([max(one[id_], 1e-9) / max(one[chosen], 1e-9) for one in whole]), 3)
        for id_ in ids
        if id_ != chosen
    }
    default = means[UNCHANGED.id]
    others = [ratio for id_, ratio in to_chosen.items() if id_ != UNCHANGED.id]
    return {
        "rounds": len(whole),
        "good_req_per_s": {id_: round(mean, 3) for id_, mean in means.items()},
        "each_round": {id_: [round(one[id_], 2) for one in whole] for id_ in ids},
        "tuned_over_default": round(means[chosen] / default, 3) if default else "the default: none",
        "others_over_tuned": to_chosen,
        "tuned_over_best_of_grid": round(1 / max(others), 3) if others else None,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--budget", default="20m")
    parser.add_argument("--requests", type=int, default=192)
    parser.add_argument("--users", type=int, default=64)
    parser.add_argument("--slo", default="ttft=10s,tpot=25ms")
    parser.add_argument("--grid", action="store_true")
    parser.add_argument("--last", action="store_true")
    parser.add_argument("--home", type=Path, default=Path("/tmp/tune-embedded"))  # noqa: S108
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    args.home.mkdir(parents=True, exist_ok=True)
    load = load_words(args.users, args.slo)
    record = json.loads(args.out.read_text()) if args.out and args.out.exists() else {}
    record |= {**about("moonpad tune on vLLM on a processor"), "load": " ".join(load), "grid_of": GRID}
    if not (args.grid or args.last):
        record["tune"] = tuned(args.home, load, args.budget, args.requests)
        print(json.dumps({name: record["tune"].get(name) for name in ("standing", "reason", "measurements")}, indent=1))
        write(args.out, record)
        sys.exit(record["tune"]["exit_code"])
    tune = record.get("tune", {})
    visits = Visits(args.home, args.users, args.slo, args.requests)
    rows: list[dict[str, Any]] = record.get("grid", {}).get("rows", [])
    if args.grid:
        for row in grid(visits, rows):
            rows.append(row)
            print(row["id"], row["worth"], row["problem"], flush=True)
            record["grid"] = {"summary": grid_summary(rows, tune), "rows": rows}
            write(args.out, record)
        return
    changes = (tune.get("winner") or tune.get("best") or {}).get("changes", [])  # the best so far, if none is confirmed
    chosen = Candidate.of(changes) if changes else UNCHANGED
    known = {row["id"]: Candidate.of(row["changes"]) for row in rows}
    ranked = sorted(ratios(rows).items(), key=lambda item: -item[1])
    turns: list[dict[str, Any]] = []
    best = [id_ for id_, _ in ranked[:BEST]] + ([by_effects(rows)] if rows else [])
    for row in last(visits, chosen, [known[id_] for id_ in dict.fromkeys(best)]):
        turns.append(row)
        print(row["round"], row["id"], row["worth"], row["problem"], flush=True)
        record["last"] = {"summary": last_summary(turns, chosen.id), "rows": turns}
        write(args.out, record)


if __name__ == "__main__":
    main()
