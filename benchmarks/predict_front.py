"""How long the front over engines, layouts and loads takes for 16 devices, in processor seconds: the best of five.

    python benchmarks/predict_front.py [--out benchmarks/results/predict_front.json]

`front`: all plans at growing loads, the choice and its rivals simulated. `search`: the plans themselves, which a plan
without a load needs too. Other programs on the machine lengthen both.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from pathlib import Path
from typing import Any

from moonpad.cli.load_options import read_workload
from moonpad.cli.named_inputs import find_model, typed_path
from moonpad.cli.plan import PlanOptions
from moonpad.cli.plan_inputs import find_answer, find_cluster, make_request
from moonpad.engines import ENGINES
from moonpad.predict.plan_speeds import AskedLoad, with_speeds

MODEL = "moonshotai/Kimi-K2.5"
CLUSTERS = ("8xH200", "2x8xH200")
LOADS = ("chat", "rag", "agent")
RUNS = 5


def measured(cluster_name: str, text: str) -> dict[str, Any]:
    model = find_model(MODEL, typed_path(MODEL))
    cluster, request = find_cluster(cluster_name), make_request(PlanOptions(on=cluster_name))
    asked = AskedLoad(read_workload(text), text, True, {"ttft_s": 2.0, "tpot_s": 0.05}, "throughput")
    search, front = [], []
    for _ in range(RUNS):
        begun = time.process_time()
        answer = find_answer(model, cluster, request)
        between = time.process_time()
        _, speeds = with_speeds(answer, model.checkpoint, cluster, ENGINES, asked)
        search.append(between - begun)
        front.append(time.process_time() - between)
    return {
        "cluster": cluster_name,
        "load": text,
        "plans": len(answer.choices),
        "points": len(speeds.points),
        "on_the_front": len(speeds.front),
        "search_s": round(min(search), 3),
        "front_s": round(min(front), 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/predict_front.json"))
    options = parser.parse_args()
    rows = [measured(cluster, load) for cluster in CLUSTERS for load in LOADS]
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    document = {"made_by": "benchmarks/predict_front.py", "machine": machine, "model": MODEL, "rows": rows}
    options.out.write_text(json.dumps(document, indent=1) + "\n")
    print(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
