"""What the deployment of a spec holds of its hosts while it is up: its devices' memory and its ports are no faults."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from moonpad.doctor.need import Held, Need
from moonpad.doctor.needs import Needs
from moonpad.run.run_status import read_status
from moonpad.store.run_folder import current_run
from moonpad.store.schema_version import SchemaTooNew
from moonpad.values.records import replace


def with_own_deployment(needs: Needs, name: str) -> Needs:
    """The same needs, told what is held on each host by the deployment of this name, where it is up."""
    folder = current_run(name)
    if folder is None:
        return needs
    try:
        status = read_status(folder, None)
        base_url = str(folder.about().get("base_url") or "")
    except SchemaTooNew:
        return needs
    if not status.up:
        return needs
    port = _port(base_url)
    pids = frozenset(status.owned)
    local = {host.node for host in needs.hosts if host.ssh is None}
    return replace(
        needs,
        of_node={
            node: replace(
                need,
                held=Held(f"{name}, which is up", pids if node in local else frozenset(), _ports(need, needs, port)),
            )
            for node, need in needs.of_node.items()
        },
    )


def _ports(need: Need, needs: Needs, api: int | None) -> frozenset[int]:
    """All of the spec's, where the one of its API is still that of the deployment."""
    every: Mapping[int, str] = {port: words for each in needs.of_node.values() for port, words in each.ports.items()}
    return frozenset(need.ports) if api in every else frozenset()


def _port(url: str) -> int | None:
    try:
        return urlsplit(url).port
    except ValueError:
        return None
