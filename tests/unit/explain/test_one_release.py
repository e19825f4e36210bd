"""Where a command needs a later release, all of its remedies name the same one."""

from __future__ import annotations

import re

from tests.unit.explain.judging import ask

SERVE = "vllm serve moonshotai/Kimi-K2.6 --tensor-parallel-size 8 --trust-remote-code\n"


def releases(text: str) -> set[str]:
    (judged,) = ask(text)
    told = [
        each.finding.remedy for each in judged.remarks if not each.of_former and each.finding.code != "mended-later"
    ]
    return {match for remedy in told for match in re.findall(r"take (?:vllm |vLLM )?(\d[\d.]*\d) or", remedy)}


def test_the_highest_is_named_everywhere() -> None:
    assert releases(f"We run vllm 0.10.0 on 8x H200.\n\n```bash\n{SERVE}```\n") == {"0.15.0"}


def test_without_need_each_fault_names_its_own() -> None:
    text = "vllm serve moonshotai/Kimi-K2-Thinking --tensor-parallel-size 8 --trust-remote-code "
    more = "--enable-auto-tool-choice --tool-call-parser kimi_k2 --reasoning-parser kimi_k2"
    assert "0.20.0" in releases(f"We run vllm 0.11.1 on 8x H200.\n\n```bash\n{text}{more}\n```\n")
