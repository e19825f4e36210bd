"""Variables whose first value only stands for one that the script finds out."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask_one

SERVE = 'vllm serve deepseek-ai/DeepSeek-V3 --tensor-parallel-size "$TP" --host 127.0.0.1\n'
FOUND = 'count="$(nvidia-smi -L | wc -l)"\n'
OWN_OR_EIGHT = 'if [[ -n "$count" ]]; then TP="$count"; else TP=8; fi'


@pytest.mark.parametrize(
    ("script", "tp"),
    [
        (f'TP="${{TP:-auto}}"\n{FOUND}if [[ "$TP" == "auto" ]]; then\n  {OWN_OR_EIGHT}\nfi\n', None),
        (f'TP=auto\n{FOUND}if [ "$TP" = auto ]; then\n  if [ -n "$count" ]; then TP=$count; fi\nfi\n', 8),
        ('TP=auto\nif [ "$TP" = auto ]; then TP=8; fi\n', 8),
        ('TP=auto\nif [[ -z "$TP" || "$TP" == auto ]]; then\n  TP=8\nfi\n', 8),
        ('TP=4\nif [ "$TP" = auto ]; then TP=8; fi\n', 4),
        ('TP=4\nif [ "$MODE" = auto ]; then echo automatic; fi\n', 4),
    ],
)
def test_value_that_is_asked_for_does_not_stay(script: str, tp: int | None) -> None:
    judged = ask_one(script + SERVE, on="8xH200")
    messages = [each.message for each in judged.findings if each.severity is Severity.ERROR]
    assert not any("does not take" in message for message in messages)
    if tp is None:
        assert "tp" in judged.unknown
    else:
        assert judged.layout is not None
        assert judged.layout.tp == tp


def test_value_that_stays_is_told() -> None:
    judged = ask_one("TP=auto\n" + SERVE)
    assert any("does not take" in each.message for each in judged.findings)


@pytest.mark.parametrize(
    ("added", "expected"),
    [
        ('[[ "$PARSER" != none ]] && more+=(--reasoning-parser "$PARSER")\n', False),
        ('if [ -n "$PARSER" ]; then MORE="$MORE --reasoning-parser $PARSER"; fi\n', False),
        ("# more+=(--reasoning-parser kimi_k3)\n", True),
        ("", True),
    ],
)
def test_option_that_a_condition_adds(added: str, *, expected: bool) -> None:
    text = (
        f'PARSER="${{PARSER:-kimi_k3}}"\nmore=()\nMORE=\n{added}'
        'python3 -m sglang.launch_server --model-path moonshotai/Kimi-K3 --tp-size 8 ${more[@]+"${more[@]}"} $MORE\n'
    )
    messages = [each.message for each in ask_one(text, on="8xB300").findings]
    assert any("thinks aloud" in message for message in messages) == expected
