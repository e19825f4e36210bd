"""Published speeds that nothing was fitted to, and that were not looked at before the constants were final.

    python -m benchmarks.predict_heldout --sample silicon_sample.csv --out benchmarks/results/predict_heldout.json

The sample is that of the package aiconfigurator-core 0.12.0 (InferenceX). Its rows of Kimi-K2, K2.5 and DeepSeek-R1
count, aggregated serving only, without those that speed_points.csv has and without those that name multi-token
prediction, whose acceptance is not published. Repeats of one load are one row, at their median. Each is predicted as
`moonpad plan` would do it.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import time
from collections import Counter, defaultdict
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.predict_points import rows, serving_plan
from moonpad.catalog.hardware import find_hardware
from moonpad.predict import Lengths, Workload, predict
from moonpad.values.errors import MoonpadError
from moonpad.values.plan import Layout

DOCS = Path("docs/predict.md")
BACKENDS = {"vllm": "vllm", "sglang": "sglang", "trtllm": "tensorrt-llm"}
SYSTEMS = {
    "h100_sxm": "H100", "h200_sxm": "H200", "b200_sxm": "B200", "b300_sxm": "B300",
    "gb200": "GB200", "gb200_sxm": "GB200", "gb300": "GB300", "gb300_sxm": "GB300",
}  # fmt: skip
MODELS = {
    ("deepseek-r1", "fp8", "NVIDIA"): "deepseek-ai/DeepSeek-R1",
    ("deepseek-r1", "fp4", "NVIDIA"): "nvidia/DeepSeek-R1-FP4-v2",
    ("deepseek-r1", "fp8", "AMD"): "deepseek-ai/DeepSeek-R1",
    ("kimi-k2.5", "int4", "NVIDIA"): "moonshotai/Kimi-K2.5",
    ("kimi-k2.5", "fp4", "NVIDIA"): "nvidia/Kimi-K2.5-NVFP4",
    ("kimi-k2.5", "int4", "AMD"): "moonshotai/Kimi-K2.5",
    ("kimi-k2.5", "fp4", "AMD"): "amd/Kimi-K2.5-MXFP4",
    ("kimi-k2-instruct", "fp8", "NVIDIA"): "moonshotai/Kimi-K2-Instruct",
}
MOST_REQUESTS = 3000
SPECULATING = "2026-01-14"
"""InferenceX measured DeepSeek-R1 on TensorRT-LLM with multi-token prediction from then on
(https://github.com/SemiAnalysisAI/InferenceX/pull/392), and the sample does not tell which rows those are."""
_MEASURED = re.compile(r"measured=(\d{4}-\d\d-\d\d)")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sample", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    with options.sample.open(newline="") as file:
        ours = [row for row in csv.DictReader(file) if _family(row["model_path"])]
    left_out: Counter[str] = Counter()
    loads: dict[tuple[Any, ...], list[dict[str, str]]] = defaultdict(list)
    seen = {_load_of_point(row.row) for row in rows()}
    for row in ours:
        load, why = _load(row)
        if load is None:
            left_out[why] += 1
        elif load in seen:
            left_out["in speed_points.csv"] += 1
        else:
            loads[load].append(row)
    compared = []
    for load, repeats in loads.items():
        try:
            compared.append(_compared(load, repeats))
        except (MoonpadError, ValueError) as error:
            left_out[f"refused: {str(error)[:80]}"] += 1
    summary = {name: _summary(part) for name, part in _parts(compared).items()}
    result = {
        "what": "published speeds that nothing was fitted to", "at": time.strftime("%Y-%m-%d"),
        "sample": "aiconfigurator-core 0.12.0, systems/silicon_sample.csv", "rows of these models": len(ours),
        "left out": dict(left_out), "loads": len(compared), "summary": summary,
        "regret": _regrets(compared), "compared": compared,
    }  # fmt: skip
    result["compared"] = [_kept(entry) for entry in compared]
    options.out.write_text(json.dumps(result) + "\n")
    print(json.dumps({key: value for key, value in result.items() if key != "compared"}, indent=1))
    _write_table(result)


def _family(path: str) -> str:
    name = path.rpartition("/")[2].casefold()
    for family in ("deepseek-r1", "kimi-k2.5", "kimi-k2-instruct"):
        if name.startswith(family):
            return family
    return ""


def _number(text: str) -> int:
    return int(float(text)) if text not in ("", "nan", "None") else 0


def _load(row: dict[str, str]) -> tuple[tuple[Any, ...] | None, str]:
    if row["mode"] not in ("agg", "aggregated"):
        return None, f"mode {row['mode']}"
    if "mtp" in row["id"].casefold() or "spec" in row["id"].casefold():
        return None, "multi-token prediction"
    label = SYSTEMS.get(row["system"], row["system"].split("_")[0].upper())
    device = find_hardware(label)
    if device is None or device.device is None or row["backend"] not in BACKENDS:
        return None, f"no device or engine: {row['system']} {row['backend']}"
    vendor = "AMD" if device.vendor == "AMD" else "NVIDIA"
    model = MODELS.get((_family(row["model_path"]), row["precision"], vendor))
    if model is None:
        return None, f"no checkpoint: {row['model_path']} {row['precision']} {vendor}"
    version = "" if row["backend_version"] in ("", "nan") else row["backend_version"]
    sizes, why = _sizes(row, device.device.per_node)
    if why:
        return None, why
    lengths = [_number(row[name]) for name in ("isl", "osl", "batch_size")]
    if not all(lengths):
        return None, "lengths or batch missing"
    return (model, device.label, BACKENDS[row["backend"]], version, *sizes, *lengths), ""


def _sizes(row: dict[str, str], per_node: int) -> tuple[list[int], str]:
    """Tensor, pipeline, data and expert parallel. InferenceX runs what is not disaggregated on one host (its
    configs/nvidia-master.yaml, from 2025-12 to 2026-08: `tp: 8, ep: 8` and the like, nothing over several hosts); the
    sample multiplies both, so that eight GPUs are 64 of it. On GB200 InferenceX has pools only: a row without pools
    that is wider than a tray sums their devices.
    """
    names = ("tp_size", "pp_size", "attention_dp_size", "moe_tp_size", "moe_ep_size")
    tp, pp, dp, moe_tp, ep = (_number(row[name]) for name in names)
    if not dp:
        return [], "attention data parallel not told"
    tp, pp, moe_tp, ep = (max(1, size) for size in (tp, pp, moe_tp, ep))
    if tp * dp * pp > per_node:
        if ep == 1 or moe_tp * ep != tp * dp or moe_tp > per_node:
            return [], "the devices of several pools"
        tp, dp = (moe_tp, 1) if dp == 1 else (1, moe_tp)
    return [tp, pp, dp, ep], ""


def _load_of_point(row: dict[str, str]) -> tuple[Any, ...]:
    label = row["cluster"].rpartition("x")[2]
    sizes = [int(row[name]) for name in ("tp", "pp", "dp", "ep")]
    lengths = [int(float(row[name])) for name in ("input_high", "output_high", "concurrency")]
    return (row["model"], label, row["engine"], row["version"], *sizes, *lengths)


def _compared(load: tuple[Any, ...], repeats: list[dict[str, str]]) -> dict[str, Any]:
    model, label, engine, version, tp, pp, dp, ep, isl, osl, clients = load
    devices = tp * pp * dp
    device = find_hardware(label)
    per_node = device.device.per_node if device is not None and device.device is not None else 8
    cluster = f"{devices}x{label}" if devices <= per_node else f"{devices // per_node}x{per_node}x{label}"
    plan = serving_plan(model, cluster, engine, version, Layout(tp=tp, pp=pp, dp=dp, ep=ep))
    workload = Workload(
        Lengths.uniform(0.8 * isl, isl),
        Lengths.uniform(0.8 * osl, osl),
        clients,
        requests=min(MOST_REQUESTS, 10 * clients),
    )
    found = predict(plan, workload, by_others=False)
    entry: dict[str, Any] = {
        "model": model, "cluster": cluster, "engine": engine, "version": version, "isl": isl, "osl": osl,
        "layout": plan.configuration.layout.words, "concurrency": clients, "repeats": len(repeats),
        "standing": found.standing, "scheme": plan.configuration.scheme,
    }  # fmt: skip
    days: dict[str, list[float]] = defaultdict(list)
    for row in repeats:
        day = _MEASURED.search(row["silicon_data_source"])
        if day and row["silicon_tpot_ms"] not in ("", "nan") and float(row["silicon_tpot_ms"]) > 0:
            days[day[1]].append(float(row["silicon_tpot_ms"]))
    entry["days"] = {day: median(values) for day, values in sorted(days.items())}
    for metric, estimate in (("tpot", found.tpot_mean_s), ("ttft", found.ttft_mean_s)):
        values = [
            float(row[f"silicon_{metric}_ms"]) for row in repeats if row[f"silicon_{metric}_ms"] not in ("", "nan")
        ]
        if values and median(values) > 0:
            entry[metric] = {
                "measured_ms": round(median(values), 2), "predicted_ms": round(estimate.value * 1e3, 2),
                "low_ms": round(estimate.low * 1e3, 2), "high_ms": round(estimate.high * 1e3, 2),
            }  # fmt: skip
    return entry


def _regrets(compared: list[dict[str, Any]]) -> dict[str, Any]:
    """Of choosing among the published layouts of one load, on as many devices with the same engine: how much slower
    (TPOT) the one predicted to be the fastest was than the fastest. Layouts of one release that were measured on one
    day were measured alike; days apart, other images and multi-token prediction lie between, which the sample does not
    tell."""
    found: dict[str, Any] = {}
    for kind, named in (("all", ""), ("Kimi", "Kimi"), ("DeepSeek-R1", "DeepSeek")):
        own = [each for each in compared if "tpot" in each and named in each["model"]]
        for alike, names in (("", ("version", "day")), (", days apart", ("version",)), (", releases apart", ())):
            choices: dict[tuple[Any, ...], dict[str, dict[str, Any]]] = defaultdict(dict)
            for entry in own:
                load = [entry[key] for key in ("model", "cluster", "engine", "isl", "osl", "concurrency")]
                for day, measured in entry["days"].items():
                    conditions = {"version": entry["version"], "day": day}
                    same = (*load, *(conditions[name] for name in names))
                    choices[same][entry["layout"]] = {**entry["tpot"], "measured_ms": measured}  # the last day counts
            regrets = [_regret(list(layouts.values())) for layouts in choices.values() if len(layouts) > 1]
            if regrets:
                found[kind + alike] = {
                    "choices": len(regrets),
                    "median": round(median(regrets), 4),
                    "worst": round(max(regrets), 4),
                    "best chosen": round(sum(regret == 0 for regret in regrets) / len(regrets), 3),
                }
    return found


def _regret(layouts: list[dict[str, Any]]) -> float:
    chosen = min(layouts, key=lambda each: each["predicted_ms"])
    return float(chosen["measured_ms"] / min(each["measured_ms"] for each in layouts) - 1)


def _kept(entry: dict[str, Any]) -> dict[str, Any]:
    """How each load came out, without the measured figure: the sample stays what was never fitted."""
    short = {key: value for key, value in entry.items() if key not in ("tpot", "ttft", "days")}
    short["days"] = list(entry["days"])
    for metric in ("tpot", "ttft"):
        if each := entry.get(metric):
            short[f"{metric} predicted/measured"] = round(each["predicted_ms"] / each["measured_ms"], 3)
    return short


def _parts(compared: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    parts: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for entry in compared:
        kind = "Kimi" if "Kimi" in entry["model"] else "DeepSeek-R1"
        parts["all"].append(entry)
        parts[kind].append(entry)
        parts[f"{kind}, {entry['engine']}"].append(entry)
        parts[f"{kind}, {entry['engine']}, {entry['standing']}"].append(entry)
        if entry["engine"] == "tensorrt-llm" and max(entry["days"], default=SPECULATING) < SPECULATING:
            parts[f"{kind}, {entry['engine']}, before {SPECULATING}"].append(entry)
        parts[f"{entry['cluster'].rpartition('x')[2]} {entry['scheme']} {entry['engine']}"].append(entry)
    return dict(parts)


def _summary(part: list[dict[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for metric in ("tpot", "ttft"):
        own = [entry[metric] for entry in part if metric in entry]
        if own:
            found[metric] = {
                "loads": len(own),
                "median_error": round(median(abs(each["predicted_ms"] / each["measured_ms"] - 1) for each in own), 4),
                "median_ratio": round(median(each["predicted_ms"] / each["measured_ms"] for each in own), 3),
                "coverage_80": round(
                    sum(each["low_ms"] <= each["measured_ms"] <= each["high_ms"] for each in own) / len(own), 3
                ),
            }
    return found


def _write_table(result: dict[str, Any]) -> None:
    lines = [
        f"{result['loads']} loads of Kimi-K2.5 and DeepSeek-R1 that InferenceX published, neither fitted nor looked at",
        "before the constants were final ([predict_heldout.json](../benchmarks/results/predict_heldout.json)):",
        "",
        "| | loads | TPOT error | 80 % holds | TTFT error | 80 % holds |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for name, row in result["summary"].items():
        tpot, ttft = row.get("tpot"), row.get("ttft")
        if tpot and ttft:
            lines.append(
                f"| {name} | {tpot['loads']} | {tpot['median_error']:.1%} | {tpot['coverage_80']:.0%} | "
                f"{ttft['median_error']:.1%} | {ttft['coverage_80']:.0%} |"
            )
    lines += [
        "",
        "Of several layouts of a load that were published for as many devices, one release and one day, the one",
        "predicted to be the fastest was chosen; in rows that say so, days or releases lie between them:",
        "",
    ]
    lines += ["| | choices | the fastest was chosen | median regret | worst |", "|---|---:|---:|---:|---:|"]
    for name, row in result["regret"].items():
        cells = f"{row['choices']} | {row['best chosen']:.0%} | {row['median']:.1%} | {row['worst']:.1%}"
        lines.append(f"| {name} | {cells} |")
    begin, end = "<!-- heldout -->\n", "<!-- end heldout -->"
    before, rest = DOCS.read_text().split(begin)
    DOCS.write_text(before + begin + "\n".join(lines) + "\n" + end + rest.split(end, 1)[1])


if __name__ == "__main__":
    main()
