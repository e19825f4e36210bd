"""How often `moonpad compare` sees a difference that is not there, and whether it sees one that is.

    python -m benchmarks.client.halves --out benchmarks/results/compare_halves.json

A hundred times the requests of a run are split into two halves at random, and the halves compared: each difference that
is shown in any row is a false alarm, and a whole table is said to hold with 95 % confidence. Then one half's latencies
are made 10 % longer, which must be found. The runs: one of the embedded engine's (`--run FOLDER`), and drawn ones.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from random import Random
from typing import Any

from moonpad.bench.compare import STATISTICS, compare
from moonpad.bench.saved_results import SavedRequest, SavedRun, read_run
from moonpad.values.records import replace

TRIALS = 100
BOUND = 10
"""False alarms of a hundred that are no surprise: 5 are expected, and 11 or more come in one of a hundred tries."""


def drawn(count: int, dice: Random) -> list[SavedRequest]:
    """Skewed as those of a loaded server are; a closed loop of eight."""
    free, requests = [0.0] * 8, []
    for index in range(count):
        at = min(range(8), key=free.__getitem__)
        begun_s, ttft_s, gap_s = free[at], dice.lognormvariate(-1.6, 0.5), dice.lognormvariate(-3.2, 0.2)
        tokens = max(2, round(dice.lognormvariate(4.0, 0.4)))
        times = tuple(begun_s + ttft_s + gap_s * number for number in range(tokens))
        free[at] = times[-1]
        requests.append(SavedRequest(index, tokens, ttft_s, gap_s, times[-1] - begun_s, times))
    return requests


def run_of(name: str, requests: list[SavedRequest], duration_s: float) -> SavedRun:
    """Its document has the figures of its requests, at the same clock."""
    document: dict[str, Any] = {
        "completed": len(requests),
        "duration": duration_s,
        "total_output_tokens": sum(request.output_tokens for request in requests),
        "output_throughput": sum(request.output_tokens for request in requests) / duration_s,
        "request_throughput": len(requests) / duration_s,
    }
    for figure in ("ttft", "tpot", "e2el"):
        values = sorted(value for request in requests if (value := getattr(request, f"{figure}_s")) is not None)
        for statistic, of in STATISTICS.items():
            document[f"{statistic}_{figure}_ms"] = 1000 * of(values)
    return SavedRun(name, document, tuple(requests))


def slower(request: SavedRequest, by: float) -> SavedRequest:
    tpot_s = None if request.tpot_s is None else request.tpot_s * by
    times = tuple(time_s * by for time_s in request.token_times_s)
    return replace(request, ttft_s=request.ttft_s * by, tpot_s=tpot_s, e2el_s=request.e2el_s * by, token_times_s=times)


def halves(requests: list[SavedRequest], seed: int) -> tuple[list[SavedRequest], list[SavedRequest]]:
    shuffled = Random(f"halves {seed}").sample(requests, len(requests))
    return shuffled[: len(shuffled) // 2], shuffled[len(shuffled) // 2 :]


def judged(requests: list[SavedRequest]) -> dict[str, Any]:
    duration_s = max(request.token_times_s[-1] for request in requests)
    alarms, detected, rows = 0, 0, set()
    for trial in range(TRIALS):
        first, second = halves(requests, trial)
        first_run, other = run_of("first", first, duration_s), run_of("second", second, duration_s)
        wrong = [row.name for row in compare(first_run, other, seed=trial).rows if row.ratio.differs]
        alarms += bool(wrong)
        rows |= set(wrong)
        longer = run_of("second", [slower(each, 1.1) for each in second], duration_s * 1.1)
        table = compare(first_run, longer, seed=trial)
        detected += any(row.ratio.differs and row.gain < 0 for row in table.rows)
    same = run_of("as it was", requests, duration_s)
    other = run_of("longer", [slower(request, 1.1) for request in requests], duration_s * 1.1)
    paired = compare(replace(same, same_as=(1,)), replace(other, same_as=(1,)))
    return {
        "requests": len(requests),
        "false_alarms_of_100": alarms,
        "allowed": BOUND,
        "in": sorted(rows),
        "ten_percent_found_between_halves_of_100": detected,
        "ten_percent_found_pair_by_pair": {
            row.name: [round(row.ratio.value, 4), row.verdict] for row in paired.rows if row.ratio.differs is not None
        },
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", type=Path)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    result: dict[str, Any] = {"at": time.strftime("%Y-%m-%d"), "confidence": 0.95}
    if args.run:
        result["a run of the embedded engine"] = judged(list(read_run(str(args.run)).requests))
    result["drawn"] = [judged(drawn(400, Random(f"run {number}"))) for number in range(3)]
    print(json.dumps(result, indent=1))
    if args.out:
        args.out.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
