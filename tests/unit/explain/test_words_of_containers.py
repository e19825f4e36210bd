"""What a container's words, keys and names do not mean: a script's arguments, a list's variables, a set's service."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

POD = """apiVersion: v1
kind: Pod
metadata: {name: k2}
spec:
  containers:
  - name: server
    image: vllm/vllm-openai:v0.20.0
    command: COMMAND
    args:
ARGS
    resources: {limits: {nvidia.com/gpu: '8'}}
"""
MODEL = "moonshotai/Kimi-K2.5"
KEYS = """apiVersion: v1
kind: HOLDER
metadata: {name: NAME}
PART: {token: hf_0123456789, other: x}
---
apiVersion: v1
kind: Pod
metadata: {name: k2}
spec:
  containers:
  - name: server
    image: vllm/vllm-openai:v0.20.0
    args: [--model, moonshotai/Kimi-K2.5, -tp, '8']
    env:
    - {name: HF_TOKEN, valueFrom: {REF: {name: hf, key: KEY}}}
    resources: {limits: {nvidia.com/gpu: '8'}}
"""
KEYS_GOOD = {"HOLDER": "Secret", "NAME": "hf", "PART": "stringData", "REF": "secretKeyRef", "KEY": "token"}
SET = """apiVersion: apps/v1
kind: StatefulSet
metadata: {name: k2}
spec:
  serviceName: SERVICE
  replicas: 2
  podManagementPolicy: Parallel
  selector: {matchLabels: {app: k2}}
  template:
    metadata: {labels: {app: k2}}
    spec:
      containers:
      - name: server
        image: lmsysorg/sglang:v0.5.10
        command: [bash, -c]
        args:
        - python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2-Instruct --tp 16 --nnodes 2
          --node-rank ${HOSTNAME##*-} --dist-init-addr ADDRESS:20000 --trust-remote-code
        resources: {limits: {nvidia.com/gpu: '8'}}
"""
BUILT = "FROM vllm/vllm-openai:v0.20.0\nENV MODEL=moonshotai/Kimi-K2.5\n{}\n"


def told(text: str, words: str) -> list[str]:
    findings = [finding for judged in ask(text) for finding in judged.findings]
    return [finding.where for finding in findings if words in finding.message]


def pod(command: str, *args: str) -> str:
    return POD.replace("COMMAND", command).replace("ARGS", "\n".join(f"    - {each}" for each in args))


@pytest.mark.parametrize(
    "text",
    [
        pod("[/bin/sh, -c]", "vllm serve", MODEL, "-tp=8"),
        pod("[bash, -lc]", f"vllm serve {MODEL}", "--tensor-parallel-size", "'8'"),
        pod("[bash, -e, -c]", "exec vllm serve", MODEL, "-tp=8"),
    ],
)
def test_words_behind_the_script_of_a_shell(text: str) -> None:
    assert told(text, "the one text behind -c") == ["-c"]


@pytest.mark.parametrize(
    "text",
    [
        pod("[/bin/sh, -c]", f"vllm serve {MODEL} -tp 8"),
        pod("[/bin/sh, -c]", "'vllm serve \"$@\"'", "--", MODEL, "-tp=8"),
        pod("[bash, -c]", "'vllm serve \"$0\" ${1}'", MODEL, "-tp=8"),
        pod("[vllm, serve]", MODEL, "-tp=8"),
        pod("[bash, serve.sh, -c]", MODEL, "-tp=8"),
    ],
)
def test_words_that_the_program_or_the_script_takes(text: str) -> None:
    assert told(text, "the one text behind -c") == []


def keys(**changed: str) -> str:
    text = KEYS
    for name, value in {**KEYS_GOOD, **changed}.items():
        text = text.replace(name, value)
    return text


@pytest.mark.parametrize(
    "changed",
    [
        {"KEY": "HF_TOKEN_"},
        {"PART": "data", "KEY": "hf"},
        {"HOLDER": "ConfigMap", "PART": "data", "REF": "configMapKeyRef", "KEY": "hf"},
    ],
)
def test_a_key_that_the_object_of_the_text_lacks(changed: dict[str, str]) -> None:
    assert told(keys(**changed), "has no key") == ["key"]


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"KEY": "other"},
        {"NAME": "another", "KEY": "hf"},
        {"KEY": "hf, optional: true"},
        {"KEY": "'{{ .Values.key }}'"},
        {"KEY": "$TOKEN_KEY"},
        {"REF": "configMapKeyRef", "KEY": "hf"},
    ],
)
def test_keys_that_are_there_or_may_be(changed: dict[str, str]) -> None:
    assert told(keys(**changed), "has no key") == []


@pytest.mark.parametrize("address", ["k2-0.k2-nodes", "k2-0.k2-nodes.llm.svc.cluster.local"])
def test_pods_of_a_set_are_asked_for_below_another_service(address: str) -> None:
    assert told(SET.replace("SERVICE", "k2").replace("ADDRESS", address), "serviceName is k2") == ["serviceName"]


@pytest.mark.parametrize("address", ["k2-0.k2", "k2-0.k2.llm.svc.cluster.local", "router-0.routers", "k2.example.com"])
def test_pods_of_a_set_are_asked_for_below_their_service(address: str) -> None:
    assert told(SET.replace("SERVICE", "k2").replace("ADDRESS", address), "serviceName is") == []


@pytest.mark.parametrize(
    ("lines", "where"),
    [
        ('CMD ["--model", "$MODEL", "-tp", "8"]', "CMD"),
        ('ENTRYPOINT ["vllm", "serve"]\nCMD ["${MODEL}", "-tp", "8"]', "CMD"),
        ('ENTRYPOINT ["vllm", "serve", "${MODEL}", "-tp", "8"]', "ENTRYPOINT"),
    ],
)
def test_a_list_fills_no_variables_in(lines: str, where: str) -> None:
    assert told(BUILT.format(lines), "without a shell") == [where]


@pytest.mark.parametrize(
    "lines",
    [
        "ENTRYPOINT vllm serve $MODEL -tp 8",
        'ENTRYPOINT ["sh", "-c", "exec vllm serve $MODEL -tp 8"]',
        'ENTRYPOINT ["/bin/bash", "-lc"]\nCMD ["vllm serve $MODEL -tp 8"]',
        'ENTRYPOINT ["/entrypoint.sh"]\nCMD ["vllm", "serve", "$MODEL"]',
        'CMD ["--model", "moonshotai/Kimi-K2.5", "--chat-template", "{{ \\\\$x }}"]',
    ],
)
def test_a_shell_or_a_script_fills_variables_in(lines: str) -> None:
    assert told(BUILT.format(lines), "without a shell") == []


@pytest.mark.parametrize(
    ("step", "remedy"),
    [
        ("RUN export HF_HOME=/models/hf", "write ENV HF_HOME=/models/hf"),
        ("RUN cd /opt/app", "write WORKDIR /opt/app"),
        ("RUN source /opt/venv/bin/activate", "put it in front of the command that needs it, in the same RUN"),
    ],
)
def test_a_step_of_a_build_changes_its_own_shell_alone(step: str, remedy: str) -> None:
    text = BUILT.format(f'{step}\nCMD ["--model", "moonshotai/Kimi-K2.5", "-tp", "8"]')
    assert told(text, "a shell of its own") == ["RUN"]
    assert remedy in [finding.remedy for judged in ask(text) for finding in judged.findings]


@pytest.mark.parametrize(
    "step",
    [
        "RUN export MAX_JOBS=8 && pip install flash-attn",
        "RUN cd /opt/app && make",
        "RUN source /opt/venv/bin/activate; pip install x",
        "RUN echo export HF_HOME=/hf >> /etc/profile",
    ],
)
def test_a_step_that_uses_what_it_changes(step: str) -> None:
    text = BUILT.format(f'{step}\nCMD ["--model", "moonshotai/Kimi-K2.5", "-tp", "8"]')
    assert told(text, "a shell of its own") == []


SHELL = """services:
  engine:
    image: vllm/vllm-openai:v0.20.0
    gpus: all
    ipc: host
    entrypoint: {entrypoint}
    command:
    - {script}
    - moonshotai/Kimi-K2.5
    - --tensor-parallel-size=8
"""


@pytest.mark.parametrize(
    ("entrypoint", "script", "expected"),
    [
        ("[/bin/bash, -c]", "vllm serve", ["-c"]),
        ("[/bin/bash, -c]", '\'vllm serve "$$0" "$$@"\'', []),
        ("[vllm]", "serve", []),
    ],
)
def test_words_behind_the_script_of_a_service(entrypoint: str, script: str, expected: list[str]) -> None:
    assert told(SHELL.format(entrypoint=entrypoint, script=script), "the one text behind -c") == expected


RESERVED = """services:
  engine:
    image: vllm/vllm-openai:v0.20.0
    command: --model moonshotai/Kimi-K2.5 -tp 8
    deploy: {{resources: {{reservations: {{devices: [{{driver: nvidia, capabilities: [gpu]{more}}}]}}}}}}
"""


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (", count: 4, device_ids: ['4', '5', '6', '7']", ["device_ids"]),
        (", count: 8", []),
        (", device_ids: ['0', '1']", []),
    ],
)
def test_a_count_of_devices_beside_their_ids(more: str, expected: list[str]) -> None:
    assert told(RESERVED.format(more=more), "exclude each other") == expected
