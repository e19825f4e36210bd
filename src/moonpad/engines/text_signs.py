"""What a text shows of the engines: how pages start a server, variables that NPUs have, what traces name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

SERVER_STARTS: Final = ("vllm serve", "sglang serve", "trtllm-serve", "llama-server")
"""The words of a command by which pages start a server."""
OF_NPUS: Final = ("ASCEND_", "HCCL_", "VLLM_ASCEND_", "SGLANG_NPU_")
"""The beginnings of variables that are read where an engine runs on NPUs."""
BANNER: Final = "vllm"
"""The engine whose server prints its release and its model on lines of their own as it starts, with a drawing on the
left of them."""
DRAWN: Final = "█▄▀▌▐"
FORMER_ENGINE: Final = re.compile(
    r"\bMQLLMEngine\b|\bvllm/engine/multiprocessing/|\bVllmWorkerProcess\b|\bmultiproc_worker_utils\.py\b"
    r"|\bvllm/worker/(?:worker_base|worker|model_runner)\.py\b"
)
"""What a trace of vLLM's former engine names, the one before its second version."""
WITHOUT_FORMER: Final[Mapping[str, str]] = {"vllm": "0.11.0", "vllm-ascend": "0.9.1"}
"""The first final release of an engine without it. vLLM took it out after 0.10.2:
https://github.com/vllm-project/vllm/pull/25033, https://github.com/vllm-project/vllm/pull/25321,
https://github.com/vllm-project/vllm/pull/25329; of the plugin docs/source/user_guide/release_notes.md
says it."""
