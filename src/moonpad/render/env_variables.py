"""References as variables of the environment: the interface of the files for a shell and for compose."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, assert_never

from moonpad.engines.routers import is_on_loopback
from moonpad.values.deployment import Deployment
from moonpad.values.references import HostRef, PathRef, PortRef, RankRef, Ref, SecretRef

_PATHS: Final[Mapping[str, str]] = {
    "checkpoint": ":?the folder of the checkpoint",
    "draft": ":?the folder of the draft model",
    "engine": ":?the folder of the environment that holds the engine, above its bin/",
    "router": ":?the folder of the environment that holds the router, above its bin/",
    "cache": ":?a folder for caches",
    "run": ":-$PWD",
    "scripts": ':-$(cd -- "$(dirname -- "$0")" && pwd)',
}


def variable_of(ref: Ref, deployment: Deployment) -> str:
    """`MOONPAD_PORT_API` for the port of the endpoint. A rank's variable holds it without its factor."""
    words: tuple[str, ...]
    match ref:
        case HostRef(node):
            words = ("HOST", node)
        case PortRef(process, name):
            words = ("PORT", name) if ref == deployment.endpoint else ("PORT", process, name)
        case RankRef(node):
            words = ("RANK", node)
        case PathRef(name) | SecretRef(name):
            words = (name,)
        case _:
            assert_never(ref)
    return re.sub(r"[^A-Z0-9]", "_", "_".join(("moonpad", *words)).upper())


def expansion_of(ref: Ref, deployment: Deployment) -> str:
    """`${VARIABLE:-DEFAULT}`, or `${VARIABLE:?what is missing}`."""
    return f"${{{variable_of(ref, deployment)}{fallback_of(ref, deployment)}}}"


def fallback_of(ref: Ref, deployment: Deployment) -> str:
    """What follows the name in `${VARIABLE…}`: a default, or the message where there is none."""
    match ref:
        case HostRef(node):
            missing = f":?the address of {node}, as the other nodes reach it"
            return ":-127.0.0.1" if is_on_loopback(node, deployment) else missing
        case PortRef():
            return f":-{deployment.port_spec(ref).preferred}"
        case RankRef(node):
            ranks = [process.rank for process in deployment.processes if process.node == node]
            return f":-{min(ranks)}" if ranks else f":?the rank of {node}"
        case PathRef(name):
            return _PATHS.get(name, f":?the path of {name}")
        case SecretRef(name):
            return f":?the secret {name}; set it in the environment, never here"
        case _:
            assert_never(ref)
