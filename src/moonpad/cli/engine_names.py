"""The names that `moonpad engine` takes."""

from __future__ import annotations

import difflib

from moonpad.engines import ENGINES
from moonpad.engines.base import Engine
from moonpad.engines.install_recipe import Tool
from moonpad.engines.router_programs import ROUTERS, Router
from moonpad.engines.tools import TOOLS
from moonpad.spec.safe_text import shorten
from moonpad.values.errors import UsageError


def known(name: str) -> Engine | Tool | Router:
    """Raises UsageError with the nearest known name."""
    programs: dict[str, Engine | Tool | Router] = {**ENGINES, **TOOLS, **ROUTERS}
    if name in programs:
        return programs[name]
    near = difflib.get_close_matches(name[:80], programs, n=1, cutoff=0.3)
    remedy = f"did you mean {near[0]}?" if near else f"there are: {', '.join((*locked_engines(), *TOOLS, *ROUTERS))}"
    raise UsageError(f"there is no engine {shorten(name)!r}", remedy=remedy)


def locked_engines() -> tuple[str, ...]:
    """The engines that moonpad installs from a lock."""
    return tuple(name for name, engine in ENGINES.items() if engine.recipe is not None)


def next_of(name: str) -> str:
    """What to do with it once it is installed."""
    if name in ROUTERS:
        return "moonpad up SPEC.toml"
    return TOOLS[name].next_command if name in TOOLS else f"moonpad up {ENGINES[name].facts.example}"
