"""What measured points say of the constants: factors on what is read, computed, fixed, taken by each sequence, and on a
request's way."""

from __future__ import annotations

from moonpad.catalog.step_constants import Corrections, FittedGroup, StepConstants, fitted_groups, step_constants
from moonpad.values.configuration import Configuration

READ = ("bandwidth", "expert_bandwidth", "kv_bandwidth", "host_bytes_per_s", "cpu_core_bytes_per_s")
COMPUTED = (
    *("gemm", "expert_bf16", "expert_int4", "expert_fp8", "expert_fp4", "decode_attention", "prefill_attention"),
    *("host_flops", "cpu_core_flops"),
)
FIXED = (
    *("layer_s", "eager_layer_s", "all_reduce_s", "network_s", "step_s"),
    *("host_layer_s", "cpu_layer_s", "cpu_step_s"),
)
SEQUENCES = ("sequence_s", "cpu_sequence_s")
PREFILL = ("cpu_prefill_flops",)
DECODE = ("cpu_decode_flops",)
EXPERTS = ("cpu_expert_tile",)
REQUEST = ("request_s", "request_token_s", "cpu_request_s")


def corrected(constants: StepConstants, corrections: Corrections) -> StepConstants:
    """Times grow by the factors: rates fall."""
    changes = {name: getattr(constants, name) / corrections.memory for name in READ}
    changes |= {name: getattr(constants, name) / corrections.compute for name in COMPUTED}
    changes |= {name: getattr(constants, name) / corrections.prefill for name in PREFILL}
    changes |= {name: getattr(constants, name) / corrections.decode for name in DECODE}
    changes |= {name: getattr(constants, name) * corrections.experts for name in EXPERTS}
    changes |= {name: getattr(constants, name) * corrections.fixed for name in FIXED}
    changes |= {name: getattr(constants, name) * corrections.sequences for name in SEQUENCES}
    changes |= {name: getattr(constants, name) * corrections.request for name in REQUEST}
    return constants.with_values(changes)


def known_constants(configuration: Configuration) -> StepConstants:
    """Those of the catalogue, corrected by the published points of the device and the weights where there are any."""
    group = group_of(configuration)
    return step_constants() if group is None else corrected(step_constants(), group.corrections)


def group_of(configuration: Configuration) -> FittedGroup | None:
    """The same device and weights, the same engine first."""
    near = [
        group
        for group in fitted_groups()
        if group.device == configuration.device.id and group.scheme == configuration.scheme
    ]
    return min(near, key=lambda group: group.engine != configuration.engine.name, default=None)
