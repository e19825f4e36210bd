"""What a workload sees of a plan with given constants: from a simulated run, or from the steady state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from moonpad.predict.arrivals import draw_requests
from moonpad.predict.cost import StepCost
from moonpad.predict.measured_point import MeasuredPoint
from moonpad.predict.scheduler_policy import policy_of
from moonpad.predict.serving_plan import ServingPlan
from moonpad.predict.simulate import simulate
from moonpad.predict.steady import steady_state
from moonpad.predict.unseen import unseen_in
from moonpad.values.records import replace
from moonpad.values.workload import Workload

SATURATED: Final = 0.9
"""Of the rate that is sent: an open loop that answers less does not keep up."""


@dataclass(frozen=True, slots=True)
class Figures:
    """Of a run, in seconds and per second; medians over requests."""

    ttft_s: float
    tpot_s: float
    ttft_mean_s: float
    tpot_mean_s: float
    e2el_s: float
    ttft_p95_s: float
    tpot_p95_s: float
    requests_per_s: float
    output_tokens_per_s: float
    total_tokens_per_s: float
    decodes: float
    context: float
    saturated: bool = False
    preemptions: int = 0
    waiting_s: float = 0.0


def simulated_figures(plan: ServingPlan, workload: Workload, cost: StepCost) -> Figures:
    policy = policy_of(plan, cost.tokens_per_step)
    requests = draw_requests(workload, prefix_caching=policy.prefix_caching)
    run = simulate(
        requests,
        policy,
        cost.seconds,
        concurrency=workload.concurrency,
        reading_s=cost.reading_seconds,
        unseen=unseen_in(plan, workload),
    )
    ttft = [
        seconds + max(0.0, cost.request_seconds(prompt) - cost.reading_seconds(prompt))
        for seconds, prompt in zip(run.ttft_s, requests.prompt, strict=True)
    ]
    pairs = zip(run.decode_s, requests.answer, strict=True)
    tpot = [seconds / (answer - 1) for seconds, answer in pairs if answer > 1] or [0.0]
    whole = [first + rest for first, rest in zip(ttft, run.decode_s, strict=True)]
    # The client's way counts too: in a closed loop nothing is in flight meanwhile.
    duration = run.duration_s
    if not workload.open_loop:
        duration += cost.request_seconds(workload.input.mean) * len(requests) / max(1, workload.concurrency or 1)
    rate = len(requests) / duration
    saturated = workload.rate_per_s is not None and rate < SATURATED * workload.rate_per_s and _grows(run.ttft_s)
    return Figures(
        ttft_s=_quantile(ttft, 0.5),
        tpot_s=_quantile(tpot, 0.5),
        ttft_mean_s=sum(ttft) / len(ttft),
        tpot_mean_s=sum(tpot) / len(tpot),
        e2el_s=_quantile(whole, 0.5),
        ttft_p95_s=_quantile(ttft, 0.95),
        tpot_p95_s=_quantile(tpot, 0.95),
        requests_per_s=rate,
        output_tokens_per_s=sum(requests.answer) / duration,
        total_tokens_per_s=(sum(requests.answer) + sum(requests.prompt)) / duration,
        decodes=run.decodes,
        context=run.context,
        saturated=saturated,
        preemptions=run.preemptions,
    )


def meeting(figures: Figures, point: MeasuredPoint, workload: Workload) -> Figures:
    """The same, with times in proportion so that those of a measured load are met."""
    mean = point.statistic == "mean"
    tpot_s, ttft_s = (figures.tpot_mean_s, figures.ttft_mean_s) if mean else (figures.tpot_s, figures.ttft_s)
    slower = point.tpot_s / tpot_s if point.tpot_s and tpot_s else 1.0
    later = point.ttft_s / ttft_s if point.ttft_s and ttft_s else 1.0
    whole = figures.ttft_s * later + (figures.e2el_s - figures.ttft_s) * slower
    rate = 1.0 if workload.open_loop else figures.e2el_s / whole
    return replace(
        figures,
        tpot_s=figures.tpot_s * slower,
        tpot_mean_s=figures.tpot_mean_s * slower,
        tpot_p95_s=figures.tpot_p95_s * slower,
        ttft_s=figures.ttft_s * later,
        ttft_mean_s=figures.ttft_mean_s * later,
        ttft_p95_s=figures.ttft_p95_s * later,
        e2el_s=whole,
        requests_per_s=figures.requests_per_s * rate,
        output_tokens_per_s=figures.output_tokens_per_s * rate,
        total_tokens_per_s=figures.total_tokens_per_s * rate,
    )


def _grows(ttft_s: Sequence[float]) -> bool:
    """Whether the last quarter of the requests waited far longer than the first."""
    quarter = max(1, len(ttft_s) // 4)
    return sum(ttft_s[-quarter:]) > 3 * sum(ttft_s[:quarter])


def steady_figures(plan: ServingPlan, workload: Workload, cost: StepCost) -> Figures:
    steady = steady_state(workload, policy_of(plan, cost.tokens_per_step), cost)
    output, prompt = workload.output.mean, workload.input.mean
    way = cost.request_seconds(prompt)
    ttft = steady.ttft_s + unseen_in(plan, workload) * steady.tpot_s + way
    # Times to first token spread as the waiting does, which is about exponential.
    p95 = ttft + 2 * max(steady.waiting_s, 0.25 * steady.ttft_s)
    rate = steady.requests_per_s
    if workload.concurrency is not None and not workload.open_loop:
        rate = 1 / (1 / rate + way / workload.concurrency)
    return Figures(
        ttft_s=ttft,
        tpot_s=steady.tpot_s,
        ttft_mean_s=ttft,
        tpot_mean_s=steady.tpot_s,
        e2el_s=ttft + steady.tpot_s * (output - 1),
        ttft_p95_s=p95,
        tpot_p95_s=steady.tpot_s * 1.1,
        requests_per_s=rate,
        output_tokens_per_s=rate * output,
        total_tokens_per_s=rate * (output + prompt),
        decodes=steady.decodes,
        context=steady.context,
        saturated=steady.saturated,
    )


def _quantile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)
