"""Asks an endpoint for the log-probabilities of the texts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Annotated

import msgspec

from moonpad.load.openai_schema import Malformed, usage_of
from moonpad.values.errors import CheckFailed
from moonpad.verify.api import Api
from moonpad.verify.numerics.compare import Scored

_Logprob = Annotated[float, msgspec.Meta(ge=-1e6, le=0.01)]
"""Natural; engines write -9999 for none. Rounding may take that of a certain token above 0."""


async def score_apart(api: Api, texts: Mapping[str, str], on_text: Callable[[str], None]) -> dict[str, Scored]:
    """One text after the other: each is a batch of its own."""
    answers = {}
    for name, text in texts.items():
        on_text(name)
        answers[name] = await _score(api, text)
    return answers


async def score_together(api: Api, texts: Mapping[str, str], on_text: Callable[[str], None]) -> dict[str, Scored]:
    """All at once: other batches, so the same sums in another order. The difference from `score_apart` is noise."""
    on_text("all at once")
    return dict(zip(texts, await asyncio.gather(*(_score(api, text) for text in texts.values())), strict=True))


async def _score(api: Api, text: str) -> Scored:
    """
    Raises:
        CheckFailed: the endpoint gives no log-probabilities of a prompt.
        ContactLost: nothing answers.
    """
    body = {
        "prompt": text,
        "max_tokens": 1,
        "temperature": 0,
        "echo": True,
        "logprobs": 1,
        # vLLM: two tokens of the same text are two tokens. Others leave the key alone and name tokens by their text.
        "return_tokens_as_token_ids": True,
    }
    reply = await api.post("/completions", body)
    scored = read_scored(reply.json()) if reply.status == 200 else reply
    if not isinstance(scored, Scored):
        raise CheckFailed(
            f"/completions with echo and logprobs: {scored.because}",
            remedy="an engine that gives no log-probabilities of prompts cannot be compared this way",
        )
    return scored


class _Logprobs(msgspec.Struct):
    tokens: list[str | int]
    token_logprobs: list[_Logprob | None]
    top_logprobs: list[dict[str, float] | None]


class _Choice(msgspec.Struct):
    logprobs: _Logprobs


class _Answer(msgspec.Struct):
    choices: Annotated[list[_Choice], msgspec.Meta(min_length=1)]


def read_scored(answer: object) -> Scored | Malformed:
    """Of the legacy completions API with `echo` and `logprobs`: what was generated after the prompt is left out."""
    try:
        rows = msgspec.convert(answer, _Answer).choices[0].logprobs
    except msgspec.ValidationError as error:
        return Malformed(f"no log-probabilities of the prompt: {str(error)[:200]}")
    count = usage_of(answer).prompt_tokens or 0
    logprobs = [value for value in rows.token_logprobs[1:count] if value is not None]
    likeliest = [max(top, key=top.__getitem__) for top in rows.top_logprobs[1:count] if top]
    if count < 1 or len(rows.tokens) < count or not len(logprobs) == len(likeliest) == count - 1:
        return Malformed(f"log-probabilities of {len(logprobs) + 1} of {count} tokens of the prompt")
    return Scored(tuple(map(str, rows.tokens[:count])), tuple(round(value, 6) for value in logprobs), tuple(likeliest))
