"""Many requests at once."""

import asyncio
from typing import Final

from moonpad.load.openai_schema import Message
from moonpad.values.finding import Code
from moonpad.verify.api import Api, Body
from moonpad.verify.probe import Outcome, failed, passed, probe, skipped
from moonpad.verify.probe_helpers import ask, greedy, no_answer

STREAMS: Final = 64
LIMIT: Final = 48
QUESTIONS: Final = tuple(f"What is {first} * {first - 9}?" for first in range(12, 20))


@probe(
    "concurrency",
    proves=f"{STREAMS} greedy requests at once are each answered as when asked alone",
    matters="answers that reach the wrong client, or change with the load, show in no other test",
    remedy="look for a cache in a gateway",
)
async def concurrency(api: Api) -> Outcome:
    alone = {question: _texts(await ask(api, _body(question))) for question in QUESTIONS}
    questions = [QUESTIONS[number % len(QUESTIONS)] for number in range(STREAMS)]
    answers = await asyncio.gather(*(api.chat(_body(question)) for question in questions))
    changed = 0
    for question, answer in zip(questions, answers, strict=True):
        if not isinstance(answer, Message):
            return no_answer(api, answer)
        texts = _texts(answer)
        if texts == alone[question]:
            continue
        if texts in alone.values():
            message = f"the answer to {question!r} is that to another question asked at the same time"
            return failed(Code.WRONG_ANSWER, "concurrency", message, "update the engine; look for a cache in a gateway")
        changed += 1
    if changed:
        return skipped(f"batch-variant: {changed} of {STREAMS} greedy answers differ from the one asked alone")
    return passed(f"{STREAMS} greedy answers at once, each equal to the one asked alone")


def _body(question: str) -> Body:
    return greedy(question, max_tokens=LIMIT)


def _texts(answer: Message) -> tuple[str, str]:
    return answer.content, answer.reasoning
