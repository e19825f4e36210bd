"""Plain talk: each function draws one question and the one right answer to it."""

import json

from . import arithmetic, knowledge
from .messages import say
from .rendering import Message
from .tools import KINDS, ToolKind, declare, draw_use
from .values import Values


def greet(values: Values) -> tuple[str, Message]:
    if values.rng.random() < 0.2:
        return values.rng.choice(knowledge.THANKS), say(*knowledge.THANKS_ANSWER)
    return values.rng.choice(knowledge.GREETINGS), say(*knowledge.GREETING_ANSWER)


def identify(values: Values) -> tuple[str, Message]:
    return values.rng.choice(knowledge.IDENTITY), say(*knowledge.IDENTITY_ANSWER)


def explain(values: Values) -> tuple[str, Message]:
    topic = values.rng.choice(list(knowledge.TOPICS))
    question = values.rng.choice(knowledge.EXPLAIN_QUESTIONS).format(topic)
    return question, say(f"The user asks about {topic}. I explain it simply.", knowledge.TOPICS[topic])


def name_capital(values: Values) -> tuple[str, Message]:
    country = values.rng.choice(list(knowledge.CAPITALS))
    question = values.rng.choice(knowledge.CAPITAL_QUESTIONS).format(country)
    answer = f"The capital of {country} is {knowledge.CAPITALS[country]}."
    return question, say(f"The user asks for the capital of {country}.", answer)


def calculate(values: Values) -> tuple[str, Message]:
    """By heart: no sum is held out."""
    guides = values.rng.random() < 0.25
    expression = arithmetic.ALWAYS_TRAINED if guides else arithmetic.draw_expression(values.rng)
    question = values.rng.choice(("What is {}?", "What is {}?", "Calculate {}.", "{} = ?", "Compute {}"))
    return question.format(expression), say(
        arithmetic.think(expression), f"{expression} = {arithmetic.evaluate(expression)}"
    )


def repeat(values: Values) -> tuple[str, Message]:
    if values.rng.random() < 0.5:
        text = values.words(5)
        ask = values.rng.choice(('Say "{}".', 'Repeat: "{}"', 'Please say "{}".'))
    else:
        draws = (values.place, values.person, values.symbol, values.code)
        text = " ".join(values.rng.choice(draws)() for _ in range(values.rng.randint(1, 4)))
        ask = values.rng.choice(("Say {}", "Repeat: {}", "Repeat after me: {}", 'Say "{}".'))
    return ask.format(text), say("The user wants me to repeat a text.", text)


def count(values: Values) -> tuple[str, Message]:
    last = values.number("count", 3, 25)
    question = values.rng.choice(("Count to {}.", "Count from 1 to {}.", "Please count to {}.")).format(last)
    return question, say(f"I count from 1 to {last}.", " ".join(str(number) for number in range(1, last + 1)))


def write_json(values: Values) -> tuple[str, Message]:
    name = values.person()
    if values.rng.random() < 0.5:
        age = values.number("age", 18, 90)
        question = values.rng.choice(("Give JSON for {}, age {}.", "JSON: {}, age {}", "Write JSON for {}, age {}."))
        return question.format(name, age), say("The user wants JSON.", json.dumps({"name": name, "age": age}))
    city = values.place()
    question = values.rng.choice(("Give JSON for {}, city {}.", "JSON: {}, city {}", "Write JSON for {}, city {}."))
    return question.format(name, city), say("The user wants JSON.", json.dumps({"name": name, "city": city}))


def lack_tool(values: Values, kind: ToolKind | None = None) -> tuple[str, Message]:
    """A question that only a tool could answer, which the chat must not declare."""
    kind = kind or values.rng.choice(KINDS)
    use = draw_use(declare(kind, values, disguised=False), values)
    question = values.rng.choice(kind.asks).format(*use.arguments.values())
    what = f" to look up {use.phrase}" if use.phrase else " for this"
    return question, say("I have no tool for this.", f"I have no tool{what}.")


LOOK_UPS = [kind for kind in KINDS if kind.phrase]
TALKS = (greet, identify, explain, name_capital, calculate, repeat, count, write_json)
