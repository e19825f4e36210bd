"""Long texts with a fact in them, and the question for that fact."""

from .messages import say, user
from .rendering import Message
from .values import WORDS, Values

SENTENCES = (
    "The {0} {1} is near the {2}.",
    "One {0} {1} and one {2} are in the {3}.",
    "In {0} the {1} is as old as the {2}.",
    "The {0} likes the {1}, and the {2} likes the {3}.",
    "There is no {0} in the {1}.",
    "Every {0} needs one {1}.",
)
FACT = "The {fact} of {name} is {value}."
FACTS = ("code", "key", "number")
ASKS = ("What is the {fact} of {name}?", "Tell me the {fact} of {name}.", "What is the {fact} of {name} in the text?")
CHARACTERS_PER_SENTENCE = 45


def draw_sentence(values: Values) -> str:
    return values.rng.choice(SENTENCES).format(*values.rng.choices(WORDS, k=4))


def draw_value(values: Values, fact: str) -> str:
    return str(values.number("number", 100, 99999)) if fact == "number" else values.code()


def find_needle(values: Values, sentences: int, depth: float | None = None, facts: int | None = None) -> list[Message]:
    """A text of so many sentences, one a line, with facts among them, and a question for the one that lies `depth`
    (0 begin, 1 end) deep; the answer is last. Names of the other facts differ, so there is one right answer."""
    lines = [draw_sentence(values) for _ in range(sentences)]
    names: list[str] = []
    for _ in range(facts or values.rng.choice((1, 1, 2, 3, 5))):
        while (name := values.place()) in names:
            pass
        names.append(name)
    wanted = values.rng.choice(FACTS)
    value = draw_value(values, wanted)
    for name in names[1:]:
        fact = values.rng.choice(FACTS)
        line = FACT.format(fact=fact, name=name, value=draw_value(values, fact))
        lines.insert(values.rng.randint(0, len(lines)), line)
    place = values.rng.random() if depth is None else depth
    told = FACT.format(fact=wanted, name=names[0], value=value)
    lines.insert(round(place * len(lines)), told)
    question = values.rng.choice(ASKS).format(fact=wanted, name=names[0])
    thought = f"The text says the {wanted} of {names[0]}."
    return [user("\n".join([*lines, question])), say(thought, told)]
