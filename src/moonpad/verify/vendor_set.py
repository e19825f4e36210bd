"""Our own requests for the vendor verifier's two scores: generated, the same for the same seed. Pure.

Half of them need a call of one of the offered tools; the rest need words, although tools are offered. One in five has
an earlier conversation.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from moonpad.verify.offered_tools import Tool, call_turns, tool

COUNT: Final = 500
TEXT: Final = {"type": "string"}
CITIES: Final = ("Paris", "Rome", "Lima", "Oslo", "Kyoto", "Nairobi", "Zürich", "São Paulo", "北京")
PEOPLE: Final = ("Ada", "Zoë", "Grace", "Linus", "Mei")
WORDS: Final = ("harbour", "lantern", "orchard", "glacier", "saffron", "meadow")

TOOLS: Final[Mapping[str, tuple[Tool, str]]] = {
    "weather": (
        tool("get_weather", "Get the weather in a city.", ("city",), city=TEXT, days={"type": "integer", "minimum": 1}),
        "What is the weather in {city}?",
    ),
    "time": (
        tool("get-local-time", "Get the local time of a city.", ("city",), city=TEXT),
        "What time is it in {city}?",
    ),
    "mail": (
        tool("send_mail", "Send a mail to a person.", ("to", "subject"), to=TEXT, subject=TEXT, body=TEXT),
        "Send a mail to {person} with the subject {word}.",
    ),
    "train": (
        tool(
            "book_train",
            "Book a train between two cities.",
            ("route", "class"),
            route={"type": "object", "properties": {"from": TEXT, "to": TEXT}, "required": ["from", "to"]},
            **{"class": {"type": "string", "enum": ["first", "second"]}},
        ),
        "Book a second class train from {city} to {other}.",
    ),
    "orders": (
        tool(
            "search_orders",
            "Search orders by their status.",
            ("status",),
            status={"type": "array", "items": {"enum": ["open", "late", "sent"]}, "minItems": 1},
            limit={"type": "integer", "minimum": 1, "maximum": 100},
        ),
        "List at most {number} orders that are open or late.",
    ),
    "search": (tool("web_search", "Search the web.", ("query",), query=TEXT), "Search the web for {word} festivals."),
    "sum": (
        tool(
            "add_numbers",
            "Add numbers exactly.",
            ("numbers",),
            numbers={"type": "array", "items": {"type": "number"}, "minItems": 2},
        ),
        "Use the tool to add {number} and {more}.",
    ),
    "clock": (
        tool("get_server_time", "Get the current time of the server; no arguments."),
        "What is the server's time?",
    ),
}
TALK: Final = (
    "Hello! How are you?",
    "Write a sentence about a {word}.",
    "What does the word {word} mean?",
    "Thank you, {person} was glad.",
    "Spell the word {word} backwards.",
    "Which is longer, {word} or {other_word}?",
)


def own_requests(count: int = COUNT, seed: int = 0) -> list[dict[str, Any]]:
    """Bodies of chat requests, without a model."""
    dice = random.Random(f"vendor:{seed}")  # noqa: S311 - questions
    return [_request(dice, number) for number in range(count)]


def _request(dice: random.Random, number: int) -> dict[str, Any]:
    offered = dice.sample(sorted(TOOLS), dice.randint(1, 5))
    question = TOOLS[offered[0]][1] if number % 2 == 0 else dice.choice(TALK)
    tools = [TOOLS[name][0] for name in offered]
    dice.shuffle(tools)
    before = tuple(_before(dice, tools)) if number % 5 == 0 else ()
    messages = [*before, {"role": "user", "content": question.format(**_values(dice))}]
    return {"messages": messages, "tools": tools, "temperature": 0, "max_tokens": 1024, "stream": number % 3 == 0}


def _before(dice: random.Random, tools: Sequence[Tool]) -> Iterator[Mapping[str, Any]]:
    """An earlier call with its result and an answer; a greeting if the weather tool is not offered."""
    city = dice.choice(CITIES)
    if all(offered["function"]["name"] != "get_weather" for offered in tools):
        yield {"role": "user", "content": "Good morning!"}
        yield {"role": "assistant", "content": "Good morning. What can I do for you?"}
        return
    yield from call_turns({"content": ""}, city=city, degrees=dice.randint(5, 35))
    yield {"role": "assistant", "content": f"It is sunny in {city}."}


def _values(dice: random.Random) -> dict[str, object]:
    city, other = dice.sample(CITIES, 2)
    word, other_word = dice.sample(WORDS, 2)
    numbers = {"number": dice.randint(2, 60), "more": dice.randint(2, 900)}
    words = {"city": city, "other": other, "word": word, "other_word": other_word}
    return {**words, **numbers, "person": dice.choice(PEOPLE)}
