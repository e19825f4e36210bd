"""The buffers of a forward pass over all batched tokens, as the engines' code allocates them, in bytes a device.

Sources: vLLM 0.11.0 to 0.32.0, `fused_marlin_moe` (`intermediate_cache13` and `intermediate_cache2`), and the profile
run of MLA, which allocates what kv_b makes of a whole workspace of prefill (`chunked_prefill_workspace_size`). In
0.26.0 a manager keeps the two buffers of the experts (`workspace_shapes` of Marlin and Triton, v1/worker/workspace.py):
they and those of attention add up. Three starts on an H200 had 2.6, 4.21 and 11.41 GiB where this counts 2.44, 4.19
and 10.75 (benchmarks/results/gpu_memory.json).
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from moonpad.catalog.device_overhead import overhead_of
from moonpad.plan.effective_settings import Limits, bounded
from moonpad.plan.linear_state import block_tokens
from moonpad.values.configuration import Configuration
from moonpad.values.records import replace
from moonpad.values.versions import since

_BF16_BYTES: Final = 2
STREAMS: Final = 4
"""Copies of the hidden states that live at the peak: residual, input, output of a block and its sum. Assumed."""
MARLIN: Final = "int4"
"""The scheme that Marlin multiplies, which takes all tokens at once."""
MOST_WORKSPACE_TOKENS: Final = 64 * 1024
CONTEXTS_IN_WORKSPACE: Final = 8


class Activations(Struct, frozen=True):
    """`streams` live throughout; of `experts` and `attention` the larger counts, or both where the engine keeps what
    the experts used."""

    streams: int
    experts: int
    attention: int
    kept: bool = False

    @property
    def peak(self) -> int:
        both = self.experts + self.attention
        return self.streams + (both if self.kept else max(self.experts, self.attention))


def activations_of(configuration: Configuration, limits: Limits) -> Activations:
    architecture = configuration.architecture
    limits = _of_one_rank(configuration, limits)
    tokens = limits.max_num_batched_tokens
    return Activations(
        streams=STREAMS * tokens * architecture.hidden * _BF16_BYTES,
        experts=_experts(configuration, tokens),
        attention=_attention(configuration, limits),
        kept=_kept(configuration),
    )


def dispatches(configuration: Configuration) -> bool:
    """Whether a rank gets the tokens of its own experts alone, where others would get those of all ranks."""
    engine, chosen = configuration.engine, configuration.settings.all2all_backend
    return _shared(configuration) and chosen is not None and chosen.startswith(engine.dispatching)


def _shared(configuration: Configuration) -> bool:
    engine = configuration.engine
    return configuration.layout.dp > 1 and engine.gathers_tokens and engine.shares_experts


def _of_one_rank(configuration: Configuration, limits: Limits) -> Limits:
    """Where limits count for all ranks of attention DP, each works on its part (SGLang 0.5.23, parallel_hook.py)."""
    if not configuration.engine.limits_over_dp:
        return limits
    dp = configuration.layout.dp
    sequences = limits.max_num_seqs and -(-limits.max_num_seqs // dp)
    return replace(limits, max_num_batched_tokens=-(-limits.max_num_batched_tokens // dp), max_num_seqs=sequences)


def _experts(configuration: Configuration, tokens: int) -> int:
    """For each token and expert that it goes to: the wider of gate and up together and the output, and their product,
    in newer releases at least as wide as the output too.

    Where the experts are shared over data-parallel ranks, the tokens of all of them are gathered, and the outputs too.
    Kernels that dispatch bring a rank as many rows as it has of its own where the load is even, and each token once for
    all of a rank's experts.
    """
    architecture, layout = configuration.architecture, configuration.layout
    dispatched = dispatches(configuration)
    gathered = tokens * layout.dp if _shared(configuration) and not dispatched else tokens
    inner = -(-architecture.moe_intermediate // configuration.expert_slices)
    hidden = architecture.expert_hidden or architecture.hidden
    row = overhead_of(configuration.engine.name, configuration.version)
    width = max(2 * inner, hidden) + (max(inner, hidden) if _kept(configuration) else inner)
    chunk = row.expert_chunk_tokens
    at_once = min(gathered, chunk) if chunk and configuration.scheme != MARLIN else gathered
    held = at_once * architecture.experts_per_token * width
    if gathered > tokens:
        held += 2 * gathered * hidden
    elif dispatched:
        held += 2 * tokens * min(layout.dp, architecture.experts_per_token) * hidden
    return held * _BF16_BYTES


def _kept(configuration: Configuration) -> bool:
    """Where tokens of data-parallel ranks are gathered, no start was measured since, and the one before speaks against
    twice the buffers (facts-05 in benchmarks/memory)."""
    row = overhead_of(configuration.engine.name, configuration.version)
    return row.kept_workspaces and configuration.layout.dp == 1


def workspace_tokens(configuration: Configuration, limits: Limits) -> int:
    """Rows of the workspace of prefill: those of eight whole contexts, at most 64k, at least a block a sequence.

    Where layers of linear attention lengthen the blocks, that is most of it: 3776 tokens for each of 1024 sequences
    are 59 GiB of Kimi-Linear on one device, as vLLM from before #51733 allocated them. From that release on a block is
    the least.
    """
    context = bounded(configuration.settings.max_model_len or configuration.architecture.max_context)
    until = configuration.engine.workspace_of_sequences_until
    lengthened = configuration.architecture.linear is not None and until is not None
    block = block_tokens(configuration, limits) if lengthened else limits.block_size
    blocks = (limits.max_num_seqs or 1) * block
    least = block if lengthened and until and since(configuration.version, until) else blocks
    return max(min(max(CONTEXTS_IN_WORKSPACE * context, 4 * blocks), MOST_WORKSPACE_TOKENS), least)


def _attention(configuration: Configuration, limits: Limits) -> int:
    """What kv_b makes of a workspace."""
    architecture = configuration.architecture
    heads = -(-architecture.heads // max(1, configuration.layout.tp))
    width = architecture.qk_nope_head_dim + architecture.v_head_dim
    return workspace_tokens(configuration, limits) * heads * width * _BF16_BYTES
