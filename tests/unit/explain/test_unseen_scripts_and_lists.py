"""What files that nobody here had read taught: each input below is one of their kinds."""

from __future__ import annotations

import pytest

from moonpad.explain.judge import judge
from moonpad.explain.results import Judged
from moonpad.explain.script import read_files
from moonpad.explain.target_detection import Question
from moonpad.values.finding import Code, Finding, Severity
from tests.unit.explain.judging import ask

KEPT = r"""#!/bin/bash
LINE="CUDA_VISIBLE_DEVICES=0 python -m sglang.launch_server \\
  --model-path /models/m \\
  --tp-size 2"
"""
MODULE = "python -m vllm.entrypoints.openai.api_server --model moonshotai/Kimi-K2-Thinking -tp 8"


def findings(text: str, version: str = "", on: str = "") -> list[Finding]:
    return [each for one in ask(text, on, version) for each in one.findings]


def of_file(name: str, text: str) -> tuple[Judged, ...]:
    return judge(read_files([(name, text)]), Question())


# --- texts for eval ---


def test_eval_without_quotes_is_the_cause() -> None:
    script = read_files([("run.sh", f"{KEPT}eval $LINE\n")])
    (problem,) = script.problems
    assert "eval $LINE stands without quotes" in problem.message
    assert problem.remedy == 'write eval "$LINE"'
    (judged,) = judge(script, Question())
    assert judged.layout is not None
    assert (judged.layout.tp, judged.model_written) == (2, "/models/m")


def test_eval_with_quotes_joins_the_lines() -> None:
    script = read_files([("run.sh", f'{KEPT}eval "$LINE"\n')])
    assert not script.problems
    (judged,) = judge(script, Question())
    assert judged.layout is not None
    assert judged.layout.tp == 2


def test_one_of_several_texts_is_evaluated() -> None:
    branch = r"""  {name}) LINE="A=1 \\
  python -m sglang.launch_server \\
  --model-path /models/{name} \\
  --tp-size 2" ;;
"""
    text = f'case $1 in\n{branch.replace("{name}", "a")}{branch.replace("{name}", "b")}esac\neval "$LINE"\n'
    script = read_files([("run.sh", text)])
    assert not script.problems
    assert [one.model_written for one in judge(script, Question())][:1] == ["/models/a"]


# --- patterns of case ---


def test_patterns_of_case_lose_no_backslash() -> None:
    text = (
        'for word in "$@"; do\n  case "${word}" in\n    --port|--port=*|\\\n    --api-key|--api-key=*) exit 1 ;;\n'
        "  esac\ndone\nvllm serve org/m --port 8000\n"
    )
    assert not read_files([("run.sh", text)]).problems


# --- a value behind a switch ---


def test_the_module_passes_a_value_of_a_switch_over() -> None:
    (finding,) = [each for each in findings(f"{MODULE} --enforce-eager false", "0.33.0") if "no value" in each.message]
    assert finding.severity is Severity.WARNING
    assert "so that the switch is on" in finding.message


def test_vllm_serve_refuses_it() -> None:
    text = "vllm serve moonshotai/Kimi-K2-Thinking -tp 8 --enforce-eager true"
    (finding,) = [each for each in findings(text, "0.33.0") if "no value" in each.message]
    assert finding.severity is Severity.ERROR


def test_what_is_switched_off_stays_off() -> None:
    text = "vllm serve moonshotai/Kimi-K2-Thinking -tp 8 --trust-remote-code --enable-chunked-prefill false"
    (finding,) = [each for each in findings(text, "0.33.0") if "no value" in each.message]
    assert finding.remedy == "write --no-enable-chunked-prefill"


# --- lists of words ---


@pytest.mark.parametrize(
    "words",
    [
        '["tools/deploy.sh", "--model", name, "--namespace", space, "--streaming", "true"]',
        '["python", "-m", "vllm.benchmark.load", "--backend", "vllm", "--model", name, "--num-prompts", "9"]',
    ],
)
def test_a_list_that_begins_with_another_program(words: str) -> None:
    text = f'import subprocess\n\n\ndef run(name, space):\n    """Asks vllm."""\n    subprocess.run({words})\n'
    assert of_file("run.py", text) == ()


TEMPLATE = """{{- define "chart.options" -}}
- --model
- {{ .Values.model | quote }}
- --port
- "8000"
{{- if .Values.length }}
- --max-model-len
- {{ .Values.length | quote }}
{{- end }}
- --enable-auto-tool-choice
{{- end -}}
"""


def test_a_named_template_has_options() -> None:
    (judged,) = of_file("_helpers.tpl", TEMPLATE)
    assert judged.engine == "vllm"
    assert "--max-model-len" in [word.text for word in judged.sources[0].words]


def test_a_list_of_sentences_is_none() -> None:
    text = "- --model of the server\n- --max-model-len: the context\n- --port where it listens\n- --dtype of it\n"
    assert of_file("notes.txt", text) == ()


def test_a_patch_of_a_kustomization_is_read() -> None:
    text = """kind: Kustomization
patches:
- target:
    kind: Deployment
  patch: |-
    - op: replace
      path: /spec/template/spec/containers/0/command
      value:
      - python3
      - -m
      - vllm.entrypoints.openai.api_server
      - --model
      - org/m
      - --tensor-parallel-size
      - "2"
"""
    (judged,) = of_file("kustomization.yaml", text)
    assert judged.layout is not None
    assert judged.layout.tp == 2


def test_a_template_in_quotes_is_the_value() -> None:
    text = """kind: Deployment
spec:
  template:
    spec:
      containers:
      - name: m
        image: vllm/vllm-openai:v0.20.0
        args:
        - --model
        - {{ include "chart.model" . | quote }}
        - --served-model-name
        - m
        {{- include "chart.more" . | nindent 8 }}
"""
    assert not [
        each for one in of_file("deployment.yaml", text) for each in one.findings if "needs a value" in each.message
    ]


# --- what joins the machines ---

RECIPE = """recipe_version: "1"
model: org/m
cluster_only: true
defaults:
  tensor_parallel: 4
command: |
  vllm serve org/m -tp {tensor_parallel} --port 8000
"""


def test_the_runner_of_a_recipe_joins_its_nodes() -> None:
    def told(text: str) -> bool:
        return any("how the ranks reach each other" in each.message for each in findings(text, "0.33.0", "4x1xGB10"))

    assert not told(RECIPE)
    assert told(RECIPE.replace('recipe_version: "1"\n', "").replace("cluster_only: true\n", ""))


# --- memory ---


def test_the_told_size_of_the_cache_is_the_cause() -> None:
    text = (
        "sglang serve --model-path deepseek-ai/DeepSeek-R1 --tp-size 8 --trust-remote-code --context-length 9000 "
        "--max-total-tokens 8192"
    )
    (finding,) = [each for each in findings(text, "0.5.20", "8xB300") if each.code is Code.DOES_NOT_FIT]
    assert "the KV cache is told to hold 8,192" in finding.message


MPI = (
    "mpirun -n {ranks} --allow-run-as-root --hostfile hosts $MORE trtllm-llmapi-launch trtllm-serve "
    'moonshotai/Kimi-K3 --tp_size "$TP" --backend pytorch --trust_remote_code\n'
)


def test_ranks_on_more_machines_than_named() -> None:
    def told(ranks: int) -> bool:
        text = MPI.format(ranks=ranks).replace(" $MORE", "")
        return any(each.code is Code.DOES_NOT_FIT for each in findings(text, on="8xB200"))

    assert told(8)
    assert not told(16)


def test_a_list_of_exports_that_is_not_known() -> None:
    text = f"export NCCL_IB_HCA=mlx5_0\n{MPI.format(ranks=16)}"
    assert not [each for each in findings(text) if "passes only the variables" in each.message]
    assert [each for each in findings(text.replace(" $MORE", "")) if "passes only the variables" in each.message]


# --- reports ---


def test_a_decode_server_computes_no_prompts_in_chunks() -> None:
    def told(role: str) -> bool:
        text = (
            "sglang serve --model-path deepseek-ai/DeepSeek-R1 --tp-size 8 --attention-backend trtllm_mla "
            f"--disaggregation-mode {role}"
        )
        return any("computes wrongly where their cached" in each.message for each in findings(text, "0.5.8", "8xB200"))

    assert told("prefill")
    assert not told("decode")
