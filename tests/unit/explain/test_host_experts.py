"""Engines whose experts lie in host memory."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

CHAT = "python -m ktransformers.local_chat --model_path /m/DeepSeek-R1 --gguf_path /m/DeepSeek-R1-GGUF "
SERVER = "python ktransformers/server/main.py --model_path /m/DeepSeek-R1 --gguf_path /m/DeepSeek-R1-GGUF --port 1 "
KT = "python -m sglang.launch_server --model /m/Kimi-K2.5 --kt-weight-path /m/Kimi-K2.5 --kt-method RAWINT4 "
RULES = "--optimize_config_path ktransformers/optimize/optimize_rules/DeepSeek-V3-Chat"
MANY = "--backend_type balance_serve "


def said(text: str, part: str) -> bool:
    return any(part in finding.message for one in ask(text, "", "") for finding in one.findings)


@pytest.mark.parametrize(
    ("before", "threads", "expected"),
    [
        ("Core(s) per socket: 24\nSocket(s): 2\n", 88, "48 cores"),
        ("Core(s) per socket: 24\nSocket(s): 2\n", 48, ""),
        ("Core(s) per socket: 24\n", 88, ""),
        ("Core(s) per socket: 24\nCore(s) per socket: 32\nSocket(s): 2\n", 88, ""),
        ("物理CPU数量：2颗\n每颗核心数：24核\n", 88, "48 cores"),
        ("CPU: Gold 6330, 2 颗，每颗 28 核，内存 2T\n", 65, "56 cores"),
        ("2x 5th-gen Xeon Platinum 64c 128t with 768gb\n", 192, "128 cores"),
        ("the box has 32 physical cores\n", 64, "32 cores"),
        ("the box has 96 logical processors\n", 128, ""),
    ],
)
def test_threads_and_cores(before: str, threads: int, expected: str) -> None:
    for command in (f"{CHAT}--cpu_infer {threads}", f"{KT}--kt-cpuinfer {threads}"):
        assert said(f"{before}\n```\n{command}\n```\n", f"named here have {expected}") is bool(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{KT}--kt-threadpool-count 2 --kt-numa-nodes 0", True),
        (f"{KT}--kt-threadpool-count 2 --kt-numa-nodes 0 1", False),
        (f"{KT}--kt-threadpool-count 1 --kt-numa-nodes 0", False),
        (f"{KT}--kt-numa-nodes 0", False),
    ],
)
def test_nodes_and_pools(text: str, expected: bool) -> None:
    assert said(text, "pools of threads") is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{CHAT}{RULES}-serve.yaml", True),
        (f"{CHAT}{RULES}-multi-gpu.yaml", False),
        (f"{SERVER}{MANY}{RULES}-multi-gpu.yaml", True),
        (f"{SERVER}{MANY}{RULES}-serve.yaml", False),
        (f"{SERVER}{RULES}-serve.yaml", False),
        (f"{SERVER}{MANY}--optimize_config_path /w/own.yaml", False),
        (f"{SERVER}--backend_type ktransformers {RULES}-serve.yaml", True),
    ],
)
def test_rules_and_backend(text: str, expected: bool) -> None:
    assert (said(text, "its modules are for") or said(text, "wants modules of its own")) is expected


@pytest.mark.parametrize(
    ("text", "part", "expected"),
    [
        (f"{SERVER}{MANY}--chunk_size 1500", "a multiple of that", True),
        (f"{SERVER}{MANY}--chunk_size 2048", "a multiple of that", False),
        (f"{SERVER}{MANY}--chunk_size 256", "a multiple of that", False),
        (f"{SERVER}--max_batch_size 4", "are served by", True),
        (f"{SERVER}{MANY}--max_batch_size 4", "are served by", False),
        (f"{SERVER}{MANY}--max_batch_size 4 --cache_lens 8192 --max_new_tokens 4096", "fewer run at once", True),
        (f"{SERVER}{MANY}--max_batch_size 4 --cache_lens 32768 --max_new_tokens 1024", "fewer run at once", False),
        (f"{SERVER}--web False", "switches it on", True),
        (f"{SERVER}--web True", "switches it on", False),
        (CHAT.replace("DeepSeek-R1-GGUF", "DeepSeek-R1"), "is the folder of", True),
        (CHAT, "is the folder of", False),
        (
            f"{CHAT.partition(' --model')[0]} --model_path /path/to/K2 --gguf_path /path/to/K2",
            "is the folder of",
            False,
        ),
        (
            "huggingface-cli download moonshotai/Kimi-K2-Instruct --local-dir ./kimi\n"
            "python -m ktransformers.local_chat --model_path moonshotai/Kimi-K2-Instruct --gguf_path ./kimi",
            "is downloaded there",
            True,
        ),
        (
            "huggingface-cli download unsloth/Kimi-K2-Instruct-GGUF --local-dir ./kimi\n"
            "python -m ktransformers.local_chat --model_path moonshotai/Kimi-K2-Instruct --gguf_path ./kimi",
            "is downloaded there",
            False,
        ),
    ],
)
def test_the_server_of_2025(text: str, part: str, expected: bool) -> None:
    assert said(text, part) is expected


@pytest.mark.parametrize(
    ("model", "folder", "told"),
    [
        ("path/to/Kimi-K2-Thinking/", "path/to/Kimi-K2-Instruct-CPU-weight/", True),
        ("moonshotai/Kimi-K2.6", "/w/Kimi-K2.5", True),
        ("path/to/Kimi-K2-Thinking/", "path/to/Kimi-K2-Thinking-CPU-weight/", False),
        ("/m/Kimi-K2.5", "/m/kimi_k2.5_amx", False),
        ("/m/Kimi-K2-Instruct", "/m/kimi-k2-int4", False),
        ("/m/Kimi-K2.5", "/m/experts", False),
        ("$MODEL", "/w/Kimi-K2.5", False),
    ],
)
def test_experts_of_another_model(model: str, folder: str, told: bool) -> None:
    text = f"python -m sglang.launch_server --model {model} --kt-weight-path {folder} --kt-method AMXINT4"
    assert said(text, "the experts of another model") is told
