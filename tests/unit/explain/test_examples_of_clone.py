"""Files of the engine's repository that a package does not bring."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

SERVE = "vllm serve Qwen/Qwen3-8B --chat-template examples/tool_chat_template_hermes.jinja"


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (f"pip install vllm\n{SERVE}\n", 1),
        (f"uv pip install vllm==0.20.0\n{SERVE}\n", 1),
        (f"pip install vllm\n{SERVE.replace('examples/', '/srv/')}\n", 0),
        (f"git clone https://github.com/vllm-project/vllm\ncd vllm\npip install vllm\n{SERVE}\n", 0),
        (f"cd ~/vllm\npip install -e .\n{SERVE}\n", 0),
        (f"docker run -it vllm/vllm-openai:v0.20.0 bash\npip install vllm\n{SERVE}\n", 0),
        (f"{SERVE}\n", 0),
    ],
)
def test_a_file_that_no_step_fetches(text: str, count: int) -> None:
    findings = [finding for judged in ask(text) for finding in judged.findings]
    assert sum("lies in the engine's repository" in finding.message for finding in findings) == count
