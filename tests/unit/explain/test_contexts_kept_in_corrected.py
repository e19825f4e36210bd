"""The context that is asked for stays in what is corrected or proposed, as long as something else makes room or mends
the fault."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask_one

PARSERS = "--trust-remote-code --tool-call-parser kimi_k2 --enable-auto-tool-choice --reasoning-parser kimi_k2"


def words(text: str, on: str) -> list[tuple[str, ...]]:
    judged = ask_one(text, on)
    return [line.argv for better in judged.better for line in better.lines] + [line.argv for line in judged.corrected]


def context(argv: tuple[str, ...]) -> str:
    return argv[argv.index("--max-model-len") + 1]


def test_fewer_sequences_come_before_a_shorter_context() -> None:
    """On 8xH100 as many sequences as are usual leave nothing; with 64 the whole context is held over DCP."""
    text = (
        f"vllm serve moonshotai/Kimi-K2.7-Code -tp 8 --max-model-len 24576 --gpu-memory-utilization 0.91 {PARSERS} "
        "--mm-encoder-tp-mode data\n"
    )
    shown = words(text, "8xH100")
    assert shown
    assert {context(argv) for argv in shown} == {"24576"}
    assert any("64" in argv and "--decode-context-parallel-size" in argv for argv in shown)


def test_a_context_that_nothing_else_holds_is_shortened_still() -> None:
    text = "python -m sglang.launch_server --model-path moonshotai/Kimi-K2.5 --tp 8 --trust-remote-code"
    judged = ask_one(f"{text} --context-length 262144\n", "8xH100")
    assert any(better.why.startswith("a context of ") for better in judged.better)


@pytest.mark.parametrize("asked", ["98304", "131072"])
def test_positions_that_a_scaling_stretches_are_not_cut(asked: str) -> None:
    """The remedy names the scaling as well: which of both is for the reader to say."""
    judged = ask_one(
        f"vllm serve Qwen/Qwen3-235B-A22B -tp 4 --max-model-len {asked} --enable-expert-parallel\n", version="0.8.5"
    )
    assert any("YaRN" in finding.remedy for finding in judged.findings)
    assert all(context(line.argv) == asked for line in judged.corrected)
