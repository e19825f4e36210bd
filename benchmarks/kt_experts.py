"""KTransformers' own MoE kernel on this processor, at the shapes of Kimi-K2's experts: right, and how fast.

    moonpad engine install ktransformers
    ENVIRONMENT/bin/python benchmarks/kt_experts.py --out benchmarks/results/kt_experts.json

RAWINT4: random experts are written in the format of the published INT4 checkpoints (compressed-tensors, groups of 32),
and kt-kernel's own loader reads them. AMXINT4: random BF16 experts, which kt-kernel quantises itself, by channel. The
reference is the same layer in float32. Only the number of experts is smaller than Kimi-K2's 384, to fit the memory. The
extension is called as kt-kernel's own Python wrapper calls it, which itself needs an NVIDIA driver, for its buffers.
"""

from __future__ import annotations

import argparse
import gc
import importlib.metadata
import json
import platform
import statistics
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import kt_kernel  # type: ignore[import-not-found]
import torch  # type: ignore[import-not-found]
from kt_kernel import kt_kernel_ext as extension
from kt_kernel.utils import amx  # type: ignore[import-not-found]
from kt_kernel.utils.loader import CompressedSafeTensorLoader  # type: ignore[import-not-found]
from safetensors.torch import save_file  # type: ignore[import-not-found]

HIDDEN, INTERMEDIATE, TOP_K = 7168, 2048, 8
GROUP = 32
EXPERTS = {"RAWINT4": 16, "AMXINT4": 8}
TOKENS = (1, 4)
LONGEST = 32
"""What the layer is made for; a multiple of the kernels' step."""
REPEATS = 5
PROJECTIONS = {"gate": (INTERMEDIATE, HIDDEN), "up": (INTERMEDIATE, HIDDEN), "down": (HIDDEN, INTERMEDIATE)}


def write_int4(folder: Path, experts: int) -> list[dict[str, Any]]:
    """A layer's experts as a checkpoint; (packed values, scales) of each matrix."""
    tensors, layer = {}, []
    for expert in range(experts):
        weights = {}
        for name, (rows, columns) in PROJECTIONS.items():
            packed = torch.randint(-(2**31), 2**31, (rows, columns // 8), dtype=torch.int64).to(torch.int32)
            scales = (torch.rand(rows, columns // GROUP) * 0.004 + 0.001).to(torch.bfloat16)
            stem = f"model.layers.1.mlp.experts.{expert}.{name}_proj"
            tensors[f"{stem}.weight_packed"] = packed
            tensors[f"{stem}.weight_scale"] = scales
            tensors[f"{stem}.weight_shape"] = torch.tensor([rows, columns], dtype=torch.int32)
            weights[name] = (packed, scales)
        layer.append(weights)
    save_file(tensors, folder / "model.safetensors")
    return layer


def dequantised(weight: tuple[Any, Any]) -> Any:
    """Eight values in an int32, the first in its lowest bits, each of -8 to 7 and stored with 8 added."""
    packed, scales = weight
    nibbles = (packed.unsqueeze(-1) >> torch.arange(0, 32, 4, dtype=torch.int32)) & 15
    values = (nibbles.flatten(start_dim=1) - 8).float()
    return values * scales.float().repeat_interleave(GROUP, dim=1)


def rounded(weight: Any) -> Any:
    """To 15 values of equal distance in each row, as far as its largest: the least that 4 bits a row lose."""
    step = weight.abs().amax(dim=1, keepdim=True) / 7
    return (weight / step).round() * step


def reference(hidden: Any, ids: Any, weights: Any, expert: Any) -> Any:
    """`expert(number)` gives its three matrices in float32."""
    output = torch.zeros_like(hidden, dtype=torch.float32)
    for number in sorted(set(ids.flatten().tolist())):
        gate, up, down = expert(number)
        for token, place in (ids == number).nonzero().tolist():
            row = hidden[token].float()
            output[token] += weights[token, place] * (down @ (torch.nn.functional.silu(gate @ row) * (up @ row)))
    return output


def forward(layer: Any, pool: Any, hidden: Any, ids: Any, weights: Any) -> tuple[Any, float]:
    """The output and its seconds, by the task that the engine submits."""
    output = torch.zeros_like(hidden)
    batch = torch.tensor([hidden.shape[0]], dtype=torch.int32)
    task = layer.forward_task(
        batch.data_ptr(), TOP_K, ids.data_ptr(), weights.data_ptr(), hidden.data_ptr(), output.data_ptr(), False
    )
    begun = time.perf_counter()
    pool.submit(task)
    pool.sync()
    return output, time.perf_counter() - begun


def make_pool(threads: int) -> Any:
    config = extension.WorkerPoolConfig()
    config.subpool_count, config.subpool_numa_map, config.subpool_thread_count = 1, [0], [threads]
    return extension.CPUInfer(config)


def configuration(experts: int, pool: Any, mask: Any) -> Any:
    config = extension.moe.MOEConfig(experts, TOP_K, HIDDEN, INTERMEDIATE, mask.data_ptr())
    config.layer_idx, config.pool, config.max_len = 1, pool.backend_, LONGEST
    return config


def load_int4(config: Any, folder: Path) -> tuple[Any, Any]:
    """The layer, and what must live as long as it."""
    weights = CompressedSafeTensorLoader(str(folder)).load_experts("model.layers.1")
    for name in PROJECTIONS:
        setattr(config, f"{name}_projs", [[tensor.data_ptr() for tensor in weights[name]]])
        setattr(config, f"{name}_scales", [[tensor.data_ptr() for tensor in weights[f"{name}_scale"]]])
    config.quant_config.bits, config.quant_config.group_size, config.quant_config.zero_point = 4, GROUP, False
    return amx._select_rawint4_backend(GROUP)(config), weights


def load_bf16(config: Any, folder: Path, stacked: dict[str, Any]) -> Any:
    for name in PROJECTIONS:
        setattr(config, f"{name}_proj", stacked[name].data_ptr())
    config.save, config.load, config.path = True, False, str(folder)
    return amx.AMXInt4_MOE(config)


def measured(method: str, folder: Path, pool: Any) -> dict[str, Any]:
    experts = EXPERTS[method]
    numbers, mask = torch.arange(experts), torch.zeros(experts, dtype=torch.bool)
    config = configuration(experts, pool, mask)
    if method == "RAWINT4":
        written = write_int4(folder, experts)
        layer, alive = load_int4(config, folder)

        def expert(number: int) -> tuple[Any, ...]:
            return tuple(dequantised(written[number][name]) for name in PROJECTIONS)
    else:
        alive = {name: torch.randn(experts, *shape, dtype=torch.bfloat16) * 0.02 for name, shape in PROJECTIONS.items()}
        layer = load_bf16(config, folder, alive)

        def expert(number: int) -> tuple[Any, ...]:
            return tuple(alive[name][number].float() for name in PROJECTIONS)

    begun = time.monotonic()
    pool.submit(layer.load_weights_task(numbers.data_ptr()))
    pool.sync()
    return {
        "method": method,
        "class": type(layer).__name__,
        "experts": experts,
        "load_s": round(time.monotonic() - begun, 1),
        "rows": [row(layer, pool, experts, tokens, expert) for tokens in TOKENS],
    }


def off(output: Any, right: Any) -> float:
    return round(float((output.float() - right).norm() / right.norm()), 4)


def row(layer: Any, pool: Any, experts: int, tokens: int, expert: Any) -> dict[str, Any]:
    hidden = torch.randn(tokens, HIDDEN).to(torch.bfloat16)
    ids = torch.stack([torch.randperm(experts)[:TOP_K] for _ in range(tokens)]).to(torch.int64).contiguous()
    weights = torch.rand(tokens, TOP_K, dtype=torch.float32)
    outputs, seconds = zip(*(forward(layer, pool, hidden, ids, weights) for _ in range(REPEATS)), strict=True)
    right = reference(hidden, ids, weights, expert)
    by_rounding = reference(hidden, ids, weights, lambda number: tuple(map(rounded, expert(number))))
    return {
        "tokens": tokens,
        "experts_read": len(set(ids.flatten().tolist())),
        "median_ms": round(1000 * statistics.median(seconds), 2),
        "fastest_ms": round(1000 * min(seconds), 2),
        "relative_error": off(outputs[-1], right),
        "relative_error_of_rounding_each_row_to_4_bits": off(by_rounding, right),
        "same_each_time": all(torch.equal(output, outputs[0]) for output in outputs),
    }


def processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    torch.manual_seed(0)
    results, pool = [], make_pool(args.threads)
    for method in EXPERTS:
        with tempfile.TemporaryDirectory() as folder:
            results.append(measured(method, Path(folder), pool))
        gc.collect()
    document = {
        "what": f"kt-kernel's MoE at Kimi-K2's shapes: hidden {HIDDEN}, experts of {INTERMEDIATE}, {TOP_K} a token",
        "at": datetime.now(UTC).date().isoformat(),
        "kt_kernel": importlib.metadata.version("kt-kernel"),
        "variant": kt_kernel.__cpu_variant__,
        "machine": f"{processor()}, {args.threads} threads, Python {platform.python_version()}, shared with other work",
        "results": results,
    }
    text = json.dumps(document, indent=1) + "\n"
    if args.out:
        args.out.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
