"""Charts, custom resources, recipes and schedulers: what makes a command that is not written out."""

from __future__ import annotations

import textwrap

import pytest

from moonpad.explain.script import read_files
from tests.unit.explain.judging import ask, devices, layout

MODEL = "moonshotai/Kimi-K2-Instruct"


# --- layouts in keys ---


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("workers:\n  topology: {tensor: 8, pipeline: 2}\n  containers: [C]\n", (8, 2, 1)),
        ("parallelism: {tensor: 1, data: 16, dataLocal: 8, expert: true}\ncontainers: [C]\n", (1, 1, 16)),
        ("workerSpec: {tensorParallelSize: 4}\ncontainers: [C]\n", (4, 1, 1)),
    ],
)
def test_layouts_beside_the_container(text: str, expected: tuple[int, int, int]) -> None:
    container = f"{{image: vllm/vllm-openai:v0.12.0, args: [--model, {MODEL}, --trust-remote-code]}}"
    head = "apiVersion: a.example/v1\nkind: Fleet\nmetadata: {name: f}\nspec:\n"
    (judged,) = ask(head + textwrap.indent(text.replace("C", container), "  "))
    assert (layout(judged), judged.unknown) == (expected, frozenset())


def test_a_resource_that_nobody_knows() -> None:
    """Never TP1 with an error about memory."""
    text = (
        "apiVersion: a.example/v1\nkind: Fleet\nmetadata: {name: f}\nspec:\n  gpuShards: 8\n  engine:\n"
        f"    image: vllm/vllm-openai:v0.12.0\n    args: [--model, {MODEL}, --max-model-len, '4096']\n# on H200\n"
    )
    (judged,) = ask(text)
    assert {"tp", "pp"} <= judged.unknown
    assert judged.memory is None
    assert "does-not-fit" not in {finding.code.value for finding in judged.findings}
    (known,) = ask(text.replace("'4096'", "'4096', --tensor-parallel-size, '8'"))
    assert known.unknown == frozenset()


VALUES = {
    "camel case": "server:\n  image: r/vllm-openai:v0.11.0\n  lwsGroupSize: 2\n"
    "  resources: {limits: {nvidia.com/gpu: 8}}\n"
    "  args: {tpSize: 16, ppSize: 1, epEnabled: false, maxModelLen: 4096, maxBatchSize: 1}\n"
    "  extraArgs: [--disable-log-requests, --seed 1]\nmodel: {name: M}\n",
    "beside the image": "vllm:\n  image: {repository: vllm/vllm-openai, tag: v0.11.0}\n  model: M\n"
    "  tensorParallelSize: 16\n  maxModelLen: 4096\n  gpuMemoryUtilization: 0.9\n",
    "production stack": "modelSpec:\n- repository: vllm/vllm-openai\n  tag: v0.11.0\n  modelURL: M\n  requestGPU: 16\n"
    "  vllmConfig: {tensorParallelSize: 16, maxModelLen: 4096, v1: 1, extraArgs: [--trust-remote-code]}\n",
    "llm-d": "modelArtifacts: {uri: 'hf://M'}\nprefill: {create: false, containers: [{modelCommand: vllmServe}]}\n"
    "decode:\n  parallelism: {tensor: 16}\n  containers:\n  - image: r/vllm-openai:v0.11.0\n"
    "    modelCommand: vllmServe\n    args: [--max-model-len 4096, --enable-expert-parallel]\n",
    "KServe": "apiVersion: serving.kserve.io/v1alpha2\nkind: LLMInferenceService\nspec:\n  model: {uri: 'hf://M'}\n"
    "  parallelism: {tensor: 16}\n  template:\n    containers:\n    - name: main\n      env:\n"
    "      - {name: VLLM_ADDITIONAL_ARGS, value: '--max-model-len 4096'}\n",
    "Argo CD": "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: a}\nspec:\n  helm:\n"
    "    values: |\n      modelSpec:\n      - repository: vllm/vllm-openai\n        modelURL: M\n"
    "        vllmConfig: {tensorParallelSize: 16, maxModelLen: 4096}\n",
    "Ray": "kind: RayService\nspec:\n  serveConfigV2: |\n    applications:\n    - args:\n        llm_configs:\n"
    "        - model_loading_config: {model_id: k, model_source: M}\n          engine_kwargs:\n"
    "            tensor_parallel_size: 16\n            max_model_len: 4096\n",
}


@pytest.mark.parametrize("name", VALUES)
def test_values_of_charts(name: str) -> None:
    (judged,) = ask(VALUES[name].replace("M\n", f"{MODEL}\n").replace("M}", f"{MODEL}}}").replace("M'", f"{MODEL}'"))
    assert (judged.engine, layout(judged), judged.unknown) == ("vllm", (16, 1, 1), frozenset())
    assert judged.settings is not None
    assert judged.settings.max_model_len == 4096
    assert judged.checkpoint is not None
    assert judged.checkpoint.name == MODEL
    codes = {finding.code.value for finding in judged.findings}
    assert not codes & {"unknown-flag", "invalid-value", "does-not-fit", "illegal-layout", "removed-flag"}


# --- lists ---

ONE_ITEM = """\
kind: Pod
spec:
  containers:
  - image: vllm/vllm-openai:v0.12.0
    args:
    - --model=moonshotai/Kimi-K2-Thinking
    - --tensor-parallel-size 8
    - --trust-remote-code
"""


def test_an_option_and_its_value_in_one_item() -> None:
    """A mistake, and read as it was meant; a chart splits it."""
    (judged,) = ask(ONE_ITEM)
    (error,) = (finding for finding in judged.findings if finding.severity.value == "error")
    assert (error.code.value, layout(judged)) == ("invalid-value", (8, 1, 1))
    assert "--tensor-parallel-size=8" in error.remedy
    (other,) = ask("extraArgs:\n- --model moonshotai/Kimi-K2-Thinking\n- --tensor-parallel-size 8\n- --seed=1\n")
    assert [finding for finding in other.findings if finding.severity.value == "error"] == []


def test_an_item_without_its_dashes() -> None:
    text = "model:\n  model_id: moonshotai/Kimi-K3\n  base_args: [--trust-remote-code, --seed, '1']\n"
    text += "hardware_overrides:\n  hopper: {extra_args: [--max-model-len, '4096', attention-backend, FLASHMLA]}\n"
    (judged,) = ask(text)
    assert "tp" in judged.unknown
    assert [finding.remedy for finding in judged.findings if finding.where == "attention-backend"] == [
        "write --attention-backend"
    ]


# --- recipes ---


def test_servers_by_role() -> None:
    text = """\
model: {path: nvidia/Kimi-K2.5-NVFP4, container: nvcr.io/nvidia/tensorrt-llm/release:1.2.0}
resources: {gpu_type: gb200, gpus_per_node: 4, prefill_nodes: 2, prefill_workers: 2, decode_nodes: 8, decode_workers: 1}
backend:
  type: trtllm
  trtllm_config:
    prefill: {tensor_parallel_size: 4, enable_attention_dp: true, max_seq_len: 8232}
    decode: {tensor_parallel_size: 32, moe_expert_parallel_size: 32, enable_attention_dp: true, max_seq_len: 9256}
"""
    judged = ask(text)
    assert [(one.kind, layout(one), devices(one)) for one in judged] == [
        ("prefill", (1, 1, 4), "4xGB200"),
        ("decode", (1, 1, 32), "8x4xGB200"),
    ]


# --- schedulers ---

TASKS = {
    "SkyPilot": "resources: {accelerators: H100:8}\nnum_nodes: 2\nrun: |\n  vllm serve M --tensor-parallel-size "
    "$SKYPILOT_NUM_GPUS_PER_NODE --pipeline-parallel-size ${SKYPILOT_NUM_NODES}\n",
    "type of machine": "resources: {instance_type: p5.48xlarge}\nnum_nodes: 2\nrun: |\n  vllm serve M "
    "--tensor-parallel-size 8 --pipeline-parallel-size $SKYPILOT_NUM_NODES\n",
    "dstack": "type: task\nnodes: 2\ncommands:\n- vllm serve M --tensor-parallel-size $DSTACK_GPUS_PER_NODE "
    "--pipeline-parallel-size $DSTACK_NODES_NUM\nresources: {gpu: {name: H100, count: 8, memory: 80GB}}\n",
    "Slurm": "#!/bin/bash\n#SBATCH -N 2 --gres=gpu:h100:8\nsrun vllm serve M --tensor-parallel-size "
    "$SLURM_GPUS_ON_NODE --pipeline-parallel-size $SLURM_NNODES\n",
}


@pytest.mark.parametrize("name", TASKS)
def test_variables_of_schedulers(name: str) -> None:
    (judged,) = ask(TASKS[name].replace("serve M", f"serve {MODEL}"))
    assert (layout(judged), devices(judged)) == ((8, 2, 1), "2x8xH100")
    assert not any("SKYPILOT" in variable or "DSTACK" in variable for variable in judged.sources[0].env)


@pytest.mark.parametrize("gpu", ["H200:4..8", "{name: [H200, H100], count: 4..8}"])
def test_a_number_of_devices_that_is_not_settled(gpu: str) -> None:
    text = f"type: service\ncommands: [vllm serve {MODEL} --tensor-parallel-size $DSTACK_GPUS_NUM]\n"
    (judged,) = ask(f"{text}resources: {{gpu: '{gpu}'}}\n" if gpu[0] == "H" else f"{text}resources: {{gpu: {gpu}}}\n")
    assert "tp" in judged.unknown


# --- other tools ---

OTHERS = {
    "Argo Workflow": "kind: Workflow\nspec:\n  templates:\n  - nodeSelector: {pool: h200}\n    script:\n"
    "      image: vllm/vllm-openai:v0.12.0\n      command: [bash]\n      source: |\n        vllm serve M "
    "--tensor-parallel-size 8\n",
    "Ansible": "- tasks:\n  - docker_container:\n      image: vllm/vllm-openai:v0.12.0\n      command: '--model M "
    "--tensor-parallel-size 8'\n  # on 8xH200\n",
    "Amazon ECS": '{"containerDefinitions": [{"image": "vllm/vllm-openai:v0.12.0", "entryPoint": ["vllm", "serve"], '
    '"command": ["M", "--tensor-parallel-size", "8"], "resourceRequirements": [{"type": "GPU", "value": "8"}], '
    '"links": ["8xH200"]}]}',
    "OpenShift": "apiVersion: template.openshift.io/v1\nkind: Template\nmetadata: {name: t}\nparameters:\n"
    "- {name: TP, value: '8'}\nobjects:\n- kind: Pod\n  spec:\n    nodeSelector: {a: h200}\n    containers:\n"
    "    - image: vllm/vllm-openai:v0.12.0\n      args: [--model, M, --tensor-parallel-size, '${TP}']\n",
    "values with a text": "image: {repository: vllm/vllm-openai, tag: v0.12.0}\nnodeSelector: {a: h200}\n"
    "args: '--model M --tensor-parallel-size 8'\n",
    "a runtime of KServe": "apiVersion: serving.kserve.io/v1alpha1\nkind: ServingRuntime\nmetadata: {name: rt}\nspec:\n"
    "  containers:\n  - image: r/vllm:x\n    command: [python, -m, vllm.entrypoints.openai.api_server]\n"
    "    args: [--model=M]\n---\napiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {name: s}\n"
    "spec:\n  predictor:\n    nodeSelector: {a: h200}\n    model: {runtime: rt, args: [--tensor-parallel-size=8], "
    "resources: {limits: {nvidia.com/gpu: 8}}}\n",
    "a variable with options": "services:\n  a:\n    image: r/worker\n    environment:\n      MODEL: M\n"
    "      VLLM_ARGS: '--model M --tensor-parallel-size 8 --seed 1'  # on 8xH200\n",
    "an image without a name": "kind: Pod\nspec:\n  nodeSelector: {a: h200}\n  containers:\n"
    "  - image: '{{ .Values.image }}'\n    args: [--model, M, --tensor-parallel-size, '8', --port, '8000']\n",
    "kubectl run": "kubectl run a --image=vllm/vllm-openai:v0.12.0 -- --model M --tensor-parallel-size 8 # 8xH200\n",
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_tools(name: str) -> None:
    (judged,) = ask(OTHERS[name].replace("M", "moonshotai/Kimi-K2-Thinking"))
    assert (judged.engine, layout(judged), devices(judged)) == ("vllm", (8, 1, 1), "8xH200")


@pytest.mark.parametrize(
    ("names", "kinds"),
    [(("prefill", "decode"), ["prefill", "decode"]), (("VllmPrefillWorker", "VllmDecodeWorker"), ["prefill", "decode"]),
     (("DecodeWorker", "frontend"), ["serve", "serve"])],
)  # fmt: skip
def test_roles_by_name(names: tuple[str, str], kinds: list[str]) -> None:
    services = "".join(f"  {name}:\n    image: vllm/vllm-openai:v0.12.0\n    command: [--model, m]\n" for name in names)
    assert [judged.kind for judged in ask(f"services:\n{services}")] == kinds


def test_a_runtime_alone_and_what_a_template_fills_in() -> None:
    runtime = OTHERS["a runtime of KServe"].partition("---")[0].replace("M", MODEL)
    (judged,) = ask(runtime)
    assert "tp" in judged.unknown
    (templated,) = ask(f"- shell: vllm serve {MODEL} --tensor-parallel-size {{{{ tp }}}} --seed 1\n")
    assert "tp" in templated.unknown
    assert [finding for finding in templated.findings if finding.severity.value == "error"] == []


KEYED = {
    "an engine as a key": "model: {name: M, tp_size: 8, pp_size: 2}\nvllm:\n"
    "  serverArgs: {max-model-len: 4096, seed: 1}\n",
    "a file of options": "model: M\ntensor-parallel-size: 8\npipeline-parallel-size: 2\nmax-model-len: 4096\n",
    "a text of options": "workload:\n  image: r/vllm-openai:v0.12.0\n  model: M\n  tensorParallelSize: 8\n"
    "  pipelineParallelSize: 2\n  maxModelLen: 4096\n  extraArgs: |\n    --seed 1 \\\n    --port 9000\n",
    "a table by models": "Kimi-K2-Instruct:\n  hf_dir: models--moonshotai--Kimi-K2-Instruct\n"
    "  flags: '--tensor-parallel-size 8 --pipeline-parallel-size 2 --max-model-len 4096'\n",
}


@pytest.mark.parametrize("name", KEYED)
def test_options_under_keys(name: str) -> None:
    (judged,) = ask(KEYED[name].replace("M\n", f"{MODEL}\n").replace("M,", f"{MODEL},"))
    assert (judged.engine, layout(judged), judged.unknown) == ("vllm", (8, 2, 1), frozenset())
    assert judged.settings is not None
    assert judged.settings.max_model_len == 4096
    assert judged.checkpoint is not None
    assert judged.checkpoint.name == MODEL


def test_a_file_of_options_that_a_command_names_is_no_deployment_of_its_own() -> None:
    script = read_files(
        [("a.sh", "vllm serve --config k2.yaml\n"), ("k2.yaml", KEYED["a file of options"].replace("M", MODEL))]
    )
    (judged,) = ask(script)
    assert layout(judged) == (8, 2, 1)


def test_lists_that_a_tool_combines() -> None:
    text = "base_flags: '--model m --seed 1'\nlong_flags: '--max-model-len 4096 --seed 2'\n"
    (judged,) = ask(f"{text}ep_flags: '--enable-expert-parallel --max-num-seqs 8'\n")
    assert "tp" in judged.unknown
    assert len(judged.alternatives) == 2
