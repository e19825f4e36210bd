"""What to measure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from moonpad.bench.slo import NO_LIMITS, Slo
from moonpad.load.arrivals import Arrivals
from moonpad.load.asker import Api
from moonpad.load.deadlines import Deadlines
from moonpad.load.lengths import Lengths, fixed
from moonpad.load.workloads.workload import RANDOM, Workload
from moonpad.values.errors import UsageError

UNCAPPED_CONNECTIONS: Final = 16
"""Open before an open loop without a cap; further ones are opened shortly before they are needed."""


@dataclass(frozen=True, slots=True)
class BenchConfig:
    """`input_tokens` counts the chat template too; `output_tokens` is a limit, reached for sure with `ignore_eos`, and
    None is what a file says. Of a file, `input_tokens` is not looked at.

    requests: in all; of conversations each turn is one.

    arrivals: None is a closed loop of `concurrency` users; otherwise requests arrive by it, and `concurrency` is a cap
    on those in flight, None none.
    workers: client processes that share the load.
    measure_client: behind the run, let the client measure its own error under the same load.
    """

    input_tokens: int | Lengths = 128
    output_tokens: int | Lengths | None = 64
    workload: Workload = RANDOM
    api: Api = "chat"
    ignore_eos: bool = False
    temperature: float | None = None
    requests: int = 32
    concurrency: int | None = 4
    arrivals: Arrivals | None = None
    slo: Slo = NO_LIMITS
    measure_client: bool = True
    warmup: int = 2
    workers: int = 1
    seed: int = 0
    deadlines: Deadlines = field(default_factory=Deadlines)

    def __post_init__(self) -> None:
        least = {"input_tokens": 1, "output_tokens": 1, "requests": 1, "concurrency": 1, "warmup": 0, "workers": 1}
        for name, minimum in least.items():
            value = getattr(self, name)
            if isinstance(value, int) and value < minimum:
                flag = "--" + name.replace("_", "-")
                raise UsageError(f"{flag} is {value}", remedy=f"give {minimum} or more")

        if self.concurrency is None and not self.paced:
            raise UsageError("a closed loop has no number of users", remedy="give --concurrency, or --rate")
        if self.output_tokens is None and not self.workload.file:
            raise UsageError("nothing says how long answers are", remedy="--output-tokens 64")
        if self.api == "completions" and (self.workload.turns > 1 or self.workload.kind == "agent"):
            raise UsageError("a conversation needs messages, and completions have none", remedy="--api chat")

    @property
    def input_lengths(self) -> Lengths:
        return fixed(self.input_tokens) if isinstance(self.input_tokens, int) else self.input_tokens

    @property
    def output_lengths(self) -> Lengths:
        """
        Raises:
            ValueError: the file says it.
        """
        if self.output_tokens is None:
            raise ValueError("the lengths are the file's")
        return fixed(self.output_tokens) if isinstance(self.output_tokens, int) else self.output_tokens

    @property
    def said_output(self) -> int | str:
        return "the file's" if self.output_tokens is None else self.output_lengths.said

    @property
    def said_input(self) -> int | str:
        return "the file's" if self.workload.file else self.input_lengths.said

    @property
    def paced(self) -> bool:
        """Requests arrive whatever the server does: by a rate, or at the instants of a trace."""
        return self.arrivals is not None or self.workload.kind == "trace"

    @property
    def connections(self) -> int:
        """Those that are open before the run: one for each user; more than requests would only be idle."""
        return min(UNCAPPED_CONNECTIONS if self.concurrency is None else self.concurrency, self.requests)
