"""The router before a prefill and a decode pool: it sends each request to one server of both.

Facts: the command lines of sglang-router 0.3.2 and vllm-router 0.1.17 (their router_args.py). SGLang's former balancers
are of its own package and gone: srt/disaggregation/launch_lb.py after 0.5.0rc0, mini_lb.py after 0.5.5.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from moonpad.engines.base import API, listen_on
from moonpad.engines.routers import NAME
from moonpad.values.deployment import (
    After,
    Deployment,
    Executable,
    HttpProbe,
    Image,
    PortSpec,
    Process,
    Reach,
    Role,
    Runtime,
)
from moonpad.values.plan import Transfer
from moonpad.values.pools import BOOTSTRAP, POOL_ROLES, PoolRole
from moonpad.values.references import Arg, HostRef, PathRef, PortRef

Servers = Mapping[PoolRole, Process]
"""The process of each pool that answers requests, by its role."""


@dataclass(frozen=True, slots=True)
class PoolRouter:
    """`command` in an environment of its own, which is bound to the path `router`; `entrypoint` in an image."""

    package: str
    command: tuple[str, ...]
    entrypoint: tuple[str, ...]
    in_engine_image: bool
    argv: Callable[[Servers, Transfer], Iterator[Arg]]


def _sglang(servers: Servers, transfer: Transfer) -> Iterator[Arg]:
    prefill, decode = servers["prefill"], servers["decode"]
    yield "--pd-disaggregation"
    yield from ("--prefill", _url(prefill), PortRef(prefill.name, BOOTSTRAP), "--decode", _url(decode))


def _vllm(servers: Servers, transfer: Transfer) -> Iterator[Arg]:
    prefill, decode = servers["prefill"], servers["decode"]
    yield from ("--vllm-pd-disaggregation", "--kv-connector", transfer.connector)
    yield from ("--prefill", _url(prefill))
    if transfer.connector == "mooncake":
        yield PortRef(prefill.name, BOOTSTRAP)
    yield from ("--decode", _url(decode))


# docker/Dockerfile of sgl-project/sglang installs sglang-router; vLLM's images hold no router.
_SGLANG: Final = PoolRouter(
    "sglang-router",
    ("sglang-router", "launch"),
    ("python3", "-m", "sglang_router.launch_router"),
    True,
    _sglang,
)
_VLLM: Final = PoolRouter("vllm-router", ("vllm-router",), ("python3", "-m", "vllm_router.launch_router"), False, _vllm)
ROUTERS: Final[Mapping[str, PoolRouter]] = {"sglang": _SGLANG, "vllm": _VLLM, "vllm-cpu": _VLLM}
"""By the engine's name."""


def router_process(
    engine: str, pools: Mapping[PoolRole, Deployment], transfer: Transfer, port: int, reach: Reach, image: str
) -> Process:
    """The router of these pools, on the first machine of prefill. `image`: what it runs in; "" for an environment."""
    router = ROUTERS[engine]
    servers = {role: pools[role].process(pools[role].endpoint.process) for role in POOL_ROLES}
    budget_s = max(server.start_budget_s for server in servers.values())
    runtime: Runtime = Executable(((PathRef(NAME), f"/bin/{router.command[0]}"), *router.command[1:]))
    if image:
        runtime = Image(image, router.entrypoint)
    node, api = servers["prefill"].node, PortRef(NAME, API.name)
    return Process(
        name=NAME,
        role=Role.ROUTER,
        node=node,
        rank=0,
        runtime=runtime,
        argv=(
            *("--host", listen_on(reach, runtime), "--port", api),
            *router.argv(servers, transfer),
            *("--worker-startup-timeout-secs", str(math.ceil(budget_s))),
        ),
        ports=(PortSpec(API.name, port, reach),),
        after=tuple(After(server.name, "started") for server in servers.values()),
        ready=HttpProbe(api),
        start_budget_s=budget_s + 60,
        stop=servers["decode"].stop,
    )


def _url(server: Process) -> Arg:
    return ("http://", HostRef(server.node), ":", PortRef(server.name, API.name))
