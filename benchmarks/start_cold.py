"""What a start takes with weights from the disk and from the page cache: the tiny model, and one of 10 GB like it.

    python -m benchmarks.start_cold --runs 3 --gb 10 --folder FOLDER --out benchmarks/results/start_cold.json

The large checkpoint has Kimi-K2's form (64 experts of 2,048, hidden size 2,048) and weights that repeat a megabyte of
noise; no answer of it means anything. Before a cold start its files are dropped from the page cache, before a warm one
they are read; `up --json` says what each phase took and what this disk and cache allow. Cold and warm alternate.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TINY = ROOT / "src" / "moonpad" / "catalog" / "kimi-k2-tiny"
HIDDEN, MOE, EXPERTS, HEADS = 2048, 2048, 64, 4
LAYER_BYTES = 2 * EXPERTS * 3 * HIDDEN * MOE
NOISE_BYTES = 1 << 20
START_LIMIT = "30m"


def sizes(layers: int) -> dict[str, tuple[int, ...]]:
    """Shapes by name, of the published layout of DeepSeek-V3's architecture."""
    q_rank, kv_rank, nope, rope, v, vocabulary = 256, 512, 128, 64, 128, 1024
    shapes: dict[str, tuple[int, ...]] = {
        "model.embed_tokens.weight": (vocabulary, HIDDEN),
        "model.norm.weight": (HIDDEN,),
        "lm_head.weight": (vocabulary, HIDDEN),
    }
    for layer in range(layers):
        own = f"model.layers.{layer}"
        attention = f"{own}.self_attn"
        shapes |= {
            f"{own}.input_layernorm.weight": (HIDDEN,),
            f"{own}.post_attention_layernorm.weight": (HIDDEN,),
            f"{attention}.q_a_proj.weight": (q_rank, HIDDEN),
            f"{attention}.q_a_layernorm.weight": (q_rank,),
            f"{attention}.q_b_proj.weight": (HEADS * (nope + rope), q_rank),
            f"{attention}.kv_a_proj_with_mqa.weight": (kv_rank + rope, HIDDEN),
            f"{attention}.kv_a_layernorm.weight": (kv_rank,),
            f"{attention}.kv_b_proj.weight": (HEADS * (nope + v), kv_rank),
            f"{attention}.o_proj.weight": (HIDDEN, HEADS * v),
        }
        if layer == 0:
            shapes |= mlp(f"{own}.mlp", 512)
            continue
        shapes |= {
            f"{own}.mlp.gate.weight": (EXPERTS, HIDDEN),
            f"{own}.mlp.gate.e_score_correction_bias": (EXPERTS,),
            **mlp(f"{own}.mlp.shared_experts", MOE),
        }
        for expert in range(EXPERTS):
            shapes |= mlp(f"{own}.mlp.experts.{expert}", MOE)
    return shapes


def mlp(name: str, wide: int) -> dict[str, tuple[int, ...]]:
    return {
        f"{name}.gate_proj.weight": (wide, HIDDEN),
        f"{name}.up_proj.weight": (wide, HIDDEN),
        f"{name}.down_proj.weight": (HIDDEN, wide),
    }


def write_checkpoint(folder: Path, gigabytes: float) -> int:
    """Its bytes. One shard a layer."""
    layers = 1 + max(1, round(gigabytes * 1e9 / LAYER_BYTES))
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("tokenizer.json", "tokenizer_config.json", "generation_config.json", "chat_template.jinja"):
        shutil.copy(TINY / name, folder / name)
    document: dict[str, Any] = json.loads((TINY / "config.json").read_text())
    document |= {
        "hidden_size": HIDDEN, "moe_intermediate_size": MOE, "n_routed_experts": EXPERTS, "num_hidden_layers": layers,
    }  # fmt: skip
    (folder / "config.json").write_text(json.dumps(document, indent=1))
    noise = _noise()
    index: dict[str, str] = {}
    shards: dict[str, dict[str, tuple[int, ...]]] = {}
    for name, shape in sizes(layers).items():
        layer = int(name.split(".")[2]) if name.startswith("model.layers.") else 0
        index[name] = f"model-{layer + 1:05d}-of-{layers:05d}.safetensors"
        shards.setdefault(index[name], {})[name] = shape
    total = sum(_write_shard(folder / name, tensors, noise) for name, tensors in shards.items())
    table = {"metadata": {"total_size": total}, "weight_map": index}
    (folder / "model.safetensors.index.json").write_text(json.dumps(table))
    return sum(path.stat().st_size for path in folder.glob("*.safetensors"))


def _noise() -> bytes:
    """BF16 numbers around ±0.01: a sign, and an exponent and mantissa of that size."""
    dice = random.Random(1)
    return b"".join(
        struct.pack("<H", (dice.getrandbits(1) << 15) | 0x3C00 | dice.getrandbits(7)) for _ in range(NOISE_BYTES // 2)
    )


def _write_shard(path: Path, tensors: dict[str, tuple[int, ...]], noise: bytes) -> int:
    header: dict[str, Any] = {}
    offset = 0
    for name, shape in tensors.items():
        width = 4 if name.endswith("bias") else 2
        size = width
        for side in shape:
            size *= side
        kind = "F32" if width == 4 else "BF16"
        header[name] = {"dtype": kind, "shape": list(shape), "data_offsets": [offset, offset + size]}
        offset += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        left = offset
        while left:
            left -= file.write(noise[:left])
    return offset


def set_cache(files: list[Path], *, warm: bool) -> None:
    for path in files:
        handle = os.open(path, os.O_RDONLY)
        try:
            if warm:
                while os.read(handle, 1 << 24):
                    pass
            else:
                os.fsync(handle)
                os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(handle)


def start(spec: Path) -> dict[str, Any]:
    """What `up` says of one start, which is stopped again."""
    with tempfile.TemporaryDirectory() as state:
        env = {**os.environ, "XDG_STATE_HOME": state, "NO_COLOR": "1"}
        command = (sys.executable, "-m", "moonpad")
        try:
            up = subprocess.run((*command, "up", str(spec), "--json"), env=env, capture_output=True, text=True)
            if up.returncode:
                raise SystemExit(up.stderr)
            document: dict[str, Any] = json.loads(up.stdout)
            return document["start"]
        finally:
            subprocess.run((*command, "down", str(spec)), env=env, capture_output=True, check=False)


def measure(name: str, model: str, files: list[Path], folder: Path, runs: int) -> list[dict[str, Any]]:
    spec = folder / f"{name}.toml"
    about = f'name = "{name}"\nmodel = {json.dumps(model)}\nengine = "vllm-cpu"\n'
    spec.write_text(f'{about}\n[launch]\nstart_timeout = "{START_LIMIT}"\n')
    rows = []
    for number in range(2 * runs):
        warm = bool(number % 2)
        set_cache(files, warm=warm)
        row = {"model": name, "cache": "warm" if warm else "cold", **start(spec)}
        print(json.dumps(row), flush=True)
        rows.append(row)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3, help="of each kind")
    parser.add_argument("--gb", type=float, default=10.0)
    parser.add_argument("--folder", type=Path, required=True, help="room for the checkpoint; it is removed at the end")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    large = args.folder / "large"
    try:
        size = write_checkpoint(large, args.gb)
        tiny = [TINY / "model.safetensors"]
        rows = measure("tiny", "kimi-k2-tiny", tiny, args.folder, args.runs)
        rows += measure("large", str(large.resolve()), sorted(large.glob("*.safetensors")), args.folder, args.runs)
    finally:
        shutil.rmtree(large, ignore_errors=True)
    document = {"machine": f"{os.cpu_count()} cores, {platform.platform()}", "large_bytes": size, "starts": rows}
    if args.out:
        args.out.write_text(json.dumps(document, indent=1) + "\n")
        print(f"written: {args.out}")


if __name__ == "__main__":
    main()
