"""A list of flags that gives shares to some devices of the machine says all of its layout."""

from __future__ import annotations

from moonpad.values.finding import Code, Severity
from tests.unit.explain.judging import ask

COMPOSE = """# Kimi on one machine

It is an AMD MI300X GPU with 4 cards.

```yaml
services:
  kimi:
    build: .
    devices: [/dev/kfd, /dev/dri]
    command: >
      -m /models/Kimi-K2.5-BF16-00001-of-00045.gguf
      -ngl 999
      -c 8192
      --tensor-split 1,1,0,1
```
"""


def test_its_memory_is_judged() -> None:
    (judged,) = [each for each in ask(COMPOSE) if each.layout is not None]
    assert judged.cluster is not None
    assert judged.cluster.name == "4xMI300X"
    told = [each for each in judged.findings if each.code is Code.DOES_NOT_FIT and each.severity is Severity.ERROR]
    assert told
