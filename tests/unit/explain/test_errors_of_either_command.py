"""A log below commands with an `or` between them is of each, one below commands that follow each other of the last."""

from __future__ import annotations

import pytest

from moonpad.report.explain_verdict import verdict
from moonpad.values.finding import Code
from tests.unit.explain.judging import ask

FIRST = "vllm serve moonshotai/Kimi-K2.5 --trust-remote-code --tensor-parallel-size 8 --host 127.0.0.1"
SECOND = "vllm serve deepseek-ai/DeepSeek-V3.1 --tensor-parallel-size 8 --host 127.0.0.1"
LOG = """(Worker_TP2 pid=1) ERROR 07-05 13:45:28 [multiproc_executor.py:1000] Traceback (most recent call last):
(Worker_TP2 pid=1) ERROR 07-05 13:45:28 [multiproc_executor.py:1000] {line}
(Worker_TP2 pid=1) ERROR 07-05 13:45:28 [multiproc_executor.py:1000] IndexError: tuple index out of range"""
PLAIN = LOG.format(line='  File "/opt/specs.py", line 39, in num_heads')


def said_of(between: str, log: str = PLAIN, second: str = SECOND) -> list[bool]:
    """Of each command, whether it is said to have written the log."""
    judged = ask(f"```bash\n{FIRST}{between}{second}\n```\nerror log\n```\n{log}\n```\n")
    return [any(finding.code is Code.LOGGED_FAILURE for finding in each.findings) for each in judged]


@pytest.mark.parametrize(
    "between",
    [
        "\n\nor\n\n",
        "\nOR\n",
        "\n# or\n",
        "\n```\n\n**or:**\n\n```bash\n",
        "\n```\n或者\n```\n",
    ],
)
def test_either_command_has_the_error(between: str) -> None:
    assert said_of(between) == [True, True]


@pytest.mark.parametrize(
    "between",
    [
        "\n",
        "\n\n",
        "\n```\nthen\n```bash\n",
        "\n```\nThat works. With the other checkpoint, or on other devices:\n```bash\n",
        "\nor\nexport A=1\n",
    ],
)
def test_the_last_command_has_it(between: str) -> None:
    assert said_of(between) == [False, True]


@pytest.mark.parametrize(
    ("model", "which"),
    [
        ("moonshotai/Kimi-K2.5", [True, False]),
        ("deepseek-ai/DeepSeek-V3.1", [False, True]),
        ("a/b-another", [True, True]),
    ],
)
def test_the_command_whose_checkpoint_the_log_names(model: str, which: list[bool]) -> None:
    assert said_of("\nor\n", LOG.format(line=f"loading {model}")) == which


def test_a_server_of_another_engine_writes_another_log() -> None:
    sglang = "python3 -m sglang.launch_server --model-path deepseek-ai/DeepSeek-V3.1 --tp-size 8 --host 127.0.0.1"
    assert said_of("\nor\n", second=sglang) == [False, True]


WORDS = (
    ('  File "/opt/vllm/models/kimi_k25.py", line 39, in forward', [True, False]),
    ('  File "/opt/vllm/models/deepseek_v31.py", line 39, in forward', [False, True]),
    ("ValueError in KimiK25ForConditionalGeneration", [True, False]),
)


@pytest.mark.parametrize(("line", "which"), WORDS)
@pytest.mark.parametrize("between", ["\nor\n", "\n", "\n```\nand\n```bash\n"])
def test_the_command_whose_model_a_word_of_the_log_is_of(between: str, line: str, which: list[bool]) -> None:
    assert said_of(between, LOG.format(line=line)) == which


def test_a_log_that_names_both_is_of_the_last() -> None:
    assert said_of("\n", LOG.format(line="  File kimi_k25.py, not as in deepseek_v31.py")) == [False, True]


def _first_lines(between: str, line: str) -> list[str]:
    log = LOG.format(line=line)
    judged = ask(f"```bash\n{FIRST}{between}{SECOND}\n```\nerror log\n```\n{log}\n```\n")
    return [verdict(each)[0] for each in judged]


def test_neither_is_said_to_be_the_one() -> None:
    for line in _first_lines("\nor\n", "  File x.py, line 1, in y"):
        assert line.startswith("One of the commands around failed")


def test_one_alone_is() -> None:
    first, second = _first_lines("\nor\n", WORDS[0][0])
    assert first.startswith("Failed (line ")
    assert "ailed" not in second
