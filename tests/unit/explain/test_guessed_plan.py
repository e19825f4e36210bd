"""The next step where a command leaves its model or its devices open."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Moonpad
from tests.unit.explain.judging import ask

SERVE = "vllm serve moonshotai/Kimi-K2.6 --trust-remote-code --tensor-parallel-size"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "# after the Kimi-K2.5 FP4 recipe for B200\nvllm serve $MODEL $ARGS\n",
            "Next: moonpad plan --model moonshotai/Kimi-K2.5 --on 8xB200  # a guess: the text names Kimi-K2.5",
        ),
        ("vllm serve $MODEL $ARGS\n", "Next: moonpad plan --model MODEL --on 8xH200"),
        (f"{SERVE} 12\n", "Next: moonpad plan --model moonshotai/Kimi-K2.6 --on 2x6xH200"),
        (
            f"export CUTE_DSL_ARCH=sm_120a\n{SERVE} 8\n",
            "Next: moonpad plan --model moonshotai/Kimi-K2.6 --on 8xRTX-PRO-6000",
        ),
    ],
)
def test_next_step_is_of_what_the_text_names(moonpad: Moonpad, text: str, expected: str, tmp_path: Path) -> None:
    path = tmp_path / "start.sh"
    path.write_text(text)
    result = moonpad("explain", "--file", str(path))
    assert expected in (result.stderr.splitlines())


POD = """apiVersion: v1
kind: Pod
spec:
  nodeSelector:
    {selector}
  containers:
  - name: vllm
    image: vllm/vllm-openai:v0.25.0
    command: [vllm, serve, moonshotai/Kimi-K2.6, --tensor-parallel-size, "{ranks}", --trust-remote-code]
    resources:
      limits:
        nvidia.com/gpu: {ranks}
"""


@pytest.mark.parametrize("selector", ["gpu-type: dgx-spark", "nvidia.com/gpu.product: NVIDIA-GB10"])
def test_label_of_a_spark(selector: str) -> None:
    (one,) = ask(POD.format(selector=selector, ranks=1))
    assert one.cluster is not None
    assert one.cluster.name == "GB10"


def test_container_asks_for_more_than_a_machine_of_the_text_has() -> None:
    (one,) = ask(f"# for our DGX Spark\n{POD.format(selector='pool: gpu', ranks=8)}")
    assert one.cluster is None
    assert one.unjudged == (
        "the text names GB10, and its container asks for 8 of one machine, which has fewer: --on 8xGB10 says it"
    )
