"""Which server only prefills and which only decodes, by names: of services, of objects, of keys."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

ROLES: Final = ("prefill", "decode")
_IN_NAME: Final = re.compile(r"(?<![a-z])(prefill|decode)(?:e?r)?(?![a-z])|(Prefill|Decode)(?=[A-Z0-9]|$)")
"""`llama-prefill`, `VllmDecodeWorker`."""


def roles_of(names: Iterable[str]) -> Mapping[str, str]:
    """The role of each name that has one: where both occur, since one alone is only a name."""
    found = {name: match for name in names if (match := _IN_NAME.search(name[:200]))}
    roles = {name: (match[1] or match[2]).lower() for name, match in found.items()}
    return roles if set(roles.values()) == set(ROLES) else {}
