"""The names and numbers that fill the chats, and the tenth of them that training never sees.

A value is reserved by a stable hash of its kind and text, so the split is the same on every machine and
for every seed. `Values(rng, reserved=False)` draws for training, `reserved=True` for scoring.
"""

import hashlib
import random
from collections.abc import Callable


def listed(text: str) -> tuple[str, ...]:
    return tuple(text.split())


CITIES = listed(
    "Amsterdam Ankara Antwerp Auckland Baku Bangkok Barcelona Basel Bergen Bern Bilbao Bogota Bologna Bordeaux Boston "
    "Bremen Brno Bruges Calgary Chennai Chicago Cologne Cordoba Cork Dakar Dallas Davos Delhi Denver Doha Dresden "
    "Dubai Durban Edinburgh Florence Geneva Genoa Ghent Glasgow Gothenburg Graz Hamburg Hanoi Houston Istanbul "
    "Jakarta Karachi Kiel Krakow Kyoto Lagos Leeds Leipzig Leon Lille Linz Lyon Malaga Malmo Manila Marseille Miami "
    "Milan Montreal Mumbai Munich Naples Nice Odessa Osaka Oxford Palermo Perth Phoenix Pisa Porto Portland Quito "
    "Riga Salzburg Seattle Seville Shanghai Shenzhen Split Sydney Taipei Tampa Toronto Toulouse Trieste Turin Utrecht "
    "Valencia Vancouver Venice Verona York Zurich"
)

PERSONS = listed(
    "Ada Alan Alice Amir Ana Anton Aya Bella Ben Boris Carla Carl Chen Clara Dan Dora Elena Emil Emma Eva Fay Felix "
    "Frank Grace Hana Hans Igor Ines Ivan Jack Jana Joe Julia Karl Kate Lena Leo Liam Lina Luca Maria Max Mei Mia "
    "Nina Noah Olga Omar Otto Paul Petra Rosa Sam Sara Tom Uma Vera Wei Yuki Zoe"
)

WORDS = listed(
    "apple bird blue boat book cat cloud cold dog door fire fish flower forest garden gold green hill house lake "
    "lamp leaf light moon mountain music night ocean pear plum rain red river road rose salt sand sea ship silver "
    "sky snow song star stone storm summer sun table train tree water white wind window winter wolf wood yellow"
)

LANGUAGES = listed("French German Spanish Italian Chinese Japanese Korean Dutch Polish Greek")
SKIES = listed("sunny cloudy rainy windy snowy foggy clear stormy")

SYLLABLES = tuple(consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aeiou")
LETTERS = "abcdefghijklmnopqrstuvwxyz"
CAPITALS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def is_reserved(kind: str, text: str) -> bool:
    """One value in ten, the same ones everywhere and always. A made-up word that spells a real name counts as that, and
    a symbol as the word that it spells."""
    name = text.capitalize()
    if kind == "symbol":
        kind, text = "made_up", text.lower()
    if kind == "made_up" and (name in CITIES or name in PERSONS):
        kind, text = ("city" if name in CITIES else "person"), name
    return hashlib.sha256(f"{kind}:{text}".encode()).digest()[0] < 26


class Values:
    """Draws values of one side of the split and remembers which ones it drew."""

    def __init__(self, rng: random.Random, reserved: bool) -> None:
        self.rng = rng
        self.reserved = reserved
        self.drawn: list[tuple[str, str]] = []

    def draw(self, kind: str, make: Callable[[], str]) -> str:
        while is_reserved(kind, text := make()) != self.reserved:
            pass
        self.drawn.append((kind, text))
        return text

    def place(self) -> str:
        """A city, a made-up name or plain letters: only copying gets the last two right."""
        share = self.rng.random()
        if share < 0.4:
            return self.city()
        return (self.made_up() if share < 0.75 else self.letters()).capitalize()

    def city(self) -> str:
        return self.draw("city", lambda: self.rng.choice(CITIES))

    def person(self) -> str:
        """A name or, one time in four, plain letters."""
        if self.rng.random() < 0.25:
            return self.letters().capitalize()
        return self.draw("person", lambda: self.rng.choice(PERSONS))

    def made_up(self) -> str:
        return self.draw("made_up", lambda: "".join(self.rng.choices(SYLLABLES, k=self.rng.randint(2, 4))))

    def letters(self) -> str:
        """Letters in no order that a language has: nothing but copying predicts the next one."""
        return self.draw("made_up", lambda: "".join(self.rng.choices(LETTERS, k=self.rng.randint(4, 7))))

    def symbol(self) -> str:
        return self.draw("symbol", lambda: "".join(self.rng.choices(CAPITALS, k=self.rng.randint(3, 4))))

    def code(self) -> str:
        """A short string of digits and letters, as in nonces and flight numbers."""
        return self.draw("code", lambda: "".join(self.rng.choices("0123456789abcdef", k=self.rng.randint(4, 8))))

    def number(self, kind: str, low: int, high: int) -> int:
        return int(self.draw(kind, lambda: str(self.rng.randint(low, high))))

    def words(self, most: int = 3) -> str:
        """One to `most` plain words, at times with a made-up one among them."""
        return self.draw("words", lambda: " ".join(self.word() for _ in range(self.rng.randint(1, most))))

    def word(self) -> str:
        """A building block of `words`: not reserved by itself, except the made-up ones."""
        if self.rng.random() < 0.75:
            return self.rng.choice(WORDS)
        while is_reserved("made_up", text := "".join(self.rng.choices(SYLLABLES, k=2))) != self.reserved:
            pass
        return text
