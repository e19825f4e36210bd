"""Slips around a command: redirections in a unit, CMD behind a shell's ENTRYPOINT, folders, own addresses, devices."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_script
from tests.unit.explain.judging import ask

SERVE = "vllm serve moonshotai/Kimi-K2.5 --tensor-parallel-size 8"
JSON = '--json-model-override-args {"rope_theta": 50000}'
COMPOSE = """services:
  kimi:
    image: vllm/vllm-openai:v0.19.0
    command: [moonshotai/Kimi-K2.5, --tensor-parallel-size, "8"]
    runtime: nvidia
    ipc: host
    environment:
      - NVIDIA_VISIBLE_DEVICES=LIST
"""


def codes(text: str) -> list[str]:
    return [problem.code for problem in read_script(text).problems]


def told(text: str, words: str) -> list[str]:
    return [finding.where for judged in ask(text) for finding in judged.findings if words in finding.message]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (f"{SERVE} > /var/log/vllm.log 2>&1", ["no-shell"]),
        (f"/usr/bin/env {SERVE} | tee /tmp/log", ["no-shell"]),
        (f"/bin/bash -c '{SERVE} > /var/log/vllm.log 2>&1'", []),
        (f'/bin/bash -c "{SERVE} | tee /tmp/log"', []),
        (SERVE, []),
    ],
)
def test_a_unit_has_no_shell(line: str, expected: list[str]) -> None:
    assert codes(f"[Service]\nExecStart={line}\nRestart=always\n") == expected


@pytest.mark.parametrize(
    ("entrypoint", "expected"),
    [(SERVE, ["cmd-not-read"]), ('["vllm", "serve", "moonshotai/Kimi-K2.5"]', [])],
)
def test_cmd_behind_an_entrypoint(entrypoint: str, expected: list[str]) -> None:
    text = f'FROM vllm/vllm-openai:v0.19.0\nENTRYPOINT {entrypoint}\nCMD ["--port", "8000"]\n'
    assert codes(text) == expected


@pytest.mark.parametrize(
    ("download", "model", "expected"),
    [
        ("/models/kimi", "/models/kimi-k2.5", ["model"]),
        ("/models/kimi", "/models/kimi", []),
        ("/models/kimi", "/weights/kimi-k2.5", []),
        ("/models/$NAME", "/models/kimi-k2.5", []),
    ],
)
def test_a_folder_beside_that_of_the_download(download: str, model: str, expected: list[str]) -> None:
    text = f"hf download moonshotai/Kimi-K2.5 --local-dir {download}\nvllm serve {model} -tp 8\n"
    assert told(text, "are downloaded into") == expected


@pytest.mark.parametrize(("own", "expected"), [("10.0.0.2", ["--master-addr"]), ("10.0.0.3", [])])
def test_a_later_rank_that_asks_itself(own: str, expected: list[str]) -> None:
    text = f"export VLLM_HOST_IP={own}\n{SERVE} -pp 2 --nnodes 2 --node-rank 1 --headless --master-addr 10.0.0.2\n"
    assert told(text, "own address") == expected


@pytest.mark.parametrize(
    ("devices", "expected"), [("0,1", ["NVIDIA_VISIBLE_DEVICES"]), ("all", []), ("0,1,2,3,4,5,6,7", [])]
)
def test_devices_of_the_runtime(devices: str, expected: list[str]) -> None:
    assert told(COMPOSE.replace("LIST", devices), "the process sees") == expected


def test_the_devices_of_an_option_count_alone() -> None:
    text = "docker run --gpus all --ipc host -e NVIDIA_VISIBLE_DEVICES=0,1 vllm/vllm-openai:v0.19.0 --model a/b -tp 8\n"
    assert told(text, "the process sees") == []


@pytest.mark.parametrize(("option", "expected"), [(JSON, ["--json-model-override-args"]), (f"'{JSON}'", [])])
def test_an_object_without_quotes(option: str, expected: list[str]) -> None:
    text = f"sglang serve --model-path moonshotai/Kimi-K2.5 --tp-size 8 {option}\n"
    assert told(text, "the shell takes its quotes away") == expected


def test_a_step_without_chunks_against_the_models_own_length() -> None:
    text = f"{SERVE} --no-enable-chunked-prefill --max-num-batched-tokens 8192\n"
    assert told(text, "since chunked prefill is off") == ["--max-num-batched-tokens"]
    assert told(text + "  ", "prompts of up to 262144") == ["--max-num-batched-tokens"]
    short = text.replace("8192", "8192 --max-model-len 8192")
    assert told(short, "since chunked prefill is off") == []


@pytest.mark.parametrize(
    ("nodes", "pools", "expected"),
    [
        ("4 NUMA nodes", 2, ["--kt-threadpool-count"]),
        ("NUMA node(s): 8", 2, ["--kt-threadpool-count"]),
        ("2 NUMA nodes", 2, []),
        ("NUMA node 0 has 64 GB", 2, []),
        ("2 NUMA nodes; the other machine has 4 NUMA nodes", 2, []),
    ],
)
def test_pools_of_threads(nodes: str, pools: int, expected: list[str]) -> None:
    command = "python -m sglang.launch_server --model /m --kt-weight-path /m --kt-method RAWINT4 --kt-cpuinfer 60"
    text = f"Xeon, {nodes}\n```\n{command} --kt-threadpool-count {pools} --kt-num-gpu-experts 1\n```\n"
    assert told(text, "NUMA nodes: there is one pool") == expected


def test_a_shell_is_given_a_program() -> None:
    start = "python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2.5 --tp-size 8\n"
    assert codes(f"A=1 bash {start}") == ["no-such-command"]
    assert codes(start) == codes(f"bash -c '{start.strip()}'\n") == codes("bash run.sh\n" + start) == []
    assert [one.layout.tp for one in ask(f"bash {start}") if one.layout] == [8]


@pytest.mark.parametrize(("other", "expected"), [("dynamo.sglang.decode_worker", 1), ("dynamo.sglang", 0)])
def test_modules_of_one_worker(other: str, expected: int) -> None:
    options = "--model-path moonshotai/Kimi-K2.5 --tp 16 --dist-init-addr 10.0.0.1:29500 --nnodes 2 --node-rank"
    text = f"```\npython3 -m dynamo.sglang {options} 0\n```\n```\npython3 -m {other} {options} 1\n```\n"
    assert len(told(text, "started by the same module")) == expected


def test_the_end_of_code_on_the_next_line() -> None:
    text = "I am trying this:\n\n`vllm serve moonshotai/Kimi-K2.5 --tensor-parallel-size 8\n`\n\nBut it ends.\n"
    assert [one.layout.tp for one in ask(text) if one.layout] == [8]
