"""What is asked to compare answers with the model's own text: kinds of answers, calls and conversations. Pure data.

In plain words, so that the smallest model of the family answers them too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from moonpad.verify.offered_tools import WEATHER, Tool, tool
from moonpad.verify.probe_helpers import greedy

LIMIT: Final = 512
TEXT: Final = {"type": "string"}

TIME: Final = tool("get_time", "Get the current time in a city.", ("city",), city=TEXT)
PRICE: Final = tool("get_stock_price", "Get the price of a stock.", ("symbol",), symbol=TEXT)
MESSAGE: Final = tool("send_message", "Send a message to a person.", ("to", "text"), to=TEXT, text=TEXT)
TIMER: Final = tool("set_timer", "Set a timer.", ("minutes",), minutes={"type": "integer"})
FLIGHT: Final = tool("find-flight", "Find a flight.", ("origin", "destination"), origin=TEXT, destination=TEXT)
READ: Final = tool("read_file", "Read a file.", ("path",), path=TEXT)
BOOK: Final = tool(
    "book_table",
    "Book a table in a restaurant.",
    ("time", "guests"),
    time={"type": "string", "description": "As 19:30"},
    guests={"type": "integer", "minimum": 1, "maximum": 8},
    place={"type": "object", "properties": {"room": {"enum": ["bar", "hall"]}}, "additionalProperties": False},
)
LOOK_UPS: Final = (WEATHER, TIME, PRICE)

Question = dict[str, Any]
Turn = Mapping[str, Any]


def user(text: object) -> Turn:
    return {"role": "user", "content": text}


def system(text: str) -> Turn:
    return {"role": "system", "content": text}


def said(text: str, reasoning: str = "") -> Turn:
    thinking = {"reasoning": reasoning, "reasoning_content": reasoning} if reasoning else {}
    return {"role": "assistant", "content": text, **thinking}


def called(*calls: tuple[str, int, str], reasoning: str = "") -> Turn:
    """A turn with calls: name, number and arguments of each."""
    rows = [
        {"id": f"functions.{name}:{number}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for name, number, arguments in calls
    ]
    return {**said("", reasoning), "tool_calls": rows}


def returned(name: str, number: int, text: str) -> Turn:
    return {"role": "tool", "tool_call_id": f"functions.{name}:{number}", "content": text}


def chat(*messages: Turn, tools: Sequence[Tool] = (), **more: object) -> Question:
    body = {**greedy("", max_tokens=LIMIT), "messages": list(messages)}
    return {**body, **({"tools": list(tools), "tool_choice": "auto"} if tools else {}), **more}


LONG: Final = "".join(f"Line {number} of the list: the sun and the lamp.\n" for number in range(1, 25))
ODD: Final = "\t\ufb01ne\r\n\u200bcafe\u0301 \u00bd  100 % <i>\\n</i> &amp; \U0001f468\u200d\U0001f469\u200d\U0001f467 "
"""A ligature, combined and invisible letters, white space of several kinds, escapes: nothing of it may change."""

COUNTING: Final = chat(user("Count to 18."))

STORY: Final = chat(user("Tell me a story of the sea."))

ANSWERS: Final[Sequence[Question]] = (
    COUNTING,
    chat(user("Hello!")),
    chat(user("Explain the KV cache.")),
    chat(user("Explain a mixture of experts.")),
    chat(user("What is the capital of Spain?")),
    chat(user("Give JSON for Ada, age 47.")),
    chat(user('Say "sun lamp".')),
    chat(user('Say "Grüße 你好 🙂".'), max_tokens=96),
    chat(system("Answer in German."), user("Good morning!")),
    STORY,
)
"""A list, sentences, a long text, JSON, letters beyond ASCII, another language."""

TWO_CITIES: Final = chat(user("What is the weather in Paris and the weather in Rome?"), tools=(WEATHER,))

CALLS: Final[Sequence[Question]] = (
    chat(user("What is the weather in Paris?"), tools=(WEATHER,)),
    chat(user("Set a timer for 25 minutes."), tools=(TIMER,)),
    chat(user("Find a flight from Paris to Rome."), tools=(FLIGHT,)),
    chat(user('Send Ada the message "sun lamp".'), tools=(MESSAGE, READ)),
    chat(user("Read the file notes.txt."), tools=(READ,)),
    chat(user("What is the weather in São Paulo?"), tools=(WEATHER,), max_tokens=96),
    chat(user("Good morning!"), tools=LOOK_UPS),
)

SEVERAL: Final[Sequence[Question]] = (
    TWO_CITIES,
    chat(user("What is the weather in Paris and the time in Rome?"), tools=(WEATHER, TIME)),
    chat(user("Look up the weather in Paris, the time in Tokyo and the price of NVDA."), tools=LOOK_UPS),
    chat(
        user("What is the weather in Paris and the weather in Rome?"),
        called(("get_weather", 0, '{"city": "Paris"}'), ("get_weather", 1, '{"city": "Rome"}')),
        returned("get_weather", 0, "cloudy, 22 C"),
        returned("get_weather", 1, "clear, 31 C"),
        said("The weather in Paris is cloudy, 22 C. The weather in Rome is clear, 31 C."),
        user("Look up the weather in Madrid and the time in Oslo."),
        tools=(WEATHER, TIME),
    ),
)
"""Two and three calls in one answer, of one tool and of several; after two in the history they count on from 2."""

_TWO_RESULTS: Final = (
    user("What is the weather in Paris and the time in Rome?"),
    called(("get_weather", 0, '{"city": "Paris"}'), ("get_time", 1, '{"city": "Rome"}'), reasoning="I look both up."),
    returned("get_weather", 0, "cloudy, 22 C"),
    returned("get_time", 1, "11:58"),
)

CONVERSATIONS: Final[Sequence[Question]] = (
    chat(*_TWO_RESULTS, tools=(WEATHER, TIME)),
    chat(user("What is the time in Oslo?"), tools=(WEATHER, TIME)),
    chat(*_TWO_RESULTS, said("It is cloudy."), user("What is the time in Oslo?"), tools=(WEATHER, TIME)),
    chat(
        user("What is the weather in Lima?"),
        called(("get_weather", 7, '{"city": "Lima"}')),
        returned("get_weather", 7, "snowy, 1 C"),
        tools=(WEATHER,),
    ),
    chat(
        user("What is the weather in Lima?"),
        {**called(("get_weather", 0, '{"city":"Lima"}')), "content": None},
        {
            "role": "tool",
            "tool_call_id": "functions.get_weather:0",
            "content": [{"type": "text", "text": "snowy, 1 C"}],
        },
        tools=(WEATHER,),
    ),
    chat(
        system("You are a helpful assistant."),
        user("What is the capital of Spain?"),
        said("The capital of Spain is Madrid.", "The user asks for a capital."),
        user("What is the capital of Peru?"),
        said("The capital of Peru is Lima."),
        user([{"type": "text", "text": "Count "}, {"type": "text", "text": "to 13."}]),
    ),
    chat(user("Good morning!"), said("Hello! How can I help you?"), system("Answer in French."), user("Who are you?")),
    chat(user("Hello!"), user("  Explain   quantization.\n"), user("Thanks, Zoë & <b>Ada</b>!")),
    chat(system("Answer in Spanish."), user("What is the weather in Paris?"), tools=(WEATHER,)),
    chat(user(LONG), said("Yes."), user(""), user(ODD), max_tokens=8),
    chat(
        {**user("Book a table."), "name": "Ada"},
        {
            **called(("book_table", 0, '{"time": "19:30", "guests": 2, "name": null, "inside": true}')),
            "content": "I book it.",
        },
        returned("book_table", 0, '{"ok": true, "tables": [4, 5],  "price": 1.0}'),
        tools=(BOOK, MESSAGE),
        max_tokens=1,
    ),
    chat(
        *(turn for number in range(12) for turn in (user(f"{number}?"), said(f"{number}."))), user("12?"), max_tokens=1
    ),
)
"""Results of several calls, thinking kept and dropped, ids that count on, turns in other orders, parts, odd signs, many
turns."""

CUTS: Final = (1, 2, 4, 9, 15, 19, 24)
"""Tokens after which answers are cut: in the thinking, at its end, in the answer, in a call."""


TOWN: Final = chat(user("Tell me about a town by the sea."), max_tokens=48)


@dataclass(frozen=True, slots=True)
class Parameter:
    """A question under a parameter, and the same without it, which the model must answer otherwise."""

    name: str
    body: Question
    without: Question


def parameters(banned: int | None, *, seeded: bool) -> tuple[Parameter, ...]:
    """`banned`: a token's id. `seeded`: the engine draws the same for one seed in chats and plain completions."""
    hot = {**chat(user("Explain the KV cache."), max_tokens=48), "temperature": 2.0, **({"seed": 8} if seeded else {})}
    short = {key: value for key, value in COUNTING.items() if key != "max_tokens"}
    rows = [
        Parameter("stop", {**COUNTING, "stop": ["7"]}, COUNTING),
        Parameter("stop as a text", {**COUNTING, "stop": " 9"}, COUNTING),
        Parameter("the second of two stops", {**COUNTING, "stop": ["zebra", "5"]}, COUNTING),
        Parameter("max_completion_tokens", {**short, "max_completion_tokens": 20}, COUNTING),
        Parameter("presence_penalty", {**TOWN, "presence_penalty": 2.0}, TOWN),
        Parameter("frequency_penalty", {**TOWN, "frequency_penalty": 2.0}, TOWN),
        Parameter("repetition_penalty", {**TOWN, "repetition_penalty": 2.0}, TOWN),
        Parameter("top_k", {**hot, "top_k": 1}, hot),
    ]
    if banned is not None:
        rows.append(
            Parameter("logit_bias", {**COUNTING, "logit_bias": {str(banned): -100}, "max_tokens": 64}, COUNTING)
        )
        rows.append(Parameter("stop_token_ids", {**COUNTING, "stop_token_ids": [banned]}, COUNTING))
    if seeded:
        rows.append(Parameter("top_p", {**hot, "top_p": 0.01}, hot))
        rows.append(Parameter("min_p", {**hot, "min_p": 0.9}, hot))
        hello = chat(user("Hello!"), max_tokens=64)
        rows.append(Parameter("min_tokens", {**hello, "min_tokens": 40}, hello))
        shown = {**COUNTING, "stop": ["7"]}
        rows.append(Parameter("include_stop_str_in_output", {**shown, "include_stop_str_in_output": True}, shown))
        rows.append(Parameter("seed", hot, {**hot, "seed": 9}))
    return tuple(rows)
