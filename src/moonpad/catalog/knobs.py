"""What tuning may change of each engine: data/knobs.toml."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Final, Literal

from msgspec import Struct

from moonpad.catalog.toml_rows import Provenance, Text, rows

FILE: Final = "knobs.toml"
KnobType = Literal["integer", "fraction", "switch", "text"]
ActsOn = Literal["latency", "throughput", "memory"]
KnobValue = bool | int | float | str


class Knob(Struct, frozen=True, kw_only=True):
    """One setting of some engines.

    key, flag: a key of a spec's [settings], or an option of the engine; `negated` is the opposite of a switch.
    unset: in force where nothing is set, of a model with attention alone.
    values: tried as they stand. times: factors of what is in force. cores, numa: it is of the processor's cores, of
        which the bindings follow; it matters on several NUMA nodes only.
    needs, without: `draft` or `ep`: tried only where the spec has one, or has none.
    least, most: limits of a number. answers: it may change what is answered by more than rounding does.
    restart: the engine reads it at its start only. A knob of a running engine comes before those.
    order: where nothing is predicted, lower ones come first.
    """

    name: str
    engines: tuple[Text, ...]
    type: KnobType
    acts_on: tuple[ActsOn, ...]
    order: int
    title: Text
    why: Text
    provenance: Provenance
    key: str = ""
    flag: str = ""
    negated: str = ""
    unset: KnobValue | None = None
    values: tuple[KnobValue, ...] = ()
    times: tuple[float, ...] = ()
    cores: bool = False
    numa: bool = False
    needs: Literal["", "draft", "ep"] = ""
    without: Literal["", "draft"] = ""
    platforms: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    answers: bool = False
    restart: bool = True

    def allows(self, value: KnobValue) -> bool:
        """Whether a value is of the type and within the limits."""
        if self.type in ("switch", "text"):
            return isinstance(value, bool if self.type == "switch" else str)
        if isinstance(value, bool | str) or (self.type == "integer" and not isinstance(value, int)):
            return False
        return (self.least is None or value >= self.least) and (self.most is None or value <= self.most)


@cache
def knobs() -> Mapping[str, Knob]:
    """Every knob by its name.

    Raises:
        ValueError: the data are wrong: neither or both of key and flag, no value, or one outside of the limits.
    """
    found = {name: row.build(Knob, name=name) for name, row in rows(FILE, "knobs")}
    for name, knob in found.items():
        if bool(knob.key) == bool(knob.flag):
            raise ValueError(f"{FILE}: {name} needs either key or flag")
        if not (knob.values or knob.times or knob.cores):
            raise ValueError(f"{FILE}: {name} has nothing to try")
        if wrong := [value for value in knob.values if not knob.allows(value)]:
            raise ValueError(f"{FILE}: {name} does not allow {wrong}")
    return MappingProxyType(found)


def knobs_of(engine: str, platform: str) -> tuple[Knob, ...]:
    """Those of an engine on a platform: what a running engine takes first, then by their order."""
    own = [knob for knob in knobs().values() if engine in knob.engines]
    fitting = [knob for knob in own if not knob.platforms or platform in knob.platforms]
    return tuple(sorted(fitting, key=lambda knob: (knob.restart, knob.order, knob.name)))
