"""What checks about LMCache ask of a command and its text: the kind of attention, and LMCache's release."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from moonpad.catalog.mended_faults import group_of
from moonpad.engines import lmcache_names as names
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.command_traits import model_names

_LONGEST: Final = 2000


def is_latent(case: Case) -> bool:
    """Whether the model has latent attention, which each rank holds alike."""
    if case.variable(names.WITHOUT_LATENT) == "1":
        return False
    parts = group_of("@mla").parts
    called = [name.casefold() for name in model_names(case, True)]
    return any(part in name and "distill" not in name for name in called for part in parts)


def lmcache_releases(case: Case) -> frozenset[str]:
    """Of LMCache, as the text names them."""
    case.script.budget.once("releases of LMCache", len(case.script.lines), "the text around its engine commands")
    return _named(case.script.lines)


@lru_cache(maxsize=64)
def _named(lines: tuple[str, ...]) -> frozenset[str]:
    return frozenset(found["release"] for line in lines for found in names.RELEASE.finditer(line[:_LONGEST]))
