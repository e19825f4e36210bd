"""A limit that ends inside the calls."""

from moonpad.load.wire import Message
from moonpad.values.finding import Code
from moonpad.verify.api import Api
from moonpad.verify.common import greedy, no_answer
from moonpad.verify.mend import TOOL_PARSERS
from moonpad.verify.probe import Outcome, Probe, failed, passed, skipped
from moonpad.verify.probes.tool_call import QUESTION
from moonpad.verify.tools import PARSER, START, WEATHER, refused

SHORT = 2
"""How many tokens are missing at the end: those that close the call and its section."""


async def run(api: Api) -> Outcome:
    body = greedy(QUESTION, tools=[WEATHER], tool_choice="auto")
    whole = await api.chat(body)
    if not isinstance(whole, Message):
        return refused(whole) or no_answer(api, whole)
    tokens = whole.usage.completion_tokens if whole.usage else None
    if not whole.tool_calls or not tokens or tokens <= SHORT:
        return skipped("no call came, so none can be cut")
    cut = await api.chat({**body, "max_tokens": tokens - SHORT})
    if not isinstance(cut, Message):
        return refused(cut) or no_answer(api, cut)
    if not cut.tool_calls:
        said = f"content {cut.content[:80]!r}, finish_reason {cut.finish_reason!r}"
        message = f"max_tokens ends {SHORT} tokens before the end of a call, and the call is gone: {said}"
        remedy = f"{START}, and update it (dynamo#8208); leave room in max_tokens"
        return failed(Code.TOOL_CALL_LOST, PARSER, message, remedy)
    arguments = cut.tool_calls[0].arguments
    if not whole.tool_calls[0].arguments.startswith(arguments):
        return skipped("greedy answers to one question differ, so a cut one has nothing to equal")
    return passed(f"{SHORT} tokens before its end the call is there, finish_reason {cut.finish_reason}: {arguments}")


PROBE = Probe(
    id="tool_cut",
    proves="a call whose last tokens max_tokens cuts is still told",
    matters="a call that is dropped in silence looks like an answer without one",
    mend=TOOL_PARSERS,
    known=("dynamo#8208",),
    run=run,
)
