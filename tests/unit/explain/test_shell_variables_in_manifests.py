"""What Kubernetes does not fill in: a shell's `$NAME`, a variable that stands below, the old value of the own name."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

POD = """\
apiVersion: v1
kind: Pod
metadata: {{name: kimi}}
spec:
  containers:
  - name: engine
    image: vllm/vllm-openai:v0.12.0
    {command}
    env:
    - {{name: MODEL, value: {model}}}
    - {{name: VLLM_HOST_IP, value: "{address}"}}
    - name: POD_IP
      valueFrom: {{fieldRef: {{fieldPath: status.podIP}}}}
    - {{name: PATH, value: "{path}"}}
    resources: {{limits: {{nvidia.com/gpu: "8"}}}}
"""
WORDS = 'args: ["--model", "{}", "--tensor-parallel-size", "8", "--trust-remote-code"]'
PLAIN = {
    "command": WORDS.format("moonshotai/Kimi-K2-Thinking"),
    "model": "moonshotai/Kimi-K2-Thinking",
    "address": "10.0.0.1",
    "path": "/usr/bin",
}


def said(text: str) -> list[tuple[str, str]]:
    found = [finding for judged in ask(text, "8xH200") for finding in judged.findings]
    return [(each.message, each.remedy) for each in found if "letters" in each.message]


@pytest.mark.parametrize(
    ("change", "name", "remedy"),
    [
        ({"command": WORDS.format("$MODEL")}, "$MODEL", "write $(MODEL)"),
        ({"command": WORDS.format("${MODEL}")}, "$MODEL", "write $(MODEL)"),
        ({"address": "$POD_IP"}, "$POD_IP", "write $(POD_IP)"),
        ({"address": "$(POD_IP)"}, "$(POD_IP)", "move POD_IP above VLLM_HOST_IP"),
        ({"path": "/opt/bin:$PATH"}, "$PATH", "write its whole value"),
    ],
)
def test_the_letters_are_left(change: dict[str, str], name: str, remedy: str) -> None:
    ((message, advice),) = said(POD.format(**PLAIN | change))
    assert name in message
    assert advice.startswith(remedy)


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"command": WORDS.format("$(MODEL)")},
        {"command": WORDS.format("$$MODEL")},
        {"command": WORDS.format("$OTHER")},
        {"command": WORDS.format("${MODEL}"), "model": "${MODEL}"},
        {"command": 'command: ["sh", "-c", "exec vllm serve $MODEL --tensor-parallel-size 8 --trust-remote-code"]'},
    ],
)
def test_what_is_filled_in_is_left(change: dict[str, str]) -> None:
    assert said(POD.format(**PLAIN | change)) == []


def test_a_file_that_is_filled_in_before_is_left() -> None:
    text = POD.format(**PLAIN | {"command": WORDS.format("$MODEL")})
    assert said(f"{text}# envsubst < pod.yaml | kubectl apply -f -\n") == []
