"""The time of one step of an engine: what its slowest rank reads, computes, exchanges and waits for.

Each part is a roofline, the larger of the time to read its bytes and of that to compute its products, at a share of the
data sheet's rates that was fitted (catalog/step_constants.py). What is read comes from the plan's own sharding.
"""

from __future__ import annotations

import math
from math import hypot
from statistics import NormalDist
from typing import Final

from moonpad.catalog.step_constants import StepConstants
from moonpad.plan.draft import draft_share
from moonpad.plan.effective_settings import limits_of
from moonpad.predict.collectives import NONE, Links
from moonpad.predict.device_rates import device_rates
from moonpad.predict.host_cost import HostCost
from moonpad.predict.serving_plan import ServingPlan
from moonpad.predict.stage_shape import StageShape, expert_arithmetic, host_experts, kv_bytes_per_layer, stage_shapes
from moonpad.values.configuration import Configuration
from moonpad.values.platform import Platform
from moonpad.values.prediction import StepBreakdown

ACTIVATION_BYTES: Final = 2
GRAPH_SEQUENCES: Final = 512
"""Engines capture graphs up to so many sequences; larger steps are launched kernel by kernel."""
PARTS: Final = (
    *("experts", "host_experts", "attention", "linear", "all_reduce", "all_to_all"),
    *("layer_latency", "pipeline", "head", "draft", "host"),
)
"""The order of `StepCost.parts`."""
MARLIN_FLOPS: Final = 989e12
"""Kernels for 4-bit integers multiply by the instructions of Ampere (`mma.sync`), which later devices do not speed up:
the rate of Hopper is taken for all that came after it."""
RECENT: Final = {"vllm": "0.17", "tensorrt-llm": "1.1.0.dev0"}
"""The first release of an engine that overlaps its scheduler with the step and fuses more."""
READ_OF_REQUEST: Final = 0.1
"""Of a request's way on a processor, what comes before the scheduler has it: some milliseconds."""
SHARED_MEMORY: Final = 4.0
"""How much longer than NVLink processes on one machine take to meet in its memory."""
Parts = tuple[float, float, float, float, float, float, float, float, float, float, float]


class StepCost:
    """One plan on its devices. Tokens and sequences are those of all data-parallel replicas together, which step at
    once; a pass goes through all pipeline stages."""

    def __init__(self, plan: ServingPlan, constants: StepConstants, acceptance: float | None = None) -> None:
        """Raises PreflightRefused where memory cannot be planned either."""
        configuration = plan.configuration
        self.constants = constants
        self.rates = device_rates(configuration, constants)
        self.layout = layout = configuration.layout
        self.architecture = configuration.architecture
        shapes = stage_shapes(configuration)
        self.stage = max(shapes, key=lambda shape: shape.layers)
        last = shapes[-1]
        # One stage stands for all, although 61 layers do not divide evenly.
        self._even = sum(shape.layers for shape in shapes) / max(1, self.stage.layers * layout.pp)
        limits = limits_of(configuration)
        self._graphs = limits.graphs
        self._set_latencies(configuration)
        self._set_linear(self.stage, last)
        self._set_attention(configuration, plan.memory.state_bytes_per_sequence if plan.memory else 0)
        self._set_experts(configuration)
        self._set_links(configuration)
        part = host_experts(configuration)
        self._host = None if part is None else HostCost(part, configuration, constants, self.rates)
        self.draft_tokens = configuration.settings.draft_tokens
        chance = constants.acceptance if acceptance is None else acceptance
        self.tokens_per_step = sum(chance**number for number in range(self.draft_tokens + 1))
        self._draft_s = 0.0
        if self.draft_tokens:
            read = draft_share(configuration, limits.kv_bits).weights / self._bandwidth
            self._draft_s = self.draft_tokens * (read + 2 * self._layer_s)

    def request_seconds(self, prompt: float) -> float:
        """From the client to the first step and back, for a prompt of so many tokens."""
        return self._request_s + self.constants.request_token_s * prompt

    def reading_seconds(self, prompt: float) -> float:
        """Of that, before the scheduler has it: one prompt is read after another. What a processor's engine takes was
        fitted as a whole; of prompts that come together the first goes into a step alone there too."""
        if self.rates.on_processor:
            return READ_OF_REQUEST * self._request_s
        return self.constants.reading_s + self.constants.reading_token_s * prompt

    def _share(self, share: float) -> float:
        """Of a processor the constants are rates that were reached, of a device shares of its data sheet."""
        return 1.0 if self.rates.on_processor else share

    def _set_latencies(self, configuration: Configuration) -> None:
        constants = self.constants
        self._fixed = fixed_factor(configuration, constants)
        other = not configuration.engine.name.startswith("vllm")
        self._request_s = constants.request_s * (constants.request_other if other else 1.0)
        if self.rates.on_processor:
            self._layer_s = self._eager_s = constants.cpu_layer_s
            self._step_s, self._request_s = constants.cpu_step_s, constants.cpu_request_s
            self._sequence_s = constants.cpu_sequence_s
        else:
            self._layer_s = constants.layer_s * self._fixed
            self._eager_s = constants.eager_layer_s * self._fixed
            self._step_s = constants.step_s * self._fixed
            self._sequence_s = constants.sequence_s
        self._bandwidth = self._share(constants.bandwidth) * self.rates.bytes_per_s

    def _per_token(self, weights: dict[str, float], share: float) -> float:
        flops = self.rates.flops
        return sum(2 * count / (self._share(share) * flops[name]) for name, count in weights.items())

    def _set_linear(self, stage: StageShape, last: StageShape) -> None:
        gemm, read = self.constants.gemm, self._bandwidth
        self._dense = stage.dense.size_bytes / read, self._per_token(dict(stage.dense.weights), gemm)
        self._kv_b = stage.decode_kv_b.size_bytes / read, self._per_token(dict(stage.decode_kv_b.weights), gemm)
        self._unpack = stage.prefill_kv_b.size_bytes / read, self._per_token(dict(stage.prefill_kv_b.weights), gemm)
        self._head = last.head.size_bytes / read, self._per_token(dict(last.head.weights), gemm)

    def _set_attention(self, configuration: Configuration, state_bytes: int) -> None:
        constants, architecture, layout = self.constants, self.architecture, self.layout
        heads, layers = architecture.heads / layout.tp, self.stage.mla_layers
        width = 2 * architecture.kv_lora_rank + architecture.qk_rope_head_dim
        kv_read = self._share(constants.kv_bandwidth) * self.rates.bytes_per_s
        bf16 = self.rates.flops["bf16"]
        self._kv_read = layers * kv_bytes_per_layer(configuration) / layout.dcp / kv_read
        # Under decode context parallelism each rank has the heads of all dcp ranks, over its share of the tokens.
        decode, prefill = constants.decode_attention * bf16, constants.prefill_attention * bf16
        if self.rates.on_processor:
            decode = bf16 * constants.cpu_decode_flops / constants.cpu_core_flops
            prefill = bf16 * constants.cpu_prefill_flops / constants.cpu_core_flops
        self._kv_flops = layers * 2 * heads * width / decode
        whole = architecture.qk_nope_head_dim + architecture.qk_rope_head_dim + architecture.v_head_dim
        self._pair = layers * 2 * heads * whole / prefill
        self._state = 2 * state_bytes / self._bandwidth

    def _set_experts(self, configuration: Configuration) -> None:
        constants, stage, architecture, layout = self.constants, self.stage, self.architecture, self.layout
        arithmetic = expert_arithmetic(configuration.checkpoint)
        share = self._share(float(getattr(constants, f"expert_{arithmetic}")))
        flops = self.rates.flops["bf16" if arithmetic == "int4" else arithmetic]
        if arithmetic == "int4":
            flops = min(flops, MARLIN_FLOPS)
        self._tile = constants.cpu_expert_tile if self.rates.on_processor else constants.expert_tile
        self._experts = max(1, architecture.routed_experts)
        self._active = min(1.0, architecture.experts_per_token / self._experts)
        self._routed_read = stage.routed.size_bytes / (self._share(constants.expert_bandwidth) * self.rates.bytes_per_s)
        # Of one token at one expert, over all of the rank's.
        self._routed_product = 2 * stage.routed.count / self._experts / (share * flops)
        group = layout.tp * layout.dp
        self._expert_ranks = max(1, min(layout.ep, group))
        self._most = expected_maximum(self._expert_ranks)
        # Where replicas do not share the experts, each brings its own tokens alone.
        self._shared = layout.dp if configuration.engine.shares_experts else 1

    def _set_links(self, configuration: Configuration) -> None:
        constants, rates, layout = self.constants, self.rates, self.layout
        slow = SHARED_MEMORY if rates.on_processor else self._fixed
        links = Links(
            constants.link * rates.link_bytes_per_s,
            constants.network * rates.network_bytes_per_s,
            constants.all_reduce_s * slow,
            constants.network_s,
            max(1, rates.island),
        )
        hidden = self.architecture.hidden * ACTIVATION_BYTES
        self._reduce = links.all_reduce(layout.tp)
        self._exchange, self._exchange_bytes, self._of_all = NONE, 0.0, False
        self._reductions = 2
        if layout.dp > 1 and self._shared > 1:
            self._reductions = 1
            ranks = layout.tp * layout.dp
            # Beyond an island nobody gathers all tokens everywhere: DeepEP and its like send each where it belongs.
            self._of_all = layout.ep == 1 or (configuration.engine.gathers_tokens and ranks <= links.island)
            if self._of_all:
                self._exchange, self._exchange_bytes = links.gather(ranks), 2.0 * hidden
            else:
                # Out in FP8, back in BF16, to each expert's rank once.
                ranks_of_token = min(self._expert_ranks, self.architecture.experts_per_token)
                self._exchange = links.all_to_all(ranks)
                self._exchange_bytes = 1.5 * ranks_of_token * hidden / max(1, layout.tp)
        self._hidden = hidden
        self._context = links.all_reduce(layout.dcp) if layout.dcp > 1 else NONE
        self._context_bytes = (
            self.architecture.heads / layout.tp * layout.dcp * self.architecture.kv_lora_rank * ACTIVATION_BYTES
        )
        leaves = layout.tp * layout.pp > links.island
        self._hop = links.hop(leaves=leaves) if layout.pp > 1 else NONE

    def parts(self, decodes: float, context: float, prefill: float, pairs: float, chunks: float = 1) -> Parts:
        """Seconds of one micro-batch through one stage, by PARTS, without head, draft, host and pipeline.

        `decodes` sequences with `context` tokens together decode one token each, beside `prefill` tokens of `chunks`
        prompts, whose every token looks at `pairs` tokens in total.
        """
        dp, stage = self.layout.dp, self.stage
        verified = decodes * (self.draft_tokens + 1)
        if dp > 1:
            of_rank = max(verified / dp, min(1.0, verified))
            context *= of_rank / verified if verified else 0.0
            ranks = min(dp, max(1, chunks))
            own_prefill, pairs = prefill / ranks, pairs / ranks
        else:
            of_rank, own_prefill = verified, prefill
        tokens = of_rank + own_prefill
        everywhere = verified + prefill if self._shared > 1 or dp == 1 else tokens
        layers = stage.layers

        linear = hypot(self._dense[0], self._dense[1] * tokens)
        attention = 0.0
        between = 0.0
        if decodes:
            linear += hypot(self._kv_b[0], self._kv_b[1] * of_rank)
            times = self.draft_tokens + 1
            attention = max(context * self._kv_read, context * times * self._kv_flops) + self._state * of_rank
            if self.layout.dcp > 1:
                size = of_rank * self._context_bytes
                between = stage.mla_layers * 2 * self._context.seconds(size / 2)
        if prefill:
            linear += hypot(self._unpack[0], self._unpack[1] * own_prefill)
            attention += pairs * self._pair

        experts = host = 0.0
        if self._routed_read:
            touched = 1 - (1 - self._active) ** everywhere
            chosen, distinct = everywhere * self._active * self._experts, touched * self._experts
            read = self._routed_read * touched
            products = chosen + self._tile * distinct
            if self._expert_ranks > 1:
                read *= self._unevenness(distinct, 1 - touched)
                products *= self._unevenness(chosen, 1.0)
            compute = self._routed_product * products
            experts = hypot(min(read, self._routed_read), compute)
        if self._host is not None:
            host = self._host.seconds(everywhere, prefill) / self.layout.pp

        reduce = self._reductions * layers * self._reduce.seconds(tokens * self._hidden)
        if self._exchange_bytes:
            size = (everywhere if self._of_all else tokens) * self._exchange_bytes
            between += stage.moe_layers * 2 * self._exchange.seconds(size / 2)
        latency = layers * self._layer_s
        if not self._graphs or (decodes > GRAPH_SEQUENCES and not prefill):
            # The processor launches kernels while the device works: the slower of both counts.
            busy = experts + attention + linear + reduce + between + latency
            latency += max(0.0, layers * self._eager_s - busy)
        return experts, host, attention, linear, reduce, between, latency, 0.0, 0.0, 0.0, 0.0

    def _unevenness(self, mean_total: float, free: float) -> float:
        """How much more than the mean the fullest of the expert-parallel ranks has: of a sum of independent choices, by
        the expected maximum of normal variables."""
        ranks = self._expert_ranks
        mean = mean_total / ranks
        if mean <= 0:
            return 1.0
        return min(float(ranks), 1 + self._most * math.sqrt(max(free, 0.0) / mean))

    def step(
        self, decodes: float, context: float, prefill: float = 0.0, pairs: float = 0.0, chunks: float = 1
    ) -> Parts:
        """Seconds until every running sequence has its next token, by PARTS."""
        pp = self.layout.pp
        if pp == 1:
            parts = self.parts(decodes, context, prefill, pairs, chunks)
            hops = 0.0
        else:
            parts, hops = self._pipelined(decodes, context, prefill, pairs, chunks)
        sampled = decodes * (self.draft_tokens + 1) + (chunks if prefill else 0)
        head = hypot(self._head[0], self._head[1] * sampled / self.layout.dp)
        host = self._step_s + self._sequence_s * (decodes + chunks) / self.layout.dp
        draft = self._draft_s if decodes else 0.0
        return (*parts[:7], hops, head, draft, host)

    def _pipelined(
        self, decodes: float, context: float, prefill: float, pairs: float, chunks: float
    ) -> tuple[Parts, float]:
        """Sequences are dealt over as many micro-batches as there are stages, each of which is at another stage; the
        next token of one comes after it has passed all of them. Fewer sequences than stages leave stages idle."""
        pp = self.layout.pp
        share = max(decodes / pp, min(1.0, decodes))
        context *= share / decodes if decodes else 0.0
        with_prefill = min(pp, chunks) if prefill else 0
        plain = self.parts(share, context, 0.0, 0.0)
        summed = [0.0] * len(plain)
        rows = [(plain, pp - with_prefill)] if decodes else []
        if with_prefill:
            each = prefill / with_prefill, pairs / with_prefill
            mixed = self.parts(share, context, *each, -(-chunks // with_prefill))
            rows.append((mixed, with_prefill if decodes else pp))
        for row, times in rows:
            for place, seconds in enumerate(row):
                summed[place] += seconds * times * self._even
        size = (share + (prefill / with_prefill if with_prefill else 0)) * self._hidden
        hops = (pp - 1) * 2 * self._hop.seconds(size / 2)
        experts, host, attention, linear, reduce, between, latency, *_ = summed
        return (experts, host, attention, linear, reduce, between, latency, 0.0, 0.0, 0.0, 0.0), hops

    def seconds(
        self, decodes: float, context: float, prefill: float = 0.0, pairs: float = 0.0, chunks: float = 1
    ) -> float:
        return sum(self.step(decodes, context, prefill, pairs, chunks))

    def breakdown(
        self, decodes: float, context: float, prefill: float = 0.0, pairs: float = 0.0, chunks: float = 1
    ) -> StepBreakdown:
        return StepBreakdown(**dict(zip(PARTS, self.step(decodes, context, prefill, pairs, chunks), strict=True)))


def fixed_factor(configuration: Configuration, constants: StepConstants) -> float:
    """What the fixed costs of a device's generation and an engine's release are of those of vLLM 0.16 on Hopper."""
    first = RECENT.get(configuration.engine.name)
    factor = constants.recent if first is not None and configuration.since(first) else 1.0
    if configuration.platform in (Platform.ASCEND, Platform.ROCM):
        return factor * constants.slow_platform
    return factor * (constants.blackwell if configuration.device.architecture.startswith("Blackwell") else 1.0)


def expected_maximum(count: int) -> float:
    """Of so many independent standard normal variables (Blom, 1958)."""
    return NormalDist().inv_cdf((count - 0.375) / (count + 0.25)) if count > 1 else 0.0
