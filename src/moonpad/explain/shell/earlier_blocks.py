"""What earlier blocks of a guide leave for later ones: a reader types them into one shell, one after the other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct, field

from moonpad.explain.commands import Word
from moonpad.explain.input_limits import Budget
from moonpad.explain.shell.scope import Scope, Value, is_known

MOST_NAMES: Final = 100
"""Further ones are not kept: a text may set a hundred thousand."""


class EarlierBlocks(Struct):
    """Variables that blocks have set at their own level, by the heading that each block stands under."""

    values: dict[str, dict[str | None, Value]] = field(default_factory=dict)
    exports: dict[str, dict[str | None, Word]] = field(default_factory=dict)
    """Of blocks that set variables and start nothing: others may be alternatives."""
    units: dict[str, list[tuple[str, Word]]] = field(default_factory=dict)
    """By the name of a script that a unit of systemd starts, what the unit sets for it."""

    def give_of_unit(self, scope: Scope, intro: str) -> None:
        """Exports what a unit sets for the script that the line above the block names."""
        for script, pairs in self.units.items():
            if script in intro:
                for name, value in pairs:
                    scope.set(name, value, export=True)

    def give(self, scope: Scope, heading: str | None, budget: Budget) -> None:
        """Puts what is known into the scope of the next block: of the same heading what stands last, of others what
        does not differ; what is exported only of the same heading."""
        budget.work(len(self.values) // 10, "what its blocks have set")
        given = {name: value for name, each in self.values.items() if (value := _one(each, heading)) is not None}
        scope.variables.update(given)
        for name, each in self.exports.items():
            if heading in each and name in given:
                scope.export(name, each[heading])

    def take(self, scope: Scope, heading: str | None, before: Mapping[str, Value], *, starts: bool) -> None:
        """Keeps what the block has set itself: `before` is what there was."""
        for name, value in scope.variables.items():
            if before.get(name) is value:
                continue
            if name in self.values or len(self.values) < MOST_NAMES:
                self.values.setdefault(name, {})[heading] = value
                exported = scope.exports.get(name)
                if isinstance(exported, Word) and not starts:
                    self.exports.setdefault(name, {})[heading] = exported


def _one(values: dict[str | None, Value], heading: str | None) -> Value | None:
    if heading in values:
        return values[heading] if is_known(values[heading]) else None
    first, *others = values.values()
    alike = all(_text(other) == _text(first) for other in others)
    return first if alike and is_known(first) else None


def _text(value: Value) -> list[str]:
    return [word.text for word in _words(value)]


def _words(value: Value) -> tuple[Word, ...]:
    return (value,) if isinstance(value, Word) else value
