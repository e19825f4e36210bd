"""Options by the names that variables, keys of services and presets have for them."""

from __future__ import annotations

import re
from typing import Final

from moonpad.catalog.options import option_set
from moonpad.engines.foreign_names import MARKING
from moonpad.explain.commands import Word
from moonpad.explain.flag_lists import serving_programs
from moonpad.values.records import replace

_OURS: Final = {
    "model": ("model", "model_name", "model_id", "model_path", "hf_model_id", "model_repo", "model_file"),
    "tp": ("tp", "tp_size", "tensor_parallel", "tensor_parallel_size", "num_gpus", "gpu_count"),
    "pp": ("pp", "pp_size", "pipeline_parallel_size"),
    "dp": ("dp", "dp_size", "data_parallel_size"),
    "dcp": ("dcp", "dcp_size", "decode_context_parallel_size"),
    "max_model_len": ("max_model_len", "context_length", "ctx_size", "max_seq_len", "max_context"),
}
"""What images call our settings."""
_ALIASES: Final = {
    **dict.fromkeys(("gpu_mem_util", "gpu_util", "gpu_memory_util", "mem_util"), "gpu_memory_utilization"),
    **{"served_name": "served_model_name", "tool_parser": "tool_call_parser", "max_seqs": "max_num_seqs"},
}
"""What scripts call other options."""


def as_option(name: str, value: Word, program: str) -> tuple[Word, ...]:
    options, line = option_set(program), serving_programs()[program]
    text = value.text.removeprefix(f"{name}=")
    plain = re.sub(rf"^(?:{'|'.join(MARKING)})_", "", name.casefold())
    ours = next((key for key, names in _OURS.items() if plain in names), "")
    plain = _ALIASES.get(plain, plain)
    flag = (line.model or "--model") if ours == "model" else line.options.get(ours, f"--{plain.replace('_', '-')}")
    known = options.named(flag) if options is not None else None
    if known is None or not text:
        return ()
    if known.kind == "flag":
        return (replace(value, text=flag, pieces=()),) if text.casefold() in ("true", "1", "yes") else ()
    return (replace(value, text=flag, pieces=()), replace(value, text=text, pieces=()))
