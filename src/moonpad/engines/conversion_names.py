"""How engines convert weights while they load them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

WHOLE_BEFORE_FP8: Final[Mapping[str, str]] = {"vllm": "0.13.0", "sglang": ""}
"""Engines that read all weights as they are before --quantization fp8 converts them → their first release that does so
layer by layer ("": none): layers/quantization/fp8.py of 0.10.0 to 0.13.0 and of 0.4.6 to 0.5.23."""
