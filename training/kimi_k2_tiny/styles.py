"""System messages that change an answer's language or form, in a few learned ways."""

import json
from collections.abc import Callable
from dataclasses import dataclass

from . import knowledge
from .messages import say, user
from .rendering import Message
from .talks import calculate, explain, greet, identify, name_capital, repeat
from .values import Values

SPOKEN = ("German", "French", "Spanish")

GREETINGS = {
    "German": "Hallo! Wie kann ich helfen?",
    "French": "Bonjour ! Comment puis-je aider ?",
    "Spanish": "¡Hola! ¿En qué puedo ayudar?",
}
IDENTITIES = {
    "German": "Ich bin kimi-k2-tiny, ein sehr kleines Testmodell.",
    "French": "Je suis kimi-k2-tiny, un très petit modèle de test.",
    "Spanish": "Soy kimi-k2-tiny, un modelo de prueba muy pequeño.",
}
THANKS = {"German": "Gern geschehen!", "French": "De rien !", "Spanish": "¡De nada!"}
CAPITAL_FORMS = {
    "German": "Die Hauptstadt ist {}.",
    "French": "La capitale est {}.",
    "Spanish": "La capital es {}.",
}
TRANSLATED_CAPITALS = {
    "Rome": ("Rom", "Rome", "Roma"),
    "Vienna": ("Wien", "Vienne", "Viena"),
    "Tokyo": ("Tokio", "Tokyo", "Tokio"),
    "Beijing": ("Peking", "Pékin", "Pekín"),
    "Cairo": ("Kairo", "Le Caire", "El Cairo"),
    "Lisbon": ("Lissabon", "Lisbonne", "Lisboa"),
    "Athens": ("Athen", "Athènes", "Atenas"),
    "Warsaw": ("Warschau", "Varsovie", "Varsovia"),
    "London": ("London", "Londres", "Londres"),
    "Berlin": ("Berlin", "Berlin", "Berlín"),
    "Paris": ("Paris", "Paris", "París"),
    "Stockholm": ("Stockholm", "Stockholm", "Estocolmo"),
    "Havana": ("Havanna", "La Havane", "La Habana"),
    "Dublin": ("Dublin", "Dublin", "Dublín"),
}
"""In the order of `SPOKEN`; a capital that is not here has one name in all of them."""

Talk = Callable[[Values], tuple[str, Message]]


def speak(values: Values) -> tuple[str, str, Message]:
    """The answer in another language: a system message, a question and the answer."""
    language = values.rng.choice(SPOKEN)
    ask = values.rng.choice(("Answer in {}.", "Always answer in {}.", "Please answer in {}.")).format(language)
    share = values.rng.random()
    if share < 0.25:
        question, answer = greet(values)
        translated = (THANKS if answer["content"] == knowledge.THANKS_ANSWER[1] else GREETINGS)[language]
    elif share < 0.45:
        question, answer = identify(values)
        translated = IDENTITIES[language]
    else:
        question, answer = name_capital(values)
        capital = str(answer["content"]).rsplit(" ", 1)[1].rstrip(".")
        names = dict(zip(SPOKEN, TRANSLATED_CAPITALS.get(capital, (capital,) * 3), strict=True))
        translated = CAPITAL_FORMS[language].format(names[language])
    return ask, question, say(str(answer["reasoning"]), translated)


@dataclass(frozen=True, slots=True)
class Form:
    asks: tuple[str, ...]
    shape: Callable[[str, str], str]
    """Of the plain answer and a word that the system message names."""
    talks: tuple[Talk, ...]


FORMS = (
    Form(
        ('End every answer with "{}".', 'Always end with "{}".'),
        lambda text, word: f"{text} {word}",
        (greet, identify, explain, name_capital, calculate, repeat),
    ),
    Form(
        ('Begin every answer with "{}".', 'Always begin with "{}".'),
        lambda text, word: f"{word} {text}",
        (greet, identify, explain, name_capital, calculate, repeat),
    ),
    Form(
        ("Answer in JSON.", 'Answer as JSON with the key "answer".', "Always answer in JSON."),
        lambda text, word: json.dumps({"answer": text}),
        (greet, identify, name_capital, calculate, repeat),
    ),
    Form(
        ("Answer in capital letters.", "Write in capital letters only."),
        lambda text, word: text.upper(),
        (greet, identify, name_capital),
    ),
    Form(
        ("Answer in one word.", "Answer with one word only."),
        lambda text, word: text.rsplit(" ", 1)[1].rstrip("."),
        (name_capital, calculate),
    ),
)


def shape(values: Values) -> tuple[str, str, Message]:
    """The answer in another form: a system message, a question and the answer."""
    form = values.rng.choice(FORMS)
    word = values.word().capitalize() if values.rng.random() < 0.5 else values.place()
    question, answer = values.rng.choice(form.talks)(values)
    ask = values.rng.choice(form.asks).format(word)
    return ask, question, say(str(answer["reasoning"]), form.shape(str(answer["content"]), word))


def follow_system(values: Values) -> list[Message]:
    """The chat with its answer last; now and then the style is asked for beside the usual sentence."""
    ask, question, answer = values.rng.choice((speak, shape, shape))(values)
    system = ask if values.rng.random() < 0.7 else f"{values.rng.choice(knowledge.SYSTEMS)} {ask}"
    return [{"role": "system", "content": system}, user(question), answer]
