"""What is tried: the user's spec with one or a few changes. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from moonpad.catalog.knobs import Knob, KnobValue

LAYOUT: Final = "layout"
DEFAULT: Final = "default"
"""The id of the candidate without a change."""


@dataclass(frozen=True, slots=True)
class Change:
    """One knob at another value. `key` of the spec's [settings], or `flag` of the engine; for a layout both are "", and
    `value` is as the plan's table writes it: `TP4 DP2 EP8`. `negated`: how the flag is spelled where `value` is False.
    """

    knob: str
    value: KnobValue
    key: str = ""
    flag: str = ""
    negated: str = ""

    @property
    def words(self) -> str:
        """`max_num_seqs = 64`, `--async-scheduling`, `TP4 DP2`."""
        if self.knob == LAYOUT:
            return str(self.value)
        if self.flag:
            return " ".join(self.argv)
        value = str(self.value).lower() if isinstance(self.value, bool) else self.value
        return f"{self.key} = {value}"

    @property
    def argv(self) -> tuple[str, ...]:
        """What stands in extra_args for it."""
        if isinstance(self.value, bool):
            return (self.flag,) if self.value else (self.negated,)
        return self.flag, str(self.value)

    def as_json(self) -> dict[str, Any]:
        return {"knob": self.knob, "value": self.value, "key": self.key, "flag": self.flag, "negated": self.negated}

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Change:
        """
        Raises:
            KeyError, TypeError: it is not what `as_json` gave.
        """
        return cls(**{name: document[name] for name in ("knob", "value", "key", "flag", "negated")})

    @classmethod
    def to(cls, knob: Knob, value: KnobValue) -> Change:
        return cls(knob.name, value, knob.key, knob.flag, knob.negated)


@dataclass(frozen=True, slots=True)
class Candidate:
    """Changes of different knobs, in the order of their names. Two with the same changes are the same."""

    changes: tuple[Change, ...] = ()

    def __post_init__(self) -> None:
        names = [change.knob for change in self.changes]
        if len(set(names)) != len(names):
            raise ValueError(f"a knob twice: {names}")
        object.__setattr__(self, "changes", tuple(sorted(self.changes, key=lambda change: change.knob)))

    @property
    def id(self) -> str:
        return "; ".join(change.words for change in self.changes) or DEFAULT

    def change_of(self, knob: str) -> Change | None:
        return next((change for change in self.changes if change.knob == knob), None)

    def with_changes(self, more: Iterable[Change]) -> Candidate:
        return Candidate((*self.changes, *more))

    def as_json(self) -> list[dict[str, Any]]:
        return [change.as_json() for change in self.changes]

    @classmethod
    def of(cls, document: Iterable[Mapping[str, Any]]) -> Candidate:
        return cls(tuple(map(Change.of, document)))


UNCHANGED: Final = Candidate()
