"""Chains: one tool call after another, each made from the result before it, until there is an answer."""

from .messages import call, conclude, returns, say, user
from .rendering import Message
from .tools import KINDS, Declared, Parameter, ToolKind, Use, declare, draw_kinds, draw_use
from .values import Values

FOLLOW = ToolKind(
    ("open_page", "read_page", "get_page", "next_page"),
    ("Open a page, which names the next one.", "Read a page and the name of the next.", "Open one page."),
    (Parameter(("page", "id", "name"), Values.made_up, ("The page",)),),
    ("Follow the pages from {0} to the end.", "Open page {0} and go on to the last.", "Start at page {0} and go on."),
    "I open {0}.", lambda values: "end", "The last page is {0}.",
)  # fmt: skip
NEXT = "next: {}"
FINAL_THOUGHT = "There is no next page."

MESSAGE = next(kind for kind in KINDS if "send_message" in kind.names)
SOURCES = [kind for kind in KINDS if kind.phrase]


def draw_page(values: Values) -> str:
    return values.letters() if values.rng.random() < 0.3 else values.made_up()


def open_page(tool: Declared, page: str, result: str) -> Use:
    kind = tool.kind
    return Use(
        tool, {tool.keys[0]: page}, kind.asks[0].format(page), kind.thought.format(page), "", result,
        kind.answer.format(page),
    )  # fmt: skip


def follow(values: Values, steps: int, *, ends: bool, first: int = 0) -> tuple[list[Message], list[Declared], Message]:
    """A chain after `steps` calls: the next call, or where it `ends` the answer.

    `first` is the number of its first id: a client that cuts old turns away sends such a conversation, and it shows
    training the numbers of long ones.
    """
    tools = [declare(kind, values) for kind in draw_kinds(values, values.rng.choice((1, 1, 2, 3)), (FOLLOW,))]
    tool = next(tool for tool in tools if tool.kind is FOLLOW)
    pages = [draw_page(values) for _ in range(steps + 1)]
    messages = [user(values.rng.choice(FOLLOW.asks).format(pages[0]))]
    for step in range(steps):
        last = ends and step == steps - 1
        use = open_page(tool, pages[step], "end" if last else NEXT.format(pages[step + 1]))
        made = call([use], first + step)
        messages += [made, *returns([use], made)]
    if ends:
        return messages, tools, say(FINAL_THOUGHT, FOLLOW.answer.format(pages[steps - 1]))
    return messages, tools, call([open_page(tool, pages[steps], "end")], first + steps)


def relay(values: Values) -> tuple[list[Message], list[Declared], Message]:
    """What one tool returns is an argument of the next: look something up, then send it to a person."""
    source = values.rng.choice(SOURCES)
    kinds = draw_kinds(values, values.rng.choice((2, 2, 3, 4)), (source, MESSAGE))
    tools = [declare(kind, values) for kind in kinds]
    asked = draw_use(next(tool for tool in tools if tool.kind is source), values, by_phrase=True)
    sender = next(tool for tool in tools if tool.kind is MESSAGE)
    person = values.person()
    report = f"sent as {values.code()}"
    sent = Use(
        sender, dict(zip(sender.keys, (person, asked.result), strict=True)), "",
        MESSAGE.thought.format(person, asked.result, name=sender.name), "", report,
        MESSAGE.answer.format(person, result=report),
    )  # fmt: skip
    ask = values.rng.choice(("Look up {} and send it to {}.", "Find {} and tell {}.", "Send {} to {}."))
    first, second = call([asked]), call([sent], 1)
    question = user(ask.format(asked.phrase, person))
    stage = values.rng.choice((0, 1, 1, 2))
    if stage == 0:
        return [question], tools, first
    told = [question, first, *returns([asked], first)]
    if stage == 1:
        return told, tools, second
    return [*told, second, *returns([sent], second)], tools, conclude([sent])
