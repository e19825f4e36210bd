"""An error that a sentence quotes from an issue, of another checkpoint, or of a past day, is not the command's."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Code
from tests.unit.explain.judging import ask

COMMAND = "```bash\nsglang serve --model-path moonshotai/Kimi-K3 --tp-size 8{}\n```\n\n"
DRAFT = (
    "the server died while it read its options with\n"
    "`ValueError: Unrecognized model in team/K3-Draft. Should have a model_type key`."
)
"""Broken over two lines, as documents are."""


def failures(text: str) -> list[str]:
    found = [finding for judged in ask(text, "8xMI355X") for finding in judged.findings]
    return [finding.message for finding in found if finding.code is Code.LOGGED_FAILURE]


def test_a_checkpoint_that_the_command_does_not_start() -> None:
    assert not failures(f"# K3\n\n{COMMAND.format('')}Hit for real in August: {DRAFT}\n")


@pytest.mark.parametrize(
    "more",
    [
        " --speculative-algorithm EAGLE --speculative-draft-model-path team/K3-Draft",
        " --speculative-algorithm EAGLE --speculative-draft-model-path /models/k3-draft",
        ' --speculative-algorithm EAGLE --speculative-draft-model-path "$DRAFT"',
    ],
)
def test_one_that_it_starts_or_may_start(more: str) -> None:
    assert failures(f"# K3\n\n{COMMAND.format(more)}Here {DRAFT}\n")


def test_a_report_of_an_issue_that_the_text_refers_to() -> None:
    reference = "SGLang issue [#32569](https://example.org/issues/32569)\nreports drafts crashing with "
    error = "`RuntimeError: CUDA out of memory. Tried to allocate 2 GiB`."
    assert not failures(f"# K3\n\n{COMMAND.format('')}{reference}{error}\n")
    assert failures(f"# K3\n\n{COMMAND.format('')}The server reports {error}\n")
    assert failures(f"# K3\n\n{COMMAND.format('')}Our server crashes as issue #32569 reports, we get {error}\n")


SERVE = "`vllm serve deepseek-ai/DeepSeek-V3-0324 --tensor-parallel-size 16`\n\n"
NCCL = "(Worker pid=71) ERROR 07-28 13:53:40 worker.py:382] RuntimeError: NCCL Error 3: internal error\n"


@pytest.mark.parametrize(
    ("sentence", "theirs"),
    [
        ("DeepSeek-V2-Lite-Chat fails at the same place, but with an NCCL error:", False),
        ("DeepSeek-R1也失败, 报一个NCCL error：", False),
        ("DeepSeek-V3-0324 fails with an NCCL error, as DeepSeek-V2-Lite does:", True),
        ("DeepSeek-V3 fails with an NCCL error:", True),
        ("It fails with:", True),
        ("I am used to DeepSeek-V2-Lite.", True),
    ],
)
def test_a_log_that_a_sentence_gives_to_another_model(sentence: str, theirs: bool) -> None:
    assert bool(failures(f"{SERVE}{sentence}\n\n{NCCL}")) is theirs


LOG = "```\nRuntimeError: Get GPU arch from rocminfo failed\n```\n"


@pytest.mark.parametrize(
    ("lines", "sentence", "theirs"),
    [
        (150, "On this node, on **28 Jul 2026**, the toolkit died on import:", False),
        (150, "It fails here:", True),
        (20, "On this node, on 28 Jul 2026, the toolkit died on import:", True),
    ],
)
def test_an_incident_of_a_day_in_a_part_far_below(lines: int, sentence: str, theirs: bool) -> None:
    between = "Words about the network.\n" * lines
    text = f"# K3\n\n{COMMAND.format('')}{between}\n## When ROCm changes\n\n{sentence}\n\n{LOG}"
    assert bool(failures(text)) is theirs
