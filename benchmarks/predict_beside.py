"""AIConfigurator on the same published speeds, in an environment of its own (`pip install aiconfigurator`).

    python -m benchmarks.predict_beside --aiconfigurator VENV/bin/aiconfigurator \\
        --into benchmarks/results/predict_loo.json

It is asked for the mean lengths, as it knows no distributions, and for the batch that the clients make. Rows that it
refuses are counted. Ours beside it are those of predict_loo.json, each without its own point.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.predict_points import Row, rows

SYSTEMS = {"h200-sxm": "h200_sxm", "b200-sxm": "b200_sxm", "b300-sxm": "b300_sxm"}
BACKENDS = {"vllm": "vllm", "sglang": "sglang", "tensorrt-llm": "trtllm"}
MODELS = {"nvidia/DeepSeek-R1-FP4-v2": "deepseek-ai/DeepSeek-R1"}
DOCS = Path("docs/predict.md")


def command_of(row: Row, program: Path) -> list[str] | None:
    """None where it has no such device or engine."""
    configuration, workload = row.configuration, row.point.workload
    if row.kind != "serve" or row.device not in SYSTEMS or configuration.engine.name not in BACKENDS:
        return None
    layout, model = configuration.layout, row.row["model"]
    clients = max(1, round((workload.concurrency or 1) / layout.dp))
    command = [str(program), "cli", "estimate", "--no-color", "--model-path", MODELS.get(model, model)]
    command += ["--system", SYSTEMS[row.device], "--backend", BACKENDS[configuration.engine.name]]
    command += ["--isl", str(round(workload.input.mean)), "--osl", str(round(workload.output.mean))]
    command += ["--batch-size", str(clients), "--tp-size", str(layout.tp), "--attention-dp-size", str(layout.dp)]
    command += ["--moe-tp-size", str(layout.tp * layout.dp // layout.ep), "--moe-ep-size", str(layout.ep)]
    if model in MODELS:
        command += ["--moe-quant-mode", "nvfp4", "--gemm-quant-mode", "nvfp4"]
    return command


def estimate_of(command: list[str]) -> tuple[float, float] | None:
    """(TPOT, TTFT) in ms."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    found = {name: re.search(rf"{name}:\s+([\d.]+) ms", done.stdout) for name in ("TPOT", "TTFT")}
    if found["TPOT"] is None or found["TTFT"] is None:
        return None
    return float(found["TPOT"][1]), float(found["TTFT"][1])


def _recorded(entry: dict[str, Any]) -> tuple[float, float] | None:
    if entry["refused"]:
        return None
    tpot, ttft = (entry.get(metric, {}).get("aiconfigurator_ms", math.nan) for metric in ("tpot", "ttft"))
    return tpot, ttft


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--aiconfigurator", type=Path, help="without it, the answers that the file has already")
    parser.add_argument("--into", type=Path, required=True)
    options = parser.parse_args()
    document = json.loads(options.into.read_text())
    ours: dict[tuple[str, str, str], float] = {}
    for residual in document["residuals"]:
        if residual["level"] != "one point":
            ours[residual["row"], residual["level"], residual["metric"]] = residual["predicted_ms"]
    program = options.aiconfigurator or Path("aiconfigurator")
    asked = [(row, command) for row in rows() if (command := command_of(row, program))]
    if options.aiconfigurator:
        with ThreadPoolExecutor(2) as pool:
            answers = list(pool.map(lambda pair: estimate_of(pair[1]), asked))
    else:
        recorded = {entry["row"]: entry for entry in document["aiconfigurator"]["rows"]}
        answers = [_recorded(recorded[row.id]) for row, _ in asked]
    table: list[dict[str, Any]] = []
    for (row, _), answer in zip(asked, answers, strict=True):
        entry: dict[str, Any] = {"row": row.id, "group": " ".join(row.group), "layout": row.configuration.layout.words}
        entry |= {"concurrency": row.row["concurrency"], "refused": answer is None}
        for place, metric in enumerate(("tpot", "ttft")):
            measured = getattr(row.point, f"{metric}_s")
            if measured is None:
                continue
            entry[metric] = {
                "measured_ms": measured * 1e3,
                "aiconfigurator_ms": None if answer is None else answer[place],
                "within_ms": ours.get((row.id, "within", metric)),
                "unseen_device_ms": ours.get((row.id, "unseen device", metric)),
            }
        table.append(entry)
    document["aiconfigurator"] = {"version": "0.12.0", "rows": table, "summary": _summary(table)}
    options.into.write_text(json.dumps(document, indent=1) + "\n")
    print(json.dumps(document["aiconfigurator"]["summary"], indent=1))
    _write_table(document["aiconfigurator"]["summary"])


def _summary(table: list[dict[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {"rows": len(table), "refused": sum(entry["refused"] for entry in table)}
    for engines in ("all engines", "vllm"):
        for metric in ("tpot", "ttft"):
            both = [
                entry[metric]
                for entry in table
                if metric in entry
                and (engines != "vllm" or entry["group"].endswith("vllm"))
                and all(entry[metric][key] for key in ("aiconfigurator_ms", "within_ms"))
            ]
            found[f"{engines}, {metric}"] = {
                "rows": len(both),
                **{
                    key: round(median(abs(each[f"{key}_ms"] / each["measured_ms"] - 1) for each in both), 4)
                    for key in ("aiconfigurator", "within", "unseen_device")
                },
            }
    return found


def _write_table(summary: dict[str, Any]) -> None:
    lines = [
        f"AIConfigurator 0.12.0 was asked for the {summary['rows']} rows of devices and engines that it knows, and "
        f"gave no answer to {summary['refused']}. Median errors over the rows that both predict:",
        "",
        "| engines, metric | rows | AIConfigurator | ours, the point left out | ours, the device left out |",
        "|---|---:|---:|---:|---:|",
    ]
    for name, row in summary.items():
        if isinstance(row, dict):
            cells = " | ".join(f"{row[key]:.1%}" for key in ("aiconfigurator", "within", "unseen_device"))
            lines.append(f"| {name} | {row['rows']} | {cells} |")
    begin, end = "<!-- aiconfigurator -->\n", "<!-- end aiconfigurator -->"
    before, rest = DOCS.read_text().split(begin)
    DOCS.write_text(before + begin + "\n".join(lines) + "\n" + end + rest.split(end, 1)[1])


if __name__ == "__main__":
    main()
