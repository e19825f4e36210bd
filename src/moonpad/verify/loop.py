"""An agent that calls a tool hundreds of times, with all of its history, in a world that knows what comes next.

Seed 3 promises 200 to 300 consecutive calls. The tool opens a page, which names the next one; each turn is checked: one
call, of the tool that is there, with arguments by its schema, Kimi's id counted on, and the page that was named. The
first turn where one of these is not so is the drift.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from moonpad.verify.api import Api, Body
from moonpad.verify.tools import tool, wrong_calls
from moonpad.verify.wire import Malformed, Message, Reply, read_json

CALLS: Final = 300
ANSWER_TOKENS: Final = 400
TOOL: Final = tool(
    "open_page",
    "Open a page, which names the next one.",
    ("page",),
    page={"type": "string", "description": "The page"},
)
TASK: Final = "Follow the pages from {} to the end."
NEXT: Final = "next: {}"
END: Final = "end"


@dataclass(frozen=True, slots=True)
class Drift:
    """`turn` counts from 1; that behind the last call is the answer."""

    turn: int
    because: str
    answer: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class LoopResult:
    """`made`: calls that were right. `ended`: why it could not go on, where that is no drift: the context is full."""

    calls: int
    made: int
    prompt_tokens: int
    drift: Drift | None = None
    ended: str = ""

    @property
    def whole(self) -> bool:
        return self.drift is None and not self.ended

    def as_json(self) -> dict[str, object]:
        drift = self.drift
        said = None if drift is None else {"turn": drift.turn, "because": drift.because, "answer": dict(drift.answer)}
        return {
            "calls": self.calls,
            "made": self.made,
            "prompt_tokens": self.prompt_tokens,
            "drift": said,
            "ended": self.ended,
        }


def pages(count: int, seed: int) -> list[str]:
    """So many names that are no words, each another one; the same of the same seed."""
    dice = random.Random(f"pages:{seed}")  # noqa: S311 - names of pages
    found: dict[str, None] = {}
    while len(found) < count:
        found["".join(dice.choice("bdfgklmnprst") + dice.choice("aeiou") for _ in range(3))] = None
    return list(found)


async def run_loop(
    api: Api, calls: int = CALLS, seed: int = 0, on_turn: Callable[[int], None] = lambda made: None
) -> LoopResult:
    """Raises ContactLost where nothing answers any more."""
    names = pages(calls, seed)
    messages: list[Mapping[str, object]] = [{"role": "user", "content": TASK.format(names[0])}]
    prompt_tokens = 0
    for made, page in enumerate(names):
        on_turn(made)
        answer = await api.chat(_body(messages))
        if not isinstance(answer, Message):
            return _stopped(answer, calls, made, prompt_tokens)
        prompt_tokens = _prompt_tokens(answer, prompt_tokens)
        if because := wrong_turn(answer, made, page):
            return LoopResult(calls, made, prompt_tokens, Drift(made + 1, because, _told(answer)))
        result = NEXT.format(names[made + 1]) if made + 1 < calls else END
        messages += [_back(answer), {"role": "tool", "tool_call_id": answer.tool_calls[0].id, "content": result}]
    on_turn(calls)
    answer = await api.chat(_body(messages))
    if not isinstance(answer, Message):
        return _stopped(answer, calls, calls, prompt_tokens)
    prompt_tokens = _prompt_tokens(answer, prompt_tokens)
    if answer.tool_calls or answer.finish_reason != "stop":
        because = f"the last page names no next one, and the answer has {len(answer.tool_calls)} calls"
        return LoopResult(calls, calls, prompt_tokens, Drift(calls + 1, because, _told(answer)))
    return LoopResult(calls, calls, prompt_tokens)


def wrong_turn(answer: Message, number: int, page: str) -> str:
    """What is wrong with the call number `number`, which should open `page`; "" where nothing is."""
    if len(answer.tool_calls) != 1:
        return f"{len(answer.tool_calls)} calls, expected one; content {answer.content[:80]!r}"
    if fault := wrong_calls(answer, [TOOL], number):
        return fault.because
    arguments = read_json(answer.tool_calls[0].arguments)
    opened = arguments.get("page") if isinstance(arguments, dict) else None
    if opened != page:
        return f"the page {opened!r} was opened, and {page!r} was named"
    return "" if answer.finish_reason == "tool_calls" else f"finish_reason is {answer.finish_reason!r} behind a call"


def _body(messages: list[Mapping[str, object]]) -> Body:
    return {
        "messages": messages,
        "tools": [TOOL],
        "tool_choice": "auto",
        "temperature": 0,
        "max_tokens": ANSWER_TOKENS,
    }


def _back(answer: Message) -> Mapping[str, object]:
    """What the model said, as it goes back to it: the thinking under both names, since engines read one of them."""
    calls = [one.as_json() for one in answer.tool_calls]
    thinking = {"reasoning": answer.reasoning, "reasoning_content": answer.reasoning} if answer.reasoning else {}
    return {"role": "assistant", "content": answer.content, "tool_calls": calls, **thinking}


def _told(answer: Message) -> Mapping[str, object]:
    return {**_back(answer), "finish_reason": answer.finish_reason}


def _prompt_tokens(answer: Message, before: int) -> int:
    return (answer.usage.prompt_tokens or before) if answer.usage else before


def _stopped(answer: Malformed | Reply, calls: int, made: int, prompt_tokens: int) -> LoopResult:
    if isinstance(answer, Reply):
        return LoopResult(calls, made, prompt_tokens, None, f"HTTP {answer.status}: {answer.error_text()}")
    return LoopResult(calls, made, prompt_tokens, Drift(made + 1, answer.because, {}))
