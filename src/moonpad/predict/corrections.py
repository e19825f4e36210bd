"""What measured points say of the constants: factors on what is read, computed, fixed, taken by each sequence, and on a
request's way."""

from __future__ import annotations

from moonpad.catalog.step_constants import Corrections, StepConstants

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
REQUEST = ("request_s", "request_token_s", "cpu_request_s")


def corrected(constants: StepConstants, corrections: Corrections) -> StepConstants:
    """Times grow by the factors: rates fall."""
    changes = {name: getattr(constants, name) / corrections.memory for name in READ}
    changes |= {name: getattr(constants, name) / corrections.compute for name in COMPUTED}
    changes |= {name: getattr(constants, name) * corrections.fixed for name in FIXED}
    changes |= {name: getattr(constants, name) * corrections.sequences for name in SEQUENCES}
    changes |= {name: getattr(constants, name) * corrections.request for name in REQUEST}
    return constants.with_values(changes)
