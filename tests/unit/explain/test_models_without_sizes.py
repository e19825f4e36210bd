"""A model that is named in full and whose memory is not recorded is not asked for once more."""

import pytest

from tests.unit.explain.judging import ask_one


@pytest.mark.parametrize("name", ["moonshotai/Kimi-Audio-7B-Instruct", "moonshotai/Kimi-Dev-72B"])
@pytest.mark.parametrize("serve", ["vllm serve {}", "python -m sglang.launch_server --model-path {}"])
def test_name_is_taken_as_it_is(name: str, serve: str) -> None:
    assert ask_one(serve.format(name)).unjudged == f"the catalogue does not have {name}"


def test_name_that_says_no_model_is_asked_for() -> None:
    assert ask_one("vllm serve someone/my-finetune").unjudged.endswith("name it with --model MODEL")
