"""What `moonpad tune` and `moonpad tune --explain` show. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from rich.text import Text

from moonpad.report.plain_text import aligned, hanging
from moonpad.tune.outcome import KnobEffect, Outcome, Row, ratio_words
from moonpad.values.units import duration

SHOWN: Final = 12
LONGEST: Final = 64
"""Characters of a candidate in a table; --json and the page have the rest."""
HEADS: Final = ("change", "against the default", "stage", "TTFT ms", "TPOT ms", "tok/s")
STAGES: Final = {"screen": "screening", "again": "again", "final": "side by side", "proof": "proof", None: ""}


def tune_table(outcome: Outcome, width: int, rows: int = SHOWN) -> Text:
    """The two sentences, then what was measured."""
    text = Text()
    for number, sentence in enumerate(outcome.sentences):
        text.append(hanging(sentence, 0, width) + "\n", style="bold" if number == 0 else "")
    if outcome.rows:
        text.append("\n")
        text.append_text(_measured(outcome.rows[:rows], outcome))
    if len(outcome.rows) > rows:
        text.append(f"  and {len(outcome.rows) - rows} more: --explain\n", style="dim")
    for row in outcome.rows:
        if "answers otherwise" in row.because and (row.ratio is None or row.ratio.value > 1):
            said = f"Not taken: {row.candidate.id} ({ratio_words(row.ratio)}): {row.because}"
            text.append(hanging(said, 2, width) + "\n", style="yellow")
    text.append(
        f"\n{outcome.measurements} visits in {duration(outcome.spent_s)}; "
        f"{len(outcome.left_out)} candidates were not started."
    )
    return text


def _measured(rows: Sequence[Row], outcome: Outcome) -> Text:
    cells = [HEADS, *(tuple(row_cells(row)) for row in rows)]
    text = Text()
    for number, line in enumerate(aligned(cells, (0, 1, 2))):
        style = "bold" if number == 0 else "dim" if rows[number - 1].because else ""
        text.append(("  " + "  ".join(line)).rstrip() + "\n", style=style)
    return text


def row_cells(row: Row) -> tuple[str, ...]:
    """change, ratio, stage, TTFT, TPOT, tokens/s."""
    ratio = ratio_words(row.ratio) if not row.because else row.because.partition(":")[0]
    figures = row.figures
    return (shortened(row.candidate.id), ratio, STAGES[row.stage], *figure_cells(figures))


def shortened(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def figure_cells(figures: Mapping[str, float]) -> tuple[str, str, str]:
    """TTFT and TPOT in ms, output tokens a second; a dash where it was not measured."""
    ttft, tpot, rate = (figures.get(name) for name in ("median_ttft_s", "median_tpot_s", "output_throughput"))
    return (
        "–" if ttft is None else f"{ttft * 1e3:,.0f}",
        "–" if tpot is None else f"{tpot * 1e3:,.1f}",
        "–" if rate is None else f"{rate:,.1f}",
    )


def tune_details(about: Mapping[str, Any], outcome: Outcome, effects: Sequence[KnobEffect], width: int) -> Text:
    """The whole of a tune: what each knob brought, all that was measured, all that was left out and why."""
    text = Text(
        f"{about.get('model')} on {about.get('cluster')}, {about.get('engine')} {about.get('engine_version')}; "
    )
    text.append(f"{about.get('load_words')}\n\n")
    text.append_text(tune_table(outcome, width, rows=len(outcome.rows)))
    if effects:
        text.append("\n\nWhat each knob brought by itself, against the default:\n", style="bold")
        cells = [
            (effect.title, shortened(effect.value), ratio_words(effect.ratio), _mark(effect)) for effect in effects
        ]
        for line, effect in zip(aligned(cells, (0, 1, 2, 3)), effects, strict=True):
            text.append(("  " + "  ".join(line)).rstrip() + "\n")
            text.append(f"    {hanging(effect.why, 4, width)}\n", style="dim")
    if outcome.left_out:
        text.append("\nNot started:\n", style="bold")
        for candidate, because in outcome.left_out:
            text.append(f"  {hanging(f'{candidate.id}: {because}', 4, width)}\n")
    text.rstrip()
    return text


def _mark(effect: KnobEffect) -> str:
    return "in the winner" if effect.in_winner else ""
