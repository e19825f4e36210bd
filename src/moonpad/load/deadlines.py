"""How long each phase of a request may take."""

from __future__ import annotations

from dataclasses import dataclass

from moonpad.load.failure import FailureKind
from moonpad.values.records import replace


@dataclass(frozen=True, slots=True)
class RequestDeadlines:
    """Seconds. The defaults let a deep queue pass and end what hangs.

    connect_s: until the connection is open (TLS included).
    first_byte_s: from there until the response head is whole.
    first_token_s: from the head to the first token; a server's queue and its prefill are in here.
    between_tokens_s: between two tokens, and from the last token to the end of the stream.
    total_s: from sending to the end.
    """

    connect_s: float = 10.0
    first_byte_s: float = 1800.0
    first_token_s: float = 1800.0
    between_tokens_s: float = 300.0
    total_s: float = 21600.0

    def within(self, most_s: float | None) -> RequestDeadlines:
        """The same, with at most `most_s` for a whole answer; None changes nothing."""
        if most_s is None:
            return self
        return replace(self, connect_s=min(self.connect_s, most_s), total_s=min(self.total_s, most_s))

    @property
    def shortest_s(self) -> float:
        """The shortest deadline of a request that was sent."""
        return min(self.first_byte_s, self.first_token_s, self.between_tokens_s, self.total_s)

    def next_due(self, sent_s: float, head_s: float | None, last_token_s: float | None) -> tuple[float, FailureKind]:
        """The instant at which a request in this phase has failed, and as what."""
        if head_s is None:
            phase = sent_s + self.first_byte_s, FailureKind.FIRST_BYTE_TIMEOUT
        elif last_token_s is None:
            phase = head_s + self.first_token_s, FailureKind.FIRST_TOKEN_TIMEOUT
        else:
            phase = last_token_s + self.between_tokens_s, FailureKind.BETWEEN_TOKENS_TIMEOUT
        return min(phase, (sent_s + self.total_s, FailureKind.TOTAL_TIMEOUT), key=lambda due: due[0])
