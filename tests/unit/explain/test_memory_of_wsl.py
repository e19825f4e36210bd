"""The memory that .wslconfig leaves to Linux, for experts that the processor computes."""

from __future__ import annotations

from tests.unit.explain.judging import ask

TEXT = """A box with 512 GB RAM and one RTX 4090. .wslconfig:

[wsl2]
{memory}processors=48

In Ubuntu:

$ ./llama-server -m /m/Kimi-K2-Instruct-0905-UD-Q2_K_XL-00001-of-00008.gguf -c 32768 -ngl 99 -ot ".ffn_.*_exps.=CPU"
"""


def told(memory: str) -> list[str]:
    found = [finding for judged in ask(TEXT.format(memory=memory)) for finding in judged.findings]
    return [finding.message for finding in found if finding.where == "host memory"]


def test_linux_sees_no_more_than_it_is_left() -> None:
    (message,) = told("memory=256GB\n")
    assert "and the text speaks of 256 GB" in message
    assert told("memory=262144MB\n")


def test_enough_is_left_or_nothing_is_said_of_it() -> None:
    assert told("memory=480GB\n") == []
    assert told("") == []
