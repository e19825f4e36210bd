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
