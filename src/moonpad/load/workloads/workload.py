"""Which kind of requests a run sends. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from moonpad.load.lengths import MOST, check_bounds
from moonpad.values.errors import UsageError

Kind = Literal["random", "turns", "agent", "sharegpt", "trace"]
KINDS: Final[tuple[Kind, ...]] = ("random", "turns", "agent", "sharegpt", "trace")
OF_FILES: Final = ("sharegpt", "trace")
OF_TURNS: Final = ("turns", "agent", "sharegpt")
EXAMPLES: Final = "random, turns, agent, sharegpt:FILE or trace:FILE"
BOUNDS: Final = {"turns": (1, 10_000), "prefix_tokens": (0, MOST), "prefixes": (1, 1_000_000), "tool_tokens": (1, MOST)}
TURNS: Final = {"turns": 4, "agent": 8}


@dataclass(frozen=True, slots=True)
class Workload:
    """random: fresh random words. turns: chats of `turns` questions, each after the answers to those before. agent: the
    same with tools; a result of `tool_tokens` follows each call. sharegpt: the first `turns` questions of a file's
    chats. trace: a file's lengths and shared blocks at its instants, `speed` times as fast.

    digest: SHA-256 of the file, so that a resumed run uses the same one.
    prefix_tokens: before each first question, one of `prefixes` texts that requests share.
    """

    kind: Kind = "random"
    file: str = ""
    digest: str = ""
    turns: int = 1
    prefix_tokens: int = 0
    prefixes: int = 1
    tool_tokens: int = 256
    speed: float = 1.0

    def __post_init__(self) -> None:
        for name, bounds in BOUNDS.items():
            check_bounds(name, getattr(self, name), *bounds)
        if self.turns > 1 and self.kind not in OF_TURNS:
            raise UsageError(f"--turns needs a dataset of conversations, not {self.kind}", remedy="use --dataset turns")
        if self.prefix_tokens and self.kind in OF_FILES:
            raise UsageError("--prefix-tokens cannot be combined with a file", remedy="use --dataset random")
        if not 1e-6 <= self.speed <= 1e6:
            raise UsageError(f"--speed must be above 0, not {self.speed:g}", remedy="2 plays the trace twice as fast")

    @property
    def description(self) -> str:
        """In a few words."""
        name = f"{self.kind}, {Path(self.file).name}" if self.file else self.kind
        more = [f"{self.turns} turns"] if self.turns > 1 else []
        more += [f"{self.prefixes} × {self.prefix_tokens} shared tokens"] if self.prefix_tokens else []
        more += [f"tool results of {self.tool_tokens} tokens"] if self.kind == "agent" else []
        return ", ".join((name, *more))


RANDOM: Final = Workload()


def parse_dataset(text: str) -> tuple[Kind, str]:
    """The kind and the file, "" without one.

    Raises:
        UsageError: there is no such dataset.
    """
    kind, colon, file = text.partition(":")
    for name in KINDS:
        if kind == name and bool(colon and file) == (name in OF_FILES):
            return name, file
    raise UsageError(f"--dataset {text!r} is not known", remedy=f"use {EXAMPLES}")
