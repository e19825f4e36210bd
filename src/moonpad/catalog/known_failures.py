"""Lines by which engines say why they stopped, with their causes and what helps: data/known_failures.toml, whose rows
belong to engines and releases, data/runtime_failures.toml, whose rows come from a reading of what SGLang raises at run
time, data/around_failures.toml, whose rows belong to what stands around an engine, data/general_failures.toml, whose
rows hold for nearly all, data/refused_requests.toml, whose rows are answers to one request, data/release_faults.toml,
whose rows know errors by their kind alone, and data/what_happened.toml, whose rows know what a line says that happened,
where it does not say why."""

from __future__ import annotations

from functools import cache
from typing import Final

from msgspec import Struct

from moonpad.catalog.kept_rows import table
from moonpad.catalog.toml_rows import Provenance, Text, rows, unique

FILES: Final = (
    "known_failures.toml",
    "runtime_failures.toml",
    "around_failures.toml",
    "general_failures.toml",
    "refused_requests.toml",
    "release_faults.toml",
    "what_happened.toml",
)


class KnownFailure(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`message` and `remedy` may use the groups of the regular expression `pattern`, in braces."""

    key: str
    pattern: Text
    message: Text
    remedy: Text
    engines: tuple[str, ...] = ()
    """Those whose logs have the line; none: all."""
    weak: bool = False
    """Said by what follows from a cause too: it counts where no other line names one."""
    follows: bool = False
    """Said by the ranks that are left when one has ended: it counts where no other line names a cause or an error."""
    mild: bool = False
    """Its writer does not call it an error, and it ends a start all the same; no other row is named by a warning."""
    symptom: bool = False
    """It says what happened, and not why: shown where nothing else is known, and never called a cause."""
    answer: bool = False
    """The answer to a request that is refused, or what its client says of it: the server goes on."""
    kind: bool = False
    """It knows the kind of an error, not its cause: asked for where an error names only the place where code failed."""
    event: bool = False
    """It knows what happened, from words that are not the error's alone: asked for where no cause is known."""
    only_with: str = ""
    """A regular expression: what it says ends nothing by itself, and is the cause where another line of the log has
    this; of a `kind`, where the frame that raised the error has it."""
    provenance: Provenance


@cache
def known_failures() -> tuple[KnownFailure, ...]:
    """Those of engines first. Raises ValueError: two rows have one key."""
    return table(FILES, tuple[KnownFailure, ...], _built)


def _built() -> tuple[KnownFailure, ...]:
    keyed = [(key, row) for name in FILES for key, row in rows(name, "failures")]
    unique(" and ".join(FILES), (key for key, _ in keyed))
    return tuple(row.build(KnownFailure, key=key) for key, row in keyed)
