"""Set B: tools and wordings that no training chat has. Reported as it is; nothing is tuned to it."""

import random
from collections.abc import Callable

from . import knowledge
from .chats import Chat, Drawn, complete
from .messages import call, conclude, returns, say, user
from .talks import repeat
from .tools import KINDS, PLACE, Declared, Parameter, ToolKind, Use, declare, draw_kinds, draw_use
from .values import Values

TOOLS = (
    ToolKind(
        ("get_population",), ("Get the number of people who live in a city.",), (PLACE,),
        ("How many people live in {0}?", "What is the population of {0}?"),
        "I look up the people ({name}) for {0}.", lambda values: str(values.number("population", 1000, 9999999)),
        "The population of {0} is {result}.",
    ),
    ToolKind(
        ("book_table",), ("Book a table in a restaurant.",),
        (Parameter(("restaurant",), Values.place), Parameter(("guests",), lambda values: values.number("guests", 2, 99),
         (), "integer")),
        ("Book a table at {0} for {1} people.", "Reserve a table for me at {0}, {1} guests."),
        "I book a table ({name}): {0}, {1}.",
        lambda values: f"booked as {values.code()}", "The table at {0} is {result}.",
    ),
    ToolKind(
        ("play_song",), ("Play a song.",), (Parameter(("title",), Values.words),),
        ('Play "{0}".', 'Put on the song "{0}".'),
        'I play a song ({name}): "{0}".', lambda values: f"playing {values.made_up()}", "The player says: {result}.",
    ),
    ToolKind(
        ("define_word",), ("Look up a word in the dictionary.",), (Parameter(("word",), Values.made_up),),
        ("What does the word {0} mean?", "Define {0}."),
        "I look up the word ({name}): {0}.", Values.words, "{0} means {result}.",
    ),
    ToolKind(
        ("track_parcel",), ("Say where a parcel is.",), (Parameter(("number",), Values.code),),
        ("Where is my parcel {0}?", "Track the parcel {0}."),
        "I track the parcel ({name}): {0}.", Values.place, "The parcel {0} is in {result}.",
    ),
)  # fmt: skip

WORDINGS = {
    "get_weather": ("Could you check if I need an umbrella in {0}?", "I travel to {0}: how is it outside there?"),
    "get_time": ("If I call somebody in {0} now, how late is it for them?", "Do you know the hour in {0}?"),
    "get_stock_price": ("How much does one share of {0} cost?", "I own {0}. What is it worth today?"),
    "search": ('Find pages about "{0}" for me.', 'Google "{0}", please.'),
    "translate": ('I need "{0}" in {1}.', 'Put "{0}" into {1} for me.'),
    "send_message": ('Let {0} know: "{1}"', '{0} should hear this: "{1}"'),
    "find_flight": ("How can I fly from {0} to {1}?", "I want to leave {0} by plane and land in {1}."),
    "set_timer": ("Wake me in {0} minutes.", "Count down {0} minutes for me."),
    "read_file": ("Show me what {0} contains.", "Open {0} and print it."),
}
"""By the first name of a kind: other ways to ask for it."""

PLAIN = (
    ("Which town is {}'s seat of government?", knowledge.CAPITALS, "The capital of {} is {}."),
    ("{}'s capital, please?", knowledge.CAPITALS, "The capital of {} is {}."),
    ("I have never understood {}. Help me.", knowledge.TOPICS, "{1}"),
    ("Give me a short introduction to {}.", knowledge.TOPICS, "{1}"),
)


def draw_foreign_tools(values: Values) -> tuple[list[Declared], Declared]:
    """One foreign tool among up to four others, and which it is."""
    wanted = values.rng.choice(TOOLS)
    kinds = draw_kinds(values, values.rng.choice((1, 2, 3, 5)), (wanted,))
    tools = [declare(kind, values) for kind in kinds]
    return tools, next(tool for tool in tools if tool.kind is wanted)


def use_foreign(values: Values) -> Drawn:
    tools, wanted = draw_foreign_tools(values)
    use = draw_use(wanted, values, by_phrase=True)
    return [user(use.question)], tools, call([use])


def read_foreign(values: Values) -> Drawn:
    tools, wanted = draw_foreign_tools(values)
    use = draw_use(wanted, values, by_phrase=True)
    made = call([use])
    return [user(use.question), made, *returns([use], made)], tools, conclude([use])


def ask_otherwise(values: Values) -> tuple[list[Declared], Use, str]:
    kind = values.rng.choice([kind for kind in KINDS if kind.names[0] in WORDINGS])
    kinds = draw_kinds(values, values.rng.choice((1, 2, 3, 5)), (kind,))
    tools = [declare(kind, values) for kind in kinds]
    use = draw_use(next(tool for tool in tools if tool.kind is kind), values, by_phrase=True)
    return tools, use, values.rng.choice(WORDINGS[kind.names[0]]).format(*use.arguments.values())


def use_otherwise(values: Values) -> Drawn:
    tools, use, question = ask_otherwise(values)
    return [user(question)], tools, call([use])


def lack_otherwise(values: Values) -> Drawn:
    """Only that no tool is called counts as right use here; the expected sentence is the usual one."""
    tools, use, question = ask_otherwise(values)
    others = [tool for tool in tools if tool is not use.tool]
    what = f" to look up {use.phrase}" if use.phrase else " for this"
    return [user(question)], others, say("I have no tool for this.", f"I have no tool{what}.")


def talk_otherwise(values: Values) -> Drawn:
    question, known, answer = values.rng.choice(PLAIN)
    name, told = values.rng.choice(list(known.items()))
    is_topic = known is knowledge.TOPICS
    thought = (
        f"The user asks about {name}. I explain it simply." if is_topic else f"The user asks for the capital of {name}."
    )
    return (
        [user(question.format(name))],
        [],
        say(thought, answer.format(name, told)),
    )


def repeat_otherwise(values: Values) -> Drawn:
    _, answer = repeat(values)
    question = values.rng.choice(('Write "{}", nothing else.', "Please echo this back: {}")).format(answer["content"])
    return [user(question)], [], answer


FOREIGN_KINDS: dict[str, Callable[[Values], Drawn]] = {
    "foreign_tool": use_foreign,
    "foreign_result": read_foreign,
    "foreign_wording": use_otherwise,
    "foreign_lack": lack_otherwise,
    "foreign_talk": talk_otherwise,
    "foreign_repeat": repeat_otherwise,
}


def foreign_chats(seed: int, count: int) -> list[Chat]:
    """Set B, the kinds in turn. Values are reserved ones, as in set A."""
    rng = random.Random(f"foreign:{seed}")
    names = list(FOREIGN_KINDS)
    return [
        complete(names[index % len(names)], FOREIGN_KINDS[names[index % len(names)]], Values(rng, reserved=True))
        for index in range(count)
    ]
