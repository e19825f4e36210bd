#!/usr/bin/env python3
"""Writes checkpoints of the Kimi-K2 architecture for reading only: true names, shapes and headers, and no weights.

    python scripts/tiny_variants.py OUT [--config CONFIG.json] [--kind bf16|int4|fp8 ...] [--shards N]

The files have their true length and hold zeros that take no room on the disk, so that a whole Kimi-K2 of 594 GB can be
written in seconds, too. Standard library only, and not a line of moonpad's: the names and shapes below are what its
reader and its arithmetic are held against. They are those of the published checkpoints:

- bf16: what transformers writes, as for the embedded kimi-k2-tiny: no inv_freq, and the router's bias in BF16;
- fp8: moonshotai/Kimi-K2-Instruct, blocks of 128x128 with FP32 `weight_scale_inv`, all matrices but the router;
- int4: moonshotai/Kimi-K2-Thinking, routed experts in groups of 32: `weight_packed`, `weight_scale`, `weight_shape`.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

KINDS = ("bf16", "int4", "fp8")
BYTES = {"BF16": 2, "F32": 4, "I32": 4, "F8_E4M3": 1}
TINY = {
    "architectures": ["DeepseekV3ForCausalLM"],
    "model_type": "kimi_k2",
    "torch_dtype": "bfloat16",
    "hidden_size": 256,
    "num_hidden_layers": 4,
    "first_k_dense_replace": 1,
    "moe_layer_freq": 1,
    "intermediate_size": 512,
    "moe_intermediate_size": 192,
    "n_routed_experts": 8,
    "n_shared_experts": 1,
    "num_experts_per_tok": 2,
    "num_attention_heads": 4,
    "q_lora_rank": 256,
    "kv_lora_rank": 512,
    "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64,
    "v_head_dim": 128,
    "vocab_size": 1024,
    "max_position_embeddings": 32768,
    "num_nextn_predict_layers": 0,
    "tie_word_embeddings": False,
    "topk_method": "noaux_tc",
    "scoring_func": "sigmoid",
}
QUANTIZATION = {
    "bf16": None,
    "fp8": {"quant_method": "fp8", "fmt": "e4m3", "activation_scheme": "dynamic", "weight_block_size": [128, 128]},
    "int4": {
        "quant_method": "compressed-tensors",
        "format": "pack-quantized",
        "quantization_status": "compressed",
        "kv_cache_scheme": None,
        "ignore": [
            "lm_head",
            "re:.*self_attn.*",
            "re:.*shared_experts.*",
            "re:.*mlp\\.(gate|up|gate_up|down)_proj.*",
        ],
        "config_groups": {
            "group_0": {
                "input_activations": None,
                "output_activations": None,
                "targets": ["Linear"],
                "weights": {
                    "num_bits": 4,
                    "type": "int",
                    "strategy": "group",
                    "group_size": 32,
                    "symmetric": True,
                    "dynamic": False,
                },
            }
        },
    },
}

Tensor = tuple[str, str, tuple[int, ...]]


def tensors(
    config: dict, kind: str, prefix: str = "", rotary: bool | None = None, bias: str | None = None
) -> Iterator[Tensor]:
    """Name, type and shape of every tensor. `bias` is the type of `e_score_correction_bias`."""
    rotary = kind != "bf16" if rotary is None else rotary
    bias = ("BF16" if kind == "bf16" else "F32") if bias is None else bias
    hidden, heads = config["hidden_size"], config["num_attention_heads"]
    nope, rope, value = config["qk_nope_head_dim"], config["qk_rope_head_dim"], config["v_head_dim"]
    q_rank, kv_rank = config["q_lora_rank"], config["kv_lora_rank"]
    yield f"{prefix}model.embed_tokens.weight", "BF16", (config["vocab_size"], hidden)
    for layer in range(config["num_hidden_layers"]):
        here = f"{prefix}model.layers.{layer}"
        yield f"{here}.input_layernorm.weight", "BF16", (hidden,)
        yield f"{here}.post_attention_layernorm.weight", "BF16", (hidden,)
        yield f"{here}.self_attn.q_a_layernorm.weight", "BF16", (q_rank,)
        yield f"{here}.self_attn.kv_a_layernorm.weight", "BF16", (kv_rank,)
        if rotary:
            yield f"{here}.self_attn.rotary_emb.inv_freq", "BF16" if kind == "bf16" else "F32", (hidden // heads // 2,)
        yield from matrix(f"{here}.self_attn.q_a_proj", q_rank, hidden, kind, False)
        yield from matrix(f"{here}.self_attn.q_b_proj", heads * (nope + rope), q_rank, kind, False)
        yield from matrix(f"{here}.self_attn.kv_a_proj_with_mqa", kv_rank + rope, hidden, kind, False)
        yield from matrix(f"{here}.self_attn.kv_b_proj", heads * (nope + value), kv_rank, kind, False)
        yield from matrix(f"{here}.self_attn.o_proj", hidden, heads * value, kind, False)
        if layer < config["first_k_dense_replace"]:
            yield from mlp(f"{here}.mlp", hidden, config["intermediate_size"], kind, False)
            continue
        yield f"{here}.mlp.gate.weight", "BF16", (config["n_routed_experts"], hidden)
        yield f"{here}.mlp.gate.e_score_correction_bias", bias, (config["n_routed_experts"],)
        if config["n_shared_experts"]:
            width = config["moe_intermediate_size"] * config["n_shared_experts"]
            yield from mlp(f"{here}.mlp.shared_experts", hidden, width, kind, False)
        for expert in range(config["n_routed_experts"]):
            yield from mlp(f"{here}.mlp.experts.{expert}", hidden, config["moe_intermediate_size"], kind, True)
    yield f"{prefix}model.norm.weight", "BF16", (hidden,)
    yield f"{prefix}lm_head.weight", "BF16", (config["vocab_size"], hidden)


def mlp(here: str, hidden: int, width: int, kind: str, expert: bool) -> Iterator[Tensor]:
    yield from matrix(f"{here}.gate_proj", width, hidden, kind, expert)
    yield from matrix(f"{here}.up_proj", width, hidden, kind, expert)
    yield from matrix(f"{here}.down_proj", hidden, width, kind, expert)


def matrix(here: str, rows: int, columns: int, kind: str, expert: bool) -> Iterator[Tensor]:
    if kind == "fp8":
        yield f"{here}.weight", "F8_E4M3", (rows, columns)
        yield f"{here}.weight_scale_inv", "F32", ((rows + 127) // 128, (columns + 127) // 128)
    elif kind == "int4" and expert:
        yield f"{here}.weight_packed", "I32", (rows, columns // 8)
        yield f"{here}.weight_scale", "BF16", (rows, columns // 32)
        yield f"{here}.weight_shape", "I32", (2,)
    else:
        yield f"{here}.weight", "BF16", (rows, columns)


def size_of(dtype: str, shape: tuple[int, ...]) -> int:
    count = 1
    for side in shape:
        count *= side
    return count * BYTES[dtype]


def write(folder: Path, config: dict, kind: str, shards: int = 3, **how: object) -> int:
    """A whole checkpoint folder; the bytes of its tensors."""
    folder.mkdir(parents=True, exist_ok=True)
    written = dict(config)
    written.pop("quantization_config", None)
    if QUANTIZATION[kind] is not None:
        written["quantization_config"] = QUANTIZATION[kind]
    (folder / "config.json").write_text(json.dumps(written, indent=2))
    (folder / "tokenizer.json").write_text("{}")
    every = list(tensors(config, kind, **how))
    share = -(-len(every) // shards)
    places: dict[str, str] = {}
    total = 0
    for number in range(shards):
        name = f"model-{number + 1:05d}-of-{shards:05d}.safetensors"
        mine = every[number * share : (number + 1) * share]
        total += write_shard(folder / name, mine)
        places.update(dict.fromkeys((tensor for tensor, _, _ in mine), name))
    index = {"metadata": {"total_size": total}, "weight_map": places}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    return total


def write_shard(path: Path, mine: list[Tensor]) -> int:
    header: dict[str, object] = {"__metadata__": {"format": "pt"}}
    end = 0
    for name, dtype, shape in mine:
        begin, end = end, end + size_of(dtype, shape)
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [begin, end]}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        file.truncate(8 + len(text) + end)
    return end


def main() -> None:
    parser = argparse.ArgumentParser(description="Write checkpoints for reading only: true headers, no weights.")
    parser.add_argument("out", type=Path, help="a folder; each kind gets one of its own in it")
    parser.add_argument("--config", type=Path, help="a config.json whose sizes to take; a tiny model without it")
    parser.add_argument("--kind", action="append", choices=KINDS, help="all of them without it")
    parser.add_argument("--shards", type=int, default=3)
    given = parser.parse_args()
    config = json.loads(given.config.read_text()) if given.config else TINY
    config = config.get("text_config", config)
    for kind in given.kind or KINDS:
        total = write(given.out / kind, config, kind, given.shards)
        print(f"{given.out / kind}: {total} bytes of tensors")


if __name__ == "__main__":
    main()
