"""W4A8 is ModelSlim's for Ascend, and what others call their W4AFP8 for GPUs: a folder's name does not say which."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

SGLANG = "python -m sglang.launch_server --tp 8 --trust-remote-code --model-path"


@pytest.mark.parametrize(
    "text",
    [
        f"# Kimi K2.6 W4A8 on 8xH800 with SGLang\n{SGLANG} /models/Kimi-K2.6-W4A8\n",
        f"# Kimi K2.6 W4A8 on 8xH800 with SGLang\n{SGLANG} /models/weights\n",
        f"# 8xH200\n{SGLANG} /data/Kimi-K2.7-Code-W4A8\n",
        "# 16xH200\nvllm serve /data/Kimi-K2-Instruct-W8A8 --tensor-parallel-size 16 --trust-remote-code\n",
    ],
)
def test_a_name_alone_makes_no_error_on_gpus(text: str) -> None:
    (judged,) = ask(text)
    assert not [finding for finding in judged.findings if finding.severity is Severity.ERROR]
    assert judged.checkpoint is None
    assert "made for Ascend, or of a format for GPUs" in judged.unjudged


@pytest.mark.parametrize(
    "text",
    [
        f"# 8xH800\n{SGLANG} Eco-Tech/Kimi-K2.6-W4A8\n",
        f"# Eco-Tech/Kimi-K2.6-W4A8 on 8xH800\n{SGLANG} /models/Kimi-K2.6-W4A8\n",
    ],
)
def test_the_repository_says_it(text: str) -> None:
    (judged,) = ask(text)
    assert any("made for Ascend" in finding.message for finding in judged.findings)


def test_on_ascend_it_is_judged() -> None:
    text = "# one Atlas 800 A3\nvllm serve /models/Kimi-K2.6-W4A8 --tensor-parallel-size 16 --quantization ascend\n"
    (judged,) = ask(text)
    assert judged.checkpoint is not None
    assert judged.checkpoint.name == "Eco-Tech/Kimi-K2.6-W4A8"


def test_a_report_about_these_weights_is_told_without_their_name() -> None:
    # https://github.com/sgl-project/sglang/issues/29942
    options = "--pp-size 2 --tp-size 8 --dp-size 8 --enable-dp-attention --moe-a2a-backend deepep"
    (judged,) = ask(
        f"# Kimi K2.6 W4A8 on 2x8xH800\n\n- `--trust-remote-code`\n- `python -m sglang.launch_server {options}`\n"
    )
    assert any("29942" in finding.message for finding in judged.findings)
