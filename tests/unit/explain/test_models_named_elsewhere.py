"""A model of another family that the text names is taken where the command has a folder or a variable."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

_LONG = "vllm serve {model} -tp 8 --max-model-len 760000{more}\n"
_CODER = "Qwen3-Coder-480B-A35B-Instruct-FP8"
_REFUSED = "has 262144 positions"  # config.json of the repository: max_position_embeddings


@pytest.mark.parametrize(
    ("text", "is_taken"),
    [
        (f"# Model: {_CODER}\n" + _LONG.format(model="/models/qwen3", more=""), True),
        (f'echo "Model: {_CODER}"\n' + _LONG.format(model="/models/qwen3", more=""), True),
        (f'LOG=/tmp/qwen3-deploy-1\necho "Model: {_CODER}"\n' + _LONG.format(model="/models/qwen3", more=""), True),
        (f"hf download Qwen/{_CODER} --local-dir /models/a\n" + _LONG.format(model="/models/a/", more=""), True),
        (f"hf download Qwen/{_CODER} \\\n  --local-dir /models/a\n" + _LONG.format(model="/models/a", more=""), True),
        (_LONG.format(model="/model", more=f" --served-model-name Qwen/{_CODER}"), True),
        (_LONG.format(model="$MODEL_PATH", more=f" --served-model-name Qwen/{_CODER}"), True),
        # Of another folder, of two models, of another line of models, of a name that anybody may choose.
        (f"hf download Qwen/{_CODER} --local-dir /models/b\n" + _LONG.format(model="/models/a", more=""), False),
        (f"# Model: {_CODER}, not Qwen3-235B-A22B\n" + _LONG.format(model="/models/qwen3", more=""), False),
        (f"# Model: {_CODER}\n" + _LONG.format(model="/models/glm", more=""), False),
        (_LONG.format(model="/model", more=" --served-model-name coder"), False),
        (_LONG.format(model="zai-org/GLM-4.6", more=f" --served-model-name Qwen/{_CODER}"), False),
    ],
)
def test_what_is_served(text: str, *, is_taken: bool) -> None:
    (judged,) = ask(text)
    assert any(_REFUSED in finding.message for finding in judged.findings) is is_taken
    assert (_CODER in judged.model_written) is is_taken


def test_the_command_stays_as_it_is_written() -> None:
    (judged,) = ask(f"hf download Qwen/{_CODER} --local-dir /models/a\n" + _LONG.format(model="/models/a", more=""))
    assert "/models/a" in judged.commands[0].argv
