"""Plans and constants for the tests of predict."""

from __future__ import annotations

from functools import cache

from moonpad.catalog.clusters import parse_cluster
from moonpad.catalog.models import find_model
from moonpad.catalog.step_constants import StepConstants, step_constants
from moonpad.engines import ENGINES
from moonpad.plan.memory import memory_of
from moonpad.plan.tensors import catalog_checkpoint
from moonpad.predict import Lengths, ServingPlan, Workload
from moonpad.values.configuration import Configuration
from moonpad.values.plan import Layout, Settings

NOTHING_SET = Settings()


def served(
    model: str = "moonshotai/Kimi-K2.5",
    cluster: str = "8xH200",
    engine: str = "vllm",
    version: str = "0.16.0",
    settings: Settings = NOTHING_SET,
    **sizes: int,
) -> ServingPlan:
    known = find_model(model)
    assert known is not None
    layout = Layout(**(sizes or {"tp": 8}))
    configuration = Configuration(
        catalog_checkpoint(known), parse_cluster(cluster), ENGINES[engine].facts, version, layout, settings
    )
    return ServingPlan(configuration, memory_of(configuration))


@cache
def h200() -> ServingPlan:
    """Kimi-K2.5 in INT4 on 8xH200 with TP8."""
    return served()


def ideal(**changes: float) -> StepConstants:
    """Devices that reach their data sheets, and nothing that costs beside bytes, products and links."""
    names = (
        *("bandwidth", "expert_bandwidth", "kv_bandwidth", "gemm", "expert_bf16", "expert_int4", "expert_fp8"),
        *("expert_fp4", "decode_attention", "prefill_attention", "link", "network"),
    )
    free = (
        *("layer_s", "eager_layer_s", "all_reduce_s", "network_s", "step_s", "sequence_s", "request_s"),
        *(
            "request_token_s",
            "reading_s",
            "reading_token_s",
            "expert_tile",
            "host_layer_s",
            "cpu_layer_s",
            "cpu_step_s",
        ),
    )
    return step_constants().with_values(dict.fromkeys(names, 1.0) | dict.fromkeys(free, 0.0) | changes)


def load(prompt: int = 1000, answer: int = 200, clients: int | None = 8, **more: object) -> Workload:
    return Workload(Lengths.fixed(prompt), Lengths.fixed(answer), concurrency=clients, **more)  # type: ignore[arg-type]
