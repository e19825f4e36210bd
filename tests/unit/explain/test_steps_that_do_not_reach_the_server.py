"""Downloads, packages and tokens that a server does not get, for they come too late or go elsewhere."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

DOWNLOAD = "hf download Qwen/Qwen3-8B --local-dir /data/qwen\n"
SERVE = "vllm serve /data/qwen --host 127.0.0.1\n"
MIRROR = "export HF_ENDPOINT=https://hf-mirror.com\n"


def told(text: str, words: str) -> list[str]:
    return [each.message for one in ask(text) for each in one.findings if words in each.message]


@pytest.mark.parametrize(
    ("text", "is_late"),
    [
        (DOWNLOAD + MIRROR + SERVE, True),
        (f"1. {DOWNLOAD}2. {MIRROR}3. {SERVE}", True),
        (MIRROR + DOWNLOAD + SERVE, False),
        (f"{DOWNLOAD}# if that fails, try the mirror\n{MIRROR}{DOWNLOAD}{SERVE}", False),
        (f"{DOWNLOAD}# retry by the mirror\n{MIRROR}{SERVE}", False),
        (MIRROR + SERVE, False),
    ],
)
def test_an_address_of_the_hub_below_the_download_comes_too_late(text: str, is_late: bool) -> None:
    assert bool(told(text, "below the download")) is is_late


@pytest.mark.parametrize(
    ("start", "is_other"),
    [
        ("vllm serve", True),
        ("/srv/v/bin/vllm serve", False),
        ("source /srv/v/bin/activate\nvllm serve", False),
        ("export PATH=/srv/v/bin:$PATH\nvllm serve", False),
        ("pip install vllm\nvllm serve", False),
    ],
)
def test_an_engine_of_an_environment_that_nothing_enters(start: str, is_other: bool) -> None:
    text = f"python3 -m venv /srv/v\n/srv/v/bin/pip install vllm\n{start} Qwen/Qwen3-8B --host 127.0.0.1\n"
    assert bool(told(text, "nothing activates")) is is_other


@pytest.mark.parametrize(
    ("steps", "is_replaced"),
    [
        ("pip install vllm==0.11.0\npip install torch==2.5.1", True),
        ("uv pip install 'vllm==0.11.0'\nuv pip install torch==2.6.0 torchvision", True),
        ("pip install vllm==0.11.0\npip install torch==2.8.0", False),
        ("pip install torch==2.5.1\npip install vllm==0.11.0", False),
        ("pip install vllm==0.11.0\npip install torch", False),
        ("pip install vllm==0.11.0 torch==2.5.1", False),
        ("pip install vllm==0.11.0\npip install torch==2.5.1\npip install --no-build-isolation -e .", False),
    ],
)
def test_torch_that_takes_the_place_of_the_one_the_wheel_is_built_for(steps: str, is_replaced: bool) -> None:
    text = f"{steps}\nvllm serve Qwen/Qwen3-8B --host 127.0.0.1\n"
    assert bool(told(text, "compiled parts do not load")) is is_replaced


@pytest.mark.parametrize(
    ("option", "is_cache"),
    [("--download-dir /data/q", True), ("--download-dir=/data/q/", True), ("--download-dir /data/cache", False)],
)
def test_a_folder_of_files_is_no_cache_of_the_hub(option: str, is_cache: bool) -> None:
    text = f"hf download Qwen/Qwen3-8B --local-dir /data/q\nvllm serve Qwen/Qwen3-8B --host 127.0.0.1 {option}\n"
    assert bool(told(text, "names a cache of the Hub")) is is_cache


def docker(options: str, model: str = "meta-llama/Llama-3.1-8B-Instruct") -> str:
    return f"docker run --gpus all --ipc=host {options} vllm/vllm-openai:v0.11.2 --model {model}\n"


@pytest.mark.parametrize("name", ["HUGGINGFACE_TOKEN", "HF_API_TOKEN", "HUGGINGFACE_HUB_TOKEN", "HF_ACCESS_TOKEN"])
def test_a_token_by_a_name_that_the_library_does_not_read(name: str) -> None:
    assert told(docker(f"-e {name}=abc"), f"no {name}") != []
    found = [each for one in ask(docker(f"-e {name}=abc", "Qwen/Qwen3-8B")) for each in one.findings]
    assert [each.severity.value for each in found if f"no {name}" in each.message] == ["note"]


@pytest.mark.parametrize(
    "text",
    [
        docker("-e HF_TOKEN=abc"),
        docker("-e HUGGING_FACE_HUB_TOKEN=abc"),
        docker("-e HUGGINGFACE_TOKEN=abc -e HF_TOKEN=abc"),
        "export HUGGINGFACE_TOKEN=abc\nhf auth login --token $HUGGINGFACE_TOKEN\nvllm serve meta-llama/Llama-3.1-8B\n",
        docker("-e HUGGINGFACE_TOKEN=abc", "/models/llama"),
    ],
)
def test_tokens_that_are_read_or_not_needed(text: str) -> None:
    assert told(text, "huggingface_hub reads HF_TOKEN") == []
