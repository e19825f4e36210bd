"""Compute buffers in several copies, for which llama.cpp has no room."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

START = "```\n{program} -m /w/Kimi-K2-Instruct-IQ4_XS.gguf -ngl 99 -ot exps=CPU\n```\n\n```\n"
COPIES = "llama_context: pipeline parallelism enabled (n_copies={})\n"
FULL = (
    "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 51200.50 MiB on device 1: "
    "cudaMalloc failed: out of memory\n"
)
LATER = "llama_init_from_model: failed to initialize the context: failed to allocate compute pp buffers\n```\n"


@pytest.mark.parametrize("program", ["llama-server", "./ik_llama.cpp/build/bin/llama-server"])
@pytest.mark.parametrize(("copies", "named"), [(4, True), (2, True), (1, False), (None, False)])
def test_copies_are_named_where_the_log_has_them(program: str, copies: int | None, named: bool) -> None:
    log = (COPIES.format(copies) if copies else "") + FULL + LATER
    (judged,) = ask(START.format(program=program) + log)
    (stopped, *more) = [each for each in judged.findings if "the engine stopped" in each.message]
    assert ("GGML_SCHED_MAX_COPIES=1" in stopped.remedy) is named
    assert not named or "51200.50 MiB" in stopped.message
    assert all("out of memory" not in each.message for each in more), "one fault is told once"
