"""A folder as a Checkpoint. The oracle is scripts/tiny_variants.py, which writes names and shapes without moonpad.

Faults 20 to 22 (through the reader), 25 and 58.
"""

from __future__ import annotations

import importlib.util
import json
import shutil
import struct
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from moonpad.catalog.embedded import embedded_checkpoint
from moonpad.checkpoints.expectations import calculated_groups, compare
from moonpad.checkpoints.read import read_checkpoint
from moonpad.values.checkpoint import Checkpoint, Component, Sharding
from moonpad.values.errors import CheckpointError
from moonpad.values.finding import Code
from tests.unit.plan.known import bytes_by_component

CONFIGS = Path(__file__).parent / "configs"
ROOT = Path(__file__).resolve().parents[3]
TINY_PARAMETERS = 9_170_200
"""Counted by hand from config.json, as the card of kimi-k2-tiny says."""


@pytest.fixture(scope="session")
def variants() -> ModuleType:
    spec = importlib.util.spec_from_file_location("tiny_variants", ROOT / "scripts" / "tiny_variants.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def counted(variants: ModuleType, kind: str, **how: Any) -> tuple[int, int]:
    """(bytes, tensors) of the tiny variant, from the script's own list."""
    every = list(variants.tensors(variants.TINY, kind, **how))
    return sum(variants.size_of(dtype, shape) for _, dtype, shape in every), len(every)


def same(checkpoint: Checkpoint) -> None:
    """Every group that is calculated is in the headers and the other way round, to the byte."""
    calculated = calculated_groups(checkpoint)
    assert set(calculated) == set(checkpoint.groups)
    assert len(set(calculated)) == len(calculated) == len(checkpoint.groups)
    assert compare(checkpoint, calculated) == ()


def test_the_checkpoint_that_comes_with_moonpad() -> None:
    folder = embedded_checkpoint("kimi-k2-tiny")
    assert folder is not None
    contents = read_checkpoint(folder)
    assert (contents.name, contents.quantization.scheme, contents.parameters, contents.tensors) == (
        "kimi-k2-tiny",
        "bf16",
        TINY_PARAMETERS,
        129,
    )
    header_bytes = struct.unpack("<Q", (folder / "model.safetensors").read_bytes()[:8])[0]
    assert (
        contents.total_bytes == (folder / "model.safetensors").stat().st_size - 8 - header_bytes == 2 * TINY_PARAMETERS
    )
    same(contents)


@pytest.mark.parametrize(
    ("kind", "how"),
    [
        ("bf16", {}),
        ("int4", {}),
        ("fp8", {}),
        ("int4", {"rotary": False}),
        ("fp8", {"rotary": False}),
        ("bf16", {"rotary": True}),
    ],
)
def test_variants(tmp_path: Path, variants: ModuleType, kind: str, how: dict[str, Any]) -> None:
    variants.write(tmp_path, variants.TINY, kind, **how)
    contents = read_checkpoint(tmp_path)
    assert (contents.total_bytes, contents.tensors) == counted(variants, kind, **how)
    assert contents.quantization.scheme == kind
    rotary = 4 * 32 if how.get("rotary", kind != "bf16") else 0
    assert contents.parameters == TINY_PARAMETERS + rotary
    assert "headers of 3 files" in contents.source
    same(contents)


def test_components_of_int4_by_hand(tmp_path: Path, variants: ModuleType) -> None:
    """24 experts of 3 matrices of 192 × 256: half a byte a weight, two bytes for each 32, eight for the shape."""
    variants.write(tmp_path, variants.TINY, "int4")
    size_by_component = bytes_by_component(read_checkpoint(tmp_path).groups)
    assert size_by_component[Component.ROUTED_EXPERTS] == 24 * 3 * (192 * 256 // 2 + 192 * 256 // 32 * 2 + 8)
    assert size_by_component[Component.ROUTER] == 3 * (8 * 256 * 2 + 8 * 4)
    assert size_by_component[Component.NORMS] == (4 * (2 * 256 + 256 + 512) + 256) * 2
    assert size_by_component[Component.EMBED_TOKENS] == size_by_component[Component.LM_HEAD] == 1024 * 256 * 2


@pytest.mark.parametrize(
    ("config", "kind", "shards", "total_bytes", "tensors"),
    [
        ("moonshotai--Kimi-K2-Instruct", "fp8", 61, 1_029_173_263_552, 139_644),
        ("moonshotai--Kimi-K2.5", "int4", 62, 594_205_918_560, 208_276),
    ],
)
def test_a_whole_k2_by_its_published_counts(
    tmp_path: Path, variants: ModuleType, config: str, kind: str, shards: int, total_bytes: int, tensors: int
) -> None:
    """The files have their true length and hold nothing: only headers are read."""
    document = json.loads((CONFIGS / f"{config}_config.json").read_text())
    variants.write(tmp_path, document.get("text_config", document), kind, shards)
    contents = read_checkpoint(tmp_path)
    shutil.rmtree(tmp_path)
    assert (contents.total_bytes, contents.tensors, contents.parameters) == (total_bytes, tensors, 1_026_408_235_864)
    assert f"{shards} files" in contents.source
    same(contents)


def test_a_multimodal_one(tmp_path: Path, variants: ModuleType, write: Any) -> None:
    """`language_model.` before the names, the sizes under text_config, a vision tower beside it."""
    variants.write(tmp_path, variants.TINY, "int4", shards=1, prefix="language_model.")
    text = json.loads((tmp_path / "config.json").read_text())
    vision = {
        "vt_hidden_size": 16,
        "vt_intermediate_size": 24,
        "vt_num_hidden_layers": 2,
        "patch_size": 14,
        "init_pos_emb_height": 4,
        "init_pos_emb_width": 4,
        "merge_kernel_size": [2, 2],
        "mm_hidden_size": 16,
        "text_hidden_size": 256,
    }
    config = {"model_type": "kimi_k25", "dtype": "bfloat16", "text_config": text, "vision_config": vision}
    (tmp_path / "config.json").write_text(json.dumps({**config, "architectures": ["KimiK25ForConditionalGeneration"]}))
    shapes = dict(moonvit(16, 24, 2, 256))
    write.shard(tmp_path / "model-00002-of-00002.safetensors", shapes)
    (tmp_path / "model-00001-of-00001.safetensors").rename(tmp_path / "model-00001-of-00002.safetensors")
    (tmp_path / "model.safetensors.index.json").unlink()
    places = dict.fromkeys(shapes, "model-00002-of-00002.safetensors")
    for name, _, _ in variants.tensors(variants.TINY, "int4", prefix="language_model."):
        places[name] = "model-00001-of-00002.safetensors"
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": places}))
    contents = read_checkpoint(tmp_path)
    vision_groups = [group for group in contents.groups if group.component is Component.VISION]
    assert [(group.tensors, group.sharding, group.before) for group in vision_groups] == [
        (len(shapes), Sharding.REPLICATED, True)
    ]
    assert contents.architecture.vision_parameters == vision_groups[0].parameters
    assert contents.total_bytes == counted(variants, "int4")[0] + 2 * contents.architecture.vision_parameters
    assert compare(contents, calculated_groups(contents)) == ()


def moonvit(width: int, inner: int, layers: int, text_width: int) -> Any:
    """Names and shapes of modeling_kimi_k25.py, for patches of 14, a grid of 4 × 4 and merging by 2 × 2."""

    def linear(name: str, inputs: int, outputs: int) -> Any:
        yield f"{name}.weight", ("BF16", (outputs, inputs))
        yield f"{name}.bias", ("BF16", (outputs,))

    def norm(name: str) -> Any:
        yield f"{name}.weight", ("BF16", (width,))
        yield f"{name}.bias", ("BF16", (width,))

    yield "vision_tower.patch_embed.proj.weight", ("BF16", (width, 3, 14, 14))
    yield "vision_tower.patch_embed.proj.bias", ("BF16", (width,))
    yield "vision_tower.patch_embed.pos_emb.weight", ("BF16", (4, 4, width))
    for layer in range(layers):
        here = f"vision_tower.encoder.blocks.{layer}"
        yield from norm(f"{here}.norm0")
        yield from norm(f"{here}.norm1")
        yield from linear(f"{here}.wqkv", width, 3 * width)
        yield from linear(f"{here}.wo", width, width)
        yield from linear(f"{here}.mlp.fc0", width, inner)
        yield from linear(f"{here}.mlp.fc1", inner, width)
    yield from norm("vision_tower.encoder.final_layernorm")
    yield from norm("mm_projector.pre_norm")
    yield from linear("mm_projector.proj.0", 4 * width, 4 * width)
    yield from linear("mm_projector.proj.2", 4 * width, text_width)


def test_only_a_configuration(tmp_path: Path, variants: ModuleType) -> None:
    """The weights are elsewhere: calculated. What a configuration does not say are the rotary tables."""
    for kind in variants.KINDS:
        folder = tmp_path / kind
        variants.write(folder, variants.TINY, kind, rotary=False)
        for file in (*folder.glob("*.safetensors"), folder / "model.safetensors.index.json"):
            file.unlink()
        contents = read_checkpoint(folder)
        assert (contents.total_bytes, contents.tensors) == counted(variants, kind, rotary=False)
        assert "calculated from config.json" in contents.source


def test_some_layers_quantised_and_not_others(tmp_path: Path, variants: ModuleType) -> None:
    variants.write(tmp_path, variants.TINY, "fp8")
    path = tmp_path / "config.json"
    config = json.loads(path.read_text())
    config["quantization_config"]["modules_to_not_convert"] = ["model.layers.3.self_attn.o_proj"]
    path.write_text(json.dumps(config))
    assert read_checkpoint(tmp_path).total_bytes == counted(variants, "fp8")[0]
    for file in tmp_path.glob("*.safetensors"):
        file.unlink()
    with pytest.raises(CheckpointError, match="quantises o_proj in some layers"):
        read_checkpoint(tmp_path)


def test_a_missing_shard_is_refused(tmp_path: Path, variants: ModuleType) -> None:
    variants.write(tmp_path, variants.TINY, "int4")
    (tmp_path / "model-00002-of-00003.safetensors").unlink()
    with pytest.raises(CheckpointError, match="is incomplete or damaged") as caught:
        read_checkpoint(tmp_path)
    assert [finding.where for finding in caught.value.findings] == ["model-00002-of-00003.safetensors", "weights"]
    assert "1 of 3 files are missing" in caught.value.findings[1].message


def test_a_shard_that_is_cut_short_is_refused(tmp_path: Path, variants: ModuleType) -> None:
    variants.write(tmp_path, variants.TINY, "int4")
    shard = tmp_path / "model-00001-of-00003.safetensors"
    with shard.open("r+b") as file:
        file.truncate(shard.stat().st_size - 1)
    with pytest.raises(CheckpointError, match="is incomplete or damaged") as caught:
        read_checkpoint(tmp_path)
    assert "is 1 bytes short of" in caught.value.findings[0].message


@pytest.mark.parametrize("header", [b"\xff" * 8, struct.pack("<Q", 2**62), b"", struct.pack("<Q", 4) + b"{}xx"])
def test_a_hostile_header_is_refused(tmp_path: Path, variants: ModuleType, header: bytes) -> None:
    variants.write(tmp_path, variants.TINY, "bf16")
    (tmp_path / "model-00002-of-00003.safetensors").write_bytes(header)
    with pytest.raises(CheckpointError, match="is incomplete or damaged"):
        read_checkpoint(tmp_path)


def test_no_folder_and_no_configuration(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="there is no folder") as caught:
        read_checkpoint(tmp_path / "none")
    assert caught.value.findings[0].code is Code.CHECKPOINT_MISSING
    with pytest.raises(CheckpointError, match=r"has no config\.json"):
        read_checkpoint(tmp_path)
    (tmp_path / "config.json").write_text('{"model_type": "kimi_audio"}')
    with pytest.raises(CheckpointError, match=r"config\.json in .*: its attention is not modelled"):
        read_checkpoint(tmp_path)
    (tmp_path / "config.json").write_text("[")
    with pytest.raises(CheckpointError, match="is not JSON"):
        read_checkpoint(tmp_path)


def test_a_tokenizer_is_not_needed_to_read(tmp_path: Path, variants: ModuleType) -> None:
    variants.write(tmp_path, variants.TINY, "bf16")
    (tmp_path / "tokenizer.json").unlink()
    assert read_checkpoint(tmp_path).parameters == TINY_PARAMETERS


def test_layers_behind_the_last_one_are_not_loaded(tmp_path: Path, variants: ModuleType, write: Any) -> None:
    """DeepSeek-V3 keeps its layer of multi-token prediction there."""
    variants.write(tmp_path, variants.TINY, "bf16", shards=1)
    (tmp_path / "model.safetensors.index.json").unlink()
    (tmp_path / "model-00001-of-00001.safetensors").rename(tmp_path / "a.safetensors")
    write.shard(tmp_path / "model.safetensors", {"model.layers.4.eh_proj.weight": ("BF16", (256, 512))})
    (tmp_path / "model.safetensors").rename(tmp_path / "b.safetensors")
    names = dict.fromkeys((name for name, _, _ in variants.tensors(variants.TINY, "bf16")), "a.safetensors")
    names["model.layers.4.eh_proj.weight"] = "b.safetensors"
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": names}))
    contents = read_checkpoint(tmp_path)
    (behind,) = [group for group in contents.groups if group.component is Component.OTHER]
    assert (behind.layer, behind.size_bytes, behind.sharding) == (4, 256 * 512 * 2, Sharding.NOT_LOADED)


def test_modelslim(tmp_path: Path, variants: ModuleType, write: Any) -> None:
    """Experts in four bits, two of them in a byte, along the output features; the rest in BF16."""
    shapes: dict[str, tuple[str, tuple[int, ...]]] = {}
    description = {"model_quant_type": "W4A8_DYNAMIC", "version": "1.0.0"}
    for name, dtype, shape in variants.tensors(variants.TINY, "bf16"):
        if ".mlp.experts." not in name:
            shapes[name] = (dtype, shape)
            description[name] = "FLOAT"
            continue
        module = name.removesuffix(".weight")
        shapes[name] = ("U8", (shape[0] // 2, shape[1]))
        for beside, columns in (("weight_scale", 1), ("weight_offset", 1), ("scale_bias", 16 if "down" in name else 1)):
            shapes[f"{module}.{beside}"] = ("F32", (shape[0], columns))
        description[name] = "W4A8_DYNAMIC"
    write.shard(tmp_path / "model.safetensors", shapes)
    raw = (tmp_path / "model.safetensors").read_bytes().replace(b'"U8"', b'"I8"')
    (tmp_path / "model.safetensors").write_bytes(raw)
    (tmp_path / "config.json").write_text(json.dumps(variants.TINY))
    (tmp_path / "quant_model_description_w4a8_dynamic.json").write_text(json.dumps(description))
    contents = read_checkpoint(tmp_path)
    assert (contents.quantization.scheme, contents.quantization.method) == ("w4a8", "ascend")
    assert contents.parameters == TINY_PARAMETERS
    experts = 24 * (2 * (96 * 256 + 192 * 12) + 128 * 192 + 256 * (8 + 64))
    assert bytes_by_component(contents.groups)[Component.ROUTED_EXPERTS] == experts
    # What stands in no configuration is the type of the router's bias, which is FP32 in quantised checkpoints.
    findings = compare(contents, calculated_groups(contents))
    assert [finding.severity for finding in findings] == ["note"]
    assert "router" in findings[0].message
    (tmp_path / "quant_model_description_w4a8_dynamic.json").write_text('{"model.layers.0.mlp.up_proj.weight": "W9"}')
    with pytest.raises(CheckpointError, match=r"quant_model_description_w4a8_dynamic\.json in .* 'W9'"):
        read_checkpoint(tmp_path)


def gguf_bytes(tensors: dict[str, tuple[int, tuple[int, ...]]], **metadata: int | str) -> bytes:
    """A header as docs/gguf.md of ggml has it, without the data. `tensors`: kind and dimensions by name."""

    def text(value: str) -> bytes:
        return struct.pack("<Q", len(value)) + value.encode()

    out = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(metadata) + 1)
    for key, value in metadata.items():
        out += text(key) + (
            struct.pack("<II", 4, value) if isinstance(value, int) else struct.pack("<I", 8) + text(value)
        )
    out += text("words") + struct.pack("<IIQ", 9, 8, 2) + text("a") + text("b")
    for name, (kind, dimensions) in tensors.items():
        out += text(name) + struct.pack(f"<I{len(dimensions)}QIQ", len(dimensions), *dimensions, kind, 0)
    return out


Q2_K, Q8_0, OF_A_FORK = 10, 8, 138
EXPERTS = {f"blk.1.ffn_{name}_exps.weight": (Q2_K, (256, 192, 8)) for name in ("gate", "up", "down")}
SIZES = {
    "block_count": 4, "embedding_length": 256, "attention.head_count": 4, "attention.q_lora_rank": 256,
    "attention.kv_lora_rank": 512, "rope.dimension_count": 64, "attention.key_length_mla": 192,
    "attention.value_length_mla": 128, "feed_forward_length": 512, "leading_dense_block_count": 1, "expert_count": 8,
    "expert_used_count": 2, "expert_shared_count": 1, "expert_feed_forward_length": 192, "vocab_size": 1024,
    "context_length": 32768,
}  # fmt: skip
ABOUT: dict[str, int | str] = {
    "general.architecture": "deepseek2",
    **{f"deepseek2.{name}": size for name, size in SIZES.items()},
}


def test_gguf_is_counted_tensor_by_tensor(tmp_path: Path) -> None:
    (tmp_path / "K2-UD-Q2_K_XL-00001-of-00002.gguf").write_bytes(gguf_bytes(EXPERTS, **ABOUT))
    rest = {"token_embd.weight": (Q8_0, (256, 1024)), "blk.0.attn_k_b.weight": (Q8_0, (128, 512, 4))}
    (tmp_path / "K2-UD-Q2_K_XL-00002-of-00002.gguf").write_bytes(gguf_bytes(rest))
    (tmp_path / "mmproj-F16.gguf").write_bytes(b"x")
    checkpoint = read_checkpoint(tmp_path)
    assert checkpoint.file == "K2-UD-Q2_K_XL-00001-of-00002.gguf"
    assert (checkpoint.architecture.layers, checkpoint.architecture.qk_nope_head_dim) == (4, 128)
    sizes = {(str(group.component), group.layer): group.size_bytes for group in checkpoint.groups}
    assert sizes == {
        ("embed_tokens", None): 256 * 1024 // 32 * 34,
        ("kv_b", 0): 128 * 512 * 4 // 32 * 34,
        ("routed_experts", 1): 3 * 256 * 192 * 8 // 256 * 84,
    }
    assert checkpoint.total_bytes == sum(sizes.values())
    assert compare(checkpoint, ()) == ()


def test_gguf_of_a_fork_is_its_size_alone(tmp_path: Path) -> None:
    content = gguf_bytes({"output.weight": (OF_A_FORK, (256, 1024))}, **ABOUT)
    (tmp_path / "K2.gguf").write_bytes(content)
    checkpoint = read_checkpoint(tmp_path)
    assert (checkpoint.total_bytes, checkpoint.groups) == (len(content), ())


def test_gguf_is_refused(tmp_path: Path, variants: ModuleType) -> None:
    whole = gguf_bytes(EXPERTS, **ABOUT)
    path = tmp_path / "K2-Q2-00001-of-00002.gguf"
    for content, because in (
        (b"x" * 1000, "is not a GGUF file"),
        (whole[:-1], "ends within its header"),
        (b"GGUF" + struct.pack("<IQQ", 3, 1 << 40, 1), "not plausible"),
        (b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, 1 << 60), "has a text of"),
    ):
        (tmp_path / "K2.gguf").write_bytes(content)
        with pytest.raises(CheckpointError, match=because):
            read_checkpoint(tmp_path)
    (tmp_path / "K2.gguf").write_bytes(gguf_bytes(EXPERTS, **{"general.architecture": "llama"}))
    with pytest.raises(CheckpointError, match="'llama' is not modelled"):
        read_checkpoint(tmp_path)
    (tmp_path / "K2.gguf").unlink()
    path.write_bytes(whole)
    with pytest.raises(CheckpointError, match=r"is missing 1 parts .* K2-Q2-00002-of-00002.gguf"):
        read_checkpoint(tmp_path)
    (tmp_path / "K2-IQ1.gguf").write_bytes(whole)
    with pytest.raises(CheckpointError, match="holds 2 GGUF models"):
        read_checkpoint(tmp_path)
