"""How many random words make N input tokens, by the server's own count.

Our process holds no tokenizer. `POST /tokenize` counts a prompt without computing it; where a server has no such path,
a request of one token is sent and `usage.prompt_tokens` read. Both count the chat template too, as the engine does.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final, Literal

import orjson

from moonpad.load.chat import chat_body
from moonpad.load.fetch import Answer, fetch
from moonpad.load.prompts import random_prompt
from moonpad.load.target import Target
from moonpad.values.errors import CheckFailed

ROUNDS: Final = 5
FIRST_WORDS: Final = (8, 40)
TIMEOUT_S: Final = 600.0
Counted = Callable[[int, int], Awaitable[int]]


@dataclass(frozen=True, slots=True)
class Calibration:
    """`words` words gave `tokens` input tokens in the last trial; `judge` is who counted. `slope`: tokens a word."""

    words: int
    tokens: int
    judge: Literal["/tokenize", "usage"]
    slope: float = 1.0

    def words_of(self, tokens: int) -> int:
        """For another length: from the trial on, a word more for each `slope` tokens."""
        return max(1, self.words + round((tokens - self.tokens) / self.slope))


async def calibrate(target: Target, model: str, *, input_tokens: int, seed: int) -> Calibration:
    """
    Raises:
        CheckFailed: the server refuses a plain request, or counts no tokens.
        RequestFailed: the server does not answer.
    """
    server = _Server(target, model, seed)
    judge: Literal["/tokenize", "usage"] = "/tokenize" if await server.tokenizes() else "usage"
    count = server.by_tokenize if judge == "/tokenize" else server.by_usage
    words, tokens, slope = await words_for(input_tokens, count)
    return Calibration(words, tokens, judge, slope)


async def words_for(input_tokens: int, count: Counted) -> tuple[int, int, float]:
    """`(words, tokens, tokens a word)` whose count is nearest to `input_tokens`. `count(index, words)` asks the server.

    Two small trials give the tokens a word and the template's own; each later trial starts from the last count.
    """
    small, large = FIRST_WORDS
    tokens_small, tokens_large = await count(-1, small), await count(-2, large)
    slope = max((tokens_large - tokens_small) / (large - small), 0.1)
    trials = {small: tokens_small, large: tokens_large}
    words, tokens = small, tokens_small
    for trial in range(ROUNDS):
        words = max(1, words + round((input_tokens - tokens) / slope))
        if words in trials:
            break
        tokens = trials[words] = await count(-3 - trial, words)
    nearest, counted = min(trials.items(), key=lambda entry: abs(entry[1] - input_tokens))
    return nearest, counted, slope


@dataclass(frozen=True, slots=True)
class _Server:
    target: Target
    model: str
    seed: int

    async def tokenizes(self) -> bool:
        answer = await self._tokenize(-1, FIRST_WORDS[0])
        return answer.status == 200 and _count_in(answer.json, "count") is not None

    async def by_tokenize(self, index: int, words: int) -> int:
        return self._counted(await self._tokenize(index, words), "count")

    async def by_usage(self, index: int, words: int) -> int:
        body = chat_body(self.model, random_prompt(self.seed, index, words), 1)
        body = {key: value for key, value in body.items() if not key.startswith("stream")}
        wire = self.target.post(f"{self.target.api_path}/chat/completions", orjson.dumps(body))
        return self._counted(await fetch(self.target, wire, timeout_s=TIMEOUT_S), "usage", "prompt_tokens")

    async def _tokenize(self, index: int, words: int) -> Answer:
        messages = [{"role": "user", "content": random_prompt(self.seed, index, words)}]
        body = orjson.dumps({"model": self.model, "messages": messages, "add_generation_prompt": True})
        return await fetch(
            self.target, self.target.post(f"{self.target.root_path}/tokenize", body), timeout_s=TIMEOUT_S
        )

    def _counted(self, answer: Answer, *path: str) -> int:
        count = _count_in(answer.json, *path)
        if answer.status != 200 or count is None:
            raise CheckFailed(
                f"the endpoint refused a plain request for {self.model!r}: HTTP {answer.status}: {answer.text[:400]}",
                remedy="moonpad verify  says which part of the API does not answer as it should",
            )
        return count


def _count_in(document: Any, *path: str) -> int | None:
    for key in path:
        document = document.get(key) if isinstance(document, dict) else None
    return document if isinstance(document, int) and not isinstance(document, bool) and document > 0 else None
