"""A folder with a model in GGUF: one file, or the parts of a split one. Formats are mixed tensor by tensor."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from moonpad.catalog.ggml_types import TYPES
from moonpad.checkpoints.architecture import read_architecture
from moonpad.checkpoints.files import open_inside
from moonpad.checkpoints.gguf_header import GgufHeader, GgufTensor, read_header
from moonpad.checkpoints.groups import Groups
from moonpad.values.checkpoint import Architecture, Checkpoint, Component, Quantization
from moonpad.values.errors import CheckpointError

_PART: Final = re.compile(r"(?P<stem>.+)-(?P<number>\d{5})-of-(?P<count>\d{5})\.gguf")
_IN_LAYER: Final = re.compile(r"blk\.(?P<layer>\d{1,6})\.(?P<module>\w+)\.(?:weight|bias)")
MAX_NAMED: Final = 5
ARCHITECTURE: Final = "deepseek2"
"""What llama.cpp calls the architecture of DeepSeek-V3 and Kimi-K2."""

OUTSIDE: Final = {
    "token_embd.weight": Component.EMBED_TOKENS,
    "output.weight": Component.LM_HEAD,
    "output_norm.weight": Component.NORMS,
}
MODULES: Final = {
    "attn_q_a": Component.Q_A,
    "attn_q_b": Component.Q_B,
    "attn_kv_a_mqa": Component.KV_A,
    "attn_kv_b": Component.KV_B,
    "attn_k_b": Component.KV_B,
    "attn_v_b": Component.KV_B,
    "attn_output": Component.O_PROJ,
    "ffn_gate_inp": Component.ROUTER,
    "exp_probs_b": Component.ROUTER,
}

# Keys of the metadata, behind `deepseek2.`, by the names of config.json.
KEYS: Final = {
    "num_hidden_layers": "block_count",
    "hidden_size": "embedding_length",
    "num_attention_heads": "attention.head_count",
    "q_lora_rank": "attention.q_lora_rank",
    "kv_lora_rank": "attention.kv_lora_rank",
    "qk_rope_head_dim": "rope.dimension_count",
    "v_head_dim": "attention.value_length_mla",
    "intermediate_size": "feed_forward_length",
    "first_k_dense_replace": "leading_dense_block_count",
    "n_routed_experts": "expert_count",
    "num_experts_per_tok": "expert_used_count",
    "n_shared_experts": "expert_shared_count",
    "moe_intermediate_size": "expert_feed_forward_length",
    "vocab_size": "vocab_size",
    "max_position_embeddings": "context_length",
}


@dataclass(frozen=True, slots=True)
class GgufFiles:
    names: tuple[str, ...]
    """The first one is what engines are told."""
    headers: tuple[GgufHeader, ...]
    total_bytes: int


def read_gguf(folder: Path) -> GgufFiles | None:
    """The GGUF files of the folder, without those of a vision tower; None where there is none.

    Raises:
        CheckpointError: parts of a split file are missing, the folder holds several models, a file is elsewhere or is
            damaged.
    """
    names = sorted(path.name for path in folder.glob("*.gguf") if not path.name.startswith("mmproj"))
    if not names:
        return None
    stems = {part["stem"] if (part := _PART.fullmatch(name)) else name for name in names}
    if len(stems) > 1:
        raise CheckpointError(
            f"holds {len(stems)} GGUF models: {', '.join(sorted(stems)[:MAX_NAMED])}",
            remedy="give each a folder of its own",
        )
    if missing := _missing_parts(names):
        raise CheckpointError(f"is missing {len(missing)} parts of a GGUF file: {', '.join(missing[:MAX_NAMED])}")
    headers, total = [], 0
    for name in names:
        try:
            file, size_bytes = open_inside(folder, name)
            with file:
                headers.append(read_header(file))
        except FileNotFoundError:
            raise CheckpointError(f"has {name}, a dangling link") from None
        except CheckpointError as error:
            raise CheckpointError(f"has {name}, which {error.message}") from None
        total += size_bytes
    return GgufFiles(tuple(names), tuple(headers), total)


def gguf_checkpoint(folder: Path, name: str, files: GgufFiles, architecture: Architecture) -> Checkpoint:
    """By component and layer; by the size alone where a tensor has a format that only a fork of llama.cpp knows."""
    groups = Groups(architecture, Quantization("gguf", "gguf"))
    known = True
    for tensor in (tensor for header in files.headers for tensor in header.tensors):
        component, layer = _place(tensor.name)
        size_bytes = _size_of(tensor)
        known = known and size_bytes is not None
        groups.count(component, layer, tensor.values, size_bytes or 0)
    counted = groups.groups() if known else ()
    count = len(files.names)
    source = f"headers of {count} GGUF files in {folder}" if count > 1 else f"header of {files.names[0]} in {folder}"
    total = sum(group.size_bytes for group in counted) or files.total_bytes
    return Checkpoint(name, architecture, Quantization("gguf", "gguf"), counted, source, total, files.names[0])


def gguf_architecture(files: GgufFiles) -> Architecture:
    """From the metadata.

    Raises:
        CheckpointError: it is of another architecture, or a size is missing or not plausible.
    """
    metadata = files.headers[0].metadata
    name = metadata.get("general.architecture")
    if name != ARCHITECTURE:
        raise CheckpointError(f"has {files.names[0]}, whose architecture {str(name)[:40]!r} is not modelled")
    return read_architecture(dict(_config(metadata)))


def _config(metadata: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    yield "model_type", "kimi_k2"
    for name, key in KEYS.items():
        if (value := metadata.get(f"{ARCHITECTURE}.{key}")) is not None:
            yield name, value
    if f"{ARCHITECTURE}.vocab_size" not in metadata and (words := metadata.get("tokenizer.ggml.tokens")) is not None:
        yield "vocab_size", words
    width, rotary = (
        metadata.get(f"{ARCHITECTURE}.attention.key_length_mla"),
        metadata.get(f"{ARCHITECTURE}.rope.dimension_count"),
    )
    if isinstance(width, int) and isinstance(rotary, int):
        yield "qk_nope_head_dim", width - rotary


def _place(name: str) -> tuple[Component, int | None]:
    if name in OUTSIDE:
        return OUTSIDE[name], None
    match = _IN_LAYER.fullmatch(name)
    if match is None:
        return Component.OTHER, None
    return _component(match["module"]), int(match["layer"])


def _component(module: str) -> Component:
    if module in MODULES:
        return MODULES[module]
    if module.endswith("_norm"):
        return Component.NORMS
    if module.startswith("ffn_"):
        endings = {"_exps": Component.ROUTED_EXPERTS, "_shexp": Component.SHARED_EXPERTS}
        return next((part for ending, part in endings.items() if module.endswith(ending)), Component.DENSE_MLP)
    return Component.OTHER


def _size_of(tensor: GgufTensor) -> int | None:
    kind = TYPES.get(tensor.kind)
    if kind is None or tensor.row % kind.values:
        return None
    return kind.bytes_of(tensor.values)


def _missing_parts(names: list[str]) -> list[str]:
    first = _PART.fullmatch(names[0])
    if first is None:
        return []
    present = set(names)
    count = int(first["count"])
    expected = (f"{first['stem']}-{number:05d}-of-{first['count']}.gguf" for number in range(1, count + 1))
    return [name for name in expected if name not in present]
