"""How an engine puts requests into steps, as far as it decides how long they wait."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from moonpad.plan.effective_settings import limits_of
from moonpad.predict.serving_plan import ServingPlan
from moonpad.values.configuration import Configuration
from moonpad.values.errors import PreflightRefused

MIXING: Final = frozenset({"vllm", "vllm-ascend", "vllm-cpu", "tensorrt-llm", "llama-cpp", "llama-cpp-cpu"})
"""A step of theirs has tokens of prompts beside sequences that decode. SGLang, and what is built on it, runs prompts in
steps of their own, before anything decodes on (`--enable-mixed-chunk` is off by default)."""
RESERVED: Final = {"sglang": 0.7, "sglang-cpu": 0.7, "ktransformers": 0.7, "tensorrt-llm": 1.0}
"""For which share of an answer's longest length room has to be there before a request is admitted: SGLang's
`init_new_token_ratio`, TensorRT-LLM's capacity scheduler GUARANTEED_NO_EVICT. vLLM asks for the next step's alone, and
preempts."""
WHOLE_PROMPTS: Final = frozenset({"vllm-cpu"})
"""With MLA on a processor without AMX tiles its chunks of prompts are off, and a step takes as many tokens as the
context is long, at least (vLLM 0.32, `platforms/cpu.py`): clients that came together stay together, and wait for all
their prompts. Whether a processor has tiles is not in a plan."""
UNLIMITED: Final = 1 << 30


@dataclass(frozen=True, slots=True)
class SchedulerPolicy:
    """Figures of all data-parallel replicas together."""

    sequences: int
    step_tokens: int
    """Of one replica and micro-batch."""
    step_limit: int
    """Of a whole pass: over replicas and the micro-batches of a pipeline."""
    kv_tokens: float
    mixes: bool
    reserved: float
    prefix_caching: bool
    whole_prompts: bool = False
    """A prompt is never split over steps."""
    replicas: int = 1
    tokens_per_step: float = 1.0
    """With speculation: how many tokens a sequence has more after a step."""


def policy_of(plan: ServingPlan, tokens_per_step: float = 1.0) -> SchedulerPolicy:
    configuration, layout = plan.configuration, plan.configuration.layout
    limits = limits_of(configuration)
    over = 1 if configuration.engine.limits_over_dp else layout.dp
    kv_tokens = math.inf if plan.memory is None else max(0.0, plan.memory.kv_tokens.value) * layout.dp
    name = configuration.engine.name
    if configuration.engine.limits_over_dp:
        step_tokens = max(1, limits.max_num_batched_tokens // layout.dp)
    else:
        step_tokens = limits.max_num_batched_tokens
    if name in WHOLE_PROMPTS:
        step_tokens = max(step_tokens, configuration.settings.max_model_len or 0)
    return SchedulerPolicy(
        sequences=(limits.max_num_seqs or UNLIMITED) * over,
        step_tokens=step_tokens,
        step_limit=step_tokens * layout.dp * layout.pp,
        kv_tokens=kv_tokens,
        mixes=name in MIXING,
        reserved=RESERVED.get(name, 0.0),
        prefix_caching=_caches(configuration),
        whole_prompts=name in WHOLE_PROMPTS,
        replicas=layout.dp,
        tokens_per_step=tokens_per_step,
    )


def refuse_too_long(tokens: float, policy: SchedulerPolicy) -> None:
    """Raises PreflightRefused where a request has no room in the KV cache of a replica."""
    held = policy.kv_tokens / policy.replicas
    if tokens > held:
        raise PreflightRefused(
            f"a request of {round(tokens):,} tokens does not fit the KV cache, which holds {int(held):,}",
            remedy="ask for shorter requests, or plan for more context",
        )


def _caches(configuration: Configuration) -> bool:
    """Every engine does unless it is told otherwise; the states of linear attention cannot be shared so."""
    if configuration.engine.name in WHOLE_PROMPTS:  # switched off with the chunks
        return False
    asked = configuration.settings.prefix_caching
    return asked if asked is not None else configuration.architecture.linear is None
