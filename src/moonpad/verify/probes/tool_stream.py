"""A call in a stream."""

from collections.abc import Sequence

from moonpad.load.wire import Broken, Delta, Message, Refused, ToolCall, join
from moonpad.values.finding import Code
from moonpad.verify.api import Api
from moonpad.verify.common import collect, greedy, no_answer
from moonpad.verify.mend import TOOL_PARSERS
from moonpad.verify.probe import Outcome, Probe, failed, failed_if_able, passed, skipped
from moonpad.verify.probes.tool_call import QUESTION
from moonpad.verify.tools import PARSER, START, WEATHER, refused, wrong_calls

UPDATE = f"{START}, and update it: parsers are written twice, for streams and for whole texts (vllm#38579)"


async def run(api: Api) -> Outcome:
    body = greedy(QUESTION, tools=[WEATHER], tool_choice="auto")
    whole = await api.chat(body)
    if not isinstance(whole, Message):
        return refused(whole) or no_answer(api, whole)
    found = await collect(api, body)
    if isinstance(found, Refused):
        return no_answer(api, found.reply)
    if isinstance(found, Broken):
        return failed(Code.STREAM_BROKEN, "stream", found.because, UPDATE)
    streamed = join(found.deltas)
    if not whole.tool_calls and not streamed.tool_calls:
        return failed_if_able(Code.TOOL_CALL_LOST, PARSER, "no call came, streamed or whole", START)
    return repeated(found.deltas) or wrong_calls(streamed, [WEATHER]) or await unequal(api, whole, streamed)


def repeated(deltas: Sequence[Delta]) -> Outcome | None:
    """Clients join what comes: a name or an id that comes twice is one twice as long."""
    named: set[int] = set()
    for piece in (piece for delta in deltas for piece in delta.calls):
        if piece.name and piece.index in named:
            message = f"the name of call {piece.index} comes more than once in the stream"
            return failed(Code.STREAM_BROKEN, PARSER, message, UPDATE)
        if not piece.name and piece.index not in named:
            message = f"the arguments of call {piece.index} come before its name"
            return failed(Code.STREAM_BROKEN, PARSER, message, UPDATE)
        named |= {piece.index}
    return None


async def unequal(api: Api, whole: Message, streamed: Message) -> Outcome:
    if whole.reasoning and not streamed.reasoning:
        message = (
            f"beside a call the stream has no reasoning; without streaming it is {len(whole.reasoning)} characters"
        )
        return failed(Code.REASONING_LOST, "--reasoning-parser", message, UPDATE)
    if streamed.tool_calls == whole.tool_calls and streamed.content == whole.content:
        if streamed.finish_reason != whole.finish_reason:
            message = f"finish_reason is {streamed.finish_reason!r} in the stream, {whole.finish_reason!r} without"
            return failed(Code.STREAM_BROKEN, "finish_reason", message, UPDATE)
        calls = "; ".join(f"{call.id} {call.arguments}" for call in streamed.tool_calls)
        return passed(f"the deltas join to the call without streaming: {calls}")
    again = await api.chat(greedy(QUESTION, tools=[WEATHER], tool_choice="auto"))
    if isinstance(again, Message) and again.tool_calls != whole.tool_calls:
        return skipped("two greedy answers to one question differ without streaming too")
    message = f"the stream joins to {_said(streamed.tool_calls)}, without streaming it is {_said(whole.tool_calls)}"
    return failed(Code.STREAM_BROKEN, PARSER, message, UPDATE)


def _said(calls: tuple[ToolCall, ...]) -> str:
    return "; ".join(f"{call.id} {call.name} {call.arguments[:100]}" for call in calls) or "no call"


PROBE = Probe(
    id="tool_stream",
    proves="the deltas of a call join to the call without streaming: id, name once, arguments, finish_reason",
    matters="agents stream; what differs there is seen by nobody who tests with whole answers",
    mend=TOOL_PARSERS,
    known=("vllm#38579", "vllm#28543"),
    run=run,
)
