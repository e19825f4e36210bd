"""What texts about Ascend NPUs write that their plugin reads under another name, or not at all: connectors, keys of
`--additional-config` (by release: catalog/options/config_keys.py), device files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

PLUGIN: Final = "vllm-ascend"
FUSED_EXCHANGE: Final = "VLLM_ASCEND_ENABLE_FUSED_MC2"
"""The variable that makes one kernel of an expert's product and its exchange of tokens."""
BASE_PROGRAM: Final = "vllm serve"
"""Whose file of keys has those of TRANSFER_OPTION."""
TRANSFER_OPTION: Final = "--kv-transfer-config"
PLUGIN_OPTION: Final = "--additional-config"
NUMBERED_KEYS: Final = frozenset({"enable_fused_mc2", "weight_nz_mode"})
"""Of it, modes by their number, where other keys are switches (additional_config.md of 0.26.0rc1)."""

# examples/disaggregated_prefill_v1
PROXIES: Final = ("load_balance_proxy_server_example.py", "load_balance_proxy_layerwise_server_example.py")
"""Programs of the plugin's examples that stand in front of two pools."""
PROXY_OPTIONS: Final = (
    *("--port", "--host", "--prefiller-hosts", "--prefiller-ports", "--decoder-hosts", "--decoder-ports"),
    *("--max-retries", "--retry-delay"),
)
OTHER_PROXIES: Final[Mapping[str, tuple[str, ...]]] = {
    "toy_proxy_server.py": (
        *("--port", "--host", "--prefiller-hosts", "--prefiller-host", "--prefiller-ports", "--prefiller-port"),
        *("--decoder-hosts", "--decoder-host", "--decoder-ports", "--decoder-port", "--help"),
    ),
}
"""Proxies of the engine's own tests, and their options (vLLM 0.10.1 to 0.19.0,
tests/v1/kv_connector/nixl_integration)."""
PAIRED_OPTIONS: Final = (("--prefiller-hosts", "--prefiller-ports"), ("--decoder-hosts", "--decoder-ports"))
"""As many of the one as of the other (Number of prefiller hosts must match number of prefiller ports)."""

CONNECTORS_OF_BASE: Final = ("MultiConnector", "OffloadingConnector", "SimpleCPUOffloadConnector")
"""Connectors of the engine itself that the plugin registers a second time, with a class of its own."""
OF_OTHER_DEVICES: Final[Mapping[str, str]] = {"MooncakeConnector": "MooncakeConnectorV1"}
"""Connectors of the engine itself, for CUDA, that the plugin has a class of its own for, and how it calls that."""
OWN_MODULE: Final = "vllm_ascend."
"""Where the plugin's classes lie, in `kv_connector_module_path`: read where the engine knows no such name itself."""
NAME_TAKEN_SINCE: Final = "0.13.0rc1"
"""The first release of the plugin whose engine has those names itself, and then does not look at the path
(https://github.com/vllm-project/vllm-ascend/pull/5172)."""
CONNECTORS_REMOVED: Final[Mapping[str, str]] = {"LLMDataDistCMgrConnector": "MooncakeConnectorV1"}
"""What took the place of connectors that are gone."""

# vllm_ascend/core/schedule_config.py, of 0.9.1rc1 to 0.11.0
OPEN_TABLES: Final[Mapping[str, tuple[str, ...]]] = {
    f"{PLUGIN_OPTION}.ascend_scheduler_config": (
        *("enabled", "enable_chunked_prefill", "max_long_partial_prefills", "long_prefill_token_threshold"),
        *("enable_pd_transfer", "decode_max_num_seqs"),
    ),
}
"""Tables that take over any field of the engine's own scheduler, and what they have of their own."""
OVER_COPIES: Final = "finegrained_tp_config"
"""The table whose sizes have to divide the data-parallel ranks: ascend_config.py ends the start at others."""
# vllm_ascend/ascend_config.py: refresh_eplb_config of 0.13.0rc2 to 0.13.0; AscendCompilationConfig of 0.16.0rc1
RENAMED_KEYS: Final[Mapping[str, str]] = {
    "init_redundancy_expert": "eplb_config.num_redundant_experts",
    "num_iterations_eplb_update": "eplb_config.expert_heat_collection_interval",
    "num_wait_worker_iterations": "eplb_config.algorithm_execution_interval",
    "npugraph_ex_config.enable": "ascend_compilation_config.enable_npugraph_ex",
    "npugraph_ex_config": "ascend_compilation_config",
    "lmhead_tp_size": "lmhead_tensor_parallel_size",
}
"""Keys that have another name in later releases; which release has which is recorded."""
SPLIT_KEYS: Final[Mapping[str, tuple[str, ...]]] = {"enable_sparse_c8": ("enable_sparse_sfa_c8", "enable_sparse_li_c8")}
"""Switches of the option itself that have become several, which together are what the one was
(https://github.com/vllm-project/vllm-ascend/pull/12351)."""
SHARED_WITH: Final = ("--omni",)
"""Options of another plugin that reads keys of its own there: with it, unknown ones are only warned of."""
SHARED_KEYS: Final = (
    *("kv_cache_dtype", "refresh", "scheduler_config", "enable_prefetch", "dynamic_eplb"),
    *("gdn_prefill_backend", "kda_prefill_backend"),
)
"""Keys of the option itself that the engine, or plugins for other devices, may read too."""
ON_BY_THEMSELVES: Final = frozenset({"fuse_norm_quant", "fuse_qknorm_rope", "fuse_muls_add"})
"""Keys of ascend_compilation_config that are true by default: https://github.com/vllm-project/vllm-ascend,
vllm_ascend/ascend_config.py, AscendCompilationConfig."""
COMMON_KEYS: Final = ("enabled", "enable", "mode", "threshold")
"""Keys of several tables, that say nothing by themselves."""

DEVICE_FILE: Final = re.compile(r"/dev/davinci(?P<number>\d{1,3})(?::\S*)?")
"""One NPU, as a container is given it (`davinci_manager` is none)."""
DEVICE_FILES: Final = "/dev/davinci"
NO_DEVICES: Final = "/dev/davinci_manager"
ALL_DEVICES: Final = ("ASCEND_VISIBLE_DEVICES",)
"""Variables by which a container's runtime gives it devices, whatever files are named."""
