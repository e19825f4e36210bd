"""Options that are no engine's: those of a router in a table of settings, of somebody's program, of a template."""

from __future__ import annotations

import pytest

from moonpad.explain.documents.spoken_names import NAME
from moonpad.values.finding import Code
from tests.unit.explain.judging import ask

ROUTER = """
frontend:
  type: sglang
  args:
    overlap-score-weight: 1
    router-ttl: 120.0
"""
OWN_PROGRAM = """
CMD=(
  "$PYTHON" measure/direct.py
  --model-path "$MODEL"
  --tp-size 4
  --quantization nvfp4_own
  --context-len 65536
)
timeout 60 "${CMD[@]}"
"""
TEMPLATE = "vllm serve Qwen/Qwen3-8B --port 8000 %%PART:drafts%%--enable-prefix-caching %%/PART:drafts%%\n"


def codes(text: str) -> set[Code]:
    return {finding.code for judged in ask(text) for finding in judged.findings} - {Code.INSECURE, Code.MISSING_FLAG}


def test_a_mapping_without_one_option_of_the_engine_is_of_another_part() -> None:
    assert not ask(ROUTER)
    assert ask(ROUTER.replace("router-ttl", "tp-size"))


def test_the_values_of_somebody_s_own_program() -> None:
    assert codes(OWN_PROGRAM) == set()


def test_marks_of_a_template() -> None:
    assert codes(TEMPLATE) == set()
    assert Code.INVALID_VALUE in codes(TEMPLATE.replace("%%PART:drafts%%", "Qwen").replace("%%/PART:drafts%%", ""))


USAGE = """
The installer of llama-server takes:

```
--port PORT           where the page listens
--bind ADDR           its address, all by default
--models-dir DIR      the folder of models
--no-start            writes the unit and does not start it
```
"""
AUDIT = """
Before any change read the live
llama-server command line. Any default on the axis that is varied
replaces what the request leaves out.
"""


@pytest.mark.parametrize("text", [USAGE, AUDIT, "# --- Step 2: Install the llama-server binary ---\napt-get update\n"])
def test_what_a_text_tells_of_a_program(text: str) -> None:
    assert not ask(text)


def test_a_later_part_with_another_image() -> None:
    part = "## {title}\n\n```bash\nexport IMAGE=nvcr.io/nvidia/vllm:{tag}-py3\n```\n\n" + "Wait for it.\n\n" * 8
    start = "## {title}\n\n```bash\nvllm serve Qwen/Qwen3-8B\n```\n\n" + "Ask it.\n\n" * 8
    text = "# Guide\n\n" + part.format(title="One: images", tag="25.11") + start.format(title="One: start")
    text += part.format(title="Two: images", tag="26.02") + start.format(title="Two: start")
    assert [judged.version for judged in ask(text)] == ["0.11.0", "0.15.1"]


def test_a_list_of_options_listens_nowhere() -> None:
    text = "Set these:\n```\n--reasoning-parser qwen3\n--enable-auto-tool-choice\n--tool-call-parser qwen3_xml\n"
    text += "--max-model-len 8192\n--max-num-seqs 8\n--kv-cache-dtype fp8\n--enable-prefix-caching\n```\n"
    text += "then `curl localhost:8080/v1/models`\n"
    assert not any("goes to port" in finding.message for judged in ask(text) for finding in judged.findings)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("see minimax-m2.5-nvfp4.md for it", None),
        ("of minimax-m2.5-nvfp4 and others", "minimax-m2.5-nvfp4"),
        ("logs/kimi-k2.log", None),
    ],
)
def test_a_file_that_is_called_after_a_model(text: str, name: str | None) -> None:
    assert [match for match in NAME.findall(text) if "-" in match] == ([name] if name else [])
