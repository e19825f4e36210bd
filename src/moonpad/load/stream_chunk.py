"""One event of a streamed answer: the kind of token that it carries, its finish reason and usage."""

from __future__ import annotations

from typing import Any, NamedTuple

import orjson

from moonpad.load.failure import FailureKind, RequestFailed
from moonpad.load.openai_schema import Usage, error_of, read_usage


class Chunk(NamedTuple):
    """Which kinds of delta were not empty, and what came with them.

    wordless: an empty text and nothing else; within an answer, a token that is only a part of a character.
    """

    reasoning: bool
    content: bool
    tool_calls: bool
    finish_reason: str | None
    usage: Usage | None
    wordless: bool = False

    @property
    def bears_tokens(self) -> bool:
        return self.reasoning or self.content or self.tool_calls


def parse_chunk(payload: bytes) -> Chunk:
    """
    Raises:
        RequestFailed: the payload is an error of the server, or not a chunk of a chat or text completion.
    """
    document = _decode(payload)
    try:
        return chunk_of(document)
    except (AttributeError, TypeError) as error:
        raise RequestFailed(FailureKind.INVALID_JSON, f"not a chunk of a completion: {_shown(payload)}") from error


def chunk_of(document: dict[str, Any]) -> Chunk:
    """
    Raises:
        RequestFailed: it is an error of the server.
        AttributeError, TypeError: it is not a chunk.
    """
    if document.get("error") or document.get("object") == "error":
        message = error_of(document) or orjson.dumps(document.get("error") or document).decode()
        raise RequestFailed(FailureKind.STREAM_ERROR, message)
    reasoning = content = tool_calls = text = False
    finish_reason = None
    for choice in document.get("choices") or ():
        delta = choice.get("delta") or {}
        # vLLM says `reasoning`, SGLang and Moonshot's own API `reasoning_content`; text completions have `text`.
        reasoning = reasoning or bool(delta.get("reasoning") or delta.get("reasoning_content"))
        content = content or bool(delta.get("content") or choice.get("text"))
        tool_calls = tool_calls or bool(delta.get("tool_calls"))
        text = text or "" in (delta.get("content"), delta.get("reasoning"), choice.get("text"))
        finish_reason = choice.get("finish_reason") or finish_reason
    wordless = text and not (reasoning or content or tool_calls or finish_reason)
    return Chunk(reasoning, content, tool_calls, finish_reason, _usage(document), wordless)


def _usage(document: dict[str, Any]) -> Usage | None:
    usage = document.get("usage")
    if usage and not isinstance(usage, dict):
        raise TypeError("usage is not an object")
    return read_usage(usage) if usage else None


def _decode(payload: bytes) -> dict[str, Any]:
    try:
        document = orjson.loads(payload)
    except orjson.JSONDecodeError as error:
        kind = FailureKind.INVALID_JSON if _is_utf8(payload) else FailureKind.INVALID_UTF8
        raise RequestFailed(kind, f"{error}: {_shown(payload)}") from error
    if not isinstance(document, dict):
        raise RequestFailed(FailureKind.INVALID_JSON, f"not a JSON object: {_shown(payload)}")
    return document


def _is_utf8(payload: bytes) -> bool:
    try:
        payload.decode()
    except UnicodeDecodeError:
        return False
    return True


def _shown(payload: bytes) -> str:
    return payload[:200].decode(errors="replace")
