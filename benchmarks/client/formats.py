"""The events of five kinds of server, one for each token: what differs from event to event differs here too."""

from __future__ import annotations

import json
from typing import Any, Final

VARIANTS: Final = 8
"""Answers that differ; streams take them in turn."""
WORDS: Final = (
    " four",
    " of",
    " the",
    " experts",
    " are",
    " quick",
    ",",
    " 12",
    " and",
    " Moonshot",
    "é",
    ' "quoted"',
    "\n",
)
TOP: Final = 5


def event(payload: bytes) -> bytes:
    """One HTTP chunk."""
    data = b"data: " + payload + b"\n\n"
    return b"%x\r\n%s\r\n" % (len(data), data)


def _chunk(answer: int, choice: dict[str, Any], **more: Any) -> bytes:
    common = {"id": f"chatcmpl-{answer:032x}", "object": "chat.completion.chunk", "created": 1763940000 + answer}
    document = {**common, "model": "kimi-k2", "choices": [{"index": 0, **choice}], **more}
    return event(json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode())


def _vllm(answer: int, number: int, word: str) -> bytes:
    return _chunk(answer, {"delta": {"content": word}, "logprobs": None, "finish_reason": None, "token_ids": None})


def _sglang(answer: int, number: int, word: str) -> bytes:
    delta = {"role": None, "content": word, "reasoning_content": None, "tool_calls": None}
    choice = {"delta": delta, "logprobs": None, "finish_reason": None, "matched_stop": None}
    return _chunk(answer, choice, usage=None)


def _changing(answer: int, number: int, word: str) -> bytes:
    """A usage that grows with every token, and padding of changing length as OpenAI's own API has it."""
    usage = {"prompt_tokens": 12, "completion_tokens": number + 1, "total_tokens": 13 + number}
    padding = f"{hash((answer, number)) & 0xFFFFFFFFFFFF:x}"[: 1 + (answer + number) % 11]
    choice = {"delta": {"content": word}, "logprobs": None, "finish_reason": None}
    return _chunk(answer, choice, usage=usage, obfuscation=padding)


def _logprobs(answer: int, number: int, word: str) -> bytes:
    """With the likeliest tokens, and token ids."""

    def row(rank: int) -> dict[str, Any]:
        token = WORDS[(number + rank) % len(WORDS)]
        return {"token": token, "logprob": -0.0123 * (answer + 1) - rank, "bytes": list(token.encode())}

    content = [{**row(0), "top_logprobs": [row(rank) for rank in range(TOP)]}]
    choice = {"delta": {"content": word}, "logprobs": {"content": content}, "finish_reason": None}
    return _chunk(answer, {**choice, "token_ids": [1000 * answer + number]})


def _tools(answer: int, number: int, word: str) -> bytes:
    """The arguments of a tool call, piece by piece; the first event has its name."""
    call: dict[str, Any] = {"index": 0, "function": {"arguments": word}}
    if number == 0:
        function = {"name": "get_weather", "arguments": ""}
        call = {"id": f"functions.get_weather:{answer}", "type": "function", "index": 0, "function": function}
    choice = {"delta": {"tool_calls": [call]}, "logprobs": None, "finish_reason": None}
    return _chunk(answer, choice)


FORMATS: Final = {
    "vllm": _vllm, "sglang": _sglang, "changing": _changing, "logprobs": _logprobs, "tools": _tools,
}  # fmt: skip


def answers(name: str, tokens: int) -> list[list[bytes]]:
    """Of each variant, an HTTP chunk a token."""
    make = FORMATS[name]
    return [
        [make(answer, number, WORDS[(answer + number) % len(WORDS)]) for number in range(tokens)]
        for answer in range(VARIANTS)
    ]


def beginning() -> bytes:
    """The event before the first token."""
    return _chunk(0, {"delta": {"role": "assistant", "content": ""}, "logprobs": None, "finish_reason": None})


def ending(tokens: int) -> bytes:
    """The events after the last token, and the end of the body."""
    usage = {"prompt_tokens": 12, "completion_tokens": tokens, "total_tokens": 12 + tokens}
    last = event(json.dumps({"choices": [], "usage": usage}, separators=(",", ":")).encode())
    finish = _chunk(0, {"delta": {}, "logprobs": None, "finish_reason": "length"})
    return finish + last + event(b"[DONE]") + b"0\r\n\r\n"
