"""Calls of an engine's library in a text: engines that are made, what these are asked, and parameters of sampling."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from moonpad.explain.documents.client_calls import ClientCall, arguments, whole_call

_LONGEST: Final = 2000
_MAKES: Final = re.compile(
    r"^(?P<indent>[ \t]*)(?:(?P<name>[A-Za-z_][\w.]{0,80})[ ]*(?::[ ]*[\w.\[\]]{1,60}[ ]*)?=[ ]*)?(?:return[ ]+)?"
    r"(?:\w{1,40}\.)?(?P<kind>LLM|AsyncEngineArgs|EngineArgs)\("
)
_SAMPLES: Final = re.compile(r"(?<![\w.])(?:\w{1,40}\.)?SamplingParams\(")
_ASKS: Final = re.compile(r"(?<![\w.])(?P<name>[A-Za-z_][\w.]{0,80})\.(?P<kind>generate|chat|sleep)\(")
_COMMENT: Final = re.compile(r"\s*#")
_SIGNS: Final = ("LLM", "EngineArgs", "SamplingParams")


class EngineCall(NamedTuple):
    """`kind` is the class or the method, `name` the variable that it is kept in, or that it is called upon; `text`
    begins with the opening bracket."""

    kind: str
    line: int
    name: str
    text: str
    indent: int = 0

    @property
    def arguments(self) -> tuple[str, ...]:
        """The names in its own brackets."""
        return arguments(ClientCall("create", self.line, self.text))

    @property
    def is_open(self) -> bool:
        """Whether it may have arguments that are not there: `**options`, or a bracket that is not closed."""
        return "**" in self.text or not self.text.endswith(")")


class EngineCalls(NamedTuple):
    made: tuple[EngineCall, ...] = ()
    sampling: tuple[EngineCall, ...] = ()
    asked: tuple[EngineCall, ...] = ()

    def made_at(self, line: int) -> EngineCall | None:
        return next((call for call in self.made if call.line == line), None)

    def upon(self, made: EngineCall, *kinds: str) -> tuple[EngineCall, ...]:
        """The methods called below, upon what the engine is kept in."""
        if not made.name or sum(call.name == made.name for call in self.made) > 1:
            return ()
        return tuple(
            call for call in self.asked if call.name == made.name and call.kind in kinds and call.line > made.line
        )


@lru_cache(maxsize=8)
def engine_calls(lines: tuple[str, ...]) -> EngineCalls:
    """Those of a text, in its order; what stands in a comment is not one."""
    if not any(sign in line for line in lines for sign in _SIGNS):
        return EngineCalls()
    made, sampling, asked = list[EngineCall](), list[EngineCall](), list[EngineCall]()
    for number, line in enumerate(lines, 1):
        text = line[:_LONGEST]
        if "(" not in text or _COMMENT.match(text):
            continue
        if match := _MAKES.match(text):
            statement = whole_call(lines, number, match.end() - 1)
            made.append(EngineCall(match["kind"], number, match["name"] or "", statement, len(match["indent"])))
        if match := _SAMPLES.search(text):
            sampling.append(EngineCall("SamplingParams", number, "", whole_call(lines, number, match.end() - 1)))
        if match := _ASKS.search(text):
            statement = whole_call(lines, number, match.end() - 1)
            asked.append(EngineCall(match["kind"], number, match["name"], statement))
    return EngineCalls(tuple(made), tuple(sampling), tuple(asked))
