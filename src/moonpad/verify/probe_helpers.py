"""Questions and conclusions that several probes share."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from typing import Any, Final

from moonpad.load.openai_schema import Broken, Delta, Done, Malformed, Message, Reply
from moonpad.values.errors import ContactLost
from moonpad.values.finding import Code
from moonpad.verify.api import Api, Body
from moonpad.verify.probe import Outcome, ProbeEnded, failed

ANSWER_TOKENS: Final = 1024
"""Room for the thinking of a real Kimi on the questions asked here, and half of the context of the smallest one."""

# Special tokens of the family, and Kimi-K2.5's for media: all that a tokenizer writes as <|name|>, and the old four.
SPECIAL_TOKEN: Final = re.compile(r"<\|[a-z_]{2,40}\|>|\[(?:BOS|EOS|EOT|PAD|UNK)\]")
THINK_TAG: Final = re.compile(r"</?think>")
CALCULATION: Final = "What is 84 * 3 / 2?"

LOOK_AT_LOG: Final = "look for the first error in the engine's log: moonpad logs"
FIELD_DROPPED: Final = "ask the engine directly: a gateway may drop the field"
USAGE_CHANGED: Final = "ask the engine directly: a gateway may drop or change usage"


def greedy(question: str, **more: object) -> dict[str, Any]:
    """A chat of one question, decoded greedily."""
    messages = [{"role": "user", "content": question}]
    return {"messages": messages, "temperature": 0, "max_tokens": ANSWER_TOKENS, **more}


async def ask(api: Api, body: Body, *, answer_s: float | None = None) -> Message:
    """The answer to a chat.

    Raises:
        ProbeEnded: an HTTP error, or an answer of another shape.
    """
    answer = await api.chat(body, answer_s=answer_s)
    if isinstance(answer, Message):
        return answer
    raise ProbeEnded(no_answer(api, answer))


def no_answer(api: Api, answer: Malformed | Reply) -> Outcome:
    """The outcome of a chat that was refused or answered in another shape."""
    where = "/v1/chat/completions"
    if isinstance(answer, Malformed):
        message = f"the answer is not a chat completion: {answer.because}"
        return failed(Code.WRONG_ANSWER, where, message, "check that the address is that of an OpenAI API")
    if answer.status in (401, 403):
        message = f"the endpoint refused the key (HTTP {answer.status}: {answer.error_text()})"
        return failed(Code.KEY_MISSING, where, message, "name the variable that holds the key: --key-env VAR")
    if answer.status == 404:
        message = f"the endpoint has no model {api.endpoint.model!r} (HTTP 404: {answer.error_text()})"
        remedy = "give a name that /v1/models lists: --model NAME; or start the engine with --served-model-name"
        return failed(Code.MODEL_NAME, where, message, remedy)
    return failed(Code.WRONG_ANSWER, where, answer.because, LOOK_AT_LOG)


def special_tokens_in(*texts: str) -> tuple[str, ...]:
    """Special tokens that a reader would see, each once."""
    return tuple(dict.fromkeys(token for text in texts for token in SPECIAL_TOKEN.findall(text)))


def completion_tokens(answer: Message) -> int | None:
    """The generated tokens, as `usage` counts them."""
    return answer.usage.completion_tokens if answer.usage else None


async def prompt_tokens(api: Api, messages: Sequence[Mapping[str, object]], **more: object) -> int:
    """The server's own count of a conversation's tokens, by a chat that generates one token.

    Raises:
        ProbeEnded: there is no answer, or no count in it.
    """
    answer = await ask(api, {"messages": list(messages), "temperature": 0, "max_tokens": 1, **more})
    tokens = answer.usage.prompt_tokens if answer.usage else None
    if tokens is None:
        raise ProbeEnded(failed(Code.WRONG_ANSWER, "usage", "usage is missing", USAGE_CHANGED))
    return tokens


async def tokenize(api: Api, **fields: object) -> Mapping[str, object]:
    """The answer of the server's own tokenizer; empty where it has no such path."""
    try:
        reply = await api.post_root("/tokenize", fields)
    except ContactLost:
        return {}
    document = reply.json()
    return document if reply.status == 200 and isinstance(document, dict) else {}


async def events_of(api: Api, body: Body, remedy: str) -> AsyncGenerator[Delta | Done]:
    """
    Raises:
        ProbeEnded: the stream was refused or broken.
    """
    async with aclosing(api.stream(body)) as events:
        async for event in events:
            if isinstance(event, Reply):
                raise ProbeEnded(no_answer(api, event))
            if isinstance(event, Broken):
                raise ProbeEnded(failed(Code.STREAM_BROKEN, "stream", event.because, remedy))
            yield event
