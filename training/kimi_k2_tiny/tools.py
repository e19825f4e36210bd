"""The tools that chats declare, ask for and get results from.

A `ToolKind` is a family (weather, time, ...); `Declared` is one member as it stands in a request, with its own
names and wording; `Use` is one question that calls for it, with the arguments and the result.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass

from .values import LANGUAGES, SKIES, Values, is_reserved

Draw = Callable[[Values], object]


@dataclass(frozen=True, slots=True)
class Parameter:
    names: tuple[str, ...]
    draw: Draw
    descriptions: tuple[str, ...] = ()
    type: str = "string"


@dataclass(frozen=True, slots=True)
class ToolKind:
    names: tuple[str, ...]
    descriptions: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    asks: tuple[str, ...]
    thought: str
    """Says what is wanted in a word of every description, and then which tool does it."""
    result: Draw
    answer: str
    phrase: str = ""
    """How two uses are joined in one question; only kinds that look something up have one."""


@dataclass(frozen=True, slots=True)
class Declared:
    kind: ToolKind
    name: str
    keys: tuple[str, ...]
    schema: dict[str, object]


@dataclass(frozen=True, slots=True)
class Use:
    """`question` asks for it in full; `phrase` is its share of a question that asks for two things."""

    tool: Declared
    arguments: dict[str, object]
    question: str
    thought: str
    phrase: str
    result: str
    answer: str


def clock(values: Values) -> str:
    return values.draw("clock", lambda: f"{values.rng.randint(0, 23):02d}:{values.rng.randint(0, 59):02d}")


def price(values: Values) -> str:
    return values.draw("price", lambda: f"{values.rng.randint(2, 990)}.{values.rng.randint(0, 99):02d} USD")


def sky(values: Values) -> str:
    return values.draw("sky", lambda: f"{values.rng.choice(SKIES)}, {values.rng.randint(0, 39)} C")


def flight(values: Values) -> str:
    return f"{values.symbol()} at {clock(values)}"


def product(values: Values) -> str:
    return values.draw(
        "product", lambda: f"{values.rng.randint(2, 999)} {values.rng.choice('+-*')} {values.rng.randint(2, 999)}"
    )


def path(values: Values) -> str:
    return f"{values.made_up()}.{values.rng.choice(('txt', 'md', 'py'))}"


PLACE = Parameter(("city", "city", "location", "place"), Values.place, ("City name", "The city", "The city to look up"))

KINDS = (
    ToolKind(
        ("get_weather", "get_weather", "get_current_weather", "weather"),
        ("Get the current weather in a city.", "Get the weather for a city", "Look up the weather"),
        (PLACE,),
        ("What is the weather in {0}?", "Weather in {0}?", "How is the weather in {0}?",
         "What's the weather like in {0}?", "What is the weather like in {0} today?",
         "Please tell me the weather in {0}."),
        "I look up the weather ({name}) for {0}.", sky, "The weather in {0} is {result}.", "the weather in {0}",
    ),
    ToolKind(
        ("get_time", "get_time", "get_current_time", "clock"),
        ("Get the current time in a city.", "Get the time in a city", "Look up the time"),
        (PLACE,),
        ("What is the time in {0}?", "What time is it in {0}?", "Time in {0}?", "Please tell me the time in {0}."),
        "I look up the time ({name}) for {0}.", clock, "The time in {0} is {result}.", "the time in {0}",
    ),
    ToolKind(
        ("get_stock_price", "stock_price", "get_price"),
        ("Get the price of a stock.", "Look up a stock price"),
        (Parameter(("symbol", "ticker"), Values.symbol, ("Stock symbol", "The symbol")),),
        ("What is the price of {0}?", "Price of {0}?", "Stock price of {0}?", "Please tell me the price of {0}."),
        "I look up the price ({name}) for {0}.", price, "The price of {0} is {result}.", "the price of {0}",
    ),
    ToolKind(
        ("search", "web_search", "search_web"),
        ("Search the web.", "Search the web for a text"),
        (Parameter(("query", "q"), Values.words, ("Search text", "What to search")),),
        ('Search the web for "{0}".', 'Search for "{0}".', 'Please search for "{0}".'),
        'I search the web ({name}) for "{0}".', Values.words, "The search found: {result}.",
    ),
    ToolKind(
        ("calculate", "calculator", "compute"),
        ("Compute an expression.", "Work out an expression"),
        (Parameter(("expression", "input"), product, ("The expression",)),),
        ("Use the calculator for {0}.", "Calculate {0} with the tool.", "Please use the calculator: {0}"),
        "I compute the expression ({name}): {0}.",
        lambda values: str(values.number("total", 2, 9999)), "{0} = {result}",
    ),
    ToolKind(
        ("translate", "translate_text"),
        ("Translate a text to a language.", "Say a text in another language"),
        (Parameter(("text", "input"), Values.words, ("The text",)),
         Parameter(("language", "target"), lambda values: values.rng.choice(LANGUAGES), ("Target language",))),
        ('Translate "{0}" to {1}.', 'Please translate "{0}" to {1}.', 'How do you say "{0}" in {1}?'),
        'I say it in a language ({name}): "{0}" to {1}.', Values.made_up, 'In {1} it is "{result}".',
    ),
    ToolKind(
        ("send_message", "send_mail"),
        ("Send a message to a person.", "Send someone a message"),
        (Parameter(("to", "recipient"), Values.person, ("Who gets it",)),
         Parameter(("text", "message"), Values.words, ("The text",))),
        ('Send {0} the message "{1}".', 'Tell {0} "{1}".', 'Write to {0}: "{1}"'),
        'I send a message ({name}) to {0}: "{1}".',
        lambda values: f"sent as {values.code()}", "The message to {0} was {result}.",
    ),
    ToolKind(
        ("find_flight", "search_flights"),
        ("Find a flight.", "Find a flight between two cities"),
        (Parameter(("origin", "start"), Values.place, ("From where",)),
         Parameter(("destination", "target"), Values.place, ("To where",))),
        ("Find a flight from {0} to {1}.", "I need a flight from {0} to {1}.", "Is there a flight from {0} to {1}?"),
        "I look for a flight ({name}) from {0} to {1}.", flight, "The flight from {0} to {1} is {result}.",
    ),
    ToolKind(
        ("set_timer", "start_timer"),
        ("Set a timer.", "Start a timer in minutes"),
        (Parameter(("minutes",), lambda values: values.number("minutes", 1, 90), ("How long",), "integer"),),
        ("Set a timer for {0} minutes.", "Start a timer of {0} minutes.", "Please set a timer for {0} minutes."),
        "I set a timer ({name}) for {0} minutes.",
        lambda values: f"timer {values.code()} started", "The tool says: {result}.",
    ),
    ToolKind(
        ("read_file", "open_file"),
        ("Read a file.", "Read a text file"),
        (Parameter(("path", "file"), path, ("File path",)),),
        ("Read the file {0}.", "What is in the file {0}?", "Please read the file {0}."),
        "I read the file ({name}): {0}.", Values.words, "The file {0} says: {result}.",
    ),
)  # fmt: skip

KNOWN = frozenset(kind.names[0] for kind in KINDS)
ATTEMPTS = 200

ANY_ASKS = ('Call {name} with {key} "{0}".', 'Use {name} with {key} "{0}".', 'Use the tool {name} for "{0}".')
ANY_THOUGHT = 'I call {name} with "{0}".'
ANY_ANSWER = "The result is {result}."


def draw_made_up_name(values: Values) -> str:
    return f"{values.made_up()}{values.rng.choice('__-')}{values.made_up()}"


def draw_made_up_kind(values: Values) -> ToolKind:
    """A tool with a name that nobody has ever heard: nothing but the declaration says how it is called."""
    draw = values.rng.choice((Values.made_up, Values.words, Values.code, Values.person, Values.city))
    return ToolKind(
        (draw_made_up_name(values),),
        (f"Tool of {values.made_up()}.", "A tool.", "Does something useful."),
        (Parameter((values.made_up(), "name", "value", "key", "id"), draw),),
        ANY_ASKS, ANY_THOUGHT, values.rng.choice((Values.made_up, Values.words, Values.code)), ANY_ANSWER,
    )  # fmt: skip


def is_reserved_together(left: ToolKind, right: ToolKind) -> bool:
    """One pair of kinds in ten is never declared together in training."""
    return is_reserved("tools", " ".join(sorted((left.names[0], right.names[0]))))


def draw_kinds(values: Values, count: int, first: tuple[ToolKind, ...] = ()) -> list[ToolKind]:
    """`count` different kinds in random order, `first` among them; one in four is made up.

    Training gets no pair that is reserved; scoring gets at least one from three kinds on, where one can be drawn.
    """
    for _ in range(ATTEMPTS):
        kinds = list(first)
        while len(kinds) < count:
            kind = draw_made_up_kind(values) if values.rng.random() < 0.25 else values.rng.choice(KINDS)
            if kind not in kinds:
                kinds.append(kind)
        known = [kind for kind in kinds if kind.names[0] in KNOWN]
        reserved = any(is_reserved_together(*pair) for pair in itertools.combinations(known, 2))
        if reserved == values.reserved or (values.reserved and count < 3):
            break
    else:
        if not values.reserved:
            raise ValueError(f"every draw beside {[kind.names[0] for kind in first]} has a reserved pair")
    values.rng.shuffle(kinds)
    return kinds


def declare(kind: ToolKind, values: Values, disguised: bool | None = None) -> Declared:
    """`disguised`: under a name that nobody has ever heard, so that the description alone says what it does; left
    out, one known kind in three is."""
    rng = values.rng
    keys = tuple(rng.choice(parameter.names) for parameter in kind.parameters)
    properties: dict[str, object] = {}
    for key, parameter in zip(keys, kind.parameters, strict=True):
        properties[key] = {"type": parameter.type}
        if parameter.descriptions and rng.random() < 0.5:
            properties[key] = {"type": parameter.type, "description": rng.choice(parameter.descriptions)}
    if len(keys) == 1 and rng.random() < 0.08:
        properties["unit"] = {"type": "string", "enum": ["celsius", "fahrenheit"]}
    if disguised is None:
        disguised = kind.names[0] in KNOWN and rng.random() < 0.35
    name = draw_made_up_name(values) if disguised else rng.choice(kind.names)
    function = {
        "name": name,
        "description": rng.choice(kind.descriptions),
        "parameters": {"type": "object", "properties": properties, "required": list(keys)},
    }
    return Declared(kind, name, keys, {"type": "function", "function": function})


def draw_use(tool: Declared, values: Values, *, by_phrase: bool = False) -> Use:
    """`by_phrase`: the question will name it by its phrase, so the answer must not follow from another wording."""
    kind = tool.kind
    drawn = [parameter.draw(values) for parameter in kind.parameters]
    asks, thought = kind.asks, kind.thought
    if not by_phrase and len(drawn) == 1 and kind.parameters[0].type == "string" and values.rng.random() < 0.15:
        asks, thought = ANY_ASKS, ANY_THOUGHT
    result = str(kind.result(values))
    names = {"name": tool.name, "key": tool.keys[0], "result": result}
    return Use(
        tool,
        dict(zip(tool.keys, drawn, strict=True)),
        values.rng.choice(asks).format(*drawn, **names),
        thought.format(*drawn, **names),
        kind.phrase.format(*drawn),
        result,
        (kind.answer if asks is kind.asks else ANY_ANSWER).format(*drawn, **names),
    )
