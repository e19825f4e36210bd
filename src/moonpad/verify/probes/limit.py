"""The limit of an answer."""

from moonpad.values.finding import Code
from moonpad.verify.api import Api
from moonpad.verify.common import ask
from moonpad.verify.mend import FIELDS
from moonpad.verify.probe import Outcome, Probe, failed, passed

QUESTION = "What is 84 * 3 / 2?"
LIMIT = 5


async def run(api: Api) -> Outcome:
    for name in ("max_tokens", "max_completion_tokens"):
        body = {"messages": [{"role": "user", "content": QUESTION}], "temperature": 0, name: LIMIT}
        answer = await ask(api, body)
        if isinstance(answer, Outcome):
            return answer
        tokens = answer.usage.completion_tokens if answer.usage else None
        if tokens is not None and tokens > LIMIT:
            message = f"{name}={LIMIT} gives {tokens} tokens"
            return failed(Code.PARAMETER_IGNORED, name, message, "ask the engine itself: a gateway may drop it")
        if answer.finish_reason != "length":
            message = (
                f"finish_reason is {answer.finish_reason!r} where {name}={LIMIT} cuts the answer, expected 'length'"
            )
            return failed(Code.WRONG_ANSWER, "finish_reason", message, "update the engine: clients continue by it")
    return passed(f"{LIMIT} tokens and finish_reason length, by both names of the limit")


PROBE = Probe(
    id="limit",
    proves="max_tokens and max_completion_tokens cut an answer, and finish_reason says so",
    matters="a limit that is ignored costs its tokens; one that is not told looks like an answer",
    mend=FIELDS,
    run=run,
)
