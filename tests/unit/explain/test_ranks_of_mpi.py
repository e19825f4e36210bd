"""Machines that the ranks of `mpirun` need, where the layout is in variables; and root inside a container."""

from moonpad.explain.results import Judged
from tests.unit.explain.judging import ask

MANIFEST = """apiVersion: apps/v1
kind: StatefulSet
metadata: {{name: kimi}}
spec:
  replicas: 2
  serviceName: kimi
  template:
    spec:
      nodeSelector: {{cloud.google.com/gke-accelerator: nvidia-b200}}
      containers:
      - name: node
        image: registry.example/trtllm
        command: ["/bin/bash", "-c"]
        args:
        - |
          mpirun -n {ranks} --allow-run-as-root --hostfile /tmp/hosts trtllm-llmapi-launch trtllm-serve /m/Kimi-K3 \\
            --tp_size {tp} --pp_size {pp}
        resources: {{limits: {{nvidia.com/gpu: 8}}}}
"""


def only(text: str) -> Judged:
    (judged,) = [each for each in ask(text) if each.engine == "tensorrt-llm"]
    return judged


def cluster(ranks: int, tp: str = "${TP}", pp: str = "${PP}") -> str:
    judged = only(MANIFEST.format(ranks=ranks, tp=tp, pp=pp))
    return judged.cluster.name if judged.cluster is not None else ""


def test_sixteen_ranks_are_two_machines_of_eight() -> None:
    assert cluster(16) == "2x8xB200"
    assert cluster(8) == "8xB200"


def test_ranks_that_fill_no_whole_machines_say_nothing() -> None:
    assert cluster(12) == "8xB200"


def test_each_size_that_is_not_known_has_its_own_setting() -> None:
    unjudged = only(MANIFEST.format(ranks=16, tp="${TP}", pp="${PP}")).unjudged
    assert unjudged.startswith("--tp_size ${TP} and --pp_size ${PP} are not known here: ")
    assert "--set tp=" in unjudged
    assert "--set pp=" in unjudged


def test_root_is_told_of_a_machine_and_not_of_a_container() -> None:
    def tells(text: str) -> bool:
        return any("allow-run-as-root" in each.where for each in only(text).findings)

    assert not tells(MANIFEST.format(ranks=16, tp=8, pp=2))
    assert tells("mpirun -n 8 --allow-run-as-root trtllm-llmapi-launch trtllm-serve /m/Kimi-K2-Instruct --tp_size 8\n")
