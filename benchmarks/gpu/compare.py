"""What was planned and predicted for the GPU beside what was measured, of the rows that `keep` wrote.

    python -m benchmarks.gpu.compare     # writes benchmarks/results/gpu_{loads,memory,verify}.json, and docs/predict.md

The checkpoints have dummy weights and a tokenizer of 1,024 entries, so that most tokens of an answer have no text: the
client saw no times of tokens, and none are compared. What is compared is the whole time of each request, which always
made all of its tokens, and the time of a step by the server's own counters where the same sequences ran from one sample
to the next and no prompt came. Part of the prompts were in the prefix cache, since all loads have one seed: the share
is that of the counters, and what is predicted takes it into account.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from benchmarks.gpu.setups import plans
from moonpad.engines import ENGINES
from moonpad.engines.start_log import read_start
from moonpad.plan.logged_figures import compare
from moonpad.predict import Lengths, ServingPlan, Workload, constants_for, predict
from moonpad.predict.cost import PARTS, StepCost
from moonpad.values.estimate import Estimate

DOCS = Path("docs/predict.md")
RESULTS = Path(__file__).parents[1] / "results"
HEAD = {"device": "NVIDIA H200", "engine": "vLLM 0.26.0", "torch": "2.11.0+cu130", "driver": "580.159.04"}
NAMES = ("rank", "slice", "open", "eager", "tiny")
DUMMY = ("rank", "slice", "open", "eager")


def rows(name: str) -> Iterator[dict[str, Any]]:
    for line in gzip.decompress((RESULTS / "gpu" / f"{name}.jsonl.gz").read_bytes()).decode().splitlines():
        yield json.loads(line)


def rounded(value: Any) -> Any:
    if isinstance(value, Estimate):
        return [float(f"{end:.4g}") for end in (value.value, value.low, value.high)]
    return float(f"{value:.4g}")


def percentile(values: list[float], share: int) -> float:
    return quantiles(values, n=100, method="inclusive")[share - 1] if len(values) > 1 else values[0]


def cached_share(server: list[dict[str, float]]) -> float:
    first, last = server[0], server[-1]
    asked = last["prefix_queries"] - first["prefix_queries"]
    return (last["prefix_hits"] - first["prefix_hits"]) / asked if asked else 0.0


def steps(server: list[dict[str, float]]) -> Iterator[tuple[int, float, float]]:
    """Sequences, seconds of a step, seconds that were looked at: the counters of tokens between two samples."""
    for one, two in pairwise(server):
        same = all(one[name] == two[name] for name in ("running", "prompt_tokens", "waiting", "preemptions"))
        tokens, took = two["generation_tokens"] - one["generation_tokens"], two["at_s"] - one["at_s"]
        if same and one["running"] and not one["waiting"] and tokens > 0:
            yield int(one["running"]), took * one["running"] / tokens, took


def step_of(plan: ServingPlan, running: int, context: float) -> tuple[float, dict[str, float]]:
    """Predicted seconds, and the parts that take at least a hundredth."""
    cost = StepCost(plan, constants_for(plan.configuration)[0])
    parts = cost.step(running, running * context, 0.0, 0.0, 0)
    total = sum(parts)
    return total, {part: rounded(took * 1e3) for part, took in zip(PARTS, parts, strict=True) if took > total / 100}


def load_row(name: str, plan: ServingPlan, row: dict[str, Any], before: dict[tuple[Any, ...], Any]) -> dict[str, Any]:
    load, server, requests = row["load"], row["server"], row["requests"]
    inputs, outputs, users = load["input_tokens"], load["output_tokens"], load["concurrency"]
    whole = [ended - started for started, ended, *_ in requests]
    took = max(ended for _, ended, *_ in requests) - min(started for started, *_ in requests)
    cached = cached_share(server)
    rate = (load["arrivals"] or {}).get("rate") if users is None else None
    asked = Workload(
        Lengths.fixed(inputs),
        Lengths.fixed(outputs),
        users,
        rate_per_s=rate,
        shared_prefix=min(cached, 0.99),
        requests=len(requests),
    )
    predicted = predict(plan, asked, by_others=True)
    measured = {
        "requests": len(requests),
        "e2el_p50_s": rounded(median(whole)),
        "e2el_p95_s": rounded(percentile(whole, 95)),
        "output_tokens_per_s": rounded(len(requests) * outputs / took),
        "cached_share_of_prompts": rounded(cached),
    }
    result: dict[str, Any] = {"of": name, "input": inputs, "output": outputs, "users": users, "rate_per_s": rate}
    result |= {"measured": measured}
    if (first := before.get(("slice" if name == "open" else name, inputs, outputs, users))) is not None:
        ttft, tpot = first["ttft_s"], first["tpot_s"]
        value = ttft["value"] + (outputs - 1) * tpot["value"]
        ends = [
            math.hypot(ttft["value"] - ttft[end], (outputs - 1) * (tpot["value"] - tpot[end]))
            for end in ("low", "high")
        ]
        result["predicted_before"] = {
            "e2el_p50_s": [rounded(value), rounded(value - ends[0]), rounded(value + ends[1])],
            "cached_share_of_prompts": 0.0,
        }
    within = predicted.e2el_s.low <= measured["e2el_p50_s"] <= predicted.e2el_s.high
    result["predicted_with_this_cached_share"] = {
        "e2el_p50_s": rounded(predicted.e2el_s),
        "output_tokens_per_s": rounded(predicted.output_tokens_per_s),
        "standing": predicted.standing,
    }
    result["measured_over_predicted"] = rounded(measured["e2el_p50_s"] / predicted.e2el_s.value)
    result["within_the_range"] = within
    return result


def step_rows(name: str, plan: ServingPlan, row: dict[str, Any]) -> Iterator[dict[str, Any]]:
    by_count: dict[int, list[tuple[float, float]]] = {}
    users = row["load"]["concurrency"]
    for running, step_s, looked_s in steps(row["server"]):
        if running != users:  # a prompt that is being read counts as running too
            continue
        by_count.setdefault(running, []).append((step_s, looked_s))
    for running, found in sorted(by_count.items()):
        looked = sum(looked_s for _, looked_s in found)
        measured = looked / sum(looked_s / step_s for step_s, looked_s in found)
        context = row["load"]["input_tokens"] + row["load"]["output_tokens"] / 2
        predicted, parts = step_of(plan, running, context)
        yield {
            "of": name, "input": row["load"]["input_tokens"], "running": running, "looked_at_s": rounded(looked),
            "measured_ms": rounded(measured * 1e3), "predicted_ms": rounded(predicted * 1e3),
            "measured_over_predicted": rounded(measured / predicted), "predicted_parts_ms": parts,
        }  # fmt: skip


def before_of() -> dict[tuple[Any, ...], Any]:
    found = {}
    for line in (RESULTS / "gpu_predicted.jsonl").read_text().splitlines():
        row = json.loads(line)
        load = row["load"]
        found[row["spec"], load["input_tokens"], load["output_tokens"], load["users"]] = row
    return found


def memory_rows(known: dict[str, ServingPlan]) -> Iterator[dict[str, Any]]:
    for name in NAMES:
        start = next(row["start"] for row in rows(name) if "start" in row)
        logged = read_start("\n".join(start["log"]), tuple(ENGINES.values()))
        if logged is None:
            raise SystemExit(f"the log of {name} says nothing")
        plan, then = known[name], start["planned"]
        planned = {part: [then[part][end] for end in ("value", "low", "high")] for part in ("kv_gib", "kv_tokens")}
        tokens = logged.figures["kv_tokens"]
        yield {
            "of": name,
            "run": start["run"],
            "measured": {part: rounded(figure) for part, figure in sorted(logged.figures.items())},
            "planned_then": planned | {"weights_gib": then["weights_gib"], "because": then["overhead_gib"]["because"]},
            "within_then": then["kv_tokens"]["low"] <= tokens <= then["kv_tokens"]["high"],
            "planned_now": {
                line.name: rounded(line.planned)
                for line in compare(logged, plan.configuration, plan.memory)
                if line.planned is not None
            },
            "within_now": {
                line.name: line.within
                for line in compare(logged, plan.configuration, plan.memory)
                if line.within is not None
            },
        }


def summary_of(loads: list[dict[str, Any]]) -> dict[str, Any]:
    """By what ran: loads, those within the range, and measured over predicted: the least, the median, the most."""
    found = {}
    for name in DUMMY:
        own = [row for row in loads if row["of"] == name]
        ratios = [row["measured_over_predicted"] for row in own]
        inside = sum(row["within_the_range"] for row in own)
        found[name] = {
            "loads": len(own),
            "within": inside,
            "ratios": [min(ratios), rounded(median(ratios)), max(ratios)],
        }
    return found


def table(loads: list[dict[str, Any]]) -> str:
    lines = [
        "| what | prompt | users or rate | of the prompts cached | whole request, s | predicted, s | ratio |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for row in loads:
        value, low, high = row["predicted_with_this_cached_share"]["e2el_p50_s"]
        measured = row["measured"]
        load = row["users"] or f"{row['rate_per_s']:.1f}/s"
        lines.append(
            f"| {row['of']} | {row['input']:,} | {load} | {measured['cached_share_of_prompts']:.0%} "
            f"| {measured['e2el_p50_s']:.2f} | {value:.2f} ({low:.2f} to {high:.2f}) "
            f"| {row['measured_over_predicted']:.2f} |"
        )
    return "\n".join(lines)


def step_table(found: list[dict[str, Any]]) -> str:
    lines = [
        "| what | prompt | sequences | step, ms | predicted, ms | ratio |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {row['of']} | {row['input']:,} | {row['running']} | {row['measured_ms']:.2f} | {row['predicted_ms']:.2f} "
        f"| {row['measured_over_predicted']:.2f} |"
        for row in found
    ]
    return "\n".join(lines)


def into_docs(name: str, text: str) -> None:
    """Between its two marks."""
    pattern = re.compile(rf"<!-- {name} -->.*?<!-- end of {name} -->", re.DOTALL)
    block = f"<!-- {name} -->\n\n{text}\n\n<!-- end of {name} -->"
    DOCS.write_text(pattern.sub(lambda _: block, DOCS.read_text()))


def verify_document() -> dict[str, Any]:
    verdict = next(row["verdict"] for row in rows("tiny") if "verdict" in row)
    return HEAD | {"model": "kimi-k2-tiny", "verdict": verdict}


def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    before = before_of()
    with plans() as known:
        loads, found = [], []
        for name in DUMMY:
            for row in rows(name):
                if "bench" in row:
                    loads.append(load_row(name, known[name], row, before))
                    found += step_rows(name, known[name], row)
        written("gpu_loads.json", HEAD | {"summary": summary_of(loads), "loads": loads, "steps": found})
        written("gpu_memory.json", HEAD | {"starts": list(memory_rows(known))})
    written("gpu_verify.json", verify_document())
    into_docs("gpu loads", table(loads))
    into_docs("gpu steps", step_table(found))
    print(table(loads), step_table(found), json.dumps(summary_of(loads)), sep="\n\n")


def written(name: str, document: Any) -> None:
    (RESULTS / name).write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
