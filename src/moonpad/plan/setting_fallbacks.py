"""Settings that free memory, from the engine's defaults down; each fallback adds to the one above it.

The order is by what a fallback costs the person: fewer tokens a step slow the prefill of long prompts, fewer sequences
limit how many are served at once, a higher memory fraction leaves less for anything else on the device, and without
CUDA graphs decoding is some 10 to 20 % slower (reported for K2-Thinking on 8×H100).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

from moonpad.plan.request import Value
from moonpad.values.plan import Settings

FEW_TOKENS: Final = 4096
SOME_SEQUENCES: Final = 256
FEW_SEQUENCES: Final = 16
HIGH_FRACTION: Final = 0.95
# Experts of each layer on the devices, as KTransformers' documentation has them for 8, 4, 2 and 1 cards of 48 GB.
DEVICE_EXPERTS: Final = (80, 30, 8, 0)
CPU_KV_GIB: Final = (1, 4, 16, 64, 256)

Kind = Literal["device", "static", "free", "told", "asked", "host"]
"""What there is to turn: the budgets of catalog/overhead.py, and `host` where experts may lie in host RAM."""


@dataclass(frozen=True, slots=True)
class Fallback:
    """`what` says what it changed against the one above, "" for the first."""

    settings: Settings
    what: str = ""
    above: int = 0
    """The place of the one above, in the list of all."""


def fallbacks(
    defaults: Settings,
    pinned: Mapping[str, Value],
    kind: Kind,
    *,
    sequences: int = 1,
    fp8_kv: bool = False,
    graphs: bool = True,
    layers: int = 0,
) -> tuple[Fallback, ...]:
    """From the defaults down. What is pinned is never changed, and no fallback serves fewer than `sequences` at once.

    `fp8_kv`: add fallbacks with an FP8 KV cache. It changes the numbers that a model computes with, so the caller asks
    for it only where a person wants context above all. `graphs`: the engine can be told to do without them. `layers` of
    the model, whose experts may go to host RAM one layer after the other.
    """
    start = replace(defaults, **pinned)  # type: ignore[arg-type]
    steps = [Fallback(start)]
    for change, what in _changes(start, pinned, kind, sequences, layers, graphs=graphs):
        # How many layers' experts go to host RAM is one decision, and not one for each layer.
        above = 0 if "host_expert_layers" in change else len(steps) - 1
        steps.append(Fallback(replace(steps[-1].settings, **change), what, above))  # type: ignore[arg-type]
    if fp8_kv and "kv_cache_dtype" not in pinned:
        for place in dict.fromkeys((0, len(steps) - 1)):
            steps.append(Fallback(replace(steps[place].settings, kv_cache_dtype="fp8"), "an FP8 KV cache", place))
    return tuple(steps)


def _changes(
    start: Settings, pinned: Mapping[str, Value], kind: Kind, sequences: int, layers: int, *, graphs: bool
) -> Iterator[tuple[dict[str, Value], str]]:
    if kind == "told":
        yield from _larger_cache(start, pinned)
        return
    if kind == "host":
        yield from _fewer_experts(start, pinned, layers)
    tokens, most = start.max_num_batched_tokens, start.max_num_seqs
    fewer: dict[str, Value] = {}
    if tokens is not None and tokens > FEW_TOKENS and "max_num_batched_tokens" not in pinned:
        fewer["max_num_batched_tokens"] = FEW_TOKENS
    if most is not None and most > (some := max(SOME_SEQUENCES, sequences)) and "max_num_seqs" not in pinned:
        fewer["max_num_seqs"] = most = some
    if fewer:
        yield fewer, _counts(fewer)
    # A static fraction leaves what runs outside of it: SGLang's own figure follows the settings, a higher one may fail.
    name = {"device": "gpu_memory_utilization", "free": "kv_free_fraction"}.get(kind)
    fraction = None if name is None or name in pinned else getattr(start, name)
    if fraction is not None and fraction < HIGH_FRACTION:
        yield {str(name): HIGH_FRACTION}, f"{name} {HIGH_FRACTION} instead of {fraction:g}"
    yield from _eager(start, pinned, most, sequences, graphs=graphs)


def _eager(
    start: Settings, pinned: Mapping[str, Value], most: int | None, sequences: int, *, graphs: bool
) -> Iterator[tuple[dict[str, Value], str]]:
    eager: dict[str, Value] = {}
    if graphs and not start.enforce_eager and "enforce_eager" not in pinned:
        eager["enforce_eager"] = True
    for count in (FEW_SEQUENCES, 1):
        least = max(count, sequences)
        change, words = dict(eager), ["no CUDA graphs"] if eager else []
        if most is not None and most > least and "max_num_seqs" not in pinned:
            change["max_num_seqs"] = most = least
            words.append(_counts({"max_num_seqs": least}))
        if change:
            yield change, " and ".join(words)
        eager = {}


def _larger_cache(start: Settings, pinned: Mapping[str, Value]) -> Iterator[tuple[dict[str, Value], str]]:
    if "kv_cache_gib" not in pinned:
        for size in CPU_KV_GIB:
            if size > (start.kv_cache_gib or 0):
                yield {"kv_cache_gib": size}, f"{size} GiB for the KV cache"


def _fewer_experts(start: Settings, pinned: Mapping[str, Value], layers: int) -> Iterator[tuple[dict[str, Value], str]]:
    if start.host_expert_layers is not None and "host_expert_layers" not in pinned:
        for count in range(start.host_expert_layers + 1, layers + 1):
            yield {"host_expert_layers": count}, f"the experts of {count} layers in host RAM"
    elif start.gpu_experts is not None and "gpu_experts" not in pinned:
        above = start.gpu_experts or 0
        for count in DEVICE_EXPERTS:
            if count < above:
                yield {"gpu_experts": count}, f"{count} instead of {above} experts of each layer on the devices"
                above = count


def _counts(change: Mapping[str, Value]) -> str:
    words = []
    if (tokens := change.get("max_num_batched_tokens")) is not None:
        words.append(f"{tokens:,} batched tokens")
    if (sequences := change.get("max_num_seqs")) is not None:
        words.append(f"{sequences:,} sequence{'' if sequences == 1 else 's'}")
    return " and ".join(words)
