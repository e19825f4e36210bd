"""What `moonpad plan` shows: the plans, the best one's memory, its reasons, and what to type."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Final

from rich.text import Text

from moonpad.report.memory_bar import memory_bar
from moonpad.report.plain_text import aligned, hanging
from moonpad.report.plan_commands import Command, placeholder
from moonpad.values.finding import Finding
from moonpad.values.plan import Platform
from moonpad.values.plan_answer import Answer, Choice, Published, Refused, Sibling, TradeRow
from moonpad.values.units import GIB

if TYPE_CHECKING:
    from moonpad.predict.plan_speeds import SpeedAnswer

HEADS: Final = ("", "engine", "layout", "context", "at once", "KV tokens", "KV GiB", "confidence")
REPLICATED: Final = (*HEADS[:4], "at once, all", "KV tokens, all", "per replica", *HEADS[6:])
"""Where a plan has data-parallel replicas: its totals, and the KV tokens of one of them."""
BESIDE_SPEED: Final = (*HEADS[:4], "KV tokens", "confidence")
TRADE_HEADS: Final = ("", "sequences", "batched tokens", "longest context", "KV tokens", "each, if all run", "")
CONFIDENCE: Final = {"measured": "green", "sure": "green", "likely": "", "tight": "yellow"}
SEVERITY: Final = {"error": "bold red", "warning": "yellow", "note": "dim"}
MAIN_FIGURES: Final = ("request_throughput", "output_throughput", "mean_ttft_ms", "mean_tpot_ms")
SHOWN_PLANS: Final = 8
MUCH_MORE: Final = 2.0
"""Times the context of the first plan, to be named beside it."""
NEARLY: Final = 0.75
"""Of the most that any plan holds: the first such plan is named."""
SHOWN_REFUSED: Final = 6


def plan_table(
    answer: Answer,
    commands: Sequence[Command],
    width: int,
    *,
    every: bool = False,
    ascii_only: bool = False,
    speeds: SpeedAnswer | None = None,
) -> Text:
    """The whole answer, wrapped at `width` columns. `commands` are those of the best plan."""
    goal = answer.goal if speeds is None else f"{speeds.asked.goal}; {_speed_text().load_words(speeds.asked)}"
    text = Text(f"{answer.model} on {answer.cluster}, for {goal}\n\n")
    if answer.choices:
        choices = answer.choices if every else answer.choices[:SHOWN_PLANS]
        text.append_text(_rows(choices, speeds))
        if len(choices) < len(answer.choices):
            text.append(f"  and {len(answer.choices) - len(choices)} more: --all shows them\n", style="dim")
        if speeds is not None:
            text.append_text(_speed_text().speed_notes(answer, speeds, width))
        text.append_text(_longer(answer.choices))
        text.append_text(_best(answer, commands, width, ascii_only, speeds))
    else:
        text.append("Nothing fits.\n", style="bold red")
        text.append_text(_siblings(answer, width))
    if answer.refused and (every or not answer.choices):
        text.append_text(_refused(answer.refused if every else answer.refused[:SHOWN_REFUSED], width))
    text.rstrip()
    return text


def _speed_text() -> ModuleType:
    """Of a plan without a load nothing of it is needed."""
    from moonpad.report import speed_text

    return speed_text


def _rows(choices: Sequence[Choice], speeds: SpeedAnswer | None = None) -> Text:
    if speeds is None:
        heads: tuple[str, ...] = REPLICATED if any(choice.memory.replicas > 1 for choice in choices) else HEADS
        rows = [heads, *(_cells(place, choice, heads) for place, choice in enumerate(choices, 1))]
    else:
        heads = (*BESIDE_SPEED, *_speed_text().speed_heads(speeds.asked))
        rows = [heads]
        for place, (choice, speed) in enumerate(zip(choices, speeds.plans, strict=False), 1):
            first, *cells = _cells(place, choice, HEADS)
            own = (first, *cells[:3], cells[4], cells[-1])
            rows.append((*own, *_speed_text().speed_cells(speed, speeds.asked, choice)))
    words = (1, 2, heads.index("confidence"))  # to the left; the others are figures
    styles = ["bold", *(CONFIDENCE[choice.confidence] for choice in choices)]
    text = Text()
    for cells, style in zip(aligned(rows, words), styles, strict=True):
        text.append(("  " + "  ".join(cells)).rstrip() + "\n", style=style)
    return text


def _longer(choices: Sequence[Choice]) -> Text:
    """The plan with much more context, or else KV cache, than the first one: a person who reads one plan misses it."""
    first = choices[0]
    alike = [choice for choice in choices if choice.experts_on_host == first.experts_on_host]
    for figure, what in ((_context, "context"), (_kv_tokens, "KV cache")):
        enough = max(MUCH_MORE * figure(first), max(map(figure, alike)) * NEARLY)
        for choice in alike:
            if figure(choice) >= enough:
                which = f"{choice.plan.engine} {choice.plan.layout.words}"
                times = f"{figure(choice) / max(1, figure(first)):.2g} times the {what} of plan 1"
                return Text(f"\nPlan {choices.index(choice) + 1} ({which}) holds {times}.\n", style="bold")
    return Text()


def _context(choice: Choice) -> float:
    return choice.memory.context


def _kv_tokens(choice: Choice) -> float:
    return choice.memory.kv_tokens_total.value


def _cells(place: int, choice: Choice, heads: Sequence[str]) -> tuple[str, ...]:
    memory = choice.memory
    return (
        str(place),
        f"{choice.plan.engine} {choice.plan.engine_version}".strip(),
        choice.plan.layout.words,
        f"{memory.context:,}",
        _short(memory.concurrency_at_context.value),
        _short(memory.kv_tokens_total.value),
        *((_short(memory.kv_tokens.value),) if heads is REPLICATED else ()),
        f"{memory.cache_bytes / GIB:.2f}",
        choice.confidence,
    )


def _short(number: float) -> str:
    """`0.86`, `2.7`, `13`, `715,072`, `5.72 M`."""
    if number >= 1e6:
        return f"{number / 1e6:.2f} M"
    return f"{number:.2f}" if number < 1 else f"{number:.1f}" if number < 10 else f"{number:,.0f}"


def _best(
    answer: Answer, commands: Sequence[Command], width: int, ascii_only: bool, speeds: SpeedAnswer | None = None
) -> Text:
    choice, text = answer.choices[0], Text("\n")
    text.append(_memory_title(choice) + "\n")
    for line in memory_bar(choice.memory, width - 2, ascii_only=ascii_only).split("\n"):
        text.append_text(Text.assemble("  ", line, "\n"))
    text.append_text(_trade(choice, speeds))
    text.append_text(_siblings(answer, width))
    text.append("\nWhy\n", style="bold")
    text.append("".join(f"  - {hanging(reason, 4, width)}\n" for reason in choice.reasons))
    if choice.references:
        text.append("\nMeasured by others, on other days and with other loads\n", style="bold")
        text.append("".join(f"  - {hanging(_reference(result), 4, width)}\n" for result in choice.references))
    if choice.findings:
        text.append("\nNotes\n", style="bold")
        text.append_text(_findings(choice.findings, width))
    if commands:
        text.append("\nWhat to type", style="bold")
        nodes = list(dict.fromkeys(placeholder(command.node) for command in commands))
        text.append(f" ({', '.join(nodes)}: the addresses of the machines)\n" if len(nodes) > 1 else "\n")
        for command in commands:
            if len(commands) > 1:
                text.append(f"  # {command.name}, on {placeholder(command.node)}\n", style="dim")
            text.append("".join(f"  {line}\n" for line in command.lines()))
    return text


def _trade(choice: Choice, speeds: SpeedAnswer | None = None) -> Text:
    """What fewer or more sequences would hold, and how fast they would be; `*` marks the plan."""
    text = Text()
    if len(choice.trade) < 2:
        return text
    rows: list[tuple[str, ...]] = [TRADE_HEADS, *(_trade_cells(row) for row in choice.trade)]
    if speeds is not None and len(speeds.settings) == len(choice.trade):
        more = [_speed_text().SETTINGS_HEADS, *map(_speed_text().settings_cells, speeds.settings)]
        rows = [(*row[:-1], *cells, row[-1]) for row, cells in zip(rows, more, strict=True)]
    text.append("\nContext against sequences, with the same layout\n", style="bold")
    for cells in aligned(rows, (0, len(rows[0]) - 1)):
        text.append(("  " + "  ".join(cells)).rstrip() + "\n")
    return text


def _siblings(answer: Answer, width: int) -> Text:
    text = Text()
    if answer.siblings:
        text.append("\nThe same model in a format that this device computes in itself\n", style="bold")
    plan = answer.choices[0] if answer.choices else None
    text.append("".join(f"  - {hanging(_sibling(each, plan), 4, width)}\n" for each in answer.siblings))
    return text


def _sibling(sibling: Sibling, plan: Choice | None) -> str:
    words = f"{sibling.model} ({sibling.scheme.upper()}, its size is {sibling.standing})"
    if sibling.memory is None:
        return f"{words}: {sibling.findings[0].message}."
    memory, weights, tokens = sibling.memory, "", ""
    if plan is not None and (plan.plan.engine, plan.plan.layout) == (sibling.engine, sibling.layout):
        weights = f" instead of {plan.memory.weights_bytes / GIB:.2f}"
        tokens = f" instead of {_short(plan.memory.kv_tokens_total.value)} on the same layout"
    else:
        tokens = f" with {sibling.engine} {sibling.layout.words}"
    rate = f"{_short(memory.kv_tokens_total.value)} KV tokens at {memory.kv_bytes_per_token:,} bytes"
    path = f" The plan's own INT4 goes by {sibling.base_path} here." if sibling.base_path else ""
    return f"{words}: {memory.weights_bytes / GIB:.2f} GiB of weights on each device{weights}, {rate}{tokens}.{path}"


def _trade_cells(row: TradeRow) -> tuple[str, ...]:
    each = "" if row.tokens_each is None else f"{row.tokens_each:,}"
    batch = (row.max_num_seqs, row.max_num_batched_tokens)
    counts = ["engine's own" if count is None else f"{count:,}" for count in batch]
    graphs = "no graphs" if row.enforce_eager else ""
    return ("*" if row.chosen else " ", *counts, f"{row.context:,}", _short(row.kv_tokens.value), each, graphs)


def _memory_title(choice: Choice) -> str:
    memory = choice.memory
    devices = choice.plan.layout.world_size
    cpu = choice.plan.platform is Platform.CPU
    of = "the host" if cpu else "each device" if devices > 1 else "the device"
    budget = f"{memory.budget_bytes / GIB:.2f}"
    if memory.device_bytes > memory.budget_bytes:
        budget += f" of {memory.device_bytes / GIB:.2f}"
    return f"Memory of {of} with plan 1: {budget} GiB may be used"


def _reference(result: Published) -> str:
    figures = dict(result.figures)
    names: list[str] = [name for name in MAIN_FIGURES if name in figures] or list(figures)
    shown = ", ".join(f"{name} {figures[name]:,.10g}" for name in names)
    measured = f"{result.engine} {result.layout.words} on {result.cluster}, {result.title}: {shown}"
    return f"{measured} ({result.source}). {result.note}".rstrip()


def _refused(refused: Iterable[Refused], width: int) -> Text:
    text = Text.assemble(("\nRefused\n", "bold"))
    for candidate in refused:
        text.append(f"  {candidate.engine} {candidate.layout.words}")
        if memory := candidate.memory:
            text.append(f"  (weights {memory.weights_bytes / GIB:.2f} of {memory.budget_bytes / GIB:.2f} GiB)")
        text.append("\n")
        text.append_text(_findings(candidate.findings, width, indent=4))
    return text


def _findings(findings: Iterable[Finding], width: int, indent: int = 2) -> Text:
    text = Text()
    for finding in findings:
        text.append(" " * indent + f"{finding.severity}: ", style=SEVERITY[str(finding.severity)])
        text.append(hanging(finding.message, indent + len(finding.severity) + 2, width) + "\n")
        if finding.remedy:
            text.append(" " * (indent + 2) + hanging(finding.remedy, indent + 2, width) + "\n", style="dim")
    return text
