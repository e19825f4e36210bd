"""Reports about commands that lack an option: `none` counts as left out where it is what the engine takes by itself."""

from __future__ import annotations

from tests.unit.explain.judging import ask


def test_an_option_that_is_none_counts_as_left_out() -> None:
    text = "sglang serve --model-path openai/gpt-oss-120b --tp 4 --dp 4 --ep 4 --enable-dp-attention"
    for rest in ("", " --moe-a2a-backend none"):
        judged = ask(f"{text}{rest}", "4xB200", "0.5.18")
        assert any("reduced twice" in finding.message for each in judged for finding in each.findings)


def test_auto_of_experts_counts_as_left_out() -> None:
    text = "python3 -m sglang.launch_server --model openai/gpt-oss-20b"
    for rest, told in (("", True), (" --moe-runner-backend auto", True), (" --moe-runner-backend triton", False)):
        judged = ask(f"{text}{rest}", "1xRTX5090", "0.5.4")
        assert told is any("laid out for loads by TMA" in each.message for one in judged for each in one.findings)
