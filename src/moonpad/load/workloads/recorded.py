"""Files of requests that others recorded: chats in the ShareGPT format, traces in Mooncake's.

ShareGPT: a JSON list of `{"conversations": [{"from": "human" or "gpt", "value": …}, …]}`
(https://github.com/vllm-project/vllm/tree/main/benchmarks). Mooncake: a JSON line a request, `timestamp` in
milliseconds, `input_length`, `output_length`, and `hash_ids`, one for each 512 tokens of the prompt; requests with the
same ids share that part of it (https://github.com/kvcache-ai/Mooncake, FAST25-release).
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import orjson

from moonpad.spec.input_file import read_regular
from moonpad.spec.json_input import load_json
from moonpad.values.errors import UsageError

BLOCK_TOKENS: Final = 512
FILE_BYTES: Final = 1 << 30
"""ShareGPT_V3_unfiltered, which benchmarks use, has 642 MB."""
CHATS_MEMORY_BYTES: Final = 4 * FILE_BYTES
TRACE_LINE: Final = 'a line is {"timestamp": 0, "input_length": 6758, "output_length": 500, "hash_ids": [0, 1]}'
USERS: Final = ("human", "user")
MODELS: Final = ("gpt", "assistant", "chatgpt", "bing", "bard")


@dataclass(frozen=True, slots=True)
class Chat:
    """Questions and the recorded answer to each."""

    questions: tuple[str, ...]
    answers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TraceRow:
    """One request of a trace; `at_s` counts from its first. `blocks`: a number for each 512 tokens of the prompt."""

    at_s: float
    input_tokens: int
    output_tokens: int
    blocks: tuple[int, ...]


def digest_of(file: Path) -> str:
    """SHA-256 of the file.

    Raises:
        UsageError: it cannot be read.
    """
    return hashlib.sha256(_read(file)).hexdigest()


@lru_cache(maxsize=2)
def read_chats(file: Path, digest: str, turns: int = 1) -> tuple[Chat, ...]:
    """The chats of at least `turns` questions.

    Raises:
        UsageError: the file does not have this digest, or has no chat.
    """
    try:
        rows = load_json(_same(file, digest), CHATS_MEMORY_BYTES)
    except ValueError as error:
        raise UsageError(f"{file} is not JSON: {error}", remedy="use a file in the ShareGPT format") from error
    chats = [chat for row in (rows if isinstance(rows, list) else ()) if (chat := _chat(row)) is not None]
    if not chats:
        raise UsageError(f"{file} has no conversation", remedy='[{"conversations": [{"from": "human", "value": "…"}]}]')
    long_enough = tuple(chat for chat in chats if len(chat.questions) >= turns)
    if not long_enough:
        most = max(len(chat.questions) for chat in chats)
        raise UsageError(f"{file} has no conversation of {turns} turns", remedy=f"give --turns {most} or less")
    return long_enough


@lru_cache(maxsize=2)
def read_trace(file: Path, digest: str) -> tuple[TraceRow, ...]:
    """The requests, sorted by time.

    Raises:
        UsageError: the file does not have this digest, or a line is not a request.
    """
    rows = [_row(line, f"{file}, line {number}") for number, line in _numbered(_same(file, digest).splitlines())]
    if not rows:
        raise UsageError(f"{file} has no request", remedy=TRACE_LINE)
    rows.sort(key=lambda row: row.at_s)
    first_s = rows[0].at_s
    return tuple(TraceRow(row.at_s - first_s, row.input_tokens, row.output_tokens, row.blocks) for row in rows)


def _chat(row: Any) -> Chat | None:
    """The pairs of question and answer at its beginning; None if there are none."""
    rows = row.get("conversations") or row.get("conversation") if isinstance(row, dict) else None
    turns = [turn for turn in rows if isinstance(turn, dict)] if isinstance(rows, list) else []
    turns = turns[1:] if turns and turns[0].get("from") == "system" else turns
    questions, answers = [], []
    for question, answer in zip(turns[::2], turns[1::2], strict=False):
        texts = question.get("value"), answer.get("value")
        if question.get("from") not in USERS or answer.get("from") not in MODELS or not all(map(_is_text, texts)):
            break
        questions.append(str(texts[0]))
        answers.append(str(texts[1]))
    return Chat(tuple(questions), tuple(answers)) if questions else None


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _numbered(lines: Sequence[bytes]) -> Iterable[tuple[int, bytes]]:
    return ((number, line) for number, line in enumerate(lines, 1) if line.strip())


def _row(line: bytes, place: str) -> TraceRow:
    try:
        row = orjson.loads(line)
        at_ms, inputs, outputs = row["timestamp"], row["input_length"], row["output_length"]
        blocks = tuple(row.get("hash_ids") or ())
        valid = all(isinstance(count, int) for count in (inputs, outputs, *blocks)) and math.isfinite(at_ms)
        if valid and inputs >= 1 and outputs >= 0:
            return TraceRow(at_ms / 1000, inputs, max(1, outputs), blocks)
    except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError):
        pass
    raise UsageError(f"{place} is not a request of a trace", remedy=TRACE_LINE)


def _same(file: Path, digest: str) -> bytes:
    data = _read(file)
    if (actual := hashlib.sha256(data).hexdigest()) != digest:
        raise UsageError(
            f"{file} is not the file of this run: SHA-256 {actual[:12]}, not {digest[:12]}", remedy="start a new run"
        )
    return data


def _read(file: Path) -> bytes:
    try:
        return read_regular(file, FILE_BYTES)
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror or error}", remedy="--dataset KIND:FILE") from error
