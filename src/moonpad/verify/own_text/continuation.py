"""Asks the plain completions API what the model writes after a prompt, token by token."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from moonpad.load.openai_schema import Usage, completion_text, usage_of
from moonpad.values.errors import CheckFailed, ContactLost
from moonpad.verify.api import Api, Body
from moonpad.verify.envelope import prompt_ids
from moonpad.verify.own_text.kimi_text import THINK, THINK_END

TOP: Final = 5
RESYNC: Final = 8
"""Characters of the text that broken ones may take more than their tokens say."""
SAMPLING_FIELDS: Final = (
    "temperature",
    "top_p",
    "top_k",
    "min_p",
    "seed",
    "stop",
    "stop_token_ids",
    "include_stop_str_in_output",
    "logit_bias",
    "min_tokens",
    "presence_penalty",
    "frequency_penalty",
    "repetition_penalty",
)
"""Those that both APIs have, with the same meaning."""


@dataclass(frozen=True, slots=True)
class Token:
    """A token as text, and the likeliest ones at its place with their log-probabilities (natural)."""

    text: str
    likeliest: Mapping[str, float]

    @property
    def margin(self) -> float:
        """By how much the likeliest token leads, in nats; infinite without a second."""
        values = sorted(self.likeliest.values(), reverse=True)
        return values[0] - values[1] if len(values) > 1 else math.inf

    def rivals(self, within: float) -> list[str]:
        """Other tokens that are hardly less likely than the likeliest."""
        best = max(self.likeliest.values(), default=0.0)
        return [text for text, value in self.likeliest.items() if text != self.text and best - value < within]


@dataclass(frozen=True, slots=True)
class Continuation:
    """`tokens` is empty if the server gives no log-probabilities of them. `usage` as this API counts."""

    text: str
    finish_reason: str
    usage: Usage
    tokens: tuple[Token, ...] = ()
    prompt_ids: tuple[int, ...] = ()
    """Empty if the server does not give them."""

    @property
    def reasoning_tokens(self) -> int | None:
        """Between the tags; None where they are not known, or the thinking has no end."""
        texts = [token.text for token in self.tokens]
        if THINK_END not in texts:
            return None
        return texts.index(THINK_END) - (1 if texts[0] == THINK else 0)

    def token_at(self, character: int) -> int | None:
        """The place of the token that has this character of the text, or of the end token just behind it; None where
        that is not known."""
        starts = self.starts()
        return max((place for place, start in enumerate(starts) if start <= character), default=None)

    def starts(self) -> tuple[int, ...]:
        """Where in the text each token begins, as far as that can be told: a token may be a part of a character, which
        shows as another sign in the text than in the token."""
        starts, at = [], 0
        for token in self.tokens:
            found = next((place for place in range(at, at + RESYNC) if self.text.startswith(token.text, place)), None)
            if token.text and found is None and at < len(self.text):
                break
            at = found if token.text and found is not None else at
            starts.append(at)
            at += len(token.text)
        return tuple(starts)


class NoCompletions(Exception):
    """The endpoint cannot be asked for the model's own text; the message says why. `ever`: not for any request."""

    def __init__(self, why: str, *, ever: bool = False) -> None:
        super().__init__(why)
        self.ever = ever


async def continue_prompt(
    api: Api, prompt: str | Sequence[int], body: Body, limit: int, *, with_prompt_ids: bool = False
) -> Continuation:
    """At most `limit` tokens, by the sampling fields of a chat request. `with_prompt_ids`: and the prompt's own tokens.

    Raises:
        NoCompletions: it has no such API, refuses the request, or does not answer in its shape.
    """
    fields = {name: body[name] for name in SAMPLING_FIELDS if body.get(name) is not None}
    request = {
        **fields,
        "prompt": prompt,
        "max_tokens": limit,
        "skip_special_tokens": False,
        "add_special_tokens": False,
        "logprobs": TOP,
        **({"return_token_ids": True} if with_prompt_ids else {}),
    }
    try:
        reply = await api.post("/completions", request)
        if reply.status in (400, 422):
            reply = await api.post("/completions", {**request, "logprobs": None})
    except (ContactLost, CheckFailed) as error:
        raise NoCompletions(error.message) from error
    if reply.status in (404, 405):
        raise NoCompletions("there is no /v1/completions", ever=True)
    document = reply.json()
    text = completion_text(document)
    if reply.status != 200 or text is None:
        raise NoCompletions(f"/v1/completions: {reply.because}", ever=reply.status in (401, 403))
    choice: Any = document["choices"][0] if isinstance(document, dict) else {}
    finish = choice.get("finish_reason")
    end = finish if isinstance(finish, str) else ""
    return Continuation(text, end, usage_of(document), _tokens(choice), prompt_ids(choice))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def _tokens(choice: Mapping[str, Any]) -> tuple[Token, ...]:
    rows = choice.get("logprobs")
    names = rows.get("tokens") if isinstance(rows, dict) else None
    tops = rows.get("top_logprobs") if isinstance(rows, dict) else None
    if not isinstance(names, list) or not isinstance(tops, list) or len(names) != len(tops):
        return ()
    tokens = []
    for name, top in zip(names, tops, strict=True):
        if not isinstance(name, str) or not isinstance(top, dict):
            return ()
        tokens.append(Token(name, {text: value for text, value in top.items() if _is_number(value)}))
    return tuple(tokens)
