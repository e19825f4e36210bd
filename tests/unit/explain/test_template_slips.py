"""Templates of charts: what does not parse, what lands on the wrong level, and commands with templates in them."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_script
from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

CHART = """apiVersion: apps/v1
kind: Deployment
metadata:
  name: model
  labels:
    {labels}
spec:
  selector:
    matchLabels:
      app: model
  template:
    spec:
      {toleration}
      containers:
        - name: server
          image: vllm/vllm-openai:v0.20.0
          ports:
            - containerPort: {port}
          command: ["/bin/sh", "-c"]
          args:
            - |
              {first}
              vllm serve Qwen/Qwen3-8B \\
              --host 127.0.0.1 \\
              {branch}
              {more}
              {end}
              --max-model-len 4096
"""
RIGHT = {
    "labels": '{{- include "chart.labels" . | nindent 4 }}',
    "toleration": "{{- with .Values.tolerations }}\n      {{- end }}",
    "port": "{{ .Values.port }}",
    "first": "{{- if .Values.debug }}\n              set -x\n              {{- end }}",
    "branch": "{{- if .Values.chunked }}",
    "more": "--enable-chunked-prefill \\",
    "end": "{{- end }}",
}


def chart(**changed: str) -> str:
    text = CHART
    for name, value in {**RIGHT, **changed}.items():
        text = text.replace(f"{{{name}}}", value)
    return text


def errors(text: str) -> list[str]:
    return [f.message for each in ask(text) for f in each.findings if f.severity is Severity.ERROR]


def lost(text: str) -> list[str]:
    return [problem.message for problem in read_script(text).problems if "backslash" in problem.message]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"toleration": "{{ - with .Values.tolerations }}\n      {{ - end }}"}, "the minus sign stands apart"),
        ({"port": "{{ .Values.port }"}, "is closed with one brace"),
        ({"labels": '{{- include "chart.labels" . | nindent 2 }}'}, "nindent 2 puts the labels beside labels"),
    ],
)
def test_a_template_that_does_not_parse_or_lands_elsewhere(changed: dict[str, str], said: str) -> None:
    assert any(said in message for message in errors(chart(**changed)))


def test_a_whole_chart_is_right() -> None:
    assert not errors(chart())
    assert not errors(chart(labels='{{- include "chart.labels" . | indent 4 }}'))


@pytest.mark.parametrize(
    "more",
    [
        "--enable-chunked-prefill \\",
        "--enable-chunked-prefill \\{{- else }}--no-enable-chunked-prefill \\",
        "--enable-chunked-prefill{{- else }}--no-enable-chunked-prefill{{- end }} \\\n              {{- if .x }}",
    ],
)
def test_lines_of_templates_do_not_end_a_command(more: str) -> None:
    assert not lost(chart(more=more))
    (command,) = read_script(chart(more=more)).commands
    assert "--max-model-len" in [word.text for word in command.argv]


def test_the_branch_that_is_taken_has_to_go_on() -> None:
    assert lost(chart(more="--enable-chunked-prefill{{- else }}--no-enable-chunked-prefill \\"))


BASE = """apiVersion: v1
kind: ConfigMap
metadata:
  name: base
data:
  decode: |
    apiVersion: apps/v1
    kind: Deployment
    spec:
      template:
        spec:
          containers:
            - name: server
              image: registry.example.com/team/llm:1.0
              command:
                - vllm
                - serve
              args:
                - "--port"
                - {port}
                - "--enforce-eager"
"""


def test_a_pod_that_another_program_fills_in_is_read() -> None:
    (command,) = read_script(BASE.replace("{port}", '"{{ "inside" | portOf }}"')).commands
    assert [word.text for word in command.argv][-1] == "--enforce-eager"


def test_an_action_that_is_not_closed_there() -> None:
    text = BASE.replace("{port}", '"{{ "inside" | portOf }"').replace("name: base", 'name: "{{ .name }}"')
    assert any("is closed with one brace" in message for message in errors(text))


HELPERS = """{{/*
The arguments of the server (those that every pod has).
*/}}
{{- define "chart.arguments" -}}
{{- $context := default 8192 (index .Values "context") }}
vllm serve Qwen/Qwen3-8B \\
--host 127.0.0.1 \\
{{- if .Values.chunked }}
--enable-chunked-prefill \\
{{- end }}
{{- range .Values.more }}
{{ . | quote }}{{ end }}
{{- end }}
"""
BESIDE = """apiVersion: apps/v1
kind: Deployment
metadata:
  name: model
  labels: {{ include "chart.labels" . | nindent 4 }}
    app.example.com/part: server
spec:
  template:
    spec:
      containers:
        - name: server
          image: vllm/vllm-openai:v0.20.0
          args: ["--model", "Qwen/Qwen3-8B"]
"""


@pytest.mark.parametrize("text", [HELPERS, BESIDE])
def test_what_a_chart_has_around_a_command_is_no_mistake(text: str) -> None:
    script = read_script(text)
    assert not script.problems
    assert len(script.commands) == 1
    assert not errors(text)
