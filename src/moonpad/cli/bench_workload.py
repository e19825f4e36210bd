"""The options of `moonpad bench` for the requests that it sends."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from cyclopts import Parameter

if TYPE_CHECKING:
    from moonpad.load.workloads.workload import Workload


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadOptions:
    """Their docstrings are what --help shows."""

    dataset: str = "random"
    """random: fresh random words. turns: chats, each question after the answers so far. agent: the same with tools and
    their results. sharegpt:FILE: recorded chats. trace:FILE: a Mooncake trace, with its arrival times and shared
    blocks."""
    turns: int | None = None
    """With turns, agent and sharegpt: requests per conversation, each with the history so far; 4, 8 and 1."""
    tool_tokens: int = 256
    """With agent: tokens per tool result."""
    prefix_tokens: int = 0
    """Tokens of a prefix that requests share."""
    prefixes: int = 1
    """With --prefix-tokens: the number of different prefixes."""
    speed: float = 1.0
    """With trace: 2 replays it in half the time."""
    api: Literal["chat", "completions"] = "chat"
    """completions: plain text instead of messages, without a chat template."""

    def read(self) -> Workload:
        """
        Raises:
            UsageError: no such dataset, its file cannot be read, or an option does not fit it.
        """
        from moonpad.load.workloads.recorded import digest_of
        from moonpad.load.workloads.workload import TURNS, Workload, parse_dataset

        kind, file = parse_dataset(self.dataset)
        path = Path(file).resolve() if file else None
        return Workload(
            kind=kind,
            file=str(path or ""),
            digest=digest_of(path) if path else "",
            turns=TURNS.get(kind, 1) if self.turns is None else self.turns,
            prefix_tokens=self.prefix_tokens,
            prefixes=self.prefixes,
            tool_tokens=self.tool_tokens,
            speed=self.speed,
        )


ANY_WORKLOAD = WorkloadOptions()


def trace_length(workload: Workload) -> int:
    """How many requests the trace has."""
    from moonpad.load.workloads.recorded import read_trace

    return len(read_trace(Path(workload.file), workload.digest))
