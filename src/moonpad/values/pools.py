"""Prefill/decode disaggregation: servers of two kinds, and what carries the KV cache from the one to the other."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, get_args

from msgspec import Struct, field
from msgspec.structs import force_setattr

from moonpad.values.plan import Layout, Settings
from moonpad.values.plan import PoolRole as PoolRole
from moonpad.values.versions import since

POOL_ROLES: Final[tuple[PoolRole, ...]] = get_args(PoolRole)

BOOTSTRAP: Final = "bootstrap"
"""The port at which the servers of a prefill pool can be asked where their KV cache lies."""
BOOTSTRAP_PORT: Final = 8998
"""Its default in SGLang (`--disaggregation-bootstrap-port`) and for vLLM's Mooncake connector."""


class EqualShares(Struct, frozen=True):
    """Models of which a part of the cache is sent only between pools that split attention over as many GPUs."""

    models: str
    """A regular expression for their names, in lower case."""
    part: str
    """What that part of the cache is of."""
    since: str
    until: Mapping[str, str]
    """The engine's names of what carries the KV cache → the first release that splits it anew."""
    unless: str = ""
    """The option without which there is no such part; "" where there is none."""


class SlowShares(Struct, frozen=True):
    """Models whose cache goes over piece by piece between pools that split attention over other numbers of GPUs."""

    models: str
    """A regular expression for their names, in lower case."""
    connector: str
    """The engine's name of what carries the KV cache so."""
    since: str
    variable: str
    """With which they are gathered first, from the release `variable_since` on."""
    variable_since: str


class PoolFacts(Struct, frozen=True):
    """What an engine says of the transfer, and what the two pools of it must have in common.

    `connectors` are our names of what carries the KV cache → the engine's.
    """

    connectors: Mapping[str, str]
    option: str
    """The option that names it."""
    key: str = ""
    """The key of that option's JSON that holds the name; "" where the option's value is the name."""
    default: str = ""
    """What it takes where the option does not say; "": it then transfers nothing."""
    equal_blocks: bool = False
    """Blocks of the KV cache have the same size in both pools; else those of decode are multiples of prefill's."""
    compares_since: str | None = None
    """The release since which its NIXL servers compare their releases, attention backends and words for the checkpoint
    before a transfer, and refuse it where they differ; None: they never do."""
    pages: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Attention backends → the sizes of a page that each takes, the one that it takes in place of others first; empty
    where it takes any, and 1 by itself."""
    pages_compared_since: str = ""
    """The release since which decode compares the sizes of pages and ends a transfer where they differ; "": never."""
    equal_shares: tuple[EqualShares, ...] = ()
    slow_shares: SlowShares | None = None
    sizes_divide: bool = False
    """It refuses tensor-parallel and decode-context-parallel sizes of which neither divides the other."""
    stages_match: bool = False
    """It refuses a decode pool whose pipeline stages are neither one nor as many as prefill's."""
    asked_at_once: bool = False
    """Its router gives a request to both pools at once, so decode waits for the cache of one that prefill refused."""

    def __post_init__(self) -> None:
        force_setattr(self, "connectors", MappingProxyType(dict(self.connectors)))
        force_setattr(self, "pages", MappingProxyType(dict(self.pages)))

    def ours(self, name: str) -> str:
        """Our name of the engine's, or the engine's where there is no other."""
        return next((ours for ours, its in self.connectors.items() if its == name), name)


class Pool(Struct, frozen=True):
    """One of the two, as the rules for a pair look at it. None and "": not known, and nothing is said of it then.

    `model_written`: what the command calls the checkpoint; `kv_format` as `Configuration.stored_kv` names it.
    `unknown`: names of sizes of the layout, or of settings, that are left open.
    """

    engine: str
    version: str
    model: str
    model_written: str
    layout: Layout
    settings: Settings
    kv_format: str
    connector: str
    context: int | None = None
    """Tokens of the longest sequence."""
    unknown: frozenset[str] = field(default_factory=frozenset)


class PoolPair(Struct, frozen=True):
    prefill: Pool
    decode: Pool
    facts: PoolFacts
    """Of prefill's engine."""

    @property
    def both(self) -> tuple[tuple[PoolRole, Pool], ...]:
        return ("prefill", self.prefill), ("decode", self.decode)

    def known(self, *names: str) -> bool:
        """Whether none of these is left open in either."""
        return not {*names} & (self.prefill.unknown | self.decode.unknown)

    @property
    def compares(self) -> bool:
        """See `PoolFacts.compares_since`."""
        first = self.facts.compares_since
        nixl = {pool.connector for _, pool in self.both} == {"nixl"}
        return (
            first is not None and nixl and all(not pool.version or since(pool.version, first) for _, pool in self.both)
        )
