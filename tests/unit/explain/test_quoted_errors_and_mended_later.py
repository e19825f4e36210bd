"""An error that a guide quotes and another release has; what ends the start of a model in older releases is told before
what makes it slower. Kimi-Linear does not start in vLLM 0.12.0: indexer_rotary_emb is missing, until 0.13.0."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Code, Severity
from tests.unit.explain.judging import ask_one

SERVE = "vllm serve moonshotai/{} --tensor-parallel-size 4 --max-model-len 1048576 --trust-remote-code"
LINEAR = "Kimi-Linear-48B-A3B-Instruct"
ERROR = "MLAModules.__init__() missing 1 required positional argument: 'indexer_rotary_emb'"
GUIDE = """```bash
{}{}
```

## Troubleshooting
- **`{}`**:
  Known bug in vLLM 0.12.0.
"""


def quoted(pin: str, model: str = LINEAR, error: str = ERROR) -> list[tuple[Severity, Code]]:
    install = f"uv pip install vllm=={pin}\n" if pin else ""
    judged = ask_one(GUIDE.format(install, SERVE.format(model), error), on="")
    return [(each.severity, each.code) for each in judged.findings if "the text quotes" in each.message]


@pytest.mark.parametrize("pin", ["0.11.2", "0.13.0", "0.20.0"])
def test_the_error_of_another_release(pin: str) -> None:
    assert quoted(pin) == [(Severity.NOTE, Code.KNOWN_REPORT)]


def test_the_error_of_this_release_or_of_none() -> None:
    assert quoted("0.12.0") == []
    assert quoted("") == []


@pytest.mark.parametrize(
    ("model", "error"),
    [
        ("Kimi-K2-Thinking", ERROR),
        (LINEAR, "Worker.__init__() missing 1 required positional argument: 'some_other_argument'"),
    ],
)
def test_what_is_not_known_of_the_model(model: str, error: str) -> None:
    assert quoted("0.11.2", model, error) == []


def test_what_ends_the_start_is_among_the_faults_of_older_releases() -> None:
    faults = [each.message for each in ask_one(SERVE.format(LINEAR), on="4xH200").findings]
    assert any("indexer_rotary_emb" in each for each in faults)
