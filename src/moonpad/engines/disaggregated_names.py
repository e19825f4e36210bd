"""Routers in front of pools: the options of SGLang's, and the file of TensorRT-LLM's `trtllm-serve disaggregated`,
which names the servers of both pools (tensorrt_llm/llmapi/disagg_utils.py, extract_disagg_cfg, of version.py 1.3.0rc3
and of autumn 2026)."""

from __future__ import annotations

from typing import Final

PROGRAM: Final = "trtllm-disaggregated"
SERVER: Final = "trtllm-serve"
"""What starts the servers of both pools."""
FILE_FLAGS: Final = ("-c", "--config", "--config_file")
POOLS: Final = ("context_servers", "generation_servers")
CLUSTER: Final = "disagg_cluster"
"""With it the servers announce themselves, and `urls` are not read."""
URLS: Final = "urls"
INSTANCES: Final = "num_instances"
ROUTERS_HOST: Final = "localhost"
ROUTERS_PORT: Final = "8000"
"""Where the router listens without `hostname` and `port`."""
SERVERS_PORT: Final = 8000
"""Where a server of a pool listens without --port."""
OWN_KEYS: Final = frozenset({
    *("hostname", "port", "max_retries", "perf_metrics_max_requests", "return_perf_metrics", "perf_metrics_output_dir"),
    *("conditional_disagg_config", "otlp_config", "disagg_cluster", "node_id", "schedule_style"),
    *("allow_request_chat_template", "gen_strip_message_history", "gen_tokids_ctxbytes", "num_workers"),
    *("disagg_coordinator_url", *POOLS),
})  # fmt: skip
"""What the router reads for itself; every other key at the top becomes one of both pools."""
ROUTERS: Final = ("sglang-router",)
"""Programs that read their addresses as sglang_router 0.3.2 does: router.py (prefill_urls and decode_urls are None
without pd_disaggregation), and its configuration, which wants http://, https:// or grpc://."""
SPLIT: Final = "--pd-disaggregation"
