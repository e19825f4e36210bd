"""Checkpoint folders whose headers, counts and names claim what cannot be."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Mapping
from pathlib import Path

MB = 1_000_000
Make = Callable[[], bytes]
"""Made when it is wanted: together they are a gigabyte."""
CONFIG = {
    "model_type": "kimi_k2", "architectures": ["DeepseekV3ForCausalLM"], "num_hidden_layers": 2,
    "first_k_dense_replace": 1, "hidden_size": 64, "intermediate_size": 128, "moe_intermediate_size": 32,
    "num_attention_heads": 4, "num_key_value_heads": 4, "q_lora_rank": 16, "kv_lora_rank": 16, "qk_nope_head_dim": 16,
    "qk_rope_head_dim": 8, "v_head_dim": 16, "n_routed_experts": 4, "num_experts_per_tok": 2, "n_shared_experts": 1,
    "vocab_size": 256, "max_position_embeddings": 4096, "tie_word_embeddings": False, "torch_dtype": "bfloat16",
}  # fmt: skip

SHARD = "model.safetensors"
INDEX = "model.safetensors.index.json"


def safetensors(header: bytes, data_bytes: int = 0, length: int | None = None) -> bytes:
    return struct.pack("<Q", len(header) if length is None else length) + header + bytes(data_bytes)


def _tensor(name: str, dtype: str = "BF16", shape: object = (1,), offsets: object = (0, 2)) -> bytes:
    return b'{"%s":%s}' % (
        name.encode(),
        json.dumps({"dtype": dtype, "shape": shape, "data_offsets": offsets}).encode(),
    )


def _many_tensors(count: int) -> bytes:
    rows = (b'"t%d":{"dtype":"BF16","shape":[1],"data_offsets":[%d,%d]}' % (n, 2 * n, 2 * n + 2) for n in range(count))
    return b"{" + b",".join(rows) + b"}"


HEADERS: Mapping[str, Make] = {
    "quotes": lambda: safetensors(b"{" + b'"' * (30 * MB)),
    "metadata-quotes": lambda: safetensors(b'{"__metadata__":{' + b'"' * (30 * MB)),
    "many-metadata": lambda: safetensors(b"{" + b'"__metadata__":{},' * MB),
    "metadata-again": lambda: safetensors(b"{" + (b'"__metadata__":{"a":"' + b"x" * 900_000 + b'"},') * 30),
    "braces": lambda: safetensors(b"{" * (30 * MB)),
    "braces-in-tensor": lambda: safetensors(b'{"a":' + b"{" * (30 * MB)),
    "spaces": lambda: safetensors(b"{" + b" " * (30 * MB)),
    "backslashes": lambda: safetensors(b'{"' + b"\\" * (30 * MB)),
    "escapes": lambda: safetensors(b'{"' + b"\\u" * (15 * MB)),
    "brackets": lambda: safetensors(b'{"a":{"dtype":"BF16","shape":[' + b"[" * (30 * MB)),
    "digits": lambda: safetensors(b'{"a":{"dtype":"BF16","shape":[' + b"9" * (30 * MB) + b"]}}"),
    "commas": lambda: safetensors(b"{" + b"," * (30 * MB)),
    "empty-objects": lambda: safetensors(b"{" + b'"a":{},' * (4 * MB)),
    "same-name": lambda: safetensors(b"{" + b'"a":{"dtype":"BF16","shape":[0],"data_offsets":[0,0]},' * 500_000),
    "many-tensors": lambda: safetensors(_many_tensors(249_000), 2 * 249_000),
    "too-many-tensors": lambda: safetensors(_many_tensors(400_000), 2 * 400_000),
    "newlines": lambda: safetensors(b"{" + b"\n" * (30 * MB)),
    "length-0": lambda: safetensors(b"", length=0),
    "length-2^63": lambda: safetensors(b"{}", length=1 << 63),
    "length-2^64": lambda: safetensors(b"{}", length=(1 << 64) - 1),
    "length-40M": lambda: safetensors(b"{}", length=40 * MB),
    "short": lambda: b"\x02",
    "negative-shape": lambda: safetensors(_tensor("a", shape=[-1])),
    "huge-shape": lambda: safetensors(_tensor("a", shape=[1 << 62, 1 << 62])),
    "32-dimensions": lambda: safetensors(_tensor("a", shape=[1 << 62] * 32)),
    "huge-offsets": lambda: safetensors(_tensor("a", offsets=[1 << 64, 1 << 65])),
    "swapped-offsets": lambda: safetensors(_tensor("a", offsets=[2, 0])),
    "float-shape": lambda: safetensors(_tensor("a", shape=[1e300])),
    "true-shape": lambda: safetensors(_tensor("a", shape=[True])),
    "surrogate-name": lambda: safetensors(_tensor("\\ud800")),
    "nul-name": lambda: safetensors(_tensor("\\u0000")),
    "layer-number": lambda: safetensors(_tensor(f"model.layers.{'9' * 900}.mlp.experts.{'9' * 50}.up_proj.weight"), 2),
    "long-name": lambda: safetensors(_tensor("model." * 5_000), 2),
    "unicode-digits": lambda: safetensors(_tensor("model.layers.\u0663.self_attn.q_proj.weight"), 2),
}  # fmt: skip
"""Contents of model.safetensors."""


def _index(names: Mapping[str, str] | list[str]) -> bytes:
    places = names if isinstance(names, Mapping) else {f"t{number}": name for number, name in enumerate(names)}
    return json.dumps({"weight_map": places}).encode()


INDEXES: Mapping[str, Make] = {
    "million-files": lambda: _index([f"{number}.safetensors" for number in range(1_000_000)]),
    "thousand-files": lambda: _index([f"model-{number}.safetensors" for number in range(3_000)]),
    "million-tensors": lambda: _index([SHARD] * 1_000_000),
    "200-mb": lambda: b'{"weight_map": {' + b'"a": "b",' * 20_000_000,
    "long-names": lambda: _index(["x" * 200_000 + ".safetensors"] * 100),
    "parents": lambda: _index(["../../etc/passwd.safetensors"]),
    "absolute": lambda: _index(["/etc/passwd"]),
    "numbers": lambda: b'{"weight_map": {"a": 1}}',
    "lists": lambda: b'{"weight_map": [1]}',
    "deep": lambda: b'{"weight_map": ' + b"[" * MB,
    "deep-objects": lambda: b'{"weight_map": ' + b'{"a":' * MB,
    "digits": lambda: b'{"metadata": {"total_size": ' + b"9" * MB + b'}, "weight_map": {"a": "model.safetensors"}}',
    "negative-total": lambda: b'{"metadata": {"total_size": -1e999}, "weight_map": {"a": "model.safetensors"}}',
    "nan-total": lambda: b'{"metadata": {"total_size": NaN}, "weight_map": {"a": "model.safetensors"}}',
    "surrogates": lambda: b'{"weight_map": {"\\ud800": "\\ud800.safetensors"}}',
    "quotes": lambda: b'"' * (30 * MB),
    "keys": lambda: b"{" + b",".join(b'"%d":0' % number for number in range(3 * MB)) + b"}",
}
"""Contents of model.safetensors.index.json."""


def _config(**fields: object) -> bytes:
    return json.dumps({**CONFIG, **fields}).encode()


HUGE = 10**18
CONFIGS: Mapping[str, Make] = {
    "deep": lambda: b'{"a":' * 150_000,
    "deep-lists": lambda: b"[" * 900_000,
    "digits": lambda: b'{"num_hidden_layers": ' + b"9" * 900_000 + b"}",
    "zeros": lambda: _config(num_hidden_layers=0, hidden_size=0, num_attention_heads=0, vocab_size=0),
    "negative": lambda: _config(num_hidden_layers=-1, n_routed_experts=-5),
    "layers": lambda: _config(num_hidden_layers=HUGE),
    "layers-million": lambda: _config(num_hidden_layers=10**6),
    "dense-layers": lambda: _config(first_k_dense_replace=HUGE),
    "experts": lambda: _config(n_routed_experts=HUGE),
    "experts-million": lambda: _config(n_routed_experts=10**6),
    "experts-per-token": lambda: _config(num_experts_per_tok=HUGE),
    "heads": lambda: _config(num_attention_heads=HUGE),
    "hidden": lambda: _config(hidden_size=HUGE),
    "vocabulary": lambda: _config(vocab_size=2**63),
    "context": lambda: _config(max_position_embeddings=HUGE),
    "floats": lambda: _config(num_hidden_layers=1.5, hidden_size=1e300),
    "texts": lambda: _config(num_hidden_layers="2", hidden_size="x" * 100_000),
    "bools": lambda: _config(num_hidden_layers=True, n_routed_experts=True),
    "nulls": lambda: _config(**dict.fromkeys(CONFIG)),
    "lists": lambda: _config(num_hidden_layers=[1], architectures=[["a"]]),
    "long-type": lambda: _config(model_type="k" * 500_000),
    "odd-type": lambda: _config(model_type="\ud800\u0000\x1b[31m"),
    "text-config": lambda: _config(text_config=[]),
    "quantization": lambda: _config(quantization_config={"quant_method": "compressed-tensors", "config_groups": []}),
    "quantization-groups": lambda: _config(
        quantization_config={
            "quant_method": "compressed-tensors", "format": "pack-quantized",
            "config_groups": {f"g{n}": {"targets": ["re:(a+)+$"], "weights": {"num_bits": 4}} for n in range(3000)},
            "ignore": ["re:" + "(a*)*" * 1000 + "b"] * 300,
        }
    ),
    "quantization-ignore": lambda: _config(
        quantization_config={"quant_method": "fp8", "weight_block_size": [128, 128], "ignored_layers": ["x"] * 100_000}
    ),
    "quantization-block": lambda: _config(quantization_config={"quant_method": "fp8", "weight_block_size": [0, -1]}),
    "quantization-bits": lambda: _config(quantization_config={"quant_method": "gptq", "bits": 10**300}),
    "rope": lambda: _config(rope_scaling={"type": "yarn", "factor": 1e308, "original_max_position_embeddings": HUGE}),
    "rope-digits": lambda: _config(rope_scaling={"factor": "9" * 5000}),
    "vision": lambda: _config(vision_config={"hidden_size": HUGE, "num_hidden_layers": HUGE}),
}  # fmt: skip
"""Contents of config.json."""


def gguf(keys: int, tensors: int, body: bytes, version: int = 3) -> bytes:
    return b"GGUF" + struct.pack("<IQQ", version, tensors, keys) + body


def _text(text: bytes) -> bytes:
    return struct.pack("<Q", len(text)) + text


def _strings(count: int, arrays: int = 1) -> bytes:
    return (_text(b"tokens") + struct.pack("<IIQ", 9, 8, count) + struct.pack("<Q", 0) * count) * arrays


def _tensors(count: int) -> bytes:
    return b"".join(_text(b"t%d" % n) + struct.pack("<IQIQ", 1, 1, 0, 0) for n in range(count))


GGUFS: Mapping[str, Make] = {
    "counts": lambda: gguf((1 << 64) - 1, (1 << 64) - 1, b""),
    "keys": lambda: gguf(4096, 0, b"\0" * 100),
    "text-length": lambda: gguf(1, 0, struct.pack("<Q", 1 << 63)),
    "text-127M": lambda: gguf(1, 0, struct.pack("<Q", 127 << 20)),
    "array-length": lambda: gguf(1, 0, _text(b"a") + struct.pack("<IIQ", 9, 4, 1 << 63)),
    "array-strings": lambda: gguf(1, 0, _strings(10_000_000)),
    "arrays-of-strings": lambda: gguf(40, 0, _strings(390_000, 40)),
    "array-of-arrays": lambda: gguf(1, 0, _text(b"a") + struct.pack("<IIQ", 9, 9, 1 << 20)),
    "unknown-type": lambda: gguf(1, 0, _text(b"a") + struct.pack("<I", 99)),
    "tensors-131000": lambda: gguf(0, 131_000, _tensors(131_000)),
    "dimensions": lambda: gguf(0, 1, _text(b"a") + struct.pack("<I", 1 << 31)),
    "shape": lambda: gguf(0, 1, _text(b"a") + struct.pack("<IQQQQIQ", 4, *([1 << 63] * 4), 0, 0)),
    "kind": lambda: gguf(0, 1, _text(b"a") + struct.pack("<IQIQ", 1, 1, 999_999, 0)),
    "version": lambda: gguf(0, 0, b"", version=1 << 31),
    "short": lambda: b"GGUF",
    "zeros": lambda: bytes(30 * MB),
}
"""Contents of model.gguf."""


def checkpoint(folder: Path, files: Mapping[str, bytes] = {}) -> None:
    """A small checkpoint of a known architecture, with these files in place of its own."""
    folder.mkdir()
    (folder / "config.json").write_bytes(json.dumps(CONFIG).encode())
    for name, data in files.items():
        (folder / name).write_bytes(data)


def with_file(name: str, make: Make) -> Callable[[Path], None]:
    """An index is read where there is a file of weights."""
    weights = {SHARD: safetensors(b"{}")} if name == INDEX else {}
    return lambda folder: checkpoint(folder, {**weights, name: make()})
