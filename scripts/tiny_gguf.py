"""kimi-k2-tiny as a GGUF file, for llama-server.

    python scripts/tiny_gguf.py FILE.gguf

Needs the package gguf, in an environment of its own. Names and metadata are those of the architecture
`deepseek2`, as https://github.com/ggml-org/llama.cpp (conversion/deepseek.py) writes them for Kimi-K2. llama.cpp has no
pre-tokenizer that splits as the checkpoint's own does ("smollm" comes nearest: digits one by one), so some words become
other tokens, and the model answers worse than it does from safetensors.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

FOLDER: Final = Path(__file__).parents[1] / "src" / "moonpad" / "catalog" / "kimi-k2-tiny"
OUTSIDE: Final = {"model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output"}
IN_LAYER: Final = {
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
    "self_attn.q_a_proj": "attn_q_a",
    "self_attn.q_a_layernorm": "attn_q_a_norm",
    "self_attn.q_b_proj": "attn_q_b",
    "self_attn.kv_a_proj_with_mqa": "attn_kv_a_mqa",
    "self_attn.kv_a_layernorm": "attn_kv_a_norm",
    "self_attn.o_proj": "attn_output",
    "mlp.gate": "ffn_gate_inp",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
    "mlp.shared_experts.gate_proj": "ffn_gate_shexp",
    "mlp.shared_experts.up_proj": "ffn_up_shexp",
    "mlp.shared_experts.down_proj": "ffn_down_shexp",
}
SIGMOID: Final = 2


def main(path: Path) -> None:
    import gguf
    import numpy

    config = json.loads((FOLDER / "config.json").read_text())
    writer = gguf.GGUFWriter(path, "deepseek2")
    for key, value in metadata(config).items():
        add = {bool: writer.add_bool, int: writer.add_uint32, float: writer.add_float32, str: writer.add_string}
        add[type(value)](key.replace("ARCH", "deepseek2"), value)
    add_tokenizer(writer, gguf.TokenType)
    for name, tensor in tensors(config):
        # Vectors, and the router that picks experts, stay in 32 bits, as llama.cpp requires.
        if tensor.dtype == numpy.float32:
            writer.add_tensor(name, tensor)
        elif tensor.ndim == 1 or "ffn_gate_inp" in name:
            writer.add_tensor(name, (tensor.astype(numpy.uint32) << 16).view(numpy.float32))
        else:
            raw = numpy.ascontiguousarray(tensor).view(numpy.uint8)
            writer.add_tensor(name, raw, raw_dtype=gguf.GGMLQuantizationType.BF16)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def metadata(config: dict[str, Any]) -> dict[str, Any]:
    rope, latent, rotary = config["rope_scaling"], config["kv_lora_rank"], config["qk_rope_head_dim"]
    return {
        "general.name": "kimi-k2-tiny",
        "ARCH.context_length": config["max_position_embeddings"],
        "ARCH.embedding_length": config["hidden_size"],
        "ARCH.block_count": config["num_hidden_layers"],
        "ARCH.feed_forward_length": config["intermediate_size"],
        "ARCH.vocab_size": config["vocab_size"],
        "ARCH.leading_dense_block_count": config["first_k_dense_replace"],
        "ARCH.attention.head_count": config["num_attention_heads"],
        "ARCH.attention.head_count_kv": 1,
        "ARCH.attention.layer_norm_rms_epsilon": config["rms_norm_eps"],
        "ARCH.attention.q_lora_rank": config["q_lora_rank"],
        "ARCH.attention.kv_lora_rank": latent,
        "ARCH.attention.key_length": latent + rotary,
        "ARCH.attention.value_length": latent,
        "ARCH.attention.key_length_mla": config["qk_nope_head_dim"] + rotary,
        "ARCH.attention.value_length_mla": config["v_head_dim"],
        "ARCH.expert_count": config["n_routed_experts"],
        "ARCH.expert_used_count": config["num_experts_per_tok"],
        "ARCH.expert_shared_count": config["n_shared_experts"],
        "ARCH.expert_feed_forward_length": config["moe_intermediate_size"],
        "ARCH.expert_weights_scale": config["routed_scaling_factor"],
        "ARCH.expert_weights_norm": config["norm_topk_prob"],
        "ARCH.expert_gating_func": SIGMOID,
        "ARCH.rope.dimension_count": rotary,
        "ARCH.rope.freq_base": config["rope_theta"],
        "ARCH.rope.scaling.type": "yarn",
        "ARCH.rope.scaling.factor": rope["factor"],
        "ARCH.rope.scaling.original_context_length": rope["original_max_position_embeddings"],
        "ARCH.rope.scaling.yarn_log_multiplier": 0.1 * rope["mscale_all_dim"],
        "ARCH.rope.scaling.yarn_beta_fast": rope["beta_fast"],
        "ARCH.rope.scaling.yarn_beta_slow": rope["beta_slow"],
    }


def add_tokenizer(writer: Any, kinds: Any) -> None:
    document = json.loads((FOLDER / "tokenizer.json").read_text())
    special = {token["id"]: token["special"] for token in document["added_tokens"]}
    words = {**document["model"]["vocab"], **{token["content"]: token["id"] for token in document["added_tokens"]}}
    names = sorted(words, key=words.__getitem__)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(names)
    writer.add_token_types(
        [kinds.CONTROL if special.get(at) else kinds.USER_DEFINED if at in special else kinds.NORMAL
         for at in range(len(names))]
    )  # fmt: skip
    writer.add_token_merges([" ".join(pair) for pair in document["model"]["merges"]])
    writer.add_bos_token_id(words["[BOS]"])
    writer.add_eos_token_id(words["<|im_end|>"])
    writer.add_pad_token_id(words["[PAD]"])
    writer.add_add_bos_token(False)
    writer.add_chat_template(chat_template())


def chat_template() -> str:
    """Without what llama.cpp's own Jinja cannot read: keyword dictionaries, so that ids of other formats stay."""
    text = (FOLDER / "chat_template.jinja").read_text()
    for known, instead in (
        ("{%- set calls.ids = dict(calls.ids, **{given: id}) -%}", ""),
        ("calls.ids.get(message.tool_call_id, message.tool_call_id)", "message.tool_call_id"),
    ):
        if known not in text:
            raise SystemExit(f"the chat template has changed: {known}")
        text = text.replace(known, instead)
    return text


def tensors(config: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Experts of a layer stacked into one tensor; kv_b cut into the two that decoding multiplies by."""
    import numpy

    weights = load(FOLDER / "model.safetensors")
    for name, tensor in weights.items():
        module, _, kind = name.rpartition(".")
        if module in OUTSIDE:
            yield f"{OUTSIDE[module]}.{kind}", tensor
            continue
        layer, _, inner = module.removeprefix("model.layers.").partition(".")
        if kind == "e_score_correction_bias":
            yield f"blk.{layer}.exp_probs_b.bias", tensor
        elif inner == "self_attn.kv_b_proj":
            heads, rows = config["num_attention_heads"], config["qk_nope_head_dim"]
            of_heads = tensor.reshape(heads, -1, tensor.shape[-1])
            yield f"blk.{layer}.attn_k_b.weight", of_heads[:, :rows].transpose(0, 2, 1)
            yield f"blk.{layer}.attn_v_b.weight", of_heads[:, rows:]
        elif inner in IN_LAYER:
            yield f"blk.{layer}.{IN_LAYER[inner]}.{kind}", tensor
    for layer in range(config["first_k_dense_replace"], config["num_hidden_layers"]):
        for matrix in ("gate", "up", "down"):
            experts = [
                weights[f"model.layers.{layer}.mlp.experts.{number}.{matrix}_proj.weight"]
                for number in range(config["n_routed_experts"])
            ]
            yield f"blk.{layer}.ffn_{matrix}_exps.weight", numpy.stack(experts)


def load(path: Path) -> dict[str, Any]:
    """Each tensor of a safetensors file; BF16 as whole numbers of 16 bits, since numpy has no such type."""
    import numpy

    raw = path.read_bytes()
    begin = 8 + int.from_bytes(raw[:8], "little")
    kinds = {"BF16": numpy.uint16, "F32": numpy.float32}
    header = {name: about for name, about in json.loads(raw[8:begin]).items() if name != "__metadata__"}
    return {
        name: numpy.frombuffer(
            raw[begin + about["data_offsets"][0] : begin + about["data_offsets"][1]], kinds[about["dtype"]]
        ).reshape(about["shape"])
        for name, about in header.items()
    }


if __name__ == "__main__":
    main(Path(sys.argv[1]))
