"""Downloads by a call of Python: into the cache but not in its form, and into a folder that no volume brings."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Finding, Severity
from tests.unit.explain.judging import ask

NAME = "zai-org/GLM-4.6"
CALL = """```bash
python - << 'PY'
from huggingface_hub import snapshot_download
snapshot_download(
    "{name}",
    local_dir="{folder}",
)
PY
```
"""
RUN = """```bash
docker run -d --gpus all --ipc=host -v {mount} --name box --entrypoint bash vllm/vllm-openai:v0.12.0 -c "sleep inf"
docker exec -it box bash
```
"""
SERVE = "```bash\nvllm serve {} --tensor-parallel-size 8\n```\n"


def told(text: str, words: str) -> list[Finding]:
    return [each for judged in ask(text) for each in judged.findings if words in each.message]


@pytest.mark.parametrize("folder", ["/home/ann/.cache/huggingface/zai-org/GLM-4.6", "~/.cache/huggingface/glm46"])
def test_a_folder_in_the_cache_is_not_found_by_the_name(folder: str) -> None:
    (finding,) = told(CALL.format(name=NAME, folder=folder) + SERVE.format(NAME), "downloads the weights again")
    assert finding.severity is Severity.WARNING
    assert "models--zai-org--GLM-4.6" in finding.message


HOME = "/home/ann/.cache/huggingface"


@pytest.mark.parametrize(
    ("name", "folder", "served"),
    [
        (NAME, f"{HOME}/glm46", f"{HOME}/glm46"),
        ("zai-org/GLM-4.5", f"{HOME}/glm45", NAME),
        (NAME, f"{HOME}/hub/models--zai-org--GLM-4.6/snapshots/main", NAME),
        (NAME, "/data/zai-org/GLM-4.6", NAME),
    ],
)
def test_where_the_folder_is_served_or_has_the_form_of_the_cache(name: str, folder: str, served: str) -> None:
    assert not told(CALL.format(name=name, folder=folder) + SERVE.format(served), "downloads the weights again")


def test_from_the_folder_above_the_name_is_a_path() -> None:
    text = CALL.format(name=NAME, folder=f"{HOME}/{NAME}") + SERVE.format(NAME).replace("vllm", f"cd {HOME}\nvllm")
    assert not told(text, "downloads the weights again")


def test_a_folder_that_no_download_fills() -> None:
    text = CALL.format(name=NAME, folder="/models/GLM-4.6") + RUN.format(mount="/home/ann/models:/data/models")
    (finding,) = told(text + SERVE.format("/data/models/zai-org/GLM-4.6"), "nothing of the text fills")
    assert finding.severity is Severity.WARNING
    assert "/home/ann/models/zai-org/GLM-4.6" in finding.message


HELD = "/home/ann/models"


@pytest.mark.parametrize(
    ("folder", "mount", "served", "more"),
    [
        (f"{HELD}/GLM-4.6", HELD, "/data/models/GLM-4.6", ""),
        (HELD, HELD, "/data/models/GLM-4.6", ""),
        ("/data/models/GLM-4.6", HELD, "/data/models/GLM-4.6", ""),
        ("/models/GLM-4.6", HELD, "/data/models/GLM-4.6", f"cp -r /models/GLM-4.6 {HELD}/\n"),
        ("/models/GLM-4.6", HELD, "/data/models/GLM-4.6", f"Bring the weights to {HELD} by disk.\n"),
        ("/models/GLM-4.5", HELD, "/data/models/GLM-4.6", ""),
        ("/models/GLM-4.6", "/models", "/data/models/GLM-4.6", ""),
    ],
)
def test_where_the_download_or_something_else_may_fill_it(folder: str, mount: str, served: str, more: str) -> None:
    name = f"zai-org/{folder.rpartition('/')[2]}" if "GLM" in folder else NAME
    text = CALL.format(name=name, folder=folder) + more + RUN.format(mount=f"{mount}:/data/models")
    assert not told(text + SERVE.format(served), "nothing of the text fills")
