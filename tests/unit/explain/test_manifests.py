"""Containers that YAML describes: compose files, objects of Kubernetes, and lists of arguments elsewhere."""

from __future__ import annotations

import contextlib
import random
import time

import pytest

from moonpad.explain.commands import Command, Script, Word
from moonpad.explain.script import read_files, read_script
from moonpad.values.errors import UsageError
from tests.processor import in_time
from tests.unit.explain.judging import ask, at

COMPOSE = """\
# A compose file: é before the words.
x-common: &common
  image: vllm/vllm-openai:v0.11.0
  environment:
    - VLLM_USE_V1=1
    - HF_TOKEN
services:
  head:
    <<: *common
    entrypoint: ["vllm"]
    command:
      - serve
      - moonshotai/Kimi-K2-Instruct
      - --tensor-parallel-size
      - "8"
      - --port=${PORT:-9000}
      - --served-model-name
      - ${NAME:?set it}
      - --seed
      - '$$5'
    ports: ["8000:8000", {published: 9, target: 9, host_ip: 127.0.0.1}]
    privileged: true
    deploy: {resources: {reservations: {devices: [{driver: nvidia, count: 8}]}}}
  "second":
    image: lmsysorg/sglang:v0.5.5
    command: >-
      python3 -m sglang.launch_server
      --model-path "a b" --tp 8
    environment: {A: 1, B: "${A}"}
    network_mode: host
"""

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: kimi}
spec:
  hostNetwork: true
  containers:
  - name: engine
    image: vllm/vllm-openai:v0.11.0
    args: [--model, moonshotai/Kimi-K2-Instruct, --port, $(PORT), --seed, $$(X), --host, $(UNKNOWN)]
    env:
    - {name: PORT, value: "9000"}
    - {name: VLLM_API_KEY, valueFrom: {secretKeyRef: {name: a, key: b}}}
    resources: {limits: {nvidia.com/gpu: 8}}
    livenessProbe: {exec: {command: [vllm, serve, probe]}}
  - name: side
    image: busybox
    command: [sh, -c, sleep 1]
"""

GROUP = """\
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
spec:
  replicas: 2
  leaderWorkerTemplate:
    size: 3
    workerTemplate:
      spec:
        containers:
        - image: lmsysorg/sglang:v0.5.5
          command: [sh, -c]
          args:
          - |
            echo start
            python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2-Instruct --tp 24 \\
              --dist-init-addr $LWS_LEADER_ADDRESS:5000 --nnodes $LWS_GROUP_SIZE --node-rank $LWS_WORKER_INDEX
"""


def known(script: Script) -> list[Command]:
    return [command for command in script.commands if command.program not in ("other", "docker")]


def texts(words: tuple[Word, ...]) -> str:
    return " ".join(word.text for word in words)


def written(script: Script, word: Word) -> str:
    """What stands at the word's place."""
    assert word.line == word.end_line
    return script.lines[word.line - 1][word.column : word.end_column]


def test_services_of_compose() -> None:
    script = read_script(COMPOSE)
    head, second = known(script)
    assert texts(head.argv) == (
        "moonshotai/Kimi-K2-Instruct --tensor-parallel-size 8 --port=9000 --served-model-name ${NAME} --seed $5"
    )
    assert [word.unresolved for word in head.argv if word.unresolved] == [("NAME",)]
    assert (texts(head.prefix), second.program, texts(second.argv)) == (
        "vllm serve",
        "sglang",
        "--model-path a b --tp 8",
    )
    assert {name: word.text for name, word in second.env.items()} == {"A": "1", "B": "${A}"}
    assert {name: word.text for name, word in head.env.items()} == {"VLLM_USE_V1": "1", "HF_TOKEN": "${HF_TOKEN}"}
    assert script.versions == {"vllm": "0.11.0", "sglang": "0.5.5"}


def test_words_have_their_places_in_the_file() -> None:
    script = read_script(COMPOSE)
    head, second = known(script)
    assert [written(script, word) for word in head.argv] == [
        *("moonshotai/Kimi-K2-Instruct", "--tensor-parallel-size", '"8"', "--port=${PORT:-9000}"),
        *("--served-model-name", "${NAME:?set it}", "--seed", "'$$5'"),
    ]
    assert written(script, head.env["VLLM_USE_V1"]) == "VLLM_USE_V1=1"
    assert second.line == 27
    (pod, *_) = known(read_script(POD))
    assert pod.line == 9


def test_what_a_container_is_granted() -> None:
    head, second = known(read_script(COMPOSE))
    assert head.container is not None
    assert second.container is not None
    assert (head.container.values("--publish"), head.container.has("--privileged")) == (
        ("8000:8000", "127.0.0.1:9:9"),
        True,
    )
    assert (head.container.value("--gpus"), second.container.value("--network")) == ("8", "host")
    judged = ask(COMPOSE)
    assert [place for deployment in judged for place in at(deployment, "insecure")] == ["-p 8000:8000", "--privileged"]


def test_a_pod() -> None:
    script = read_script(POD)
    (engine,) = known(script)
    assert engine.program == "vllm serve", "the image starts it"
    assert texts(engine.argv) == ("--model moonshotai/Kimi-K2-Instruct --port 9000 --seed $(X) --host ${UNKNOWN}")
    assert engine.env["VLLM_API_KEY"].unresolved == ("VLLM_API_KEY",)
    assert engine.container is not None
    assert (engine.container.value("--network"), engine.container.value("--gpus")) == ("host", "8")
    (judged,) = ask(script)
    assert judged.engine == "vllm"
    assert judged.corrected == (), "the weights of all ranks on one device"
    (judged,) = ask(POD.replace("--seed", '--tensor-parallel-size, "8", --seed'))
    assert [line.argv[0] for line in judged.corrected] == ["--model"], "what goes into args"


@pytest.mark.parametrize(("size", "messages"), [(8, []), (4, ["8 ranks, and the containers get 4 devices (4 each)"])])
def test_devices_of_a_container(size: int, messages: list[str]) -> None:
    text = COMPOSE.replace("count: 8", f"count: {size}") + "# on H200\n"
    judged, *_ = ask(text)
    told = [finding.message.partition(": ")[0] for finding in judged.findings if finding.where == "--gpus"]
    assert told == messages
    wide = COMPOSE.replace("- --port", "- --pipeline-parallel-size=2\n      - --nnodes=2\n      - --port")
    (judged, *_) = ask(f"{wide}# H200\n")
    assert judged.cluster is not None
    assert judged.cluster.name == "2x8xH200"


def test_leader_and_workers_are_one_deployment() -> None:
    script = read_script(GROUP)
    commands = known(script)
    assert [texts(command.argv).rpartition(" ")[2] for command in commands] == ["0", "1", "2"]
    assert {written(script, command.argv[0]) for command in commands} == {"--model-path"}
    (judged,) = ask(script)
    assert len(judged.sources) == 3
    assert judged.layout is not None
    assert judged.layout.tp == 24
    assert set(at(judged, "missing-flag")) == {"--tool-call-parser", "--trust-remote-code"}, "and none of --nnodes"


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet", "Job"])
def test_templates_of_pods(kind: str) -> None:
    text = f"""\
kind: {kind}
metadata:
  name: x
spec:
  template:
    spec:
      containers:
        - image: i
          command: ["vllm", "serve", "m"]
"""
    assert [texts(command.argv) for command in known(read_script(f"---\n{text}---\n{text}"))] == ["m", "m"]


def test_arguments_without_an_image() -> None:
    text = "predictor:\n  model:\n    args:\n    - --tensor-parallel-size\n    - '8'\n    - --max-model-len=8192\n"
    (judged,) = ask(text)
    assert (judged.engine, judged.layout and judged.layout.tp) == ("vllm", 8)


def test_option_files_of_a_config_map() -> None:
    text = "kind: ConfigMap\ndata:\n  options.yaml: |\n    enable_attention_dp: true\n"
    assert read_script(text).files["options.yaml"].text == "enable_attention_dp: true\n"


def test_pieces_of_a_deployment_in_several_files() -> None:
    ranks = [f"python -m sglang.launch_server --model-path m --tp 16 --nnodes 2 --node-rank {rank}" for rank in (0, 1)]
    script = read_files([("a.sh", f"#!/bin/sh\r\n{ranks[0]}"), ("b.sh", f"{ranks[1]} --nope\n")])
    (judged,) = ask(script)
    assert [command.line for command in judged.sources] == [2, 3]
    assert [script.place(command.line) for command in judged.sources] == [("a.sh", 2), ("b.sh", 1)]
    assert (script.where(3), read_script("vllm serve m\n").where(1)) == ("b.sh line 1", "line 1")


def test_files_of_several_kinds() -> None:
    script = read_files(
        [("a.md", "# Run\n```bash\nvllm serve m\n```\n"), ("b.yaml", COMPOSE), ("c.sh", "A=1 kt run m\n")]
    )
    assert [(script.place(command.line)) for command in known(script)] == [
        ("a.md", 3),
        ("b.yaml", 10),
        ("b.yaml", 27),
        ("c.sh", 1),
    ]


def test_a_variable_of_one_file_is_not_known_in_the_next() -> None:
    (command,) = known(read_files([("a.sh", "TP=8\n"), ("b.sh", "vllm serve m --tp $TP\n")]))
    assert command.argv[-1].unresolved == ("TP",)


def test_yaml_that_cannot_be_read() -> None:
    script = read_script("services:\n  a:\n    image: x\n    command: vllm serve m --port 1\n  b: c: d\n")
    assert [texts(command.argv) for command in known(script)] == ["m --port 1"]
    assert [(problem.code, problem.line) for problem in script.problems] == [("yaml", 5)]
    assert read_script("name: [of no one\nvllm serve m\n").commands[-1].program == "vllm serve", "a script after all"
    assert read_script("#!/bin/bash\nkubectl apply -f - <<EOF\napiVersion: v1\nEOF\n").commands[0].program == "other"


HOSTILE = {
    "aliases": "a: &a [x]\nb: [" + "*a," * 300 + "]\n",
    "depth": "services: " + "[" * 100 + "]" * 100,
    "many": "a: &a\n  b: &b [" + "[], " * 9000 + "]\n  c: [" + "*b, " * 10 + "]\n",
    "an alias of itself": "a: &a\n  b: *a\n",
    "a merge of itself": "a: &a\n  b:\n    <<: *a\n    c: *a\n",
    "a list of itself": "kind: List\nitems: &a [{kind: List, items: *a}]\n",
    "ranks": GROUP.replace("size: 3", "size: 99999999"),
    "no pods": "leaderWorkerTemplate:\n  size: 99999999\n  workerTemplate: {}\n",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_limits(name: str) -> None:
    started = time.process_time()
    with pytest.raises(UsageError):
        read_script(HOSTILE[name])
    assert in_time(time.process_time() - started, 10.0)


@pytest.mark.parametrize(
    "text",
    [
        "a: &a\n  <<: *a\n  command: [x]\n",
        "services: null\n",
        "services: [x]\n",
        "services: {a: null, b: [], c: {image: null, command: null}}\n",
        "services: {a: {image: x, command: [null, [y], {z: 1}], environment: [null]}}\n",
        "services: {a: {image: x, ports: [null, {published: null}], volumes: [null, {type: bind}]}}\n",
        "kind: ConfigMap\ndata: null\n",
        "spec: {containers: {x: y}, leaderWorkerTemplate: null}\n",
        "env: [{value: x}]\nargs: ['', x]\n",
        "command: ['']\nimage: ''\n",
        "services: {a: {image: x, command: '\"a $(b) c'}}\n",
        "a: !!binary 'x'\n? [x]\n: y\ncommand: [vllm, serve, \"a\\nb\"]\n",
        "a: \x00\x1b[1m\ufffe\uffff\U0001f600\ncommand: [vllm]\n",
    ],
)
def test_odd_files_are_read(text: str) -> None:
    ask(read_script(text))


@pytest.mark.parametrize("seed", range(60))
def test_damaged_files(seed: int) -> None:
    """Cut, doubled and swapped pieces: read, or refused in a sentence."""
    chance = random.Random(seed)
    text = chance.choice([COMPOSE, POD, GROUP])
    for _ in range(chance.randrange(1, 4)):
        start = chance.randrange(len(text))
        end = min(len(text), start + chance.randrange(1, 40))
        pieces = ["", text[start:end] * 2, "&a ", "*a", "<<: *common", "\n  - ", ": ", "'", "${", "$(", "\t"]
        text = text[:start] + chance.choice(pieces) + text[end:]
    with contextlib.suppress(UsageError):
        ask(read_script(text))


def test_a_note_that_happens_to_be_yaml_keeps_the_ends_of_its_lines() -> None:
    start = "python -m sglang.launch_server \\\n    --model-path /data/MiniMax-M2 \\\n    --tp-size 4\n"
    (one,) = ask(f"image:  v0.5.4.post3\nstart command:  {start}")
    assert (one.model_written, one.layout.tp if one.layout else 0) == ("/data/MiniMax-M2", 4)
