"""A router is a program with releases of its own, which its image or a package names."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

_POD = """
apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  containers:
  - name: r
    image: %s
    command: [python3, -m, sglang_router.launch_router, --service-discovery]
"""


@pytest.mark.parametrize(
    ("text", "name", "version"),
    [
        (_POD % "lmsysorg/smg:v0.2.4.post1", "sglang-router", "0.2.4.post1"),
        (_POD % "lmsysorg/sglang:v0.5.9", "sglang-router", "0.3.2"),  # the engine's release: the newest router
        (
            "pip install sglang-router==0.3.1\nsglang-router launch --worker-urls http://a:8000\n",
            "sglang-router",
            "0.3.1",
        ),
        ("pip install vllm==0.20.0\nvllm-router --worker-urls http://a:8000\n", "vllm-router", "0.1.17"),
    ],
)
def test_name_and_release(text: str, name: str, version: str) -> None:
    (judged,) = ask(text)
    assert (judged.kind, judged.program, judged.version) == ("router", name, version)
    assert judged.engine == name.removesuffix("-router"), "scripts rely on the engine's name"
    assert not judged.refused
