"""Lists of options that another program reads, which has a few of an engine's names, are no deployment."""

from __future__ import annotations

import pytest

from moonpad.explain.results import Judged
from moonpad.explain.script import read_files
from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask


def judged(text: str, name: str) -> tuple[Judged, ...]:
    return ask(read_files([(name, text)]))


def errors_and_warnings(text: str, name: str) -> list[str]:
    found = judged(text, name)
    return [each.where for one in found for each in one.findings if each.severity is not Severity.NOTE]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("# A bench of vLLM\n\n```bash\n--seed kind=static,value=42\n```\n", "bench.md"),
        ('# A bench of vLLM\n\n```bash\n--backend \'{"kind":"local","model":"m"}\'\n```\n', "bench.md"),
        (
            'train("for vLLM", ["--model", "m", "--lora-rank", r, "--epochs", n, "--batch-size", b, "--rate", x])\n',
            "train.sh",
        ),
        ('FORBIDDEN = ["--model", "--revision", "--host", "--port", "--api-key"]  # of vllm serve\n', "schema.py"),
        ('case(["eval", "run", "--model", "gpt", "--model-url", "http://x", "--top-p", "1"])  # vllm\n', "test_cli.py"),
    ],
)
def test_they_are_no_deployment(text: str, name: str) -> None:
    assert not [one for one in judged(text, name) if one.layout is not None]


def test_a_list_of_an_engines_options_is() -> None:
    (found,) = judged('ARGS = ["--model", "org/m", "--tensor-parallel-size", "8", "--port", "8000"]  # vllm\n', "a.py")
    assert found.layout is not None
    assert found.layout.tp == 8


def test_settings_of_hydra_are_no_arguments_of_the_engine() -> None:
    text = "# vLLM\n\n```bash\ngym start --model org/m --max-model-len 4096 --port 8000 '++policy.tensor_size=2'\n```\n"
    assert "++policy.tensor_size=2" not in " ".join(errors_and_warnings(text, "a.md"))


SERVICE = """engine=Python
option.rolling_batch=vllm
option.model_id=org/model-8b
option.tensor_parallel_degree=max
option.dtype=fp16
option.max_model_len=4096
"""


def test_a_services_own_words_for_values_are_taken() -> None:
    assert errors_and_warnings(SERVICE, "serving.properties") == []


def test_the_second_configuration_of_a_services_text_is_another_one() -> None:
    twice = SERVICE + SERVICE.replace("8b", "70b").replace("=max", "=8")
    (found,) = judged(twice, "configs.txt")
    assert found.model_written == "org/model-8b"
    assert not [each for each in found.findings if "given twice" in each.message]
