"""What `moonpad plan` shows: the plans, the best one's memory, its reasons, and what to type."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from rich.text import Text

from moonpad.report.memory_bar import memory_bar
from moonpad.report.plain_text import aligned, hanging
from moonpad.report.plan_commands import Command, placeholder
from moonpad.values.finding import Finding
from moonpad.values.plan import Platform
from moonpad.values.plan_answer import Answer, Choice, Published, Refused
from moonpad.values.units import GIB

HEADS: Final = ("", "engine", "layout", "context", "at once", "KV tokens", "KV GiB", "confidence")
WORDS: Final = (1, 2, 7)
"""Columns of words, to the left; the others are figures."""
CONFIDENCE: Final = {"measured": "green", "likely": "", "tight": "yellow"}
SEVERITY: Final = {"error": "bold red", "warning": "yellow", "note": "dim"}
MAIN_FIGURES: Final = ("request_throughput", "output_throughput", "mean_ttft_ms", "mean_tpot_ms")
SHOWN_PLANS: Final = 8
SHOWN_REFUSED: Final = 6


def plan_table(
    answer: Answer, commands: Sequence[Command], width: int, *, every: bool = False, ascii_only: bool = False
) -> Text:
    """The whole answer, wrapped at `width` columns. `commands` are those of the best plan."""
    text = Text(f"{answer.model} on {answer.cluster}, for {answer.goal}\n\n")
    if answer.choices:
        choices = answer.choices if every else answer.choices[:SHOWN_PLANS]
        text.append_text(_rows(choices))
        if len(choices) < len(answer.choices):
            text.append(f"  and {len(answer.choices) - len(choices)} more: --all shows them\n", style="dim")
        text.append_text(_best(answer.choices[0], commands, width, ascii_only))
    else:
        text.append("Nothing fits.\n", style="bold red")
    if answer.refused and (every or not answer.choices):
        text.append_text(_refused(answer.refused if every else answer.refused[:SHOWN_REFUSED], width))
    text.rstrip()
    return text


def _rows(choices: Sequence[Choice]) -> Text:
    rows = [HEADS, *(_cells(place, choice) for place, choice in enumerate(choices, 1))]
    styles = ["bold", *(CONFIDENCE[choice.confidence] for choice in choices)]
    text = Text()
    for cells, style in zip(aligned(rows, WORDS), styles, strict=True):
        text.append(("  " + "  ".join(cells)).rstrip() + "\n", style=style)
    return text


def _cells(place: int, choice: Choice) -> tuple[str, ...]:
    memory = choice.memory
    dp = choice.plan.layout.dp
    return (
        str(place),
        f"{choice.plan.engine} {choice.plan.engine_version}".strip(),
        choice.plan.layout.words,
        f"{memory.context:,}",
        _short(memory.concurrency_at_context.value * dp),
        _short(memory.kv_tokens.value * dp),
        f"{memory.kv_bytes.value / GIB:.2f}",
        choice.confidence,
    )


def _short(number: float) -> str:
    """`0.86`, `2.7`, `13`, `715,072`, `5.72 M`."""
    if number >= 1e6:
        return f"{number / 1e6:.2f} M"
    return f"{number:.2f}" if number < 1 else f"{number:.1f}" if number < 10 else f"{number:,.0f}"


def _best(choice: Choice, commands: Sequence[Command], width: int, ascii_only: bool) -> Text:
    text = Text("\n")
    text.append(_memory_title(choice) + "\n")
    for line in memory_bar(choice.memory, width - 2, ascii_only=ascii_only).split("\n"):
        text.append_text(Text.assemble("  ", line, "\n"))
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
