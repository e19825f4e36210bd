"""The release of an engine in the tag of an image that bears another product's name."""

from __future__ import annotations

import pytest

from moonpad.explain.documents.text_hints import version_of_image, versions_of
from tests.unit.explain.judging import ask

HELD = {
    "rayproject/ray:2.43.0-vllm_0.7.3": ("vllm", "0.7.3"),
    "registry.internal:5000/team/runner:cuda12.8-vllm0.8.5": ("vllm", "0.8.5"),
    "team/server:v1.2-sglang-0.5.3": ("sglang", "0.5.3"),
    "team/server:cu128-vllm-v0.11.0-20250101": ("vllm", "0.11.0"),
    "team/server:2.0-vllm-ascend0.11.0": ("vllm-ascend", "0.11.0"),
    "team/cache:v0.3.2-vllm0.10.1.1": ("vllm", "0.10.1.1"),
    "team/server:sglang-0.5.10": ("sglang", "0.5.10"),
}
OF_ITS_OWN = (
    "team/infer:vllm-v0.1.2",
    "team/infer:vllm-v9.9.9",
    "team/infer:v0.11.0-vllm",
    "team/infer:myvllm0.8.5",
    "lmcache/vllm-openai:v0.3.7",
)


@pytest.mark.parametrize("image", HELD)
def test_the_number_behind_the_engine_is_its_release(image: str) -> None:
    engine, version = HELD[image]
    assert version_of_image(image) == (engine, version)
    assert versions_of(f"  - image: {image}")[0] == {engine: version}


@pytest.mark.parametrize("image", OF_ITS_OWN)
def test_the_number_of_the_product_is_none(image: str) -> None:
    assert version_of_image(image) is None
    assert versions_of(f"  - image: {image}")[0] == {}


def test_a_time_of_day_is_no_image() -> None:
    assert versions_of("12:30:01-vllm-0.8.5 is up")[0] == {}


def test_a_command_in_such_an_image_is_judged_by_its_release() -> None:
    text = (
        "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - name: a\n    image: rayproject/ray:2.43.0-vllm_0.10.2\n"
        '    command: ["vllm", "serve", "deepseek-ai/DeepSeek-R1", "--tensor-parallel-size", "8"]\n'
    )
    (judged,) = ask(text)
    assert judged.version == "0.10.2"


@pytest.mark.parametrize(
    ("image", "held"),
    [
        ("reg.team.cn/ext/finch-48b-tree_0.5.0-gems_5.0.2-vllm_0.13.0-torch_2.9.0_cu128:2605", {"vllm": "0.13.0"}),
        ("reg.team.cn/ext/finch-instruct-cuda12.8-sglang-v0.5.3-amd64:latest", {"sglang": "0.5.3"}),
        ("reg.team.cn/ext/finch-instruct-vllm-plugin-v0.3.1:latest", {}),
        ("reg.team.cn/ext/finch-instruct-myvllm0.8.5-amd64:latest", {}),
        ("reg.team.cn/ext/finch-instruct-for-vllm-v0.1.2:latest", {}),
    ],
)
def test_the_name_of_an_image_may_list_what_it_holds(image: str, held: dict[str, str]) -> None:
    assert versions_of(f"docker run -itd --gpus=all {image} sleep infinity")[0] == held
