"""Addresses, interfaces, names, proxies, RDMA, ports and the clock of one host."""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Iterator
from typing import Any, Final

from moonpad.doctor.checks.wording import error, note, unknown, warning
from moonpad.doctor.need import Need
from moonpad.doctor.survey import Survey
from moonpad.facts.probe import Unknown, parsed
from moonpad.values.finding import Code, Finding

COLLECTORS: Final = ("NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME", "HCCL_SOCKET_IFNAME", "TP_SOCKET_IFNAME")
CLOCK_LIMIT_S: Final = 2.0


def addresses(survey: Survey, need: Need) -> Iterator[Finding]:
    """Whether the host has the address that the spec names."""
    if not need.address:
        return
    own = own_addresses(survey)
    if isinstance(own, Unknown):
        yield unknown("address", "this host's addresses", own)
    elif not (wanted := _resolved(survey, need.address)) & set(own):
        message = f"{need.address} is not an address of {survey.host}, which has {', '.join(sorted(own)) or 'none'}"
        yield error(Code.NETWORK, "address", message, "correct address in its [[hosts]] table")
    elif any(ipaddress.ip_address(each).is_loopback for each in wanted) and need.nodes > 1:
        message = f"{need.address} is the loopback: no other host reaches it"
        yield error(Code.NETWORK, "address", message, "name an address of the network between the hosts")


def interfaces(survey: Survey, need: Need) -> Iterator[Finding]:
    """The network that the collectives take, where variables choose it."""
    names = {path.split("/")[4] for path, _ in survey.texts("/sys/class/net/*/mtu")}
    own = own_addresses(survey)
    for variable in COLLECTORS:
        value = survey.variable(variable)
        if not value or not names:
            continue
        exact, wanted = value.startswith("="), [word for word in value.lstrip("^=").split(",") if word]
        if value.startswith("^"):
            continue
        # NCCL takes a prefix unless the list begins with =, gloo and the others an exact name.
        by_prefix = variable.startswith("NCCL") and not exact
        there = [name for name in names if any(name.startswith(word) if by_prefix else name == word for word in wanted)]
        if not there:
            message = f"{variable}={value} names no interface of this host, which has {', '.join(sorted(names))}"
            yield error(Code.NETWORK, variable, message, f"unset {variable}, or name one of these")
        elif need.address and isinstance(own, dict):
            right = {own[address] for address in _resolved(survey, need.address) if address in own}
            if right and not right & set(there):
                message = f"{variable}={value}, and {need.address} is on {', '.join(sorted(right))}"
                yield warning(Code.NETWORK, variable, message, f"set {variable}={sorted(right)[0]}")


def names(survey: Survey, need: Need) -> Iterator[Finding]:
    """A host name that stands for the loopback: ranks then tell one another 127.0.1.1, and wait for ever."""
    for name, answer in survey.answer["names"].items():
        if isinstance(answer, dict):
            if name in need.names:
                yield error(
                    Code.NETWORK, name, f"{name} cannot be resolved: {answer['error']}", "correct /etc/hosts or DNS"
                )
            elif need.nodes > 1:
                message = f"the host's own name {name} cannot be resolved"
                yield warning(Code.NETWORK, name, message, "add it to /etc/hosts with the address between the hosts")
            continue
        loops = [address for address in answer if ipaddress.ip_address(address.partition("%")[0]).is_loopback]
        if loops and len(loops) == len(answer) and need.nodes > 1:
            message = f"{name} stands for {loops[0]}: other hosts would be told an address that is their own"
            remedy = f"correct the line of {name} in /etc/hosts, or set VLLM_HOST_IP (moonpad up does)"
            yield warning(Code.NETWORK, name, message, remedy)


def proxies(survey: Survey, need: Need) -> Iterator[Finding]:
    """A proxy for every address takes the requests to the engine's own port too."""
    proxy = next((name for name in ("http_proxy", "HTTP_PROXY") if survey.variable(name)), "")
    exempt = f"{survey.variable('no_proxy')},{survey.variable('NO_PROXY')}"
    if proxy and not any(word in exempt for word in ("127.0.0.1", "localhost", "*")):
        message = f"{proxy} is set, and no_proxy does not name localhost: requests to the engine would go to the proxy"
        yield warning(Code.NETWORK, proxy, message, "export no_proxy=localhost,127.0.0.1")


def rdma(survey: Survey, need: Need) -> Iterator[Finding]:
    """State and rate of the ports, where several hosts exchange data."""
    ports: dict[str, str] = {}
    for path, state in survey.texts("/sys/class/infiniband/*/ports/*/state"):
        parts = path.split("/")
        ports[f"{parts[4]}:{parts[6]}"] = state.partition(":")[2].strip() or state
    if need.nodes < 2:
        return
    down = {name: state for name, state in ports.items() if state != "ACTIVE"}
    up = len(ports) - len(down)
    if ports and not up:
        name, state = next(iter(down.items()))
        message = f"none of {len(ports)} RDMA ports is active ({name} is {state}): the hosts would talk over TCP"
        yield warning(Code.NETWORK, "rdma", message, "look at cables and at the subnet manager (ibstat)")
    elif down:
        message = f"{len(down)} of {len(ports)} RDMA ports are not active: {', '.join(sorted(down))}"
        yield note(Code.NETWORK, "rdma", message, "leave them out with NCCL_IB_HCA, if they are meant to be down")
    for name in [name for name in ports if name not in down]:
        device, port = name.split(":")
        gids = [gid for _, gid in survey.texts(f"/sys/class/infiniband/{device}/ports/{port}/gids/*")]
        if gids and all(set(gid) <= set("0:") for gid in gids):
            message = f"{name} is active and has no GID: its interface has no address"
            yield warning(Code.NETWORK, "rdma", message, "give the interface of this port an address")
    if up and survey.variable("NCCL_IB_DISABLE") == "1":
        message = f"NCCL_IB_DISABLE=1, although {up} RDMA ports are active"
        yield warning(Code.NETWORK, "NCCL_IB_DISABLE", message, "unset it")


def ports(survey: Survey, need: Need) -> Iterator[Finding]:
    for number, why in survey.answer["ports"].items():
        if why:
            what = need.ports.get(int(number), "a port of the run")
            if need.held is not None and int(number) in need.held.ports:
                yield note(Code.PORT_TAKEN, f"port {number}", f"port {number} ({what}) is held by {need.held.by}")
                continue
            message = f"port {number} ({what}) cannot be had: {why}"
            yield error(Code.PORT_TAKEN, f"port {number}", message, f"ss -ltnp 'sport = :{number}' shows who has it")


def clock(survey: Survey, need: Need) -> Iterator[Finding]:
    if survey.clock_off_s is not None and abs(survey.clock_off_s) > CLOCK_LIMIT_S:
        message = f"its clock is {survey.clock_off_s:+.1f} s off that of this host: logs cannot be read side by side"
        yield warning(Code.HOSTS_DIFFER, "clock", message, "synchronise both with NTP")
    text = survey.output("time")
    if isinstance(text, str) and "NTPSynchronized=no" in text and need.nodes > 1:
        yield note(Code.HOSTS_DIFFER, "clock", "it is not synchronised with NTP", "timedatectl set-ntp true")


def own_addresses(survey: Survey) -> dict[str, str] | Unknown:
    """address → its interface."""
    return parsed(survey.output("addresses"), _parse_addresses)


def _parse_addresses(text: str) -> dict[str, str]:
    rows: list[dict[str, Any]] = json.loads(text)
    return {
        str(info["local"]): str(row["ifname"]) for row in rows for info in row.get("addr_info", ()) if "local" in info
    }


def _resolved(survey: Survey, name: str) -> set[str]:
    """The addresses of a name; an address is itself."""
    answer = survey.answer["names"].get(name, [name])
    return set(answer) if isinstance(answer, list) else {name}
