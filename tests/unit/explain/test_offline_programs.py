"""Programs that measure an engine without a server."""

from __future__ import annotations

import pytest

from moonpad.explain.programs import listens
from moonpad.values.plan import Layout
from tests.unit.explain.judging import ask

THROUGH = "--dataset-name random --num-prompts 64"


@pytest.mark.parametrize(
    ("text", "engine", "model", "layout"),
    [
        (
            "python3 -m sglang.bench_one_batch --model-path moonshotai/Kimi-K2.5 --tp-size 8 --batch-size 1 16 "
            "--input-len 256 1024 --output-len 8",
            *("sglang", "moonshotai/Kimi-K2.5", Layout(tp=8)),
        ),
        (
            f"python -m sglang.bench_offline_throughput --model-path moonshotai/Kimi-K2.5 --tp-size 8 {THROUGH}",
            *("sglang", "moonshotai/Kimi-K2.5", Layout(tp=8)),
        ),
        (
            "vllm bench latency --model moonshotai/Kimi-K2.5 -tp 8 --batch-size=4 --input-len 32 --num-iters 5",
            *("vllm", "moonshotai/Kimi-K2.5", Layout(tp=8)),
        ),
        (
            f"nsys profile -o x vllm bench throughput --model moonshotai/Kimi-K2.5 -tp 4 -pp 2 {THROUGH}",
            *("vllm", "moonshotai/Kimi-K2.5", Layout(tp=4, pp=2)),
        ),
        (
            "trtllm-bench --model nvidia/Kimi-K2-Thinking-NVFP4 --model_path /w throughput --tp 8 --ep 4 "
            "--max_batch_size 64 --dataset d.txt --backend pytorch --concurrency=64",
            *("tensorrt-llm", "nvidia/Kimi-K2-Thinking-NVFP4", Layout(tp=8, ep=4)),
        ),
        (
            "python3 quickstart_advanced.py --model_dir nvidia/Kimi-K2-Thinking-NVFP4 --tp_size 8 --moe_ep_size 4 "
            "--prompt 'a b' 'c d' --spec_decode_algo MTP --spec_decode_nextn 2 --kv_cache_fraction 0.6",
            *("tensorrt-llm", "nvidia/Kimi-K2-Thinking-NVFP4", Layout(tp=8, ep=4)),
        ),
    ],
)
def test_they_are_judged_as_the_server_that_listens_nowhere(text: str, engine: str, model: str, layout: Layout) -> None:
    (judged,) = ask(text)
    assert (judged.engine, judged.layout) == (engine, layout)
    assert judged.checkpoint is not None
    assert judged.checkpoint.name == model
    assert not [
        str(finding.code)
        for finding in judged.findings
        if str(finding.code) in ("unknown-flag", "prefix-flag", "invalid-value")
    ]
    assert not judged.corrected
    assert not any(map(listens, judged.sources))


def test_what_the_engine_does_not_know_is_still_told() -> None:
    (judged,) = ask("vllm bench throughput --model moonshotai/Kimi-K2.5 --tensor-paralel-size 8 --num-prompts 8")
    assert [finding.where for finding in judged.findings if str(finding.code) == "unknown-flag"] == [
        "--tensor-paralel-size"
    ]


def test_beside_a_server_it_is_its_client() -> None:
    served = ask("vllm serve moonshotai/Kimi-K2.5 -tp 8\nvllm bench throughput --model moonshotai/Kimi-K2.5 -tp 8\n")
    assert [judged.kind for judged in served] == ["serve"]
