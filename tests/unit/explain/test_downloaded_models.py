"""A folder that the text downloads a checkpoint into is that checkpoint, also where a container has it mounted."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

GET = "hf download deepseek-ai/DeepSeek-V3 --local-dir /srv/big\n"
IMAGE = "vllm/vllm-openai:v0.11.0"
RUN = f"docker run -d --gpus all --name lead -v /srv/big:/opt/brain --entrypoint sh {IMAGE} -c 'ray start'\n"
SERVE = "vllm serve {path} --tensor-parallel-size 8 --pipeline-parallel-size 2 --port 8444\n"
EXEC = "docker exec -it lead bash\n"


def model(text: str) -> str:
    (name,) = {
        each.checkpoint.name if each.checkpoint is not None else "" for each in ask(text, "2x8xH100") if each.layout
    }
    return name


@pytest.mark.parametrize(
    "text",
    [
        GET + SERVE.format(path="/srv/big"),
        GET.replace(" --local", " \\\n  --local") + SERVE.format(path="/srv/big/"),
        GET.replace("--local-dir ", "--local-dir=") + RUN + EXEC + SERVE.format(path="/opt/brain"),
        f"# {GET}{SERVE.format(path='/srv/big')}",
    ],
)
def test_what_is_downloaded_there(text: str) -> None:
    assert model(text) == "deepseek-ai/DeepSeek-V3"


@pytest.mark.parametrize(
    "text",
    [
        GET + SERVE.format(path="/srv/other"),
        GET + GET.replace("V3", "R1") + SERVE.format(path="/srv/big"),
        GET + RUN + EXEC + SERVE.format(path="/opt/other"),
    ],
)
def test_another_folder_or_two_downloads(text: str) -> None:
    assert not model(text)


@pytest.mark.parametrize(("path", "told"), [("/srv/big", False), ("deepseek-ai/DeepSeek-V3", True)])
def test_code_in_a_folder_that_was_downloaded_has_no_revision_that_moves(path: str, told: bool) -> None:
    (judged,) = [each for each in ask(f"{GET}vllm serve {path} --trust-remote-code -tp 8\n") if each.layout]
    assert any("whatever revision is current" in each.message for each in judged.findings) is told
