"""Devices that a container asks for beside a command of more ranks."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Finding
from tests.unit.explain.judging import ask

CUSTOM = """apiVersion: example.org/v1
kind: ModelDeployment
metadata: {{name: k2}}
spec:
  roles:
    decode:
      {count}
      podSpec:
        containers:
          - name: main
            image: lmsysorg/sglang:v0.5.12
            securityContext: {{privileged: {privileged}}}
            command: [python3,-m,sglang.launch_server,--model-path,moonshotai/Kimi-K2-Instruct,--tp-size,"{tp}"]
            resources: {{limits: {{cpu: "16", memory: 768Gi, {resource}: {devices}}}}}
"""
POD = """apiVersion: v1
kind: Pod
metadata: {{name: k2}}
spec:
  containers:
    - name: main
      image: lmsysorg/sglang:v0.5.12
      securityContext: {{privileged: {privileged}}}
      command: [python3,-m,sglang.launch_server,--model-path,moonshotai/Kimi-K2-Instruct,--tp-size,"8"]
      resources: {{limits: {{nvidia.com/gpu: 1}}}}
"""


def custom(**given: str) -> str:
    usual = {"count": "replicas: 1", "privileged": "false", "tp": "8", "resource": "amd.com/gpu", "devices": "1"}
    return CUSTOM.format(**{**usual, **given})


def told(text: str) -> list[Finding]:
    return [each for one in ask(text) for each in one.findings if each.where == "--gpus"]


@pytest.mark.parametrize("resource", ["amd.com/gpu", "nvidia.com/gpu"])
@pytest.mark.parametrize(("devices", "tp"), [("1", "8"), ("4", "8"), ("1", "2")])
def test_fewer_devices_in_a_custom_resource(resource: str, devices: str, tp: str) -> None:
    (finding,) = told(custom(resource=resource, devices=devices, tp=tp))
    assert (finding.severity.value, finding.remedy) == ("warning", f"ask for {tp}")
    assert f"{tp} ranks" in finding.message
    assert f"ask for {devices} device" in finding.message


def test_a_privileged_one_sees_the_others() -> None:
    (finding,) = told(custom(privileged="true"))
    assert "privileged" in finding.message


@pytest.mark.parametrize(
    "given",
    [{"devices": "8"}, {"devices": "4", "count": "multinode: {nodeCount: 2}"}, {"count": "numNodes: 8"}, {"tp": "$TP"}],
)
def test_enough_or_not_known(given: dict[str, str]) -> None:
    assert told(custom(**given)) == []


@pytest.mark.parametrize(("privileged", "severity"), [("false", "error"), ("true", "warning")])
def test_a_pod_that_is_privileged_may_see_more(privileged: str, severity: str) -> None:
    (finding,) = told(POD.format(privileged=privileged))
    assert (finding.severity.value, "privileged" in finding.message) == (severity, privileged == "true")
