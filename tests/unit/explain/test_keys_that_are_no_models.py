"""`minimax-m3.thinking[3]`: a key of a table in a comment, and no name of a checkpoint."""

from __future__ import annotations

import pytest

from moonpad.explain.documents.spoken_models import spoken_model
from moonpad.explain.script import read_script


@pytest.mark.parametrize(
    ("spoken", "name"),
    [
        ("golden rates: minimax-m3.thinking_off[2]", "minimax-m3"),
        ("qwen3.5-397b.rates", "qwen3.5-397b"),
        ("MiniMax-M3-NVFP4", "MiniMax-M3-NVFP4"),
        ("GLM-5.2-FP8", "GLM-5.2-FP8"),
    ],
)
def test_what_a_key_adds_is_not_of_the_name(spoken: str, name: str) -> None:
    assert spoken_model(read_script(f'# {spoken}\ntrtllm-serve "$MODEL_PATH" --tp_size 8\n')) == name
