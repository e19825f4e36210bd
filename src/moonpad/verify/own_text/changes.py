"""What a server made of an answer of the model, as the judgement of one answer says it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from moonpad.verify.api import Asked, Body
from moonpad.verify.own_text.difference import Difference

MOST_SHOWN: Final = 3


@dataclass(frozen=True, slots=True)
class Change:
    """What the server changed: where in an answer, in which part of it, and in a sentence with both texts."""

    where: str
    part: str
    text: str
    streamed: bool


@dataclass(frozen=True, slots=True)
class Examination:
    """compared: answers that were judged by the model's own text. changes: what the server made of them. reasons: why
    other answers could not be compared, each once. known: changes that the engine itself is known to make."""

    compared: int = 0
    changes: tuple[Change, ...] = ()
    reasons: tuple[str, ...] = ()
    known: tuple[str, ...] = ()


def change_of(asked: Asked, part: str, text: str) -> Change:
    where = part.partition(" from character")[0] if asked.how == "whole" else "the stream"
    return Change(where, part, f"the {asked.how} answer to {_question(asked.body)}: {text}", asked.how == "streamed")


def changes_of(asked: Asked, wrong: Sequence[Difference], source: str = "the model's own text") -> Examination:
    return Examination(1, tuple(change_of(asked, row.part, row.against(source)) for row in wrong[:MOST_SHOWN]))


def _question(body: Body) -> str:
    messages: Any = body["messages"]
    content = messages[-1].get("content") if messages else ""
    return repr(str(content)[-60:])
