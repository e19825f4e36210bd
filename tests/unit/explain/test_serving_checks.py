"""Modules that are not there, and what a step, a machine and its RAM have room for."""

from __future__ import annotations

import pytest

from moonpad.explain.results import Judged
from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask, ask_one

ERROR, WARNING, NOTE = Severity.ERROR, Severity.WARNING, Severity.NOTE
SGLANG = "python -m sglang.launch_server --model-path deepseek-ai/DeepSeek-V3 --tp 16"


def said(one: Judged, where: str, words: str = "") -> list[Severity]:
    return [finding.severity for finding in one.findings if finding.where == where and words in finding.message]


def test_a_module_that_is_in_no_release_is_named_once() -> None:
    text = f"{SGLANG}\n{SGLANG} --port 30001\npython -m sglang.launch_router --worker-urls http://a:1 http://b:1\n"
    found = [said(one, "sglang.launch_router") for one in ask(text)]
    assert [each for each in found if each] == [[WARNING]]
    right = text.replace("sglang.launch_router", "sglang_router.launch_router")
    assert not any(said(one, "sglang.launch_router") for one in ask(right))


@pytest.mark.parametrize(
    ("config", "batched", "expected"),
    [
        ('{"method":"dspark","num_speculative_tokens":7}', "120", [ERROR]),
        ('{"method":"dspark","num_speculative_tokens":7}', "400", [NOTE]),
        ('{"method":"dspark","num_speculative_tokens":7}', "8192", []),
        ('{"method":"mtp","num_speculative_tokens":3}', "120", [NOTE]),
        ('{"method":"mtp","num_speculative_tokens":1}', "120", []),
        ('{"method":"dspark","num_speculative_tokens":"x"}', "120", []),
        ('{"method":"dspark","num_speculative_tokens":7}', "$TOKENS", []),
    ],
)
def test_tokens_of_a_step(config: str, batched: str, expected: list[Severity]) -> None:
    command = "vllm serve vendor/model -tp 8 --max-num-seqs 60"
    one = ask_one(f"{command} --speculative-config '{config}' --max-num-batched-tokens {batched}", "")
    assert said(one, "--max-num-batched-tokens", "draft tokens") == expected


@pytest.mark.parametrize(
    ("options", "on", "expected"),
    [
        ("-tp 16 --prefill-context-parallel-size 2", "2x8xH200", [WARNING]),
        ("-tp 8 --prefill-context-parallel-size 2", "2x8xH200", []),
        ("-tp 16 --prefill-context-parallel-size $PCP", "2x8xH200", []),
        ("-tp 16 --prefill-context-parallel-size 2", "", []),
    ],
)
def test_prefill_context(options: str, on: str, expected: list[Severity]) -> None:
    one = ask_one(f"vllm serve moonshotai/Kimi-K2.5 {options}", on)
    assert said(one, "--prefill-context-parallel-size", "multiplies") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("max_local_cpu_size: 200", [NOTE]),
        ("export LMCACHE_MAX_LOCAL_CPU_SIZE=40", [NOTE]),
        ("max_local_cpu_size: auto", []),
    ],
)
def test_ram_of_each_worker(text: str, expected: list[Severity]) -> None:
    one = ask_one(f"```bash\nvllm serve vendor/model -tp 4\n```\n\n```yaml\n{text}\n```\n", "")
    assert said(one, "max_local_cpu_size") == expected
    assert not expected or any("4 workers" in finding.message for finding in one.findings)


@pytest.mark.parametrize(
    ("options", "expected"), [("--dcp-replicate-q-proj", True), ("--no-dcp-replicate-q-proj", False), ("", False)]
)
def test_a_switch_that_is_off_is_no_reported_option(options: str, expected: bool) -> None:
    one = ask_one(f"sglang serve --model-path deepseek-ai/DeepSeek-V3 --tp-size 8 --dcp-size 4 {options}", "8xH200")
    assert any("leaves quantised layers out" in finding.message for finding in one.findings) == expected
