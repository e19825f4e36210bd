"""Of a page with a Compose file and a pod each is told of its own keys."""

from __future__ import annotations

import pytest

from moonpad.explain.results import Judged
from tests.unit.explain.judging import ask

_COMPOSE = """```yaml
services:
  a:
    image: vllm/vllm-openai:v0.26.0
{key}    command: --model moonshotai/Kimi-K2-Instruct --tensor-parallel-size 8 --trust-remote-code
```
"""
_POD = """```yaml
apiVersion: v1
kind: Pod
metadata: {{name: p}}
spec:
  containers:
  - name: v
    image: vllm/vllm-openai:v0.26.0
    command: [vllm, serve, moonshotai/Kimi-K2-Instruct, --tensor-parallel-size, "8", --trust-remote-code]
    resources: {{limits: {{nvidia.com/gpu: 8}}}}
{mount}```
"""
_MEMORY = """    volumeMounts: [{name: shm, mountPath: /dev/shm}]
  volumes: [{name: shm, emptyDir: {medium: Memory}}]
"""


def _told(judged: Judged) -> set[str]:
    return {finding.where for finding in judged.findings} & {"/dev/shm", "shm_size", "--ipc"}


@pytest.mark.parametrize("key", ["", "    ipc: host\n", "    shm_size: 16g\n"])
@pytest.mark.parametrize("mount", ["", _MEMORY])
@pytest.mark.parametrize("turned", [False, True])
def test_each_is_told_of_its_own(key: str, mount: str, *, turned: bool) -> None:
    parts = [_COMPOSE.format(key=key), _POD.format(mount=mount)]
    expected = [set() if key else {"shm_size"}, set() if mount else {"/dev/shm"}]
    order = (1, 0) if turned else (0, 1)
    judged = ask("# Two ways\n\n" + "\n".join(parts[at] for at in order))
    assert [_told(each) for each in judged] == [expected[at] for at in order]
