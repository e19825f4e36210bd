"""Rules, methods and kernels of the engine that keeps experts in host memory; the port where ranks meet."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

OLD = (
    "python ktransformers/server/main.py --model_path {} --gguf_path /m/GGUF --backend_type balance_serve "
    "--optimize_config_path ktransformers/optimize/optimize_rules/{}"
)
NEW = (
    "python -m sglang.launch_server --model {model} --kt-weight-path {weights} --kt-cpuinfer 96 "
    "--kt-threadpool-count 2 --kt-num-gpu-experts 30 --kt-method {method} --tensor-parallel-size 8"
)
K2 = NEW.format(model="moonshotai/Kimi-K2.5", weights="/m/Kimi-K2.5{}", method="{}")
NODES = "python -m sglang.launch_server --model-path moonshotai/Kimi-K2-Instruct --tp 16 --nnodes 2 "


def told(text: str, words: str) -> bool:
    return any(words in finding.message for judged in ask("#!/bin/bash\n" + text) for finding in judged.findings)


@pytest.mark.parametrize(
    ("model", "file", "words", "expected"),
    [
        ("/m/DeepSeek-R1", "Qwen3Moe-serve.yaml", "has the rules of", True),
        ("/m/Kimi-K2-Instruct", "DeepSeek-V2-Chat.yaml", "has the rules of", True),
        ("/m/Kimi-K2-Instruct", "DeepSeek-V3-Chat-serve.yaml", "has the rules of", False),
        ("/m/Qwen3-235B-A22B", "Qwen3Moe-serve.yaml", "has the rules of", False),
        ("/m/own", "Qwen3Moe-serve.yaml", "has the rules of", False),
        ("/m/DeepSeek-R1", "DeepSeek-V3-Chat-serve.yml", "end in .yaml", True),
        ("/m/DeepSeek-R1", "DeepSeek-V3-Chat-serve.yaml", "end in .yaml", False),
    ],
)
def test_rules(model: str, file: str, words: str, *, expected: bool) -> None:
    assert told(OLD.format(model, file), words) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# two AMD EPYC 9654\n" + K2.format("-AMXINT4", "AMXINT4"), True),
        ("# two AMD EPYC 9654\n" + K2.format("", "RAWINT4"), False),
        ("# Xeon or EPYC\n" + K2.format("-AMXINT4", "AMXINT4"), False),
        ("# Xeon Gold 6338, two sockets\n" + K2.format("-AMXINT4", "AMXINT4"), True),
        ("# an old Ice Lake server\n" + K2.format("-AMXINT4", "AMXINT4"), True),
        ("# Intel(R) Xeon(R) CPU E5-2680 v4 @ 2.40GHz\n" + K2.format("-AMXINT4", "AMXINT4"), True),
        ("# Xeon Gold 6338\n" + K2.format("", "RAWINT4"), False),
        ("# Xeon Gold 6430, two sockets\n" + K2.format("-AMXINT4", "AMXINT4"), False),
        ("# Xeon 6 6980P\n" + K2.format("-AMXINT4", "AMXINT4"), False),
        ("# Sapphire Rapids, was Ice Lake\n" + K2.format("-AMXINT4", "AMXINT4"), False),
        (K2.format("-AMXINT4", "AMXINT4"), False),
    ],
)
def test_processors(text: str, *, expected: bool) -> None:
    assert told(text, "is for processors with AMX") == expected


@pytest.mark.parametrize(
    ("model", "weights", "method", "expected"),
    [
        ("deepseek-ai/DeepSeek-V3.2", "/m/DeepSeek-V3.2", "RAWINT4", True),
        ("deepseek-ai/DeepSeek-V3.2", "/m/DeepSeek-V3.2", "FP8", False),
        ("deepseek-ai/DeepSeek-V3.2", "/m/converted", "RAWINT4", False),
        ("/m/DeepSeek-V3.2-INT4", "/m/DeepSeek-V3.2-INT4", "RAWINT4", False),
        ("moonshotai/Kimi-K2.5", "/m/Kimi-K2.5", "RAWINT4", False),
    ],
)
def test_weights(model: str, weights: str, method: str, *, expected: bool) -> None:
    assert told(NEW.format(model=model, weights=weights, method=method), "reads INT4 weights as Kimi") == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("pip install sglang==0.5.9", True),
        ('pip install "sglang[all]"', True),
        ("pip install sglang==0.5.9 kt-kernel", False),
        ("pip install sglang-kt", False),
        ("pip install sglang==0.5.9\npip install kt-kernel", False),
        ("echo start", False),
    ],
)
def test_kernels(line: str, *, expected: bool) -> None:
    assert told(f"{line}\n{K2.format('', 'RAWINT4')}", "brings no kt-kernel") == expected


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("--node-rank 0 --dist-init-addr 10.0.0.1:30000", True),
        ("--node-rank 0 --dist-init-addr 10.0.0.1:8000 --port 8000", True),
        ("--node-rank 0 --dist-init-addr 10.0.0.1:20000", False),
        ("--node-rank 1 --dist-init-addr 10.0.0.1:30000", False),
        ("--node-rank 0 --dist-init-addr 10.0.0.1:$PORT", False),
    ],
)
def test_the_port_where_ranks_meet(words: str, *, expected: bool) -> None:
    assert told(NODES + words, "is the port of the API too") == expected
