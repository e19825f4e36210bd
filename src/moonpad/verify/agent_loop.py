"""An agent that calls a tool hundreds of times with its whole history; the next right call is always known.

Kimi K2 Thinking is said to make 200 to 300 consecutive calls. The tool opens a page, which names the next one; each
turn must have one call, of the offered tool, with arguments valid by its schema, the next id, and the page that was
named. The first turn that breaks one of these is the drift.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from moonpad.load.openai_schema import Malformed, Message, Reply
from moonpad.values.errors import CheckFailed
from moonpad.verify.api import Api
from moonpad.verify.offered_tools import argument, tool, wrong_calls, wrong_end

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


class LoopTurn(msgspec.Struct, frozen=True, rename={"number": "turn"}):
    """One answer. `number` counts from 1; the answer in words after the last call has the last number.

    seconds: from the question to the whole answer.
    prompt_tokens: of the history, by the server's count; None where it reports none.
    because: what is wrong with it; "" where nothing is.
    answer: the message as it goes back to the model.
    result: what the tool returns; "" where no call is expected any more.
    """

    number: int
    seconds: float
    prompt_tokens: int | None
    because: str
    answer: dict[str, Any]
    result: str = ""

    def as_json(self) -> dict[str, object]:
        return {**msgspec.to_builtins(self), "seconds": round(self.seconds, 3)}


def turn_of(row: Mapping[str, Any]) -> LoopTurn | None:
    """The inverse of `as_json`; None where the row is not a turn that can be continued."""
    try:
        turn = msgspec.convert(row, LoopTurn)
        call_id = turn.answer["tool_calls"][0]["id"] if turn.result and not turn.because else ""
    except (msgspec.ValidationError, KeyError, IndexError, TypeError):
        return None
    return turn if isinstance(call_id, str) else None


@dataclass(frozen=True, slots=True)
class LoopResult:
    """`ended`: why it stopped without a drift, as for a full context, a lost endpoint, an interrupt by the user."""

    calls: int
    turns: tuple[LoopTurn, ...]
    ended: str = ""

    @property
    def drift(self) -> LoopTurn | None:
        """The first wrong answer."""
        return next((turn for turn in self.turns if turn.because), None)

    @property
    def made(self) -> int:
        """Right calls."""
        return min(self.calls, sum(not turn.because for turn in self.turns))

    @property
    def prompt_tokens(self) -> int:
        """Of the history, at the last answer that has a count."""
        return next((turn.prompt_tokens for turn in reversed(self.turns) if turn.prompt_tokens), 0)

    @property
    def complete(self) -> bool:
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
    """`count` different made-up names; the same seed gives the same names."""
    dice = random.Random(f"pages:{seed}")  # noqa: S311 - names of pages
    names: dict[str, None] = {}
    while len(names) < count:
        names["".join(dice.choice("bdfgklmnprst") + dice.choice("aeiou") for _ in range(3))] = None
    return list(names)


async def run_loop(
    api: Api,
    calls: int = CALLS,
    seed: int = 0,
    past: Sequence[LoopTurn] = (),
    on_turn: Callable[[LoopTurn], None] = lambda turn: None,
    clock: Callable[[], float] = time.monotonic,
) -> LoopResult:
    """`past`: right turns of the same pages, after which it continues; `on_turn` gets each new one.

    Raises ContactLost when nothing answers any more.
    """
    names = pages(calls, seed)
    messages: list[Mapping[str, Any]] = [{"role": "user", "content": TASK.format(names[0])}]
    turns = list(past)
    for turn in past:
        messages += _history_of(turn)
    for number in range(len(past) + 1, calls + 2):
        started_s = clock()
        body = {"messages": messages, "tools": [TOOL], "tool_choice": "auto", "temperature": 0}
        try:
            answer = await api.chat({**body, "max_tokens": ANSWER_TOKENS})
        except CheckFailed as wrong:  # too long, or packed
            answer = Malformed(wrong.message)
        seconds = clock() - started_s
        if isinstance(answer, Reply):
            return LoopResult(calls, tuple(turns), answer.because)
        turn = _turn(answer, number, seconds, names)
        turns.append(turn)
        on_turn(turn)
        if turn.because:
            break
        messages += _history_of(turn)
    return LoopResult(calls, tuple(turns))


def _turn(answer: Message | Malformed, number: int, seconds: float, names: Sequence[str]) -> LoopTurn:
    if isinstance(answer, Malformed):
        return LoopTurn(number, seconds, None, answer.because, {})
    tokens = answer.usage.prompt_tokens if answer.usage else None
    message = {**answer.as_history(), "finish_reason": answer.finish_reason}
    if number > len(names):
        return LoopTurn(number, seconds, tokens, wrong_last(answer), message)
    result = NEXT.format(names[number]) if number < len(names) else END
    return LoopTurn(number, seconds, tokens, wrong_turn(answer, number - 1, names[number - 1]), message, result)


def _history_of(turn: LoopTurn) -> Sequence[Mapping[str, Any]]:
    """The messages that a turn adds to the conversation."""
    if not turn.result:
        return ()
    back = {name: value for name, value in turn.answer.items() if name != "finish_reason"}
    return (back, {"role": "tool", "tool_call_id": back["tool_calls"][0]["id"], "content": turn.result})


def wrong_last(answer: Message) -> str:
    """What is wrong with the answer after the last call."""
    if answer.tool_calls or answer.finish_reason != "stop":
        return f"the last page names no next one, but the answer has {len(answer.tool_calls)} calls"
    return ""


def wrong_turn(answer: Message, number: int, page: str) -> str:
    """What is wrong with the call number `number`, which must open `page`; "" where nothing is."""
    if len(answer.tool_calls) != 1:
        return f"{len(answer.tool_calls)} calls, expected one; content {answer.content[:80]!r}"
    if fault := wrong_calls(answer, [TOOL], number):
        return fault.because
    opened = argument(answer.tool_calls[0], "page")
    if opened != page:
        return f"the page {opened!r} was opened, {page!r} was named"
    return fault.because if (fault := wrong_end(answer)) else ""
