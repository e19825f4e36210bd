"""Releases that a text names, and that are not those which its commands run."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask_one

COMMAND = "\n```bash\nexport VLLM_ROCM_USE_AITER=1\nvllm serve MiniMaxAI/MiniMax-M2 -tp 8 --block-size 128\n```\n"


def _version(text: str) -> str:
    return str(ask_one(text).version)


def test_a_number_of_something_else() -> None:
    text = "# Drafts with Speculators v0.3.0\n\nIts v0.3.0 release trains drafts.\n"
    assert _version(f"{text}{COMMAND}") != "0.3.0"
    assert _version(f"# A guide\n\nWe run the v0.19.0 release here.\n{COMMAND}") == "0.19.0"


def test_a_release_that_brought_something() -> None:
    assert _version(f"# A guide\n\nvLLM 0.9.0 extended the interface of connectors.\n{COMMAND}") != "0.9.0"
    assert _version(f"# A guide\n\nWe measured vLLM 0.24.0 on one machine.\n{COMMAND}") == "0.24.0"


MEASURED = """
## Results of another model

Images: one sweep uses `vllm/vllm-openai-rocm:v0.19.0`, the other `vllm/vllm-openai-rocm:nightly-1234abcd`.
"""


def test_one_of_several_images_of_another_part() -> None:
    text = f"# A guide on MI355X\n\n## Start\n{COMMAND}{MEASURED}"
    assert _version(text) != "0.19.0"
    one = text.replace(", the other `vllm/vllm-openai-rocm:nightly-1234abcd`", "")
    assert _version(one) == "0.19.0"


@pytest.mark.parametrize(("build", "severity"), [("0.5.6.post2.dev80+pr.1.gabc", "warning"), ("0.5.6.post2", "error")])
def test_a_build_of_a_pull_request(build: str, severity: str) -> None:
    start = "python -m sglang.launch_server --model-path XiaomiMiMo/MiMo-V2-Flash --tool-call-parser mimo --enable-mtp"
    text = f"pip install sglang=={build}\n{start}\n"
    found = next(each for each in ask_one(text).findings if "--enable-mtp" in each.where)
    assert found.severity is Severity(severity)


def test_the_least_image() -> None:
    text = "# A guide\n\nTake `vllm/vllm-openai:v0.12.0`{}.\n\n```\nvllm serve Qwen/Qwen3-8B\n```\n"
    assert _version(text.format(" or newer")) != "0.12.0"
    assert _version(text.format("")) == "0.12.0"


def test_an_image_of_a_day_with_the_month_first() -> None:
    assert _version("docker run rocm/vllm-dev:open-mi300-08052025 vllm serve openai/gpt-oss-120b -tp 8\n") == "0.10.0"
