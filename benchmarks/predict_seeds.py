"""The speeds that the guides of seeds 1, 2 and 3 publish, beside what is predicted for the same load.

None of these rows was fitted. `one point`: corrected by the first row of the same machine, which then says nothing of
itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchmarks.predict_points import DEFAULTS, serving_plan
from moonpad.catalog.published import published_by_id
from moonpad.predict import Lengths, MeasuredPoint, ServingPlan, Workload, calibrate, constants_for, predict
from moonpad.values.cluster import Host
from moonpad.values.plan import Settings
from moonpad.values.plan_answer import Published
from moonpad.values.records import replace

ASCEND = Settings(max_num_seqs=12, max_num_batched_tokens=8192, max_model_len=8192, prefix_caching=False)
FIXED = Lengths.fixed


@dataclass(frozen=True)
class Case:
    id: str
    workload: Workload
    settings: Settings = DEFAULTS
    calibrated_by: str = ""
    reason: str = ""


def _cases() -> tuple[Case, ...]:
    # Answers ended by themselves after this many tokens on average; how they spread is not published: exponential-like.
    thinking = {390: "thinking-8xh200-tp8", 442: "thinking-8xh200-tp8-dcp8"}
    dcp = "the spread of the answers' lengths is not published: a log-normal distribution with variation 2 is assumed"
    alone = f"{dcp}; vLLM 0.11 preempted more than is simulated, so that first tokens came earlier and others later"
    h200 = tuple(
        Case(
            id_,
            Workload(FIXED(8000), Lengths.lognormal(mean, 2.0), rate_per_s=100.0, requests=1000),
            reason=dcp if "dcp" in id_ else alone,
        )
        for mean, id_ in thinking.items()
    )
    sixteen = Workload(FIXED(8000), FIXED(1000), concurrency=16, requests=16)
    pipeline = "a release of 2025 (not said) with pipeline stages over Ray, several times slower than what is fitted"
    ascend = [
        Case(
            f"thinking-a3-{length}",
            Workload(FIXED(length), FIXED(length), rate_per_s=1.0, requests=10),
            ASCEND,
            "thinking-a3-c1",
            "above 8 sequences the published step jumps from 87 to 200 ms, as without graphs",
        )
        for length in (512, 1024, 2048)
    ]
    sweep = [
        Case(
            f"thinking-a3-c{clients}",
            Workload(FIXED(1024), FIXED(1024), concurrency=clients, requests=10 * clients),
            ASCEND,
            "thinking-a3-c1" if clients > 1 else "",
            "twelve run at once, and above 8 the published step jumps" if clients == 16 else "",
        )
        for clients in (1, 2, 4, 8, 16)
    ]
    return (
        Case(
            "k2-16xh800-tp8-pp2-dcp8",
            Workload(FIXED(1000), FIXED(512), rate_per_s=1.0, requests=8),
            Settings(max_num_seqs=1, max_num_batched_tokens=1024, max_model_len=2048, kv_cache_dtype="fp8"),
            reason="as the next two: an early release; one sequence at a time",
        ),
        Case("k2-16xh200", sixteen, reason=pipeline),
        Case("k2-16xh200-dcp8", sixteen, calibrated_by="k2-16xh200", reason=pipeline),
        *ascend,
        *sweep,
        *h200,
    )


def _plan(published: Published, settings: Settings) -> ServingPlan:
    return serving_plan(
        published.model, published.cluster, published.engine, published.engine_version, published.layout, settings
    )


def seed_rows() -> list[dict[str, Any]]:
    known, rows = published_by_id(), []
    cases = {case.id: case for case in _cases()}
    for case in cases.values():
        published = known[case.id]
        figures, plan = dict(published.figures), _plan(published, case.settings)
        row: dict[str, Any] = {"id": case.id, "title": published.title, "cluster": published.cluster}
        row |= {"engine": published.engine, "layout": published.layout.words, "reason": case.reason}
        row["measured"] = {
            "ttft_mean_ms": figures["mean_ttft_ms"],
            "tpot_mean_ms": figures["mean_tpot_ms"],
            "output_tokens_per_s": figures["output_throughput"],
        }
        row["predicted"] = _figures(plan, case.workload, None)
        if case.calibrated_by:
            by, first = known[case.calibrated_by], cases[case.calibrated_by]
            measured = dict(by.figures)
            point = MeasuredPoint(
                _plan(by, first.settings),
                first.workload,
                measured["mean_tpot_ms"] / 1e3,
                measured["mean_ttft_ms"] / 1e3,
                "mean",
            )
            row["one point"] = {"by": case.calibrated_by, **_figures(plan, case.workload, [point])}
        rows.append(row)
    return rows


def prefill_rows() -> list[dict[str, Any]]:
    """Tokens a second of one prompt with the experts in host memory, as KTransformers publishes them for one, two and
    eight RTX 4090 beside two Xeon 8488C."""
    rows = []
    for devices in (1, 2, 8):
        published = published_by_id()[f"thinking-kt-{devices}x4090"]
        plan = _plan(published, Settings(max_num_batched_tokens=32768, max_num_seqs=1))
        cluster = replace(plan.configuration.cluster, host=Host(memory_bytes=1 << 40, sockets=2, cores=96, amx=True))
        plan = ServingPlan(replace(plan.configuration, cluster=cluster))
        row: dict[str, Any] = {"id": f"thinking-kt-{devices}x4090"}
        for name, prompt in (("2k", 2048), ("8k", 8192), ("32k", 32768)):
            found = predict(plan, Workload(FIXED(prompt), FIXED(1), concurrency=1, requests=1), by_others=False)
            measured = dict(published.figures)[f"prefill_throughput_{name}"]
            row[name] = {"measured": measured, "predicted": round(prompt / found.ttft_s.value)}
        rows.append(row)
    return rows


def _figures(plan: ServingPlan, workload: Workload, points: list[MeasuredPoint] | None) -> dict[str, Any]:
    calibration = None
    if points:
        base, _, _ = constants_for(plan.configuration)
        calibration = calibrate(points, base=base)
    found = predict(plan, workload, calibration=calibration, by_others=False)
    return {
        "ttft_mean_ms": round(found.ttft_mean_s.value * 1e3, 1),
        "tpot_mean_ms": round(found.tpot_mean_s.value * 1e3, 2),
        "output_tokens_per_s": round(found.output_tokens_per_s.value, 1),
        "standing": found.standing,
    }
