"""Fields of Dynamo's DynamoGraphDeployment, v1alpha1: its schema (deploy/operator/config/crd/bases of
https://github.com/ai-dynamo/dynamo, of August 2026) and the kinds of components that its operator knows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

VERSION: Final = "nvidia.com/v1alpha1"
FRAMEWORK: Final = "backendFramework"
FRAMEWORKS: Final = ("sglang", "vllm", "trtllm")
SPELLINGS: Final[Mapping[str, str]] = {
    "tensorrtllm": "trtllm",
    "trt": "trtllm",
    "tensorrt": "trtllm",
    "sgl": "sglang",
}
COMPONENTS: Final = ("frontend", "worker", "prefill", "decode", "planner", "epp", "main", "default")
RESOURCES: Final = frozenset({"cpu", "memory", "gpu", "gpuType", "custom", "claims"})
"""Of limits and requests. All but `custom` are texts."""
