"""Charts, schemas, templates and dashboards, as public repositories of deployments have them."""

from __future__ import annotations

import pytest

from moonpad.explain.results import Judged
from moonpad.values.errors import UsageError
from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

SCHEMA = """{
  "$schema": "http://json-schema.org/draft-07/schema#",
  "type": "object",
  "properties": {
    "server": {
      "type": "object",
      "properties": {
        "image": {"type": "string", "default": "vllm/vllm-openai"},
        "model": {"type": "string"},
        "port": {"type": "integer", "title": "Where it listens"},
        "maxModelLen": {"type": "integer", "title": "Longest request"},
        "gpuMemoryUtilization": {"type": "number"}
      }
    }
  }
}
"""
VALUES = """server:
  image:
    repository: vllm/vllm-openai
    tag: v0.11.0
  settings:
    modelPath: Qwen/Qwen3-32B
    maxModelLen: %s
    attentionBackend: "FLASH_ATTN"
    tensorParallel: 2
    gpuMemoryUtilization: 0.9
"""
DEPLOYMENT = """apiVersion: apps/v1
kind: Deployment
metadata:
  name: served
spec:
  template:
    spec:
      containers:
        - name: main
          image: vllm/vllm-openai:v0.20.0
          command: [/bin/sh, -c]
          args:
            - %s
"""
FOLDED = (
    '"vllm serve /models/one \\\\\\n  --served-model-name {{ .Spec.Name\n'
    "              }} \\\\\\n  --data-parallel-rpc-port {{ if .Spec.Port }}{{ .Spec.Port }}{{\n"
    '              else }}5555{{- end }} \\\\\\n  --port 8000\\n"'
)
CLOSED = '"vllm serve a/b {{- if .Values.trust }} --trust-remote-code{{- end }} --max-model-len {{ .Values.most }}"'


def errors(text: str) -> list[str]:
    return [finding.message for each in judged(text) for finding in each.findings if finding.severity is Severity.ERROR]


def messages(text: str) -> str:
    return "\n".join(finding.message for each in judged(text) for finding in each.findings)


def judged(text: str) -> tuple[Judged, ...]:
    try:
        return ask(text)
    except UsageError:
        return ()


def test_schema_has_no_values() -> None:
    assert not judged(SCHEMA)


def test_number_below_zero_of_a_chart() -> None:
    assert not errors(VALUES % "-1.0")
    assert "does not take" in messages(VALUES % '"many"')


@pytest.mark.parametrize(
    ("key", "expected"),
    [("attentionBackend: FLASH_ATTN", False), ("attention-backend: FLASH_ATTN", True)],
)
def test_key_that_a_chart_spells_its_own_way(key: str, *, expected: bool) -> None:
    """What a template makes of it is not in the text: here a variable."""
    text = (VALUES % "4096").replace('attentionBackend: "FLASH_ATTN"', key)
    assert ("has no --attention-backend" in messages(text)) == expected


def test_template_that_is_folded() -> None:
    text = DEPLOYMENT % FOLDED
    (server,) = judged(text)
    assert "--data-parallel-rpc-port" in [word.text for word in server.sources[0].argv]
    assert not errors(text)


def test_stray_word_in_a_folded_text() -> None:
    assert "takes no such argument" in messages(DEPLOYMENT % FOLDED.replace("--port 8000", "stray --port 8000"))


def test_end_behind_an_option() -> None:
    text = DEPLOYMENT % CLOSED
    assert "has no --trust" not in messages(text)
    assert "has no --trust-remote-coed" in messages(text.replace("remote-code", "remote-coed"))


def test_module_in_a_title() -> None:
    assert not judged('{"panels": [{"title": "dynamo.vllm requests / sec", "type": "graph"}]}')


def test_module_behind_a_dash() -> None:
    """What runs it is put in front by a controller: it is no option of the engine in the image."""
    text = """apiVersion: v1
kind: Pod
spec:
  containers:
    - name: front
      image: registry.example/vllm-runtime:1.2
      args: ["-m", "dynamo.frontend", "--router-mode", "direct"]
"""
    assert "has no" not in messages(text)


def test_words_for_the_container() -> None:
    text = """```yaml
server:
  deviceArgs: ["--device", "/dev/vfio/vfio", "--device", "/dev/vfio/12"]
```
```bash
vllm serve Qwen/Qwen3-32B --port 8000 --port 8001
```
"""
    told = messages(text)
    assert "/dev/vfio" not in told
    assert "given twice, 8000 and 8001" in told


def test_one_of_two_options_of_a_template() -> None:
    text = """vllm serve Qwen/Qwen3-32B --port 8000 \\
{%- if without_cache %} \\
  --no-enable-prefix-caching
{%- endif %}
{%- if with_cache %} \\
  --enable-prefix-caching
{%- endif %}
"""
    assert "given twice" not in messages(text)


POD = """apiVersion: v1
kind: Pod
spec:
  containers:
    - name: requester
      image: registry.example/requester:1
      command: %s
      resources:
        limits:
          nvidia.com/gpu: "1"
          memory: 250Mi
    - name: server
      image: vllm/vllm-openai:v0.20.0
      command: [vllm, serve, Qwen/Qwen3-8B]
      env:
        - {name: CUDA_VISIBLE_DEVICES, value: "3"}
      resources:
        limits:
          nvidia.com/gpu: "%s"
"""


def test_container_that_is_no_server() -> None:
    """It only holds the device, so that little memory is enough for it."""
    assert "OOMKilled" not in messages(POD % ("[/app/requester, --port=8081]", "0"))
    assert "OOMKilled" in messages(POD % ("[vllm, serve, Qwen/Qwen3-4B]", "0"))


def test_no_device_is_asked_for() -> None:
    """What the server sees is then what its image or a variable says."""
    told = messages(POD % ("[/app/requester, --port=8081]", "0"))
    assert "the containers get 0 devices" not in told
    assert "takes a count, not an index" not in told


def test_file_that_a_template_names() -> None:
    text = "trtllm-serve Qwen/Qwen3-8B --extra_llm_api_options %s\n"
    assert "is opened as a file" not in messages(text % "'{{ engine_args }}'")
    assert "is opened as a file" in messages(text % """'{"enable_attention_dp": true}'""")
