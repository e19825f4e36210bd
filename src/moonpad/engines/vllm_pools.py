"""What vLLM is told of prefill/decode disaggregation. Facts: the wheel 0.32.0, config/kv_transfer.py, envs.py and
distributed/kv_transfer/kv_connector/v1: nixl/base_scheduler.py, mooncake/mooncake_connector.py."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Final

from moonpad.engines.base import API
from moonpad.engines.vllm_facts import POOLS
from moonpad.values.deployment import PortSpec
from moonpad.values.errors import PreflightRefused
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.plan import Plan, Transfer
from moonpad.values.pools import BOOTSTRAP, BOOTSTRAP_PORT
from moonpad.values.references import Arg, HostRef, PortRef

# NixlConnector leaves to the router which server does what, MooncakeConnector asks its role; either way it can be read.
KV_ROLES: Final[Mapping[str, str]] = {"prefill": "kv_producer", "decode": "kv_consumer"}
SIDE_CHANNEL: Final = "side-channel"
SIDE_CHANNEL_PORT: Final = 5600  # the default of VLLM_NIXL_SIDE_CHANNEL_PORT; each data-parallel rank takes one more


def argv(plan: Plan) -> Iterator[Arg]:
    """Nothing for a plan that is not one of two pools.

    Raises:
        PreflightRefused: the transfer has settings that vLLM has no variable for.
    """
    if (transfer := plan.transfer) is None:
        return
    _refuse_others(transfer)
    config = {"kv_connector": POOLS.connectors[transfer.connector], "kv_role": KV_ROLES[transfer.role]}
    yield from (POOLS.option, json.dumps(config, separators=(",", ":")))


def ports(plan: Plan) -> tuple[PortSpec, ...]:
    match plan.transfer:
        case Transfer("prefill", "mooncake"):
            return (PortSpec(BOOTSTRAP, BOOTSTRAP_PORT, "cluster"),)
    return ()


def side_channels(plan: Plan) -> tuple[PortSpec, ...]:
    """Of each node: where the servers of the other pool ask its data-parallel ranks for their descriptors."""
    if plan.transfer is None or plan.transfer.connector != "nixl":
        return ()
    return (PortSpec(SIDE_CHANNEL, SIDE_CHANNEL_PORT, "cluster", count=plan.layout.dp),)


def env(plan: Plan, node: str, process: str) -> Iterator[tuple[str, Arg]]:
    match plan.transfer:
        case Transfer("prefill", "mooncake"):
            yield "VLLM_MOONCAKE_BOOTSTRAP_PORT", PortRef(API.process, BOOTSTRAP)
        case Transfer(_, "nixl", devices):
            yield "VLLM_NIXL_SIDE_CHANNEL_HOST", HostRef(node)
            yield "VLLM_NIXL_SIDE_CHANNEL_PORT", PortRef(process, SIDE_CHANNEL)
            if devices:
                yield "UCX_NET_DEVICES", devices  # https://openucx.readthedocs.io: of UCX, by which NIXL transfers


def _refuse_others(transfer: Transfer) -> None:
    unsaid = {
        "bootstrap_timeout": transfer.bootstrap_timeout_s is not None,
        "waiting_timeout": transfer.waiting_timeout_s is not None,
        "heartbeat": transfer.heartbeat_s is not None,
        "report_speed": transfer.report_speed and transfer.connector != "mooncake",
        "network_devices": bool(transfer.devices) and transfer.connector != "nixl",
    }
    if findings := tuple(
        Finding(Severity.ERROR, Code.CONFLICT, name, f"vllm has no such setting: {name}", f"leave {name} out")
        for name, given in unsaid.items()
        if given
    ):
        raise PreflightRefused("vllm cannot be told all of this transfer", findings=findings)


OWN_CONNECTORS: Final = frozenset({
    *("NixlConnector", "NixlPullConnector", "NixlPushConnector", "MooncakeConnector"),
    *("MooncakeStoreConnector", "MooncakeConnectorV1", "LMCacheConnectorV1", "LMCacheMPConnector"),
    *("MultiConnector", "OffloadingConnector", "TieringOffloadingConnector", "SimpleCPUOffloadConnector"),
    *("P2pNcclConnector", "MoRIIOConnector", "SharedStorageConnector", "ExampleConnector"),
    *("ExampleHiddenStatesConnector", "DecodeBenchConnector", "FlexKVConnectorV1", "HF3FSKVConnector"),
    *("HiSparseConnector", "PyNcclConnector", "AscendStoreConnector"),
})  # fmt: skip
"""Connectors of KV caches that vLLM or its plugin for NPUs has registered in some release."""
