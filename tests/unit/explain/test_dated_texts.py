"""A report that tells its day is judged by the newest release, and given nothing that the release of that day lacks."""

from __future__ import annotations

import pytest

from moonpad.explain.checks.releases.time_of_text import came_after
from moonpad.report.explain_verdict import verdict
from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask, ask_one

SGLANG = """uccl-project/uccl · pull request #562
# [EP] Debug EP=32 DeepEP on Sglang

{}
Command:
```
python -m sglang.launch_server --model-path "$MODEL_PATH" --tp-size 32 --dp-size 32 --ep-size 32 --nnodes 4 \\
  --node-rank 0 --dist-init-addr 10.0.0.1:5000 --trust-remote-code --enable-dp-attention --enable-dp-lm-head \\
  --page-size 64 --cuda-graph-bs 256 --moe-a2a-backend deepep
```
- [ ] Bug fix
"""
NEW = "--cuda-graph-bs-decode"


def _corrected(text: str) -> str:
    return " ".join(word for line in ask_one(text, on="4x8xH200").corrected for word in line.argv)


@pytest.mark.parametrize("head", ["some-one · description · 2025-11-25", "some-one opened on Nov 25, 2025"])
def test_no_option_is_written_that_the_time_of_the_text_lacks(head: str) -> None:
    """--cuda-graph-bs-decode came with SGLang 0.5.20, of September 2026."""
    judged = ask_one(SGLANG.format(head), on="4x8xH200")
    assert NEW not in _corrected(SGLANG.format(head))
    (finding,) = [each for each in judged.findings if each.where == "--cuda-graph-bs"]
    assert finding.severity is Severity.NOTE
    assert (
        "the text is of 2025-11-25, and SGLang 0.5.5.post3 of that time has no --cuda-graph-bs-decode"
        in finding.message
    )


def test_a_text_of_today_gets_what_the_newest_takes() -> None:
    assert NEW in _corrected(SGLANG.format("some-one · description · 2026-11-05"))


@pytest.mark.parametrize("head", ["# EP=32 (Nov 25, 2025)", "Last updated on Nov 25, 2025"])
def test_a_guide_may_be_for_releases_that_lack_it(head: str) -> None:
    assert NEW not in _corrected(SGLANG.format(head))


def test_a_release_that_is_named_counts_more_than_the_day() -> None:
    text = SGLANG.format("some-one · description · 2025-11-25\nSGLang 0.5.23")
    assert NEW in _corrected(text)


def test_faults_of_later_releases_are_not_guessed_at() -> None:
    """uccl-project/uccl#993 is of SGLang 0.5.10 to 0.5.13, from April 2026 on."""
    fault = "UCCL-EP in DeepEP's place"
    assert fault in verdict(ask_one(SGLANG.format(""), on="4x8xH200"))[0]
    assert fault in verdict(ask_one(SGLANG.format("a · comment · 2026-05-25"), on="4x8xH200"))[0]
    assert fault not in verdict(ask_one(SGLANG.format("a · comment · 2025-11-25"), on="4x8xH200"))[0]


SERVE = "```\nvllm serve moonshotai/Kimi-K2.5 -tp 8 --mm-encoder-tp-mode data --trust-remote-code\n```\n"


def test_better_settings_are_those_that_the_time_of_the_text_takes() -> None:
    """vLLM asserts against an FP8 cache with decode context parallelism up to 0.24.0, of June 2026."""

    def offered(head: str) -> list[set[str | None]]:
        judged = ask_one(f"{head}\n{SERVE}", on="8xH20")
        return [{name for name, _ in each.changes} for each in judged.better]

    assert any(len(each) > 1 for each in offered(""))
    assert offered("a · comment · 2026-04-03")
    assert all(len(each) == 1 for each in offered("a · comment · 2026-04-03"))


OLD = "```\nvllm serve moonshotai/Kimi-VL-A3B-Instruct --limit-mm-per-prompt image=64 --trust-remote-code\n```\n"


def test_a_form_that_the_releases_of_the_time_took_is_no_warning() -> None:
    """vLLM 0.9.1 was the newest on 2025-07-01; the options of releases from 0.10.0 on are recorded."""

    def of_the_form(head: str) -> tuple[Severity, str]:
        judged = ask_one(f"{head}\n{OLD}", on="1xH200")
        (finding,) = [each for each in judged.findings if each.where == "--limit-mm-per-prompt"]
        assert any("image" in word for line in judged.corrected for word in line.argv)
        return finding.severity, finding.message

    assert of_the_form("")[0] is Severity.WARNING
    assert of_the_form("a · comment · 2026-01-15")[0] is Severity.WARNING
    severity, message = of_the_form("a · comment · 2025-07-01")
    assert severity is Severity.NOTE
    assert message.endswith("the text is of 2025-07-01, when 0.9.1 was the newest")


def test_a_fault_came_after_a_release() -> None:
    assert came_after("0.5.10", "0.5.6")
    assert not came_after("0.5.6", "0.5.6")
    assert not came_after("", "0.5.6")
    assert not came_after("0.5.10", "")


def test_a_plugin_has_the_options_of_what_it_plugs_into() -> None:
    """vLLM-Ascend 0.9.2rc1 was the newest on 2025-07-15: vLLM 0.9.2 has no decode context parallelism."""

    def offered(head: str) -> list[str]:
        command = "vllm serve moonshotai/Kimi-K2.5 --tensor-parallel-size 16 --max-model-len 32768"
        judged = ask_one(f"{head}\nOn Ascend:\n```\n{command}\n```\n", on="2x8xA3")
        return [name for each in judged.better for name, _ in each.changes]

    assert "dcp" in offered("")
    assert "dcp" in offered("a · comment · 2026-01-08")
    assert "dcp" not in offered("a · comment · 2025-07-15")


@pytest.mark.parametrize(
    ("head", "kept"), [("author · description · 2025-11-12\n", True), ("author · description · 2026-11-12\n", False)]
)
def test_a_variable_whose_option_came_later_stays(head: str, kept: bool) -> None:
    start = "VLLM_ALL2ALL_BACKEND=deepep_low_latency vllm serve moonshotai/Kimi-K2-Thinking -dp 8"
    (judged,) = ask(f"{head}```\n{start} --enable-expert-parallel --reasoning-parser kimi_k2\n```\n")
    (line,) = judged.corrected
    assert ("VLLM_ALL2ALL_BACKEND" in line.env) is kept
    assert ("--all2all-backend" in line.argv) is not kept


NPU = """{}

```bash
export VLLM_ASCEND_BALANCE_SCHEDULING=1
export VLLM_ASCEND_ENABLE_FLASHCOMM1=1
vllm serve /w/MiniMax-M2.1 --tensor-parallel-size 8 --enable-auto-tool-choice --tool-call-parser minimax_m2
```
on vllm-ascend with 8 x 910B
"""
THEN = ["> 说明日期：2026-05-09。", "**Tested on:** May 9, 2026", "Date of this test: 2026-05-09"]


def _npu(head: str) -> tuple[str, list[str]]:
    (judged,) = ask(NPU.format(head))
    shown = ((*(f"{name}={value}" for name, value in line.env.items()), *line.argv) for line in judged.corrected)
    words = " ".join(word for each in shown for word in each)
    return words, [f"{each.severity} {each.where} {each.message}" for each in judged.findings]


@pytest.mark.parametrize("head", THEN)
def test_a_variable_that_the_release_of_the_day_reads_stays(head: str) -> None:
    words, _ = _npu(head)
    assert "VLLM_ASCEND_BALANCE_SCHEDULING=1" in words
    assert "enable_balance_scheduling" not in words


@pytest.mark.parametrize("head", THEN)
def test_what_ends_the_start_of_the_release_of_the_day_is_mended(head: str) -> None:
    words, findings = _npu(head)
    assert "--enable-expert-parallel" in words
    assert any("0.19.1rc1, the newest on 2026-05-09" in each and each.startswith("warning") for each in findings)


def test_with_the_newest_of_its_day_that_alone_counts() -> None:
    words, findings = _npu("说明日期：2026-11-29")
    assert "VLLM_ASCEND_BALANCE_SCHEDULING=1" not in words
    assert not any("the day of the text" in each for each in findings)


@pytest.mark.parametrize("head", ["Last updated on 2026-05-09", "# MiniMax on NPUs"])
def test_without_such_a_day_the_variable_stays_beside_what_takes_its_place(head: str) -> None:
    words, findings = _npu(head)
    assert "VLLM_ASCEND_BALANCE_SCHEDULING=1" in words
    assert "enable_balance_scheduling" in words
    assert not any("the day of the text" in each for each in findings)


def test_no_block_of_fp8_is_divided_on_npus() -> None:
    assert not any("FP8 blocks" in each for each in _npu("")[1])
    on_cuda = ask("vllm serve /w/MiniMax-M2.1 --tensor-parallel-size 8 # on 8x H200")
    assert any("FP8 blocks" in each.message for one in on_cuda for each in one.findings)
