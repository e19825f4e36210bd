"""What the readers ask of a parsed command line, and which values they could not use."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from moonpad.engines.argv_reader import Occurrence, Parsed, Value
from moonpad.engines.option_grammar import Grammar
from moonpad.engines.value_checks import as_json, number, unresolved, whole

MOST: Final = 2**31 - 1
"""Larger sizes are nobody's; they are reported and not used."""


class Words:
    """Looks up values by any name of their option. What was asked for does not appear in `rest()`."""

    def __init__(self, parsed: Parsed, grammar: Grammar) -> None:
        self._parsed = parsed
        self._grammar = grammar
        self._asked: set[str] = set()
        self._unusable: set[str] = set()

    def value(self, *flags: str) -> Value | None:
        """The value of the first of these flags that was given."""
        found: Value | None = None
        for flag in flags:
            option = self._grammar.option(flag)
            if option is None:
                continue
            key = self._grammar.key(option)
            self._asked.add(key)
            if found is None:
                found = self._parsed.values.get(key)
        return found

    def text(self, *flags: str) -> str | None:
        """The text as written, of several words the first."""
        value = self.value(*flags)
        if isinstance(value, tuple):
            return value[0] if value else None
        return value if isinstance(value, str) else None

    def mapping(self, *flags: str) -> Mapping[str, object]:
        """The object of a JSON option; empty where it was not given or is no object."""
        value = self.value(*flags)
        found = as_json(value) if isinstance(value, str) else value
        return found if isinstance(found, Mapping) else {}

    def switch(self, *flags: str) -> bool | None:
        """True or False of a flag; None where it was not given."""
        value = self.value(*flags)
        if isinstance(value, str):  # click and YAML write some of them with a value
            return value.lower() in ("1", "true", "yes", "on")
        return value if isinstance(value, bool) else None

    def given(self, *flags: str) -> bool:
        return self.value(*flags) is not None

    def whole(self, *flags: str, least: int = 1, read: Callable[[str], int | None] = whole) -> int | None:
        """A whole number; None, and marked as unusable, where it is none or below `least`."""
        text = self.text(*flags)
        if text is None or unresolved(text):
            return None
        size = read(text)
        if size is None or not least <= size <= MOST:
            self._mark(*flags)
            return None
        return size

    def size(self, *flags: str) -> int:
        """A parallel size: 1 where it was not given or cannot be used."""
        return self.whole(*flags) or 1

    def fraction(self, *flags: str) -> float | None:
        """A number above 0 and at most 1."""
        text = self.text(*flags)
        if text is None or unresolved(text):
            return None
        value = number(text)
        if value is None or not 0 < value <= 1:
            self._mark(*flags)
            return None
        return value

    def parsed(self) -> Parsed:
        """The command line with the values that could not be used marked as such."""
        if not self._unusable:
            return self._parsed
        return replace(self._parsed, occurrences=tuple(self._marked(one) for one in self._parsed.occurrences))

    def _marked(self, one: Occurrence) -> Occurrence:
        unusable = one.problem is None and self._unusable & {one.flag, one.written}
        return replace(one, problem="invalid-value") if unusable else one

    def rest(self) -> dict[str, Value]:
        """What nobody asked for."""
        return {key: value for key, value in self._parsed.values.items() if key not in self._asked}

    def _mark(self, *flags: str) -> None:
        options = [option for flag in flags if (option := self._grammar.option(flag)) is not None]
        self._unusable |= {name for option in options for name in option.names}


def unknown_words(parsed: Parsed, argv: Sequence[str], positionals: int) -> tuple[str, ...]:
    """The words that were not understood, in order: unknown options with their values, and positionals too many."""
    words: list[tuple[int, Sequence[str]]] = [
        (one.index, argv[one.index : one.index + one.length]) for one in parsed.occurrences if one.flag is None
    ]
    words += [(index, (text,)) for index, text in parsed.positionals[positionals:]]
    return tuple(word for _, some in sorted(words, key=lambda one: one[0]) for word in some)


def model_of(parsed: Parsed, words: Words, *flags: str) -> str:
    """The model: its flag, else the first positional, else what looks like one behind an unknown flag."""
    if flags and (named := words.text(*flags)) is not None:
        return named
    if parsed.positionals:
        return parsed.positionals[0][1]
    return next((text for one in parsed.occurrences if (text := _swallowed(one))), "")


def _swallowed(one: Occurrence) -> str:
    """What an unknown option took as its value although it looks like a path or a repository's name."""
    return one.value if one.flag is None and one.length == 2 and isinstance(one.value, str) and "/" in one.value else ""


def start_of(argv: Sequence[str], entries: Mapping[str, int]) -> int:
    """Where the options begin: behind the last leading word that names the program, `serve` of `vllm serve`.

    `entries` maps such a word, or the end of a path, to how many more words belong to it.
    """
    for at, word in enumerate(argv[:6]):
        for entry, more in entries.items():
            if word == entry or word.endswith(f"/{entry}"):
                return min(at + 1 + more, len(argv))
    return 0
