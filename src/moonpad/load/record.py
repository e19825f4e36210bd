"""One request before it is sent, and what is known of it after it has ended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from moonpad.load.failure import RequestFailure
from moonpad.load.openai_schema import Message


@dataclass(frozen=True, slots=True)
class LoadRequest:
    """One request, ready to be written: `wire` is the whole HTTP request. The tokens are those that were asked for."""

    index: int
    wire: bytes
    input_tokens: int
    output_tokens: int
    follow: Callable[[Message], LoadRequest] | None = None
    """In a conversation: the request that comes after this answer. Only then is the text of the answer kept."""


@dataclass(frozen=True, slots=True)
class RequestRecord:
    """Times are seconds of a monotonic clock since the run began. Latencies count from `scheduled_s`.

    scheduled_s: the instant at which the schedule wanted the request sent; `started_s` is when it was.
    queued_s, connect_s: of the time between, the wait for a slot under a cap, and the opening of a connection.
    head_s: the response head was complete.
    first_token_s: the first token of any kind (reasoning, content, tool call); `first_answer_s` the first of `content`.
    token_times_s: when each chunk that carried tokens arrived; a chunk may carry several tokens, or a part of one.
    wordless_chunks: those after the first whose text is empty, as for a token that is only a part of a character;
        `vllm bench serve` counts them too.
    ended_s: the last chunk that carried a token or the finish reason; for a failed request, the failure.
    closed_s: the exchange was over, and its slot free.
    output_tokens: the server's `usage` where it sent one, else the number of chunks (`output_tokens_from`).
    resent: it was sent a second time, because the server closed an idle connection under the first; the time until then
        counts in `connect_s`.
    prompt_tokens, reasoning_tokens: from `usage`; None where the server does not say.
    """

    index: int
    scheduled_s: float
    started_s: float
    head_s: float | None
    first_token_s: float | None
    first_answer_s: float | None
    token_times_s: tuple[float, ...]
    ended_s: float
    closed_s: float
    requested_input_tokens: int
    requested_output_tokens: int
    prompt_tokens: int | None
    output_tokens: int
    output_tokens_from: Literal["usage", "chunks"]
    reasoning_tokens: int | None
    reasoning_chunks: int
    content_chunks: int
    tool_call_chunks: int
    finish_reason: str | None
    failure: RequestFailure | None
    queued_s: float = 0.0
    connect_s: float = 0.0
    wordless_chunks: int = 0
    resent: bool = False

    @property
    def ok(self) -> bool:
        return self.failure is None

    @property
    def ttft_s(self) -> float | None:
        """Time to the first token of any kind."""
        return None if self.first_token_s is None else self.first_token_s - self.scheduled_s

    @property
    def answer_ttft_s(self) -> float | None:
        """Time to the first token of the answer, after the thinking."""
        return None if self.first_answer_s is None else self.first_answer_s - self.scheduled_s

    @property
    def e2el_s(self) -> float:
        """End-to-end latency."""
        return self.ended_s - self.scheduled_s

    @property
    def tpot_s(self) -> float | None:
        """Time per output token without the first: (E2EL - TTFT) / (n - 1). None below two tokens."""
        if self.first_token_s is None or self.output_tokens < 2:
            return None
        return (self.ended_s - self.first_token_s) / (self.output_tokens - 1)

    @property
    def itl_s(self) -> tuple[float, ...]:
        """The gaps between chunks that carried tokens: K chunks have K - 1."""
        times = self.token_times_s
        return tuple(later - earlier for earlier, later in pairwise(times))

    @property
    def slip_s(self) -> float:
        """The delay that the client itself added before sending."""
        return self.started_s - self.scheduled_s - self.queued_s - self.connect_s
