"""What keeps strangers from the ports between the ranks of several hosts: `node-0/firewall.sh`, by nftables.

Those sockets know no keys, and some take pickled objects (fault 62; https://docs.vllm.ai/en/latest/usage/security/).
The engines name a few of their ports; the others are the system's choice, out of the range that it gives to programs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from moonpad import __version__
from moonpad.render.containers import published
from moonpad.render.env_variables import expansion_of, variable_of
from moonpad.render.rendered import Rendered
from moonpad.values.deployment import Deployment
from moonpad.values.references import HostRef, PortRef, Ref

CHOSEN_BY_THE_SYSTEM: Final = "32768-60999"
"""net.ipv4.ip_local_port_range as Linux has it by default (https://docs.kernel.org/networking/ip-sysctl.html)."""
CHOSEN_BY_RAY: Final = "10002-19999"
"""For its workers (https://docs.ray.io/en/latest/ray-core/configure.html#ports-configurations)."""


def render_firewall(deployment: Deployment) -> Mapping[str, Rendered]:
    """One script a node: path → text and mode. None where one node is all there is, since nothing listens beyond it."""
    nodes = deployment.nodes
    if len(nodes) == 1:
        return {}
    return {
        path: Rendered("\n".join(_lines(deployment, nodes, node, path)) + "\n", 0o755)
        for node in nodes
        if (path := f"{node}/firewall.sh")
    }


def _lines(deployment: Deployment, nodes: tuple[str, ...], node: str, path: str) -> Iterator[str]:
    hosts = [HostRef(name) for name in nodes]
    here = [process for process in deployment.processes if process.node == node]
    ports = [ref for ref, _ in published(here)]
    closed = [port for port in ports if port != deployment.endpoint]
    exposed = [port for port in ports if port == deployment.endpoint and deployment.port_spec(port).reach == "public"]
    table = f"moonpad-{deployment.title}"
    yield from (
        "#!/usr/bin/env bash",
        f"# Written by moonpad {__version__}. Lets the hosts of this run reach the ports between the ranks on {node},",
        "# and no other host: those protocols have no keys. Run it as root, before the engine and after each reboot:",
        f"#   bash {path}",
        f"# `nft delete table inet {table}` undoes it. Other rules of this host stay as they are.",
        "set -euo pipefail",
        "",
    )
    used: tuple[Ref, ...] = (*hosts, *closed, *exposed)
    value = {ref: f"${{{variable_of(ref, deployment)}}}" for ref in used}
    for ref in used:
        yield f'{variable_of(ref, deployment)}="{expansion_of(ref, deployment)}"'
    yield from (
        "",
        "four=() six=()",
        f"for host in {_words(value[ref] for ref in hosts)}; do",
        '  [[ $host =~ ^[0-9A-Fa-f:.]+$ ]] || { echo "$host is not an address" >&2; exit 2; }',
        '  if [[ $host == *:* ]]; then six+=("$host"); else four+=("$host"); fi',
        "done",
    )
    if closed or exposed:
        if len((*closed, *exposed)) == 1:
            yield "# shellcheck disable=SC2066  # there is one"
        yield from (
            f"for port in {_words(value[ref] for ref in (*closed, *exposed))}; do",
            '  [[ $port =~ ^[0-9]+$ ]] || { echo "$port is not a port" >&2; exit 2; }',
            "done",
        )
    yield from (
        'listed() { local IFS=,; echo "$*"; }',
        "",
        "{",
        f"  echo 'table inet {table}'",
        f"  echo 'delete table inet {table}'",
        f"  echo 'table inet {table} {{'",
        "  echo 'chain input {'",
        "  echo 'type filter hook input priority 0; policy accept;'",
        "  echo 'iif \"lo\" accept'",
        "  echo 'ct state established,related accept'",
        '  if ((${#four[@]})); then echo "ip saddr { $(listed "${four[@]}") } accept"; fi',
        '  if ((${#six[@]})); then echo "ip6 saddr { $(listed "${six[@]}") } accept"; fi',
    )
    for ref in exposed:
        yield f'  echo "tcp dport {value[ref]} accept"'
    with_ray = any(port.name == "ray" for process in deployment.processes for port in process.ports)
    chosen = (CHOSEN_BY_THE_SYSTEM, *((CHOSEN_BY_RAY,) if with_ray else ()))
    for shut in (*(_range(ref, deployment) for ref in closed), *chosen):
        yield f'  echo "tcp dport {shut} drop"'
    yield from ("  echo '}'", "  echo '}'", "} | nft -f -")


def _range(port: PortRef, deployment: Deployment) -> str:
    """The port as nftables takes it, with those that follow it where it stands for several."""
    variable, count = variable_of(port, deployment), deployment.port_spec(port).count
    return f"${{{variable}}}" if count == 1 else f"${{{variable}}}-$(({variable} + {count - 1}))"


def _words(values: Iterable[str]) -> str:
    return " ".join(f'"{value}"' for value in values)
