"""Imports of a package by other letters than its name has, or of a function that another engine has."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

PROGRAM = """```python
{}

CMD = "vllm serve moonshotai/Kimi-K2.6 --tensor-parallel-size 8 --trust-remote-code"
```

```bash
vllm serve moonshotai/Kimi-K2.6 --tensor-parallel-size 8 --trust-remote-code
```
"""


def told(line: str) -> list[str]:
    return [
        each.message
        for judged in ask(PROGRAM.format(line))
        for each in judged.findings
        if "ImportError" in each.message
    ]


@pytest.mark.parametrize(
    ("line", "lacks"),
    [
        ("from vLLM.utils import launch_server_cmd, wait_for_server", "no module vLLM"),
        ("from vLLM import LLM", "no module vLLM"),
        ("import SGLang", "no module SGLang"),
        ("import vLLM as engine  # the server", "no module vLLM"),
        ("from vllm.utils import launch_server_cmd", "vllm.utils has no launch_server_cmd"),
    ],
)
def test_the_program_ends_at_its_import(line: str, lacks: str) -> None:
    (message,) = told(line)
    assert lacks in message


@pytest.mark.parametrize(
    "line",
    [
        "from vllm import LLM, SamplingParams",
        "import sglang as sgl",
        "from sglang.utils import launch_server_cmd",
        "from tools import launch_server_cmd",
        "from langchain_community.llms import VLLM",
        "try:\n    import vLLM\nexcept ImportError:\n    import vllm",
    ],
)
def test_imports_of_what_is_there(line: str) -> None:
    assert not told(line)
