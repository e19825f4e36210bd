"""What a release refuses is told of the cases of a test as of a command: their options without a program, and their
variables beside them."""

from __future__ import annotations

import pytest

from .judging import found

CASES = """test_cases:
  - name: "a"
    model: "{model}"
    envs: {envs}
    server_cmd: ["--tensor-parallel-size", "8", "--prefill-context-parallel-size", "2", "--quantization", "ascend"]
"""
GUIDE = """# Options

Add these where they are needed:

- `--tensor-parallel-size 8 --prefill-context-parallel-size 2 --quantization ascend --max-model-len 4096`
"""
TOLD = "no prefill context parallelism"


@pytest.mark.parametrize("model", ["Eco-Tech/MiniMax-M2.5-w8a8-QuaRot", "vllm-ascend/DeepSeek-R1-0528-W8A8"])
def test_of_any_model(model: str) -> None:
    command = f"vllm serve {model} --tensor-parallel-size 8 --prefill-context-parallel-size 2 --quantization ascend\n"
    assert found(command, TOLD)
    assert found(CASES.format(model=model, envs='{OMP_NUM_THREADS: "1"}'), TOLD)


def test_the_variable_beside_them_counts() -> None:
    envs = '{VLLM_USE_V2_MODEL_RUNNER: "1"}'
    assert not found(CASES.format(model="Eco-Tech/MiniMax-M2.5-w8a8-QuaRot", envs=envs), TOLD)


def test_the_list_of_a_guide_may_have_its_variables_elsewhere() -> None:
    assert not found(GUIDE, TOLD)


@pytest.mark.parametrize(
    ("key", "told"),
    [("torch_air_graph_config", True), ("torchair_graph_config", True), ("something_of_tomorrow", False)],
)
def test_a_key_that_older_releases_have_under_a_like_name(key: str, told: bool) -> None:
    serve = "vllm serve vllm-ascend/DeepSeek-R1-W8A8 --tensor-parallel-size 8 --quantization ascend"
    text = f'{serve} --additional-config \'{{"{key}": {{"enabled": true}}}}\'\n'
    assert bool(found(text, "the start ends")) is told
