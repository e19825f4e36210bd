"""The trade between sequences and context: what the same layout would hold with other settings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from moonpad.plan.candidate import STEP, Candidate
from moonpad.plan.effective_settings import MOST
from moonpad.values.memory import Memory
from moonpad.values.plan import Layout, Settings
from moonpad.values.plan_answer import TradeRow
from moonpad.values.records import replace

ROWS: Final = ((1024, MOST), (256, 4096), (64, 4096), (8, 2048), (1, 1024))
"""Sequences, and tokens of a step that go with so many, at most the engine's own."""


def trade_of(candidate: Candidate, layout: Layout, chosen: Settings, memory: Memory) -> tuple[TradeRow, ...]:
    """From many sequences to as few as were asked for, the chosen settings among them; last with graphs where the plan
    has none, or without them where it has. What the person fixed stays.

    () where none changes what is held, as with an engine that is told the size of its KV cache; or where whole contexts
    are allocated.
    """
    if candidate.kind == "told" or candidate.engine.facts.reserves_kv:
        return ()
    rows = {chosen: _row(candidate, layout, chosen, memory, chosen=True)}
    for settings in _variants(candidate, layout, chosen):
        if settings not in rows:
            rows[settings] = _row(candidate, layout, settings, candidate.memory(layout, settings, memory.context))
    differ = len({(row.context, row.kv_tokens.value) for row in rows.values()}) > 1
    return tuple(sorted(rows.values(), key=_fewer)) if differ else ()


def _fewer(row: TradeRow) -> tuple[bool, int, int]:
    return row.enforce_eager, -(row.max_num_seqs or MOST), -(row.max_num_batched_tokens or 0)


def _variants(candidate: Candidate, layout: Layout, chosen: Settings) -> Iterator[Settings]:
    pinned, most = candidate.request.settings, candidate.default_batch(layout).max_num_batched_tokens
    if "gpu_memory_utilization" not in pinned and candidate.kind == "static":
        chosen = replace(chosen, gpu_memory_utilization=None)  # the engine calculates it from the others
    fewest = chosen
    for sequences, tokens in ((count, tokens) for count, tokens in ROWS if count >= candidate.sequences(layout)):
        changes: dict[str, int] = {}
        if "max_num_seqs" not in pinned:
            changes["max_num_seqs"] = sequences
        if "max_num_batched_tokens" not in pinned:
            changes["max_num_batched_tokens"] = min(tokens, most)
        elif candidate.engine.facts.step_holds_sequences and "max_num_seqs" not in pinned:
            changes["max_num_seqs"] = min(sequences, chosen.max_num_batched_tokens or sequences)
        fewest = chosen.with_values(changes)
        yield candidate.spelled(layout, fewest)
    if candidate.engine.facts.graphs_option and "enforce_eager" not in pinned:
        eager = chosen.enforce_eager
        yield candidate.spelled(layout, replace(chosen if eager else fewest, enforce_eager=not eager))


def _row(candidate: Candidate, layout: Layout, settings: Settings, memory: Memory, *, chosen: bool = False) -> TradeRow:
    tokens, sequences = memory.kv_tokens, settings.max_num_seqs
    shared = memory.kv_tokens_total if candidate.engine.facts.limits_over_dp else tokens
    return TradeRow(
        max_num_seqs=settings.max_num_seqs,
        max_num_batched_tokens=settings.max_num_batched_tokens,
        enforce_eager=settings.enforce_eager,
        context=max(0, candidate.reach(layout, memory, "low") // STEP * STEP),
        kv_tokens=tokens,
        tokens_each=int(shared.value) // sequences if sequences else None,
        concurrency=memory.concurrency_at_context,
        replicas=memory.replicas,
        chosen=chosen,
    )
