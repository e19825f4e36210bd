"""The published draft models that moonpad knows by name."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from msgspec import Struct

from moonpad.catalog.toml_rows import Provenance, rows, unique
from moonpad.values.draft import DraftSizes

FILE = "drafts.toml"


class Draft(Struct, frozen=True):
    id: str
    sizes: DraftSizes
    provenance: Provenance


@cache
def drafts() -> Mapping[str, Draft]:
    """By id and alias, casefolded, and by the last part of each where it means one of them."""
    by_name: dict[str, Draft] = {}
    by_last_part: dict[str, dict[str, Draft]] = {}
    names: list[str] = []
    for key, row in rows(FILE, "drafts"):
        provenance, aliases = row.provenance(), row.pop("aliases", [])
        draft = Draft(key, row.build(DraftSizes), provenance)
        for name in map(str.casefold, (key, *aliases)):
            names.append(name)
            by_name[name] = draft
            by_last_part.setdefault(name.rpartition("/")[2], {})[key] = draft
    unique(FILE, names)
    clear = {part: next(iter(of.values())) for part, of in by_last_part.items() if len(of) == 1}
    return MappingProxyType(clear | by_name)


def find_draft(name: str) -> Draft | None:
    """The draft that a name or the path of a folder means, by its last parts in any case; None: it is not known."""
    parts = [part for part in name.strip().casefold().replace("\\", "/").split("/") if part]
    cached = next((part for part in parts if part.startswith("models--")), None)
    if cached is not None:  # the cache of Hugging Face: models--ORGANISATION--NAME/snapshots/…
        parts = cached.removeprefix("models--").split("--")
    candidates = (drafts().get("/".join(parts[-last:])) for last in (2, 1) if len(parts) >= last)
    return next((draft for draft in candidates if draft is not None), None)


def known_draft(name: object) -> str | None:
    """The id of that draft; None where it is not known."""
    draft = find_draft(name) if isinstance(name, str) else None
    return draft.id if draft is not None else None
