"""The lowest release that a text asks for is told, however it writes it."""

import pytest

from moonpad.explain.script import read_script
from tests.unit.explain.judging import ask

SERVE = "```bash\nvllm serve moonshotai/Kimi-K2.7-Code --tensor-parallel-size 8 --trust-remote-code\n```\n"


@pytest.mark.parametrize(
    "said",
    [
        "- **vLLM version:** >= 0.19.1 (tried by hand)",
        "vLLM: ≥ 0.19.1",
        "vLLM version >=0.19.1",
        'min_vllm_version: "0.19.1"',
        "minimum_vllm_version = 0.19.1",
    ],
)
def test_it_is_a_lowest_one(said: str) -> None:
    (judged,) = ask(f"# Guide\n\n{said}\n\n{SERVE}")
    assert judged.version_because.startswith("the text asks for vllm 0.19.1 or later")


@pytest.mark.parametrize("said", ["- **vLLM version:** 0.19.1", "vLLM version <= 0.19.1", "min_gpu_version: 0.19.1"])
def test_others_are_none(said: str) -> None:
    (judged,) = ask(f"# Guide\n\n{said}\n\n{SERVE}")
    assert "or later" not in judged.version_because


RECIPE = 'model:\n  model_id: "moonshotai/Kimi-K2.6"\n  {key}: "0.25.0"\n  base_args: ["--trust-remote-code"]\n'


@pytest.mark.parametrize("key", ["min_vllm_version", "minimum_vllm_version", "min-vllm-version"])
def test_a_key_for_the_least(key: str) -> None:
    script = read_script(RECIPE.format(key=key))
    assert script.minimum_versions.get("vllm") == "0.25.0"
    assert "vllm" not in script.versions


def test_a_key_for_the_release_itself_is_not_the_least() -> None:
    script = read_script(RECIPE.format(key="vllm_version"))
    assert "vllm" not in script.minimum_versions
