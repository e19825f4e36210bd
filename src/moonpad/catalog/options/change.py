"""What changed between the releases of an engine, and what to write instead."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal, get_args

from moonpad.catalog.options.tables import BUILT_ON, DATA, order
from moonpad.catalog.options.version import version_key
from moonpad.catalog.rows import Row, Standing

ChangeKind = Literal[
    "removed",
    "renamed",
    "deprecated",
    "redundant",
    "ambiguous",
    "prefix",
    "invalid-value",
    "unchecked-value",
    "missing-flag",
    "no-option",
    "dead-env",
    "response-field",
]
KINDS: Final[tuple[ChangeKind, ...]] = get_args(ChangeKind)


@dataclass(frozen=True, slots=True)
class Change:
    """`flag` is an option, an environment variable, a module or file, a key of a YAML file, or a field of an answer.

    `value` narrows it to one value of the option. The change holds from `since` (in) to `until` (out); "" is no limit.
    `bracket` says between which releases it was found. `to` is what to write instead.
    """

    id: str
    program: str
    flag: str
    kind: ChangeKind
    value: str
    since: str
    until: str
    to: tuple[str, ...]
    message: str
    remedy: str
    bracket: str
    source: str
    checked: str
    standing: Standing

    def holds_in(self, version: str) -> bool:
        """Whether the change is true of a release; for a text that is no version, whether it is of the newest."""
        key = version_key(version)
        if key is None:
            return not self.until
        return (not self.since or order(self.since) <= key) and (not self.until or key < order(self.until))


def changes(program: str, version: str | None = None) -> tuple[Change, ...]:
    """The changes of a program, those of what it builds on among them: all of them, or those that hold in a release."""
    programs = (program, BUILT_ON.get(program, program))
    found = (change for change in _all() if change.program in programs)
    return tuple(change for change in found if version is None or change.holds_in(version))


@cache
def _all() -> tuple[Change, ...]:
    document = tomllib.loads((DATA / "changes.toml").read_text(encoding="utf-8"))
    defaults = {"checked": document["checked"]}
    return tuple(_change(key, Row(f"changes.toml: {key}", row, defaults)) for key, row in document["changes"].items())


def _change(key: str, row: Row) -> Change:
    kind = row.text("kind")
    provenance = row.provenance()
    change = Change(
        id=key,
        program=row.text("program"),
        flag=row.text("flag"),
        kind=next(known for known in KINDS if known == kind),
        value=row.text("value", ""),
        since=row.text("since", ""),
        until=row.text("until", ""),
        to=row.texts("to"),
        message=row.text("message"),
        remedy=row.text("remedy"),
        bracket=row.text("bracket"),
        source=provenance.source,
        checked=provenance.checked,
        standing=provenance.standing,
    )
    row.done()
    return change
