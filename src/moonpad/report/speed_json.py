"""What is predicted of a plan, as JSON."""

from __future__ import annotations

from typing import Any

from moonpad.predict.goals import LoadPoint, missed, usd_per_million_tokens
from moonpad.predict.plan_speeds import AskedLoad, PlanSpeed, SpeedAnswer
from moonpad.values.plan_answer import Answer
from moonpad.values.prediction import Prediction
from moonpad.values.records import as_dict
from moonpad.values.workload import Lengths, Workload


def predicted_json(speed: PlanSpeed, asked: AskedLoad, devices: int) -> dict[str, Any]:
    """The `predicted` of one plan; without figures, `because` says why there are none."""
    found = speed.prediction
    if found is None:
        return {"because": speed.because}
    document = {
        **prediction_json(found),
        "method": "simulation" if speed.simulated else "steady state",
        "keeps_slo": missed(found, asked.limits) <= 1,
    }
    if asked.usd_per_device_hour is not None:
        price = usd_per_million_tokens(found, devices, asked.usd_per_device_hour)
        document["usd_per_million_output_tokens"] = price.as_json()
    return document


def settings_json(speed: PlanSpeed) -> dict[str, Any]:
    """Of other settings of one plan."""
    found = speed.prediction
    if found is None:
        return {"because": speed.because}
    names = ("ttft_s", "tpot_s", "output_tokens_per_s")
    return {name: getattr(found, name).as_json() for name in names}


def prediction_json(found: Prediction) -> dict[str, Any]:
    return {
        **found.as_json(),
        "because": found.tpot_s.because,
        "why": [{"part": part, "share": round(share, 4)} for part, share in found.step.shares],
        "load": load_json(found.workload),
    }


def load_json(workload: Workload) -> dict[str, Any]:
    return {
        "concurrency": workload.concurrency,
        "rate_per_s": workload.rate_per_s,
        "requests": workload.count,
        "input_tokens": _lengths(workload.input),
        "output_tokens": _lengths(workload.output),
        "shared_prefix": workload.shared_prefix,
    }


def _lengths(lengths: Lengths) -> dict[str, float]:
    return {"mean": lengths.mean, "least": lengths.quantiles[0], "most": lengths.longest}


def speed_json(speeds: SpeedAnswer, answer: Answer) -> dict[str, Any]:
    """The keys beside `plans`: the load, the verdict and the front."""
    asked, verdict = speeds.asked, speeds.verdict
    document: dict[str, Any] = {
        "workload": {
            "text": asked.text,
            "goal": asked.goal,
            "slo": dict(asked.limits),
            "usd_per_device_hour": asked.usd_per_device_hour,
            "load": "the best of growing ones" if asked.growing else load_json(asked.workload),
        },
        "verdict": None,
        "front": [_point(point, answer) for point in speeds.front],
    }
    if verdict is not None:
        document["verdict"] = {
            "plan": verdict.order[0],
            "keeps_slo": verdict.kept,
            "beats": verdict.order[1] if len(verdict.order) > 1 else None,
            "gain": verdict.gain.as_json() if verdict.gain else None,
            "gain_beyond_the_ranges": bool(verdict.gain and verdict.gain.low > 0),
            "regret": verdict.regret,
            "regret_against": verdict.rival,
        }
    return document


def _point(point: LoadPoint, answer: Answer) -> dict[str, Any]:
    plan, found = answer.choices[point.plan].plan, point.prediction
    return {
        "plan": point.plan,
        "engine": plan.engine,
        "layout": as_dict(plan.layout),
        "concurrency": found.workload.concurrency,
        "output_tokens_per_s_per_user": point.per_user,
        "output_tokens_per_s_per_device": point.per_device,
        "ttft_s": found.ttft_s.value,
        "tpot_s": found.tpot_s.value,
    }
