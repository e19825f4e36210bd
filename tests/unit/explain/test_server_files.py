"""Keys of the file of options that a guide shows."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Finding
from tests.unit.explain.judging import ask

TEXT = """# Kimi-Linear, vLLM 0.15.1

```yaml
# config.yaml
model: moonshotai/Kimi-Linear-48B-A3B-Instruct
tensor-parallel-size: 4
max-model-len: 65536
trust-remote-code: true
```

```bash
vllm serve --config config.yaml
```
"""
WORDS = ("each key of this file", "is a switch, and a text", "YAML wants a colon")


def found(text: str) -> list[Finding]:
    return [each for one in ask(text) for each in one.findings if any(words in each.message for words in WORDS)]


@pytest.mark.parametrize(
    ("old", "new", "where"),
    [
        ("tensor-parallel-size", "tensor-paralel-size", "tensor-paralel-size"),
        ("tensor-parallel-size: 4", "tensor-parallel-size:4", "tensor-parallel-size"),
        ("max-model-len: 65536", "max-model-len 65536", "max-model-len"),
        ("code: true", 'code: "true"', "trust-remote-code"),
    ],
)
def test_the_server_does_not_take_it(old: str, new: str, where: str) -> None:
    assert [each.where for each in found(TEXT.replace(old, new))] == [where]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", ""),
        ("tensor-parallel-size", "tensor_parallel_size"),
        ("tensor-parallel-size", "tensor-parallel"),
        ("# config.yaml", "# other.yaml"),
        ("max-model-len: 65536", "compilation-config:\n  cudagraph_mode: FULL"),
    ],
)
def test_the_server_takes_it(old: str, new: str) -> None:
    assert found(TEXT.replace(old, new, 1)) == []
