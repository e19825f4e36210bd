"""Files of a method, threads of pools, and options without the files, of the engine that keeps experts in RAM."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

ERROR, WARNING = Severity.ERROR, Severity.WARNING
SERVE = (
    "python -m sglang.launch_server --model {} --kt-cpuinfer 64 --kt-threadpool-count 2 --kt-num-gpu-experts 1 "
    "--tensor-parallel-size 1 --trust-remote-code"
)
QWEN = "Qwen/Qwen3-30B-A3B"


def said(text: str, words: str) -> list[Severity]:
    judged = ask(text, "1xH100")
    return [finding.severity for each in judged for finding in each.findings if words in finding.message]


@pytest.mark.parametrize(
    ("model", "files", "method", "expected"),
    [
        (QWEN, "/m/Qwen3-30B-A3B-Q4_K_M.gguf", "AMXINT8", [WARNING]),
        (QWEN, "/m/Qwen3-30B-A3B-Q4_K_M.gguf", "LLAMAFILE", []),
        (QWEN, QWEN, "LLAMAFILE", [ERROR]),
        (QWEN, QWEN, "AMXINT8", [ERROR]),
        (QWEN, QWEN, "BF16", []),
        (QWEN, "/m/Qwen3-30B-A3B-INT8", "AMXINT8", []),
        ("/m/Qwen3-30B-A3B", "/m/Qwen3-30B-A3B/", "AMXINT4", [WARNING]),
        ("/m/Qwen3-30B-A3B-GGUF", "/m/Qwen3-30B-A3B-GGUF", "LLAMAFILE", []),
        ("$MODEL", "$MODEL", "AMXINT4", []),
        (QWEN, QWEN, "$METHOD", []),
        ("moonshotai/Kimi-K2-Thinking", "moonshotai/Kimi-K2-Thinking", "RAWINT4", []),
    ],
)
def test_files_of_a_method(model: str, files: str, method: str, expected: list[Severity]) -> None:
    text = f"{SERVE.format(model)} --kt-weight-path {files} --kt-method {method}"
    found = [
        *said(text, "does not read: it looks for safetensors"),
        *said(text, "is the folder of the model itself"),
    ]
    assert found == expected


@pytest.mark.parametrize(
    ("threads", "pools", "expected"), [("1", "2", 1), ("64", "2", 0), ("2", "2", 0), ("$N", "2", 0)]
)
def test_threads_of_pools(threads: str, pools: str, expected: int) -> None:
    text = f"python -m sglang.launch_server --model {QWEN} --kt-weight-path /m/x --kt-method AMXINT8 "
    text += f"--kt-cpuinfer {threads} --kt-threadpool-count {pools}"
    assert len(said(text, "some pools have none")) == expected


def test_nothing_is_kept_without_files() -> None:
    assert said(f"{SERVE.format(QWEN)} --kt-method BF16", "have no effect") == [WARNING]
    assert not said(f"{SERVE.format(QWEN)} --kt-method BF16 --kt-weight-path {QWEN}", "have no effect")
    assert not said(f"{SERVE.format(QWEN)} --kt-method BF16 --kt-amx-weight-path {QWEN}", "have no effect")
    assert not said(f"python -m sglang.launch_server --model {QWEN} --tp 1", "have no effect")


def test_more_experts_than_there_are() -> None:
    text = SERVE.format(QWEN).replace("--kt-num-gpu-experts 1", "--kt-num-gpu-experts 200")
    assert said(f"{text} --kt-weight-path /m/x --kt-method AMXINT8", "has 128 experts") == [WARNING]
    assert not said(f"{SERVE.format(QWEN)} --kt-weight-path /m/x --kt-method AMXINT8", "has 128 experts")


def test_the_launcher_names_the_weights_by_itself() -> None:
    started = "kt run Kimi-K2.5 --tp 8 --kt-method FP8_PERCHANNEL"
    assert not any("have no effect" in each.message for one in ask(started) for each in one.findings)
    plain = "python -m sglang.launch_server --model-path moonshotai/Kimi-K2.5 --tp-size 8 --kt-method RAWINT4"
    assert any("have no effect" in each.message for one in ask(plain) for each in one.findings)
