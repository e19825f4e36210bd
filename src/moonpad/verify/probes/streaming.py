"""A stream says the same as one answer."""

from moonpad.load.wire import Broken, Message, Refused, join
from moonpad.values.finding import Code
from moonpad.verify.api import Api, Body
from moonpad.verify.common import ask, collect, greedy, no_answer
from moonpad.verify.mend import Mend
from moonpad.verify.probe import Outcome, Probe, failed, passed, skipped

QUESTION = "What is 84 * 3 / 2?"
PARTS = ("content", "reasoning", "finish_reason")


async def run(api: Api) -> Outcome:
    body = greedy(QUESTION)
    whole = await ask(api, body)
    if isinstance(whole, Outcome):
        return whole
    streamed = await stream(api, body)
    if isinstance(streamed, Outcome):
        return streamed
    if lost := lost_in_stream(whole, streamed):
        return lost
    if different(whole, streamed):
        # A greedy answer may vary with a cache hit or the batch, as the first and the second of these do.
        again = await ask(api, body)
        if isinstance(again, Outcome):
            return again
        if different(again, streamed):
            return unrepeatable() if different(whole, again) else unequal(whole, streamed)
        whole = again
    return wrong_count(whole, streamed) or passed(evidence(streamed))


async def stream(api: Api, body: Body) -> Message | Outcome:
    """The streamed answer joined, or what is wrong with the stream."""
    found = await collect(api, body)
    if isinstance(found, Refused):
        return no_answer(api, found.reply)
    if isinstance(found, Broken):
        return _broken(found.because)
    if not found.done:
        return _broken(f"the stream ends without [DONE] after {len(found.deltas)} events")
    return join(found.deltas)


def lost_in_stream(whole: Message, streamed: Message) -> Outcome | None:
    if whole.reasoning and not streamed.reasoning:
        message = f"the stream has no reasoning; without streaming it is {len(whole.reasoning)} characters"
        remedy = (
            "start the engine with --reasoning-parser kimi_k2, and update it: early parsers dropped it (vllm#37397)"
        )
        return failed(Code.REASONING_LOST, "--reasoning-parser", message, remedy)
    if whole.content and not streamed.content:
        return _broken(f"the stream has no content; without streaming it is {len(whole.content)} characters")
    if not streamed.finish_reason:
        return _broken("the stream has no finish_reason")
    if streamed.usage is None:
        return _broken("the stream has no usage, though stream_options.include_usage asked for it")
    return None


def different(one: Message, other: Message) -> tuple[str, ...]:
    """Which parts of two answers differ."""
    return tuple(part for part in PARTS if getattr(one, part) != getattr(other, part))


def unrepeatable() -> Outcome:
    return skipped("two greedy answers to one question differ without streaming too, so a stream has nothing to equal")


def unequal(whole: Message, streamed: Message) -> Outcome:
    part = different(whole, streamed)[0]
    expected, found = getattr(whole, part), getattr(streamed, part)
    at = next(
        (at for at, (a, b) in enumerate(zip(expected, found, strict=False)) if a != b), min(len(expected), len(found))
    )
    around = slice(max(0, at - 20), at + 20)
    message = (
        f"the streamed {part} differs from character {at} on: {found[around]!r}, without streaming {expected[around]!r}"
    )
    return _broken(message)


def wrong_count(whole: Message, streamed: Message) -> Outcome | None:
    counted = [answer.usage.completion_tokens if answer.usage else None for answer in (whole, streamed)]
    if None not in counted and counted[0] != counted[1]:
        return _broken(f"usage counts {counted[1]} completion tokens streamed, {counted[0]} without, of one text")
    return None


def evidence(streamed: Message) -> str:
    return (
        f"equal: {len(streamed.content)} characters of content, {len(streamed.reasoning)} of reasoning; [DONE], usage"
    )


def _broken(message: str) -> Outcome:
    remedy = "ask the engine itself, without the proxy between; then update the engine: the fault is in its parsers"
    return failed(Code.STREAM_BROKEN, "stream", message, remedy)


PROBE = Probe(
    id="streaming",
    proves="a greedy stream joins to the answer without streaming: content, reasoning, end and token count",
    matters="parsers are written twice in every engine, for streams and for whole texts; agents use streams",
    mend=Mend(
        vllm="--reasoning-parser kimi_k2 and --tool-call-parser kimi_k2, of the newest release",
        sglang="--reasoning-parser kimi_k2 and --tool-call-parser kimi_k2, of the newest release",
        trtllm="--reasoning_parser and --tool_parser, of the newest release",
    ),
    known=("vllm#37397",),
    run=run,
)
