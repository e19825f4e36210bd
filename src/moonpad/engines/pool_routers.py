"""The router before a prefill and a decode pool: it sends each request to one server of both.

Facts: the command lines of sglang-router 0.3.2 and vllm-router 0.1.17 (their router_args.py). SGLang's former balancers
are of its own package and gone: srt/disaggregation/launch_lb.py after 0.5.0rc0, mini_lb.py after 0.5.5.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from moonpad.engines.base import API, listen_on
from moonpad.engines.router_programs import NAME, SGLANG_ROUTER, VLLM_ROUTER, Router
from moonpad.values.deployment import (
    After,
    Deployment,
    HttpProbe,
    PortSpec,
    Process,
    Reach,
    Role,
    Runtime,
)
from moonpad.values.plan import Transfer
from moonpad.values.pools import BOOTSTRAP, POOL_ROLES, PoolRole
from moonpad.values.references import Arg, HostRef, PortRef

Servers = Mapping[PoolRole, Process]
"""The process of each pool that answers requests, by its role."""


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


OF_ENGINE: Final[Mapping[str, Router]] = {"sglang": SGLANG_ROUTER, "vllm": VLLM_ROUTER, "vllm-cpu": VLLM_ROUTER}
"""Which router goes with the pools of an engine, by the engine's name."""
_POOLS_ARGV: Final[Mapping[str, Callable[[Servers, Transfer], Iterator[Arg]]]] = {
    SGLANG_ROUTER.name: _sglang,
    VLLM_ROUTER.name: _vllm,
}


def router_process(
    engine: str, pools: Mapping[PoolRole, Deployment], transfer: Transfer, port: int, reach: Reach, image: str
) -> Process:
    """The router of these pools, on the first machine of prefill. `image`: what it runs in; "" for an environment."""
    router = OF_ENGINE[engine]
    servers = {role: pools[role].process(pools[role].endpoint.process) for role in POOL_ROLES}
    budget_s = max(server.start_budget_s for server in servers.values())
    runtime: Runtime = router.contained(image) if image else router.installed()
    node, api = servers["prefill"].node, PortRef(NAME, API.name)
    return Process(
        name=NAME,
        role=Role.ROUTER,
        node=node,
        rank=0,
        runtime=runtime,
        argv=(
            *("--host", listen_on(reach, runtime), "--port", api),
            *_POOLS_ARGV[router.name](servers, transfer),
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
