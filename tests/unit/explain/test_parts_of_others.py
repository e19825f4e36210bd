"""Options that are no engine's: those of a router in a table of settings, of somebody's program, of a template."""

from __future__ import annotations

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
