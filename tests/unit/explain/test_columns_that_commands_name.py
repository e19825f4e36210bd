"""A command that names a column of a table in the same text takes the value that stands there, of its own row."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask, ask_one

ONE = """# Kimi on 8x H200

| Service | {image} | {model} | Port |
|---|---|---|---:|
| `kimi` | `vllm/vllm-openai:v0.19.0` | moonshotai/Kimi-K2.6 | 8000 |

"""
RUN = "docker run --gpus all --ipc=host {} --model {} --tensor-parallel-size 8 --trust-remote-code"
ROWS = """# Kimi

| GPU | Image | Model |
|---|---|---|
| 8x H200 | `vllm/vllm-openai:v0.19.0` | `moonshotai/Kimi-K2.6` |
| 8x B200 | `vllm/vllm-openai:v0.20.0` | `nvidia/Kimi-K2.6-NVFP4` |

"""


def _fence(command: str) -> str:
    return f"```bash\n{command}\n```\n"


@pytest.mark.parametrize(
    ("columns", "names"),
    [
        (("Image", "Model"), ("$IMAGE", "$MODEL")),
        (("Image", "Model"), ("<image>", "<model>")),
        (("Docker image", "Model ID"), ("<docker image>", "<Model ID>")),
        (("Container image", "Model ID"), ('"${IMAGE}"', '"$MODEL_ID"')),
    ],
)
def test_the_only_row(columns: tuple[str, str], names: tuple[str, str]) -> None:
    judged = ask_one(ONE.format(image=columns[0], model=columns[1]) + _fence(RUN.format(*names)), "")
    assert (judged.version, judged.model_written) == ("0.19.0", "moonshotai/Kimi-K2.6")
    assert not judged.unknown


def test_the_row_that_the_heading_names() -> None:
    run = _fence(RUN.format("<image>", "<model>"))
    h200, b200 = ask(f"{ROWS}## H200\n\n{run}\n## B200\n\n{run}")
    assert (h200.version, h200.model_written) == ("0.19.0", "moonshotai/Kimi-K2.6")
    assert (b200.version, b200.model_written) == ("0.20.0", "nvidia/Kimi-K2.6-NVFP4")


@pytest.mark.parametrize("heading", ["Start", "H200 and B200"])
def test_of_several_rows_none_is_taken(heading: str) -> None:
    for judged in ask(f"{ROWS}## {heading}\n\n{_fence(RUN.format('vllm/vllm-openai:v0.18.0', '<model>'))}", ""):
        assert judged.model_written in (None, "", "<model>")


def test_what_the_block_sets_itself_holds() -> None:
    own = "MODEL=moonshotai/Kimi-K2.5\nvllm serve $MODEL --tensor-parallel-size 8"
    assert ask_one(ONE.format(image="Image", model="Model") + _fence(own)).model_written == "moonshotai/Kimi-K2.5"


def test_a_table_of_variables() -> None:
    table = "# Kimi\n\n| Variable | Value |\n|---|---|\n| `MODEL` | `moonshotai/Kimi-K2.6` |\n| `TP` | `8` |\n\n"
    judged = ask_one(table + _fence("vllm serve $MODEL --tensor-parallel-size $TP"))
    assert judged.layout is not None
    assert (judged.model_written, judged.layout.tp) == ("moonshotai/Kimi-K2.6", 8)
    assert not judged.unknown


def test_a_variable_of_each_shell_is_no_column() -> None:
    table = "# Kimi\n\n| Method | Path |\n|---|---|\n| POST | `/v1/completions` |\n\n"
    judged = ask_one(table + _fence("vllm serve $HOME/Kimi-K2.5 --download-dir $PATH --tensor-parallel-size 8"))
    assert not any("/v1/completions" in word.text for command in judged.sources for word in command.argv)
