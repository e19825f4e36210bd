"""Settings that free memory, from the engine's defaults down; each change adds to those above it.

The order is by what a change costs the person: fewer tokens a step slow the prefill of long prompts, fewer sequences
limit how many are served at once, a higher memory fraction leaves less for anything else on the device. Those are
turned down for the longest context. The costly ones come last, and only for a useful context or for one that was asked
for: without CUDA graphs decoding is some 10 to 20 % slower (reported for K2-Thinking on 8×H100), experts in host RAM
slow every token, one sequence at a time makes all others wait, and an FP8 KV cache changes the numbers that a model
computes with.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, Literal

from msgspec import Struct

from moonpad.plan.request import Value
from moonpad.values.plan import Settings

FEW_TOKENS: Final = 4096
FEWEST: Final = ((2048, 16), (1024, 1))
"""Tokens and sequences of a step."""
SOME_SEQUENCES: Final = 256
FEWER_SEQUENCES: Final = 64
FEW_SEQUENCES: Final = (16, 1)
HIGH_FRACTION: Final = 0.95
# Experts of each layer on the devices, as KTransformers' documentation has them for 8, 4, 2 and 1 cards of 48 GB.
DEVICE_EXPERTS: Final = (80, 30, 8, 0)
CPU_KV_GIB: Final = (1, 4, 16, 64, 256)

Kind = Literal["device", "static", "free", "told", "asked", "host"]
"""What there is to turn: the budgets of catalog/overhead.py, and `host` where experts may lie in host RAM."""


class Change(Struct, frozen=True):
    """Settings by name, and what they are in words. `costly`: see above. `one_of_many`: with the one before it a single
    decision, as how many layers' experts go to host RAM."""

    settings: Mapping[str, Value]
    what: str
    costly: bool = False
    one_of_many: bool = False


class Lowering(Struct, frozen=True):
    """`start`: the defaults with what the person pinned, which is never changed. No change serves fewer than
    `sequences` at once, and a cheap one not fewer than `some`. `graphs`: the engine can be told to do without them.
    `layers` of the model, whose experts may go to host RAM one layer after the other. `alone`: context comes before all
    else, so that one sequence at a time and short steps are enough.
    """

    start: Settings
    pinned: Mapping[str, Value]
    kind: Kind
    sequences: int = 1
    some: int = FEWER_SEQUENCES
    graphs: bool = True
    layers: int = 0
    alone: bool = False

    def changes(self) -> Iterator[Change]:
        if self.kind == "told":
            yield from self._larger_cache()
            return
        yield from self._batch(FEW_TOKENS, SOME_SEQUENCES)
        yield from self._batch(None, self.some)
        # A static fraction leaves what runs outside of it: SGLang's own figure follows the settings, a higher one may
        # fail.
        name = {"device": "gpu_memory_utilization", "free": "kv_free_fraction"}.get(self.kind)
        fraction = None if name is None or name in self.pinned else getattr(self.start, name)
        if fraction is not None and fraction < HIGH_FRACTION:
            yield Change({str(name): HIGH_FRACTION}, f"{name} {HIGH_FRACTION} instead of {fraction:g}")
        if self.kind == "host":
            yield from self._fewer_experts()
        if self.graphs and not self.start.enforce_eager and "enforce_eager" not in self.pinned:
            yield Change({"enforce_eager": True}, "no CUDA graphs", costly=True)
        for sequences in FEW_SEQUENCES:
            yield from self._batch(None, sequences, costly=True)
        for tokens, sequences in FEWEST if self.alone else ():
            yield from self._batch(tokens, sequences, costly=True)

    def _batch(self, tokens: int | None, sequences: int, *, costly: bool = False) -> Iterator[Change]:
        """Fewer tokens a step and fewer sequences, as far as the engine has more of them by itself."""
        change: dict[str, Value] = {}
        wanted = max(sequences, self.sequences)
        most, least = self.start.max_num_batched_tokens, max(tokens or 0, wanted)  # one token a sequence at the least
        if tokens is not None and most is not None and most > least and "max_num_batched_tokens" not in self.pinned:
            change["max_num_batched_tokens"] = least
        most = self.start.max_num_seqs  # None: the engine's own choice, by the memory that it finds
        if (most is None or most > wanted) and "max_num_seqs" not in self.pinned:
            change["max_num_seqs"] = wanted
        if change:
            yield Change(change, _counts(change), costly)

    def _larger_cache(self) -> Iterator[Change]:
        if "kv_cache_gib" not in self.pinned:
            for size in CPU_KV_GIB:
                if size > (self.start.kv_cache_gib or 0):
                    yield Change({"kv_cache_gib": size}, f"{size} GiB for the KV cache", costly=True)

    def _fewer_experts(self) -> Iterator[Change]:
        start = self.start
        if start.host_expert_layers is not None and "host_expert_layers" not in self.pinned:
            for count in range(start.host_expert_layers + 1, self.layers + 1):
                what = f"the experts of {count} layers in host RAM"
                yield Change({"host_expert_layers": count}, what, costly=True, one_of_many=True)
        elif start.gpu_experts is not None and "gpu_experts" not in self.pinned:
            above = start.gpu_experts
            for count in DEVICE_EXPERTS:
                if count < above:
                    what = f"{count} instead of {above} experts of each layer on the devices"
                    yield Change({"gpu_experts": count}, what, costly=True)
                    above = count


def _counts(change: Mapping[str, Value]) -> str:
    words = []
    if (tokens := change.get("max_num_batched_tokens")) is not None:
        words.append(f"{tokens:,} batched tokens")
    if (sequences := change.get("max_num_seqs")) is not None:
        words.append(f"{sequences:,} sequence{'' if sequences == 1 else 's'}")
    return " and ".join(words)
