"""What a text shows of the engines: how pages start a server, variables that NPUs have, what traces name."""

from __future__ import annotations

import re
from typing import Final

SERVER_STARTS: Final = ("vllm serve", "sglang serve", "trtllm-serve", "llama-server")
"""The words of a command by which pages start a server."""
OF_NPUS: Final = ("ASCEND_", "HCCL_", "VLLM_ASCEND_", "SGLANG_NPU_")
"""The beginnings of variables that are read where an engine runs on NPUs."""
FORMER_ENGINE: Final = (
    (
        "vllm",
        re.compile(
            r"\bMQLLMEngine\b|\bvllm/engine/multiprocessing/|\bVllmWorkerProcess\b|\bmultiproc_worker_utils\.py\b"
        ),
        "0.11.0",
    ),
    ("vllm", re.compile(r"\bvllm/executor/[a-z_]+\.py\b"), "0.11.1"),
)
"""An engine that had another one of its own before, what a trace of that names, and the first release without it.
It was taken out after 0.10.2: https://github.com/vllm-project/vllm/pull/25033,
https://github.com/vllm-project/vllm/pull/25321, https://github.com/vllm-project/vllm/pull/25329; its executors, which
the other one shared, after 0.11.0: https://github.com/vllm-project/vllm/pull/27142"""
