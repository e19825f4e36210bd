"""What a template of YAML stands as in a report: as it was written, never by a name that moonpad gave it."""

from __future__ import annotations

import json
import re

import pytest

from moonpad.explain.as_written import as_written
from moonpad.explain.script import read_script
from moonpad.report.explain_json import explain_json
from moonpad.report.explain_view import explain_view
from tests.unit.explain.judging import ask

MODEL = "deepseek-ai/DeepSeek-R1"
STAND_IN = re.compile(r"\w__+(?!\w)")
"""None of the names below ends so."""
TEMPLATES = (
    "{{ .Values.parallelArgs }}",
    "{{- .Values.parallelArgs -}}",
    "{{parallel_args}}",
    "{{ include \"chart.args\" . }}",
    "{{ .Values.a.very.long.name.of.a.value.that.nobody.would.ever.want.to.read.in.full.on.one.line }}",
)  # fmt: skip


def pod(words: str) -> str:
    return (
        "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - name: a\n    image: vllm/vllm-openai:v0.10.2\n"
        f'    command: ["/bin/bash", "-c"]\n    args: [\'vllm serve {MODEL} {words} --trust-remote-code\']\n'
    )


def shown(text: str) -> tuple[str, str, str]:
    script = read_script(text)
    judged = ask(script)
    short, whole = (explain_view(judged, script, 120, verbose=verbose).plain for verbose in (False, True))
    return short, whole, json.dumps(explain_json(judged, script), ensure_ascii=False, default=str)


@pytest.mark.parametrize("template", TEMPLATES)
def test_options_that_a_template_fills_in(template: str) -> None:
    for view in shown(pod(template)):
        assert not STAND_IN.search(view)
    short, _, document = shown(pod(template))
    assert template[:50] in " ".join(short.split())
    assert json.dumps(template)[1:-1] in document


@pytest.mark.parametrize("option", ["--tensor-parallel-size", "--max-model-len", "--gpu-memory-utilization", "--port"])
def test_a_value_that_a_template_fills_in(option: str) -> None:
    template = "{{ .Values.size }}"
    *views, document = shown(pod(f"{option} {template}"))
    assert not any(STAND_IN.search(each) for each in (*views, document))
    assert template in document


def test_a_model_below_a_folder() -> None:
    text = pod("--seed 1").replace(MODEL, "/data/{{ .Values.modelName }}")
    assert '"/data/{{ .Values.modelName }}"' in shown(text)[2]


def test_a_command_that_is_corrected_keeps_its_templates() -> None:
    text = pod("--served-model-name {{ .Values.name }} --tensor-parallel-size 8 --tool-call-parser hermes")
    (judged,) = ask(text)
    assert judged.corrected
    corrected = shown(text)[0].partition("Corrected")[2]
    assert "{{ .Values.name }}" in corrected


def test_words_that_only_look_like_one_stay() -> None:
    script = read_script(pod("{{ model }}"))
    for text in ("the model is $model", "__init__ of model_executor", "$other______", "a model... that thinks"):
        assert as_written(text, script) == text
