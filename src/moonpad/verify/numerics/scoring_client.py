"""Asks an endpoint for the log-probabilities of the texts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from itertools import islice
from typing import Any

from moonpad.load.openai_schema import Malformed
from moonpad.values.errors import CheckFailed
from moonpad.verify.api import Api
from moonpad.verify.numerics.compare import Scored


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


def read_scored(answer: Any) -> Scored | Malformed:
    """Of the legacy completions API with `echo` and `logprobs`: what was generated after the prompt is left out."""
    try:
        rows = answer["choices"][0]["logprobs"]
        count = int(answer["usage"]["prompt_tokens"])
        tokens = tuple(map(str, rows["tokens"][:count]))
        logprobs = tuple(round(float(value), 6) for value in islice(rows["token_logprobs"], 1, count))
        likeliest = tuple(max(top, key=top.get) for top in islice(rows["top_logprobs"], 1, count))
    except (KeyError, IndexError, TypeError, ValueError) as error:
        return Malformed(f"no log-probabilities of the prompt: {type(error).__name__}: {error}")
    if len(tokens) != count or len(logprobs) != count - 1 or len(likeliest) != count - 1:
        return Malformed(f"log-probabilities of {len(logprobs) + 1} of {count} tokens of the prompt")
    return Scored(tokens, logprobs, likeliest)
