"""A RayService whose replica asks for more devices than its own cluster has."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

SERVICE = """\
apiVersion: ray.io/v1
kind: RayService
metadata:
  name: kimi
spec:
  serveConfigV2: |
    applications:
    - name: llms
      import_path: ray.serve.llm:build_openai_app
      args:
        llm_configs:
        - model_loading_config:
            model_id: kimi
            model_source: moonshotai/Kimi-K2-Instruct
          engine_kwargs:
            tensor_parallel_size: {tp}
            pipeline_parallel_size: {pp}
            trust_remote_code: true{more}
  rayClusterConfig:
    rayVersion: "2.51.0"{scales}
    headGroupSpec:
      rayStartParams:
        num-cpus: "0"
      template:
        spec:
          containers:
          - name: head
            image: rayproject/ray-llm:2.51.0-py311-cu128{head}
    workerGroupSpecs:
    - groupName: gpu
      replicas: {replicas}
      maxReplicas: 2
      rayStartParams: {{}}
      template:
        spec:
          containers:
          - name: worker
            image: rayproject/ray-llm:2.51.0-py311-cu128
            resources:
              limits:
                nvidia.com/gpu: "8"
"""
HEAD = """
            resources:
              limits:
                nvidia.com/gpu: "8\""""
SCALES = "\n    enableInTreeAutoscaling: true"
BUNDLES = "\n          placement_group_config: {bundles: [{GPU: 0.5}]}"


def told(**given: object) -> list[str]:
    parts = {"tp": 8, "pp": 2, "replicas": 1, "more": "", "scales": "", "head": "", **given}
    (judged,) = ask(SERVICE.format(**parts), on="4x8xH100")
    words = "of this RayService have"
    return [each.message for each in judged.findings if words in each.message and each.severity is Severity.WARNING]


def test_a_replica_larger_than_the_cluster_waits() -> None:
    (message,) = told()
    assert message.startswith("16 ranks, and the head and the workers of this RayService have 8 devices")
    assert len(told(pp=4, replicas=2, head=HEAD)) == 1


@pytest.mark.parametrize(
    "given",
    [{"replicas": 2}, {"pp": 1}, {"head": HEAD}, {"scales": SCALES}, {"more": BUNDLES}, {"pp": "$PP"}],
)
def test_one_that_fits_or_is_not_known_does_not(given: dict[str, object]) -> None:
    assert told(**given) == []
