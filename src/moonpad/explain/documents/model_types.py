"""What an installation lacks that does not know a model's type: the release of Transformers that came with it."""

from __future__ import annotations

import re

from moonpad.catalog.transformers_types import transformers_types


def of_known_type(match: re.Match[str]) -> str:
    """A remedy for an error that names the type; "" where it names none, or Transformers has no such type."""
    kind = match.groupdict().get("type") or ""
    known = transformers_types().get(kind.casefold())
    if known is None:
        return ""
    return (
        f"install transformers {known.first} or later, which came with {kind}, or take a release of the engine "
        "that asks for it"
    )
