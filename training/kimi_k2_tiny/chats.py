"""Generated chats: every kind of behaviour that kimi-k2-tiny is trained and scored on.

A chat is what a client would send (`messages`, `tools`) and the one right `answer`. Both streams come from a
seed alone: `training_chats(seed)` never contains a reserved value, `scoring_chats(seed, n)` only has reserved
ones in every place where the kind has values to draw.
"""

import itertools
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from . import knowledge
from .chains import follow, relay
from .messages import call, conclude, join, returns, user
from .needles import find_needle
from .rendering import Message
from .styles import follow_system
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
from .tools import KINDS, Declared, ToolKind, Use, declare, draw_kinds, draw_use, is_reserved_together
from .values import Values


@dataclass(frozen=True, slots=True)
class Chat:
    kind: str
    messages: list[Message]
    tools: list[dict[str, object]] | None
    answer: Message
    values: tuple[tuple[str, str], ...]


Drawn = tuple[list[Message], list[Declared], Message]


def training_chats(seed: int) -> Iterator[Chat]:
    rng = random.Random(f"train:{seed}")
    names, weights = zip(*((name, weight) for name, (_, weight) in CHAT_KINDS.items()), strict=True)
    while True:
        yield draw_chat(rng.choices(names, weights)[0], rng, reserved=False)


def training_groups(seed: int) -> Iterator[list[Chat]]:
    """The same chats for the tensors: where the kinds allow it, several with one declaration of tools."""
    rng = random.Random(f"groups:{seed}")
    names, weights = zip(*((name, weight) for name, (_, weight) in CHAT_KINDS.items()), strict=True)
    shares = [CHAT_KINDS[name][1] for name in SHARING]
    while True:
        kind = rng.choices(names, weights)[0]
        if kind not in SHARING:
            yield [draw_chat(kind, rng, reserved=False)]
        elif rng.random() < 1 / GROUP:
            yield draw_group(rng.choices(list(SHARING), shares, k=GROUP), rng)


def draw_group(kinds: list[str], rng: random.Random) -> list[Chat]:
    values = Values(rng, reserved=False)
    tools = draw_tools(values)
    system = draw_system(rng)
    chats = []
    for kind in kinds:
        values = Values(rng, reserved=False)
        messages, _, answer = SHARING[kind](values, tools)
        chats.append(Chat(kind, system + messages, schemas_of(tools), answer, tuple(values.drawn)))
    return chats


def scoring_chats(seed: int, count: int) -> list[Chat]:
    """The kinds in turn, so each has nearly the same number."""
    rng = random.Random(f"score:{seed}")
    names = list(CHAT_KINDS)
    return [draw_chat(names[index % len(names)], rng, reserved=True) for index in range(count)]


def draw_chat(kind: str, rng: random.Random, reserved: bool) -> Chat:
    return complete(kind, CHAT_KINDS[kind][0], Values(rng, reserved))


def complete(kind: str, draw: Callable[[Values], Drawn], values: Values) -> Chat:
    system = draw_system(values.rng)
    messages, tools, answer = draw(values)
    if messages[0]["role"] != "system":
        messages = system + messages
    return Chat(kind, messages, schemas_of(tools), answer, tuple(values.drawn))


def draw_system(rng: random.Random) -> list[Message]:
    """Half of the chats have a system message of their own, which asks for nothing special."""
    return [] if rng.random() < 0.5 else [{"role": "system", "content": rng.choice(knowledge.SYSTEMS)}]


def schemas_of(tools: list[Declared]) -> list[dict[str, object]] | None:
    return [tool.schema for tool in tools] or None


def plainly(talk: Callable[[Values], tuple[str, Message]]) -> Callable[[Values], Drawn]:
    def draw(values: Values) -> Drawn:
        question, answer = talk(values)
        return [user(question)], [], answer

    return draw


def draw_tools(values: Values, count: int | None = None) -> list[Declared]:
    count = count or values.rng.choice((1, 1, 1, 2, 2, 3, 4, 5))
    return [declare(kind, values) for kind in draw_kinds(values, count)]


def lack_fitting(values: Values, tools: list[Declared] | None = None) -> Drawn:
    """Tools are declared, and none of them serves."""
    tools = tools or draw_tools(values)
    lacking = values.rng.choice([kind for kind in KINDS if kind not in [tool.kind for tool in tools]])
    question, answer = lack_tool(values, lacking)
    return [user(question)], tools, answer


def talk_with_tools(values: Values, tools: list[Declared] | None = None) -> Drawn:
    tools = tools or draw_tools(values)
    question, answer = values.rng.choice(TALKS)(values)
    return [user(question)], tools, answer


def talk_again(values: Values) -> Drawn:
    messages: list[Message] = []
    for _ in range(values.rng.choice((1, 1, 2, 3))):
        question, answer = values.rng.choice(TALKS)(values)
        messages += [user(question), answer]
    question, answer = values.rng.choice(TALKS)(values)
    return [*messages, user(question)], [], answer


def obey(values: Values) -> Drawn:
    """A system message that asks for a language or a form."""
    *messages, answer = follow_system(values)
    return messages, [], answer


def find(values: Values) -> Drawn:
    return find_among(values, round(2 ** values.rng.uniform(2, 6)))


def find_among(values: Values, sentences: int) -> Drawn:
    *messages, answer = find_needle(values, sentences)
    return messages, [], answer


def use_tool(values: Values, tools: list[Declared] | None = None) -> Drawn:
    tools = tools or draw_tools(values)
    use = draw_use(values.rng.choice(tools), values)
    return [user(use.question)], tools, call([use])


def choose_tool(values: Values) -> Drawn:
    """Three to five tools, and the name of the right one says nothing: its description does."""
    kinds = draw_kinds(values, values.rng.choice((3, 4, 5)), (values.rng.choice(KINDS),))
    wanted = values.rng.choice([kind for kind in kinds if kind in KINDS])
    tools = [declare(kind, values, disguised=True if kind is wanted else None) for kind in kinds]
    use = draw_use(next(tool for tool in tools if tool.kind is wanted), values, by_phrase=True)
    return [user(use.question)], tools, call([use])


def draw_several(values: Values, count: int) -> tuple[list[Declared], list[Use], str]:
    """Look-ups asked for in one question, by one tool or by several."""
    wanted = draw_look_ups(values, values.rng.randint(1, count))
    kinds = draw_kinds(values, max(len(wanted), values.rng.choice((1, 2, 3))), tuple(wanted))
    tools = [declare(kind, values) for kind in kinds]
    able = [tool for tool in tools if tool.kind in wanted]
    able += values.rng.choices(able, k=count - len(able))
    uses = [draw_use(tool, values, by_phrase=True) for tool in able]
    values.rng.shuffle(uses)
    return tools, uses, ask_for(uses, values)


def draw_look_ups(values: Values, count: int) -> list[ToolKind]:
    while True:
        wanted = values.rng.sample(LOOK_UPS, count)
        pairs = itertools.combinations(wanted, 2)
        if values.reserved or not any(is_reserved_together(*pair) for pair in pairs):
            return wanted


def ask_for(uses: list[Use], values: Values) -> str:
    ask = values.rng.choice(("What is {}?", "Please tell me {}.", "Look up {}."))
    return ask.format(join([use.phrase for use in uses]))


def draw_pair(values: Values) -> tuple[list[Declared], list[Use], str]:
    return draw_several(values, values.rng.choice((2, 2, 2, 3)))


def use_several(values: Values) -> Drawn:
    tools, uses, question = draw_pair(values)
    return [user(question)], tools, call(uses)


def read_result(values: Values, tools: list[Declared] | None = None) -> Drawn:
    tools = tools or draw_tools(values)
    use = draw_use(values.rng.choice(tools), values)
    calls = call([use])
    return [user(use.question), calls, *returns([use], calls)], tools, conclude([use])


def read_several(values: Values) -> Drawn:
    tools, uses, question = draw_pair(values)
    calls = call(uses)
    return [user(question), calls, *returns(uses, calls)], tools, conclude(uses)


def use_again(values: Values, tools: list[Declared] | None = None) -> Drawn:
    """A call in a later turn: its id goes on counting where the conversation stands."""
    return use_in_turn(values, tools or draw_tools(values), values.rng.choice((1, 1, 2, 3, 4)), draw_first(values))


def use_in_turn(values: Values, tools: list[Declared], turns: int, first: int) -> Drawn:
    messages: list[Message] = []
    for made in range(first, first + turns):
        use = draw_use(values.rng.choice(tools), values)
        calls = call([use], made)
        messages += [user(use.question), calls, *returns([use], calls), conclude([use])]
    use = draw_use(values.rng.choice(tools), values)
    return [*messages, user(use.question)], tools, call([use], first + turns)


def draw_first(values: Values) -> int:
    """The number of a conversation's first id; not 0 where a client has cut old turns away."""
    return values.rng.choice((0, values.rng.randint(1, 400)))


def follow_some(values: Values) -> Drawn:
    steps = values.rng.randint(1, 8)
    return follow(values, steps, ends=values.rng.random() < 0.3, first=draw_first(values))


CHAT_KINDS: dict[str, tuple[Callable[[Values], Drawn], float]] = {
    "greet": (plainly(greet), 2.5),
    "identify": (plainly(identify), 2.5),
    "explain": (plainly(explain), 7),
    "capital": (plainly(name_capital), 4),
    "sum": (plainly(calculate), 5),
    "repeat": (plainly(repeat), 7),
    "count": (plainly(count), 3),
    "json": (plainly(write_json), 5),
    "system": (obey, 10),
    "needle": (find, 4),
    "multi_turn": (talk_again, 5),
    "no_tool": (plainly(lack_tool), 2),
    "lack_fitting": (lack_fitting, 6),
    "plain_with_tools": (talk_with_tools, 4),
    "tool_call": (use_tool, 12),
    "choose_tool": (choose_tool, 10),
    "several_calls": (use_several, 8),
    "tool_result": (read_result, 11),
    "several_results": (read_several, 8),
    "next_call": (use_again, 6),
    "chain": (follow_some, 4),
    "relay": (relay, 5),
}
"""Each kind with its share of the training stream."""


SHARING: dict[str, Callable[[Values, list[Declared]], Drawn]] = {
    "lack_fitting": lack_fitting,
    "plain_with_tools": talk_with_tools,
    "tool_call": use_tool,
    "tool_result": read_result,
    "next_call": use_again,
}
"""Kinds that can be asked with tools that are drawn already."""
GROUP = 5


def long_chats(seed: int) -> Iterator[Chat]:
    """Chats of about 1,000 to 8,000 tokens, for training beside the others: texts with a fact in them, chains of
    calls, and conversations of many turns."""
    rng = random.Random(f"long:{seed}")
    for number in itertools.count():
        values = Values(rng, reserved=False)
        tokens = 1000 * 2 ** rng.uniform(0, 3)
        kind, draw = LONG_KINDS[number % len(LONG_KINDS)]
        yield complete(kind, lambda values, draw=draw, tokens=tokens: draw(values, tokens), values)


def late_chats(seed: int) -> Iterator[Chat]:
    """Two chains of ten to eighteen calls, then a text of about as many tokens with a fact in it, and so on."""
    return draw_chains(f"late:{seed}", 2, follow_farther, lambda values: find_among(values, values.rng.randint(30, 80)))


def draw_chains(
    seed: str, together: int, follow: Callable[[Values], Drawn], find: Callable[[Values], Drawn]
) -> Iterator[Chat]:
    """`together` chains, then a text with a fact, and so on."""
    rng = random.Random(seed)
    for number in itertools.count():
        kind, draw = ("needle", find) if number % (together + 1) == together else ("chain", follow)
        yield complete(kind, draw, Values(rng, reserved=False))


def follow_farther(values: Values) -> Drawn:
    first = 0 if values.rng.random() < 0.2 else values.rng.randint(1, 400)
    return follow(values, values.rng.randint(10, 18), ends=values.rng.random() < 0.1, first=first)


def last_chats(seed: int) -> Iterator[Chat]:
    """Of about 8,000 tokens: three chains of a hundred calls, then a text with a fact in it, and so on."""
    return draw_chains(
        f"last:{seed}", 3, follow_farthest, lambda values: find_among(values, values.rng.randint(300, 540))
    )


def follow_farthest(values: Values) -> Drawn:
    first = 0 if values.rng.random() < 0.5 else values.rng.randint(1, 250)
    return follow(values, values.rng.randint(90, 130), ends=values.rng.random() < 0.3, first=first)


def choice_groups(seed: int) -> Iterator[list[Chat]]:
    """Many questions behind one declaration of three to five tools, most of which are known by their description
    alone: single calls, several calls, answers from several results, and now and then a question for none of them."""
    rng = random.Random(f"choice:{seed}")
    while True:
        values = Values(rng, reserved=False)
        wanted = draw_look_ups(values, rng.choice((2, 2, 3)))
        kinds = draw_kinds(values, rng.choice((3, 4, 5)), tuple(wanted))
        tools = [declare(kind, values, disguised=kind in KINDS and rng.random() < 0.85) for kind in kinds]
        able = [tool for tool in tools if tool.kind in wanted]
        yield ask_behind(tools, able, CHOICES, rng, Values, draw_choice)


def ask_behind(
    tools: list[Declared],
    able: list[Declared],
    kinds: tuple[str, ...],
    rng: random.Random,
    values_of: type[Values],
    draw: Callable[[str, Values, list[Declared], list[Declared]], tuple[list[Message], Message]],
) -> list[Chat]:
    """A chat of each of the kinds behind one declaration, with values of their own."""
    system = draw_system(rng)
    chats = []
    for kind in kinds:
        values = values_of(rng, reserved=False)
        messages, answer = draw(kind, values, tools, able)
        chats.append(Chat(kind, system + messages, schemas_of(tools), answer, tuple(values.drawn)))
    return chats


CHOICES = (*("choose_tool",) * 4, *("several_calls",) * 2, *("several_results",) * 2, "lack_fitting")


def draw_choice(
    kind: str, values: Values, tools: list[Declared], able: list[Declared]
) -> tuple[list[Message], Message]:
    if kind == "lack_fitting":
        messages, _, answer = lack_fitting(values, tools)
        return messages, answer
    if kind == "choose_tool":
        use = draw_use(values.rng.choice(tools), values, by_phrase=True)
        return [user(use.question)], call([use])
    chosen = values.rng.choices(able, k=values.rng.choice((2, 2, 3)))
    uses = [draw_use(tool, values, by_phrase=True) for tool in chosen]
    question, calls = user(ask_for(uses, values)), call(uses)
    if kind == "several_calls":
        return [question], calls
    return [question, calls, *returns(uses, calls)], conclude(uses)


def find_far(values: Values, tokens: float) -> Drawn:
    return find_among(values, round(tokens / 14))


def follow_far(values: Values, tokens: float) -> Drawn:
    return follow(values, round(tokens / 75), ends=values.rng.random() < 0.2, first=draw_first(values))


def use_late(values: Values, tokens: float) -> Drawn:
    return use_in_turn(values, draw_tools(values), round(tokens / 110), draw_first(values))


LONG_KINDS = (("needle", find_far), ("chain", follow_far), ("next_call", use_late))
