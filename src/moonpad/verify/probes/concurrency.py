"""Many requests at once."""

import asyncio
from typing import Final

from moonpad.load.openai_schema import Message
from moonpad.values.finding import Code
from moonpad.verify.api import Api
from moonpad.verify.probe import Outcome, failed, passed, passed_if_own, probe
from moonpad.verify.probe_helpers import ask, greedy, no_answer

STREAMS: Final = 64
LIMIT: Final = 48
QUESTIONS: Final = tuple(f"What is {first} * {first - 9}?" for first in range(12, 20))


@probe("concurrency")
async def concurrency(api: Api) -> Outcome:
    alone = {question: _texts(await ask(api, greedy(question, max_tokens=LIMIT))) for question in QUESTIONS}
    questions = [QUESTIONS[number % len(QUESTIONS)] for number in range(STREAMS)]
    answers = await asyncio.gather(*(api.chat(greedy(question, max_tokens=LIMIT)) for question in questions))
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
        return passed_if_own(f"batch-variant: {changed} of {STREAMS} greedy answers differ from the one asked alone")
    return passed(f"{STREAMS} greedy answers at once, each equal to the one asked alone")


def _texts(answer: Message) -> tuple[str, str]:
    return answer.content, answer.reasoning
