"""The speeds of all plans as a page: the front, the choice, and what each plan gives. Pure."""

from __future__ import annotations

from moonpad.predict.plan_speeds import SpeedAnswer
from moonpad.report.front_chart import front_chart
from moonpad.report.html_page import page
from moonpad.report.speed_text import front_rows, limits_words, load_words, speed_cells, speed_heads, speed_sentences
from moonpad.values.plan_answer import Answer, Choice

SHOWN: int = 40
"""Plans in the table; `plan --all` may have hundreds."""


def plan_page(answer: Answer, speeds: SpeedAnswer) -> str:
    """The HTML. Something must be predicted."""
    names = [_name(choice) for choice in answer.choices]
    asked = speeds.asked
    first = speeds.plans[0].prediction if speeds.plans else None
    heads = speed_heads(asked)
    return page(
        "plan.html",
        model=answer.model,
        cluster=answer.cluster,
        goal=asked.goal,
        load=load_words(asked),
        limits=limits_words(asked),
        best=names[0] if names else "",
        standing=first.standing if first else "",
        tiles=_tiles(answer, speeds),
        sentences=speed_sentences(answer, speeds),
        chart=front_chart(speeds.points, speeds.front, names) if speeds.points and speeds.front else None,
        front_heads=("plan", "engine", "layout", "users", "tok/s user", "tok/s device", "TTFT s", "TPOT ms"),
        front=front_rows(answer, speeds.front),
        heads=("engine", "layout", "confidence", *heads, "rests on"),
        plans=[
            (
                str(place),
                f"{choice.plan.engine} {choice.plan.engine_version}".strip(),
                choice.plan.layout.words,
                choice.confidence,
                *speed_cells(speed, asked, choice),
                speed.prediction.standing if speed.prediction else speed.because,
            )
            for place, (choice, speed) in enumerate(zip(answer.choices[:SHOWN], speeds.plans, strict=False), 1)
        ],
    )


def _name(choice: Choice) -> str:
    return f"{choice.plan.engine} {choice.plan.layout.words}"


def _tiles(answer: Answer, speeds: SpeedAnswer) -> list[tuple[str, str, str]]:
    """(name, figure, small print) of the first plan."""
    found = speeds.plans[0].prediction if speeds.plans else None
    if found is None:
        return []
    rows = (
        ("TTFT", found.ttft_s, 1.0, "s"),
        ("TPOT", found.tpot_s, 1e3, "ms"),
        ("one user", found.output_tokens_per_s_per_user, 1.0, "tokens/s"),
        ("one device", found.output_tokens_per_s_per_device, 1.0, "tokens/s"),
    )
    return [
        (name, f"{figure.value * times:,.3g} {unit}", f"{figure.low * times:,.3g} to {figure.high * times:,.3g}")
        for name, figure, times, unit in rows
    ]
