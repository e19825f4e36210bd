"""The speed of a deployment that was read, beside that of better ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.text import Text

from moonpad.explain.results import Judged
from moonpad.explain.speeds import BetterSpeed, DeploymentSpeed
from moonpad.predict.plan_speeds import AskedLoad
from moonpad.report.plain_text import hanging
from moonpad.report.speed_json import prediction_json
from moonpad.report.speed_text import load_words, speed_words, why_words


def speed_text(pairs: Sequence[tuple[Judged, DeploymentSpeed]], asked: AskedLoad, width: int) -> Text:
    text = Text(f"\nSpeed for {load_words(asked)}\n", style="bold")
    for judged, speed in pairs:
        name = f"{judged.engine} {judged.layout_words}".strip()
        if speed.prediction is None:
            text.append(f"  {name}: {hanging(f'not predicted: {speed.because}', 4, width)}\n", style="dim")
            continue
        first = f"{name}, {speed.prediction.standing}: {speed_words(speed.prediction)}. {why_words(speed.prediction)}"
        text.append(f"  {hanging(first, 4, width)}\n", style="")
        for better in speed.better:
            style = "bold green" if better.claimed else "dim"
            text.append(f"  {hanging(_sentence(better, asked), 4, width)}\n", style=style)
    text.rstrip()
    return text


def _sentence(better: BetterSpeed, asked: AskedLoad) -> str:
    if better.better is not None:
        name = f"With {better.better.why.partition(':')[0]}"
    else:
        name = f"With {better.plan.layout.words if better.plan else ''}"
    gain, latency = better.gain, asked.goal == "latency"
    share = f"{abs(gain.value):.0%}"
    if gain.value <= 0:
        verdict = f"no faster, {share} less"
    else:
        verdict = f"the whole answer {share} sooner" if latency else f"{share} more tokens a second"
        verdict += (
            f" ({gain.low:.0%} to {gain.high:.0%})" if better.claimed else ", within the ranges of both: not claimed"
        )
    missed = "" if better.keeps_limits else "; it misses a limit"
    return f"{name}: {speed_words(better.prediction)}; {verdict}{missed}."


def speed_documents(speed: DeploymentSpeed) -> dict[str, Any]:
    """`predicted` of the deployment, and of each better one its own with what it gains."""
    if speed.prediction is None:
        return {"predicted": {"because": speed.because}, "faster": []}
    return {
        "predicted": prediction_json(speed.prediction),
        "faster": [
            {
                "why": better.better.why
                if better.better
                else f"layout {better.plan.layout.words if better.plan else ''}",
                "predicted": prediction_json(better.prediction),
                "gain": better.gain.as_json(),
                "claimed": better.claimed,
                "keeps_slo": better.keeps_limits,
            }
            for better in speed.better
        ],
    }
