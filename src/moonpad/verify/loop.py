"""An agent that calls a tool hundreds of times, with all of its history, in a world that knows what comes next.

Seed 3 promises 200 to 300 consecutive calls. The tool opens a page, which names the next one; each turn is checked: one
call, of the tool that is there, with arguments by its schema, Kimi's id counted on, and the page that was named. The
first turn where one of these is not so is the drift.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from moonpad.load.wire import Malformed, Message, Reply, read_json
from moonpad.verify.api import Api, Body
from moonpad.verify.tools import tool, wrong_calls, wrong_end

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
class Turn:
    """One answer. `number` counts from 1; that behind the last call is the answer in words.

    seconds: from the question to the whole answer.
    prompt_tokens: of the history, by the server's count; None where it gives none.
    because: what is wrong with it; "" where nothing is.
    answer: the message as it goes back to the model.
    result: what the tool says to it; "" where nothing is called any more.
    """

    number: int
    seconds: float
    prompt_tokens: int | None
    because: str
    answer: Mapping[str, Any]
    result: str = ""

    def as_json(self) -> dict[str, object]:
        return {
            "turn": self.number,
            "seconds": round(self.seconds, 3),
            "prompt_tokens": self.prompt_tokens,
            "because": self.because,
            "answer": dict(self.answer),
            "result": self.result,
        }


def turn_of(row: Mapping[str, Any]) -> Turn | None:
    """What `as_json` made; None where it is another thing."""
    try:
        turn = Turn(row["turn"], row["seconds"], row["prompt_tokens"], row["because"], row["answer"], row["result"])
        id_ = turn.answer["tool_calls"][0]["id"] if turn.result and not turn.because else ""
    except (KeyError, IndexError, TypeError):
        return None
    texts = (turn.because, turn.result, id_)
    return turn if isinstance(turn.number, int) and all(isinstance(one, str) for one in texts) else None


@dataclass(frozen=True, slots=True)
class LoopResult:
    """`ended`: why it could not go on, where that is no drift: the context is full, nobody answers, it was stopped."""

    calls: int
    turns: tuple[Turn, ...]
    ended: str = ""

    @property
    def drift(self) -> Turn | None:
        """The first answer that is wrong."""
        return next((turn for turn in self.turns if turn.because), None)

    @property
    def made(self) -> int:
        """Calls that were right."""
        return min(self.calls, sum(not turn.because for turn in self.turns))

    @property
    def prompt_tokens(self) -> int:
        """Of the history at the last answer whose tokens were counted."""
        return next((turn.prompt_tokens for turn in reversed(self.turns) if turn.prompt_tokens), 0)

    @property
    def whole(self) -> bool:
        return self.drift is None and not self.ended

    def as_json(self) -> dict[str, object]:
        drift = self.drift
        return {
            "calls": self.calls,
            "made": self.made,
            "prompt_tokens": self.prompt_tokens,
            "seconds": round(sum(turn.seconds for turn in self.turns), 3),
            "drift": None if drift is None else drift.as_json(),
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
    api: Api,
    calls: int = CALLS,
    seed: int = 0,
    past: Sequence[Turn] = (),
    on_turn: Callable[[Turn], None] = lambda turn: None,
    clock: Callable[[], float] = time.monotonic,
) -> LoopResult:
    """`past`: turns of the same pages that were right, with which it goes on; `on_turn` gets each further one.

    Raises ContactLost where nothing answers any more.
    """
    names = pages(calls, seed)
    messages: list[Mapping[str, Any]] = [{"role": "user", "content": TASK.format(names[0])}]
    turns = list(past)
    for turn in past:
        messages += _said(turn)
    for number in range(len(past) + 1, calls + 2):
        started_s = clock()
        answer = await api.chat(_body(messages))
        seconds = clock() - started_s
        if isinstance(answer, Reply):
            return LoopResult(calls, tuple(turns), f"HTTP {answer.status}: {answer.error_text()}")
        turn = _turn(answer, number, seconds, names)
        turns.append(turn)
        on_turn(turn)
        if turn.because:
            break
        messages += _said(turn)
    return LoopResult(calls, tuple(turns))


def _turn(answer: Message | Malformed, number: int, seconds: float, names: Sequence[str]) -> Turn:
    if isinstance(answer, Malformed):
        return Turn(number, seconds, None, answer.because, {})
    tokens = answer.usage.prompt_tokens if answer.usage else None
    told = {**answer.as_history(), "finish_reason": answer.finish_reason}
    if number > len(names):
        return Turn(number, seconds, tokens, wrong_last(answer), told)
    result = NEXT.format(names[number]) if number < len(names) else END
    return Turn(number, seconds, tokens, wrong_turn(answer, number - 1, names[number - 1]), told, result)


def _said(turn: Turn) -> Sequence[Mapping[str, Any]]:
    """The messages of a turn in the history."""
    if not turn.result:
        return ()
    back = {name: value for name, value in turn.answer.items() if name != "finish_reason"}
    return (back, {"role": "tool", "tool_call_id": back["tool_calls"][0]["id"], "content": turn.result})


def wrong_last(answer: Message) -> str:
    """What is wrong with the answer behind the last call."""
    if answer.tool_calls or answer.finish_reason != "stop":
        return f"the last page names no next one, and the answer has {len(answer.tool_calls)} calls"
    return ""


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
    return fault.because if (fault := wrong_end(answer)) else ""


def _body(messages: list[Mapping[str, Any]]) -> Body:
    return {
        "messages": messages,
        "tools": [TOOL],
        "tool_choice": "auto",
        "temperature": 0,
        "max_tokens": ANSWER_TOKENS,
    }
