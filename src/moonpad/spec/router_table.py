"""`[router]`: several copies of the engine behind a router, and which of them gets which port."""

from __future__ import annotations

from typing import Annotated, Final, Protocol

from pydantic import Field, ValidationInfo, field_validator

from moonpad.engines.router_programs import ROUTERS
from moonpad.spec.extra_args import check_extra_args
from moonpad.spec.fields import PinnedImage, PortOrDefault, Release, Table, Text
from moonpad.spec.near_match import did_you_mean
from moonpad.spec.safe_text import shorten


class RouterTable(Table):
    """A router before several copies of the engine; the endpoint's port is the router's then."""

    name: Annotated[str, Field(description="the name of a router")]
    replicas: Annotated[int, Field(ge=1, le=64, description="a whole number from 1 to 64")] = 2
    """So many copies of the engine, which share the machine's devices evenly."""
    policy: Annotated[str | None, Field(description='a policy of the router, like "round_robin"')] = None
    """How it chooses a copy; by default `cache_aware`, as both routers do."""
    version: Release | None = None
    """The only one that is started; by default whichever is installed."""
    python: Annotated[Text | None, Field(description="the path of the Python that the router is installed for")] = None
    image: PinnedImage | None = None
    """What rendered files run it in, where they run the engine in containers."""
    replica_port: PortOrDefault = None
    """The first copy's; the others have the next ones. By default the endpoint's and 2."""
    metrics_port: PortOrDefault = None
    """Where the router reports its own metrics, on the loopback; by default the one after the last copy's."""
    extra_args: Annotated[
        tuple[str, ...], Field(strict=False, description='a list of texts, like ["--flag", "value"]')
    ] = ()

    @field_validator("name")
    @classmethod
    def _known(cls, name: str) -> str:
        if name not in ROUTERS:
            meant = did_you_mean(name, ROUTERS)
            raise ValueError(f'must be one of {", ".join(ROUTERS)}, found "{shorten(name)}"{meant}')
        return name

    @field_validator("policy")
    @classmethod
    def _of_this_router(cls, policy: str | None, info: ValidationInfo) -> str | None:
        router = ROUTERS.get(info.data.get("name", ""))
        if policy is not None and router is not None and policy not in router.policies:
            meant = did_you_mean(policy, router.policies)
            raise ValueError(f'must be one of {", ".join(router.policies)}, found "{shorten(policy)}"{meant}')
        return policy

    @field_validator("extra_args")
    @classmethod
    def _no_key(cls, args: tuple[str, ...]) -> tuple[str, ...]:
        check_extra_args(args)
        return args


class Exposable(Protocol):
    """`[endpoint]`, as far as the ports depend on it."""

    @property
    def port(self) -> int: ...
    @property
    def expose(self) -> bool: ...


LONGEST_ROUTED_NAME: Final = 52
"""A label has 63 characters, and a copy's name ends in `-replica-63`."""


def router_port(endpoint: Exposable) -> int:
    """Where the router listens: behind the front that an exposed endpoint has, on the next port."""
    return endpoint.port + 1 if endpoint.expose else endpoint.port


def replica_port(endpoint: Exposable, router: RouterTable, number: int) -> int:
    """Where the copy of that number listens, counted from 0."""
    return (router.replica_port or endpoint.port + 2) + number


def metrics_port(endpoint: Exposable, router: RouterTable) -> int:
    """Where the router reports its own metrics."""
    return router.metrics_port or replica_port(endpoint, router, router.replicas)


def refuse_colliding_ports(endpoint: Exposable, router: RouterTable) -> None:
    """
    Raises:
        ValueError: a port is beyond the last one, or two processes would have the same.
    """
    copies = [replica_port(endpoint, router, number) for number in range(router.replicas)]
    ports = [endpoint.port, *([router_port(endpoint)] if endpoint.expose else ()), *copies]
    ports.append(metrics_port(endpoint, router))
    if max(ports) > 65535:
        raise ValueError(f"needs port {max(ports)}, and the last one is 65535: set replica_port and metrics_port")
    if twice := next((port for port in ports if ports.count(port) > 1), None):
        raise ValueError(f"gives port {twice} to two processes: set replica_port and metrics_port")
