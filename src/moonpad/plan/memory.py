"""What one device holds, how much is left for the KV cache, and how many tokens that is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final, TypeVar

from msgspec import Struct

from moonpad.catalog.calibrations import Calibration
from moonpad.catalog.device_overhead import Spread
from moonpad.plan.draft import NO_DRAFT, DraftShare, draft_share
from moonpad.plan.effective_settings import MOST, Limits, bounded, limits_of, reserved_sequences
from moonpad.plan.host_memory import host_memory, host_part, off_device
from moonpad.plan.linear_state import ENDS, Paging, SequenceRoom, paging_of
from moonpad.plan.lora import lora_bytes
from moonpad.plan.memory_budget import Demand, Room, rooms_of
from moonpad.plan.overhead import outside_demand
from moonpad.plan.weights import Stage, stage_weights, stages_of
from moonpad.values.checkpoint import Component
from moonpad.values.configuration import Configuration
from moonpad.values.errors import PreflightRefused
from moonpad.values.estimate import Estimate
from moonpad.values.memory import Memory, Outside
from moonpad.values.plan import Layout
from moonpad.values.records import replace
from moonpad.values.versions import since

MOST_RANKS: Final = 1 << 16
T = TypeVar("T", int, float)


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
    settings = configuration.settings
    _refuse_impossible(configuration.layout)
    limits = limits_of(configuration)
    stages, held_by_stage = dealt_weights(configuration)
    draft, last = draft_share(configuration, limits.kv_bits), len(stages) - 1
    extra = (
        {Component.LORA: lora, Component.DRAFT: draft.weights if number == last else 0}
        for number, lora in enumerate(lora_bytes(configuration, stages))
    )
    whole_by_stage = [{**held, **more} for held, more in zip(held_by_stage, extra, strict=True)]
    weights_by_stage = tuple(off_device(weights, settings) for weights in whole_by_stage)
    moved = max(_total(whole) - _total(kept) for whole, kept in zip(whole_by_stage, weights_by_stage, strict=True))
    demand = Demand(configuration, limits, tuple(map(_total, weights_by_stage)), moved)
    room_of = rooms_of(demand, calibrations)
    told = told_bytes(configuration)
    filled = tuple(
        _fill(
            room_of(number),
            weights,
            _pagings(configuration, limits, stage, draft if number == last else NO_DRAFT),
            told,
            settings.kv_cache_tokens,
            configuration.device.usable_bytes or 0,
        )
        for number, (stage, weights) in enumerate(zip(stages, weights_by_stage, strict=True))
    )
    return _memory(demand, filled, bounded(context or settings.max_model_len or 0))


def dealt_weights(configuration: Configuration) -> tuple[tuple[Stage, ...], tuple[Mapping[Component, int], ...]]:
    """The layers of each pipeline stage, and the bytes of weights on a device of it, without adapters and drafts."""
    layout, settings, engine = configuration.layout, configuration.settings, configuration.engine
    on_host = host_part(configuration)
    in_ram = min(on_host.layers, configuration.architecture.layers)
    dealt = stages_of(configuration.architecture.layers - in_ram, layout.pp, limits_of(configuration).pipeline)
    stages = tuple((first + in_ram, end + in_ram) for first, end in dealt)
    held_by_stage = stage_weights(
        configuration.checkpoint,
        layout,
        stages,
        vision_sliced=engine.vision_sliced and settings.mm_encoder_tp_mode != "data",
        redundant_experts=settings.redundant_experts,
        text_only=settings.text_only,
        on_host=on_host,
        rest_bits=engine.gguf_rest_bits,
        unpacks_kv_b=engine.unpacks_kv_b,
        whole_mlps=_whole_mlps(configuration),
    )
    return stages, held_by_stage


def _whole_mlps(configuration: Configuration) -> bool:
    """vLLM (0.32) computes Kimi-K3 sequence-parallel where data-parallel replicas share the experts of one stage."""
    layout = configuration.layout
    shared = layout.pp == 1 and layout.ep > 1 and layout.tp > 1 and layout.dp > 1
    return shared and configuration.architecture.expert_hidden > 0 and configuration.engine.experts_over_dp


def _total(weights: Mapping[Component, int]) -> int:
    return sum(weights.values())


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


class _Stage(Struct, frozen=True):
    """One pipeline stage: bytes are of a device; `blocks` is what `kv` holds at its value, low and high, `sequences`
    how many its pool of states lets run."""

    room: Room
    weights: Mapping[Component, int]
    kv: Spread
    paging: Paging
    blocks: tuple[int, ...]
    sequences: tuple[float, ...]

    @property
    def rank(self) -> tuple[bool, int, float]:
        """The smallest decides. A stage without layers (more stages than layers) never does."""
        return self.paging.block_bytes == 0, self.blocks[0], self.kv.value


def _pagings(
    configuration: Configuration, limits: Limits, stage: tuple[int, int], draft: DraftShare
) -> tuple[Paging, Paging, DraftShare]:
    """With the expected draft, and with the largest where it is not known."""
    return (
        paging_of(configuration, limits, *stage, draft.per_token),
        paging_of(configuration, limits, *stage, draft.most_per_token),
        draft,
    )


def _fill(
    room: Room,
    weights: Mapping[Component, int],
    dealt: tuple[Paging, Paging, DraftShare],
    told: int | None,
    most_tokens: int | None,
    device_bytes: int,
) -> _Stage:
    """`told`: the bytes that the engine was told to give the KV cache; `most_tokens`: how many it may hold at most."""
    paging, careful, draft = dealt
    over = room.overhead.total
    if draft.because:
        over = over._replace(high=over.high + draft.uncertain_bytes)
        because = f"{room.overhead.because}; the draft is assumed"
        room = replace(room, overhead=replace(room.overhead, total=over, because=because))
    left = room.budget_bytes - _total(weights)
    kv = Spread(left - over.value, left - over.high, left - over.low)
    if told is not None:  # the whole device is the engine's then
        room, kv, careful = replace(room, budget_bytes=device_bytes), Spread(told, told, told), paging
    most = MOST if most_tokens is None else most_tokens // paging.tokens
    blocks = tuple(
        min(count, most) for count in (paging.blocks(kv.value), careful.blocks(kv.low), paging.blocks(kv.high))
    )
    if most_tokens is not None and not paging.slot_bytes:
        kv = Spread(*(min(end, most * paging.block_bytes) for end in kv))
    return _Stage(room, weights, kv, paging, blocks, tuple(map(paging.sequences, kv)))


def _memory(demand: Demand, filled: Sequence[_Stage], asked: int) -> Memory:
    configuration, limits = demand.configuration, demand.limits
    cluster, dp, dcp = configuration.cluster, configuration.layout.dp, configuration.layout.dcp
    decisive = min(filled, key=lambda stage: stage.rank)
    with_layers = [stage for stage in filled if stage.paging.block_bytes]
    # Without them all layers and their KV cache lie in host RAM.
    blocks = _least([stage.blocks for stage in with_layers], MOST)
    running = _least([stage.sequences for stage in filled], math.inf)
    most, paging = configuration.architecture.max_context, decisive.paging
    where = f" on each of {dcp} ranks" if dcp > 1 else ""
    replicas = f" in each of {dp} data-parallel replicas" if dp > 1 else ""
    rooms = SequenceRoom(paging, dcp, blocks, running)
    longest = _estimate(
        [min(rooms.reach(1, end), most) for end in ENDS],
        f"whole blocks of {paging.tokens} tokens{where}, at most the model's own {most:,}",
    )
    context = asked or max(1, int(longest.value))
    of_request = paging.of_request(context, dcp)
    whole = of_request * paging.tokens
    reserves = reserved_sequences(configuration) if asked and configuration.engine.reserves_kv else None
    reserved = MOST if reserves is None else reserves * whole
    over = decisive.room.overhead
    return Memory(
        device_bytes=cluster.device.usable_bytes or cluster.host.memory_bytes or 0,
        budget_bytes=decisive.room.budget_bytes,
        weights=decisive.weights,
        overhead=_estimate(over.total, over.because + _unknown_formats(configuration)),
        kv_bytes_per_token=paging.bytes_per_token,
        kv_bytes=_estimate(decisive.kv, "the budget less weights and overhead"),
        kv_tokens=_estimate(
            [
                min(paging.logged(count, context, dcp, by_request=limits.tokens_by_request), reserved)
                for count in blocks
            ],
            f"{blocks[0]:,} whole blocks of {paging.tokens} tokens{where}{replicas}",
        ),
        max_context=longest,
        context=context,
        concurrency_at_context=_estimate(
            [
                min(dp * count / of_request, dp * able, reserved / whole)
                for count, able in zip(blocks, running, strict=True)
            ],
            f"{of_request:,} blocks for a sequence of {context:,} tokens{replicas}",
        ),
        replicas=dp,
        stages=demand.weights,
        host=host_memory(demand, decisive.kv.value, context),
        outside=_outside(configuration, limits, decisive),
        overhead_parts=over.parts,
        state_bytes_per_sequence=paging.bytes_per_sequence,
        sequence_room=rooms,
        reserved_bytes=None if reserves is None else reserves * of_request * paging.block_bytes,
    )


def told_bytes(configuration: Configuration) -> int | None:
    """What the engine was told to give the KV cache of each device; None where it decides."""
    told, since_version = configuration.settings.kv_cache_bytes, configuration.engine.kv_bytes_since
    takes = since_version and (not configuration.version or since(configuration.version, since_version))
    return bounded(told) if told is not None and takes else None


def _outside(configuration: Configuration, limits: Limits, stage: _Stage) -> Outside | None:
    usable = configuration.device.usable_bytes
    if limits.budget not in ("device", "static") or not usable:
        return None
    needed = outside_demand(configuration, limits)
    if told_bytes(configuration) is not None:
        everything = _estimate(needed.plus(stage.room.overhead.total), "all that is neither weights nor KV cache")
        return Outside(usable - _total(stage.weights) - int(stage.kv.value), everything, told=True)
    left_bytes = usable - stage.room.budget_bytes
    because = "context, collectives and graphs" if limits.budget == "device" else "forward pass and graphs"
    return Outside(left_bytes, _estimate(needed, because)) if needed.high else None


def _least(rows: Sequence[tuple[T, ...]], otherwise: T) -> tuple[T, T, T]:
    """The smallest at the value, the low and the high end."""
    value, low, high = map(min, zip(*rows, strict=True)) if rows else (otherwise,) * 3
    return value, low, high


def _estimate(ends: Sequence[float], because: str) -> Estimate:
    value, low, high = ends
    return Estimate(value, low, high, because)


def _unknown_formats(configuration: Configuration) -> str:
    if configuration.checkpoint.groups:
        return ""
    bits = configuration.engine.gguf_rest_bits
    rest = "as BF16" if bits == 16 else f"with {bits:g} bits a weight"
    return f"; only the size of the files is known: routed experts have their share of it, all else counts {rest}"
