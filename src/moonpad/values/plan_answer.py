"""One answer of the planner, and all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from moonpad.values.finding import Finding
from moonpad.values.memory import Memory
from moonpad.values.plan import Layout, Plan

Confidence = Literal["measured", "likely", "tight"]
Goal = Literal["latency", "throughput", "context"]


@dataclass(frozen=True, slots=True)
class Published:
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


@dataclass(frozen=True, slots=True)
class Choice:
    """A plan that fits, with what speaks for it."""

    plan: Plan
    memory: Memory
    confidence: Confidence
    reasons: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    references: tuple[Published, ...] = ()


@dataclass(frozen=True, slots=True)
class Refused:
    """A layout that cannot be. `memory` where it was the memory."""

    engine: str
    layout: Layout
    findings: tuple[Finding, ...]
    memory: Memory | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What `plan` found: `choices` best first for the goal."""

    model: str
    cluster: str
    goal: Goal
    choices: tuple[Choice, ...]
    refused: tuple[Refused, ...]

    @property
    def fits(self) -> bool:
        return bool(self.choices)
