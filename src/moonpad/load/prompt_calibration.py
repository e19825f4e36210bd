"""How many random words make N input tokens, by the server's own count.

Our process holds no tokenizer. `POST /tokenize` counts a prompt without computing it; where a server has no such path,
a request of one token is sent and `usage.prompt_tokens` read. Both count the chat template too, as the engine does.

First the tokens of every word after a space are counted ("weighed"). Prompts then have exactly the requested length,
since tokenizers of this family split a text at its spaces first; one whole prompt is counted to confirm it. Where each
count is a request and weighing would need too many, lengths may be off by a few tokens.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, Literal

from moonpad.load.failure import FailureKind, RequestFailed
from moonpad.load.json_request import fetch
from moonpad.load.openai_schema import TEMPLATE_TOKENS, count_of, usage_of
from moonpad.load.prompts import FIRST, WORDS, random_prompt, random_words, text_of, weighed
from moonpad.load.request_builder import RequestBuilder
from moonpad.values.errors import CheckFailed
from moonpad.values.records import replace

ROUNDS: Final = 5
FIRST_WORDS: Final = (8, 40)
TIMEOUT_S: Final = 600.0
"""For the whole calibration, and for each of its requests."""
WEIGH_S: Final = 300.0
GROUP: Final = 32
MOST_COUNTS: Final = 96
"""At most so many requests weigh the words, where each count is a request."""
Judge = Literal["/tokenize", "usage"]
Counted = Callable[[int, int], Awaitable[int]]
TOKENS_A_WORD: Final = 1.4
"""Of English text with its punctuation, where a plain word is one token."""
CountedText = Callable[[str], Awaitable[int]]


@dataclass(frozen=True, slots=True)
class PromptCalibration:
    """`words` words gave `tokens` input tokens in the last trial, as `judge` counted them. `slope`: tokens per word.

    weights: the tokens of each of `WORDS` after a space; () if they were not weighed, or none is a single token.
    alone: the tokens of a prompt of the first word only, including the template.
    """

    words: int
    tokens: int
    judge: Judge
    slope: float = 1.0
    weights: tuple[int, ...] = ()
    alone: int = 0

    def words_of(self, tokens: int) -> int:
        """Words for another length, extrapolated from the trial."""
        return max(1, self.words + round((tokens - self.tokens) / self.slope))

    def prompt(self, seed: int, index: int, tokens: int, shared: str = "") -> str:
        """A prompt of this many tokens including the template, after `shared`; at least one word."""
        if not self.weights:
            return f"{shared} {random_prompt(seed, index, self.words_of(tokens))}".lstrip()
        own = text_of(weighed(f"prompt {seed} {index}", tokens - self.alone, self.weights))
        return f"{FIRST} {shared}{own.removeprefix(FIRST)}" if shared else own

    def text(self, name: str, tokens: int) -> str:
        """Text for after a space. The same name gives the same text."""
        if self.weights:
            return text_of(weighed(name, tokens, self.weights)).removeprefix(f"{FIRST} ")
        return random_words(name, max(1, round(tokens / self.slope)))

    def tokens_in_text(self, text: str) -> int:
        """An estimate by words: text that people wrote has about half as many tokens per word again as ours."""
        return max(1, round(TOKENS_A_WORD * self.slope * len(text.split())))


async def calibrate(
    builder: RequestBuilder,
    *,
    input_tokens: int,
    seed: int,
    before: PromptCalibration | None = None,
    timeout_s: float = TIMEOUT_S,
) -> PromptCalibration:
    """`before`: an earlier result for the same endpoint, whose weights are reused. `timeout_s`: of each request.

    Raises:
        CheckFailed: the server refuses a plain request, or counts no tokens.
        RequestFailed: the server does not answer.
    """
    try:
        async with asyncio.timeout(TIMEOUT_S):
            return await _calibrate(builder, input_tokens, seed, before, min(timeout_s, TIMEOUT_S))
    except TimeoutError as error:
        text = f"the tokens of a few prompts were not counted within {TIMEOUT_S:g} s"
        raise RequestFailed(FailureKind.TOTAL_TIMEOUT, text) from error


async def _calibrate(
    builder: RequestBuilder, input_tokens: int, seed: int, before: PromptCalibration | None, timeout_s: float
) -> PromptCalibration:
    judge: Judge = "/tokenize"
    try:
        await _counted_by(builder, judge, timeout_s, text_of(()))
    except RequestFailed:
        raise
    except CheckFailed:
        judge = "usage"
    count_text = partial(_counted_by, builder, judge, timeout_s)

    async def count(index: int, words: int) -> int:
        return await count_text(random_prompt(seed, index, words))

    words, tokens, slope = await words_for(input_tokens, count)
    rough = PromptCalibration(words, tokens, judge, slope, alone=max(0, tokens - round(slope * words)))
    if before is not None and before.weights:
        return replace(rough, weights=before.weights, alone=before.alone)
    try:
        async with asyncio.timeout(WEIGH_S):
            alone, weights = await weigh(count_text, MOST_COUNTS if judge == "usage" else None)
    except (_TooMany, CheckFailed, TimeoutError):  # the second: it answered one at a time, and refuses several
        return rough
    exact = replace(rough, weights=weights if 1 in weights else (), alone=alone)
    wanted = max(input_tokens, alone)
    return exact if await count_text(exact.prompt(seed, -3 - ROUNDS, wanted)) == wanted else rough


class _TooMany(Exception):
    """Weighing needs more requests than allowed."""


async def weigh(count: CountedText, most: int | None = None) -> tuple[int, tuple[int, ...]]:
    """The tokens of a prompt of the first word alone, and of each word after it.

    Groups of words are counted concurrently, and halved where they have more tokens than words.

    Raises:
        _TooMany: more than `most` counts are needed.
    """
    alone, counts = await count(text_of(())), 1

    async def of(group: Sequence[int]) -> tuple[int, ...]:
        nonlocal counts
        counts += 1
        if most is not None and counts > most:
            raise _TooMany
        tokens = await count(text_of(group)) - alone
        if tokens == len(group) or len(group) == 1:
            return (max(1, tokens) if len(group) == 1 else 1,) * len(group)
        half = len(group) // 2
        return (*await of(group[:half]), *await of(group[half:]))

    groups = [asyncio.create_task(of(range(at, min(at + GROUP, len(WORDS))))) for at in range(0, len(WORDS), GROUP)]
    try:
        return alone, tuple(weight for weights in await asyncio.gather(*groups) for weight in weights)
    finally:
        for group in groups:
            group.cancel()
        await asyncio.gather(*groups, return_exceptions=True)


async def words_for(input_tokens: int, count: Counted) -> tuple[int, int, float]:
    """`(words, tokens, tokens per word)` nearest to `input_tokens`. `count(index, words)` asks the server.

    Two small trials give the tokens per word and those of the template; each later trial starts from the last count.
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


async def _counted_by(builder: RequestBuilder, judge: Judge, timeout_s: float, text: str) -> int:
    """
    Raises:
        CheckFailed: the server refuses to count this way.
        RequestFailed: it does not answer.
    """
    wire = builder.count_by_tokenize(text) if judge == "/tokenize" else builder.count_by_usage(text)
    answer = await fetch(builder.target, wire, timeout_s=timeout_s)
    document = answer.json if isinstance(answer.json, dict) else {}
    count = count_of(document.get("count")) if judge == "/tokenize" else usage_of(document).prompt_tokens
    if answer.status != 200 or not count or count > len(wire) + TEMPLATE_TOKENS:
        raise CheckFailed(
            f"the endpoint refused a plain request to {builder.model!r}: HTTP {answer.status}: {answer.text[:400]}",
            remedy="moonpad verify  shows which part of the API fails",
        )
    return count
