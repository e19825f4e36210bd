"""What a container that YAML describes gets from outside of its own mapping, and references to variables in it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from msgspec import Struct, field

from moonpad.explain.commands import HereFile, Word, concatenated, cut
from moonpad.explain.input_limits import Budget
from moonpad.values.records import replace

# References to variables that are replaced before a container starts.
_INNER: Final = r"\$\{(?:[^{}]|\$\{[^{}]*\})*\}"
"""`${B:-8}` within `${A:-${B:-8}}`, three deep at most."""
_COMPOSE: Final = re.compile(
    rf"\$(?:(?P<dollar>\$)|\{{(?P<braced>[A-Za-z_]\w*)(?:(?P<operator>:?[-?+])(?P<default>(?:[^{{}}]|{_INNER})*))?\}}"
    r"|(?P<name>[A-Za-z_]\w*))"
)
_KUBERNETES: Final = re.compile(r"\$(?:(?P<dollar>\$)|\((?P<name>[\w.-]+)\))")


class Surroundings(Struct, frozen=True):
    """What a container gets from outside of its own mapping."""

    compose: bool = False
    options: tuple[Word, ...] = ()
    variables: Mapping[str, Word] = field(default_factory=dict)
    """Those that a controller sets."""
    label: str = ""
    pods: int = 1
    """Machines of one deployment."""
    devices: Word | None = None
    """How many each of its pods gets, where that stands outside of the container."""
    kinds: tuple[str, ...] = ()
    """Of devices, as the labels of the nodes have them: `H100`, or with their number `8xH100`."""
    role: str = ""
    """`prefill` or `decode`."""
    lone_role: str = ""
    """The only role in a graph of services that is shown whole: a worker of it does all by itself."""
    controller: str = ""
    """What makes a command of it, and may add options."""
    custom: bool = False
    """It may add them to whole commands too, not only to lists of options."""
    layout: Mapping[str, Word] = field(default_factory=dict)
    """Our names of the parallel sizes → what the keys beside it say."""
    model: Word | None = None
    program: str = ""
    """Of the engine that a key around it names, `vllm: {…}`."""
    parameters: Mapping[str, Word] = field(default_factory=dict)
    """Of an OpenShift template, or the file of variables of a compose file: `${NAME}` stands for them anywhere."""
    fill_ins: Mapping[str, Word] = field(default_factory=dict)
    """What a mapping beside its template has for `{name}`."""
    beside: Mapping[str, Word] = field(default_factory=dict)
    """The environment of the start that stands in the same mapping."""
    common: Mapping[str, Word] = field(default_factory=dict)
    """What a configuration of tests sets for the starts on all its nodes."""
    files: Mapping[str, Mapping[str, HereFile]] = field(default_factory=dict)
    """Of each volume of its pod that comes from a ConfigMap, the files by their paths in it."""
    host_paths: Mapping[str, str] = field(default_factory=dict)
    """Of each volume of its pod that is a folder of the host, that folder."""

    def interpolated(self, word: Word, values: Mapping[str, Word], budget: Budget) -> Word:
        """With the values in place of references; a name that is not known stays as it is, and is unresolved."""
        if self.parameters and not self.compose:
            word = self._filled(word, budget)
        parts, at = list[Word](), 0
        for match in (_COMPOSE if self.compose else _KUBERNETES).finditer(word.text):
            reference = cut(word, *match.span())
            value = self._value(match, values, budget)
            budget.spend(1, len(value.text))
            pieces = (piece._replace(start=0, end=len(value.text)) for piece in reference.pieces[:1])
            parts += (cut(word, at, match.start()), replace(value, pieces=tuple(pieces)))
            at = match.end()
        return concatenated((*parts, cut(word, at, len(word.text))), word)

    def _filled(self, word: Word, budget: Budget) -> Word:
        """With the values of a template's parameters."""
        values = {f"${{{name}}}": value for name, value in self.parameters.items() if not value.unresolved}
        text = word.text
        for reference, value in values.items():
            text = text.replace(reference, value.text)
        budget.work(len(values), "its YAML")
        budget.spend(1, len(text))
        return word if text == word.text else replace(word, text=text, pieces=())

    def _value(self, match: re.Match[str], values: Mapping[str, Word], budget: Budget) -> Word:
        groups = match.groupdict()
        name = groups.get("braced") or groups["name"]
        if groups["dollar"]:
            return Word("$")
        known = values.get(name) or self.parameters.get(name)
        operator = groups.get("operator") or ""
        if (operator.endswith("-") and known is None) or (operator.endswith("+") and known is not None):
            return self.interpolated(Word(groups["default"]), values, budget)
        return known or Word(f"${{{name}}}", unresolved=(name,))


def unknown_value(at: Word, name: str) -> Word:
    """The value of a variable that is set elsewhere."""
    return replace(at, text=f"${{{name}}}", unresolved=(name,), pieces=())
