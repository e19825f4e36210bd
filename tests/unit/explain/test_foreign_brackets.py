"""Brackets that no shell reads: links of Markdown, and functions of Terraform."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_script

SERVE = "vllm serve ${MODEL} --tensor-parallel-size 8\n"
LINK = "MODEL=[Qwen/Qwen3.5-397B-A17B-FP8](https://huggingface.co/Qwen/Qwen3.5-397B-A17B-FP8)\n"
TERRAFORM = """resource "kubernetes_deployment" "vllm" {
  args = ["vllm", "serve", "a/b", "--tensor-parallel-size", tostring(var.size)]
}
"""


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (LINK + SERVE, ["a link of Markdown: the shell reports a syntax error at its bracket"]),
        (LINK.replace("[", "").replace("](", "(") + SERVE, ["the shell reports a syntax error at this bracket"]),
        (TERRAFORM, []),
    ],
)
def test_what_a_bracket_is(text: str, told: list[str]) -> None:
    assert [each.message for each in read_script(text, markdown=False).problems if "bracket" in each.message] == told


@pytest.mark.parametrize(
    "line",
    [
        "evals: half of the answers are noise (see e.g. ~1e30) in this run",
        "(3.25 GiB of cache is wanted, which is larger than what is left",
        "acme/Kimi-K2.5-MXFP4 starts and serves on four cards (gfx950), and what it answers means nothing",
        '{ "text": " of. a-b # x. $ sum_{$~i + I" }',
        "dies within the kernel (grouped_gemm): architecture is not supported",
        "/opt/llama.cpp/build/bin/libggml-base.so.0(ggml_abort+0x15b)[0x7f00]",
        "|  raise ValueError(",
        "MI300X (gfx942), a build of main (August 2026)",
    ],
)
def test_what_is_no_command_has_no_mistake_of_a_shell(line: str) -> None:
    script = read_script(f"vllm serve a/b --tensor-parallel-size 8\n\n{line}\n", markdown=False)
    assert not [each.message for each in script.problems]


@pytest.mark.parametrize("line", ["echo started (8 cards)", "vllm serve a/c --port 8001 (second)", "./run.sh (second)"])
def test_a_command_keeps_its_mistake(line: str) -> None:
    script = read_script(f"vllm serve a/b --tensor-parallel-size 8\n\n{line}\n", markdown=False)
    assert [each.message for each in script.problems] == ["the shell reports a syntax error at this bracket"]


@pytest.mark.parametrize("line", ["vllm serve a/c --port 8001   (one A100 80G)", "./run.sh\t(second)"])
def test_a_remark_that_is_set_off_is_none_of_a_shell(line: str) -> None:
    script = read_script(f"vllm serve a/b --tensor-parallel-size 8\n\n{line}\n", markdown=False)
    assert not script.problems
    program = read_script(f"#!/bin/bash\n{line}\n", markdown=False)
    assert [each.message for each in program.problems] == ["the shell reports a syntax error at this bracket"]


def test_a_statement_of_python_has_no_mistake_of_a_shell() -> None:
    loop = "for chunk in client.chat.completions.create(model=name, stream=True):\n    answer += chunk.text\n"
    assert not read_script(f"vllm serve a/b\n\n{loop}", markdown=False).problems
