"""Why a request failed. A failure costs its own request and never the run."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from moonpad.values.errors import CheckFailed

TEXT_LIMIT: Final = 2000


class FailureKind(StrEnum):
    """The closed list by which failures are counted."""

    CONNECTION_REFUSED = "connection-refused"
    CONNECT_TIMEOUT = "connect-timeout"
    CONNECT_FAILED = "connect-failed"
    TLS = "tls"
    FIRST_BYTE_TIMEOUT = "first-byte-timeout"
    FIRST_TOKEN_TIMEOUT = "first-token-timeout"  # noqa: S105 - a kind of failure, no password
    BETWEEN_TOKENS_TIMEOUT = "between-tokens-timeout"
    TOTAL_TIMEOUT = "total-timeout"
    HTTP_STATUS = "http-status"
    BAD_HTTP = "bad-http"
    NOT_A_STREAM = "not-a-stream"
    STREAM_CUT = "stream-cut"
    STREAM_ERROR = "stream-error"
    INVALID_UTF8 = "invalid-utf8"
    INVALID_JSON = "invalid-json"
    TOO_LARGE = "too-large"
    TOO_MANY_TOKENS = "too-many-tokens"
    BAD_USAGE = "bad-usage"
    NO_TOKENS = "no-tokens"


@dataclass(frozen=True, slots=True)
class RequestFailure:
    """`text` is what the server or the system said, cut at `TEXT_LIMIT`; `status` is the HTTP status, 0 without one."""

    kind: FailureKind
    text: str
    status: int = 0

    @property
    def label(self) -> str:
        """What failures are counted by: the kind, and for a refused request its status (`http-429`)."""
        return f"http-{self.status}" if self.kind is FailureKind.HTTP_STATUS else str(self.kind)


class RequestFailed(CheckFailed):
    """One request failed. The client turns it into the request's record."""

    def __init__(self, kind: FailureKind, text: str, *, status: int = 0) -> None:
        super().__init__(f"{kind}: {text}")
        self.failure = RequestFailure(kind, text[:TEXT_LIMIT], status)
