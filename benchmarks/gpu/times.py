"""Times of tokens on a GPU beside what was predicted for the same load a moment before, of one kept deployment.

`deployment` wrote the rows: each load has its own seed, so that no prompt was in the prefix cache, and each token of
the made-up checkpoint has a text, so that the client saw it come.

    python -m benchmarks.gpu.times     # writes benchmarks/results/gpu_times.json, and docs/predict.md
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from itertools import pairwise
from statistics import median
from typing import Any

from benchmarks.gpu.compare import HEAD, RESULTS, into_docs, rounded, written
from benchmarks.gpu.setups import plans
from moonpad.predict import Lengths, ServingPlan, Workload, predict

FIGURES = {"ttft_s": "median_ttft_ms", "tpot_s": "median_tpot_ms", "e2el_s": "median_e2el_ms"}


def loads() -> Iterator[dict[str, Any]]:
    """In the order of their runs."""
    predicted: dict[str, Any] = {}
    for line in gzip.decompress((RESULTS / "gpu" / "times.jsonl.gz").read_bytes()).decode().splitlines():
        row = json.loads(line)
        if row["name"] == "predict":
            predicted = row["document"]["plans"][0]["predicted"]
        elif row["name"] == "bench":
            yield (
                row["load"]
                | {"at": row["document"]["date"], "requests": row["document"]["num_prompts"]}
                | compared(predicted, row["document"])
            )


def compared(predicted: dict[str, Any], bench: dict[str, Any]) -> dict[str, Any]:
    """Measured medians in seconds, the predicted value with its ends, and whether the median lies between them."""
    found: dict[str, Any] = {}
    for name, own in FIGURES.items():
        measured, asked = bench[own] / 1e3, predicted[name]
        found[name] = {
            "measured": rounded(measured),
            "predicted": [rounded(asked[end]) for end in ("value", "low", "high")],
            "ratio": rounded(measured / asked["value"]),
            "within": asked["low"] <= measured <= asked["high"],
        }
    return found | {"output_tokens_per_s": rounded(bench["output_throughput"])}


def now(plan: ServingPlan, row: dict[str, Any]) -> None:
    """Adds what the model says today."""
    asked = Workload(
        Lengths.fixed(row["input_tokens"]), Lengths.fixed(row["output_tokens"]), row["users"], requests=row["requests"]
    )
    predicted = predict(plan, asked, by_others=True)
    for name in FIGURES:
        row[name]["now"] = rounded(getattr(predicted, name))


def heads_apart() -> dict[str, float]:
    """By prompt and users: median milliseconds between the heads of answers to requests that were sent together."""
    heads: dict[str, list[float]] = json.loads((RESULTS / "gpu" / "heads.json").read_text())["heads_s"]
    apart = {load: [two - one for one, two in pairwise(sorted(found))] for load, found in heads.items()}
    return {load: rounded(median(gaps) * 1e3) for load, gaps in apart.items() if gaps}


def cells(figure: dict[str, Any], scale: float) -> str:
    value, low, high = (end * scale for end in figure["predicted"])
    today = figure["now"][0] * scale
    return f"{figure['measured'] * scale:,.1f} | {value:,.1f} ({low:,.1f} to {high:,.1f}) | {today:,.1f}"


def main() -> None:
    found = list(loads())
    with plans() as known:
        for row in found:
            now(known["rank"], row)
    within = {name: sum(row[name]["within"] for row in found) for name in FIGURES}
    written(
        "gpu_times.json",
        HEAD
        | {
            "of": "rank",
            "within_then": within | {"loads": len(found)},
            "heads_apart_ms": heads_apart(),
            "loads": found,
        },
    )
    lines = [
        "| prompt | users | TTFT, ms | predicted | by today's model | TPOT, ms | predicted | by today's model |",
        "|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {row['input_tokens']:,} | {row['users']} | {cells(row['ttft_s'], 1e3)} | {cells(row['tpot_s'], 1e3)} |"
        for row in found
    ]
    into_docs("gpu times", "\n".join(lines))
    print("\n".join(lines), within)


if __name__ == "__main__":
    main()
