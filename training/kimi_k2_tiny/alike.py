"""Chats whose values look alike: what a model that copies by the two tokens before it gets wrong last.

Words that begin as another one of the chat does or hold a syllable twice, numbers with a digit twice, tools whose keys
are not each other's: drawn by chance they are rare.
"""

import itertools
import random
import re
from collections.abc import Callable, Iterable, Iterator

from .chains import follow, relay
from .chats import (
    Chat,
    Drawn,
    ask_behind,
    complete,
    draw_choice,
    draw_first,
    draw_look_ups,
    find_among,
    obey,
    use_in_turn,
)
from .messages import call, conclude, returns, user
from .talks import repeat
from .tools import Declared, declare, draw_kinds, draw_use
from .values import SYLLABLES, Values

SHARE = 0.6
ATTEMPTS = 60
TWICE = re.compile(r"(\w\w).*\1|([0-9A-Z]).*\2")
SAME_BEGINNING = re.compile(r"(\w)\w* \W (\1)")

Alone = tuple[str, Callable[[Values], Drawn]]


class Alike(Values):
    """More than half of the values look like one that was drawn before, or like themselves."""

    def draw(self, kind: str, make: Callable[[], str]) -> str:
        if self.rng.random() > SHARE:
            return super().draw(kind, make)
        before = [text for _, text in self.drawn]
        beside_another = bool(before) and self.rng.random() < 0.5
        text = super().draw(kind, lambda: self.neighbour(kind) or make())
        for _ in range(ATTEMPTS):
            if any(map(begins_alike, before, itertools.repeat(text))) if beside_another else repeats_itself(text):
                break
            self.drawn.pop()
            text = super().draw(kind, make)
        return text

    def neighbour(self, kind: str) -> str:
        """Now and then a made-up word that is another one of the chat and a syllable more or less."""
        words = [text for one, text in self.drawn if one == kind == "made_up" and text[1:2] in "aeiou"]
        if not words or self.rng.random() > 0.2:
            return ""
        word = self.rng.choice(words)
        return word[:-2] if len(word) > 4 and self.rng.random() < 0.5 else word + self.rng.choice(SYLLABLES)


def repeats_itself(text: str) -> bool:
    """A syllable twice, a digit or a capital twice, or two numbers that begin alike."""
    return bool(TWICE.search(text) or SAME_BEGINNING.match(text))


def begins_alike(one: str, other: str) -> bool:
    return one != other and one[:2] == other[:2]


def alike_groups(seed: int) -> Iterator[list[Chat]]:
    """Many questions behind one declaration, and every third time chats of one's own: short chains, facts in short
    texts, repeated texts, system messages."""
    return draw_groups(random.Random(f"alike:{seed}"), KINDS, 0.5, ALONE, every=3)


def closer_groups(seed: int) -> Iterator[list[Chat]]:
    """For the second course: more calls in later turns, more tools under names that nobody has heard, and messages that
    pass a result on."""
    return draw_groups(random.Random(f"closer:{seed}"), CLOSER, 0.75, CLOSER_ALONE, every=4)


def draw_groups(
    rng: random.Random, kinds: tuple[str, ...], disguised: float, alone: Iterable[Alone], *, every: int
) -> Iterator[list[Chat]]:
    """Questions behind one declaration, and `every` so many times chats of one's own."""
    for number in itertools.count(1):
        if number % every == 0:
            yield [complete(kind, draw, Alike(rng, reserved=False)) for kind, draw in alone]
        else:
            yield draw_behind_one(rng, kinds, disguised)


def draw_behind_one(rng: random.Random, kinds: tuple[str, ...], disguised: float) -> list[Chat]:
    tools, able = draw_declared(Alike(rng, reserved=False), disguised)
    return ask_behind(tools, able, kinds, rng, Alike, draw_one)


def draw_declared(values: Values, disguised: float) -> tuple[list[Declared], list[Declared]]:
    """Three to five tools, and those that look something up, which call the same thing by different keys where they
    can."""
    wanted = draw_look_ups(values, values.rng.choice((2, 2, 3)))
    kinds = draw_kinds(values, values.rng.choice((3, 4, 5)), tuple(wanted))
    for _ in range(ATTEMPTS):
        tools = [declare(kind, values, disguised=values.rng.random() < disguised) for kind in kinds]
        able = [tool for tool in tools if tool.kind in wanted]
        if len({tool.keys for tool in able}) == len(able):
            break
    return tools, able


def draw_one(kind: str, values: Values, tools: list[Declared], able: list[Declared]) -> tuple[list, dict]:
    if kind == "later_call":
        messages, _, answer = use_in_turn(values, tools, values.rng.choice((1, 2, 2, 3, 4)), draw_first(values))
        return messages, answer
    if kind not in ("next_call", "tool_result"):
        return draw_choice(kind, values, tools, able)
    use, first = draw_use(values.rng.choice(tools), values), draw_first(values)
    calls = call([use], first)
    done = [user(use.question), calls, *returns([use], calls)]
    if kind == "tool_result":
        return done, conclude([use])
    after = draw_use(values.rng.choice(tools), values)
    return [*done, conclude([use]), user(after.question)], call([after], first + 1)


CLOSER = (
    *("choose_tool",) * 2,
    *("several_calls",) * 2,
    *("several_results",) * 2,
    *("later_call",) * 3,
    "tool_result",
)
KINDS = ("choose_tool", "choose_tool", "several_calls", "several_calls", "several_results", "next_call", "tool_result")


def chain(values: Values) -> Drawn:
    return follow(values, values.rng.randint(2, 6), ends=values.rng.random() < 0.1, first=draw_first(values))


def fact(values: Values) -> Drawn:
    return find_among(values, values.rng.randint(4, 12))


def again(values: Values) -> Drawn:
    question, answer = repeat(values)
    return [user(question)], [], answer


ALONE = (("chain", chain), ("chain", chain), ("needle", fact), ("repeat", again), ("system", obey))
CLOSER_ALONE = (("relay", relay), ("relay", relay), *ALONE[1:])
