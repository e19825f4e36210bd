"""What texts about Ascend NPUs write that their plugin reads under another name, or not at all: connectors, keys of
`--additional-config`, device files. Read in https://github.com/vllm-project/vllm-ascend at each of its tags from
v0.9.1 to v0.25.1rc1 and at its main branch of 2026-08-22."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

PLUGIN: Final = "vllm-ascend"
TRANSFER_OPTION: Final = "--kv-transfer-config"
PLUGIN_OPTION: Final = "--additional-config"

# vllm_ascend/distributed/__init__.py, later vllm_ascend/distributed/kv_transfer/__init__.py: register_connector.
CONNECTORS: Final[Mapping[str, tuple[str, str]]] = {
    "LLMDataDistCMgrConnector": ("0.9.1", "0.12.0rc1"),
    "MooncakeConnectorV1": ("0.10.1rc1", ""),
    "MooncakeConnectorStoreV1": ("0.11.0rc0", ""),
    "MooncakeLayerwiseConnector": ("0.11.0rc1", ""),
    "AscendStoreConnector": ("0.12.0rc1", ""),
    "UCMConnector": ("0.13.0rc1", ""),
    "LMCacheAscendConnector": ("0.17.0rc1", ""),
    "MooncakeHybridConnector": ("0.20.2rc1", ""),
    "RecomputeCPUOffloadConnector": ("0.23.0rc1", ""),
    "SfaRemoteD2HConnector": ("", ""),
}
"""Connectors that the plugin adds: the first release that has each, "" where no release that was read has it, and the
first that has it no longer, "" where all later ones have it."""
OF_OTHER_DEVICES: Final[Mapping[str, str]] = {"MooncakeConnector": "MooncakeConnectorV1"}
"""Connectors of the engine itself, for CUDA, that the plugin has a class of its own for, and how it calls that."""
OWN_MODULE: Final = "vllm_ascend."
"""Where the plugin's classes lie, in `kv_connector_module_path`: read where the engine knows no such name itself."""
NAME_TAKEN_SINCE: Final = "0.13.0rc1"
"""The first release of the plugin whose engine has those names itself, and then does not look at the path
(https://github.com/vllm-project/vllm-ascend/pull/5172)."""
CONNECTORS_REMOVED: Final[Mapping[str, str]] = {"LLMDataDistCMgrConnector": "MooncakeConnectorV1"}
"""What took the place of connectors that are gone."""

# vllm_ascend/ascend_config.py
TABLE_KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    "torchair_graph_config": (
        *("enabled", "mode", "use_cached_graph", "use_cached_kv_cache_bytes", "graph_batch_sizes"),
        *("graph_batch_sizes_init", "enable_multistream_mla", "enable_multistream_moe", "enable_view_optimize"),
        *("enable_frozen_parameter", "enable_kv_nz", "enable_super_kernel"),
    ),
    "ascend_scheduler_config": (
        *("enabled", "enable_chunked_prefill", "max_long_partial_prefills", "long_prefill_token_threshold"),
        *("enable_pd_transfer", "decode_max_num_seqs"),
    ),
    "weight_prefetch_config": ("enabled", "prefetch_ratio"),
    "xlite_graph_config": ("enabled", "full_mode"),
    "profiling_chunk_config": ("enabled", "smooth_factor", "min_chunk", "need_timing", "max_fit_chunk"),
}
"""Tables of the plugin's option and keys that a release has in them: it reads each by its name, and passes over others
without a word."""
MOVED_KEYS: Final[Mapping[str, tuple[str, str, str]]] = {
    "enable_npugraph_ex": ("0.14.0rc1", "0.16.0rc1", "ascend_compilation_config"),
    "dynamic_eplb": ("0.14.0rc1", "0.14.0rc1", "eplb_config"),
    "expert_map_path": ("0.14.0rc1", "0.14.0rc1", "eplb_config"),
    "expert_map_record_path": ("0.14.0rc1", "0.14.0rc1", "eplb_config"),
    "eplb_policy_type": ("0.14.0rc1", "0.14.0rc1", "eplb_config"),
}
"""Keys that stood in the option itself: the first release that does not read them there, the first that reads them in
a table, and that table. In between, enable_npugraph_ex was `enable` of a table of its own, npugraph_ex_config."""

DEVICE_FILE: Final = re.compile(r"/dev/davinci(?P<number>\d{1,3})(?::\S*)?")
"""One NPU, as a container is given it (`davinci_manager` is none)."""
DEVICE_FILES: Final = "/dev/davinci"
NO_DEVICES: Final = "/dev/davinci_manager"
ALL_DEVICES: Final = ("ASCEND_VISIBLE_DEVICES",)
"""Variables by which a container's runtime gives it devices, whatever files are named."""
