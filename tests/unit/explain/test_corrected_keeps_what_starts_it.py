"""What a corrected command keeps of the line around it, and what of it still ends the start."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_script
from moonpad.report.explain_view import explain_view
from tests.unit.explain.judging import ask, ask_one


def _view(text: str) -> str:
    return explain_view(ask(text), read_script(text), 100).plain


# --- launchers ---

_SERVE = "trtllm-serve deepseek-ai/DeepSeek-V3 --backend pytorch --tp_size 16 --extra_llm_api_options ./a.yml"


@pytest.mark.parametrize("launcher", ["trtllm-llmapi-launch ", ""])
def test_the_launcher_of_ranks_stays_inside_of_a_shell(launcher: str) -> None:
    text = f'srun -N 2 --ntasks 16 --mpi=pmix bash -c "{launcher}{_SERVE}"\n'
    (line,) = ask(text)[-1].commands
    assert line.argv[: 1 + bool(launcher)] == (*launcher.split(), "trtllm-serve")


# --- what is left ---

_KT = "python -m sglang.launch_server --model-path /m/Kimi-K2.5 --kt-weight-path /m/w --kt-method RAWINT4 --tp 1"


def test_a_warning_that_the_load_ends_is_named_below_the_corrected_command() -> None:
    assert "Not mended in it: --kt-weight-path" in _view(f"{_KT}\n")
    assert "Not mended in it" not in _view(f"{_KT} --kt-cpuinfer 46\n")


# --- names of models ---


def test_files_that_the_text_names_are_told_where_the_engine_takes_no_others() -> None:
    text = 'name = "kimi-k2-instruct"\nmodel = "unsloth/Kimi-K2-Instruct-GGUF:UD-Q2_K_XL"\nllama-server -c 4096\n'
    (judged,) = ask(text)
    assert "unsloth/Kimi-K2-Instruct-GGUF:UD-Q2_K_XL" in judged.unjudged
    assert "not GGUF" not in judged.unjudged


def test_a_fork_is_named_where_no_release_is() -> None:
    judged = ask_one("~/ik_llama.cpp/build/bin/llama-server -m /m/Kimi-K2-Thinking-UD-Q2_K_XL.gguf -c 4096")
    assert "ik_llama.cpp" in judged.version_because


# --- tensors ---

_LOG = (
    "vllm serve deepseek-ai/DeepSeek-R1 -tp 8 -pp 2\n"
    "RuntimeError: The size of tensor a ({}) must match the size of tensor b ({})\n"
)


@pytest.mark.parametrize(
    ("first", "second", "of_batch"),
    [(1059, 376, True), (376, 1059, True), (1536, 2000, False), (1025, 1024, False), (32001, 32000, False)],
)
def test_odd_lengths_are_of_a_batch(first: int, second: int, of_batch: bool) -> None:
    text = f"```\n{_LOG.format(first, second)}```\n"
    told = [
        each.message for judged in ask(text, "2x8xH20") for each in judged.findings if "size of tensor" in each.message
    ]
    assert told
    assert any("parts of a batch" in each for each in told) is of_batch


def test_a_query_that_is_asked_for_and_not_made() -> None:
    error = (
        "Kimi-K3 fp8 KV cache requires an fp8 prefill query; enable --attention-config '{\"use_prefill_query\": true}'."
    )
    text = f"```\nvllm serve moonshotai/Kimi-K3 -tp 8 --kv-cache-dtype fp8\n```\n```\nAssertionError: {error}\n```\n"
    remedies = [each.remedy for judged in ask(text) for each in judged.findings if str(each.code) == "logged-failure"]
    assert any("mla_prefill_backend TRTLLM_RAGGED" in each for each in remedies)
