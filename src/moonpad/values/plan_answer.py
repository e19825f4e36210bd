"""One answer of the planner, and all of them."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from moonpad.values.estimate import Estimate
from moonpad.values.finding import Finding
from moonpad.values.memory import LIKELY, SURE, Memory
from moonpad.values.plan import Layout, Plan

Confidence = Literal["measured", "sure", "likely", "tight"]
"""`measured`: this very start was. Else by the probability that it fits: `sure` from 99 %, `likely` from 90 %, `tight`
below."""
Goal = Literal["latency", "throughput", "context"]


def confidence_of(memory: Memory, sequences: int = 1) -> Confidence:
    """For so many sequences of the memory's context on each replica."""
    if memory.measured and memory.holds(memory.context, sequences):
        return "measured"
    probability = memory.probability(sequences=sequences)
    return "sure" if probability >= SURE else "likely" if probability >= LIKELY else "tight"


class Published(Struct, frozen=True):
    """Somebody else's measurement, near to a plan. `figures` by the names of `vllm bench serve`."""

    title: str
    model: str
    cluster: str
    engine: str
    layout: Layout
    figures: tuple[tuple[str, float], ...]
    source: str
    note: str = ""
    engine_version: str = ""
    """"" where the source does not say."""
    checked: str = ""
    """The day on which the source was last checked, `2026-11-20`."""
    standing: str = "reported"


class TradeRow(Struct, frozen=True):
    """What the layout of a plan holds with other settings. `chosen`: those of the plan itself.

    `context`: the longest that fits. `kv_tokens` are those of a replica; `concurrency` counts sequences of the plan's
    context, in all replicas; `tokens_each`: of each sequence, where as many run as the setting allows.
    """

    max_num_seqs: int | None
    max_num_batched_tokens: int | None
    enforce_eager: bool
    context: int
    kv_tokens: Estimate
    tokens_each: int | None
    concurrency: Estimate
    replicas: int = 1
    chosen: bool = False

    def as_json(self) -> dict[str, object]:
        return {
            "max_num_seqs": self.max_num_seqs,
            "max_num_batched_tokens": self.max_num_batched_tokens,
            "enforce_eager": self.enforce_eager,
            "context": self.context,
            "kv_tokens": self.kv_tokens.as_json(),
            "kv_tokens_total": self.kv_tokens.times(self.replicas).as_json(),
            "concurrency": self.concurrency.as_json(),
            "tokens_each": self.tokens_each,
            "chosen": self.chosen,
        }


class TurnedDown(Struct, frozen=True):
    """One change of the settings from the engine's defaults down to those of a plan, and what it bought.

    `kv_bytes`: on a device; `kv_tokens`: in a replica. Both may be 0, and less where a measured start replaces a model.
    """

    what: str
    kv_bytes: float
    kv_tokens: float


class Choice(Struct, frozen=True):
    """A plan that fits, with what speaks for it."""

    plan: Plan
    memory: Memory
    confidence: Confidence
    reasons: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    references: tuple[Published, ...] = ()
    trade: tuple[TradeRow, ...] = ()
    turned_down: tuple[TurnedDown, ...] = ()

    @property
    def experts_on_host(self) -> bool:
        """Routed experts lie in host RAM, which slows every token."""
        return self.plan.settings.gpu_experts is not None or bool(self.plan.settings.host_expert_layers)


class Refused(Struct, frozen=True):
    """A layout that cannot be. `memory` where it was the memory."""

    engine: str
    layout: Layout
    findings: tuple[Finding, ...]
    memory: Memory | None = None


class Sibling(Struct, frozen=True):
    """The same model in a format that the device computes in itself, as the plan of `layout` would hold it.

    `memory` None, or findings: why it does not. `source` and `standing`: of what is known of its size.
    """

    model: str
    scheme: str
    engine: str
    layout: Layout
    memory: Memory | None
    findings: tuple[Finding, ...]
    source: str
    standing: str
    hub: str = "Hugging Face"
    base_path: str = ""
    """How the device multiplies the weights of the plan's own checkpoint, where that is known."""

    @property
    def fits(self) -> bool:
        return self.memory is not None and self.memory.fits and not self.findings


class Answer(Struct, frozen=True):
    """What `plan` found: `choices` best first for the goal; `siblings` beside the first of them, or where none fits."""

    model: str
    cluster: str
    goal: Goal
    choices: tuple[Choice, ...]
    refused: tuple[Refused, ...]
    siblings: tuple[Sibling, ...] = ()

    @property
    def fits(self) -> bool:
        return bool(self.choices)
