"""Faults of releases against a build of somebody's own with which the text has measured."""

from __future__ import annotations

from tests.unit.explain.judging import ask

POD = """# {claim}
#   c=4  147.90 {unit}   8x MI355X
apiVersion: v1
kind: Pod
metadata: {{name: worker}}
spec:
  containers:
  - name: main
    image: {image}
    command: [vllm, serve, moonshotai/Kimi-K3, --tensor-parallel-size, "8"]
    env:
    - {{name: VLLM_ENABLE_K3_LATENT_MOE_TAIL_FUSION, value: "1"}}
    - {{name: VLLM_ROCM_USE_AITER, value: "1"}}
"""
OWN = "somebody/kimi-k3-dspark:1.1.0-mi355x-rocm7.2.3-20260802"
MEASURED = "MEASURED, this manifest, on the image it pins:"


def _severity(claim: str = MEASURED, unit: str = "tok/s", image: str = OWN) -> list[str]:
    (one,) = ask(POD.format(claim=claim, unit=unit, image=image))
    return [str(each.severity) for each in one.findings if each.where == "VLLM_ENABLE_K3_LATENT_MOE_TAIL_FUSION"]


def test_it_is_a_note() -> None:
    assert _severity() == ["note"]


def test_without_figures_or_measurements_it_stays_a_warning() -> None:
    assert _severity(unit="GiB") == ["warning"]
    assert _severity(claim="Deploy this manifest") == ["warning"]


def test_a_published_image_has_the_faults_of_its_release() -> None:
    assert _severity(image="vllm/vllm-openai-rocm:v0.28.0") == ["warning"]
