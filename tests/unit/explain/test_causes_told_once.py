"""A cause is told once, and the first line has it."""

from __future__ import annotations

from moonpad.report.explain_verdict import verdict
from moonpad.values.finding import Code
from tests.unit.explain.judging import ask, ask_one

SERVE = "vllm serve moonshotai/Kimi-K2-Thinking -tp 8 --trust-remote-code"
KT = "python -m sglang.launch_server --model /w/Kimi-K2-Instruct-0905 --kt-weight-path /w/Kimi-K2-Instruct-0905 \
--kt-method FP8 --kt-cpuinfer 60 --kt-threadpool-count 2 --kt-num-gpu-experts 30 --tensor-parallel-size 2 \
--trust-remote-code --mem-fraction-static 0.9 --tool-call-parser kimi_k2"


def test_a_report_about_a_value_that_is_an_error() -> None:
    judged = ask_one(f"{SERVE} -pp 2 --kv-cache-dtype fp8", "2x8xA100")
    assert [each.code for each in judged.findings if each.where == "--kv-cache-dtype"] == [Code.UNSUPPORTED_FORMAT]


def test_a_report_about_a_variable_that_is_an_error() -> None:
    judged = ask_one(f"VLLM_ATTENTION_BACKEND=FLASHMLA {SERVE}", "8xA100", version="0.14.0")
    assert any(each.where == "--attention-backend" for each in judged.findings)
    assert not any(each.where == "VLLM_ATTENTION_BACKEND" for each in judged.findings)


def test_the_log_comes_first_where_the_layout_is_not_known() -> None:
    log = "vllm: error: unrecognized arguments: --ep-size 8"
    judged = ask_one(f"{SERVE} --ep-size 8\n{log}")
    assert judged.unknown
    assert verdict(judged)[0].startswith("Stopped (line 2)")


def test_ram_that_the_text_tells() -> None:
    judged = ask_one(f"# 768 GB of DDR5, 2x RTX PRO 6000\n{KT}", "2xRTX-PRO-6000")
    assert verdict(judged)[0].startswith("Fits on the devices, not in RAM")
    (note,) = [each for each in judged.findings if each.where == "host memory"]
    assert "the text speaks of 768 GB" in note.message


def test_prompts_that_are_computed_whole() -> None:
    text = "python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2-Thinking --tp 8 --trust-remote-code"
    judged = ask_one(f"{text} --chunked-prefill-size -1 --context-length 262144")
    assert any("262144 tokens is computed in one pass" in each.message for each in judged.findings)
    judged = ask_one(f"{text} --chunked-prefill-size -1 --context-length 8192")
    assert not any("in one pass" in each.message for each in judged.findings)


def test_a_report_about_two_options_of_one_command() -> None:
    text = "pip install vllm==0.7.3\nray start --head\n"
    text += "vllm serve deepseek-ai/DeepSeek-R1 -tp 8 -pp 6 --trust-remote-code\n"
    (judged,) = [each for each in ask(text) if each.layout is not None]
    reports = [each.message for each in judged.findings if each.code is Code.KNOWN_REPORT]
    assert any("NCCL 2.21" in each for each in reports)
    assert len(reports) == len({*reports})
