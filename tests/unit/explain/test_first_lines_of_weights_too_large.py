"""The first line says that weights fit no devices, also where the memory as a whole is not judged."""

from __future__ import annotations

import pytest

from moonpad.report.explain_verdict import verdict
from moonpad.values.finding import Code, Severity
from tests.unit.explain.judging import ask


def first(text: str) -> str:
    (judged,) = ask(text)
    return verdict(judged)[0]


@pytest.mark.parametrize("model", ["zai-org/GLM-4.6", "someone/Fine-600B-model"])
def test_one_device_by_default(model: str) -> None:
    line = first(f"vllm serve {model} --host 127.0.0.1")
    assert line.startswith("May not fit: --tensor-parallel-size: the weights of ")
    assert "GiB, and 1 device of the largest kind known has " in line
    assert "No error" not in line


def test_a_size_that_is_written_is_an_error_as_for_a_model_of_the_catalogue() -> None:
    line = first("vllm serve zai-org/GLM-4.6 --tensor-parallel-size 2")
    assert line.startswith("Does not fit: the weights of GLM-4.6 or GLM-4.7 are at least ")
    # https://huggingface.co/zai-org/GLM-4.6: 357 billion parameters in BF16 are 665 GiB.
    assert "; take 4 or more devices" in line
    catalogue = first("vllm serve moonshotai/Kimi-K2-Thinking --tensor-parallel-size 1 --trust-remote-code")
    assert catalogue.startswith("Does not fit: one device gets all ")


@pytest.mark.parametrize(
    "beside",
    [
        "RuntimeError: expected scalar type Long but found Int",
        "GPU KV cache size: 1,024 tokens",
        "The answers are gibberish.",
    ],
)
def test_a_server_that_came_further_is_not_sure_to_lack_memory(beside: str) -> None:
    (judged, *_) = ask(f"vllm serve zai-org/GLM-4.6 --tensor-parallel-size 2\n\n{beside}\n")
    of_memory = [each.severity for each in judged.findings if each.code is Code.DOES_NOT_FIT]
    assert of_memory == [Severity.WARNING]


def test_a_command_that_is_cut_off_may_have_the_size() -> None:
    assert "not fit" not in first("vllm serve zai-org/GLM-4.6 --served-mode[...]")


def test_layers_that_are_left_out_make_no_error() -> None:
    text = "vllm serve zai-org/GLM-4.6 --tensor-parallel-size 2 --hf-overrides '{\"num_hidden_layers\": 4}'"
    (judged,) = ask(text)
    assert not any(each.severity is Severity.ERROR for each in judged.findings)


@pytest.mark.parametrize("size", [4, 8])
def test_devices_that_hold_them_are_not_judged_as_before(size: int) -> None:
    assert first(f"vllm serve zai-org/GLM-4.6 --tensor-parallel-size {size}").startswith("No error, memory not judged")
