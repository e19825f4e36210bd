"""Commands that YAML folds, their roles by what they do with the cache, and flags beside a layout."""

from __future__ import annotations

import pytest

from moonpad.explain.judge import judge
from moonpad.explain.results import Judged
from moonpad.explain.script import read_script
from moonpad.explain.target_detection import Question

FOLDED = """\
nodes: 2
deployment:
  - server_cmd: >
      vllm serve moonshotai/Kimi-K2-Instruct
        --tensor-parallel-size 8
        --kv-transfer-config
        '{"kv_connector": "NixlConnector",
          "kv_role": "ROLE"
        }'
        --max-model-len 32768
"""


def judged_of(text: str) -> list[Judged]:
    return list(judge(read_script(text), Question()))


@pytest.mark.parametrize(
    ("role", "kind"), [("kv_producer", "prefill"), ("kv_consumer", "decode"), ("kv_both", "serve")]
)
def test_a_folded_command_is_one_line(role: str, kind: str) -> None:
    (judged,) = judged_of(FOLDED.replace("ROLE", role))
    assert judged.kind == kind
    assert judged.settings is not None
    assert judged.settings.max_model_len == 32768


def test_other_commands_behind_it_stay_commands() -> None:
    text = FOLDED.replace("ROLE", "kv_both") + "\n        curl http://localhost:8000/health\n"
    (judged,) = judged_of(text)
    assert "curl" not in judged.commands[0].argv


FLAGS = """\
- benchmark: serving
  model: moonshotai/Kimi-K2-Instruct
  {size}: 8
  extra_args: &common
    --attention-backend: triton
    --mem-fraction-static: 0.85
    --tool-call-parser: kimi_k2
"""


@pytest.mark.parametrize(("size", "expected"), [("tp", 8), ("tensor_parallel_size", 8), ("concurrency", 1)])
def test_a_size_beside_flags(size: str, expected: int) -> None:
    (judged,) = judged_of(FLAGS.format(size=size))
    assert judged.layout is not None
    assert judged.layout.tp == expected


def test_a_size_is_not_written_over() -> None:
    (judged,) = judged_of(FLAGS.format(size="tp") + "    --tp-size: 4\n")
    assert judged.layout is not None
    assert judged.layout.tp == 4


COMMENTED = """services:
  vllm:
    image: vllm/vllm-openai:v0.19.0
    command: >-
      --model moonshotai/Kimi-K2.5
      # eight, since the node has "8"
      --tensor-parallel-size 8
      --max-model-len 32768
"""
IN_POD = """kind: Pod
spec:
  containers:
  - image: vllm/vllm-openai:v0.19.0
    command: ["/bin/sh", "-c"]
    args:
    - >-
      vllm serve moonshotai/Kimi-K2.5
      # eight, since the node has it
      --tensor-parallel-size 8
      --max-model-len 32768
"""


@pytest.mark.parametrize(("text", "line"), [(COMMENTED, 6), (IN_POD, 9)])
def test_a_comment_among_lines_that_become_one(text: str, line: int) -> None:
    script = read_script(text)
    assert [(problem.code, problem.line) for problem in script.problems] == [("comment-in-command", line)]
    (judged,) = judge(script, Question())
    assert judged.layout is not None
    assert judged.layout.tp == 8
    assert judged.settings is not None
    assert judged.settings.max_model_len == 32768


def test_a_comment_behind_the_last_option_takes_nothing() -> None:
    text = IN_POD.replace("      # eight, since the node has it\n", "").replace("32768\n", "32768 # all of it\n")
    assert not read_script(text).problems


def test_words_of_folded_lines_have_their_own_lines() -> None:
    (command,) = read_script(COMMENTED).commands
    assert {word.text: word.line for word in command.argv if word.text.startswith("--")} == {
        "--model": 5,
        "--tensor-parallel-size": 7,
        "--max-model-len": 8,
    }


def test_the_model_beside_a_text_of_options() -> None:
    keys = "vllm:\n  model: moonshotai/Kimi-K2.5\n"
    (judged,) = judged_of(f"{keys}  serve_args: >-\n    --tensor-parallel-size 8\n    --max-num-seqs 64\n")
    assert judged.checkpoint is not None
    assert judged.checkpoint.name == "moonshotai/Kimi-K2.5"
    assert not [finding for finding in judged.findings if "taken to be" in finding.message]
