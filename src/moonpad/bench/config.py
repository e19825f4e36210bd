"""What to measure."""

from __future__ import annotations

from dataclasses import dataclass, field

from moonpad.load.deadlines import Deadlines
from moonpad.values.errors import UsageError


@dataclass(frozen=True, slots=True)
class BenchConfig:
    """`input_tokens` counts the chat template too; `output_tokens` is a limit, reached for sure with `ignore_eos`."""

    input_tokens: int = 128
    output_tokens: int = 64
    ignore_eos: bool = False
    temperature: float | None = None
    requests: int = 32
    concurrency: int = 4
    warmup: int = 2
    seed: int = 0
    deadlines: Deadlines = field(default_factory=Deadlines)

    def __post_init__(self) -> None:
        least = {"input_tokens": 1, "output_tokens": 1, "requests": 1, "concurrency": 1, "warmup": 0}
        for name, minimum in least.items():
            if getattr(self, name) < minimum:
                flag = "--" + name.replace("_", "-")
                raise UsageError(f"{flag} is {getattr(self, name)}", remedy=f"give {minimum} or more")

    @property
    def slots(self) -> int:
        """More users than requests would only be idle."""
        return min(self.concurrency, self.requests)
