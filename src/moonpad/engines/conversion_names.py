"""How engines convert weights while they load them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

WHOLE_BEFORE_FP8: Final[Mapping[str, str]] = {"vllm": "0.13.0", "sglang": ""}
"""Engines that read all weights as they are before --quantization fp8 converts them → their first release that does so
layer by layer ("": none): layers/quantization/fp8.py of 0.10.0 to 0.13.0 and of 0.4.6 to 0.5.23."""
WIDTHS_OF_METHODS: Final[Mapping[str, float]] = {
    **dict.fromkeys(("fp8", "fbgemm_fp8", "ptpc_fp8", "w8a8_fp8", "mxfp8", "experts_int8", "modelopt"), 1.0),
    **dict.fromkeys(("bitsandbytes", "mxfp4", "petit_nvfp4", "modelopt_fp4", "moe_wna16", "awq", "gptq"), 0.5),
    **dict.fromkeys(("awq_marlin", "gptq_marlin"), 0.5),
}
"""Bytes of a weight, at the least, in what a method of `--quantization` makes or reads."""
