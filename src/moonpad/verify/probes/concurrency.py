"""Many at once."""

import asyncio
from typing import Final

from moonpad.load.wire import Message
from moonpad.values.finding import Code
from moonpad.verify.api import Api
from moonpad.verify.common import ask, greedy, no_answer
from moonpad.verify.mend import Mend
from moonpad.verify.probe import Outcome, Probe, failed, passed, skipped

STREAMS: Final = 64
LIMIT: Final = 48
QUESTIONS: Final = tuple(
    f"What is {first} * {second}?" for first, second in zip(range(12, 20), range(3, 11), strict=True)
)


async def run(api: Api) -> Outcome:
    alone: dict[str, Message] = {}
    for question in QUESTIONS:
        answer = await ask(api, greedy(question, max_tokens=LIMIT))
        if isinstance(answer, Outcome):
            return answer
        alone[question] = answer
    asked = [QUESTIONS[number % len(QUESTIONS)] for number in range(STREAMS)]
    answers = await asyncio.gather(*(api.chat(greedy(question, max_tokens=LIMIT)) for question in asked))
    others = 0
    for question, got in zip(asked, answers, strict=True):
        if not isinstance(got, Message):
            return no_answer(api, got)
        if mixed(question, got, alone):
            message = f"the answer to {question!r} is that to another question asked at the same time"
            return failed(Code.WRONG_ANSWER, "concurrency", message, "update the engine; look for a cache in a gateway")
        others += (got.content, got.reasoning) != (alone[question].content, alone[question].reasoning)
    if others:
        return skipped(f"batch-variant: {others} of {STREAMS} greedy answers differ from the one asked alone")
    return passed(f"{STREAMS} greedy answers at once, each equal to the one asked alone")


def mixed(question: str, answer: Message, alone: dict[str, Message]) -> bool:
    """Whether it is, word for word, what another question got alone, and not this one's."""
    said = (answer.content, answer.reasoning)
    own = alone[question]
    return said != (own.content, own.reasoning) and any(
        said == (other.content, other.reasoning) for text, other in alone.items() if text != question
    )


PROBE = Probe(
    id="concurrency",
    proves=f"{STREAMS} greedy requests at once are answered, each as when it is asked alone",
    matters="answers that go to the wrong client, or change with the load, are found by nobody else",
    mend=Mend(
        each="look for a cache in a gateway",
        vllm="VLLM_BATCH_INVARIANT=1, where one answer must not change with the load",
        sglang="--enable-deterministic-inference, where one answer must not change with the load",
    ),
    run=run,
)
