"""How engines name the files that they make in /dev/shm."""

from __future__ import annotations

from typing import Final

HANDED_ON: Final = ("psm_", "torch_", "vllm_")
"""Of Python's multiprocessing, torch and vLLM: such a file may be handed on while nobody has it mapped."""
ALWAYS_MAPPED: Final = ("sem.mp-", "nccl-", "vader_segment.", "sm_segment.")
"""Of Python, NCCL, Open MPI 4 and Open MPI 5: while its maker lives, such a file is mapped."""
