"""What the readers ask of a command line, and which values they could not use."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from moonpad.engines.argv_reader import Occurrence, Parsed, Value, parse
from moonpad.engines.base import ServingFlags
from moonpad.engines.option_grammar import Grammar
from moonpad.engines.value_checks import as_json, number, unresolved, whole
from moonpad.values.records import replace

MOST: Final = 2**31 - 1
"""Larger sizes are reported and not used."""

OFFLOAD_GROUPS: Final = "--offload-group-size"


class Words:
    """Parses a command line from the word `start` on, and looks up values by any name of their option.

    What was asked for does not appear in `rest()`.
    """

    def __init__(self, argv: Sequence[str], grammar: Grammar, start: int = 0) -> None:
        self._argv = argv
        self._parsed = parse(argv, grammar, start=start)
        self._grammar = grammar
        self._asked: set[str] = set()
        self._unusable: set[str] = set()

    def value(self, *flags: str) -> Value | None:
        """The value of the first of these flags that was given."""
        keys = [self._grammar.key(option) for flag in flags if (option := self._grammar.option(flag))]
        self._asked |= set(keys)
        return next((self._parsed.values[key] for key in keys if key in self._parsed.values), None)

    def text(self, *flags: str) -> str | None:
        """The text as written, of several words the first."""
        value = self.value(*flags)
        if isinstance(value, tuple):
            return value[0] if value else None
        return value if isinstance(value, str) else None

    def mapping(self, *flags: str) -> Mapping[str, object]:
        """The object of a JSON option; empty where it was not given or is not an object."""
        value = self.value(*flags)
        table = as_json(value) if isinstance(value, str) else value
        return table if isinstance(table, Mapping) else {}

    def switch(self, *flags: str) -> bool | None:
        """True or False of a flag; None where it was not given."""
        value = self.value(*flags)
        if isinstance(value, str):  # click and YAML write some of them with a value
            return value.lower() in ("1", "true", "yes", "on")
        return value if isinstance(value, bool) else None

    def given(self, *flags: str) -> bool:
        return self.value(*flags) is not None

    @property
    def offloaded_layers(self) -> str:
        """Why the devices' memory is not known where layers lie in host RAM by turns; "" where none do. It stays in
        `rest()`.

        vLLM's and SGLang's offloaders have the same options, whose figures are of layers of the model that is loaded.
        """
        group = next((each for each in self._parsed.occurrences if each.flag == OFFLOAD_GROUPS), None)
        if group is None or group.value in ("0", None):
            return ""
        return f"{OFFLOAD_GROUPS} leaves some layers in host RAM, and what the devices then hold is not planned"

    def whole(
        self, *flags: str, least: int = 1, most: int = MOST, read: Callable[[str], int | None] = whole
    ) -> int | None:
        """A whole number; None, and marked as unusable, where it is none, below `least` or above `most`."""
        text = self.text(*flags)
        if text is None or unresolved(text):
            return None
        size = read(text)
        if size is None or not least <= size <= most:
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

    def amount(self, *flags: str) -> float | None:
        """A number of 0 or more; None where it was not given, is 0 or cannot be used."""
        text = self.text(*flags)
        if text is None or unresolved(text):
            return None
        value = number(text)
        if value is None or not 0 <= value <= MOST:
            self._mark(*flags)
            return None
        return value or None

    def serving(self) -> ServingFlags:
        """What most engines say in the same words. A parser of tool calls is used when it is named."""
        key = self.given("--api-key", "--api_key")
        tool_parser = ("--tool-call-parser", "--tool_parser")
        return ServingFlags(
            host=self.text("--host"),
            port=self.whole("--port", least=0),
            keyed=key,
            key_in_argv=key,
            tool_parser=self.text(*tool_parser),
            reasoning_parser=self.text("--reasoning-parser", "--reasoning_parser"),
            auto_tool_choice=self.given(*tool_parser),
            trust_remote_code=bool(self.switch("--trust-remote-code", "--trust_remote_code")),
        )

    def model(self, *flags: str) -> str:
        """The model: its flag, else the first positional, else what looks like one behind an unknown flag."""
        if (named := self.text(*flags)) is not None:
            return named
        if self._parsed.positionals:
            return self._parsed.positionals[0][1]
        return next((text for occurrence in self._parsed.occurrences if (text := _swallowed(occurrence))), "")

    def parsed(self) -> Parsed:
        """The command line with the values that could not be used marked as such."""
        return replace(self._parsed, occurrences=tuple(map(self._marked, self._parsed.occurrences)))

    def _marked(self, occurrence: Occurrence) -> Occurrence:
        unusable = occurrence.problem is None and self._unusable & {occurrence.flag, occurrence.written}
        return replace(occurrence, problem="invalid-value") if unusable else occurrence

    def rest(self) -> dict[str, Value]:
        """The values that no reader asked for."""
        return {key: value for key, value in self._parsed.values.items() if key not in self._asked}

    def unknown(self, positionals: int = 0) -> tuple[str, ...]:
        """The words that were not understood, in order: unknown options with their values, and the positionals that
        follow the first `positionals`."""
        unknown = [(option.index, option.length) for option in self._parsed.occurrences if option.flag is None]
        unknown += [(index, 1) for index, _ in self._parsed.positionals[positionals:]]
        return tuple(word for index, length in sorted(unknown) for word in self._argv[index : index + length])

    def _mark(self, *flags: str) -> None:
        options = [option for flag in flags if (option := self._grammar.option(flag)) is not None]
        self._unusable |= {name for option in options for name in option.names}


def _swallowed(occurrence: Occurrence) -> str:
    """What an unknown option took as its value although it looks like a path or a repository's name."""
    value = occurrence.value
    return (
        value if occurrence.flag is None and occurrence.length == 2 and isinstance(value, str) and "/" in value else ""
    )


def start_of(argv: Sequence[str], entries: Mapping[str, int]) -> int:
    """Where the options begin: behind the first leading word that names the program, `serve` of `vllm serve`.

    `entries` maps such a word, or the end of a path, to how many more words belong to it.
    """
    for at, word in enumerate(argv[:6]):
        for entry, more in entries.items():
            if word == entry or word.endswith(f"/{entry}"):
                return min(at + 1 + more, len(argv))
    return 0
