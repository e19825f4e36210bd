"""What `moonpad plan` shows: the plans, the best one's memory, its reasons, and what to type."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Final

from rich.text import Text

from moonpad.report.memory_bar import memory_bar
from moonpad.report.plan_commands import placeholder
from moonpad.values.plan import Platform
from moonpad.values.units import GIB

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from moonpad.report.plan_commands import Command
    from moonpad.values.finding import Finding
    from moonpad.values.memory import Memory
    from moonpad.values.plan import Layout
    from moonpad.values.plan_answer import Answer, Choice, Published, Refused

HEADS: Final = ("", "engine", "layout", "context", "at once", "KV tokens", "KV GiB", "confidence")
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


def layout_words(layout: Layout) -> str:
    """`TP8 DCP8`, `DP16 EP16`, `TP1`."""
    sizes = {"TP": layout.tp, "PP": layout.pp, "DP": layout.dp, "EP": layout.ep, "DCP": layout.dcp}
    return " ".join(f"{name}{size}" for name, size in sizes.items() if size > 1) or "TP1"


def _rows(choices: Sequence[Choice]) -> Text:
    cells = [HEADS, *(_cells(place, choice) for place, choice in enumerate(choices, 1))]
    widths = [max(len(row[column]) for row in cells) for column in range(len(HEADS))]
    text = Text()
    for place, row in enumerate(cells):
        style = "bold" if place == 0 else CONFIDENCE[choices[place - 1].confidence] if row[-1] else ""
        padded = [
            cell.ljust(size) if column in (1, 2, 7) else cell.rjust(size)
            for column, (cell, size) in enumerate(zip(row, widths, strict=True))
        ]
        text.append(("  " + "  ".join(padded)).rstrip() + "\n", style=style)
    return text


def _cells(place: int, choice: Choice) -> tuple[str, ...]:
    memory = choice.memory
    dp = choice.plan.layout.dp
    return (
        str(place),
        f"{choice.plan.engine} {choice.plan.engine_version}".strip(),
        layout_words(choice.plan.layout),
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
    text.append("".join(f"  - {line}\n" for line in _hanging(choice.reasons, width, 4)))
    if choice.references:
        text.append("\nMeasured by others, on other days and with other loads\n", style="bold")
        text.append("".join(f"  - {line}\n" for line in _hanging(map(_reference, choice.references), width, 4)))
    if choice.findings:
        text.append("\nTo know\n", style="bold")
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


def _reference(one: Published) -> str:
    figures = dict(one.figures)
    names: list[str] = [name for name in MAIN_FIGURES if name in figures] or list(figures)
    shown = ", ".join(f"{name} {figures[name]:,.10g}" for name in names)
    note = f" {one.note}" if one.note else ""
    return f"{one.engine} {layout_words(one.layout)} on {one.cluster}, {one.title}: {shown} ({one.source}).{note}"


def _refused(refused: Iterable[Refused], width: int) -> Text:
    text = Text.assemble(("\nRefused\n", "bold"))
    for one in refused:
        text.append(f"  {one.engine} {layout_words(one.layout)}{_miss(one.memory)}\n")
        text.append_text(_findings(one.findings, width, indent=4))
    return text


def _miss(memory: Memory | None) -> str:
    if memory is None:
        return ""
    return f"  (weights {memory.weights_bytes / GIB:.2f} of {memory.budget_bytes / GIB:.2f} GiB)"


def _findings(findings: Iterable[Finding], width: int, indent: int = 2) -> Text:
    text = Text()
    for finding in findings:
        text.append(" " * indent + f"{finding.severity}: ", style=SEVERITY[str(finding.severity)])
        hang = indent + len(finding.severity) + 2
        (message,) = _hanging([finding.message], width, hang)
        text.append(message + "\n")
        if finding.remedy:
            (remedy,) = _hanging([finding.remedy], width, indent + 2)
            text.append(" " * (indent + 2) + remedy + "\n", style="dim")
    return text


def _hanging(sentences: Iterable[str], width: int, indent: int) -> Iterator[str]:
    for sentence in sentences:
        lines = textwrap.wrap(sentence, max(30, width - indent), break_long_words=False, break_on_hyphens=False)
        yield ("\n" + " " * indent).join(lines or [""])
