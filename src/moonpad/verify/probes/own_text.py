"""What the server answers is what the model wrote: answers, calls, conversations, cuts, parameters, under load.

The probes here only ask. Every answer, whole and streamed, is then compared with the model's own text (own_text/).
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final

from moonpad.load.openai_schema import Message
from moonpad.values.finding import Code
from moonpad.verify.api import Api
from moonpad.verify.judged_model import served_by
from moonpad.verify.offered_tools import UPDATE_PARSER, as_text, ask_with_tools, call_lost, call_lost_if_able
from moonpad.verify.own_text.questions import (
    ANSWERS,
    CALLS,
    CONVERSATIONS,
    COUNTING,
    CUTS,
    SEVERAL,
    STORY,
    TOWN,
    TWO_CITIES,
    parameters,
)
from moonpad.verify.probe import Outcome, failed, passed_if_own, probe, skipped
from moonpad.verify.probe_helpers import FIELD_DROPPED, ask, tokenize
from moonpad.verify.probes.streaming import stream

AT_ONCE: Final = 4
LOADED: Final = 48
CUT_QUESTIONS: Final = (COUNTING, CALLS[0])

Bodies = Sequence[Mapping[str, Any]]


async def ask_both(api: Api, bodies: Bodies, at_once: int = AT_ONCE) -> list[tuple[Message, Message]]:
    """Each question's answer, whole and streamed.

    Raises:
        ProbeEnded: one was refused, or its stream is broken.
    """
    engine = await served_by(api)
    ids = {"return_token_ids": True} if engine is not None and engine.returns_token_ids else {}
    slots = asyncio.Semaphore(at_once)

    async def one(body: Mapping[str, Any], streamed: bool) -> Message:
        async with slots:
            return await (stream if streamed else ask)(api, {**body, **ids})

    answers = await asyncio.gather(*(one(body, streamed) for body in bodies for streamed in (False, True)))
    return list(zip(answers[::2], answers[1::2], strict=True))


@probe("own_answers")
async def own_answers(api: Api) -> Outcome:
    await ask_both(api, ANSWERS)
    return passed_if_own(f"{len(ANSWERS)} questions")


@probe("own_calls")
async def own_calls(api: Api) -> Outcome:
    answers = await ask_both(api, CALLS)
    called = sum(bool(whole.tool_calls) for whole, _ in answers)
    if not called:
        return call_lost_if_able(f"{len(CALLS) - 1} questions that need a tool, and no call")
    return passed_if_own(f"{len(CALLS)} questions with tools, {called} answered by a call")


@probe("own_several")
async def own_several(api: Api) -> Outcome:
    answers = await ask_both(api, SEVERAL)
    several = [whole for whole, _ in answers if len(whole.tool_calls) > 1]
    if not several:
        return call_lost_if_able(f"{len(SEVERAL)} questions that need several calls, and no answer with more than one")
    return passed_if_own(f"{len(several)} answers with {as_text(several[-1].tool_calls)} and the like")


@probe("tool_parallel")
async def tool_parallel(api: Api) -> Outcome:
    """Off, the first of several calls is left; on, all are."""
    several, alone = await asyncio.gather(
        ask_with_tools(api, {**TWO_CITIES, "parallel_tool_calls": True}),
        ask_with_tools(api, {**TWO_CITIES, "parallel_tool_calls": False}),
    )
    streamed = await stream(api, {**TWO_CITIES, "parallel_tool_calls": False})
    if len(several.tool_calls) < 2:
        return call_lost_if_able(f"{len(several.tool_calls)} calls for a question that needs two")
    for how, answer in (("whole", alone), ("streamed", streamed)):
        if len(answer.tool_calls) > 1:
            engine = await served_by(api)
            calls = as_text(answer.tool_calls)
            if engine is None or not engine.obeys_parallel_tool_calls:
                return skipped(f"parallel_tool_calls=false is not obeyed, and this server need not know it: {calls}")
            message = f"parallel_tool_calls is false, and the {how} answer has {len(answer.tool_calls)} calls: {calls}"
            return failed(Code.PARAMETER_IGNORED, "parallel_tool_calls", message, FIELD_DROPPED)
        if answer.tool_calls != several.tool_calls[:1]:
            message = f"parallel_tool_calls is false, and the {how} answer has {as_text(answer.tool_calls)}"
            return call_lost(f"{message}; with it on the first is {as_text(several.tool_calls[:1])}", UPDATE_PARSER)
    return passed_if_own(f"on {len(several.tool_calls)} calls, off the first of them")


@probe("own_history")
async def own_history(api: Api) -> Outcome:
    await ask_both(api, CONVERSATIONS)
    return passed_if_own(f"{len(CONVERSATIONS)} conversations")


@probe("own_cuts")
async def own_cuts(api: Api) -> Outcome:
    bodies = [{**body, "max_tokens": limit} for body in CUT_QUESTIONS for limit in CUTS]
    await ask_both(api, bodies)
    return passed_if_own(f"answers cut after {', '.join(map(str, CUTS))} tokens")


@probe("own_parameters")
async def own_parameters(api: Api) -> Outcome:
    tokens = (await tokenize(api, prompt="8", add_special_tokens=False)).get("tokens")
    banned = tokens[0] if isinstance(tokens, list) and len(tokens) == 1 and type(tokens[0]) is int else None
    engine = await served_by(api)
    seeded = engine is not None and engine.repeats_by_seed
    rows = parameters(banned, seeded=seeded)
    answers = await ask_both(api, [row.body for row in rows])
    without = [await ask(api, row.without) for row in rows]
    await ask_both(api, [{**body, "logprobs": True, "top_logprobs": 2} for body in (COUNTING, TOWN)])
    if seeded:  # an engine that knows top_k and n together
        await ask(api, {**COUNTING, "temperature": 1.0, "top_k": 1, "n": 2})
    acts = {
        row.name: _texts(whole) != _texts(other) for row, (whole, _), other in zip(rows, answers, without, strict=True)
    }
    idle = [name for name, act in acts.items() if not act]
    beside = f"; without effect on the model here, so not judged: {', '.join(idle)}" if idle else ""
    return passed_if_own(f"{', '.join(name for name, act in acts.items() if act)}, logprobs{beside}")


def _texts(answer: Message) -> tuple[str, str, str]:
    return answer.reasoning, answer.content, answer.finish_reason


@probe("own_load")
async def own_load(api: Api) -> Outcome:
    """Answers of different kinds and lengths at once, so that none of them is another's."""
    kinds = [body for body in (*ANSWERS, *CALLS, *SEVERAL) if body is not STORY]
    bodies = [kinds[number % len(kinds)] for number in range(LOADED // 2)]
    await ask_both(api, bodies, at_once=LOADED)
    return passed_if_own(f"{LOADED} requests at once, half of them streamed")
