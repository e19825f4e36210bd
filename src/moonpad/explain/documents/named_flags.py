"""Remedies that name our settings, told in the flags of an engine."""

from __future__ import annotations

import re

from moonpad.engines import ENGINES


def in_flags(remedy: str, engine: str) -> str:
    """With the engine's own flags for our names of settings."""
    options = ENGINES[engine].command_line.options
    remedy = remedy.replace("extra_args", "the command")
    if "kv_cache_gib" not in options:  # elsewhere a share of the memory decides
        remedy = remedy.replace("kv_cache_gib", "gpu_memory_utilization")
    return re.sub(r"(?<![\w-])[a-z]+(?:_[a-z]+)*(?![\w=])", lambda name: _flag(name[0], options.get(name[0])), remedy)


def _flag(name: str, option: str | None) -> str:
    return option if option is not None and ("_" in name or name in ("tp", "pp", "dp")) else name
