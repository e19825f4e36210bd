"""An error whose class a fault of older releases names, and no other one, is perhaps that fault."""

from __future__ import annotations

from moonpad.report.explain_verdict import verdict
from tests.unit.explain.judging import only_server

COMMAND = (
    "docker run --gpus all --ipc=host vllm/vllm-openai:{version} --model deepseek-ai/DeepSeek-V4-Flash"
    " --tensor-parallel-size 8 --kv-cache-dtype fp8"
)


def first_line(error: str, version: str = "v0.20.0") -> str:
    command = COMMAND.format(version=version)
    return verdict(only_server(f"8x B200\n\n```bash\n{command}\n```\n\n```text\n{error}: AssertionError\n```\n"))[0]


def test_the_one_fault_that_names_the_class_is_perhaps_the_cause() -> None:
    sentence = first_line("torch._inductor.exc.InductorError")
    assert sentence.startswith("Failed (line 8), perhaps by this: ")
    assert "Inductor error" in sentence


def test_a_class_that_no_fault_names_has_no_cause() -> None:
    assert "cause is not known" in first_line("torch._frob.exc.FrobError")


def test_a_fault_that_the_release_has_no_more_is_not_named() -> None:
    assert "Inductor error" not in first_line("torch._inductor.exc.InductorError", "v0.30.0")
