"""Variables that switch off a part of a kernel library which another variable switches on, and what faults call it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

PARTS: Final[Mapping[str, str]] = {
    "VLLM_ROCM_USE_AITER_MHA": r"AITER(?:'s)? (?:flash ?)?attention\b|\bROCM_AITER_FA\b",
    "VLLM_ROCM_USE_AITER_MLA": r"AITER(?:'s)? (?:persistent |sparse )*(?:latent attention|MLA)\b",
    "VLLM_ROCM_USE_AITER_MOE": r"AITER(?:'s)? (?:fused )?(?:MoE|experts)\b",
}
"""vllm/envs.py, and platforms/rocm.py, which takes the attention of the library where its variable is not 0."""
EXECUTOR: Final = "--distributed-executor-backend"
"""The option that says what starts the workers of vLLM: more of them than one machine has devices are actors of Ray."""
