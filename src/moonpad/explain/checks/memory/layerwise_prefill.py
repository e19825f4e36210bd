"""Prompts that the devices compute alone, layer by layer: the experts of a layer are brought there for it.

https://github.com/kvcache-ai/ktransformers, doc/en/kt-kernel/Kimi-K2-Thinking-Native.md: about 9 GB and more for
Kimi-K2 in INT4, which is one layer of its experts.
"""

from __future__ import annotations

from collections.abc import Iterator

from moonpad.engines import host_expert_names as names
from moonpad.engines.value_checks import unresolved, whole
from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark
from moonpad.plan.weights import routed_bytes
from moonpad.values.finding import Code, Severity
from moonpad.values.units import GIB


def layerwise_prefill(case: Case) -> Iterator[Remark]:
    """What such prompts take beside the memory that is judged."""
    place, checkpoint, subject = case.option(names.PREFILL_FROM), case.checkpoint, case.subject
    if place is None or checkpoint is None or subject is None or case.engine.facts.host_experts != "of each layer":
        return
    tokens = case.text(names.PREFILL_FROM)
    from_on = None if unresolved(tokens) else whole(tokens)
    layers = checkpoint.architecture.moe_layers
    longest = subject.context or checkpoint.architecture.max_context
    if from_on is None or layers < 1 or from_on >= longest:
        return
    share = routed_bytes(checkpoint) / layers
    message = (
        f"a prompt of more than {from_on:,} tokens is computed on the devices, to which the experts of each layer are "
        f"brought in turn: {share / GIB:,.1f} GiB of them at a time over all devices, or more with long chunks, which "
        "is not counted in the memory"
    )
    remedy = f"leave so much free, with fewer {names.ON_DEVICES} or a smaller --chunked-prefill-size"
    yield make_remark(Severity.NOTE, Code.TIGHT, names.PREFILL_FROM, message, remedy, at=place.index)
