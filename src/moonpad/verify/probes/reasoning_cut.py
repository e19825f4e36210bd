"""A limit that ends inside the thinking."""

from moonpad.load.wire import Message
from moonpad.values.finding import Code
from moonpad.verify.api import Api
from moonpad.verify.common import THINK_TAG, ask, greedy
from moonpad.verify.mend import REASONING_PARSERS
from moonpad.verify.probe import Outcome, Probe, failed, passed, skipped
from moonpad.verify.probes.streaming import stream

QUESTION = "What is 84 * 3 / 2?"
LIMIT = 4
PARSER = "--reasoning-parser"
START = "start the engine with --reasoning-parser kimi_k2, and update it"


async def run(api: Api) -> Outcome:
    whole = await ask(api, greedy(QUESTION))
    if isinstance(whole, Outcome):
        return whole
    if not whole.reasoning:
        return skipped("the model did not think, so nothing is cut inside its thinking")
    body = greedy(QUESTION, max_tokens=LIMIT)
    asked = await ask(api, body)
    if isinstance(asked, Outcome):
        return asked
    streamed = await stream(api, body)
    if isinstance(streamed, Outcome):
        return streamed
    for how, answer in (("without streaming", asked), ("streamed", streamed)):
        if fault := misplaced(answer):
            return failed(Code.REASONING_LOST, PARSER, f"{how}, cut after {LIMIT} tokens: {fault}", START)
    return passed(f"the first {LIMIT} tokens are {asked.reasoning!r} under `{asked.reasoning_field}`, content empty")


def misplaced(answer: Message) -> str:
    if THINK_TAG.search(answer.content + answer.reasoning):
        return "a <think> tag is visible"
    if answer.content:
        return f"the thinking is in content, {answer.content[:60]!r}: nothing has ended it yet"
    if not answer.reasoning:
        return "neither reasoning nor content came"
    return "" if answer.finish_reason == "length" else f"finish_reason is {answer.finish_reason!r}, expected 'length'"


PROBE = Probe(
    id="reasoning_cut",
    proves="thinking that max_tokens cuts comes as reasoning, with an empty content and finish_reason length",
    matters="a parser that waits for </think> takes the thinking of a cut answer for the answer",
    mend=REASONING_PARSERS,
    run=run,
)
