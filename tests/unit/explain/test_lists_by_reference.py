"""A list of options that YAML's own reference brings is given, and not guessed."""

from __future__ import annotations

from tests.unit.explain.judging import ask

CASES = """_common: &common
  - "--tensor-parallel-size"
  - "4"
  - "--data-parallel-size"
  - "4"
  - "--enable-expert-parallel"
  - "--port"
  - "$SERVER_PORT"

test_cases:
  - name: "one"
    model: "Eco-Tech/Kimi-K2.5-W4A8"
    server_cmd: *common
    server_cmd_extra:
      - "--max-model-len"
      - "32768"
      - "--quantization"
      - "ascend"
"""
PAGE = """Serve it with these options:

--model moonshotai/Kimi-K2-Thinking --tensor-parallel-size 8 --trust-remote-code --tool-call-parser kimi_k2

For long contexts:

--model moonshotai/Kimi-K2-Thinking --max-model-len 262144 --tool-call-parser kimi_k2 --enable-auto-tool-choice
"""


def messages(text: str) -> str:
    return "\n".join(finding.message for judged in ask(text) for finding in judged.all_findings)


def test_what_an_alias_brings_is_not_said_to_lack() -> None:
    (judged,) = ask(CASES)
    assert judged.layout is not None
    assert (judged.layout.tp, judged.layout.dp) == (4, 4)
    assert "no layout is given" not in messages(CASES)


def test_a_list_that_no_reference_brings_is_said_to_be_taken() -> None:
    assert "no layout is given" in messages(PAGE)
