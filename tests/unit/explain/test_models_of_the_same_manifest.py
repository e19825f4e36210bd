"""The model of options without one, which a key of the same document of YAML names."""

from __future__ import annotations

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

DEPLOYMENT = """```yaml
kind: ModelDeployment
spec:
  huggingFace:
    repo: {}
  engine:
    name: vLLM
    image: vllm/vllm-openai:v0.11.0
    args:
    - "--tensor-parallel-size=2"
    - "--max-model-len=32768"
    - "--gpu-memory-utilization=0.9"
```
"""


def test_each_has_its_own_and_not_that_of_the_next() -> None:
    text = "\n".join(DEPLOYMENT.format(name) for name in ("mistralai/Mixtral-8x7B-v0.1", "moonshotai/Kimi-K2-Instruct"))
    first, second = ask(f"# Deployments\n\n{text}")
    assert first.model_written == "mistralai/Mixtral-8x7B-v0.1"
    assert not [each for each in first.findings if each.severity is Severity.ERROR]
    assert second.checkpoint is not None
    assert second.checkpoint.name == "moonshotai/Kimi-K2-Instruct"


def test_two_names_say_nothing() -> None:
    text = DEPLOYMENT.format("org/one-7b\n  other:\n    repo: org/two-7b")
    (judged,) = ask(f"# Deployments\n\n{text}")
    assert judged.model_written == ""
