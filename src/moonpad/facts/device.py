"""What a driver says of its devices, the same for NVIDIA, AMD and Ascend."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final, Self, TypeVar

from moonpad.facts.probe import Unknown

T = TypeVar("T")

NOT_REPORTED: Final = Unknown("not reported")


@dataclass(frozen=True, slots=True)
class DeviceFact:
    """One device. `health` is "" for a healthy one, else the driver's own words.

    `ecc_errors` are uncorrected ones since the driver was loaded. `capability` is `9.0` or `gfx942`, "" where the tool
    does not report it. `package` numbers the package that the device is a die of, None where it is one by itself.
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

    def as_json(self) -> dict[str, object]:
        shown = [field.name for field in fields(self) if field.name != "package"]
        return {**{name: or_reason(getattr(self, name)) for name in shown}, "health": self.health or "ok"}


@dataclass(frozen=True, slots=True)
class DeviceUse:
    """What a device does now; None where the tool does not report it. `busy` is a share of time."""

    index: int
    power_w: float | None
    busy: float | None
    used_bytes: int | None
    temperature_c: float | None = None
    throttled_by: tuple[str, ...] | None = None
    """What holds its clocks back, in words; empty where nothing does."""

    @classmethod
    def of(cls, index: int, power_w: float | None, percent: float | None, used_bytes: float | Unknown | None) -> Self:
        """From the figures that a tool prints."""
        used = None if used_bytes is None or isinstance(used_bytes, Unknown) else round(used_bytes)
        return cls(index, power_w, None if percent is None else percent / 100, used)


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
            "driver": or_reason(self.driver),
            "devices": [device.as_json() for device in self.devices],
            "lost": list(self.lost),
        }


def or_reason(fact: T | Unknown) -> T | str:
    """The fact, or `unknown (reason)`."""
    return f"unknown ({fact.reason})" if isinstance(fact, Unknown) else fact
