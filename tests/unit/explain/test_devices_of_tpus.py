"""A text about TPUs, of which the catalogue has none: GPUs that it names beside them are not its devices."""

from __future__ import annotations

import pytest

from moonpad.values.finding import OF_MEMORY
from tests.unit.explain.judging import ask

K26 = "vllm serve moonshotai/Kimi-K2.6 --tensor-parallel-size 16 --trust-remote-code"
COMPARED = "The publisher itself serves it on 16x H800."
POD = f"""apiVersion: v1
kind: Pod
metadata: {{name: k26}}
spec:
  nodeSelector:
    cloud.google.com/gke-tpu-topology: 2x2x2
    cloud.google.com/gke-tpu-accelerator: tpu7x
  containers:
  - name: main
    image: registry.example/serve:1
    command: ["sh", "-c"]
    args: ["{K26}"]
    resources: {{limits: {{google.com/tpu: "4"}}}}
"""


@pytest.mark.parametrize(
    "text",
    [
        f"# Kimi K2.6 on TPU v7x\n\n{COMPARED}\n\n```bash\n{K26}\n```\n",
        f"# Serving notes\n\n{COMPARED}\n\n```bash\nexport PJRT_DEVICE=TPU\n{K26}\n```\n",
        f"# Serving notes\n\n{COMPARED}\n\n```bash\ndocker run --privileged vllm/vllm-tpu:nightly {K26}\n```\n",
        f"# compared with 16x H800\n{POD}",
    ],
)
def test_gpus_beside_tpus_are_not_the_devices(text: str) -> None:
    judged = ask(text)[0]
    assert judged.cluster is None
    assert "Google TPUs" in judged.unjudged
    assert not [each for each in judged.findings if "all-reduces" in each.message or each.code in OF_MEMORY]
    assert not judged.better


@pytest.mark.parametrize(
    "text",
    [
        f"# Kimi K2.6 on 2x8x H800\n\nUnlike the TPU v7x build of tpu-inference.\n\n```bash\n{K26}\n```\n",
        f"# Kimi K2.6\n\nOn 2x8x H800; libtpu is not needed.\n\n```bash\n{K26}\n```\n",
        f"# Not a TPU text\n\nOn 2x8x H800.\n\n```bash\nnvidia-smi\n{K26}\n```\n",
    ],
)
def test_tpus_named_in_passing_take_no_gpus_away(text: str) -> None:
    cluster = ask(text)[0].cluster
    assert cluster is not None
    assert cluster.name == "2x8xH800"
