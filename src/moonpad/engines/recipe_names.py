"""What recipes of srt-slurm call the ways in which caches are handed over, and what it makes of these names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

CONNECTORS: Final[Mapping[str, Mapping[str, str]]] = {
    "nixl": {"kv_connector": "NixlConnector", "kv_role": "kv_both"},
    "lmcache": {"kv_connector": "LMCacheConnectorV1", "kv_role": "kv_both"},
    "kvbm": {
        "kv_connector": "DynamoConnector",
        "kv_connector_module_path": "kvbm.vllm_integration.connector",
        "kv_role": "kv_both",
    },
}
"""https://github.com/NVIDIA/srt-slurm/blob/c88ef731636890ff6385a783e152c1790e15b194/src/srtctl/backends/vllm.py"""
PROGRAM: Final = "vllm serve"
"""Whose servers get it."""
OPTION: Final = "--kv-transfer-config"
USUAL: Final = "nixl"
"""Of a recipe that names none."""
LEFT_TO_ALL: Final = frozenset({"", "null", "~"})
"""Of a role: it takes what the recipe names for all."""
NONE: Final = LEFT_TO_ALL | {"none"}
