"""What several probes ask and conclude."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Final

from moonpad.load.wire import Broken, Delta, Done, Malformed, Message, Refused, Reply
from moonpad.values.errors import ContactLost
from moonpad.values.finding import Code
from moonpad.verify.api import Api, Body
from moonpad.verify.probe import Outcome, failed

ANSWER_TOKENS: Final = 1024
"""Room for the thinking of a real Kimi on the questions asked here, and half of the context of the smallest one."""

# Special tokens of the family, and Kimi-K2.5's for media: all that a tokenizer writes as <|name|>, and the old four.
SPECIAL_TOKEN: Final = re.compile(r"<\|[a-z_]{2,40}\|>|\[(?:BOS|EOS|EOT|PAD|UNK)\]")
THINK_TAG: Final = re.compile(r"</?think>")


def greedy(question: str, **more: object) -> Body:
    """A chat of one question, decoded greedily."""
    return {
        "messages": [{"role": "user", "content": question}],
        "temperature": 0,
        "max_tokens": ANSWER_TOKENS,
        **more,
    }


async def ask(api: Api, body: Body) -> Message | Outcome:
    """The answer to a chat, or the failure that an HTTP error or an answer of the wrong shape is."""
    answer = await api.chat(body)
    return answer if isinstance(answer, Message) else no_answer(api, answer)


def no_answer(api: Api, answer: Malformed | Reply) -> Outcome:
    """What a chat that was refused, or answered in another shape, means."""
    where = "/v1/chat/completions"
    if isinstance(answer, Malformed):
        message = f"the answer is no chat completion: {answer.because}"
        return failed(
            Code.WRONG_ANSWER, where, message, "check that the address is an OpenAI API, not a page before it"
        )
    if answer.status in (401, 403):
        message = f"the endpoint refused the key (HTTP {answer.status}: {answer.error_text()})"
        return failed(Code.KEY_MISSING, where, message, "name the variable that holds the key: --key-env VAR")
    if answer.status == 404:
        message = f"the endpoint knows no model {api.endpoint.model!r} (HTTP 404: {answer.error_text()})"
        remedy = "give a name that /v1/models lists: --model NAME; or start vLLM with --served-model-name"
        return failed(Code.MODEL_NAME, where, message, remedy)
    message = f"HTTP {answer.status}: {answer.error_text()}"
    return failed(Code.WRONG_ANSWER, where, message, "look for the first error in the engine's log: moonpad logs")


def special_tokens_in(*texts: str) -> tuple[str, ...]:
    """Special tokens that a reader would see, each once."""
    return tuple(dict.fromkeys(token for text in texts for token in SPECIAL_TOKEN.findall(text)))


async def prompt_tokens(api: Api, messages: Sequence[Mapping[str, object]], **more: object) -> int | Outcome:
    """How many tokens the server makes of a conversation, by its own count of a chat of one token."""
    answer = await ask(api, {"messages": list(messages), "temperature": 0, "max_tokens": 1, **more})
    if isinstance(answer, Outcome):
        return answer
    tokens = answer.usage.prompt_tokens if answer.usage else None
    if tokens is None:
        return failed(Code.WRONG_ANSWER, "usage", "usage is missing", "ask the engine itself: a gateway may drop it")
    return tokens


async def tokenize(api: Api, **fields: object) -> Mapping[str, object] | None:
    """What the server's own tokenizer says; None where it has no such path."""
    try:
        reply = await api.post_root("/tokenize", {"model": api.endpoint.model, **fields})
    except ContactLost:
        return None
    document = reply.json()
    return document if reply.status == 200 and isinstance(document, dict) else None


@dataclass(frozen=True, slots=True)
class Streamed:
    """A stream to its end; `done`: whether it said `[DONE]`."""

    deltas: tuple[Delta, ...]
    done: bool


async def collect(api: Api, body: Body) -> Streamed | Refused | Broken:
    """A whole stream, or what ended it."""
    deltas: list[Delta] = []
    done = False
    async with aclosing(api.stream(body)) as events:
        async for event in events:
            match event:
                case Delta():
                    deltas.append(event)
                case Done():
                    done = True
                case _:
                    return event
    return Streamed(tuple(deltas), done)
