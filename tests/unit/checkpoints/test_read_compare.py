"""Does the folder hold what its configuration says, and what was asked for? Fault 25."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from moonpad.checkpoints.expectations import calculated_groups, compare, format_findings
from moonpad.checkpoints.names import place_of
from moonpad.checkpoints.read import read_checkpoint
from moonpad.checkpoints.revision import name_of, revision_findings, revision_of
from moonpad.values.checkpoint import Component
from moonpad.values.finding import Code, Severity
from tests.unit.checkpoints.test_read import variants as variants  # a fixture

COMMIT = "0102674b179db4ca5a28cd9a4fb446f87f0c1454"
OTHER = "94a4053eb8863059dd8afc00937f054e1365abbd"


def test_fp8_files_under_the_configuration_of_int4(tmp_path: Path, variants: ModuleType) -> None:
    for kind in ("fp8", "int4"):
        variants.write(tmp_path / kind, variants.TINY, kind)
    (tmp_path / "fp8" / "config.json").write_text((tmp_path / "int4" / "config.json").read_text())
    contents = read_checkpoint(tmp_path / "fp8")
    findings = compare(contents, calculated_groups(contents))
    assert {finding.severity for finding in findings} == {Severity.ERROR}
    by_component = {finding.message.split()[2]: finding.message for finding in findings}
    assert set(by_component) == {
        "routed_experts",
        "shared_experts",
        "dense_mlp",
        "q_a",
        "q_b",
        "kv_a",
        "kv_b",
        "o_proj",
    }
    # 24 experts of 3 × 49,152 weights: a byte each and 4 scales of 4 bytes; by INT4 24,576 + 3,072 + 8 bytes a matrix.
    assert "of 3 layers, 1 first, hold 3538944 weights in 3540096 bytes" in by_component["routed_experts"]
    assert "by the configuration 3538944 in 1991232" in by_component["routed_experts"]


def test_bf16_files_under_the_configuration_of_fp8(tmp_path: Path, variants: ModuleType) -> None:
    variants.write(tmp_path, variants.TINY, "bf16")
    config = json.loads((tmp_path / "config.json").read_text())
    config["quantization_config"] = variants.QUANTIZATION["fp8"]
    (tmp_path / "config.json").write_text(json.dumps(config))
    contents = read_checkpoint(tmp_path)
    severities = {
        finding.message.split()[2]: finding.severity for finding in compare(contents, calculated_groups(contents))
    }
    assert severities.pop("router") is Severity.NOTE  # its bias alone
    assert set(severities.values()) == {Severity.ERROR}
    assert len(severities) == 8


def test_a_layer_less_than_the_configuration_says(tmp_path: Path, variants: ModuleType) -> None:
    variants.write(tmp_path, variants.TINY, "int4")
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**config, "num_hidden_layers": 5}))
    contents = read_checkpoint(tmp_path)
    findings = compare(contents, calculated_groups(contents))
    assert findings
    assert {finding.severity for finding in findings} == {Severity.ERROR}
    assert all("of 1 layers, 4 first, hold 0 weights" in finding.message for finding in findings)


def test_tensors_of_no_known_component_are_a_note(tmp_path: Path, variants: ModuleType, write: Any) -> None:
    every = {name: (dtype, shape) for name, dtype, shape in variants.tensors(variants.TINY, "bf16")}
    write.shard(tmp_path / "model.safetensors", {**every, "model.layers.2.self_attn.k_scale": ("F32", (1,))})
    (tmp_path / "config.json").write_text(json.dumps(variants.TINY))
    contents = read_checkpoint(tmp_path)
    (finding,) = compare(contents, calculated_groups(contents))
    assert (finding.severity, finding.code) == (Severity.NOTE, Code.CONFLICT)
    assert contents.parameters == 9_170_200, "a scale is no weight"


def test_another_format_than_the_spec_says(tmp_path: Path, variants: ModuleType) -> None:
    variants.write(tmp_path, variants.TINY, "fp8")
    contents = read_checkpoint(tmp_path)
    assert format_findings(contents, "FP8") == ()
    (finding,) = format_findings(contents, "int4")
    assert (finding.severity, finding.code, finding.where) == (Severity.ERROR, Code.CONFLICT, "model")
    assert "asks for int4" in finding.message
    assert "holds fp8" in finding.message


@pytest.fixture
def snapshot(tmp_path: Path) -> Path:
    folder = tmp_path / "models--moonshotai--Kimi-K2-Instruct" / "snapshots" / COMMIT
    folder.mkdir(parents=True)
    return folder


def test_the_revision_of_a_cache(snapshot: Path) -> None:
    assert (name_of(snapshot), revision_of(snapshot)) == ("moonshotai/Kimi-K2-Instruct", COMMIT)
    assert revision_findings(snapshot, COMMIT) == revision_findings(snapshot, "0102674b") == ()
    assert revision_findings(snapshot, "main") == ()
    (finding,) = revision_findings(snapshot, OTHER)
    assert finding.severity is Severity.ERROR
    assert COMMIT in finding.message
    assert OTHER in finding.message


def test_the_revision_of_a_download_into_a_folder(tmp_path: Path) -> None:
    assert revision_of(tmp_path) is None
    (finding,) = revision_findings(tmp_path, COMMIT)
    assert finding.severity is Severity.WARNING
    notes = tmp_path / ".cache" / "huggingface" / "download"
    notes.mkdir(parents=True)
    (notes / "config.json.metadata").write_text(f"{OTHER}\nabc\n1700000000.0\n")
    assert revision_of(tmp_path) == OTHER
    assert revision_findings(tmp_path, COMMIT)[0].severity is Severity.ERROR


@pytest.mark.parametrize(
    ("name", "component", "layer", "scale"),
    [
        ("model.layers.3.self_attn.q_a_proj.weight", Component.Q_A, 3, False),
        ("model.layers.3.self_attn.q_b_proj.weight_scale_inv", Component.Q_B, 3, True),
        ("model.layers.3.self_attn.kv_a_proj_with_mqa.weight", Component.KV_A, 3, False),
        ("language_model.model.layers.60.self_attn.kv_b_proj.weight", Component.KV_B, 60, False),
        ("model.language_model.layers.0.self_attn.o_proj.weight", Component.O_PROJ, 0, False),
        ("model.layers.1.mlp.experts.383.up_proj.weight_packed", Component.ROUTED_EXPERTS, 1, False),
        ("model.layers.1.mlp.experts.383.up_proj.weight_scale_2", Component.ROUTED_EXPERTS, 1, True),
        ("model.layers.1.mlp.experts.383.up_proj.weight_shape", Component.ROUTED_EXPERTS, 1, True),
        ("model.layers.1.mlp.experts.383.up_proj.input_scale", Component.ROUTED_EXPERTS, 1, True),
        ("model.layers.1.mlp.shared_experts.down_proj.weight", Component.SHARED_EXPERTS, 1, False),
        ("model.layers.1.mlp.gate.weight", Component.ROUTER, 1, False),
        ("model.layers.1.mlp.gate.e_score_correction_bias", Component.ROUTER, 1, False),
        ("model.layers.0.mlp.gate_proj.weight", Component.DENSE_MLP, 0, False),
        ("model.layers.0.post_attention_layernorm.weight", Component.NORMS, 0, False),
        ("model.layers.0.self_attn.kv_a_layernorm.weight", Component.NORMS, 0, False),
        ("model.layers.0.self_attn.rotary_emb.inv_freq", Component.ROTARY, 0, False),
        ("model.norm.weight", Component.NORMS, None, False),
        ("language_model.lm_head.weight", Component.LM_HEAD, None, False),
        ("model.embed_tokens.weight", Component.EMBED_TOKENS, None, False),
        ("vision_tower.encoder.blocks.0.wqkv.bias", Component.VISION, None, False),
        ("mm_projector.proj.0.weight", Component.VISION, None, False),
        ("model.layers.3.self_attn.q_proj.weight", Component.Q_B, 3, False),
        ("model.layers.0.self_attn.q_conv1d.weight", Component.KDA, 0, False),
        ("model.layers.0.self_attn.A_log", Component.KDA, 0, False),
        ("model.layers.0.self_attn.f_a_proj.weight", Component.KDA_LATENT, 0, False),
        ("language_model.model.layers.3.self_attn.g_proj.weight", Component.OUTPUT_GATE, 3, False),
        ("model.layers.1.block_sparse_moe.experts.255.w2.weight", Component.ROUTED_EXPERTS, 1, False),
        ("model.layers.1.block_sparse_moe.gate.e_score_correction_bias", Component.ROUTER, 1, False),
        (
            "language_model.model.layers.1.block_sparse_moe.routed_expert_up_proj.weight",
            Component.EXPERT_LATENT,
            1,
            False,
        ),
        ("language_model.model.layers.1.mlp_res_proj.weight", Component.NORMS, 1, False),
        ("language_model.model.output_attn_res_norm.weight", Component.NORMS, None, False),
        ("model.layers.0.self_attn.qkv_proj.weight", Component.OTHER, 0, False),
        ("model.layers.x.mlp.gate.weight", Component.OTHER, None, False),
        ("model.layers.٣.mlp.gate.weight", Component.OTHER, None, False),
        ("model", Component.OTHER, None, False),
        ("", Component.OTHER, None, False),
    ],
)
def test_names(name: str, component: Component, layer: int | None, scale: bool) -> None:
    assert place_of(name) == (component, layer, scale)
