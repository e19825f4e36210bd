"""The devices that moonpad knows, by id and by the names that people and drivers give them."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Final

from moonpad.catalog.rows import Provenance, Row, rows, unique
from moonpad.values.cluster import Device
from moonpad.values.plan import Platform
from moonpad.values.units import GIB, MIB

FILE: Final = "hardware.toml"
Span = tuple[float, float]
"""(low, high), equal where sources agree."""


@dataclass(frozen=True, slots=True)
class Hardware:
    """A row of the catalogue. `device` is what planning needs; None where no engine runs on it: `refused` says so.

    Rates are dense, links in one direction.
    """

    id: str
    label: str
    """What people write for it: `H200`."""
    aliases: tuple[str, ...]
    driver_names: tuple[str, ...]
    """What nvidia-smi or amd-smi print; two devices may share a name."""
    product: str
    vendor: str
    device: Device | None
    refused: str
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
    fp8_format: str
    """`fnuz` or `ocp` where that matters (AMD), "" elsewhere."""
    fp4_formats: tuple[str, ...]
    int4_path: str
    """How INT4 weights are multiplied there."""
    mla_backends: tuple[str, ...]
    """Attention backends of vLLM that serve MLA there."""
    scaleup: str
    """The links between the devices of a domain; "" where there is PCIe alone."""
    scaleup_bytes_per_s: Span | None
    pcie: str
    pcie_bytes_per_s: Span | None
    network_bits_per_s: Span | None
    """Of one device."""
    sockets: int | None
    provenance: Provenance
    confidence: str
    """`high` or `medium`: how well the sources agree."""
    estimated: tuple[str, ...]
    """Figures that the source does not give."""
    notes: str


@cache
def hardware() -> Mapping[str, Hardware]:
    """Every row by its id, those that no engine runs on among them. Reads the data once."""
    found = tuple(_hardware(key, row) for key, row in rows(FILE, "devices"))
    unique(FILE, (name for one in found for name in {_plain(name) for name in (one.id, one.label, *one.aliases)}))
    return MappingProxyType({one.id: one for one in found})


@cache
def devices() -> Mapping[str, Device]:
    """Every device that some engine runs on, by its id."""
    return MappingProxyType({one.id: one.device for one in hardware().values() if one.device is not None})


def find_hardware(name: str) -> Hardware | None:
    """By id, alias or driver's name, in any case, with `-`, `_` or a space between the words."""
    return _names().get(_plain(name))


def find_device(alias: str) -> Device | None:
    """None for a name that nobody knows, and for a device that no engine runs on."""
    found = find_hardware(alias)
    return None if found is None else found.device


def device_of_driver(name: str, driver_bytes: int) -> Device | None:
    """The device that a driver calls so: where two share a name (a modified RTX 4090), the one of about that size.

    None where the name is unknown, or the size is off by more than a tenth (a MIG slice, another variant).
    """
    wanted = _plain(name)
    alike = [one for one in hardware().values() if wanted in map(_plain, one.driver_names) and one.device is not None]
    if not alike:
        return None
    nearest = min(alike, key=lambda one: abs(one.driver_bytes - driver_bytes))
    return nearest.device if abs(nearest.driver_bytes - driver_bytes) * 10 <= nearest.driver_bytes else None


def near_names(name: str) -> tuple[str, ...]:
    """Up to three names that people write, close to a wrong one."""
    # difflib is quadratic in the length, and a word of a hundred letters is near nothing.
    close = difflib.get_close_matches(_plain(name[:40]), _names(), n=6, cutoff=0.5)
    return tuple(dict.fromkeys(_names()[one].label for one in close))[:3]


@cache
def _names() -> Mapping[str, Hardware]:
    found = {_plain(name): one for one in hardware().values() for name in (one.id, one.label, *one.aliases)}
    for one in hardware().values():
        for name in one.driver_names:
            found.setdefault(_plain(name), one)
    return found


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]+", "-", name.strip()).casefold()


def _hardware(key: str, row: Row) -> Hardware:
    driver_bytes = round((row.number_or_none("driver_mib") or 0) * MIB)
    usable = row.span("usable_gib") or (0.0, 0.0)
    ends = row.span("usable_range_gib") or usable
    memory, bf16 = _scaled(row, "memory_gb_s", 1e9), _scaled(row, "bf16_tflops", 1e12)
    scaleup_rate, network = _scaled(row, "scaleup_gb_s", 1e9), _scaled(row, "network_gbit_s", 1e9)
    provenance, refused = row.provenance(), row.text("refused", "")
    product, vendor = row.text("product"), row.text("vendor")
    fp8, fp4 = row.flag("native_fp8"), row.flag("native_fp4")
    architecture, capability = row.text("architecture"), row.text("capability")
    per_node, domain = row.whole("per_node"), row.whole("scaleup_domain")
    device = None
    if not refused:
        device = Device(
            id=key,
            product=product,
            vendor=vendor,
            platform=Platform(row.text("platform")),
            architecture=architecture,
            capability=capability,
            driver_bytes=driver_bytes,
            usable_bytes=round(usable[0] * GIB),
            native_fp8=fp8,
            native_fp4=fp4,
            per_node=per_node,
            scaleup_domain=domain,
            memory_bytes_per_s=_low(memory),
            bf16_flops=_low(bf16),
            scaleup_bytes_per_s=_low(scaleup_rate),
            network_bits_per_s=_low(network),
            standing=provenance.standing,
            source=provenance.source,
        )
    one = Hardware(
        id=key,
        label=row.text("label"),
        aliases=row.texts("aliases"),
        driver_names=row.texts("driver_names"),
        product=product,
        vendor=vendor,
        device=device,
        refused=refused,
        marketing_gb=row.span("marketing_gb"),
        driver_bytes=driver_bytes,
        usable_bytes=(round(ends[0] * GIB), round(ends[1] * GIB)),
        memory_bytes_per_s=memory,
        bf16_flops=bf16,
        fp8_flops=_scaled(row, "fp8_tflops", 1e12),
        int8_ops=_scaled(row, "int8_tops", 1e12),
        fp4_flops=_scaled(row, "fp4_tflops", 1e12),
        fp8_format=row.text("fp8_format", ""),
        fp4_formats=row.texts("fp4_formats"),
        int4_path=row.text("int4_path", ""),
        mla_backends=row.texts("mla"),
        scaleup=row.text("scaleup", ""),
        scaleup_bytes_per_s=scaleup_rate,
        pcie=row.text("pcie", ""),
        pcie_bytes_per_s=_scaled(row, "pcie_gb_s", 1e9),
        network_bits_per_s=network,
        sockets=row.whole_or_none("sockets"),
        provenance=provenance,
        confidence=row.text("confidence"),
        estimated=row.texts("estimated"),
        notes=row.text("notes", ""),
    )
    row.done()
    return one


def _scaled(row: Row, key: str, unit: float) -> Span | None:
    span = row.span(key)
    return None if span is None else (span[0] * unit, span[1] * unit)


def _low(span: Span | None) -> float | None:
    return None if span is None else span[0]
