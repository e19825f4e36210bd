"""A repository that a key names beside the folder from which a server reads its weights."""

import pytest

from moonpad.explain.keyed_models import repository_beside
from moonpad.explain.script import read_script
from tests.unit.explain.judging import ask, ask_one

NUMBER = "4c1f09d27be84a6690aa3d5b7e2f1188"
KEYED = f"""
weights:
  - label: "chat"
    repo: "{{repository}}@1f2e3d4c5b6a"
    bundle: "{NUMBER}_88123456_9d1f"

containers:
  - name: chat
    image: "{{image}}"
    command: ["/bundles/{NUMBER}", "--tensor-parallel-size", "8", "--kv-cache-dtype", "fp8"]
"""
MOUNTED = """
models:
  - path: /weights/main
    modelId: {repository}
    size: 1
services:
  chat:
    image: vllm/vllm-openai:v0.23.0
    command: --model /weights/main --tensor-parallel-size 8
"""


def keyed(repository: str, image: str = "vllm/vllm-openai:v0.23.0") -> str:
    return KEYED.format(repository=repository, image=image)


def test_key_with_the_folders_number_names_a_model_that_is_not_planned() -> None:
    judged = ask_one(keyed("zai-org/GLM-5.2-FP8"), on="")
    assert judged.model_written == "zai-org/GLM-5.2-FP8"
    assert "zai-org/GLM-5.2-FP8" in judged.unjudged


def test_key_with_the_folders_number_names_a_model_of_the_catalogue() -> None:
    judged = ask_one(keyed("moonshotai/Kimi-K2-Instruct"), on="")
    assert judged.checkpoint is not None
    assert judged.checkpoint.name == "moonshotai/Kimi-K2-Instruct"


def test_key_beside_the_whole_path_names_the_model() -> None:
    (judged,) = ask(MOUNTED.format(repository="Qwen/Qwen3-235B-A22B"))
    assert judged.model_written == "Qwen/Qwen3-235B-A22B"


@pytest.mark.parametrize(
    "text",
    [
        # another item
        "models:\n  - path: /weights/main\n  - repo: org/first\n    path: /weights/draft\n",
        # two that do not agree
        "a:\n  - path: /weights/main\n    repo: org/first\nb:\n  - path: /weights/main\n    repo: org/second\n",
        # deeper than the item
        "models:\n  - path: /weights/main\n    source:\n      repo: org/first\n",
        # a folder that only begins so
        "models:\n  - path: /weights/main-old\n    repo: org/first\n",
        # no repository
        "models:\n  - path: /weights/main\n    repo: first\n",
    ],
)
def test_other_items_name_nothing(text: str) -> None:
    assert repository_beside("/weights/main", read_script(text)) == ""


def test_variable_is_no_folder() -> None:
    script = read_script("models:\n  - path: $WEIGHTS\n    repo: org/first\n")
    assert repository_beside("$WEIGHTS", script) == ""


@pytest.mark.parametrize(("model", "release"), [("zai-org/GLM-5.2-FP8", "0.22.1"), ("zai-org/GLM-5-FP8", "0.15.1")])
def test_image_called_after_a_model_is_no_older_than_its_guide_asks(model: str, release: str) -> None:
    tag = "glm52" if "5.2" in model else "glm5"
    judged = ask_one(f"docker run --gpus all vllm/vllm-openai:{tag}-cu129 {model} --tensor-parallel-size 8", on="")
    assert judged.version == release


def test_image_is_dated_by_the_model_that_a_key_names() -> None:
    assert ask_one(keyed("zai-org/GLM-5.2-FP8", "vllm/vllm-openai:glm52-cu129"), on="").version == "0.22.1"


CACHE = "--kv-cache-dtype {cache} --tensor-parallel-size 8"
REFUSED = "FLASHMLA_SPARSE, takes fp8"


def test_cache_that_hopper_refuses_is_a_note_where_no_device_is_named() -> None:
    judged = ask_one(f"vllm serve zai-org/GLM-5.1-FP8 {CACHE.format(cache='fp8_e4m3')}", on="", version="0.23.0")
    (told,) = [each for each in judged.findings if REFUSED in each.message]
    assert told.severity.value == "note"
    assert told.message.startswith("on 9.0, if the devices are of these: ")
    assert told.remedy == "write --kv-cache-dtype fp8"


@pytest.mark.parametrize(("cache", "on"), [("fp8", ""), ("fp8_e4m3", "8xB200")])
def test_cache_of_another_name_or_device_is_not_told(cache: str, on: str) -> None:
    judged = ask_one(f"vllm serve zai-org/GLM-5.1-FP8 {CACHE.format(cache=cache)}", on=on, version="0.23.0")
    assert not [each for each in judged.findings if REFUSED in each.message]
