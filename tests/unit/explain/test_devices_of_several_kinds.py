"""Several kinds of devices in one text: alternatives, what a pod's nodes have, and kinds that are all too small."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask_one, devices, refused

SERVE = "vllm serve moonshotai/Kimi-K2-Thinking --tensor-parallel-size {} --trust-remote-code"
POD = """apiVersion: v1
kind: Pod
metadata: {{name: kimi}}
spec:
  {}
  containers:
  - name: vllm
    image: vllm/vllm-openai:latest
    args: [--model, moonshotai/Kimi-K2-Thinking, --tensor-parallel-size, "{}", --trust-remote-code]
    resources: {{limits: {{nvidia.com/gpu: {}}}}}
"""
BOTH = "It was bought for {0}x A100 80GB.\n{0}x {1} are there too."
SELECTOR = "nodeSelector: {gpu: nvidia-a100}"
SELECTOR_BELOW = "nodeSelector:\n    gpu: nvidia-a100"


def of_text(prose: str, ranks: int = 4) -> str:
    return devices(ask_one(f"{prose}\n\n```bash\n{SERVE.format(ranks)}\n```\n", on=""))


def of_pod(prose: str, selector: str, ranks: int = 4) -> str:
    return devices(ask_one(f"{prose}\n\n```yaml\n{POD.format(selector, ranks, ranks)}```\n", on=""))


@pytest.mark.parametrize(
    "aside",
    [
        "Not tested:\n- 4x H100 80GB\n- 4x A40 48GB\n\nStart it:",
        "**Alternative GPUs** (not tested):\n- 4x H100 80GB\n\nStart it:",
        "- 4x H100 80GB (alternative, not tested)\n\nStart it:",
    ],
)
def test_an_alternative_is_not_meant(aside: str) -> None:
    assert of_text(f"We run it on 4x A100 80GB.\n\n{aside}") == "4xA100"
    assert of_text(aside) != "4xA100"


def test_an_alternative_with_a_command_of_its_own() -> None:
    assert of_text("We run it on 8x H200.\n\n## Alternative: 8x B200 (not tested)", 8) == "8xB200"


@pytest.mark.parametrize("selector", [SELECTOR, SELECTOR_BELOW])
def test_the_nodes_of_a_pod_go_before_what_the_text_names(selector: str) -> None:
    assert of_pod("- 4x H100 80GB would do as well", selector) == "4xA100"
    assert of_pod("- 4x H100 80GB would do as well", "restartPolicy: Always") == "4xH100"
    assert of_pod("The nodes have A100 40GB, others of us 4x H100.", selector) == "4xA100-40G"


def test_kinds_that_are_all_too_small() -> None:
    """594 GB of weights on four devices of 80 GB: whichever of them is meant."""
    few = ask_one(f"{BOTH.format(4, 'H100 80GB')}\n\n```bash\n{SERVE.format(4)}\n```\n", on="")
    assert refused(few)
    assert few.memory is not None
    assert not few.memory.fits
    assert "none of them" in few.cluster_because


def test_kinds_of_which_one_holds_the_weights() -> None:
    assert of_text(BOTH.format(8, "H200"), 8) == ""
    offloaded = SERVE.format(4) + " --cpu-offload-gb 400"
    assert devices(ask_one(f"{BOTH.format(4, 'H100 80GB')}\n\n```bash\n{offloaded}\n```\n", on="")) == ""


def test_weights_that_no_device_holds_are_said_without_any() -> None:
    command = "vllm serve moonshotai/Kimi-K2-Instruct --tensor-parallel-size 2 --trust-remote-code"
    judged = ask_one(f"{BOTH.format(2, 'H100 80GB')}\n\n```bash\n{command}\n```\n", on="")
    assert devices(judged) == ""
    assert any("the largest device known holds" in each.message for each in judged.findings)
