"""vLLM-Ascend: vLLM with the plugin for Ascend NPUs. Its versions are those of the vLLM that it pins.

The environment is that of its tutorials for Kimi-K2-Thinking (docs.vllm.ai/projects/ascend, tutorials/Kimi-K2-Thinking)
and of its multi-node guide, which names the node's address for HCCL.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from moonpad.engines import vllm_command_line, vllm_facts
from moonpad.engines.vllm import VLLM, Build, deployment
from moonpad.values.records import replace

BUILD: Final = Build(
    env={
        "HCCL_BUFFSIZE": "1024",
        "TASK_QUEUE_ENABLE": "1",
        "OMP_PROC_BIND": "false",
        "HCCL_OP_EXPANSION_MODE": "AIV",
        "PYTORCH_NPU_ALLOC_CONF": "expandable_segments:True",
    },
    # Checkpoints of ModelSlim say nothing of themselves in config.json.
    quantizations={"w8a8": "ascend", "w4a8": "ascend"},
    node_address_env=("HCCL_IF_IP",),
)

VLLM_ASCEND: Final = replace(
    VLLM,
    facts=vllm_facts.VLLM_ASCEND,
    program="vllm-ascend",
    command_line=vllm_command_line.VLLM_ASCEND,
    deploy=partial(deployment, build=BUILD),
    recipe=None,
    packages=("vllm_ascend",),
    extended_by=(),
)
