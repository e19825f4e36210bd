"""Nothing is called better that a rule or a known report speaks against in the release and on the devices at hand."""

from __future__ import annotations

import shlex

import pytest

from moonpad.explain.results import Judged
from moonpad.values.finding import Code, Severity
from tests.unit.explain.judging import ask_one

K2 = "vllm serve moonshotai/Kimi-K2-Instruct --tensor-parallel-size {tp} --trust-remote-code"
THINKING = "vllm serve moonshotai/Kimi-K2-Thinking --tensor-parallel-size 8 --trust-remote-code"
K3 = "vllm serve moonshotai/Kimi-K3 --tensor-parallel-size 16 --trust-remote-code"


def changed(one: Judged) -> set[str]:
    return {name for better in one.better for name, _ in better.changes}


@pytest.mark.parametrize(
    ("context", "offered"),
    [("--max-model-len 32768", True), ("--max-model-len 131072", False), ("", False)],
)
def test_ranks_that_lose_a_long_context_are_better_for_short_ones_alone(context: str, offered: bool) -> None:
    """vLLM before 0.11.1 puts cached context of several chunks, each of 65,536 tokens at most, together wrongly
    (https://github.com/vllm-project/vllm/pull/28526)."""
    one = ask_one(f"{THINKING} {context}", "8xH200", "0.11.1rc6")
    assert ("dcp" in changed(one)) is offered
    assert "dcp" in changed(ask_one(f"{THINKING} {context}", "8xH200", "0.12.0"))


def test_the_first_line_names_no_way_out_that_is_warned_of() -> None:
    one = ask_one(f"{THINKING} --max-num-seqs 4 --gpu-memory-utilization 0.95", "8xH100", "0.11.0")
    assert one.memory is not None
    assert not one.memory.fits
    assert "dcp" not in changed(one)
    assert not any("decode context" in remark.finding.remedy for remark in one.remarks)


@pytest.mark.parametrize(("devices", "offered"), [("16xH200", False), ("16xB300", True)])
def test_a_cache_whose_prefill_asserts_is_not_better(devices: str, offered: bool) -> None:
    """Kimi-K3 with an FP8 cache needs a query that vLLM makes on Blackwell alone, and there by an option."""
    one = ask_one(f"{K3} --attention-config.use_prefill_query_quantization true", devices, "0.33.0")
    assert ("kv_cache_dtype" in changed(one)) is offered
    told = [remark.finding for remark in one.remarks if remark.finding.code is Code.SUBOPTIMAL]
    assert any("FP8" in finding.remedy for finding in told) is offered


PARSERS = "--enable-auto-tool-choice --tool-call-parser kimi_k2 --reasoning-parser kimi_k2"
SGLANG = "python -m sglang.launch_server --model-path {model} --tp 8 --trust-remote-code"
COMMANDS = (
    (f"{THINKING} {PARSERS}", "8xH200", "0.12.0"),
    (f"{THINKING} {PARSERS}", "8xH200", "0.11.1rc6"),
    (
        f"{THINKING} {PARSERS} --max-model-len 32768 --gpu-memory-utilization 0.95 --max-num-seqs 4",
        "8xH100",
        "0.11.1rc6",
    ),
    (f"{K2.format(tp=16)} --enable-auto-tool-choice --tool-call-parser kimi_k2", "16xH100", "0.10.2"),
    ("vllm serve deepseek-ai/DeepSeek-R1-0528 -tp 8 --reasoning-parser deepseek_r1", "8xMI300X", "0.20.0"),
    (f"vllm serve moonshotai/Kimi-K2.5 -tp 8 --trust-remote-code {PARSERS}", "8xB200", "0.19.0"),
    (SGLANG.format(model="moonshotai/Kimi-K2-Instruct") + " --tool-call-parser kimi_k2", "16xH200", "0.5.9"),
)


@pytest.mark.parametrize(("text", "devices", "version"), COMMANDS)
def test_of_what_is_better_nothing_new_is_warned(text: str, devices: str, version: str) -> None:
    one = ask_one(text, devices, version)
    shown = [better.lines for better in one.better] + ([one.corrected] if one.corrected_with else [])
    assert shown
    before = {remark.finding.message for remark in one.remarks}
    for (line,) in shown:
        other = ask_one(shlex.join(line.argv), devices, version)
        new = [remark.finding for remark in other.remarks if remark.finding.message not in before]
        assert not [finding for finding in new if finding.severity is not Severity.NOTE], line
