"""What one device holds, how much is left for the KV cache, and how many tokens that is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from moonpad.catalog.calibrations import Calibration
from moonpad.catalog.overhead import Spread
from moonpad.plan.effective_settings import MOST, bounded, limits_of, reserved_sequences
from moonpad.plan.host_memory import host_memory, host_part
from moonpad.plan.kv_cache import (
    blocks_of_request,
    concurrency,
    layer_bytes_per_token,
    tokens_in,
    tokens_of_log,
    whole_blocks,
)
from moonpad.plan.memory_budget import Demand, Room, rooms_of
from moonpad.plan.weights import stage_weights, stages_of
from moonpad.values.checkpoint import Component
from moonpad.values.configuration import Configuration
from moonpad.values.errors import PreflightRefused
from moonpad.values.estimate import Estimate
from moonpad.values.memory import Memory
from moonpad.values.plan import Layout

MOST_RANKS: Final = 1 << 16


def memory_of(
    configuration: Configuration, *, context: int | None = None, calibrations: Sequence[Calibration] = ()
) -> Memory:
    """The memory of a device of the stage that holds the fewest blocks: the others make do with as many.

    `kv_tokens` is what one replica's log says: over its decode-context-parallel ranks, not over data-parallel ones;
    `concurrency_at_context` counts the data-parallel replicas too. `context` None: `settings.max_model_len`, else the
    largest that fits. Nothing here judges whether the engine can run such a layout (plan/rules).

    Raises:
        PreflightRefused: an impossible layout, or a CPU whose memory is unknown and no `kv_cache_gib`.
    """
    layout, settings, engine = configuration.layout, configuration.settings, configuration.engine
    _refuse_impossible(layout)
    limits = limits_of(configuration)
    on_host = host_part(configuration)
    in_ram = min(on_host.layers, configuration.architecture.layers)
    dealt = stages_of(configuration.architecture.layers - in_ram, layout.pp, limits.pipeline)
    stages = tuple((first + in_ram, end + in_ram) for first, end in dealt)
    weights_by_stage = stage_weights(
        configuration.checkpoint,
        layout,
        stages,
        vision_sliced=engine.vision_sliced,
        redundant_experts=settings.redundant_experts,
        text_only=settings.text_only,
        on_host=on_host,
        rest_bits=engine.gguf_rest_bits,
        unpacks_kv_b=engine.unpacks_kv_b,
    )
    demand = Demand(configuration, limits, tuple(sum(weights.values()) for weights in weights_by_stage))
    room_of = rooms_of(demand, calibrations)
    layer_bytes = layer_bytes_per_token(configuration.architecture, bits=limits.kv_bits)
    filled = tuple(
        _fill(room_of(number), weights, (end - first) * layer_bytes, limits.block_size)
        for number, ((first, end), weights) in enumerate(zip(stages, weights_by_stage, strict=True))
    )
    return _memory(demand, filled, bounded(context or settings.max_model_len or 0))


def _refuse_impossible(layout: Layout) -> None:
    """What no cluster can be, so that nothing below divides by zero or counts without end."""
    smallest = min(layout.tp, layout.pp, layout.dp, layout.ep, layout.dcp)
    largest = max(layout.world_size, layout.ep, layout.dcp) if smallest > 0 else 0
    if smallest < 1 or largest > MOST_RANKS:
        raise PreflightRefused(
            f"tp {layout.tp}, pp {layout.pp}, dp {layout.dp}, ep {layout.ep} and dcp {layout.dcp} are not a layout: "
            f"each is at least 1, and {MOST_RANKS:,} ranks are the most that is planned",
            remedy="give each as a small positive number",
        )


@dataclass(frozen=True, slots=True)
class _Stage:
    """One pipeline stage: bytes are of a device; `blocks` is what `kv` holds at its value, low and high."""

    room: Room
    weights: Mapping[Component, int]
    kv: Spread
    bytes_per_token: int
    blocks: tuple[int, ...]

    @property
    def rank(self) -> tuple[bool, int, float]:
        """The smallest decides. A stage without layers (more stages than layers) never does."""
        return self.bytes_per_token == 0, self.blocks[0], self.kv.value


def _fill(room: Room, weights: Mapping[Component, int], bytes_per_token: int, block_size: int) -> _Stage:
    left, over = room.budget_bytes - sum(weights.values()), room.overhead.total
    kv = Spread(left - over.value, left - over.high, left - over.low)
    blocks = tuple(whole_blocks(end, bytes_per_token, block_size) for end in kv)
    return _Stage(room, weights, kv, bytes_per_token, blocks)


def _memory(demand: Demand, filled: Sequence[_Stage], asked: int) -> Memory:
    configuration, limits = demand.configuration, demand.limits
    cluster, dp, dcp = configuration.cluster, configuration.layout.dp, configuration.layout.dcp
    decisive = min(filled, key=lambda stage: stage.rank)
    with_layers = [stage.blocks for stage in filled if stage.bytes_per_token]
    # Without them all layers and their KV cache lie in host RAM.
    blocks = tuple(map(min, zip(*with_layers, strict=True))) if with_layers else (MOST, MOST, MOST)
    most = configuration.architecture.max_context
    where = f" on each of {dcp} ranks" if dcp > 1 else ""
    replicas = f" in each of {dp} data-parallel replicas" if dp > 1 else ""
    size = limits.block_size
    longest = _estimate(
        [min(tokens_in(count, size, dcp), most) for count in blocks],
        f"whole blocks of {size} tokens{where}, at most the model's own {most:,}",
    )
    context = asked or max(1, int(longest.value))
    whole = blocks_of_request(context, size, dcp) * size
    reserved = reserved_sequences(configuration) * whole if asked and configuration.engine.reserves_kv else MOST
    over = decisive.room.overhead
    return Memory(
        device_bytes=cluster.device.usable_bytes or cluster.host.memory_bytes or 0,
        budget_bytes=decisive.room.budget_bytes,
        weights=decisive.weights,
        overhead=_estimate(over.total, over.because + _unknown_formats(configuration)),
        kv_bytes_per_token=decisive.bytes_per_token,
        kv_bytes=_estimate(decisive.kv, "the budget less weights and overhead"),
        kv_tokens=_estimate(
            [
                min(tokens_of_log(count, size, dcp, context, by_request=limits.tokens_by_request), reserved)
                for count in blocks
            ],
            f"{blocks[0]:,} whole blocks of {size} tokens{where}{replicas}",
        ),
        max_context=longest,
        context=context,
        concurrency_at_context=_estimate(
            [min(dp * concurrency(count, context, size, dcp), reserved / whole) for count in blocks],
            f"{blocks_of_request(context, size, dcp):,} blocks for a sequence of {context:,} tokens{replicas}",
        ),
        stages=demand.weights,
        host=host_memory(demand, decisive.kv.value, context),
        overhead_parts=over.parts,
    )


def _estimate(ends: Sequence[float], because: str) -> Estimate:
    value, low, high = ends
    return Estimate(value, low, high, because)


def _unknown_formats(configuration: Configuration) -> str:
    if configuration.checkpoint.groups:
        return ""
    bits = configuration.engine.gguf_rest_bits
    rest = "as BF16" if bits == 16 else f"with {bits:g} bits a weight"
    return f"; only the size of the files is known: routed experts have their share of it, all else counts {rest}"
