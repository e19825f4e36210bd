"""Options below "start it with:", the first of which names the model: no program stands in front of them."""

from __future__ import annotations

from tests.unit.explain.judging import ask_one, layout

ARGUMENTS = (
    "  --model moonshotai/Kimi-Linear-48B-A3B-Instruct \\\n  --tensor-parallel-size 2 \\\n  --max-model-len 32768\n"
)


def test_nothing_adds_to_them() -> None:
    judged = ask_one(f"vLLM 0.25.0 ends at its start.\n\nStarted with these arguments:\n{ARGUMENTS}", on="2xH100")
    assert layout(judged) == (2, 1, 1)
    assert not judged.unknown
