"""What to measure, and how quick a good answer is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from moonpad.load.arrivals import Arrivals
from moonpad.load.deadlines import RequestDeadlines
from moonpad.load.lengths import MOST as MOST_TOKENS
from moonpad.load.lengths import Lengths, check_bounds, fixed
from moonpad.load.record import RequestRecord
from moonpad.load.request_builder import Api
from moonpad.load.workloads.workload import RANDOM, Workload
from moonpad.values.errors import UsageError
from moonpad.values.records import as_dict

UNCAPPED_CONNECTIONS: Final = 16
"""Connections opened before an uncapped open loop; more are opened shortly before they are needed."""


@dataclass(frozen=True, slots=True)
class Slo:
    """The latency limits of a good request; good requests a second are the goodput (DistServe, arXiv 2401.09670).

    Seconds, counted from the scheduled instant; None: no limit. A request of one token keeps any TPOT."""

    ttft_s: float | None = None
    tpot_s: float | None = None
    e2el_s: float | None = None

    @property
    def given(self) -> bool:
        return bool(self.as_json())

    def keeps(self, record: RequestRecord) -> bool:
        """Whether a request that succeeded is within every limit."""
        pairs = ((record.ttft_s, self.ttft_s), (record.tpot_s or 0.0, self.tpot_s), (record.e2el_s, self.e2el_s))
        return record.ok and all(limit is None or (value is not None and value <= limit) for value, limit in pairs)

    def as_json(self) -> dict[str, float]:
        return {name: limit for name, limit in as_dict(self).items() if limit is not None}


BOUNDS: Final = {
    "input_tokens": (1, MOST_TOKENS),
    "output_tokens": (1, MOST_TOKENS),
    "requests": (1, 1_000_000),
    "concurrency": (1, 100_000),
    "warmup": (0, 1_000_000),
    "workers": (1, 256),
    "seed": (-(2**63), 2**63 - 1),
    "temperature": (0, 1_000),
}
"""The least and the most of each field that is a number: a larger one is a slip, and would take all memory."""
NO_LIMITS: Final = Slo()


@dataclass(frozen=True, slots=True)
class BenchConfig:
    """`input_tokens` includes the chat template; `output_tokens` is a limit, always reached with `ignore_eos`. A
    workload from a file has its own input lengths, and its own output lengths where `output_tokens` is None.

    requests: in all; each turn of a conversation is one.
    arrivals: None is a closed loop of `concurrency` users; otherwise `concurrency` caps the requests in flight.
    workers: client processes that share the load.
    measure_client: after the run, measure the client's own error under the same load.
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
    deadlines: RequestDeadlines = field(default_factory=RequestDeadlines)

    def __post_init__(self) -> None:
        for name, bounds in BOUNDS.items():
            if isinstance(value := getattr(self, name), int | float):
                check_bounds(name, value, *bounds)
        if self.concurrency is None and not self.paced:
            raise UsageError("neither --concurrency nor --rate is given", remedy="give one of them, or both")
        if self.output_tokens is None and not self.workload.file:
            raise UsageError(
                "--output-tokens is not given", remedy="give the length of the answers: --output-tokens 64"
            )
        if self.api == "completions" and (self.workload.turns > 1 or self.workload.kind == "agent"):
            raise UsageError(
                "a conversation needs messages, which --api completions does not send", remedy="use --api chat"
            )

    @property
    def input_lengths(self) -> Lengths:
        return fixed(self.input_tokens) if isinstance(self.input_tokens, int) else self.input_tokens

    @property
    def output_lengths(self) -> Lengths:
        """
        Raises:
            ValueError: the file has them.
        """
        if self.output_tokens is None:
            raise ValueError("the lengths are the file's")
        return fixed(self.output_tokens) if isinstance(self.output_tokens, int) else self.output_tokens

    @property
    def requested_output(self) -> int | str:
        return "the file's" if self.output_tokens is None else self.output_lengths.requested

    @property
    def requested_input(self) -> int | str:
        return "the file's" if self.workload.file else self.input_lengths.requested

    @property
    def paced(self) -> bool:
        """An open loop: requests arrive at a rate or at the instants of a trace, whatever the server does."""
        return self.arrivals is not None or self.workload.kind == "trace"

    @property
    def connections(self) -> int:
        """Connections opened before the run: one for each user, and no more than requests."""
        return min(UNCAPPED_CONNECTIONS if self.concurrency is None else self.concurrency, self.requests)
