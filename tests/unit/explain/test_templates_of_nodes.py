"""Manifests whose sizes are filled in elsewhere: their machines, what is not known, and comments that explain."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Code

from .judging import ask

MANIFEST = """\
apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: kimi
spec:
  replicas: {nodes}
  template:
    spec:
      nodeSelector:
        cloud.google.com/gke-accelerator: nvidia-b200
      containers:
      - name: engine
        image: ${{IMAGE}}
        # The port is not called ENGINE_PORT: the engine reads that name, binds it for its own
        # {comment}
        command:
        - python3
        - -m
        - sglang.launch_server
        - --model-path
        - moonshotai/Kimi-K2.5
        - --trust-remote-code
        - --nnodes
        - "{nodes}"
        - --tp-size
        - "${{TP_SIZE}}"
        - --pp-size
        - "${{PP_SIZE}}"
        - --mem-fraction-static
        - "${{FRACTION}}"
        resources:
          limits:
            nvidia.com/gpu: 8
"""
EXPLAINS = "messages, and the server then fails with EADDRINUSE on 0.0.0.0:8000 and ends."
OWN_SENTENCE = EXPLAINS.replace("messages, and the", "The")
"""Behind a line that is whole, as whoever reports a failure writes it."""


@pytest.mark.parametrize(("nodes", "devices"), [(2, "2x8xB200"), (4, "4x8xB200"), (1, "8xB200")])
def test_each_node_has_the_devices_of_one_pod(nodes: int, devices: str) -> None:
    (judged,) = ask(MANIFEST.format(nodes=nodes, comment=EXPLAINS))
    assert judged.cluster is not None
    assert judged.cluster.name == devices


def test_a_few_of_what_is_not_known_are_named() -> None:
    (judged,) = ask(MANIFEST.format(nodes=2, comment=EXPLAINS))
    assert judged.unjudged == (
        "--tp-size ${TP_SIZE}, --pp-size ${PP_SIZE} and 1 more are not known here: "
        "--set tp=8 --set pp=1 --set gpu_memory_utilization=0.9 supply them"
    )


@pytest.mark.parametrize(("comment", "stopped"), [(EXPLAINS, False), (OWN_SENTENCE, True)])
def test_a_comment_that_explains_a_setting_is_no_log(comment: str, stopped: bool) -> None:
    text = MANIFEST.format(nodes=2, comment=comment)
    (judged,) = ask(text.replace("for its own\n", "for its own messages.\n") if stopped else text)
    assert any(each.code is Code.LOGGED_FAILURE for each in judged.findings) is stopped
