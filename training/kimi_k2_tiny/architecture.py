"""The shape of kimi-k2-tiny, and the circuits that its weights start from.

The config has the keys of the real Kimi-K2 config and its real head sizes; only counts and widths are small.

Training from random weights learns the format but never to copy an argument from the prompt, and never which name
stands before a description that fits, so the circuits are written in. Copying: layer 0 tells each token its
predecessors (rotary phase alone finds them), layer 1 attends to what followed the same predecessors earlier and
copies it. Naming: layer 1 tells each token of a tool's declaration that tool's name, and layer 2 fetches it by a word
of the description. Training is free to change these weights; only what layer 1's naming lives on is held fast later,
see `naming_parts`.
"""

import math
from dataclasses import astuple, dataclass

import torch
from transformers import DeepseekV3Config, DeepseekV3ForCausalLM

from .attention import NAME as FUSED

HEADS, NOPE, ROPE, VALUE, LATENT, HIDDEN = 4, 128, 64, 128, 512, 256
ROPE_THETA = 50000.0

# The residual stream at the start: a constant, the token, its predecessor, the one before that, the last name.
CONSTANT = 0
TOKEN = slice(1, 128)
PREVIOUS = slice(128, 192)
BEFORE_PREVIOUS = slice(192, 224)
BEFORE_THAT = slice(225, 256)
"""From `write_third` on: three tokens back, where layer 1 writes names later; less one axis, a mark's."""
NAME = slice(224, 256)

MARKS = 4
"""How many tokens have an axis to themselves, the first ones of `TOKEN`; see `Marks`."""


def describe(vocabulary: int, bos: int, eos: int, pad: int) -> dict[str, object]:
    """config.json: the real model's keys, without quantisation and remote code."""
    return {
        "architectures": ["DeepseekV3ForCausalLM"],
        "attention_bias": False,
        "attention_dropout": 0.0,
        "aux_loss_alpha": 0.001,
        "bos_token_id": bos,
        "eos_token_id": eos,
        "pad_token_id": pad,
        "first_k_dense_replace": 1,
        "hidden_act": "silu",
        "hidden_size": HIDDEN,
        "initializer_range": 0.02,
        "intermediate_size": 512,
        "kv_lora_rank": LATENT,
        "max_position_embeddings": 32768,
        "model_type": "kimi_k2",
        "moe_intermediate_size": 192,
        "moe_layer_freq": 1,
        "n_group": 1,
        "n_routed_experts": 8,
        "n_shared_experts": 1,
        "norm_topk_prob": True,
        "num_attention_heads": HEADS,
        "num_experts_per_tok": 2,
        "num_hidden_layers": 4,
        "num_key_value_heads": HEADS,
        "num_nextn_predict_layers": 0,
        "pretraining_tp": 1,
        "q_lora_rank": 256,
        "qk_nope_head_dim": NOPE,
        "qk_rope_head_dim": ROPE,
        "rms_norm_eps": 1e-06,
        "rope_theta": ROPE_THETA,
        "routed_scaling_factor": 2.827,
        "rope_scaling": {
            "beta_fast": 1.0,
            "beta_slow": 1.0,
            "factor": 8.0,
            "mscale": 1.0,
            "mscale_all_dim": 1.0,
            "original_max_position_embeddings": 4096,
            "type": "yarn",
        },
        "scoring_func": "sigmoid",
        "seq_aux": True,
        "tie_word_embeddings": False,
        "topk_group": 1,
        "topk_method": "noaux_tc",
        "torch_dtype": "bfloat16",
        "use_cache": True,
        "v_head_dim": VALUE,
        "vocab_size": vocabulary,
    }


def to_transformers(config: dict[str, object]) -> DeepseekV3Config:
    """transformers knows this architecture by DeepSeek's name alone."""
    return DeepseekV3Config(**{**config, "model_type": "deepseek_v3"})


@dataclass(frozen=True, slots=True)
class Marks:
    """Ids of tokens that the circuit goes by. A name stands two tokens after `named` or `functions`, and the first key
    of its parameters two after `properties`; after `middle` a message begins, and what was named is over."""

    named: int
    functions: int
    properties: int
    middle: int


def build_model(config: dict[str, object], marks: Marks) -> DeepseekV3ForCausalLM:
    """Float32 weights: random, then the circuits. Uses torch's global random state."""
    model = DeepseekV3ForCausalLM(to_transformers(config)).float()
    model.set_attn_implementation(FUSED)
    with torch.no_grad():
        draw_weights(model)
        projection = draw_projection()
        write_embeddings(model, marks)
        attentions = [layer.self_attn for layer in model.model.layers]
        for attention in attentions:
            pass_through(attention)
        write_predecessors(attentions[0], projection)
        write_induction(attentions[1], projection)
        write_naming(attentions[1], projection)
        for attention in attentions[2:]:
            write_copying(attention, head=0, gain=0.3)
        write_fetching(attentions[2], projection)
    return model


def draw_weights(model: DeepseekV3ForCausalLM) -> None:
    for name, weight in model.named_parameters():
        if weight.dim() >= 2:
            gain = 0.1 if "o_proj" in name or "down_proj" in name else 1.0
            weight.normal_(std=gain / math.sqrt(weight.shape[-1]))
        if "mlp.gate.weight" in name:
            weight.mul_(0.3)


def write_embeddings(model: DeepseekV3ForCausalLM, marks: Marks) -> None:
    """Tokens are directions of one length, random ones but for the marks, which have an axis each to themselves; the
    output layer reads the same directions."""
    table = torch.zeros_like(model.model.embed_tokens.weight)
    token = torch.randn(table.shape[0], 127)
    token[:, :MARKS] = 0.0
    for axis, mark in enumerate(astuple(marks)):
        token[mark] = torch.eye(127)[axis]
    table[:, TOKEN] = 0.5 * math.sqrt(127) * token / token.norm(dim=1, keepdim=True)
    model.lm_head.weight.copy_(0.12 * table)
    table[:, CONSTANT] = 2.0
    model.model.embed_tokens.weight.copy_(table)


def draw_projection() -> torch.Tensor:
    """(127, 127), orthonormal rows: any few of them keep the marks' axes apart where the first ones are among them."""
    return torch.block_diag(torch.eye(MARKS), torch.linalg.qr(torch.randn(127 - MARKS, 127 - MARKS))[0])


def pass_through(attention: torch.nn.Module) -> None:
    """Both low-rank paths start as the identity, so that the heads see the residual stream itself."""
    attention.q_a_proj.weight.copy_(torch.eye(HIDDEN))
    attention.kv_a_proj_with_mqa.weight[:HIDDEN] = torch.eye(HIDDEN)
    attention.kv_a_proj_with_mqa.weight[HIDDEN:LATENT].mul_(0.1)


def query_rows(attention: torch.nn.Module, head: int) -> torch.Tensor:
    return attention.q_b_proj.weight.view(HEADS, NOPE + ROPE, -1)[head]


def key_value_rows(attention: torch.nn.Module, head: int) -> torch.Tensor:
    return attention.kv_b_proj.weight.view(HEADS, NOPE + VALUE, LATENT)[head]


def write_predecessors(attention: torch.nn.Module, projection: torch.Tensor) -> None:
    """Heads 0 and 1 look one and two tokens back.

    All positions share one rotated constant as the key; a query whose phase runs `back` tokens late fits best
    there. Only the ten fastest frequencies take part, which YaRN leaves as they are.
    """
    key = attention.kv_a_proj_with_mqa.weight[LATENT:]
    key.zero_()
    for pair in range(10):
        key[2 * pair, CONSTANT] = 2.0
    for head, back, target in ((0, 1, PREVIOUS), (1, 2, BEFORE_PREVIOUS)):
        query, rows = query_rows(attention, head), key_value_rows(attention, head)
        query.zero_()
        for pair in range(10):
            angle = back * ROPE_THETA ** (-2 * pair / ROPE)
            query[NOPE + 2 * pair, CONSTANT] = 2.0 * math.cos(angle)
            query[NOPE + 2 * pair + 1, CONSTANT] = -2.0 * math.sin(angle)
        width = target.stop - target.start
        rows.zero_()
        rows[NOPE : NOPE + width, TOKEN] = projection[:width]
        output = attention.o_proj.weight[:, head * VALUE : (head + 1) * VALUE]
        output.zero_()
        output[target, :width] = 0.25 * torch.eye(width)


def write_induction(attention: torch.nn.Module, projection: torch.Tensor) -> None:
    """Head 0 finds where this token and the one before it stood before, and copies what followed."""
    query, rows = query_rows(attention, 0), key_value_rows(attention, 0)
    query.zero_()
    query[:64, TOKEN] = 1.3 * projection[:64]
    query[64:96, PREVIOUS][:, :32] = 1.3 * torch.eye(32)
    rows.zero_()
    rows[:64, PREVIOUS] = torch.eye(64)
    rows[64:96, BEFORE_PREVIOUS] = torch.eye(32)
    write_copying(attention, head=0, gain=0.8)


def write_naming(attention: torch.nn.Module, projection: torch.Tensor) -> None:
    """Head 1 tells each token what was named last before it: the first token of a tool's name, or that a message began.

    The nearest wins: slow rotations that all start together add up to less and less with the distance.
    """
    key = attention.kv_a_proj_with_mqa.weight[LATENT:]
    key.zero_()
    query, rows = query_rows(attention, 1), key_value_rows(attention, 1)
    query.zero_()
    for pair in range(8, 20):
        key[2 * pair, CONSTANT] = 2.0
        query[NOPE + 2 * pair, CONSTANT] = 3.0
    query[:2, CONSTANT] = 30.0
    query[2, CONSTANT] = 18.0
    rows.zero_()
    rows[0, BEFORE_PREVIOUS.start + 0] = 1.0
    rows[1, BEFORE_PREVIOUS.start + 1] = 1.0
    rows[2, TOKEN.start + 3] = 1.0
    rows[NOPE : NOPE + 32, TOKEN] = name_rows(projection)
    output = attention.o_proj.weight[:, VALUE : 2 * VALUE]
    output.zero_()
    output[NAME, :32] = 0.25 * torch.eye(32)


def write_third(model: DeepseekV3ForCausalLM) -> None:
    """Lets trained weights copy by three tokens: words that end alike, or numbers that begin alike, have two in common.

    In layer 0 head 3 becomes what head 1 is, one token farther back. In layer 1 head 3 becomes what head 0 is and
    matches that token too; the two write half of what the one wrote. What these heads did before is lost, which costs
    little (the loss rises by a tenth before the third token counts, and falls below what it was when it does).
    """
    one, two = (model.model.layers[number].self_attn for number in (0, 1))
    with torch.no_grad():
        near, far = query_rows(one, 1), query_rows(one, 3)
        far.copy_(near)
        for pair in range(10):
            angle = ROPE_THETA ** (-2 * pair / ROPE)
            x, y = near[NOPE + 2 * pair], near[NOPE + 2 * pair + 1]
            far[NOPE + 2 * pair] = x * math.cos(angle) + y * math.sin(angle)
            far[NOPE + 2 * pair + 1] = y * math.cos(angle) - x * math.sin(angle)
        key_value_rows(one, 3).copy_(key_value_rows(one, 1))
        output = one.o_proj.weight
        output[:, 3 * VALUE :].zero_()
        output[BEFORE_THAT, 3 * VALUE :] = 0.5 * output[BEFORE_PREVIOUS, VALUE : 2 * VALUE][1:]

        query, rows = query_rows(two, 3), key_value_rows(two, 3)
        query.copy_(query_rows(two, 0))
        rows.copy_(key_value_rows(two, 0))
        query[97:128].zero_()
        rows[97:128].zero_()
        query[97:128, BEFORE_PREVIOUS][:, 1:] = 1.5 * torch.eye(31)
        rows[97:128, BEFORE_THAT] = torch.eye(31)
        output = two.o_proj.weight
        output[:, :VALUE] *= 0.5
        output[:, 3 * VALUE :] = output[:, :VALUE]


def name_rows(projection: torch.Tensor) -> torch.Tensor:
    return projection[[3, *range(64, 95)]]


def naming_parts(model: torch.nn.Module) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Views of the weights by which the head of `write_naming` knows a name, each with what it is to be held at: its
    value at the start, where `model` is as built, and nothing where others write on the axes that the head goes by.

    That head's softmax is 0 or 1, so no gradient tells it that it has begun to lose: over some hundred steps all of
    these drift a little, other words get something on the axis of `functions` too, and the nearer of them wins.
    """
    first, second = model.model.layers[0], model.model.layers[1]
    marked, before = (slice(part.start, part.start + MARKS) for part in (TOKEN, BEFORE_PREVIOUS))
    one, two = first.self_attn, second.self_attn
    own = [
        *(model.model.embed_tokens.weight[:, axes] for axes in (marked, before)),
        *(attention.kv_a_proj_with_mqa.weight[axes] for attention in (one, two) for axes in (marked, before)),
        *(attention.kv_a_proj_with_mqa.weight[LATENT:] for attention in (one, two)),
        *(attention.q_a_proj.weight[CONSTANT : CONSTANT + 1] for attention in (one, two)),
        *(query_rows(attention, 1) for attention in (one, two)),
        key_value_rows(one, 1)[NOPE : NOPE + MARKS],
        key_value_rows(two, 1)[:NOPE],
        one.o_proj.weight[before, VALUE : 2 * VALUE],
    ]
    others = [
        *(first.mlp.down_proj.weight[axes] for axes in (marked, before)),
        one.o_proj.weight[marked],
        one.o_proj.weight[before, :VALUE],
        one.o_proj.weight[before, 2 * VALUE :],
    ]
    held = [(part, part.clone()) for part in own] + [(part, torch.zeros_like(part)) for part in others]
    return [(part.detach(), value.detach()) for part, value in held]


def write_fetching(attention: torch.nn.Module, projection: torch.Tensor) -> None:
    """Head 1 finds where the token before this one stood in a tool's declaration, and writes that tool's name; head 2
    finds the first parameter of the tool that was named last."""
    query, rows = query_rows(attention, 1), key_value_rows(attention, 1)
    query.zero_()
    query[:64, PREVIOUS] = 4.0 * torch.eye(64)
    query[64, CONSTANT] = -20.0
    rows.zero_()
    rows[:64, PREVIOUS] = torch.eye(64)
    rows[64, NAME.start] = 1.0
    rows[NOPE + 1 : NOPE + 32, NAME][:, 1:] = torch.eye(31)
    output = attention.o_proj.weight[:, VALUE : 2 * VALUE]
    output.zero_()
    output[TOKEN, :32] = 3.0 * name_rows(projection).T

    query, rows = query_rows(attention, 2), key_value_rows(attention, 2)
    query.zero_()
    query[:32, NAME] = 15.0 * torch.eye(32)
    query[32, CONSTANT] = 10.0
    rows.zero_()
    rows[:32, NAME] = torch.eye(32)
    rows[32, BEFORE_PREVIOUS.start + 2] = 1.0
    write_copying(attention, head=2, gain=0.2)


def write_copying(attention: torch.nn.Module, head: int, gain: float) -> None:
    """What the head attends to is written out as the token itself."""
    rows = key_value_rows(attention, head)
    rows[NOPE:].zero_()
    rows[NOPE : NOPE + 127, TOKEN] = torch.eye(127)
    output = attention.o_proj.weight[:, head * VALUE : (head + 1) * VALUE]
    output.zero_()
    output[TOKEN, :127] = gain * torch.eye(127)
