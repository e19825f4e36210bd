"""Flags are judged by the release that the image of another publisher holds."""

from __future__ import annotations

import pytest

from moonpad.explain.documents.text_hints import version_of_image, versions_of
from tests.unit.explain.judging import ask, at, only_server, summary

POD = """\
apiVersion: v1
kind: Pod
metadata: {{name: server}}
spec:
  containers:
    - name: server
      image: {image}
      command: [{command}]
      args: [{args}]
"""
GRAPH = """\
apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
metadata: {{name: graph}}
spec:
  services:
    Frontend:
      componentType: frontend
      extraPodSpec: {{mainContainer: {{image: {image}}}}}
    Worker:
      componentType: worker
      resources: {{limits: {{gpu: "2"}}}}
      extraPodSpec:
        mainContainer:
          image: {image}
          command: [python3, -m, {module}]
          args: [{model}, org/Big, --tensor-parallel-size, "2", {option}]
"""
DYNAMO = "nvcr.io/nvidia/ai-dynamo"


def graph(image: str, module: str, model: str, option: str) -> str:
    return GRAPH.format(image=f"{DYNAMO}/{image}", module=module, model=model, option=option)


@pytest.mark.parametrize(
    ("image", "module", "model", "option"),
    [
        ("vllm-runtime:1.0.0", "dynamo.vllm", "--model", "--cohere-format"),
        ("vllm-runtime:1.3.1-efa", "dynamo.vllm", "--model", "--cohere-format"),
        ("vllm-runtime:1.5.0", "dynamo.vllm", "--model", "--calculate-kv-scales"),
        ("sglang-runtime:1.0.1-cuda13", "dynamo.sglang", "--model-path", "--cuda-graph-config"),
    ],
)
def test_a_worker_is_judged_by_the_release_in_its_image(image: str, module: str, model: str, option: str) -> None:
    judged = only_server(graph(image, module, model, option))
    assert judged.version_because.startswith("its image holds")
    assert ("error", "unknown-flag", option) in summary(judged)


@pytest.mark.parametrize(
    ("image", "module", "model", "option"),
    [
        ("vllm-runtime:1.5.0", "dynamo.vllm", "--model", "--cohere-format"),
        ("vllm-runtime:1.4.0", "dynamo.vllm", "--model", "--calculate-kv-scales"),
        ("sglang-runtime:1.5.1", "dynamo.sglang", "--model-path", "--cuda-graph-config"),
        ("vllm-runtime:1.4.0-kimi-k3-dev.1", "dynamo.vllm", "--model", "--cohere-format"),
    ],
)
def test_what_the_release_takes_is_not_spoken_of(image: str, module: str, model: str, option: str) -> None:
    judged = only_server(graph(image, module, model, option))
    assert not any(option in place for code in ("unknown-flag", "removed-flag") for place in at(judged, code))


def test_what_no_release_takes_may_be_an_option_of_the_starter() -> None:
    judged = only_server(graph("vllm-runtime:1.5.0", "dynamo.vllm", "--model", "--of-the-starter"))
    assert [row for row in summary(judged) if row[2] == "--of-the-starter"] == [
        ("warning", "unknown-flag", "--of-the-starter")
    ]


@pytest.mark.parametrize(
    ("module", "model", "option"),
    [
        *(("dynamo.vllm", "--model", "--enable-multimodal"), ("dynamo.vllm", "--model", "--no-fpm-trace")),
        ("dynamo.sglang", "--model-path", "--embedding-worker"),
    ],
)
def test_options_of_the_starter_are_not_spoken_of(module: str, model: str, option: str) -> None:
    judged = only_server(graph(f"{module.partition('.')[2]}-runtime:1.5.0", module, model, option))
    assert not [row for row in summary(judged) if row[2] == option]


def test_the_server_itself_has_none_of_them() -> None:
    judged = only_server("docker run --gpus all vllm/vllm-openai:v0.28.0 --model org/Big --enable-multimodal")
    assert ("error", "unknown-flag", "--enable-multimodal") in summary(judged)


@pytest.mark.parametrize(
    "image",
    [f"{DYNAMO}/vllm-runtime:1.5.0-kimi-k3-dev.1", "nvcr.io/nvidia/vllm:25.10-py3", "ghcr.io/llm-d/llm-d-cuda:v0.9.0"],
)
def test_a_build_of_a_publisher_may_take_more(image: str) -> None:
    option = "--calculate-kv-scales" if "kimi" in image else "--cohere-format"
    judged = only_server(POD.format(image=image, command="vllm, serve", args=f"org/Big, {option}"))
    assert [row for row in summary(judged) if row[2] == option] == [("warning", "unknown-flag", option)]


@pytest.mark.parametrize(
    ("image", "version"),
    [
        ("nvcr.io/nvidia/vllm:25.10-py3", "0.10.2"),
        ("nvcr.io/nvidia/vllm:99.01-py3", ""),
        ("nvcr.io/nvidia/tritonserver:26.06-vllm-python-py3", "0.22.1"),
        ("ghcr.io/llm-d/llm-d-cuda:v0.8.0", "0.23.0"),
        ("gpustack/runner:cuda12.8-vllm0.13.0", "0.13.0"),
        ("vllm/vllm-openai:v0.11.0", "0.11.0"),
    ],
)
def test_the_server_of_a_pod(image: str, version: str) -> None:
    text = POD.format(image=image, command="vllm, serve", args="org/Big, --max-model-len, 8192")
    judged = [one for one in ask(text) if one.kind == "serve"]
    assert [one.version for one in judged if version] == ([version] if version else [])
    assert version or "none is named" in judged[0].version_because


@pytest.mark.parametrize(
    ("text", "engine", "expected"),
    [
        ("image: nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.3.1", "vllm", "0.23.0"),
        ("docker pull nvcr.io/nvidia/sglang:26.01-py3", "sglang", "0.5.5.post2"),
        ("docker pull nvcr.io/nvidia/sglang:25.10-py3", "sglang", None),
        ("FROM nvcr.io/nvidia/vllm:26.05.post1-py3", "vllm", None),
        ("FROM registry.example/vllm:25.10-py3", "vllm", None),
        ("FROM registry.example/vllm:0.25.1", "vllm", "0.25.1"),
        ("FROM nvcr.io/nvidia/ai-dynamo/tensorrtllm-runtime:1.5.0", "tensorrt-llm", "1.3.0rc25"),
        ("nvcr.io/nvidia/tritonserver:26.07-py3", "vllm", None),
    ],
)
def test_versions_of_a_text(text: str, engine: str, expected: str | None) -> None:
    assert versions_of(text)[0].get(engine) == expected


def test_the_version_of_an_image() -> None:
    assert version_of_image(f"{DYNAMO}/vllm-runtime:1.6.2") == ("vllm", "0.31.0")
    assert version_of_image(f"{DYNAMO}/vllm-runtime:1.6.9") is None
    assert version_of_image("nvcr.io/nvidia/vllm:26.09-py3") is None
    assert version_of_image("registry.example/vllm:26.09-py3") is None


RECIPE = """name: r1
model:
  path: deepseek-r1-fp8
  container: {}
backend:
  type: vllm
  vllm_config:
    prefill:
      served-model-name: deepseek-ai/DeepSeek-R1
      tensor-parallel-size: 16
    decode:
      served-model-name: deepseek-ai/DeepSeek-R1
      tensor-parallel-size: 16
"""


@pytest.mark.parametrize(
    ("image", "because"),
    [
        ("nvcr.io/nvidia/ai-dynamo/vllm-runtime:0.8.0", "an image of the text holds vllm 0.12.0"),
        ("vllm/vllm-openai:v0.12.0", "the text names vllm 0.12.0"),
    ],
)
def test_a_release_that_an_image_of_another_number_holds_is_not_called_named(image: str, because: str) -> None:
    judged = ask(RECIPE.format(image), "2x8xH200")
    assert {each.version for each in judged} == {"0.12.0"}
    assert {each.version_because for each in judged} == {because}
