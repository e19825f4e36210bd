"""The devices that moonpad knows, by id and by the names that people and drivers give them."""

import difflib
import re
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from moonpad.catalog.toml_rows import Provenance, Row, Span, field_names, rows, unique
from moonpad.values.cluster import Device
from moonpad.values.platform import Platform
from moonpad.values.units import GIB, MIB

FILE: Final = "hardware.toml"
RATES: Final = {
    "memory_gb_s": ("memory_bytes_per_s", 1e9),
    "bf16_tflops": ("bf16_flops", 1e12),
    "fp8_tflops": ("fp8_flops", 1e12),
    "int8_tops": ("int8_ops", 1e12),
    "fp4_tflops": ("fp4_flops", 1e12),
    "scaleup_gb_s": ("scaleup_bytes_per_s", 1e9),
    "pcie_gb_s": ("pcie_bytes_per_s", 1e9),
    "network_gbit_s": ("network_bits_per_s", 1e9),
}
"""Key of the file → field, and its unit."""


class Hardware(Struct, frozen=True, kw_only=True):
    """A row of the catalogue. `device` is what planning needs; None where no engine runs on it: `refused` says so.

    Rates are dense, links in one direction.
    """

    id: str
    label: str
    """What people write for it: `H200`."""
    aliases: tuple[str, ...] = ()
    domain_names: tuple[str, ...] = ()
    """What people call all devices of one scale-up domain together: `GB200-NVL72`, a rack of 72."""
    driver_names: tuple[str, ...] = ()
    """What nvidia-smi or amd-smi print; two devices may share a name."""
    product: str
    vendor: str
    device: Device | None = None
    refused: str = ""
    marketing_gb: Span | None
    driver_bytes: int
    """What the driver says; 0 for a CPU."""
    usable_bytes: tuple[int, int]
    """What the engine's runtime sees of it: (low, high) over drivers and sources; 0 for a CPU."""
    memory_bytes_per_s: Span | None
    bf16_flops: Span | None
    fp8_flops: Span | None
    int8_ops: Span | None
    fp4_flops: Span | None
    fp8_format: str = ""
    """`fnuz` or `ocp` where that matters (AMD), "" elsewhere."""
    fp4_formats: tuple[str, ...] = ()
    int4_path: str = ""
    """How INT4 weights are multiplied there."""
    mla_backends: tuple[str, ...]
    """Attention backends of vLLM that serve MLA there."""
    scaleup: str = ""
    """The links between the devices of a domain; "" where there is PCIe alone."""
    scaleup_bytes_per_s: Span | None
    pcie: str = ""
    pcie_bytes_per_s: Span | None
    network_bits_per_s: Span | None
    """Of one device."""
    sockets: int | None = None
    provenance: Provenance
    confidence: str
    """`high` or `medium`: how well the sources agree."""
    estimated: tuple[str, ...] = ()
    """Figures that the source does not give."""
    notes: str = ""

    @property
    def names(self) -> frozenset[str]:
        """What people write, in one spelling."""
        return frozenset(map(_plain, (self.id, self.label, *self.aliases, *self.domain_names)))

    @property
    def native_formats(self) -> frozenset[str]:
        """Schemes of checkpoints made for it: CUDA's FP4 is NVFP4, AMD's MXFP4, Ascend's are those of ModelSlim."""
        if self.device is None:
            return frozenset()
        made_for = {Platform.CUDA: {"nvfp4"}, Platform.ROCM: {"mxfp4"}}.get(self.device.platform, set())
        ascend = {"w4a8", "w8a8"} if self.device.platform is Platform.ASCEND else set()
        return frozenset(made_for.intersection(self.fp4_formats) | ascend)

    def is_domain(self, name: str) -> bool:
        """Whether the name means all devices of a scale-up domain."""
        return _plain(name) in map(_plain, self.domain_names)


@cache
def hardware() -> Mapping[str, Hardware]:
    """Every row by its id, those that no engine runs on among them. Reads the data once."""
    all_rows = tuple(_hardware(key, row) for key, row in rows(FILE, "devices"))
    unique(FILE, (name for row in all_rows for name in row.names))
    return MappingProxyType({row.id: row for row in all_rows})


def find_hardware(name: str) -> Hardware | None:
    """By id, alias or driver's name, in any case, with `-`, `_` or a space between the words."""
    return _names().get(_plain(name))


def find_device(alias: str) -> Device | None:
    """None for an unknown name, and for a device that no engine runs on."""
    row = find_hardware(alias)
    return None if row is None else row.device


def device_of_driver(name: str, driver_bytes: int) -> Device | None:
    """The device that a driver calls so: where two share a name (a modified RTX 4090), the one of about that size.

    None where the name is unknown, or the size is off by more than a tenth (a MIG slice, another variant).
    """
    named = [row for row in hardware().values() if _plain(name) in map(_plain, row.driver_names)]
    row = min(named, key=lambda row: abs(row.driver_bytes - driver_bytes), default=None)
    return row.device if row and abs(row.driver_bytes - driver_bytes) * 10 <= row.driver_bytes else None


def near_names(name: str) -> tuple[str, ...]:
    """Up to three names that people write, close to a wrong one."""
    # difflib is quadratic in the length, and a word of a hundred letters is near nothing.
    close = difflib.get_close_matches(_plain(name[:40]), _names(), n=6, cutoff=0.5)
    return tuple(dict.fromkeys(_names()[name].label for name in close))[:3]


@cache
def _names() -> Mapping[str, Hardware]:
    rows = tuple(hardware().values())
    by_driver = {_plain(name): row for row in reversed(rows) for name in row.driver_names}
    return by_driver | {name: row for row in rows for name in row.names}


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]+", "-", name.strip()).casefold()


def _hardware(key: str, row: Row) -> Hardware:
    rates = {field: row.span(name, unit) for name, (field, unit) in RATES.items()}
    usable = row.span("usable_gib", GIB) or (0.0, 0.0)
    low, high = row.span("usable_range_gib", GIB) or usable
    driver_bytes = round(row.pop("driver_mib", 0) * MIB)
    needed = field_names(Device)
    of_device = {name: row.pop(name) for name in needed - field_names(Hardware) - {"source", "standing"} if name in row}
    device = None
    if "refused" not in row:
        of_device |= {name: row[name] for name in ("product", "vendor", "source", "standing")}
        of_device |= {name: span[0] for name, span in rates.items() if span and name in needed}  # at its low end
        of_device |= {"driver_bytes": driver_bytes, "usable_bytes": round(usable[0])}
        device = Row(row.where, of_device).build(Device, id=key)
    return row.build(
        Hardware,
        id=key,
        device=device,
        driver_bytes=driver_bytes,
        usable_bytes=(round(low), round(high)),
        marketing_gb=row.span("marketing_gb"),
        mla_backends=row.pop("mla", ()),
        **rates,
    )
