"""What an endpoint is asked before an evaluation, so that it says beforehand what cannot be measured."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from moonpad.evaluate.asking import message_of
from moonpad.evaluate.question import Question
from moonpad.load.openai_schema import Message
from moonpad.values.errors import CheckFailed, ContactLost, UsageError
from moonpad.verify.api import Api
from moonpad.verify.judged_model import CONTEXT_FIELDS, MOST_CONTEXT, Card, owner_of

TRIAL_TOKENS: Final = 64
TRIAL: Final = {"messages": [{"role": "user", "content": "What is 12 + 30?"}], "temperature": 0, "seed": 1234}
CACHE_INFO: Final = re.compile(r"^vllm:cache_config_info\{(?P<labels>[^}]{0,4000})\}", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class EndpointFacts:
    """None: unknown.

    problem: why a request of this protocol gets no answer; "" if one got an answer.
    prompt_tokens: of the longest prompt. context: tokens that the model list claims. kv_tokens: that the cache holds.
    thinks: whether a chat answer had thoughts apart from its content. seconds_per_token: of one answer, alone.
    """

    model: str
    engine: str = ""
    context: int | None = None
    problem: str = ""
    prompt_tokens: int | None = None
    thinks: bool | None = None
    seconds_per_token: float | None = None
    first_token_s: float | None = None
    kv_tokens: int | None = None


async def gather(api: Api, card: Card, longest: Question, path: str) -> EndpointFacts:
    """Raises ContactLost where nothing answers, UsageError where a key is wanted. `api` has its model named."""
    problem, prompt_tokens, first_token_s = await _one_token(api, longest, path)
    thinks, seconds_per_token = await _short_answer(api)
    return EndpointFacts(
        model=api.endpoint.model,
        engine=api.endpoint.engine or owner_of(card),
        context=_context(card),
        problem=problem,
        prompt_tokens=prompt_tokens,
        thinks=thinks,
        seconds_per_token=seconds_per_token,
        first_token_s=first_token_s,
        kv_tokens=await _kv_tokens(api),
    )


async def _one_token(api: Api, longest: Question, path: str) -> tuple[str, int | None, float | None]:
    """Whether the longest prompt gets an answer at all; of one token, so that it takes no time."""
    begun = time.monotonic()
    reply = await api.post(path, {**longest.payload, "max_tokens": 1}, answer_s=api.deadlines.answer_s)
    if reply.status in (401, 403):
        raise UsageError(f"{api.endpoint.base_url} wants a key: {reply.because}", remedy="--key-env VAR")
    answer = message_of(reply, path)
    if not isinstance(answer, Message):
        return f"{path}: {answer.because}", None, None
    return "", answer.usage.prompt_tokens if answer.usage else None, time.monotonic() - begun


async def _short_answer(api: Api) -> tuple[bool | None, float | None]:
    """Whether it thinks, and how long a token takes."""
    begun = time.monotonic()
    try:
        body = {**TRIAL, "max_tokens": TRIAL_TOKENS}
        answer = await api.chat(body, answer_s=min(api.deadlines.answer_s, 120.0))
    except (ContactLost, CheckFailed):
        return None, None
    if not isinstance(answer, Message):
        return None, None
    tokens = answer.usage.completion_tokens if answer.usage else None
    thinks = bool(answer.reasoning.strip()) or "<think>" in answer.content or "◁think▷" in answer.content
    return thinks, (time.monotonic() - begun) / tokens if tokens else None


def _context(card: Mapping[str, Any]) -> int | None:
    sizes = (card.get(name) for name in CONTEXT_FIELDS)
    size = next((size for size in sizes if type(size) is int), None)
    return size if size is not None and 2 < size <= MOST_CONTEXT else None


async def _kv_tokens(api: Api) -> int | None:
    """Of vLLM, which names its cache's blocks and their size among its metrics."""
    try:
        reply = await api.get_root("/metrics")
    except (ContactLost, CheckFailed):
        return None
    return kv_tokens_of(reply.text) if reply.status == 200 else None


def kv_tokens_of(metrics: str) -> int | None:
    """Summed over the engines of a data-parallel endpoint."""
    total = 0
    for match in CACHE_INFO.finditer(metrics):
        labels = dict(re.findall(r'(block_size|num_gpu_blocks)="(\d{1,12})"', match["labels"]))
        if len(labels) < 2:
            return None
        total += int(labels["block_size"]) * int(labels["num_gpu_blocks"])
    return total or None
