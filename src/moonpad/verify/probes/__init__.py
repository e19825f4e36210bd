"""The probes of all modules here, in the order in which they run: that of `probes.toml`, liveness first."""

from collections.abc import Sequence
from importlib import import_module
from pkgutil import iter_modules
from typing import Final

from moonpad.verify.probe import ROWS, ApiProbe

_MODULES: Final = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]
_EVERY: Final = {
    probe.id: probe for module in _MODULES for probe in vars(module).values() if isinstance(probe, ApiProbe)
}

PROBES: Final[Sequence[ApiProbe]] = tuple(_EVERY[id] for id, row in ROWS.items() if "long" not in row)
"""The quick set."""

LONG_PROBES: Final[Sequence[ApiProbe]] = tuple(_EVERY[id] for id, row in ROWS.items() if "long" in row)
"""Run only when named: for servers without a parser, or minutes long on a large model."""
