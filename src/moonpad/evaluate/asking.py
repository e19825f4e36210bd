"""Sends the questions, so many at once, and gives each answer as it comes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Final, Literal

from moonpad.evaluate.question import Question
from moonpad.evaluate.sample import Sample
from moonpad.load.openai_schema import (
    MOST_NAME_CHARACTERS,
    Malformed,
    Message,
    Reply,
    completion_text,
    one_line,
    read_answer,
    text_of,
    usage_of,
)
from moonpad.values.errors import CheckFailed, ContactLost, UsageError
from moonpad.verify.api import Api

ATTEMPTS: Final = 3
"""As lm-eval: one request, and two more if it fails."""
WAIT_S: Final = (1.0, 2.0)
MOST_UNANSWERED: Final = 3
"""Questions in a row to which nothing came, after which the endpoint counts as lost."""
SHOWN: Final = 80
"""How many characters are quoted of a body that is not an answer, such as a proxy's page."""
REFUSED: Final = (400, 404, 405, 413, 422)
"""An answer that repeating the request does not change."""


async def ask_all(
    api: Api,
    questions: Sequence[Question],
    path: str,
    concurrency: int,
    keep: Callable[[Sample], None],
    *,
    round_: Literal[1, 2] = 1,
) -> None:
    """Calls `keep` with each answer, in the order in which they come.

    Raises:
        ContactLost: nothing answers any more. What came before was kept.
        UsageError: the endpoint wants a key.
    """
    waiting, unanswered = iter(questions), 0

    async def work(questions: Iterator[Question]) -> None:
        nonlocal unanswered
        for question in questions:
            sample, lost = await _ask(api, question, path, round_)
            unanswered = unanswered + 1 if lost else 0
            keep(sample)
            if lost and unanswered >= MOST_UNANSWERED:
                raise lost

    tasks = [asyncio.create_task(work(waiting)) for _ in range(min(concurrency, len(questions)))]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _ask(api: Api, question: Question, path: str, round_: Literal[1, 2]) -> tuple[Sample, ContactLost | None]:
    """The sample, and the error where nothing came at all."""
    lost: ContactLost | None = None
    problem, attempt, begun = "", 0, 0.0
    async for attempt in _attempts():
        lost, begun = None, time.monotonic()
        try:
            reply = await api.post(path, question.payload, answer_s=api.deadlines.answer_s)
        except ContactLost as error:
            lost, problem = error, error.message
            if isinstance(error.__cause__, TimeoutError):
                break
            continue
        except CheckFailed as error:
            problem = error.message
            break
        if reply.status in (401, 403):
            raise UsageError(f"{api.endpoint.base_url} wants a key: {reply.because}", remedy="--key-env VAR")
        answer = message_of(reply, path)
        if isinstance(answer, Message):
            return _sample(question, answer, round_, attempt, time.monotonic() - begun), None
        problem = answer.because
        if reply.status in REFUSED:
            break
    seconds = round(time.monotonic() - begun, 3)
    failed = Sample(question.doc_id, question.asked, round_, attempts=attempt, seconds=seconds, problem=problem)
    return failed, lost


async def _attempts() -> AsyncIterator[int]:
    for attempt in range(1, ATTEMPTS + 1):
        yield attempt
        if attempt < ATTEMPTS:
            await asyncio.sleep(WAIT_S[attempt - 1])


def message_of(reply: Reply, path: str) -> Message | Malformed | Reply:
    """The answer of either API: a plain completion has its text as content."""
    if reply.status != 200:
        return reply
    document = reply.json()
    if not isinstance(document, dict):
        begin = one_line(reply.text[:SHOWN])
        return Malformed(f"the body is not a JSON object: {begin}" if begin else "the body is empty")
    if path != "/completions":
        return read_answer(document)
    text = completion_text(document)
    if text is None:
        return Malformed("no choice with a text")
    finish = text_of(document["choices"][0].get("finish_reason"))[:MOST_NAME_CHARACTERS]
    return Message(content=text, finish_reason=finish, usage=usage_of(document))


def _sample(question: Question, answer: Message, round_: Literal[1, 2], attempt: int, seconds: float) -> Sample:
    usage = answer.usage
    return Sample(
        doc_id=question.doc_id,
        asked=question.asked,
        round=round_,
        content=answer.content,
        reasoning=answer.reasoning,
        tool_calls=tuple(call.as_json() for call in answer.tool_calls),
        finish_reason=answer.finish_reason,
        prompt_tokens=usage.prompt_tokens if usage else None,
        completion_tokens=usage.completion_tokens if usage else None,
        reasoning_tokens=usage.reasoning_tokens if usage else None,
        seconds=round(seconds, 3),
        attempts=attempt,
    )
