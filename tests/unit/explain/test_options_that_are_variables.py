"""A server of llama.cpp that gets all of its options by variables."""

from __future__ import annotations

import pytest

from .judging import ask

MAP = """\
services:
  llama:
    image: ghcr.io/ggml-org/llama.cpp:server-cuda
    environment:
      LLAMA_ARG_MODEL: /models/Kimi-K2-Instruct-Q4_K_M.gguf
      LLAMA_ARG_CTX_SIZE: 8192
      LLAMA_ARG_N_PARALLEL: 2
"""
LIST = """\
services:
  llama:
    image: ghcr.io/ggml-org/llama.cpp:server
    environment:
      - LLAMA_ARG_HF_REPO=unsloth/Kimi-K2-Instruct-GGUF:Q4_K_M
      - LLAMA_ARG_CTX_SIZE=4096
"""
RUN = (
    "docker run -e LLAMA_ARG_MODEL=/m/Kimi-K2-Instruct-Q4_K_M.gguf -e LLAMA_ARG_CTX_SIZE=4096 "
    "ghcr.io/ggml-org/llama.cpp:server\n"
)


@pytest.mark.parametrize(("text", "context"), [(MAP, 4096), (LIST, 4096), (RUN, 4096)], ids=["map", "list", "run"])
def test_it_is_read(text: str, context: int) -> None:
    (judged,) = ask(text, "8xH200")
    assert judged.engine == "llama-cpp"
    assert judged.model_written is not None
    assert "Kimi-K2-Instruct" in judged.model_written
    assert judged.settings is not None
    assert judged.settings.max_model_len == context


def test_the_command_line_goes_before_its_variables() -> None:
    (judged,) = ask("LLAMA_ARG_CTX_SIZE=4096 llama-server -m Kimi-K2-Instruct-Q4_K_M.gguf -c 8192\n", "8xH200")
    assert judged.settings is not None
    assert judged.settings.max_model_len == 8192


@pytest.mark.parametrize(
    "text",
    [
        "docker run ghcr.io/ggml-org/llama.cpp:server\n",
        "docker run -e LLAMA_ARG_MODEL=/m/a.gguf --entrypoint bash ghcr.io/ggml-org/llama.cpp:server\n",
        "docker run -e LLAMA_ARG_MODEL=/m/a.gguf nginx:1.27\n",
    ],
)
def test_no_server_is_made_up(text: str) -> None:
    assert [each for each in ask(text) if each.engine == "llama-cpp" and each.model_written] == []


def test_machines_that_a_variable_names_hold_a_part() -> None:
    (judged,) = ask("LLAMA_ARG_RPC=10.0.0.1:50052 llama-server -m Kimi-K2-Instruct-Q4_K_M.gguf -ngl 99\n", "1xH100")
    assert not [each for each in judged.findings if each.severity.value == "error"]
    assert judged.memory is None


def test_layers_that_a_variable_places_are_not_left_to_the_engine() -> None:
    placed = RUN.replace("-e LLAMA_ARG_CTX_SIZE", "-e LLAMA_ARG_N_GPU_LAYERS=99 -e LLAMA_ARG_CTX_SIZE")
    (judged,) = ask(placed, "8xH200")
    assert judged.memory is not None
