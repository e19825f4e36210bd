"""What a corrected command of several nodes does not mend, and the first line about code that is not run."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_script
from moonpad.report.explain_verdict import verdict
from moonpad.report.explain_view import explain_view

from .judging import ask

NODE = (
    "python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2.5 --trust-remote-code --tp 16 --nnodes 2 "
    "--node-rank {rank} --dist-init-addr 10.0.0.1:5000\n"
)


@pytest.mark.parametrize(("ranks", "left"), [((0,), True), ((0, 1), False)])
def test_the_other_nodes_are_not_in_it(ranks: tuple[int, ...], left: bool) -> None:
    text = "\n".join(f"# node {rank}\n{NODE.format(rank=rank)}" for rank in ranks)
    judged = ask(text)
    view = explain_view(judged, read_script(text), 100).plain
    assert "Corrected" in view
    assert ("Not mended in it: --node-rank" in view) is left


def test_the_release_that_ends_without_the_code_is_in_the_first_line() -> None:
    command = "python3 -m sglang.launch_server --model-path $MODEL_PATH --served-model-name moonshotai/Kimi-K2-Instruct"
    (judged,) = ask(f"{command} --tp 8\n", version="0.5.5.post3")
    sentence, _ = verdict(judged)
    assert sentence.startswith("--trust-remote-code is missing: SGLang 0.5.5.post3 ends at its start without it. ")


def test_an_option_that_is_taken_out_is_not_left() -> None:
    options = "--speculative-algorithm EAGLE --enable-multi-layer-eagle"
    text = f"python -m sglang.launch_server --model-path unsloth/Llama-3.2-1B-Instruct {options}\n"
    view = explain_view(ask(text, version="0.5.18"), read_script(text), 100).plain
    assert "Corrected" in view
    assert "Not mended in it" not in view
