"""What `--set` is proposed with where a layout is not known, and sketches beside whole commands."""

from __future__ import annotations

import pytest

from moonpad.explain.commands import Command, Word
from moonpad.explain.judge import _begins_open
from moonpad.explain.script import read_script
from moonpad.explain.word_lists import more
from moonpad.report.explain_view import explain_view
from moonpad.values.records import replace
from tests.unit.explain.judging import ask

SERVE = 'vllm serve deepseek-ai/DeepSeek-V3 --tensor-parallel-size "$TP" --data-parallel-size "$DP"\n'


@pytest.mark.parametrize(
    ("above", "proposed"),
    [
        ("# TP=4 DP=2", "--set tp=4 --set dp=2"),
        ("# per pod: tensor-parallel-size 2 + data-parallel-size 4 -> 8 GPUs", "--set tp=2 --set dp=4"),
        ("#   - tensor parallel: 16", "--set tp=16 --set dp=1"),
        ("# once with TP=4, once with TP=8", "--set tp=8 --set dp=1"),
        ("# EP = TP x DP = 4 x 2", "--set tp=8 --set dp=1"),
        ("# took 4 steps", "--set tp=8 --set dp=1"),
        ("echo tp=4", "--set tp=8 --set dp=1"),
    ],
)
def test_the_layout_of_a_comment_is_proposed(above: str, proposed: str) -> None:
    (judged,) = ask(f"#!/bin/bash\n{above}\n{SERVE}")
    assert proposed in judged.unjudged


@pytest.mark.parametrize(
    ("devices", "above", "proposed"),
    [
        (4, "", "--set tp=4 --set dp=1"),
        (8, "# TP=2", "--set tp=2 --set dp=4"),
        (8, "# DP=4", "--set tp=2 --set dp=4"),
        (4, "# TP=8", "--set tp=8 --set dp=1"),
    ],
)
def test_what_is_proposed_multiplies_to_the_devices_of_the_pod(devices: int, above: str, proposed: str) -> None:
    text = f"""{above}
apiVersion: v1
kind: Pod
metadata:
  name: server
spec:
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.25.1
      args: ["--model", "deepseek-ai/DeepSeek-V3", "-tp", "${{TP}}", "-dp", "${{DP}}"]
      resources:
        limits:
          nvidia.com/gpu: "{devices}"
"""
    (judged,) = ask(text)
    assert proposed in judged.unjudged


def test_options_to_fill_in_are_no_start_beside_a_whole_one() -> None:
    template = "```bash\n--tensor-parallel-size 1\n--data-parallel-size <N>\n--enable-expert-parallel\n```\n"
    whole = "```bash\nvllm serve deepseek-ai/DeepSeek-V3 -tp 8\n```\n"
    assert [judged.model_written for judged in ask(template + whole, "8xH200")] == ["deepseek-ai/DeepSeek-V3"]
    assert len(ask(template, "8xH200")) == 1
    filled_in = template.replace("<N>", "16")
    assert len(ask(filled_in + whole, "8xH200")) == 2


def test_a_command_that_is_left_out_is_not_to_be_supplied() -> None:
    text = "```bash\nvllm serve ... --verbose\n```\n"
    shown = explain_view(ask(text), read_script(text), 100).plain
    assert "has no --verbose" in shown
    assert "--set" not in shown
    assert "... stands for the rest of the command" in shown


def test_what_an_image_adds_is_nothing_to_fill_in() -> None:
    own = Command("fragment", (Word("--kv-cache-dtype"), Word("fp8"), more("<what the image adds>", 3)), line=3)
    assert not _begins_open(own, {"tp"})
    assert _begins_open(replace(own, argv=(Word("--tensor-parallel-size"), Word("<N>"))), {"tp"})
