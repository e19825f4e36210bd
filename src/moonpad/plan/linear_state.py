"""How the engines deal out the KV cache: to MLA layers by tokens, to layers of Kimi Delta Attention by sequences.

A layer of KDA keeps one state a sequence, of a size that no token adds to: the recurrent matrices of its heads and the
last inputs of its convolutions, divided over the tensor-parallel ranks. vLLM makes both kinds of layer share blocks: it
lengthens the block of an MLA layer until it is no smaller than a state, pads the state to it, and forms groups of as
many layers each, with a block table for each group. SGLang splits the memory into a pool of tokens and one of states.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from functools import lru_cache
from typing import Final

from msgspec import Struct

from moonpad.catalog.linear_states import state_rules
from moonpad.plan.effective_settings import Limits
from moonpad.plan.kv_cache import blocks_of_request, layer_bytes_per_token, tokens_in, whole_blocks
from moonpad.values.checkpoint import LinearAttention
from moonpad.values.configuration import Configuration
from moonpad.values.memory import End
from moonpad.values.platform import Platform

CONVOLUTION_BYTES: Final = 2
"""Of an input that a convolution remembers: BF16, the type of the model."""
RECURRENT_BYTES: Final = 4
"""Of a value of the recurrent matrices: FP32 in vLLM (`kda_state_dtype`), and by default in SGLang."""
ENDS: Final[tuple[End, ...]] = ("value", "low", "high")


def state_bytes(linear: LinearAttention, tp: int, drafted: int = 0) -> int:
    """Of one sequence in one layer on a rank: q, k and v of the last `kernel - 1` tokens and of those that a draft
    proposes, and a square matrix for each head.
    """
    convolution = 3 * linear.width * (linear.kernel - 1 + drafted) * CONVOLUTION_BYTES
    recurrent = linear.heads * linear.head_dim**2 * RECURRENT_BYTES
    return -(-convolution // tp) + -(-recurrent // tp)


class Paging(Struct, frozen=True):
    """Of one pipeline stage. A block holds `tokens` tokens of one group of MLA layers, or one state of one group of KDA
    layers; it takes `block_bytes` on a device, padding included. Without KDA there is one group, and no state.
    """

    tokens: int
    block_bytes: int
    attention_groups: int = 1
    groups: int = 1
    state_blocks: int = 0
    """Blocks that the states of one sequence take."""
    slot_bytes: int = 0
    """Of one sequence's states in a pool beside the blocks; 0: there is none."""
    slots: int = 0
    """How many states of that pool a running sequence takes: copies for the prefix cache among them."""
    pool_share: float = 0.0
    """The pool's share of the memory, where its size is not `pool_slots`."""
    pool_slots: int | None = None
    least_blocks: int = 0
    """The engine refuses to start with fewer."""

    @property
    def bytes_per_token(self) -> int:
        return self.attention_groups * (self.block_bytes // self.tokens)

    @property
    def bytes_per_sequence(self) -> int:
        """What a sequence takes whatever its length."""
        return self.state_blocks * self.block_bytes + self.slots * self.slot_bytes

    def pool(self, kv_bytes: float) -> int:
        """States in the pool. One more is allocated, which no sequence gets."""
        if not self.slot_bytes:
            return 0
        if self.pool_slots is not None:
            return self.pool_slots
        return max(0, math.floor(kv_bytes * self.pool_share / self.slot_bytes) - 1)

    def blocks(self, kv_bytes: float) -> int:
        states = (self.pool(kv_bytes) + 1) * self.slot_bytes
        return whole_blocks(kv_bytes - states, self.block_bytes // self.tokens, self.tokens)

    def sequences(self, kv_bytes: float) -> float:
        """How many sequences the pool of states lets run at once."""
        return self.pool(kv_bytes) // self.slots if self.slot_bytes else math.inf

    def of_request(self, context: int, dcp: int) -> int:
        """Blocks that one sequence takes on each rank; a state is not divided over decode-context-parallel ranks."""
        return self.attention_groups * blocks_of_request(context, self.tokens, dcp) + self.state_blocks

    def needed_bytes(self, context: int, sequences: int, dcp: int) -> float:
        """What so many sequences take on a device, with the states that lie in a pool."""
        blocks = sequences * self.of_request(context, dcp) * self.block_bytes
        if not self.slot_bytes:
            return blocks
        states = (sequences * self.slots + 1) * self.slot_bytes
        if self.pool_slots is not None:
            return blocks + (self.pool_slots + 1) * self.slot_bytes
        return max(blocks / (1 - self.pool_share), states / self.pool_share)

    def longest(self, blocks: int, sequences: int, dcp: int) -> int:
        """The longest that so many sequences can be at once."""
        of_each = max(0, blocks // sequences - self.state_blocks)
        return tokens_in(of_each // self.attention_groups, self.tokens, dcp)

    def logged(self, blocks: int, context: int, dcp: int, *, by_request: bool) -> int:
        """The tokens that the engine logs. `by_request`: vLLM since 0.21 says concurrency × context, cut in floating
        point as there; before, it dealt the blocks out to the groups evenly, whatever the states take.
        """
        if by_request:
            return int(blocks / self.of_request(context, dcp) * context)
        return tokens_in(blocks // self.groups, self.tokens, dcp)


def paging_of(configuration: Configuration, limits: Limits, first: int, end: int, draft_token_bytes: int = 0) -> Paging:
    """Of the stage with the layers from `first` up to `end`, and the layers of a draft that take so much a token."""
    architecture, linear = configuration.architecture, configuration.architecture.linear
    token_bytes, size = layer_bytes_per_token(architecture, bits=limits.kv_bits), limits.block_size
    with_mla = architecture.mla_between(first, end)
    if linear is None:
        return Paging(size, (with_mla * token_bytes + draft_token_bytes) * size)
    rules = state_rules(configuration.engine.name, configuration.version)
    tp, settings = configuration.layout.tp, configuration.settings
    caches = rules.caches if settings.prefix_caching is None else settings.prefix_caching
    copies = rules.cached_states if caches else rules.states
    if caches and configuration.platform is Platform.CUDA and architecture.model_type in rules.checkpoints:
        copies += 1
    drafted = settings.draft_tokens
    state = state_bytes(linear, tp, drafted)
    if rules.pool_ratio:
        ratio = settings.state_pool_ratio or rules.pool_ratio
        asked = limits.max_num_seqs if not caches and settings.max_num_seqs else None
        return Paging(
            size,
            (with_mla * token_bytes + draft_token_bytes) * size,
            slot_bytes=(end - first - with_mla) * state,
            slots=copies + (drafted + 1 if drafted else 0),
            pool_share=ratio / (1 + ratio),
            pool_slots=asked,
        )
    tokens = _tokens_holding(state, token_bytes, max(rules.block_step, limits.block_size))
    groups = _groups(architecture.layers, linear.mla_layers)
    pages = max(bisect_left(group, end) - bisect_left(group, first) for group in groups)
    with_tokens = sum(architecture.is_mla(group[0]) for group in groups)
    return Paging(
        tokens,
        (pages * token_bytes + draft_token_bytes) * tokens,
        attention_groups=max(1, with_tokens),
        groups=len(groups),
        state_blocks=(len(groups) - with_tokens) * (copies + drafted),
        least_blocks=(limits.max_num_seqs or 0) if rules.block_each and limits.graphs else 0,
    )


def block_tokens(configuration: Configuration, limits: Limits) -> int:
    """Of a block of an MLA layer, which is lengthened until it holds a state."""
    linear, rules = configuration.architecture.linear, state_rules(configuration.engine.name, configuration.version)
    if linear is None or rules.pool_ratio:
        return limits.block_size
    state = state_bytes(linear, configuration.layout.tp, configuration.settings.draft_tokens)
    token_bytes = layer_bytes_per_token(configuration.architecture, bits=limits.kv_bits)
    return _tokens_holding(state, token_bytes, max(rules.block_step, limits.block_size))


def _tokens_holding(state: int, token_bytes: int, step: int) -> int:
    return step * -(-state // (step * token_bytes))


@lru_cache(maxsize=16)
def _groups(layers: int, mla_layers: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """vLLM's groups: as many layers in each as the rarer kind has, or as the other where that is hardly more."""
    kinds = [kind for kind in (mla_layers, tuple(sorted({*range(layers)} - {*mla_layers}))) if kind]
    fewest, most = min(map(len, kinds)), max(map(len, kinds))
    size = most if most < 1.5 * fewest else fewest
    return tuple(kind[number :: -(-len(kind) // size)] for kind in kinds for number in range(-(-len(kind) // size)))


class SequenceRoom(Struct, frozen=True):
    """What the stages of one replica hold, at the value and both ends, for any number of sequences."""

    paging: Paging
    dcp: int
    blocks: tuple[int, int, int]
    most: tuple[float, float, float]
    """Sequences that the pools of states let run."""

    def reach(self, sequences: int, end: End = "value") -> int:
        """The longest context of so many sequences at once; 0 where the states alone do not fit."""
        place = ENDS.index(end)
        if sequences > self.most[place] or self.blocks[place] < self.paging.least_blocks:
            return 0
        return self.paging.longest(self.blocks[place], sequences, self.dcp)

    def needed_bytes(self, context: int, sequences: int) -> float:
        return self.paging.needed_bytes(context, sequences, self.dcp)

    @property
    def refusal(self) -> str:
        blocks, least = self.blocks[0], self.paging.least_blocks
        if blocks >= least:
            return ""
        return (
            f"max_num_seqs is {least:,} and the KV cache has {blocks:,} blocks of {self.paging.tokens} tokens: with "
            "CUDA graphs the engine wants one for the state of each sequence"
        )
