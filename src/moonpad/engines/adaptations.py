"""What has to stand otherwise in a checkpoint's config.json, by what it is for."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final


class Adaptation(StrEnum):
    """EXPERTS_AS_MOE: the groups of a compressed-tensors quantisation target `MoE`, where they said `Linear`.
    DEEPSEEK_V3: the model type deepseek_v3, where it was kimi_k2."""

    EXPERTS_AS_MOE = "experts-as-moe"
    DEEPSEEK_V3 = "deepseek-v3"


ADAPTATIONS: Final[Mapping[str, Adaptation]] = {
    "vllm-ascend": Adaptation.EXPERTS_AS_MOE,
    "deepseek": Adaptation.DEEPSEEK_V3,  # a framework that knows DeepSeek-V3 and not Kimi-K2
}
