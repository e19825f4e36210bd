"""What stands beside `services` in a compose file and is refused there: a service that is not indented."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from yaml import MappingNode, Node

from moonpad.explain.checks.manifests.pod_objects import fields_of
from moonpad.explain.results import shortened
from moonpad.values.finding import Code

_TOP: Final = frozenset({
    *("version", "name", "services", "networks", "volumes", "configs", "secrets", "include", "models"),
})  # fmt: skip
_OF_SERVICE: Final = ("image", "build")


def beside_services(top: Mapping[str, Node]) -> Iterator[tuple[Code, str, str, str, Node]]:
    """Of the keys of the whole file, which `docker compose config` reads before anything is started."""
    own = [node for node in fields_of(top.get("services")).values() if isinstance(node, MappingNode)]
    if not any(key in fields_of(node) for node in own for key in _OF_SERVICE):
        return
    for name, node in top.items():
        if name in _TOP or name.startswith("x-") or not any(key in fields_of(node) for key in _OF_SERVICE):
            continue
        shown = shortened(name, 40)
        message = (
            f"{shown} stands beside services, and not among them: Compose refuses the file (additional properties "
        )
        message += f"'{shown}' not allowed)"
        yield Code.INVALID_VALUE, shown, message, f"indent {shown} as the other services are", node
        return
