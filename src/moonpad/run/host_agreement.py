"""Compares the hosts of a run on what must be equal, before anything is started on any of them."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Final

from moonpad.engines import ENGINES
from moonpad.run.keeper.host_facts import gather_facts
from moonpad.run.prepare import Prepared
from moonpad.run.ssh_hosts import SshHost, ask
from moonpad.values.deployment import Role
from moonpad.values.finding import Finding
from moonpad.values.host_facts import HostFacts, compare
from moonpad.values.records import replace

PACKAGES: Final = (*ENGINES, "torch", "torch-npu", "transformers", "ray")


def ask_hosts(prepared: Prepared) -> tuple[HostFacts, ...]:
    """The facts of each host, this one first. Raises ContactLost: a host cannot be reached over ssh."""
    own = prepared.addresses["node-0"]
    with _meeting_point(own) as port, ThreadPoolExecutor(max(1, len(prepared.far))) as pool:
        meet = [own, port] if port else None
        first = _read("node-0", gather_facts(_question(prepared, "node-0", None)), 0.0)
        answers = [
            pool.submit(_ask_host, host, _question(prepared, node, meet)) for node, host in sorted(prepared.far.items())
        ]
        return (first, *(answer.result() for answer in answers))


def with_hosts(prepared: Prepared) -> tuple[Prepared, tuple[Finding, ...]]:
    """With the interfaces that the hosts report, and what follows from their facts; as it is where there are no others.
    Raises ContactLost: one cannot be reached over ssh."""
    if not prepared.far:
        return prepared, ()
    hosts = ask_hosts(prepared)
    interfaces = {host.node: host.interface for host in hosts if host.interface is not None}
    return replace(prepared, interfaces=interfaces), host_findings(prepared, hosts)


def host_findings(prepared: Prepared, hosts: Sequence[HostFacts]) -> tuple[Finding, ...]:
    """Where the hosts differ, have too little room, or cannot reach the first one."""
    processes = prepared.deployment.processes
    needs = {process.node: process.needs for process in processes if process.role is not Role.ROUTER}
    return compare(prepared.addresses, hosts, needs)


def _question(prepared: Prepared, node: str, meet: list[Any] | None) -> dict[str, Any]:
    process = next(process for process in prepared.deployment.processes if process.node == node)
    paths = prepared.paths_of(process)
    return {
        "engine": paths["engine"],
        "checkpoint": paths["checkpoint"],
        "address": prepared.addresses[node],
        "meet": meet,
        "packages": PACKAGES,
    }


def _ask_host(host: SshHost, question: Mapping[str, Any]) -> HostFacts:
    begun = time.time()
    answer = ask(host, "facts", question)
    ended, clock_s = time.time(), float(answer["clock_s"])
    # Its clock showed this at some time between our question and its answer.
    off_s = clock_s - ended if clock_s > ended else min(0.0, clock_s - begun)
    return _read(host.node, answer, off_s)


def _read(node: str, answer: Mapping[str, Any], clock_off_s: float) -> HostFacts:
    facts = {name: fact for name, fact in answer.items() if name != "clock_s"}
    return HostFacts(node=node, clock_off_s=clock_off_s, **facts)


@contextmanager
def _meeting_point(address: str) -> Iterator[int]:
    """A port of this host that the others try to reach, as the engine's rendezvous will. 0 where the address does not
    belong to this host, which is a finding of its own."""
    try:
        listener = socket.create_server((address, 0))
    except OSError:
        yield 0
        return
    with listener:
        yield int(listener.getsockname()[1])
