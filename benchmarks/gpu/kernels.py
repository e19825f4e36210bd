# ruff: noqa: B023 - what a loop makes is used before the next turn of it
"""Time what one step of Kimi-K2 does on one GPU, at the shapes of one of eight tensor-parallel ranks.

Runs in the engine's own Python, with vLLM's kernels: copies and matrix products as ceilings, the routed experts in INT4
(Marlin), FP8 (Triton) and BF16, MLA that decodes and that reads prompts (FlashAttention 3), and the dense matrices.
Each figure is the median of replays of a CUDA graph, whose calls rotate their inputs so that the cache does not serve
them. One line of JSON each.

    python -m benchmarks.gpu.kernels OUT.jsonl
"""

from __future__ import annotations

import json
import statistics
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

HIDDEN, EXPERTS, TOP, KV_RANK, ROPE = 7168, 384, 8, 512, 64
TOKENS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096, 8192)
Row = dict[str, Any]


def seconds(calls: Sequence[Callable[[], Any]], replays: int = 12) -> tuple[float, float]:
    """Median and spread (largest less smallest, of the median) of one call, over replays of a graph of all of them."""
    import torch

    for call in calls:
        call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for call in calls:
            call()
    graph.replay()
    took = []
    for _ in range(replays):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        graph.replay()
        end.record()
        torch.cuda.synchronize()
        took.append(begin.elapsed_time(end) / 1000 / len(calls))
    median = statistics.median(took)
    return median, (max(took) - min(took)) / median


def ceilings() -> Iterator[Row]:
    import torch

    pair = [torch.randn(1 << 30, device="cuda").bfloat16() for _ in range(2)]
    took, spread = seconds([lambda: pair[0].copy_(pair[1])])
    yield {"what": "copy", "bytes": 2 * 2 * (1 << 30), "s": took, "spread": spread}
    took, spread = seconds([lambda: pair[0].sum()])
    yield {"what": "read", "bytes": 2 * (1 << 30), "s": took, "spread": spread}
    a, b = (torch.randn(8192, 8192, device="cuda").bfloat16() for _ in range(2))
    took, spread = seconds([lambda: a @ b] * 4)
    yield {"what": "bf16 product", "operations": 2 * 8192**3, "s": took, "spread": spread}
    x, y = (each.to(torch.float8_e4m3fn) for each in (a, b))
    scale = torch.ones((), device="cuda")
    took, spread = seconds([lambda: torch._scaled_mm(x, y.t(), scale, scale, out_dtype=torch.bfloat16)] * 4)
    yield {"what": "fp8 product", "operations": 2 * 8192**3, "s": took, "spread": spread}


def routing(tokens: int) -> tuple[Any, Any]:
    """Each token takes eight experts of 384 at random."""
    import torch

    ids = torch.rand(tokens, EXPERTS, device="cuda").topk(TOP).indices.to(torch.int32)
    return torch.full((tokens, TOP), 1 / TOP, device="cuda", dtype=torch.float32), ids


def experts_int4(width: int) -> Iterator[Row]:
    import torch
    from vllm.model_executor.layers.fused_moe.experts.marlin_moe import fused_marlin_moe
    from vllm.scalar_type import scalar_types

    def packed(inputs: int, outputs: int) -> Any:
        return torch.randint(
            -(2**31), 2**31 - 1, (EXPERTS, inputs // 16, outputs * 2), device="cuda", dtype=torch.int32
        )

    def scale(inputs: int, outputs: int) -> Any:
        return torch.rand(EXPERTS, inputs // 32, outputs, device="cuda").bfloat16() * 0.01

    w1, w2 = packed(HIDDEN, 2 * width), packed(width, HIDDEN)
    s1, s2 = scale(HIDDEN, 2 * width), scale(width, HIDDEN)
    for tokens in TOKENS:
        inputs = [(torch.randn(tokens, HIDDEN, device="cuda").bfloat16(), *routing(tokens)) for _ in range(4)]

        def call(one: tuple[Any, Any, Any]) -> Any:
            return fused_marlin_moe(
                one[0], w1, w2, None, None, s1, s2, one[1], one[2], quant_type_id=scalar_types.uint4b8.id,
                global_num_experts=EXPERTS,
            )  # fmt: skip

        took, spread = seconds([lambda one=one: call(one) for one in inputs])  # type: ignore[misc]
        touched = statistics.mean(len(torch.unique(one[2])) for one in inputs)
        yield {
            "what": "experts int4", "kernel": "marlin", "width": width, "tokens": tokens, "touched": touched, "s": took,
            "spread": spread, "bytes": touched * 3 * HIDDEN * width * (0.5 + 2 / 32),
            "operations": 2 * tokens * TOP * 3 * HIDDEN * width,
        }  # fmt: skip


def experts_triton(width: int, scheme: str) -> Iterator[Row]:
    import torch
    from vllm.model_executor.layers.fused_moe.config import fp8_w8a8_moe_quant_config
    from vllm.model_executor.layers.fused_moe.fused_moe import fused_experts

    w1 = torch.randn(EXPERTS, 2 * width, HIDDEN, device="cuda", dtype=torch.bfloat16)
    w2 = torch.randn(EXPERTS, HIDDEN, width, device="cuda", dtype=torch.bfloat16)
    config = None
    if scheme == "fp8":
        w1, w2 = w1.to(torch.float8_e4m3fn), w2.to(torch.float8_e4m3fn)
        scales = [torch.rand(EXPERTS, a, b, device="cuda") for a, b in ((2 * width // 128, 56), (56, width // 128))]
        config = fp8_w8a8_moe_quant_config(w1_scale=scales[0], w2_scale=scales[1], block_shape=[128, 128])
    for tokens in TOKENS:
        inputs = [(torch.randn(tokens, HIDDEN, device="cuda").bfloat16(), *routing(tokens)) for _ in range(4)]

        def call(one: tuple[Any, Any, Any]) -> Any:
            return fused_experts(one[0], w1, w2, one[1], one[2], global_num_experts=EXPERTS, quant_config=config)

        took, spread = seconds([lambda one=one: call(one) for one in inputs])  # type: ignore[misc]
        touched = statistics.mean(len(torch.unique(one[2])) for one in inputs)
        yield {
            "what": f"experts {scheme}", "kernel": "triton", "width": width, "tokens": tokens, "touched": touched,
            "s": took, "spread": spread, "bytes": touched * 3 * HIDDEN * width * (1 if scheme == "fp8" else 2),
            "operations": 2 * tokens * TOP * 3 * HIDDEN * width,
        }  # fmt: skip


def decode(heads: int) -> Iterator[Row]:
    import torch
    from vllm.vllm_flash_attn import flash_attn_varlen_func

    block, scale = 64, (128 + ROPE) ** -0.5
    for batch in (1, 4, 16, 64, 256):
        for length in (1024, 8192, 32768, 131072):
            if batch * length * 1152 > 12e9:
                continue
            blocks = batch * length // block
            copies = max(2, min(8, int(2e8 // (batch * length * 1152))))
            caches = [torch.randn(blocks, block, KV_RANK + ROPE, device="cuda").bfloat16() for _ in range(copies)]
            table = torch.randperm(blocks, device="cuda", dtype=torch.int32).view(batch, -1)
            q_nope = torch.randn(batch, heads, KV_RANK, device="cuda").bfloat16()
            q_pe = torch.randn(batch, heads, ROPE, device="cuda").bfloat16()
            starts = torch.arange(batch + 1, device="cuda", dtype=torch.int32)
            lengths = torch.full((batch,), length, device="cuda", dtype=torch.int32)

            def call(cache: Any) -> Any:
                return flash_attn_varlen_func(
                    q=q_pe, k=cache[..., KV_RANK:].unsqueeze(-2), v=cache[..., :KV_RANK].unsqueeze(-2), q_v=q_nope,
                    max_seqlen_q=1, cu_seqlens_q=starts, max_seqlen_k=length, seqused_k=lengths, block_table=table,
                    softmax_scale=scale, causal=True, fa_version=3,
                )  # fmt: skip

            took, spread = seconds([lambda cache=cache: call(cache) for cache in caches])  # type: ignore[misc]
            yield {
                "what": "mla decode", "kernel": "fa3", "heads": heads, "batch": batch, "length": length, "s": took,
                "spread": spread, "bytes": batch * length * 1152,
                "operations": 2 * batch * length * heads * (2 * KV_RANK + ROPE),
            }  # fmt: skip
            del caches


def prompts(heads: int) -> Iterator[Row]:
    import torch
    from vllm.vllm_flash_attn import flash_attn_varlen_func

    for length in (512, 1024, 2048, 4096, 8192, 16384, 32768):
        q, k = (torch.randn(length, heads, 192, device="cuda").bfloat16() for _ in range(2))
        v = torch.randn(length, heads, 128, device="cuda").bfloat16()
        starts = torch.tensor([0, length], device="cuda", dtype=torch.int32)

        def call() -> Any:
            return flash_attn_varlen_func(
                q=q, k=k, v=v, max_seqlen_q=length, cu_seqlens_q=starts, max_seqlen_k=length, cu_seqlens_k=starts,
                causal=True, softmax_scale=192**-0.5, fa_version=3,
            )  # fmt: skip

        took, spread = seconds([call] * 2)
        pairs = length * (length + 1) / 2
        yield {
            "what": "mla prompt", "kernel": "fa3", "heads": heads, "length": length, "s": took, "spread": spread,
            "operations": 2 * pairs * heads * (192 + 128),
        }  # fmt: skip


def dense() -> Iterator[Row]:
    import torch

    shapes = {
        "q_a and kv_a": (HIDDEN, 2112), "q_b": (1536, 8 * 192), "o_proj": (8 * 128, HIDDEN),
        "shared gate and up": (HIDDEN, 512), "shared down": (256, HIDDEN), "router": (HIDDEN, EXPERTS),
        "lm_head, an eighth": (HIDDEN, 20480),
    }  # fmt: skip
    for name, (inputs, outputs) in shapes.items():
        copies = max(2, int(3e8 // (inputs * outputs * 2)))
        weights = [torch.randn(outputs, inputs, device="cuda").bfloat16() for _ in range(min(copies, 64))]
        for tokens in TOKENS:
            x = torch.randn(tokens, inputs, device="cuda").bfloat16()
            took, spread = seconds([lambda weight=weight: x @ weight.t() for weight in weights])  # type: ignore[misc]
            yield {
                "what": "dense", "name": name, "tokens": tokens, "s": took, "spread": spread,
                "bytes": 2 * inputs * outputs, "operations": 2 * tokens * inputs * outputs,
            }  # fmt: skip


def parts() -> Iterator[tuple[str, Callable[[], Iterator[Row]]]]:
    yield "ceilings", ceilings
    yield "decode 8", lambda: decode(8)
    yield "prompts 8", lambda: prompts(8)
    yield "int4 256", lambda: experts_int4(256)
    yield "fp8 256", lambda: experts_triton(256, "fp8")
    yield "dense", dense
    yield "decode 64", lambda: decode(64)
    yield "bf16 256", lambda: experts_triton(256, "bf16")
    yield "int4 2048", lambda: experts_int4(2048)


def main() -> None:
    import torch
    import vllm

    with Path(sys.argv[1]).open("a") as file:
        device = torch.cuda.get_device_name()
        head: Row = {"device": device, "torch": torch.__version__, "vllm": vllm.__version__}
        file.write(json.dumps(head) + "\n")
        for name, part in parts():
            try:
                for row in part():
                    file.write(json.dumps(row) + "\n")
                    file.flush()
            except Exception:  # noqa: BLE001 - the other parts are measured all the same
                file.write(json.dumps({"failed": name, "why": traceback.format_exc()[-2000:]}) + "\n")
            torch.cuda.empty_cache()
            print(name, "done", flush=True)


if __name__ == "__main__":
    main()
