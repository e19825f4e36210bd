"""The JSON of `moonpad plan`, key by key as design/cli.md has it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from moonpad.report.plan_commands import Command
from moonpad.values.plan import Settings
from moonpad.values.plan_answer import Answer, Choice, Published, Refused, Sibling
from moonpad.values.records import as_dict
from moonpad.values.units import GIB

if TYPE_CHECKING:
    from moonpad.predict.plan_speeds import PlanSpeed, SpeedAnswer


def answer_json(
    answer: Answer,
    commands: dict[int, tuple[Command, ...]],
    speeds: SpeedAnswer | None = None,
    refused_speed: PlanSpeed | None = None,
) -> dict[str, Any]:
    """`commands` holds those of each choice, by its place in `choices`; `refused_speed` is that of the one layout that
    was asked for."""
    document: dict[str, Any] = {
        "model": answer.model,
        "cluster": answer.cluster,
        "goal": answer.goal,
        "fits": answer.fits,
        "plans": [_choice(choice, commands.get(place, ())) for place, choice in enumerate(answer.choices)],
        "refused": [_refused(refused) for refused in answer.refused],
        "siblings": [_sibling(sibling) for sibling in answer.siblings],
    }
    if speeds is not None:
        from moonpad.report.speed_json import predicted_json, speed_json  # which a plan without a load does not need
        from moonpad.report.speed_json import settings_json as speed_of_settings

        for plan, speed, choice in zip(document["plans"], speeds.plans, answer.choices, strict=True):
            plan["predicted"] = predicted_json(speed, speeds.asked, choice.plan.layout.world_size)
            plan["performance"] = plan["predicted"] if speed.prediction else None
        if document["plans"]:
            for row, speed in zip(document["plans"][0]["trade"], speeds.settings, strict=False):
                row["predicted"] = speed_of_settings(speed)
        document |= speed_json(speeds, answer)
        if refused_speed is not None:
            devices = answer.refused[0].layout.world_size
            document["refused"][0]["predicted"] = predicted_json(refused_speed, speeds.asked, devices)
    return document


def _choice(choice: Choice, commands: tuple[Command, ...]) -> dict[str, Any]:
    plan = choice.plan
    return {
        "engine": plan.engine,
        "engine_version": plan.engine_version,
        "layout": as_dict(plan.layout),
        "settings": settings_json(plan.settings),
        "memory": choice.memory.as_json(),
        "turned_down": [
            {"what": change.what, "kv_gib": round(change.kv_bytes / GIB, 3), "kv_tokens": change.kv_tokens}
            for change in choice.turned_down
        ],
        "trade": [row.as_json() for row in choice.trade],
        "fits": choice.memory.fits,
        "confidence": choice.confidence,
        "performance": None,
        "references": [_published(result) for result in choice.references],
        "processes": [command.as_json() for command in commands],
        "reasons": list(choice.reasons),
        "findings": [finding.as_json() for finding in choice.findings],
    }


def _refused(refused: Refused) -> dict[str, Any]:
    return {
        "engine": refused.engine,
        "layout": as_dict(refused.layout),
        "findings": [finding.as_json() for finding in refused.findings],
        "memory": refused.memory.as_json() if refused.memory else None,
    }


def _sibling(sibling: Sibling) -> dict[str, Any]:
    return {
        "model": sibling.model,
        "scheme": sibling.scheme,
        "hub": sibling.hub,
        "engine": sibling.engine,
        "layout": as_dict(sibling.layout),
        "memory": sibling.memory.as_json() if sibling.memory else None,
        "fits": sibling.fits,
        "findings": [finding.as_json() for finding in sibling.findings],
        "source": sibling.source,
        "standing": sibling.standing,
    }


def settings_json(settings: Settings) -> dict[str, Any]:
    """What the plan says to the engine; of what it leaves to the engine only the five that every engine has."""
    shown = {name: value for name, value in as_dict(settings).items() if value is not None}
    always = ("max_model_len", "max_num_seqs", "max_num_batched_tokens", "gpu_memory_utilization")
    return dict.fromkeys(always) | {"kv_cache_dtype": "auto"} | shown


def _published(published: Published) -> dict[str, Any]:
    return {
        "title": published.title,
        "whose": "somebody else's measurement, not a prediction for this plan",
        "model": published.model,
        "cluster": published.cluster,
        "engine": published.engine,
        "layout": as_dict(published.layout),
        "figures": dict(published.figures),
        "source": published.source,
        "note": published.note,
    }
