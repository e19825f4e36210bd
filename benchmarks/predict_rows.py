"""Published rows, each asked of the command itself: what `moonpad plan … --json` says beside what was measured.

    python benchmarks/predict_rows.py ROWS.csv [--out benchmarks/results/predict_rows.json] [--only NUMBER ...]

ROWS.csv has the columns model, quant, hardware, n_gpus, engine, version, parallelism,
isl, osl, concurrency, num_prompts, ttft_ms, tpot_ms, output_tps, total_tps, notes. A row that cannot be asked is listed
with its reason. The call of each row stands in the result, to be typed again.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

DEVICES = {
    "h200_sxm": "H200",
    "h100_sxm": "H100",
    "b200_sxm": "B200",
    "b300_sxm": "B300",
    "hgx b200": "B200",
    "gb200": "GB200-NVL72",
    "gb200_nvl72": "GB200-NVL72",
    "gb300": "GB300-NVL72",
    "mi355x": "MI355X",
    "mi325x": "MI325X",
    "mi300x": "MI300X",
    "h20": "H20",
    "h100": "H100",
    "h200": "H200",
    "b200": "B200",
    "b300": "B300",
}
WEIGHTS = {
    ("moonshotai/Kimi-K2.5", "fp4"): "nvidia/Kimi-K2.5-NVFP4",
    ("moonshotai/Kimi-K2.6", "nvfp4"): "nvidia/Kimi-K2.6-NVFP4",
    ("moonshotai/Kimi-K2.6", "fp4"): "nvidia/Kimi-K2.6-NVFP4",
    ("moonshotai/Kimi-K2-Thinking", "fp4"): "nvidia/Kimi-K2-Thinking-NVFP4",
    ("moonshotai/Kimi-K2.5", "mxfp4"): "amd/Kimi-K2.5-MXFP4",
    ("deepseek-ai/DeepSeek-R1", "fp4"): "nvidia/DeepSeek-R1-FP4-v2",
}
"""Who publishes the weights that a row is of, where it names the model alone."""
ENGINES = {"trtllm": "tensorrt-llm", "sglang": "sglang", "vllm": "vllm"}
RELEASE = re.compile(r"\d+\.\d+")


class CannotAsk(Exception):
    """With the reason."""


def call_of(row: dict[str, str]) -> list[str]:
    """The words after `moonpad`. Raises CannotAsk."""
    if not any(row[key] for key in ("ttft_ms", "tpot_ms", "output_tps", "total_tps")):
        raise CannotAsk("it has no figure to compare with")
    model = WEIGHTS.get((row["model"], row["quant"]), row["model"])
    hardware = re.sub(r"[?(].*", "", row["hardware"]).strip().lower()
    if hardware not in DEVICES:
        raise CannotAsk(f"the hardware is not one that the catalogue names: {row['hardware']}")
    engine = ENGINES.get(row["engine"])
    if engine is None:
        raise CannotAsk(f"moonpad has no engine {row['engine']}")
    words = ["plan", "--model", model, "--engine", engine]
    if RELEASE.match(row["version"]):
        words += ["--engine-version", row["version"]]
    words += layout_of(row, DEVICES[hardware], engine)
    return [*words, *load_of(row), "--json"]


def layout_of(row: dict[str, str], device: str, engine: str) -> list[str]:
    text = row["parallelism"]
    if (row["n_gpus"], row["hardware"]) == ("96", "H200") and "96 redundant experts" in text:
        # A decode pool whose prompts come over with their KV cache: all but a token of each is there.
        settings = ["redundant_experts=96", "max_num_seqs=46080", "max_num_batched_tokens=46080"]
        settings.append("gpu_memory_utilization=0.85")
        return ["--on", f"12x8x{device}", "--layout", "DP96 EP96", "--prefix", "0.9999", "--set", *settings]
    if text.startswith("disagg"):
        pools = re.findall(r"([PD]):([\d.]+|nan)x\(([^)]*)\)", text)
        if len(pools) != 2 or any(count == "nan" for _, count, _ in pools):
            raise CannotAsk("the source does not say how many servers each pool has")
        sizes = {role: f"{float(count):.0f}x {_sizes(inner)}" for role, count, inner in pools}
        return ["--on", device, "--prefill", sizes["P"], "--decode", sizes["D"]]
    count = re.sub(r"[^0-9]", "", row["n_gpus"])
    if not count:
        raise CannotAsk("the number of devices is not known")
    devices, per_node = int(count), 8
    on = f"{devices}x{device}" if devices <= per_node else f"{devices // per_node}x{per_node}x{device}"
    named = dict(re.findall(r"(moe_tp|attn_dp|moe_ep|dcp|tp|dp|ep|pp)(\d+)", text))
    if not named:
        raise CannotAsk(f"the layout is not known: {text}")
    tp, dp = int(named.get("tp", 1)), int(named.get("attn_dp", named.get("dp", 1)))
    ep = int(named.get("moe_ep", named.get("ep", 1)))
    if engine in ("sglang", "tensorrt-llm") and dp > 1:
        tp //= dp  # attention DP: the named size is that of the whole group
    layout = f"TP{tp} DP{dp} EP{ep} DCP{named.get('dcp', 1)}"
    return ["--on", on, "--layout", re.sub(r" ?(DP|EP|DCP)1(?!\d)", "", layout)]


def _sizes(inner: str) -> str:
    sizes = {name: int(float(size)) for name, size in re.findall(r"(tp|dp|ep)([\d.]+)", inner)}
    return " ".join(f"{name.upper()}{size}" for name, size in sizes.items() if size > 1) or "TP1"


def load_of(row: dict[str, str]) -> list[str]:
    lengths = [re.search(r"\d+", row[key]) for key in ("isl", "osl")]
    if not all(lengths) or not row["concurrency"].replace(".", "").isdigit():
        raise CannotAsk(f"the load is not known: {row['isl']} and {row['osl']} at {row['concurrency'] or '?'}")
    sizes = [int(found[0]) for found in lengths if found]
    spread = re.search(r"U\[0\.8,1\.0\]|range ratio 0\.8", row["notes"])
    texts = [f"{round(0.8 * size)}..{size}" if spread else str(size) for size in sizes]
    return ["--workload", ":".join(texts), "--concurrency", str(round(float(row["concurrency"])))]


def asked(call: list[str]) -> dict[str, Any]:
    """`predicted` of the plan that was asked for. Raises CannotAsk where the command gives none."""
    done = subprocess.run(
        (sys.executable, "-m", "moonpad", *call), capture_output=True, text=True, check=False, timeout=120
    )
    if not done.stdout.startswith("{"):
        raise CannotAsk(f"moonpad refuses: {done.stderr.strip().splitlines()[0] if done.stderr else done.returncode}")
    document = json.loads(done.stdout)
    if "predicted" in document:
        return dict(document["predicted"])
    rows = document["plans"] or document["refused"]
    if len(rows) != 1 or "ttft_s" not in rows[0].get("predicted", {}):
        because = rows[0].get("predicted", {}).get("because", "no plan has a prediction") if rows else "no plan"
        raise CannotAsk(f"moonpad predicts nothing: {because}")
    return {**rows[0]["predicted"], "refused": not document["plans"]}


def compared(row: dict[str, str], predicted: dict[str, Any]) -> dict[str, Any]:
    """Times of these sources are means over the requests of a run, the burst at its start included."""
    pairs = {
        "ttft_mean_s": (row["ttft_ms"], 1e-3),
        "tpot_mean_s": (row["tpot_ms"], 1e-3),
        "output_tokens_per_s": (row["output_tps"], 1.0),
        "total_tokens_per_s": (row["total_tps"], 1.0),
    }
    figures = {}
    for name, (text, times) in pairs.items():
        if text:
            measured, estimate = float(text) * times, predicted[name]
            figures[name] = {
                "measured": measured,
                "predicted": {key: estimate[key] for key in ("value", "low", "high")},
                "error": round(estimate["value"] / measured - 1, 4),
                "within": estimate["low"] <= measured <= estimate["high"],
            }
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=Path)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/predict_rows.json"))
    parser.add_argument("--only", type=int, nargs="*", help="lines of the file, from 2")
    options = parser.parse_args()
    results: list[dict[str, Any]] = []
    with options.rows.open(newline="") as file:
        for line, row in enumerate(csv.DictReader(file), 2):
            if options.only and line not in options.only:
                continue
            about = {key: row[key] for key in ("model", "quant", "hardware", "engine", "version", "parallelism")}
            entry: dict[str, Any] = {"line": line, "source": row["source_url"], "row": about, "call": None}
            try:
                call = call_of(row)
                entry["call"] = " ".join(["moonpad", *(f'"{word}"' if " " in word else word for word in call)])
                predicted = asked(call)
            except CannotAsk as reason:
                entry["not_asked"] = str(reason)
            else:
                entry |= {
                    "standing": predicted["standing"],
                    "refused_by_moonpad": predicted.get("refused", False),
                    "why": predicted["why"][:4],
                    "figures": compared(row, predicted),
                }
            results.append(entry)
            print(line, entry.get("not_asked") or {n: f["error"] for n, f in entry["figures"].items()}, flush=True)
    summary = {}
    for name in ("tpot_mean_s", "ttft_mean_s", "output_tokens_per_s", "total_tokens_per_s"):
        found = [entry["figures"][name] for entry in results if name in entry.get("figures", {})]
        if found:
            summary[name] = {
                "rows": len(found),
                "median_error": round(statistics.median(abs(figure["error"]) for figure in found), 4),
                "within_range": round(sum(figure["within"] for figure in found) / len(found), 3),
            }
    document = {"made_by": "benchmarks/predict_rows.py", "summary": summary, "rows": results}
    options.out.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n")
    print(json.dumps(summary, indent=1))


if __name__ == "__main__":
    main()
