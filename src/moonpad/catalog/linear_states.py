"""How the engines keep the states of linear attention, by the version since which it is so."""

from __future__ import annotations

from functools import cache
from typing import Final

from msgspec import Struct

from moonpad.catalog.toml_rows import Amount, Provenance, rows
from moonpad.values.versions import order, since

FILE: Final = "linear_states.toml"


class StateRules(Struct, frozen=True, kw_only=True):
    """`pool_ratio` 0: states lie in the blocks of the KV cache, which are a multiple of `block_step` tokens."""

    engine: str
    since: str
    block_step: int = 1
    pool_ratio: Amount = 0
    """Memory of the pool of states to that of the KV cache."""
    caches: bool
    """Whether prefixes are cached for such models unless the engine is told."""
    states: int = 1
    """How many states a sequence takes without a prefix cache, and with one."""
    cached_states: int
    checkpoints: tuple[str, ...] = ()
    """Model types of which NVIDIA's devices keep one more state with a prefix cache: that at the end of a prompt."""
    block_each: bool = False
    """With CUDA graphs the engine refuses to start with fewer blocks than `max_num_seqs`."""
    provenance: Provenance


@cache
def state_rules(engine: str, version: str) -> StateRules:
    """Of an engine that is not known to serve such models, those of the newest vLLM: nothing is started by them."""
    known = [row.build(StateRules) for _, row in rows(FILE, "states")]
    own = [rule for rule in known if rule.engine == engine and since(version, rule.since)]
    return max(own or [rule for rule in known if rule.engine == "vllm"], key=lambda rule: order(rule.since))
