"""The lowest release that a recipe asks for, as a key of YAML."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_script

RECIPE = 'model:\n  model_id: "moonshotai/Kimi-K2.6"\n  {key}: "0.25.0"\n  base_args: ["--trust-remote-code"]\n'


@pytest.mark.parametrize("key", ["min_vllm_version", "minimum_vllm_version", "min-vllm-version"])
def test_a_key_for_the_least(key: str) -> None:
    script = read_script(RECIPE.format(key=key))
    assert script.minimum_versions.get("vllm") == "0.25.0"
    assert "vllm" not in script.versions


def test_a_key_for_the_release_itself_is_not_the_least() -> None:
    script = read_script(RECIPE.format(key="vllm_version"))
    assert "vllm" not in script.minimum_versions
