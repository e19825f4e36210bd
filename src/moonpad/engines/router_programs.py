"""The routers, and one explicit dict.

A router is a program of others: it is started, watched and stopped like an engine, and computes no token. It stands
before several copies of an engine (routers.py), or before a prefill and a decode pool (pool_routers.py).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from moonpad.engines.install_recipe import Recipe, tool_recipe
from moonpad.engines.log_grammar import CauseLine, LogGrammar
from moonpad.values.deployment import Executable, Image
from moonpad.values.references import PathRef

NAME: Final = "router"
"""Of the process, of its gang, of its node where it has one of its own, and of the path to its environment."""


class Router(Struct, frozen=True, kw_only=True):
    """One router. `subcommand`: the words between its command and its options."""

    name: str
    command: str
    program: str
    """The name of its options in the catalogue."""
    module: str
    """The same as a module, which images of every release have."""
    policies: tuple[str, ...]
    """The first is the one that is taken where none is named."""
    recipe: Recipe
    log: LogGrammar
    subcommand: tuple[str, ...] = ()
    in_engine_image: bool = False
    """Whether the image of its makers' engine has it."""
    drain_option: str = ""
    """How long running requests may continue once it is told to end; "": it waits for all of them."""
    version_args: tuple[str, ...] = ("--version",)

    def installed(self) -> Executable:
        """In the environment that is bound to the path `router`."""
        return Executable(((PathRef(NAME), f"/bin/{self.command}"), *self.subcommand))

    def contained(self, image: str, *, own_network: bool = True) -> Image:
        return Image(image, ("python3", "-m", self.module), own_network=own_network)


_LOG: Final = LogGrammar(
    phases=(),
    causes=(
        CauseLine(
            re.compile(r"Address already in use"),
            "the router's port, or that of its metrics, is in use by another program",
            "set another [endpoint] port, or [router] metrics_port",
        ),
    ),
    generic=(),
)
SGLANG_ROUTER: Final = Router(
    name="sglang-router",
    command="sglang-router",
    subcommand=("launch",),
    program="sglang-router",
    module="sglang_router.launch_router",
    policies=("cache_aware", "round_robin", "random", "power_of_two", "manual"),
    recipe=tool_recipe(
        "sglang-router",
        "0.3.2",
        glibc=(2, 17),
        module="sglang_router.sglang_router_rs",
        disk_bytes=150_000_000,
        download_bytes=36_000_000,
    ),
    log=_LOG,
    in_engine_image=True,  # docker/Dockerfile of sgl-project/sglang installs it
    drain_option="--shutdown-grace-period-secs",
)

VLLM_ROUTER: Final = Router(
    name="vllm-router",
    command="vllm-router",
    program="vllm-router",
    module="vllm_router.launch_router",
    policies=("cache_aware", "round_robin", "random", "power_of_two", "consistent_hash", "sticky_least_loaded"),
    recipe=tool_recipe(
        "vllm-router",
        "0.1.17",
        glibc=(2, 28),
        module="vllm_router_rs",
        disk_bytes=130_000_000,
        download_bytes=29_000_000,
    ),
    log=_LOG,
)

ROUTERS: Final[Mapping[str, Router]] = {router.name: router for router in (SGLANG_ROUTER, VLLM_ROUTER)}

IMAGES: Final[Mapping[str, re.Pattern[str]]] = {
    "sglang-router": re.compile(
        r"(?:^|/)(?:smg|sgl-model-gateway|sgl(?:ang)?-router):v?(?P<version>\d+\.\d+\.\d+[\w.]*)$"
    ),
    "vllm-router": re.compile(r"(?:^|/)vllm-router:v?(?P<version>\d+\.\d+\.\d+[\w.]*)$"),
}
"""Images that hold one router alone, with its release as their tag."""
