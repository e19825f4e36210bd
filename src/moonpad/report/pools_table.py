"""What a prefill and a decode pool are together: their shares, what each holds, and what is not known of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from rich.text import Text

from moonpad.plan.pools_from_spec import PoolPart
from moonpad.report.plain_text import aligned, hanging
from moonpad.report.plan_table import SEVERITY
from moonpad.values.finding import Finding
from moonpad.values.plan_answer import Answer, Choice
from moonpad.values.pools import PoolRole

HEADS: Final = ("", "machines", "devices", "layout", "requests at once", "tokens in a step", "KV tokens")
UNKNOWN: Final = (
    "How many tokens a second prefill computes and decode writes is not predicted: the right share of machines "
    "is to be measured."
)


def pools_table(
    answers: Mapping[PoolRole, Answer], parts: Mapping[PoolRole, PoolPart], findings: Sequence[Finding], width: int
) -> Text:
    text = Text("The two pools\n", style="bold")
    rows = [HEADS, *(_cells(role, answer, parts[role]) for role, answer in answers.items())]
    for cells in aligned(rows, (0, 3)):
        text.append(("  " + "  ".join(cells)).rstrip() + "\n", style="")
    for sentence in _sentences(answers, parts):
        text.append(f"  - {hanging(sentence, 4, width)}\n")
    for finding in findings:
        text.append(f"  {finding.severity}: ", style=SEVERITY[str(finding.severity)])
        text.append(f"{finding.where}: {hanging(finding.message, 4, width)}\n")
        text.append(f"    {hanging(finding.remedy, 4, width)}\n", style="dim")
    text.rstrip()
    return text


def pools_json(
    answers: Mapping[PoolRole, Answer], parts: Mapping[PoolRole, PoolPart], findings: Sequence[Finding]
) -> dict[str, Any]:
    """`share`: the devices of each; no figure where a pool has no plan."""
    return {
        "share": {role: part.cluster.devices for role, part in parts.items()},
        "connector": parts["prefill"].transfer.connector,
        "kv_bytes_per_token": {role: choice.memory.kv_bytes_per_token for role, choice in _chosen(answers)},
        "predicted_ratio": None,
        "findings": [finding.as_json() for finding in findings],
    }


def _chosen(answers: Mapping[PoolRole, Answer]) -> Iterator[tuple[PoolRole, Choice]]:
    return ((role, answer.choices[0]) for role, answer in answers.items() if answer.choices)


def _cells(role: PoolRole, answer: Answer, part: PoolPart) -> tuple[str, ...]:
    machines = (role, str(part.cluster.nodes), str(part.cluster.devices))
    if not answer.choices:
        return (*machines, "nothing fits", "", "", "")
    plan, memory = answer.choices[0].plan, answer.choices[0].memory
    counts = (plan.settings.max_num_seqs, plan.settings.max_num_batched_tokens)
    shown = ("engine's own" if count is None else f"{count:,}" for count in counts)
    return (*machines, plan.layout.words, *shown, f"{memory.kv_tokens_total.value:,.0f}")


def _sentences(answers: Mapping[PoolRole, Answer], parts: Mapping[PoolRole, PoolPart]) -> Iterator[str]:
    connector = parts["prefill"].transfer.connector
    prefill, decode = (parts[role].cluster.devices for role in ("prefill", "decode"))
    yield f"Of the devices {prefill} are for prefill and {decode} for decode; {connector} carries the KV cache."
    for role, choice in _chosen(answers):
        if role == "decode":
            yield f"Each token of a prompt takes {choice.memory.kv_bytes_per_token:,} bytes from prefill to decode."
    yield UNKNOWN
