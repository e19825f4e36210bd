"""What `moonpad bench` is told of the requests that it sends."""

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
    """The options that say what is asked. Their texts are what --help shows."""

    dataset: str = "random"
    """random: words that nobody has sent before. turns: chats whose questions follow the answers. agent: the same with
    tools, and a result behind each call. sharegpt:FILE: chats that others recorded. trace:FILE: Mooncake's lines, sent
    at their instants, with the same shared blocks."""
    turns: int | None = None
    """With turns, agent and sharegpt: requests of a conversation, each of which holds all before it; 4, 8 and 1."""
    tool_tokens: int = 256
    """With agent: tokens of a tool's result."""
    prefix_tokens: int = 0
    """Tokens that requests share, before the first question's own."""
    prefixes: int = 1
    """With --prefix-tokens: how many such texts there are."""
    speed: float = 1.0
    """With trace: 2 plays it in half the time."""
    api: Literal["chat", "completions"] = "chat"
    """completions: one text instead of messages, without a chat template."""

    def read(self) -> Workload:
        """
        Raises:
            UsageError: there is no such kind, its file cannot be read, or an option is of another kind.
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
