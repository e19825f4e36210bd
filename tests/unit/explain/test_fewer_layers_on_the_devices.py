"""What does not fit on several devices by a little: fewer layers on them, where experts need far more host RAM."""

from __future__ import annotations

from moonpad.report.explain_verdict import verdict
from tests.unit.explain.judging import ask

START = "llama-server -m m/Kimi-K2.5-UD-IQ2_XXS-00001-of-00007.gguf -ngl 99 -c 8192"


def test_some_layers_where_the_experts_of_most_would_have_to_go() -> None:
    (judged,) = ask(f"On 4x A100 80GB:\n\n```\n{START}\n```\n")
    assert "layers in host RAM" in verdict(judged)[0]
    assert "experts" not in verdict(judged)[0]
    (line,) = judged.corrected
    assert "--n-cpu-moe" not in line.argv
    assert 50 < int(line.argv[line.argv.index("--n-gpu-layers") + 1]) < 61


def test_experts_where_one_device_holds_all_layers() -> None:
    (judged,) = ask(f"On 1x H200:\n\n```\n{START}\n```\n")
    assert "experts of" in verdict(judged)[0]


def test_experts_where_as_many_layers_would_have_to_go() -> None:
    (judged,) = ask(f"On 2x RTX 4090:\n\n```\n{START}\n```\n")
    assert "experts of" in verdict(judged)[0]
