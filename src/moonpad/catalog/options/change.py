"""What changed between the releases of an engine, and what to write instead."""

from functools import cache
from typing import Literal

import rtoml
from msgspec import Struct

from moonpad.catalog.options.sets import releases_with
from moonpad.catalog.options.tables import DATA, programs
from moonpad.catalog.toml_rows import Row, Standing
from moonpad.values.versions import since

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


class Change(Struct, frozen=True, kw_only=True):
    """`flag` is an option, an environment variable, a module or file, a key of a YAML file, or a field of an answer.

    `value` narrows it to one value of the option, `apart` to an option whose value is a word of its own, `--model M`
    and not `--model=M`. The change holds from `since` (in) to `until` (out); "": no limit.
    `bracket` says between which releases it was found. `to` is what to write instead.
    """

    id: str
    program: str
    flag: str
    kind: ChangeKind
    value: str = ""
    apart: bool = False
    since: str = ""
    until: str = ""
    to: tuple[str, ...] = ()
    message: str
    remedy: str
    bracket: str
    source: str
    checked: str
    standing: Standing

    def holds_in(self, version: str) -> bool:
        """Whether the change is true of a version."""
        return since(version, self.since) and not (self.until and since(version, self.until))


def changes(program: str, version: str | None = None) -> tuple[Change, ...]:
    """The changes of a program, those of what it builds on among them: all of them, or those that hold in a release."""
    files = programs().get(program)
    names = (program, files.built_on) if files else (program,)
    own = (change for change in _all() if change.program in names)
    return tuple(change for change in own if version is None or change.holds_in(version))


@cache
def releases_accepting(program: str, option: str) -> tuple[str, ...]:
    """The recorded releases that have the option and do not refuse it by name: SGLang 0.5.3 still lists
    --enable-deepep-moe, and ends at it."""
    having = releases_with(program, option)
    gone = [
        change
        for change in changes(program)
        if change.kind == "removed" and change.flag == option and change.since and not change.value
    ]
    return tuple(each for each in having if not any(change.holds_in(each) for change in gone))


@cache
def _all() -> tuple[Change, ...]:
    document = rtoml.loads((DATA / "changes.toml").read_text(encoding="utf-8"))
    rows = ((key, Row(f"changes.toml: {key}", row, document["checked"])) for key, row in document["changes"].items())
    return tuple(row.build(Change, id=key) for key, row in rows)
