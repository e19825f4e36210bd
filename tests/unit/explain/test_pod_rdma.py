"""Pools in pods that hand the KV cache over by RDMA: what the pod was given for it."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

POD = """\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: prefill{notes}}}
spec:
  template:
    spec:{pod}
      containers:
        - name: server
          image: lmsysorg/sglang:v0.5.23
          command: [python3, -m, sglang.launch_server, --model-path, deepseek-ai/DeepSeek-R1, --tp-size, "8",
                    --disaggregation-mode, prefill{args}]
          resources: {{limits: {{nvidia.com/gpu: 8{resource}}}}}{container}
"""
NOTHING = {"notes": "", "pod": "", "args": "", "resource": "", "container": ""}


def told(**parts: str) -> bool:
    judged = ask(POD.format(**{**NOTHING, **parts}))
    return any("neither an RDMA device" in each.message for one in judged for each in one.findings)


def test_a_pod_without_anything_is_told() -> None:
    assert told()
    assert told(args=", --disaggregation-transfer-backend, mooncake")


@pytest.mark.parametrize(
    "parts",
    [
        {"args": ", --disaggregation-transfer-backend, nixl"},
        {"pod": "\n      hostNetwork: true"},
        {"resource": ", rdma/hca_shared: 1"},
        {"resource": ", vpc.amazonaws.com/efa: 16"},
        {"container": "\n          securityContext: {privileged: true}"},
        {"container": "\n          securityContext: {capabilities: {add: [IPC_LOCK]}}"},
        {"container": "\n          volumeMounts: [{name: ib, mountPath: /dev/infiniband}]"},
        {"container": "\n          env: [{name: MC_FORCE_TCP, value: '1'}]"},
        {"notes": ", annotations: {k8s.v1.cni.cncf.io/networks: rail0}"},
    ],
)
def test_a_pod_with_a_way_is_not(parts: dict[str, str]) -> None:
    assert not told(**parts)


def test_a_server_by_itself_moves_no_cache() -> None:
    text = POD.format(**NOTHING).replace("--disaggregation-mode, prefill", "--enable-metrics")
    assert not any("neither an RDMA device" in each.message for one in ask(text) for each in one.findings)


FILES = "\n          volumeMounts: [{name: ib, mountPath: /dev/infiniband}]"


@pytest.mark.parametrize(
    ("parts", "count"),
    [
        ({"container": FILES}, 1),
        ({"container": FILES, "pod": "\n      hostNetwork: true"}, 0),
        ({"container": FILES, "resource": ", rdma/hca_shared: 1"}, 0),
        ({"container": FILES, "notes": ", annotations: {k8s.v1.cni.cncf.io/networks: rail0}"}, 0),
        ({"container": "\n          securityContext: {privileged: true}"}, 0),
    ],
)
def test_files_of_devices_without_the_network_of_the_host(parts: dict[str, str], count: int) -> None:
    judged = ask(POD.format(**{**NOTHING, **parts}))
    assert sum("the files of the RDMA devices" in each.message for one in judged for each in one.findings) == count
