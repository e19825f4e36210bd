"""The first line and the level of what it tells agree: what surely ends the start is an error, and what a build of
somebody else may take does not head the answer."""

from __future__ import annotations

import pytest

from moonpad.explain.results import Judged
from moonpad.report.explain_verdict import verdict
from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask, first_line

OLD = "vllm serve moonshotai/Kimi-K2.6 --tensor-parallel-size 8 --trust-remote-code"


def errors(judged: Judged) -> list[str]:
    return [each.message for each in judged.findings if each.severity is Severity.ERROR]


def test_a_release_before_the_model_is_an_error_without_devices_too() -> None:
    text = f"We use vllm 0.12.0:\n\n```bash\n{OLD}\n```\n"
    (judged,) = ask(text)
    assert judged.cluster is None
    assert any("cannot serve kimi_k25" in each for each in errors(judged))
    assert first_line(text).startswith("Error: ")


def test_of_a_start_that_runs_it_is_none() -> None:
    text = f"We use vllm 0.12.0:\n\n```\n$ {OLD}\nINFO:     Application startup complete.\n```\n"
    assert not any("cannot serve" in each for judged in ask(text) for each in errors(judged))


@pytest.mark.parametrize("model", ["Qwen/Qwen3.6-35B-A3B", "Qwen/Qwen3-32B"])
def test_a_method_for_weights_that_its_publisher_has_not_quantised_is_an_error(model: str) -> None:
    text = f"pip install 'vllm>=0.19.0'\nvllm serve {model} --quantization awq --tensor-parallel-size 8\n"
    (judged,) = ask(text)
    assert any("is not quantised" in each for each in errors(judged))


@pytest.mark.parametrize("model", ["someone/Qwen3.6-35B-A3B", "./Qwen3.6-35B-A3B", "someone/Qwen3.6-35B-A3B-AWQ"])
def test_of_weights_of_others_it_is_none(model: str) -> None:
    text = f"pip install 'vllm>=0.19.0'\nvllm serve {model} --quantization awq --tensor-parallel-size 8\n"
    (judged,) = ask(text)
    assert not any("is not quantised" in each for each in errors(judged))


SWAPS = "serve moonshotai/Kimi-K2-Instruct-0905 --trust-remote-code -tp 16 --swap-space 16"


def test_the_refusal_of_the_newest_stands_behind_for_a_build_of_somebody_else() -> None:
    (judged,) = ask(f"docker run --gpus all --ipc=host lab/vllm-own:branch vllm {SWAPS}\n")
    line, _ = verdict(judged)
    assert line.startswith("No error")
    assert "May not start, by what the newest release refuses: --swap-space: " in line


def test_of_the_published_image_it_heads_the_answer() -> None:
    line = first_line(f"vllm {SWAPS}\n")
    assert line.startswith("Does not start with vllm ")


CHOSEN = "export VLLM_USE_V2_MODEL_RUNNER={}\nvllm serve moonshotai/Kimi-K2.6 -tp 8 --trust-remote-code\n"


@pytest.mark.parametrize(("value", "proposed"), [("1", True), ("0/1", False)])
def test_nothing_is_proposed_on_a_value_that_is_still_to_be_chosen(value: str, proposed: bool) -> None:
    (judged,) = ask(f"On 8x H200.\n\n{CHOSEN.format(value)}")
    assert bool(judged.better) is proposed
    assert bool(judged.corrected) is proposed
