"""Half a command is no correction, prose is no YAML, and numbers of a list stand apart."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_script
from tests.unit.explain.judging import ask

START = "llama-server -m /w/Kimi-K2-Instruct-0905-IQ4_XS-00001-of-00011.gguf -ngl 99 -ot {},exps=CPU --port 8080\n"
PATTERN = r"blk\.(3|4|5)\.ffn_.*_exps\.=CUDA0"


def test_half_a_command_is_no_correction() -> None:
    (cut,) = ask(START.format(PATTERN) + "# -fa\n")
    assert not cut.corrected
    (whole,) = ask(START.format(f"'{PATTERN}'").replace(",exps=CPU", "").replace("00001", "00002"))
    assert whole.corrected


@pytest.mark.parametrize("last", ["(the GGUF is 381 GB in all) It runs.", "It runs, slowly."])
def test_prose_below_a_colon_is_no_yaml(last: str) -> None:
    script = read_script(f"Specs: one RTX 4090 24 GB, 128 GB DDR5\n\n    {START.format('exps=CPU')}\n{last}\n")
    assert [problem.message for problem in script.problems] == []
    assert [command.program for command in script.commands].count("llama-server") == 1


def remedies(text: str, version: str = "") -> list[str]:
    found = [each for one in ask(text, "", version) for each in one.findings if "does not take" in each.message]
    return [each.remedy for each in found]


GRAPHS = "python3 -m sglang.launch_server --model-path Qwen/Qwen3-32B --tp-size 4 --cuda-graph-bs {}\n"


@pytest.mark.parametrize(
    ("text", "version", "expected"),
    [
        (GRAPHS.format("1,2,4"), "0.5.11", ["write --cuda-graph-bs 1 2 4, with blanks between the numbers"]),
        (GRAPHS.format("[1,2,4]"), "0.5.11", ["write --cuda-graph-bs 1 2 4, with blanks between the numbers"]),
        (GRAPHS.format("1,2,4"), "", ["write 1 2 4 behind it, with blanks between the numbers"]),
        (GRAPHS.format("1 2 4"), "0.5.11", []),
        (GRAPHS.format("1 2 4"), "", []),
        (GRAPHS.format("x,y"), "0.5.11", ["it takes a whole number"]),
    ],
)
def test_numbers_of_a_list_stand_apart(text: str, version: str, expected: list[str]) -> None:
    assert remedies(text, version) == expected
