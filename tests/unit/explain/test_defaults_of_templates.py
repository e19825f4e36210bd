"""Defaults in the braces of a template are the values where nothing else sets them."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask, layout

POD = """apiVersion: v1
kind: Pod
metadata: {{name: k}}
spec:
  containers:
  - name: serve
    image: vllm/vllm-openai:v0.20.0
    args:
    - --model
    - moonshotai/Kimi-K2-Instruct
    - --tensor-parallel-size
    - {size}
    - --max-model-len={context}
"""
SERVE = "vllm serve moonshotai/Kimi-K2-Instruct --tensor-parallel-size {size} --max-model-len {context} --port 8000\n"


@pytest.mark.parametrize("text", [POD, SERVE, "# start\n\n```bash\n" + SERVE + "```\n"])
@pytest.mark.parametrize(
    "size",
    [
        "{{ tp | default(4) }}",
        "{{ .Values.tensorParallelSize | default 4 }}",
        '{{ .Values.tp | default "4" | quote }}',
        "{{- .Values.engine.tp | default 4 | int }}",
        "{{ tp | d(4) }}",
        "{{ tp | default(4, true) | int }}",
    ],
)
def test_the_default_is_the_value(text: str, size: str) -> None:
    judged = ask(text.format(size=size, context="{{ length | default(32768) }}"))[0]
    assert layout(judged) == (4, 1, 1)
    assert judged.settings is not None
    assert judged.settings.max_model_len == 32768
    assert not {"tp", "max_model_len"} & judged.unknown


@pytest.mark.parametrize(
    "size",
    ["{{ tp }}", "{{ tp | default(size) }}", "{{ .Values.tp | default .Values.gpus }}", "{{ tp | int }}"],
)
def test_without_one_it_is_not_known(size: str) -> None:
    assert "tp" in ask(POD.format(size=size, context="32768"))[0].unknown


def test_what_is_set_elsewhere_goes_before_the_default() -> None:
    text = f"helm install k ./chart --set tp=8\n{SERVE.format(size='{{ tp | default(4) }}', context='32768')}"
    assert "tp" in ask(text)[0].unknown


@pytest.mark.parametrize("size", ["${TP:-4}", "${TP:=4}"])
def test_so_is_that_of_a_variable_in_a_chart(size: str) -> None:
    pod = POD.replace("    args:\n", "    command: [sh, -c]\n    args:\n").partition("    - --model\n")[0]
    words = SERVE.format(size=size, context="32768")
    assert layout(ask(f"{pod.format()}    - {words}")[0]) == (4, 1, 1)


NAMED_ALIKE = """apiVersion: workload.serving.volcano.sh/v1alpha1
kind: ModelBooster
metadata: {{name: k}}
spec:
  backend:
    type: vLLM
    modelURI: {uri}
    workers:
    - image: vllm/vllm-openai:v0.20.0
      config:
        tensor-parallel-size: {{{{ .Values.tp | default 8 }}}}
"""


@pytest.mark.parametrize("around", ["", '"'])
def test_key_of_the_same_name_as_its_value_does_not_set_it(around: str) -> None:
    uri = f"{around}{{{{ .Values.modelURI | default 'hf://moonshotai/Kimi-K2-Instruct' }}}}{around}"
    (judged,) = ask(NAMED_ALIKE.format(uri=uri))
    assert judged.model_written == "moonshotai/Kimi-K2-Instruct"


def test_key_of_that_name_with_a_value_of_its_own_sets_it() -> None:
    uri = "{{ .Values.modelURI | default 'hf://moonshotai/Kimi-K2-Instruct' }}"
    (judged,) = ask(f"{NAMED_ALIKE.format(uri=uri)}---\nmodelURI: hf://acme/other\n")
    assert judged.model_written != "moonshotai/Kimi-K2-Instruct"
