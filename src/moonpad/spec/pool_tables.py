"""Prefill/decode disaggregation: `[prefill]`, `[decode]` and `[transfer]`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Final

from pydantic import Field, field_validator

from moonpad.engines import ENGINES
from moonpad.spec.fields import Count, Duration, NetworkDevices, PinnedImage, PortOrDefault, Switch, Table
from moonpad.spec.layout_tables import LayoutTable, SettingsTable
from moonpad.spec.near_match import did_you_mean
from moonpad.spec.safe_text import shorten

CONNECTORS: Final = tuple(
    dict.fromkeys(name for engine in ENGINES.values() if engine.facts.pools for name in engine.facts.pools.connectors)
)
"""What carries the KV cache between pools."""
_FLAGS: Final = ("--disaggregation-mode", "--disaggregation-transfer", "--disaggregation-ib", "--kv-transfer-config")


def transfer_flag(args: Iterable[str]) -> str | None:
    """The flag among them that says what the tables here say; argparse would take the last."""
    return next((arg.partition("=")[0] for arg in args if arg.replace("_", "-").startswith(_FLAGS)), None)


class PoolTable(Table):
    """One pool of prefill/decode disaggregation: its share of the machines, and what differs from the other."""

    nodes: Count = 1
    """Machines of `[hardware] cluster`."""
    port: PortOrDefault = None
    """Where its servers answer the router; by default the endpoint's port and one (prefill) or two (decode)."""
    layout: Annotated[LayoutTable, Field(description="a table")] = LayoutTable()
    settings: Annotated[SettingsTable, Field(description="a table")] = SettingsTable()
    """What it says beyond `[settings]`, which holds for both; `extra_args` are added to those."""


class TransferTable(Table):
    """What carries the KV cache from prefill to decode."""

    connector: Annotated[str | None, Field(description=f"one of {', '.join(CONNECTORS)}")] = None
    """By default the engine's own, else nixl."""
    network_devices: Annotated[NetworkDevices | None, Field(description='network devices, like "mlx5_0,mlx5_1"')] = None
    bootstrap_timeout_s: Duration | None = Field(default=None, alias="bootstrap_timeout")
    """SGLang: how long one pool waits until the other answers; 300 s by default."""
    waiting_timeout_s: Duration | None = Field(default=None, alias="waiting_timeout")
    """SGLang: how long decode waits for the KV cache of a request; 300 s by default."""
    heartbeat_s: Duration | None = Field(default=None, alias="heartbeat")
    """SGLang: how often decode asks whether prefill lives; 5 s by default, and at least 2."""
    report_speed: Switch = False
    """Mooncake logs what it transfers (`MC_TE_METRIC`)."""
    router_image: PinnedImage | None = None
    """Kubernetes: the image of the router, where the engine's own does not have it."""

    @field_validator("connector")
    @classmethod
    def _known(cls, connector: str | None) -> str | None:
        if connector is not None and connector not in CONNECTORS:
            meant = did_you_mean(connector, CONNECTORS)
            raise ValueError(f'must be one of {", ".join(CONNECTORS)}, found "{shorten(connector)}"{meant}')
        return connector
