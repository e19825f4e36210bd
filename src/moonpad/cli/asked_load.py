"""The options of a load: `--workload` and what goes with it."""

from dataclasses import dataclass
from typing import Literal

from cyclopts import Parameter


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class LoadOptions:
    """The load that speed is predicted for. The texts are what --help shows."""

    workload: str | None = None
    """Also predict how fast: chat, agent, rag, INPUT:OUTPUT tokens (8192:1024; also 6554..8192, lognormal:512,0.6 or
    @FILE), or a file of requests (a Mooncake trace, the requests.jsonl of a bench). --concurrency is then how many
    users send their next request when the last is answered; without it and --rate, the best of growing loads."""
    rate: float | None = None
    """With --workload: requests a second that arrive whatever the server does."""
    api: Literal["chat", "completions"] = "completions"
    """With --workload: chat counts TTFT to the first token that a chat shows; Kimi-K2-Thinking's first is <think>."""
    prefix: float | None = None
    """With --workload: the share of each prompt that the engine has seen before, from 0 to below 1."""
    slo: str = ""
    """With --workload: the limits to keep, ttft=2s,tpot=50ms,e2el=20s (medians)."""
    price: float | None = None
    """With --workload: USD for an hour of one device; adds what a million output tokens cost."""

    @property
    def given(self) -> bool:
        return self != LoadOptions()
