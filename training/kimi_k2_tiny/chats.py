"""Generated chats: every kind of behaviour that kimi-k2-tiny is trained and scored on.

A chat is what a client would send (`messages`, `tools`) and the one right `answer`. Both streams come from a
seed alone: `training_chats(seed)` never contains a reserved value, `scoring_chats(seed, n)` only has reserved
ones in every place where the kind has values to draw.
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from . import knowledge
from .messages import call, conclude, returns, user
from .rendering import Message
from .talks import (
    LOOK_UPS,
    TALKS,
    calculate,
    count,
    explain,
    greet,
    identify,
    lack_tool,
    name_capital,
    repeat,
    write_json,
)
from .tools import Declared, Use, declare, draw_kinds, draw_use
from .values import Values


@dataclass(frozen=True, slots=True)
class Chat:
    kind: str
    messages: list[Message]
    tools: list[dict[str, object]] | None
    answer: Message
    values: tuple[tuple[str, str], ...]


def training_chats(seed: int) -> Iterator[Chat]:
    rng = random.Random(f"train:{seed}")
    names, weights = zip(*((name, weight) for name, (_, weight) in CHAT_KINDS.items()), strict=True)
    while True:
        yield draw_chat(rng.choices(names, weights)[0], rng, reserved=False)


def scoring_chats(seed: int, count: int) -> list[Chat]:
    """The kinds in turn, so each has nearly the same number."""
    rng = random.Random(f"score:{seed}")
    names = list(CHAT_KINDS)
    return [draw_chat(names[index % len(names)], rng, reserved=True) for index in range(count)]


def draw_chat(kind: str, rng: random.Random, reserved: bool) -> Chat:
    values = Values(rng, reserved)
    system = [] if rng.random() < 0.5 else [{"role": "system", "content": rng.choice(knowledge.SYSTEMS)}]
    messages, tools, answer = CHAT_KINDS[kind][0](values)
    return Chat(kind, system + messages, [tool.schema for tool in tools] or None, answer, tuple(values.drawn))


Drawn = tuple[list[Message], list[Declared], Message]


def plainly(talk: Callable[[Values], tuple[str, Message]]) -> Callable[[Values], Drawn]:
    def draw(values: Values) -> Drawn:
        question, answer = talk(values)
        return [user(question)], [], answer

    return draw


def draw_tools(values: Values, count: int | None = None) -> list[Declared]:
    count = count or values.rng.choice((1, 1, 1, 2, 2, 3))
    return [declare(kind, values.rng) for kind in draw_kinds(values, count)]


def talk_with_tools(values: Values) -> Drawn:
    tools = draw_tools(values)
    if values.rng.random() < 0.2:
        lacking = values.rng.choice(LOOK_UPS)
        question, answer = lack_tool(values, lacking)
        return [user(question)], [tool for tool in tools if tool.kind is not lacking], answer
    question, answer = values.rng.choice(TALKS)(values)
    return [user(question)], tools, answer


def talk_again(values: Values) -> Drawn:
    messages: list[Message] = []
    for _ in range(values.rng.choice((1, 1, 2))):
        question, answer = values.rng.choice(TALKS)(values)
        messages += [user(question), answer]
    question, answer = values.rng.choice(TALKS)(values)
    return [*messages, user(question)], [], answer


def use_tool(values: Values) -> Drawn:
    tools = draw_tools(values)
    use = draw_use(values.rng.choice(tools), values)
    return [user(use.question)], tools, call([use])


def draw_pair(values: Values) -> tuple[list[Declared], list[Use], str]:
    """Two look-ups asked for in one question, by one tool or by two."""
    wanted = values.rng.sample(LOOK_UPS, values.rng.choice((1, 2)))
    kinds = draw_kinds(values, max(len(wanted), values.rng.choice((1, 2))), tuple(wanted))
    tools = [declare(kind, values.rng) for kind in kinds]
    able = [tool for tool in tools if tool.kind in wanted]
    uses = [draw_use(able[0], values, by_phrase=True), draw_use(able[-1], values, by_phrase=True)]
    values.rng.shuffle(uses)
    ask = values.rng.choice(("What is {} and {}?", "Please tell me {} and {}.", "Look up {} and {}."))
    return tools, uses, ask.format(uses[0].phrase, uses[1].phrase)


def use_two(values: Values) -> Drawn:
    tools, uses, question = draw_pair(values)
    return [user(question)], tools, call(uses)


def read_result(values: Values) -> Drawn:
    tools = draw_tools(values)
    use = draw_use(values.rng.choice(tools), values)
    calls = call([use])
    return [user(use.question), calls, *returns([use], calls)], tools, conclude([use])


def read_two(values: Values) -> Drawn:
    tools, uses, question = draw_pair(values)
    calls = call(uses)
    return [user(question), calls, *returns(uses, calls)], tools, conclude(uses)


def use_again(values: Values) -> Drawn:
    """A call in a later turn: its id goes on counting where the conversation stands."""
    tools = draw_tools(values)
    messages: list[Message] = []
    made = 0
    for _ in range(values.rng.choice((1, 1, 2))):
        use = draw_use(values.rng.choice(tools), values)
        calls = call([use], made)
        messages += [user(use.question), calls, *returns([use], calls), conclude([use])]
        made += 1
    use = draw_use(values.rng.choice(tools), values)
    return [*messages, user(use.question)], tools, call([use], made)


CHAT_KINDS: dict[str, tuple[Callable[[Values], Drawn], float]] = {
    "greet": (plainly(greet), 2),
    "identify": (plainly(identify), 2),
    "explain": (plainly(explain), 6),
    "capital": (plainly(name_capital), 4),
    "sum": (plainly(calculate), 18),
    "repeat": (plainly(repeat), 7),
    "count": (plainly(count), 3),
    "json": (plainly(write_json), 4),
    "no_tool": (plainly(lack_tool), 3),
    "plain_with_tools": (talk_with_tools, 6),
    "multi_turn": (talk_again, 4),
    "tool_call": (use_tool, 16),
    "two_calls": (use_two, 7),
    "tool_result": (read_result, 15),
    "two_results": (read_two, 5),
    "next_call": (use_again, 6),
}
"""Each kind with its share of the training stream."""
