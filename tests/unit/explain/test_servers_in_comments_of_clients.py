"""A program in Python that asks a server, and says in a comment how that is started."""

from __future__ import annotations

import pytest

from .judging import ask

CLIENT = 'import openai\n\nclient = openai.OpenAI(base_url="http://localhost:8000/v1", api_key="x")\n'


@pytest.mark.parametrize(
    "comment",
    [
        "# Start the server first:\n#   vllm serve moonshotai/Kimi-K2-Instruct --tensor-parallel-size 8\n",
        "# server: vllm serve moonshotai/Kimi-K2-Instruct --tensor-parallel-size 8\n",
        "# 1. VLLM_USE_V1=1 vllm serve moonshotai/Kimi-K2-Instruct \\\n#      --tensor-parallel-size 8\n# 2. this\n",
        "# $ python -m sglang.launch_server --model-path moonshotai/Kimi-K2-Instruct --tp 8\n",
    ],
)
def test_it_is_read(comment: str) -> None:
    (judged,) = ask(f"{comment}{CLIENT}")
    assert judged.layout is not None
    assert judged.layout.tp == 8


@pytest.mark.parametrize("comment", ["# vllm serve is not used here\n", "# see the guide of vllm\n", ""])
def test_words_about_a_server_start_none(comment: str) -> None:
    assert ask(f"{comment}{CLIENT}") == ()


def test_a_program_that_starts_a_server_itself_is_read_by_that() -> None:
    text = (
        "# vllm serve a/b --tensor-parallel-size 2\nimport subprocess\n\n"
        'subprocess.run(["vllm", "serve", "moonshotai/Kimi-K2-Instruct", "--tensor-parallel-size", "8"])\n'
    )
    (judged,) = ask(text)
    assert judged.layout is not None
    assert judged.layout.tp == 8
