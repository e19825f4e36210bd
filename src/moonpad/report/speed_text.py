"""What is predicted, in words and columns for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.text import Text

from moonpad.predict.goals import SAME, LoadPoint, missed, usd_per_million_tokens, worth
from moonpad.predict.plan_speeds import TRADED, AskedLoad, PlanSpeed, SpeedAnswer
from moonpad.report.plain_text import aligned, hanging
from moonpad.values.estimate import Estimate
from moonpad.values.plan_answer import Answer, Choice
from moonpad.values.prediction import Prediction

HEADS: Final = ("TTFT s", "TPOT ms", "tok/s user", "tok/s device")
PARTS: Final = {
    "experts": "experts",
    "host_experts": "experts on the host",
    "attention": "attention",
    "linear": "other matrices",
    "all_reduce": "all-reduce",
    "all_to_all": "all-to-all",
    "layer_latency": "latency of the layers",
    "pipeline": "pipeline",
    "head": "output head",
    "draft": "draft",
    "host": "scheduler and sampling",
}
SHOWN_PARTS: Final = 5
FRONT_ROWS: Final = 8
FRONT_HEADS: Final = ("", "engine", "layout", "users", "tok/s user", "tok/s device", "TTFT s", "TPOT ms")


def speed_heads(asked: AskedLoad) -> tuple[str, ...]:
    heads = (*(("users",) if asked.growing else ()), *HEADS)
    return heads if asked.usd_per_device_hour is None else (*heads, "USD/M")


def speed_cells(speed: PlanSpeed, asked: AskedLoad, choice: Choice) -> tuple[str, ...]:
    """One for each of `speed_heads`; `*`: it misses a limit."""
    found = speed.prediction
    if found is None:
        return ("-",) * len(speed_heads(asked))
    cells: tuple[str, ...] = (
        _range(found.ttft_s, 1.0),
        _range(found.tpot_s, 1e3),
        _round(found.output_tokens_per_s_per_user.value),
        _range(found.output_tokens_per_s_per_device, 1.0),
    )
    if asked.growing:
        cells = (str(found.workload.concurrency), *cells)
    if asked.usd_per_device_hour is not None:
        price = usd_per_million_tokens(found, choice.plan.layout.world_size, asked.usd_per_device_hour)
        cells = (*cells, _round(price.value))
    if asked.limits and missed(found, asked.limits) > 1:
        cells = (*cells[:-1], f"{cells[-1]} *")
    return cells


SETTINGS_HEADS: Final = ("TTFT s", "TPOT ms")


def settings_cells(speed: PlanSpeed) -> tuple[str, ...]:
    """One for each of SETTINGS_HEADS."""
    found = speed.prediction
    return ("-", "-") if found is None else (_round(found.ttft_s.value), _round(found.tpot_s.value * 1e3))


def load_words(asked: AskedLoad) -> str:
    """`chat, 64 users`."""
    workload = asked.workload
    if asked.growing:
        return f"{asked.text}, at the best of growing loads"
    if workload.rate_per_s is not None:
        most = f", at most {workload.concurrency} at once" if workload.concurrency else ""
        return f"{asked.text}, {workload.rate_per_s:g} requests a second{most}"
    return f"{asked.text}, {workload.concurrency} {'user' if workload.concurrency == 1 else 'users'}"


def speed_notes(answer: Answer, speeds: SpeedAnswer, width: int) -> Text:
    """Beneath the plans: what speaks for the first, where its time goes, and the front."""
    text = Text()
    asked = speeds.asked
    if asked.limits and any(speed.prediction and missed(speed.prediction, asked.limits) > 1 for speed in speeds.plans):
        text.append(f"  *: misses {limits_words(asked)}\n", style="dim")
    unpredicted = {speed.because for speed in speeds.plans if speed.prediction is None and speed.because}
    for because in sorted(unpredicted)[:2]:
        text.append(f"  -: {hanging(because, 5, width)}\n", style="dim")
    first = speeds.plans[0].prediction if speeds.plans else None
    if first is None:
        return text
    text.append("\nSpeed of plan 1", style="bold")
    text.append(f", {first.standing}\n")
    sentences = speed_sentences(answer, speeds)
    text.append("".join(f"  - {hanging(sentence, 4, width)}\n" for sentence in sentences if sentence))
    text.append_text(_front(answer, speeds))
    return text


def speed_sentences(answer: Answer, speeds: SpeedAnswer) -> list[str]:
    """What speaks for the first plan, where its time goes, and what to know of the figures."""
    first = speeds.plans[0].prediction if speeds.plans else None
    if first is None:
        return []
    ranges = f"Ranges hold 80 % of what is measured: {first.tpot_s.because}."
    sentences = [_verdict(answer, speeds), why_words(first), ranges]
    if better := _better_settings(answer, speeds):
        sentences.append(better)
    if first.saturated:
        sentences.append("It does not keep up with the rate: times to first token grow as long as the load lasts.")
    if first.preemptions:
        sentences.append(f"The KV cache runs full: {first.preemptions} requests are computed again in part.")
    sentences += [f"{note[:1].upper()}{note[1:]}." for note in first.notes]
    return [sentence for sentence in sentences if sentence]


def _verdict(answer: Answer, speeds: SpeedAnswer) -> str:
    verdict, asked = speeds.verdict, speeds.asked
    if verdict is None or verdict.gain is None:
        return ""
    second = answer.choices[verdict.order[1]].plan
    what = "faster to the whole answer" if asked.goal == "latency" else "more tokens a second of a device"
    name = f"plan 2 ({second.engine} {second.layout.words})"
    share = verdict.gain.value
    if abs(share) < 0.005:
        sentence = f"As good as {name}: the documented order of layouts decides"
    elif share < -SAME:
        sentence = f"{-share:.0%} behind {name}, which is not exactly what was asked for"
    elif share < 0:
        sentence = f"Within {-share:.1%} of {name}: the documented order of layouts decides"
    else:
        surely = "" if verdict.gain.low > 0 else ", which is within the ranges of both"
        sentence = f"{share:.0%} {what} than {name}{surely}"
    if verdict.regret > 0.005:
        sentence += f". At the far ends of all ranges another plan would be {verdict.regret:.0%} better"
    if not verdict.kept:
        sentence = f"No plan keeps {limits_words(asked) or 'up'}; this comes nearest. {sentence}"
    return sentence + "."


def speed_words(prediction: Prediction) -> str:
    """`TTFT 0.98 (0.55–1.68) s, TPOT …`."""
    return (
        f"TTFT {_range(prediction.ttft_s, 1.0)} s, TPOT {_range(prediction.tpot_s, 1e3)} ms, "
        f"{_range(prediction.output_tokens_per_s, 1.0)} output tokens a second"
    )


def _better_settings(answer: Answer, speeds: SpeedAnswer) -> str:
    """Other settings of the first plan that are better by the goal, within the limits."""
    asked, first = speeds.asked, speeds.plans[0].prediction
    own = next((row for row in answer.choices[0].trade if row.chosen), None)
    if first is None or own is None:
        return ""
    able = [
        (worth(speed.prediction, asked.goal).value, row)
        for row, speed in zip(answer.choices[0].trade, speeds.settings, strict=False)
        if speed.prediction is not None and missed(speed.prediction, asked.limits) <= 1
    ]
    best, row = max(able, key=lambda pair: pair[0], default=(0.0, own))
    ahead = best / worth(first, asked.goal).value - 1
    if row is own or ahead <= SAME:
        return ""
    names = [name for name in TRADED if getattr(row, name) != getattr(own, name) and getattr(row, name) is not None]
    words = " ".join(f"{name}={str(getattr(row, name)).lower()}" for name in names)
    return f"{ahead:.0%} better by this model with --set {words}, if that context is enough"


def why_words(prediction: Prediction) -> str:
    shares = prediction.step.shares
    shown = [f"{PARTS[name]} {share:.0%}" for name, share in shares[:SHOWN_PARTS] if share >= 0.005]
    return f"A step takes {_round(prediction.step.total * 1e3)} ms: {', '.join(shown)}."


def _front(answer: Answer, speeds: SpeedAnswer) -> Text:
    text = Text()
    if len(speeds.front) < 2:
        return text
    rows = [FRONT_HEADS, *front_rows(answer, thinned(speeds.front, FRONT_ROWS))]
    limits = f", within {limits_words(speeds.asked)}" if speeds.asked.limits else ""
    text.append(f"\nThe best that a user and a device can have together{limits}\n", style="bold")
    for cells in aligned(rows, (0, 1, 2)):
        text.append(("  " + "  ".join(cells)).rstrip() + "\n")
    return text


def front_rows(answer: Answer, points: Sequence[LoadPoint]) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for point in points:
        plan, found = answer.choices[point.plan].plan, point.prediction
        rows.append(
            (
                f"plan {point.plan + 1}",
                plan.engine,
                plan.layout.words,
                str(found.workload.concurrency),
                _round(point.per_user),
                _round(point.per_device),
                _round(found.ttft_s.value),
                _round(found.tpot_s.value * 1e3),
            )
        )
    return rows


def thinned(points: Sequence[LoadPoint], most: int) -> list[LoadPoint]:
    """The first, the last and evenly between."""
    if len(points) <= most:
        return list(points)
    return [points[round(place * (len(points) - 1) / (most - 1))] for place in range(most)]


def limits_words(asked: AskedLoad) -> str:
    return ", ".join(f"{name.removesuffix('_s').upper()} {seconds:g} s" for name, seconds in asked.limits.items())


def _range(estimate: Estimate, times: float) -> str:
    value, low, high = (_round(figure * times) for figure in (estimate.value, estimate.low, estimate.high))
    return f"{value} ({low}–{high})"


def _round(number: float) -> str:
    """Three digits are more than a prediction has."""
    if number >= 100:
        return f"{number:,.0f}"
    return f"{number:.1f}" if number >= 10 else f"{number:.2f}"


def pools_lines(speed: PlanSpeed, asked: AskedLoad, devices: int, width: int) -> list[str]:
    """Of two pools together."""
    found = speed.prediction
    if found is None:
        return [speed.because]
    rows = [
        ("TTFT", f"{_range(found.ttft_s, 1.0)} s"),
        ("TPOT", f"{_range(found.tpot_s, 1e3)} ms"),
        ("output tokens a second", f"{_range(found.output_tokens_per_s, 1.0)}, {devices} devices"),
        ("of a device", _range(found.output_tokens_per_s_per_device, 1.0)),
    ]
    if asked.usd_per_device_hour is not None:
        price = usd_per_million_tokens(found, devices, asked.usd_per_device_hour)
        rows.append(("USD for a million output tokens", _range(price, 1.0)))
    lines = [("  " + "  ".join(cells)).rstrip() for cells in aligned(rows, (0, 1))]
    sentences = (why_words(found), f"{found.standing}: {found.tpot_s.because}.", *found.notes)
    return [*lines, "", *(f"  - {hanging(sentence, 4, width)}" for sentence in sentences)]
