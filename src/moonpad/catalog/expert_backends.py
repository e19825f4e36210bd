"""Which kernels of experts an engine has for which weights, by the value of an option: data/expert_backends.toml."""

from collections.abc import Mapping
from functools import cache
from typing import Final

from msgspec import Struct, field

from moonpad.catalog.toml_rows import Provenance, Text, rows

FILE: Final = "expert_backends.toml"


class ExpertFormat(Struct, frozen=True, kw_only=True):
    """What the weights of experts are, and which values the option takes for them, from release `first` to `last`."""

    engines: tuple[str, ...]
    title: Text
    """As a message says it."""
    scheme: str = ""
    method: str = ""
    """Of a checkpoint of the catalogue."""
    models: str = ""
    """Repositories that are of it, as a regular expression of the whole name."""
    first: Text
    first_on: Mapping[str, str] = field(default_factory=dict)
    """Platforms on which it is a later release."""
    last: Text
    values: Mapping[str, str]
    """Each with the first release that was read and has it."""
    provenance: Provenance


class ExpertKernel(Struct, frozen=True, kw_only=True):
    """Where a value runs for a format, from release `since` on and before release `until`."""

    format: Text
    value: Text
    since: str = ""
    until: str = ""
    on: tuple[str, ...]
    """`9.0`, `10.x`, `7.5+`, `gfx950`, `cuda`, `rocm`; none: nowhere."""
    shared_out: bool = True
    """Whether it takes experts that are shared out over the ranks."""
    balancer: bool = True
    """Whether it takes experts that are moved among the ranks by load."""
    not_over: tuple[str, ...] = ()
    """Exchanges of tokens that it does not take."""
    variable: str = ""
    """It has to be set to 1."""
    off: str = ""
    """A variable that switches it off by 0."""
    provenance: Provenance


class ExpertVariable(Struct, frozen=True, kw_only=True):
    """A variable that, set to 1, asks for kernels for a format, from release `since` on and before release `until`."""

    engines: tuple[str, ...]
    variable: Text
    format: Text
    since: Text
    until: str = ""
    values: tuple[str, ...]
    by: str = ""
    """Another variable that chooses among them."""
    chosen: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """What each of its values leaves."""
    not_with: str = ""
    """A variable that takes it back by 0."""
    provenance: Provenance


@cache
def expert_variables() -> Mapping[str, ExpertVariable]:
    """By their keys."""
    return {key: row.build(ExpertVariable) for key, row in rows(FILE, "variables")}


@cache
def expert_formats() -> Mapping[str, ExpertFormat]:
    """By their keys."""
    return {key: row.build(ExpertFormat) for key, row in rows(FILE, "formats")}


@cache
def expert_kernels() -> Mapping[tuple[str, str], tuple[ExpertKernel, ...]]:
    """By format and value."""
    found: dict[tuple[str, str], tuple[ExpertKernel, ...]] = {}
    for _, row in rows(FILE, "kernels"):
        kernel = row.build(ExpertKernel)
        found[kernel.format, kernel.value] = (*found.get((kernel.format, kernel.value), ()), kernel)
    return found
