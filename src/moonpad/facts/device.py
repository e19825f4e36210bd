"""What a driver says of its devices, the same for NVIDIA, AMD and Ascend."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeVar

from moonpad.facts.probe import Unknown

T = TypeVar("T")

NOT_REPORTED: Final = Unknown("not reported")


@dataclass(frozen=True, slots=True)
class DeviceFact:
    """One device. `health` is "" for a healthy one, else the driver's own words.

    `ecc_errors` are uncorrected ones since the driver was loaded. `capability` is `9.0` or `gfx942`, "" where the tool
    does not say it. `package` numbers the package that the device is a die of, None where it is one by itself.
    """

    index: int
    name: str
    memory_bytes: int | Unknown
    used_bytes: int | Unknown
    uuid: str = ""
    mig: bool | Unknown = False
    ecc_errors: int | Unknown = NOT_REPORTED
    health: str = ""
    capability: str = ""
    package: int | None = None

    @property
    def healthy(self) -> bool:
        return not self.health


@dataclass(frozen=True, slots=True)
class DeviceUse:
    """What a device does now. None: it does not say it. `busy` is a share of time."""

    index: int
    power_w: float | None
    busy: float | None
    used_bytes: int | None


@dataclass(frozen=True, slots=True)
class DeviceFacts:
    """The devices of this machine, in the driver's order. Without a `tool` there is no driver's tool on it at all.

    `lost` holds what the tool says of devices that the system has and the driver cannot reach.
    """

    tool: str = ""
    vendor: str = ""
    driver: str | Unknown = NOT_REPORTED
    devices: tuple[DeviceFact, ...] = ()
    lost: tuple[str, ...] = ()

    def as_json(self) -> dict[str, object]:
        return {
            "tool": self.tool,
            "vendor": self.vendor,
            "driver": said(self.driver),
            "devices": [_device(one) for one in self.devices],
            "lost": list(self.lost),
        }


def said(fact: T | Unknown) -> T | str:
    """The fact, or `unknown (reason)`."""
    return f"unknown ({fact.reason})" if isinstance(fact, Unknown) else fact


def _device(one: DeviceFact) -> dict[str, object]:
    return {
        "index": one.index,
        "name": one.name,
        "uuid": one.uuid,
        "memory_bytes": said(one.memory_bytes),
        "used_bytes": said(one.used_bytes),
        "mig": said(one.mig),
        "ecc_errors": said(one.ecc_errors),
        "health": one.health or "ok",
        "capability": one.capability,
    }
