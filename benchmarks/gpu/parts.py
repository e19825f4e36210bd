"""Each measured kernel beside what `predict` takes for it at the same shape.

    python -m benchmarks.gpu.parts     # writes benchmarks/results/gpu_parts.json, and the table in docs/predict.md

`range`: with the shares of the data sheet at both ends of what the published points leave possible. Predicted times
hold more than the kernel: what a layer costs beside (`layer_latency`) is a part of its own, so that a kernel's fixed
time shows as a ratio far above 1 where there is little to do.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.gpu.setups import BIG, DEVICE, RELEASE, SHAPES
from benchmarks.gpu.slice_checkpoint import write
from moonpad.catalog.clusters import parse_cluster
from moonpad.catalog.kernels import KernelSeries, kernels
from moonpad.catalog.step_constants import StepConstants, constants
from moonpad.checkpoints.read import read_checkpoint
from moonpad.engines import ENGINES
from moonpad.predict import ServingPlan, constants_for
from moonpad.predict.cost import StepCost
from moonpad.values.configuration import Configuration
from moonpad.values.plan import Layout, Settings
from moonpad.values.records import replace

RESULT, DOCS = Path("benchmarks/results/gpu_parts.json"), Path("docs/predict.md")
SHARES = (
    *("bandwidth", "expert_bandwidth", "kv_bandwidth", "gemm", "expert_bf16", "expert_int4", "expert_fp8"),
    *("decode_attention", "prefill_attention"),
)
PLANS = {
    "rank int4": ("rank", "int4"),
    "rank fp8": ("rank", "fp8"),
    "rank bf16": ("rank", "bf16"),
    "slice int4": ("slice", "int4"),
}
EXPERTS, ATTENTION = 0, 2
SHOWN = (1, 64, 256, 8192)
Time = Callable[[StepCost, float, float], float]


def plans() -> dict[str, ServingPlan]:
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, (shape, scheme) in PLANS.items():
            path = Path(folder) / name.replace(" ", "-")
            write(path, *SHAPES[shape], scheme)
            configuration = Configuration(
                read_checkpoint(path), parse_cluster(DEVICE), ENGINES["vllm"].facts, RELEASE, Layout(), Settings(**BIG)
            )
            found[name] = ServingPlan(configuration)
    return found


def experts(cost: StepCost, tokens: float, _: float) -> float:
    return cost.parts(tokens, 0, 0, 0)[EXPERTS] / cost.stage.moe_layers


def decode(cost: StepCost, sequences: float, length: float) -> float:
    return cost.parts(sequences, sequences * length, 0, 0)[ATTENTION] / cost.stage.layers


def prompt(cost: StepCost, tokens: float, _: float) -> float:
    return cost.parts(0, 0, tokens, tokens * (tokens + 1) / 2)[ATTENTION] / cost.stage.layers


def head(cost: StepCost, tokens: float, _: float) -> float:
    """An eighth of it."""
    return cost.step(tokens, 0)[8] / 8


def dense(cost: StepCost, tokens: float, _: float) -> float:
    """All matrices of a layer but those of kv_b."""
    read, compute = cost._dense
    return float((read**2 + (compute * tokens) ** 2) ** 0.5 / cost.stage.layers)


def dense_of_a_layer() -> KernelSeries:
    """The sum over the matrices of a layer; one of them is in the first layer of another width."""
    series = [each for each in kernels().values() if each.part == "dense" and not each.name.startswith("lm_head")]
    sizes = [size for size, _, _ in series[0].points]
    points = tuple((size, 0.0, sum(each.seconds(size) or 0.0 for each in series)) for size in sizes)
    return replace(series[0], name="", points=points)


def cases() -> Iterator[tuple[str, str, KernelSeries, Time]]:
    """What it is called, of which plan, and how predict times it."""
    of = {key.removeprefix("h200-sxm "): series for key, series in kernels().items()}
    for scheme, kernel in (("int4", "Marlin"), ("fp8", "Triton"), ("bf16", "Triton")):
        key = f"experts {scheme} {kernel.lower()} 256"
        yield f"experts {scheme.upper()} ({kernel}), 256 wide", f"rank {scheme}", of[key], experts
    yield "experts INT4 (Marlin), 2,048 wide", "slice int4", of["experts int4 marlin 2048"], experts
    for heads, plan in ((8, "rank int4"), (64, "slice int4")):
        yield f"decode attention (FA3), {heads} heads", plan, of[f"mla decode fa3 {heads}"], decode
    yield "prompt attention (FA3), 8 heads", "rank int4", of["mla prompt fa3 8"], prompt
    yield "dense matrices of a layer", "rank int4", dense_of_a_layer(), dense
    yield "output head, an eighth", "rank int4", of["dense lm_head, an eighth"], head


def costs_of(plan: ServingPlan) -> tuple[StepCost, StepCost, StepCost]:
    """With the constants, and with their fast and slow ends."""
    known, rows = constants_for(plan.configuration)[0], constants()
    ends: list[StepConstants] = []
    for end in ("high", "low"):
        factors = {name: getattr(rows[name], end) / rows[name].value for name in SHARES}
        ends.append(replace(known, **{name: getattr(known, name) * factor for name, factor in factors.items()}))
    return StepCost(plan, known), StepCost(plan, ends[0]), StepCost(plan, ends[1])


def rows() -> Iterator[dict[str, Any]]:
    costs = {name: costs_of(plan) for name, plan in plans().items()}
    for part, plan, series, time in cases():
        value, fast, slow = costs[plan]
        for size, length, measured in series.points:
            predicted = time(value, size, length)
            ends = [time(cost, size, length) for cost in (fast, slow)]
            yield {
                "part": part, "size": int(size), "length": int(length), "predicted_us": figure(predicted * 1e6),
                "range_us": [figure(end * 1e6) for end in ends], "measured_us": figure(measured * 1e6),
                "measured_over_predicted": figure(measured / predicted), "within": ends[0] <= measured <= ends[1],
            }  # fmt: skip


def sum_of_kernels() -> dict[str, Any]:
    """One token through a rank: what the measured kernels add up to, of 60 layers with experts and 61 in all."""
    of = {key.removeprefix("h200-sxm "): series for key, series in kernels().items()}
    parts = {
        "experts": 60 * (of["experts int4 marlin 256"].seconds(1) or 0.0),
        "decode attention": 61 * (of["mla decode fa3 8"].seconds(1, 1024) or 0.0),
        "dense matrices": 61 * (dense_of_a_layer().seconds(1) or 0.0),
        "output head": 8 * (of["dense lm_head, an eighth"].seconds(1) or 0.0),
    }
    loads = json.loads(Path("benchmarks/results/gpu_loads.json").read_text())
    step = next(row for row in loads["steps"] if (row["of"], row["input"], row["running"]) == ("rank", 1024, 1))
    return {
        "what": "a step of the rank that decodes one sequence with 1,024 tokens of context, ms",
        "kernels": {name: figure(seconds * 1e3) for name, seconds in parts.items()},
        "sum": figure(sum(parts.values()) * 1e3),
        "measured step": step["measured_ms"],
        "predicted step": step["predicted_ms"],
        "predicted parts": step["predicted_parts_ms"],
    }


def figure(value: float) -> float:
    return float(f"{value:.4g}")


def table(found: list[dict[str, Any]]) -> str:
    lines = ["| part | size | predicted, µs | measured, µs | ratio |", "|---|---|---:|---:|---:|"]
    for row in found:
        lengths = (1024, 32768) if row["size"] in (1, 64) else ()
        if row["size"] in SHOWN and (row["length"] in lengths or not row["length"]):
            size = f"{row['size']:,}" + (f" × {row['length']:,}" if row["length"] else "")
            low, high = row["range_us"]
            lines.append(
                f"| {row['part']} | {size} | {row['predicted_us']:,.1f} ({low:,.1f} to {high:,.1f}) "
                f"| {row['measured_us']:,.1f} | {row['measured_over_predicted']:.2f} |"
            )
    return "\n".join(lines)


def main() -> None:
    found = list(rows())
    document = {"device": "NVIDIA H200", "engine": "vLLM 0.26.0", "parts": found, "sum of kernels": sum_of_kernels()}
    RESULT.write_text(json.dumps(document, indent=1) + "\n")
    text = DOCS.read_text()
    if "<!-- gpu parts -->" in text:
        block = f"<!-- gpu parts -->\n\n{table(found)}\n\n<!-- end of gpu parts -->"
        DOCS.write_text(re.sub(r"<!-- gpu parts -->.*?<!-- end of gpu parts -->", lambda _: block, text, flags=re.S))
    print(table(found))
    print(json.dumps(document["sum of kernels"], indent=1))


if __name__ == "__main__":
    main()
