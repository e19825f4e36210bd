"""What stands around a container: ConfigMaps, groups of pods, labels of nodes, and what kubectl prints."""

from __future__ import annotations

import textwrap

import pytest

from moonpad.explain.manifests.node_labels import cluster_of_label, kind_of_label
from moonpad.explain.results import Judged
from moonpad.explain.script import read_files, read_script
from tests.unit.explain.judging import ask, devices, layout

MODEL = "moonshotai/Kimi-K2-Instruct"


def deployment(pod: str, name: str = "k2") -> str:
    head = f"apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}}}\nspec:\n  template:\n    spec:\n"
    return head + textwrap.indent(textwrap.dedent(pod).strip("\n"), " " * 6) + "\n"


def argv(judged: Judged) -> str:
    return " ".join(word.text for word in judged.sources[0].argv)


# --- ConfigMaps ---

USES_A_MAP = deployment(
    """
    containers:
    - name: c
      image: vllm/vllm-openai:v0.11.0
      args: [--model, $(MODEL), --tensor-parallel-size, $(K2_TP), --max-model-len, $(LEN), --api-key, $(KEY)]
      envFrom:
      - prefix: K2_
        configMapRef: {name: sizes}
      env:
      - {name: MODEL, valueFrom: {configMapKeyRef: {name: names, key: the_model}}}
      - {name: LEN, valueFrom: {configMapKeyRef: {name: elsewhere, key: x}}}
      - {name: KEY, valueFrom: {secretKeyRef: {name: s, key: api-key}}}
    """
)
MAPS = f"""\
apiVersion: v1
kind: List
items:
- {{apiVersion: v1, kind: ConfigMap, metadata: {{name: sizes}}, data: {{TP: "8"}}}}
- {{apiVersion: v1, kind: ConfigMap, metadata: {{name: names}}, data: {{the_model: {MODEL}}}}}
- {{apiVersion: v1, kind: Secret, metadata: {{name: s}}, stringData: {{api-key: not-to-be-shown}}}}
"""
KUSTOMIZATION = f"""\
kind: Kustomization
configMapGenerator:
- name: sizes
  literals: [TP=8]
- name: names
  literals: [the_model={MODEL}]
"""


@pytest.mark.parametrize(
    "files",
    [
        [USES_A_MAP + "---\n" + MAPS],
        [MAPS + "---\n" + USES_A_MAP],
        [USES_A_MAP, MAPS],
        [MAPS, USES_A_MAP],
        [KUSTOMIZATION, USES_A_MAP],
        [f"# Guide\n\n```yaml\n{USES_A_MAP}```\n\n```yaml\n{MAPS}```\n"],
    ],
)
def test_values_of_config_maps(files: list[str]) -> None:
    (judged,) = ask(read_files([(f"{number}.yaml", text) for number, text in enumerate(files)]))
    assert argv(judged).startswith(f"--model {MODEL} --tensor-parallel-size 8 --max-model-len ${{LEN}}")
    assert "not-to-be-shown" not in argv(judged)
    assert judged.unknown == {"max_model_len"}


def mounting(name: str, config_map: str, path: str) -> str:
    return deployment(
        f"""
        volumes: [{{name: v, configMap: {{name: {config_map}, items: [{{key: a.yaml, path: {path}}}]}}}}]
        containers:
        - name: c
          image: vllm/vllm-openai:v0.12.0
          command: [vllm, serve, --config, $(DIR)/{path}]
          env: [{{name: DIR, value: /etc/k2}}]
          volumeMounts: [{{name: v, mountPath: /etc/k2/}}]
        """,
        name,
    )


def test_mounted_files_of_two_pods_with_one_path() -> None:
    maps = [
        f"kind: ConfigMap\nmetadata: {{name: {name}}}\ndata:\n  a.yaml: |\n    model: {MODEL}\n"
        f"    tensor-parallel-size: {size}\n"
        for name, size in (("one", 8), ("two", 16))
    ]
    text = "---\n".join([*maps, mounting("a", "one", "serve.yaml"), mounting("b", "two", "serve.yaml")])
    assert [layout(judged)[0] for judged in ask(read_script(text))] == [8, 16]


def test_an_option_file_that_an_environment_variable_names() -> None:
    text = """\
kind: ConfigMap
metadata: {name: c}
data:
  engine.yaml: |
    tensor_parallel_size: 8
    enable_attention_dp: true
    max_seq_len: 8192
---
apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
metadata: {name: g}
spec:
  services:
    decode:
      subComponentType: decode
      multinode: {nodeCount: 2}
      resources: {limits: {gpu: "4"}}
      extraPodSpec:
        mainContainer:
          image: r/tensorrtllm-runtime:x
          command: [sh, -c]
          args: ['python3 -m dynamo.trtllm --model-path "$M" --extra-engine-args "${FILE}"']
          env: [{name: M, value: nvidia/Kimi-K2.5-NVFP4}, {name: FILE, value: /config/engine.yaml}]
          volumeMounts: [{name: v, mountPath: /config}]
        volumes: [{name: v, configMap: {name: c}}]
"""
    (judged,) = ask(text)
    assert (judged.engine, judged.kind, layout(judged)) == ("tensorrt-llm", "serve", (1, 1, 8))
    assert judged.settings is not None
    assert judged.settings.max_model_len == 8192
    assert not [finding for finding in judged.findings if finding.code.value in ("unknown-flag", "illegal-layout")]


# --- groups of pods ---

GROUP = f"""\
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {{name: g}}
spec:
  leaderWorkerTemplate:
    size: 2
    leaderTemplate:
      spec:
        nodeSelector: {{agentpool: gb300pool}}
        containers:
        - image: vllm/vllm-openai:x
          command: [sh, -c, "sh multi-node-serving.sh leader --ray_cluster_size=$(LWS_GROUP_SIZE);
            vllm serve {MODEL} --tensor-parallel-size 8 --port 8000"]
          resources: {{limits: {{nvidia.com/gpu: "4"}}}}
    workerTemplate:
      spec:
        containers:
        - image: vllm/vllm-openai:x
          command: [sh, -c, "sh multi-node-serving.sh worker --ray_address=$(LWS_LEADER_ADDRESS)"]
          securityContext: {{privileged: true}}
          resources: {{limits: {{nvidia.com/gpu: "4"}}}}
"""


def test_workers_that_only_join_ray() -> None:
    (judged,) = ask(GROUP)
    assert (devices(judged), layout(judged)) == ("2x4xGB300", (8, 1, 1))
    assert "illegal-layout" not in {finding.code.value for finding in judged.findings}


RANKS = """\
kind: LeaderWorkerSet
spec:
  leaderWorkerTemplate:
    size: 2
    workerTemplate:
      metadata: {labels: {llm-d.ai/role: prefill}}
      spec:
        containers:
        - image: vllm/vllm-openai:v0.12.0
          command: [bash, -c]
          args:
          - |
            START=$(( ${INDEX:-0} * LOCAL ))
            ARGS="--data-parallel-size $((LWS_GROUP_SIZE * LOCAL)) --data-parallel-size-local $LOCAL"
            if [ "${INDEX:-0}" -eq 0 ]; then
              vllm serve m $ARGS --data-parallel-start-rank $START --enable-expert-parallel
            else
              vllm serve m $ARGS --data-parallel-start-rank $START --enable-expert-parallel --headless
            fi
          env:
          - {name: LOCAL, value: "8"}
          - name: INDEX
            valueFrom: {fieldRef: {fieldPath: "metadata.labels['leaderworkerset.sigs.k8s.io/worker-index']"}}
          resources: {limits: {nvidia.com/gpu: "8"}}
"""


def test_ranks_of_one_template() -> None:
    """A label has the number of the pod, sums have defaults, and the test of a pod's own number is decided."""
    (judged,) = ask(RANKS)
    assert (judged.kind, layout(judged), len(judged.sources)) == ("prefill", (1, 1, 16), 2)
    assert [command.argv[-1].text for command in judged.sources] == ["--enable-expert-parallel", "--headless"]


@pytest.mark.parametrize(
    ("group", "size"),
    [
        ("engineConfig: {leader: {runner: POD}, worker: {size: 3, runner: POD}}", 4),
        ("roles: [{name: decode, entryTemplate: {spec: POD}, workerReplicas: 1, workerTemplate: {spec: POD}}]", 2),
        ("roles: [{name: x, leaderWorkerPattern: {size: 3, template: {spec: POD}}}]", 3),
        ("roles: [{name: x, leaderWorkerSet: {size: 3}, template: {spec: POD}}]", 3),
        ("workloadTemplate: {size: 2, leaderTemplate: {spec: POD}, workerTemplate: {spec: POD}}", 2),
    ],
)
def test_groups_of_other_controllers(group: str, size: int) -> None:
    prefix = "RBG_LWP_" if "Pattern" in group else "" if "entryTemplate" in group else "LWS_"
    rank = f"$({prefix}WORKER_INDEX)"
    container = (
        "{containers: [{image: lmsysorg/sglang:x, command: [python3, -m, sglang.launch_server, --model-path, m, --tp, "
        f"'32', --nnodes, '{size}', --node-rank, {rank}]}}]}}"
    )
    text = f"apiVersion: ome.io/v1\nkind: X\nmetadata: {{name: x}}\nspec: {{{group.replace('POD', container)}}}\n"
    (judged,) = ask(text)
    assert len(judged.sources) == size


# --- nodes ---


@pytest.mark.parametrize(
    ("label", "cluster"),
    [
        *[("gb300pool", "GB300"), ("nvidia-h100-80gb", "H100"), ("NVIDIA-H100-80GB-HBM3", "H100"), ("tesla-t4", "")],
        *[
            ("p5.48xlarge", "8xH100"),
            ("p5en.48xlarge", "8xH200"),
            ("p4d.24xlarge", "8xA100-40G"),
            ("a3-highgpu-8g", "8xH100"),
        ],
        *[("Standard_ND96isr_H100_v5", "8xH100"), ("Standard_ND128isr_NDR_GB200_v6", "4xGB200")],
        *[("BM.GPU.MI300X.8", "8xMI300X"), ("gpu-mi300x8-1536gb", "8xMI300X"), ("gd-8xh100ib-i128", "8xH100")],
        *[
            ("nvidia-tesla-a100", "A100-40G"),
            ("nvidia-a100-80gb", "A100"),
            ("A100", ""),
            ("NVIDIA-GH200-480GB", "GH200"),
            ("NVIDIA-A100-SXM4-40GB", "A100-40G"),
            ("nvidia-l4", "L4"),
            ("NVIDIA-A10G", "A10G"),
            ("NVIDIA-H100-PCIe", "H100-PCIE"),
        ],
        *[("AMD_Instinct_MI300X_OAM", "MI300X"), ("NVIDIA-H20-3e", "H20-141G"), ("worker", ""), ("true", "")],
    ],
)
def test_labels_of_nodes(label: str, cluster: str) -> None:
    assert cluster_of_label(label) == cluster
    assert kind_of_label(label) == cluster.rpartition("8x")[2].removeprefix("4x")


def test_what_one_object_says_is_not_said_of_another() -> None:
    container = """
        containers:
        - image: {image}
          args: [vllm, serve, moonshotai/Kimi-K2-Thinking, --tensor-parallel-size, "8"]
        """
    texts = [
        deployment(
            "nodeSelector: {pool: h200}\n" + textwrap.dedent(container.format(image="vllm/vllm-openai:v0.12.0"))
        ),
        deployment(container.format(image="rocm/vllm:latest") + "nodeSelector: {a: MI300X}\n".rjust(35)),
        deployment(container.format(image="vllm/vllm-openai:nightly")),
    ]
    judged = ask("---\n".join(texts))
    assert [devices(one) for one in judged] == ["8xH200", "8xMI300X", ""]
    assert [one.version_because.startswith("the text names") for one in judged] == [True, False, False]


# --- kubectl ---


def test_a_list_of_what_runs() -> None:
    """The pods that a Deployment has made are the same once more; annotations start nothing."""
    container = "{image: vllm/vllm-openai:v0.11.0, args: [--model, m, --tensor-parallel-size, '8']}"
    owner = "ownerReferences: [{kind: X, name: OWNER}]"
    applied = "annotations: {kubectl.kubernetes.io/last-applied-configuration: 'vllm serve m --tensor-parallel-size 4'}"
    objects = [
        f"{{kind: Deployment, metadata: {{name: a, {applied}}}, spec: {{template: {{spec: {{containers: [C]}}}}}}}}",
        f"{{kind: ReplicaSet, metadata: {{name: a-1, {owner.replace('OWNER', 'a')}}}, spec: {{containers: [C]}}}}",
        f"{{kind: Pod, metadata: {{name: a-1-x, {owner.replace('OWNER', 'a-1')}}}, spec: {{containers: [C]}}}}",
    ]
    text = "apiVersion: v1\nkind: List\nitems:\n" + "".join(f"- {one}\n" for one in objects)
    (judged,) = ask(text.replace("C]", f"{container}]"))
    assert layout(judged) == (8, 1, 1)


DESCRIBED = """\
Name:             k2-0
Namespace:        llm
Containers:
  vllm:
    Image:         vllm/vllm-openai:v0.11.0
    Command:
      python3
      -m
      vllm.entrypoints.openai.api_server
    Args:
      --model
      moonshotai/Kimi-K2-Thinking
      --tensor-parallel-size
      8
    Limits:
      nvidia.com/gpu:  8
    Environment:
      HF_HOME:  /data
Node-Selectors:   nvidia.com/gpu.product=NVIDIA-H200
Events:           <none>
"""


def test_a_described_pod() -> None:
    (judged,) = ask(DESCRIBED)
    assert (layout(judged), devices(judged), judged.sources[0].env["HF_HOME"].text) == ((8, 1, 1), "8xH200", "/data")


@pytest.mark.parametrize("line", ["kubectl apply -f - <<EOF", "cat > k2.yaml <<EOF", "cat <<EOF | kubectl apply -f -"])
def test_a_manifest_in_a_heredoc(line: str) -> None:
    pod = "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - image: vllm/vllm-openai:v0.12.0\n    args:"
    (judged,) = ask(
        f"export TP=8\n{line}\n{pod} [--model, {MODEL}, --tensor-parallel-size, '${{TP}}', --port, '$PORT']\nEOF\n"
    )
    assert argv(judged) == f"--model {MODEL} --tensor-parallel-size 8 --port $PORT"


@pytest.mark.parametrize(
    "line",
    [
        "cmake --build build --config Release -j --target llama-server llama-cli",
        "make -j llama-server LLAMA_CURL=1",
        "ln -s $PWD/llama-server /usr/local/bin/llama-server",
        "chmod +x /usr/bin/llama-server -v",
        "command -v vllm serve x",
        "kubectl exec pod -- pkill -f vllm serve --force",
        "docker build -t r/vllm serve .",
    ],
)
def test_what_only_speaks_of_a_program(line: str) -> None:
    assert ask(line) == ()


def test_init_containers_start_no_engine() -> None:
    pod = "{command: [vllm, serve, m, --tensor-parallel-size, '8'], image: vllm/vllm-openai:v0.12.0}"
    text = (
        f"kind: Pod\nspec:\n  initContainers: [{pod}]\n  containers: [{{image: busybox, command: [sh, -c, sleep 1]}}]\n"
    )
    assert ask(text) == ()


# --- too few devices, whatever their kind ---


def test_weights_that_no_device_holds() -> None:
    text = deployment(
        f"""
        containers:
        - image: vllm/vllm-openai:v0.12.0
          args: [--model, {MODEL}, --tensor-parallel-size, "1"]
          resources: {{limits: {{nvidia.com/gpu: 1}}}}
        """
    )
    (judged,) = ask(text)
    assert [finding.severity.value for finding in judged.findings if finding.code.value == "does-not-fit"] == ["error"]
    (wide,) = ask(text.replace('"1"', '"8"').replace("gpu: 1", "gpu: 8"))
    found = [finding.severity.value for finding in wide.findings if finding.code.value == "does-not-fit"]
    assert found == ["note"]  # of eight devices whose kind nobody names some hold them
