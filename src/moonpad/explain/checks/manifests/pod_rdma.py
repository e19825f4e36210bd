"""Pods whose pools hand the KV cache over by RDMA, and have nothing to do it with."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines import surrounding_names as around
from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.manifests.pod_objects import Fields, fields_of, inner, items_of, own_container, text_of
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity

_CONNECTOR: Final = "--kv-transfer-config"
_ROLE: Final = "--disaggregation-mode"
_BACKEND: Final = "--disaggregation-transfer-backend"
_BY_RDMA: Final = re.compile(r"mooncake", re.IGNORECASE)
_BY_TCP: Final = re.compile(r"[\"']?(?:protocol|mooncake_protocol)[\"']?\s*:\s*[\"']tcp", re.IGNORECASE)
_TCP_VARIABLES: Final = ("MC_FORCE_TCP", "MOONCAKE_PROTOCOL")
_RESOURCE: Final = re.compile(r"rdma|infiniband|roce|hca|efa|sriov|/ib|mlnx|gpudirect|nic", re.IGNORECASE)
_OF_HOST: Final = re.compile(r"hostNetwork[\"']?:[ ]*[\"']?true|\{\{")
"""Wherever it stands: controllers take it beside a container of their own kind."""
_FILES: Final = "/dev/infini"
_NETWORKS: Final = re.compile(r"k8s\.v1\.cni\.cncf\.io|networking\.gke\.io|multus", re.IGNORECASE)


def rdma_of_pod(case: Case) -> Iterator[Remark]:
    """Neither a device, nor the host's network, nor the right to everything of the host."""
    flag = _asks_for_rdma(case)
    found = own_container(case) if flag else None
    if found is None or found[0].templated or any(case.variable(name) for name in _TCP_VARIABLES):
        return
    holder, container, pod = found
    if _has_networks(holder.fields):
        return
    place = case.option(flag)
    if _has_devices(container, pod):
        lines = case.script.lines[holder.first - 1 : holder.last]
        if _has_files_alone(container, pod) and not any(_OF_HOST.search(line) for line in lines):
            yield _without_network(flag, place.index if place is not None else None)
        return
    message = (
        "Mooncake moves the cache by RDMA, and this pod has neither an RDMA device nor the host's network: the cache "
        "goes by TCP at best, and not at all where the host's addresses are told to the peer"
    )
    remedy = (
        "ask for the cluster's RDMA resource, or set hostNetwork with /dev/infiniband and privileged or IPC_LOCK; "
        "MC_FORCE_TCP=1 says that TCP is meant"
    )
    at = place.index if place is not None else None
    yield make_remark(Severity.WARNING, Code.MISSING_FLAG, flag, message, remedy, at=at)


def handshake_on_loopback(case: Case) -> Iterator[Remark]:
    """A pod whose peer finds it by a side channel that listens on the loopback alone, unless a variable says where.
    Controllers that start the engine by a program of their own set it themselves."""
    written, command = case.text(_CONNECTOR), case.commands[0]
    names = next((names for connector, names in around.SIDE_CHANNELS.items() if connector in written), None)
    found = own_container(case) if names and command.program == around.STARTED_PLAINLY else None
    if names is None or found is None or found[0].templated:
        return
    host = names[1]
    own_program = any("dynamo" in word.text for word in command.prefix)
    if own_program or host in command.env or any(host in line for line in case.script.lines):
        return
    place = case.option(_CONNECTOR)
    message = (
        f"{host} is not set, and is localhost by default: the pod of the other pool asks its own loopback for the cache"
    )
    remedy = f"set {host} to the pod's own address (valueFrom, fieldRef, status.podIP)"
    at = place.index if place is not None else None
    yield make_remark(Severity.WARNING, Code.MISSING_FLAG, _CONNECTOR, message, remedy, at=at)


def _asks_for_rdma(case: Case) -> str:
    """The option that says so; "" where none does."""
    connector = case.text(_CONNECTOR)
    if connector and not unresolved(connector) and _BY_RDMA.search(connector) and not _BY_TCP.search(connector):
        return _CONNECTOR
    backend = case.option(_BACKEND)
    if case.text(_ROLE) in ("prefill", "decode") and (backend is None or backend.value == "mooncake"):
        return _ROLE
    return ""


def _has_devices(container: Fields, pod: Fields) -> bool:
    if text_of(pod.get("hostNetwork")) == "true" or "resourceClaims" in pod:
        return True
    rights = fields_of(container.get("securityContext"))
    added = {text_of(each) for each in items_of(inner(rights, "capabilities", "add"))}
    if text_of(rights.get("privileged")) == "true" or "IPC_LOCK" in added:
        return True
    resources = fields_of(container.get("resources"))
    names = [name for part in ("limits", "requests") for name in fields_of(resources.get(part))]
    mounts = [text_of(fields_of(each).get("mountPath")) for each in items_of(container.get("volumeMounts"))]
    return any(_RESOURCE.search(name) for name in names) or any(path.startswith(_FILES) for path in mounts)


def _has_files_alone(container: Fields, pod: Fields) -> bool:
    """`/dev/infiniband` of the host, without its network or a resource of the cluster."""
    if text_of(pod.get("hostNetwork")) == "true" or "resourceClaims" in pod:
        return False
    resources = fields_of(container.get("resources"))
    names = [name for part in ("limits", "requests") for name in fields_of(resources.get(part))]
    mounts = [text_of(fields_of(each).get("mountPath")) for each in items_of(container.get("volumeMounts"))]
    return not any(_RESOURCE.search(name) for name in names) and any(path.startswith(_FILES) for path in mounts)


def _without_network(flag: str, at: int | None) -> Remark:
    message = (
        "the pod has the files of the RDMA devices and not the host's network: over RoCE a device has its addresses "
    )
    message += (
        "from an interface of the host, which the pod does not see, so that it is found without any, or not at all"
    )
    remedy = "set hostNetwork: true with dnsPolicy: ClusterFirstWithHostNet, or ask for the cluster's RDMA resource"
    return make_remark(Severity.NOTE, Code.MISSING_FLAG, flag, message, remedy, at=at)


def _has_networks(fields: Fields) -> bool:
    """Another network of the pod, which its annotations ask for."""
    paths = (("metadata",), ("spec", "template", "metadata"))
    notes = [fields_of(fields_of(inner(fields, *path)).get("annotations")) for path in paths]
    return any(_NETWORKS.search(name) for each in notes for name in each)
