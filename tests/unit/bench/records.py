"""Records with known times."""

from pathlib import Path

from moonpad.bench.run_files import REQUESTS_FILE
from moonpad.bench.saved_records import SavedRecords
from moonpad.load.failure import RequestFailure
from moonpad.load.record import RequestRecord


def record(
    index: int = 0,
    *,
    scheduled_s: float = 0.0,
    tokens_at_s: tuple[float, ...] = (1.0, 1.5, 2.0),
    ended_s: float | None = None,
    output_tokens: int | None = None,
    prompt_tokens: int | None = 11,
    answer_s: float | None = None,
    failure: RequestFailure | None = None,
) -> RequestRecord:
    ended = ended_s if ended_s is not None else tokens_at_s[-1] if tokens_at_s else scheduled_s
    return RequestRecord(
        index=index,
        scheduled_s=scheduled_s,
        started_s=scheduled_s,
        head_s=scheduled_s,
        first_token_s=tokens_at_s[0] if tokens_at_s else None,
        first_answer_s=answer_s,
        token_times_s=tokens_at_s,
        ended_s=ended,
        closed_s=ended,
        requested_input_tokens=10,
        requested_output_tokens=64,
        prompt_tokens=prompt_tokens,
        output_tokens=len(tokens_at_s) if output_tokens is None else output_tokens,
        output_tokens_from="chunks" if output_tokens is None else "usage",
        reasoning_tokens=None,
        reasoning_chunks=0,
        content_chunks=len(tokens_at_s),
        tool_call_chunks=0,
        finish_reason="length",
        failure=failure,
    )


def read_records(folder: Path) -> tuple[RequestRecord, ...]:
    return tuple(SavedRecords(folder / REQUESTS_FILE))
