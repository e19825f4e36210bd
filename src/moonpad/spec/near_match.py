"""The nearest right key to a wrong one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Final

from moonpad.spec.key_names import key_names

# What people write besides the engines' own names, which `key_names` has. Near spellings need no row.
SYNONYMS: Final[Mapping[str, str]] = {
    "tensor_parallel": "tp",
    "pipeline_parallel": "pp",
    "data_parallel": "dp",
    "decode_context_parallel": "dcp",
    "enable_expert_parallel": "expert_parallel",
    "on": "cluster",
    "devices": "cluster",
    "gpus": "cluster",
    "engine_version": "version",
    "num_gpu_experts": "gpu_experts",
    "checkpoint": "model",
    "model_path": "model",
    "path": "model",
    "backend": "engine",
    "served_model_name": "served_name",
    "alias": "served_name",
    "api_key": "api_key_env",
    "key": "api_key_env",
    "host": "expose",
    "public": "expose",
    "context": "max_model_len",
    "max_context": "max_model_len",
    "concurrency": "max_num_seqs",
    "memory_fraction": "gpu_memory_utilization",
    "eager": "enforce_eager",
    "args": "extra_args",
    "flags": "extra_args",
    "timeout": "start_timeout",
    "startup_timeout": "start_timeout",
    "grace": "stop_grace",
    "stop_timeout": "stop_grace",
    "drain_timeout": "drain",
    "shutdown_timeout": "drain",
    "max_restarts": "restarts",
    "retries": "restarts",
    "backoff": "restart_backoff",
    "restart_delay": "restart_backoff",
    "window": "restart_window",
    "restart_on_hang": "restart_on_stall",
    "stable_after": "min_healthy",
    "hang_after": "stall_after",
    "hang_timeout": "stall_after",
    "canary_timeout": "stall_probe",
    "probe_timeout": "stall_probe",
}


def nearest(word: str, candidates: Iterable[str]) -> str | None:
    """The known word that is close enough in spelling, None where none is."""
    # difflib is quadratic in the length, and a word of a thousand letters is near nothing.
    close = difflib.get_close_matches(word[:80].lower().replace("-", "_"), list(candidates), n=1, cutoff=0.6)
    return close[0] if close else None


def did_you_mean(word: str, candidates: Iterable[str]) -> str:
    """`; did you mean "vllm-cpu"?`, to end a message with; "" where nothing is near."""
    near = nearest(word, candidates)
    return f'; did you mean "{near}"?' if near else ""


def nearest_key(word: str, table: str, tables: Mapping[str, Iterable[str]]) -> tuple[str, str] | None:
    """(table, key) that was meant: the same key elsewhere, a synonym, then a near spelling; its own table first."""
    plain = word.lower().replace("-", "_")
    order = [table, *(name for name in tables if name != table)]
    for key in (plain, SYNONYMS.get(plain) or key_names().get(plain, "").strip("!")):
        for name in order:
            if key in tables[name]:
                return name, key
    for name in order:
        if (close := nearest(plain, tables[name])) is not None:
            return name, close
    return None
