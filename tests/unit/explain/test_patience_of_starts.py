"""What waits for a server in a script or a deployment, and gives it up before its weights are read."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Finding
from tests.unit.explain.judging import ask

SERVER = "#!/bin/bash\n{before}\nvllm serve {model} -tp 8 --trust-remote-code --port 8000 &\nPID=$!\n"
K2, SMALL = "moonshotai/Kimi-K2-Instruct", "moonshotai/Kimi-Linear-48B-A3B-Instruct"
SEQ = """for i in $(seq 1 {tries}); do
  curl -sf http://localhost:8000/health && break
  sleep {pause}
done
curl -sf http://localhost:8000/health || {{ echo "not ready"; exit 1; }}
"""
WHILE = """WAITED=0
while [ $WAITED -lt $PATIENCE ]; do
  if curl -s localhost:8000/v1/models >/dev/null; then break; fi
  sleep 10
  WAITED=$((WAITED + 10))
done
if [ $WAITED -ge $PATIENCE ]; then kill $PID; exit 1; fi
"""
ENDLESS = "until curl -sf http://localhost:8000/health; do sleep 5; done\n"
NO_END = "for i in $(seq 1 10); do curl -s http://localhost:8000/health; sleep 5; done\necho go on\n"
OTHER = "for i in $(seq 1 10); do nvidia-smi; sleep 5; done\nexit 1\n"


def given_up(text: str) -> list[Finding]:
    return [each for one in ask(text) for each in one.findings if "gives up after" in each.message]


@pytest.mark.parametrize(
    ("before", "behind", "seconds"),
    [
        ("", SEQ.format(tries=60, pause=5), "300 s"),
        ("", SEQ.replace("$(seq 1 {tries})", "{{1..{tries}}}").format(tries=30, pause=10), "300 s"),
        ("TRIES=60", SEQ.format(tries="$TRIES", pause=5), "300 s"),
        ("", SEQ.format(tries='"${1:-60}"', pause=5), "300 s"),
        ("PATIENCE=${PATIENCE:-240}", WHILE, "240 s"),
        ("", "timeout 5m bash -c 'until curl -sf localhost:8000/health; do sleep 2; done'\n", "300 s"),
    ],
)
def test_a_script_that_waits_for_a_shorter_time(before: str, behind: str, seconds: str) -> None:
    (finding,) = given_up(SERVER.format(before=before, model=K2) + behind)
    assert seconds in finding.message
    assert "at 3 GB/s" in finding.message


@pytest.mark.parametrize(
    ("before", "model", "behind"),
    [
        ("", K2, SEQ.format(tries=360, pause=5)),
        ("", K2, SEQ.format(tries='"${1:-360}"', pause=5)),
        ("", K2, SEQ.format(tries='"$1"', pause=5)),
        ("", SMALL, SEQ.format(tries=60, pause=5)),
        ("PATIENCE=3600", K2, WHILE),
        ("", K2, WHILE),  # it is not said how long
        ("", K2, ENDLESS),
        ("", K2, NO_END),
        ("", K2, OTHER),
        ("", "/models/served", SEQ.format(tries=60, pause=5)),
    ],
)
def test_a_script_that_waits_long_enough_or_is_not_known(before: str, model: str, behind: str) -> None:
    assert not given_up(SERVER.format(before=before, model=model) + behind)


POD = """apiVersion: apps/v1
kind: Deployment
metadata: {name: k2}
spec:
  MORE
  template:
    spec:
      containers:
      - name: server
        image: vllm/vllm-openai:v0.20.0
        args: [--model, moonshotai/Kimi-K2-Instruct, -tp, '8', --trust-remote-code]
"""


@pytest.mark.parametrize(
    ("more", "around", "count"),
    [
        ("progressDeadlineSeconds: 300", "", 1),
        ("progressDeadlineSeconds: 3600", "", 0),
        ("replicas: 1", "# kubectl apply -f k2.yaml\n", 0),
    ],
)
def test_a_deployment_that_is_called_failed(more: str, around: str, count: int) -> None:
    assert len(given_up(around + POD.replace("MORE", more))) == count


@pytest.mark.parametrize(
    ("line", "count"),
    [
        ("kubectl wait --for=condition=ready pod -l app=k2 --timeout=300s", 1),
        ("kubectl rollout status deployment/k2 --timeout=5m", 1),
        ("helm upgrade --install k2 ./chart --wait --timeout 5m", 1),
        ("helm install gpu-operator nvidia/gpu-operator --wait --timeout 5m", 0),
        ("kubectl wait --for=condition=complete job/download --timeout=300s", 0),
        ("kubectl rollout status deployment/k2 --timeout=60m", 0),
    ],
)
def test_a_command_that_waits_for_what_is_deployed(line: str, count: int) -> None:
    pod = POD.replace("MORE", "replicas: 1")
    text = f"# Kimi\n\n```yaml\n{pod}```\n\n```bash\nkubectl apply -f k2.yaml\n{line}\n```\n"
    assert len(given_up(text)) == count
