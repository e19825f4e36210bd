"""A start whose command has no option: in a sentence, in a list of Python, in JSON."""

from __future__ import annotations

import json

import pytest

from moonpad.explain.results import Judged
from moonpad.explain.script import read_files
from tests.unit.explain import judging

K2T = "moonshotai/Kimi-K2-Thinking"


def ask(text: str, name: str = "question.txt") -> tuple[Judged, ...]:
    return judging.ask(read_files([(name, text)], ()))


@pytest.mark.parametrize(
    "text",
    [
        f"I start `vllm serve {K2T}` on 8x H100 and it runs out of memory.\n",
        f"在 8 张 H100 上执行 vllm serve {K2T}，显存不足。\n",
        f'# on 8x H100\nimport os\nos.system("vllm serve {K2T}")\n',
        f'# on 8x H100\nimport subprocess\nsubprocess.Popen(["vllm", "serve", "{K2T}"])\n',
        f"We tried vllm serve {K2T}. It is a node of 8x H100.\n",
    ],
)
def test_it_is_judged_on_one_device(text: str) -> None:
    (judged,) = ask(text)
    assert (judged.engine, judged.model_written, judged.layout_words) == ("vllm", K2T, "TP1")
    assert judged.memory is not None
    assert not judged.memory.fits


def test_of_tensorrt_llm() -> None:
    (judged,) = ask("`trtllm-serve nvidia/Kimi-K2-Thinking-NVFP4` on 4x B200 hangs.\n")
    assert (judged.engine, judged.layout_words) == ("tensorrt-llm", "TP1")


def test_what_the_sentence_says_of_the_layout_is_not_passed_over() -> None:
    (judged,) = ask(f"I start `vllm serve {K2T}` with tensor parallel over 8x H200 and it hangs.\n")
    assert "tp" in judged.unknown


@pytest.mark.parametrize(
    "text",
    [
        f"Use SGLang instead of vllm serve {K2T} there.\n",
        f'"""Asks a server:\n\n    vllm serve {K2T}\n"""\nimport openai\n\nopenai.OpenAI()\n',
    ],
)
def test_what_starts_nothing(text: str) -> None:
    assert ask(text) == ()


def test_a_client_that_names_its_server() -> None:
    text = f"Against `vllm serve {K2T}`:\n```bash\nvllm bench serve --model {K2T} --port 8000\n```\n"
    assert [judged.kind for judged in ask(text)] == ["client"]


def test_a_list_in_json_is_run_as_it_is() -> None:
    words = ["vllm", "serve", K2T, "--trust-remote-code", "--max-model-len", "32768"]
    (judged,) = ask(json.dumps({"name": "kimi", "command": words}))
    assert judged.layout_words == "TP1"


def test_the_maker_s_image_of_llama_cpp_is_no_other_build() -> None:
    (judged,) = ask(
        "docker run --gpus all -v /data:/models ghcr.io/ggml-org/llama.cpp:server-cuda -m /models/k2.gguf --port 8080 "
        "--no-such-option\n"
    )
    (error,) = [finding for finding in judged.findings if finding.where == "--no-such-option"]
    assert "another build" not in error.message
