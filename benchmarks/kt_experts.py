"""KTransformers' own MoE kernel on this processor, at the shapes of Kimi-K2's experts: right, and how fast.

    moonpad engine install ktransformers
    ENVIRONMENT/bin/python benchmarks/kt_experts.py --out benchmarks/results/kt_experts.json

RAWINT4: random experts are written in the format of the published INT4 checkpoints (compressed-tensors, groups of 32),
and kt-kernel's own loader reads them. AMXINT4: random BF16 experts, which kt-kernel quantises itself, by channel. The
reference is the same layer in float32. Only the number of experts is smaller than Kimi-K2's 384, to fit the memory.
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
from safetensors.torch import save_file  # type: ignore[import-not-found]

HIDDEN, INTERMEDIATE, TOP_K = 7168, 2048, 8
GROUP = 32
EXPERTS = {"RAWINT4": 32, "AMXINT4": 16}
TOKENS = (1, 4, 16, 64)
LONGEST = max(TOKENS)
REPEATS = 5
PROJECTIONS = {"gate": (INTERMEDIATE, HIDDEN), "up": (INTERMEDIATE, HIDDEN), "down": (HIDDEN, INTERMEDIATE)}


def packed(values: Any) -> Any:
    """Four-bit values of -8 to 7, eight in an int32, the first in its lowest bits, shifted by 8."""
    nibbles = (values + 8).to(torch.int64).reshape(values.shape[0], -1, 8)
    words = (nibbles << torch.arange(0, 32, 4)).sum(dim=-1)
    return torch.where(words >= 2**31, words - 2**32, words).to(torch.int32)


def write_int4(folder: Path, experts: int) -> list[dict[str, Any]]:
    """A layer's experts as a checkpoint; what the reference computes with, dequantised."""
    tensors, layer = {}, []
    for expert in range(experts):
        weights = {}
        for name, (rows, columns) in PROJECTIONS.items():
            values = torch.randint(-8, 8, (rows, columns), dtype=torch.int32)
            scales = (torch.rand(rows, columns // GROUP) * 0.004 + 0.001).to(torch.bfloat16)
            stem = f"model.layers.1.mlp.experts.{expert}.{name}_proj"
            tensors[f"{stem}.weight_packed"] = packed(values)
            tensors[f"{stem}.weight_scale"] = scales
            tensors[f"{stem}.weight_shape"] = torch.tensor([rows, columns], dtype=torch.int32)
            weights[name] = (values.to(torch.int8), scales)
        layer.append(weights)
    save_file(tensors, folder / "model.safetensors")
    return layer


def dequantised(weight: tuple[Any, Any]) -> Any:
    values, scales = weight
    return values.float() * scales.float().repeat_interleave(GROUP, dim=1)


def reference(hidden: Any, ids: Any, weights: Any, expert: Any) -> Any:
    """`expert(number)` gives its three matrices in float32."""
    output = torch.zeros_like(hidden, dtype=torch.float32)
    for number in sorted(set(ids.flatten().tolist())):
        gate, up, down = expert(number)
        for token, place in (ids == number).nonzero().tolist():
            row = hidden[token].float()
            output[token] += weights[token, place] * (down @ (torch.nn.functional.silu(gate @ row) * (up @ row)))
    return output


def forward(wrapper: Any, hidden: Any, ids: Any, weights: Any) -> tuple[Any, float]:
    """The output and its seconds, by the task that the engine submits; its buffers are page-locked for a device."""
    output = torch.zeros_like(hidden)
    batch = torch.tensor([hidden.shape[0]], dtype=torch.int32)
    task = wrapper.moe.forward_task(
        batch.data_ptr(), TOP_K, ids.data_ptr(), weights.data_ptr(), hidden.data_ptr(), output.data_ptr(), False
    )
    begun = time.perf_counter()
    wrapper.cpu_infer.submit(task)
    wrapper.cpu_infer.sync()
    return output, time.perf_counter() - begun


def make_wrapper(method: str, experts: int, folder: Path, threads: int) -> Any:
    return kt_kernel.KTMoEWrapper(
        layer_idx=1,
        num_experts=experts,
        num_experts_per_tok=TOP_K,
        hidden_size=HIDDEN,
        moe_intermediate_size=INTERMEDIATE,
        gpu_experts_mask=torch.zeros(experts, dtype=torch.bool),
        cpuinfer_threads=threads,
        threadpool_count=1,
        weight_path=str(folder),
        chunked_prefill_size=LONGEST,
        method=method,
    )


def measured(method: str, folder: Path, threads: int) -> dict[str, Any]:
    experts = EXPERTS[method]
    begun = time.monotonic()
    if method == "RAWINT4":
        layer = write_int4(folder, experts)
        wrapper = make_wrapper(method, experts, folder, threads)
        wrapper.load_weights(torch.arange(experts))

        def expert(number: int) -> tuple[Any, ...]:
            return tuple(dequantised(layer[number][name]) for name in PROJECTIONS)
    else:
        stacked = {
            name: torch.randn(experts, *shape, dtype=torch.bfloat16) * 0.02 for name, shape in PROJECTIONS.items()
        }
        wrapper = make_wrapper(method, experts, folder, threads)
        wrapper.load_weights_from_tensors(*stacked.values(), torch.arange(experts))

        def expert(number: int) -> tuple[Any, ...]:
            return tuple(weights[number].float() for weights in stacked.values())

    loaded_s = time.monotonic() - begun
    return {
        "method": method,
        "class": type(wrapper.moe).__name__,
        "experts": experts,
        "made_and_loaded_s": round(loaded_s, 1),
        "rows": [row(wrapper, experts, tokens, expert) for tokens in TOKENS],
    }


def row(wrapper: Any, experts: int, tokens: int, expert: Any) -> dict[str, Any]:
    hidden = torch.randn(tokens, HIDDEN).to(torch.bfloat16)
    ids = torch.stack([torch.randperm(experts)[:TOP_K] for _ in range(tokens)]).to(torch.int64).contiguous()
    weights = torch.rand(tokens, TOP_K, dtype=torch.float32)
    outputs, seconds = zip(*(forward(wrapper, hidden, ids, weights) for _ in range(REPEATS)), strict=True)
    right = reference(hidden, ids, weights, expert)
    error = (outputs[-1].float() - right).norm() / right.norm()
    return {
        "tokens": tokens,
        "experts_read": len(set(ids.flatten().tolist())),
        "median_ms": round(1000 * statistics.median(seconds), 2),
        "fastest_ms": round(1000 * min(seconds), 2),
        "relative_error": round(float(error), 4),
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
    results = []
    for method in EXPERTS:
        with tempfile.TemporaryDirectory() as folder:
            results.append(measured(method, Path(folder), args.threads))
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
