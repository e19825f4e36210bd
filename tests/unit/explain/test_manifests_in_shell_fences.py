"""A manifest in a fence that names the shell is read as the manifest that it is."""

import pytest

from tests.unit.explain.judging import ask, first_line

POD = """apiVersion: v1
kind: Pod
metadata:
  name: a
spec:
  containers:
    - name: a
      image: lmsysorg/sglang:v0.4.6
      command: ["sh", "-c"]
      args:
      - >
        python3 -m sglang.launch_server
        --model-path deepseek-ai/DeepSeek-R1
        --tp 8
"""
COMPOSE = """services:
  a:
    image: vllm/vllm-openai:v0.20.0
    command: >
      --model moonshotai/Kimi-K2-Instruct
      --tensor-parallel-size 8
"""


@pytest.mark.parametrize("language", ["shell", "bash", "yaml", ""])
@pytest.mark.parametrize(("manifest", "layout"), [(POD, "TP8"), (f"# a pod\n---\n{POD}", "TP8"), (COMPOSE, "TP8")])
def test_folded_arguments_are_no_lines_of_a_shell(language: str, manifest: str, layout: str) -> None:
    text = f"# A guide\n\n```{language}\n{manifest}```\n"
    (judged,) = ask(text)
    assert judged.layout_words == layout
    assert "The shell does not read it" not in first_line(text)


def test_a_script_that_writes_a_manifest_stays_a_script() -> None:
    text = f"# A guide\n\n```shell\ncat > pod.yaml <<EOF\n{POD}EOF\nkubectl apply -f pod.yaml\n```\n"
    (judged,) = ask(text)
    assert judged.layout_words == "TP8"
