"""An object of JSON that stands in several strings of a list, where no shell splits words."""

from __future__ import annotations

import json

import pytest

from moonpad.values.finding import Severity

from .judging import ask

PYTHON = """server_args = [
    "--tensor-parallel-size", "8", "--quantization", "ascend",
    "--additional-config", {pieces}
]
with RemoteOpenAIServer("vllm-ascend/DeepSeek-R1-W8A8", server_args):
    pass
"""
NIX = """args = [
  "--tensor-parallel-size" "8" "--quantization" "ascend" "--max-model-len" "4096"
];
"""
POD = """apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  containers:
  - name: a
    image: vllm/vllm-openai:v0.20.0
    args: [--model, moonshotai/Kimi-K2.6, --tensor-parallel-size, "8", --override-generation-config, PIECES]
"""


def errors(text: str) -> list[str]:
    return [each.message for one in ask(text) for each in one.findings if each.severity is Severity.ERROR]


@pytest.mark.parametrize(
    "pieces",
    [
        """'{"enable_cpu_binding": true, '\n    '"enable_shared_expert_dp": false}'""",
        """'{"enable_cpu_binding": true, ' +\n    '"enable_shared_expert_dp": false}'""",
        """'{"enable_cpu_binding": true, "enable_shared_expert_dp": false}'""",
    ],
)
def test_python_joins_strings_without_a_comma(pieces: str) -> None:
    (judged,) = ask(PYTHON.replace("{pieces}", pieces))
    assert not errors(PYTHON.replace("{pieces}", pieces))
    words = [word.text for word in judged.sources[0].argv]
    at = words.index("--additional-config")
    assert json.loads(words[at + 1]) == {"enable_cpu_binding": True, "enable_shared_expert_dp": False}


def test_lists_of_other_languages_need_no_commas() -> None:
    (judged,) = ask(NIX)
    words = [word.text for word in judged.sources[0].argv]
    assert words[:4] == ["--tensor-parallel-size", "8", "--quantization", "ascend"]


def test_two_items_of_a_list_are_two_words() -> None:
    (told,) = errors(POD.replace("PIECES", """'{"temperature": 1,', '"top_p": 0.9}'"""))
    assert "several words" in told
    assert "shell" not in told


def test_a_shell_splits_at_blanks() -> None:
    serve = "vllm serve moonshotai/Kimi-K2.6 --tensor-parallel-size 8 --override-generation-config"
    assert any("shell" in each for each in errors(f"{serve} {{'temperature': 1, 'top_p': 0.9}}\n"))
