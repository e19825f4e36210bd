"""Lay out a Kimi-K2 checkpoint of other sizes without its bytes: right headers, sparse files, the tiny model's tokens.

A slice has few layers at full width; a rank has all layers with the widths that one of eight tensor-parallel ranks
holds. The engine is started with `--load-format dummy`, so that nothing is read; moonpad reads the headers as always.

    python -m benchmarks.gpu.slice_checkpoint FOLDER --layers 61 --heads 8 --moe 256 --dense 2304
"""

from __future__ import annotations

import argparse
import json
import math
import shutil
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TINY = Path(__file__).parents[2] / "src" / "moonpad" / "catalog" / "kimi-k2-tiny"
BYTES = {"BF16": 2, "I32": 4, "F32": 4, "F8_E4M3": 1}
HIDDEN, EXPERTS, VOCABULARY, Q_RANK, KV_RANK, NOPE, ROPE, V = 7168, 384, 163840, 1536, 512, 128, 64, 128
GROUP, BLOCK = 32, 128
Tensor = tuple[str, str, tuple[int, ...]]


def config(layers: int, heads: int, moe: int, dense: int, scheme: str) -> dict[str, Any]:
    """K2-Thinking's, or with FP8 K2-Instruct's, but for the four sizes."""
    document: dict[str, Any] = json.loads((TINY / "config.json").read_text())
    document |= {
        "hidden_size": HIDDEN, "intermediate_size": dense, "moe_intermediate_size": moe, "n_routed_experts": EXPERTS,
        "num_experts_per_tok": 8, "num_attention_heads": heads, "num_key_value_heads": heads,
        "num_hidden_layers": layers,
        "q_lora_rank": Q_RANK, "kv_lora_rank": KV_RANK, "vocab_size": VOCABULARY, "max_position_embeddings": 131072,
    }  # fmt: skip
    document["rope_scaling"] |= {"factor": 32.0}
    if scheme == "int4":
        weights = {
            "actorder": None, "block_structure": None, "dynamic": False, "group_size": GROUP, "num_bits": 4,
            "observer": "minmax", "observer_kwargs": {}, "strategy": "group", "symmetric": True, "type": "int",
        }  # fmt: skip
        document["quantization_config"] = {
            "config_groups": {
                "group_0": {
                    "input_activations": None, "output_activations": None, "targets": ["Linear"], "weights": weights,
                }
            },
            "format": "pack-quantized",
            "ignore": [
                "lm_head", "re:.*self_attn.*", "re:.*shared_experts.*", "re:.*mlp\\.(gate|up|gate_up|down)_proj.*",
            ],
            "kv_cache_scheme": None, "quant_method": "compressed-tensors", "quantization_status": "compressed",
        }  # fmt: skip
    elif scheme == "fp8":
        document["quantization_config"] = {
            "activation_scheme": "dynamic", "fmt": "e4m3", "quant_method": "fp8", "weight_block_size": [BLOCK, BLOCK],
        }  # fmt: skip
    return document


def plain(name: str, outputs: int, inputs: int) -> Iterator[Tensor]:
    yield f"{name}.weight", "BF16", (outputs, inputs)


def int4(name: str, outputs: int, inputs: int) -> Iterator[Tensor]:
    yield f"{name}.weight_packed", "I32", (outputs, inputs // 8)
    yield f"{name}.weight_scale", "BF16", (outputs, inputs // GROUP)
    yield f"{name}.weight_shape", "I32", (2,)


def fp8(name: str, outputs: int, inputs: int) -> Iterator[Tensor]:
    yield f"{name}.weight", "F8_E4M3", (outputs, inputs)
    yield f"{name}.weight_scale_inv", "F32", (math.ceil(outputs / BLOCK), math.ceil(inputs / BLOCK))


def layer(number: int, heads: int, moe: int, dense: int, scheme: str) -> Iterator[Tensor]:
    linear = fp8 if scheme == "fp8" else plain
    expert = {"fp8": fp8, "int4": int4, "bf16": plain}[scheme]
    of = f"model.layers.{number}"
    yield f"{of}.input_layernorm.weight", "BF16", (HIDDEN,)
    yield f"{of}.post_attention_layernorm.weight", "BF16", (HIDDEN,)
    yield f"{of}.self_attn.q_a_layernorm.weight", "BF16", (Q_RANK,)
    yield f"{of}.self_attn.kv_a_layernorm.weight", "BF16", (KV_RANK,)
    yield from linear(f"{of}.self_attn.q_a_proj", Q_RANK, HIDDEN)
    yield from linear(f"{of}.self_attn.q_b_proj", heads * (NOPE + ROPE), Q_RANK)
    yield from linear(f"{of}.self_attn.kv_a_proj_with_mqa", KV_RANK + ROPE, HIDDEN)
    yield from linear(f"{of}.self_attn.kv_b_proj", heads * (NOPE + V), KV_RANK)
    yield from linear(f"{of}.self_attn.o_proj", HIDDEN, heads * V)
    if number == 0:
        yield from gated(linear, f"{of}.mlp", dense)
        return
    yield f"{of}.mlp.gate.weight", "BF16", (EXPERTS, HIDDEN)
    yield f"{of}.mlp.gate.e_score_correction_bias", "F32", (EXPERTS,)
    yield from gated(linear, f"{of}.mlp.shared_experts", moe)
    for each in range(EXPERTS):
        yield from gated(expert, f"{of}.mlp.experts.{each}", moe)


def gated(linear: Any, name: str, width: int) -> Iterator[Tensor]:
    yield from linear(f"{name}.gate_proj", width, HIDDEN)
    yield from linear(f"{name}.up_proj", width, HIDDEN)
    yield from linear(f"{name}.down_proj", HIDDEN, width)


def write_shard(path: Path, tensors: list[Tensor]) -> int:
    """The header, and a file of the length that the tensors would have. Returns their bytes."""
    header, end = {}, 0
    for name, dtype, shape in tensors:
        begin, end = end, end + math.prod(shape) * BYTES[dtype]
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [begin, end]}
    raw = json.dumps(header).encode()
    raw += b" " * (-len(raw) % 8)
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(raw)) + raw)
        file.truncate(8 + len(raw) + end)
    return end


def write(folder: Path, layers: int, heads: int, moe: int, dense: int, scheme: str) -> int:
    """Returns the bytes of all tensors."""
    folder.mkdir(parents=True)
    ends = [
        ("model.embed_tokens.weight", "BF16", (VOCABULARY, HIDDEN)),
        ("model.norm.weight", "BF16", (HIDDEN,)),
        ("lm_head.weight", "BF16", (VOCABULARY, HIDDEN)),
    ]
    shards = [ends, *(list(layer(number, heads, moe, dense, scheme)) for number in range(layers))]
    index, total = {}, 0
    for number, tensors in enumerate(shards, 1):
        name = f"model-{number:05}-of-{len(shards):05}.safetensors"
        total += write_shard(folder / name, tensors)
        index |= {tensor[0]: name for tensor in tensors}
    document = {"metadata": {"total_size": total}, "weight_map": index}
    (folder / "model.safetensors.index.json").write_text(json.dumps(document))
    (folder / "config.json").write_text(json.dumps(config(layers, heads, moe, dense, scheme), indent=1))
    for name in ("tokenizer_config.json", "chat_template.jinja", "generation_config.json"):
        shutil.copy(TINY / name, folder)
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer()))
    return total


def tokenizer() -> dict[str, Any]:
    """The tiny model's, with a word for every other token, so that a client sees each token of an answer when it comes.

    The words have no merges: prompts are made of the tiny model's tokens alone.
    """
    document: dict[str, Any] = json.loads((TINY / "tokenizer.json").read_text())
    vocabulary = document["model"]["vocab"]
    vocabulary |= {f"\u0120t{number}": number for number in range(max(vocabulary.values()) + 1, VOCABULARY)}
    return document


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--layers", type=int, default=61)
    parser.add_argument("--heads", type=int, default=64)
    parser.add_argument("--moe", type=int, default=2048)
    parser.add_argument("--dense", type=int, default=18432)
    parser.add_argument("--scheme", choices=("int4", "fp8", "bf16"), default="int4")
    asked = parser.parse_args()
    total = write(asked.folder, asked.layers, asked.heads, asked.moe, asked.dense, asked.scheme)
    print(f"{asked.folder}: {total / 1e9:.3f} GB of tensors laid out")


if __name__ == "__main__":
    main()
