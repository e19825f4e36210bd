"""Variables of another engine or without a word, options of a worker, an image for another chip."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Finding
from tests.unit.explain.judging import ask

SERVE = "vllm serve moonshotai/Kimi-K2.5 --tensor-parallel-size 8 --trust-remote-code\n"
ASCEND = """# Kimi-K2-Thinking on an Atlas 800 A3 (64G x 16)

```bash
docker run --rm --net=host --privileged -v /usr/local/Ascend/driver:/usr/local/Ascend/driver \\
  -v /data:/data -it quay.io/ascend/vllm-ascend:v0.13.0-a3 bash
```

```bash
vllm serve /data/Kimi-K2-Thinking --tensor-parallel-size 16 --enable-expert-parallel --trust-remote-code
```
"""
WORDS = ("nothing reads", "another engine's", "one of Dynamo's worker", "is built for")


def found(text: str) -> list[Finding]:
    return [each for one in ask(text) for each in one.findings if any(words in each.message for words in WORDS)]


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (f"# vLLM 0.19.0\nexport NIXL_SIDE_CHANNEL_HOST=10.0.0.1\n{SERVE}", "NIXL_SIDE_CHANNEL_HOST"),
        (f"# vLLM 0.19.0\nexport VLLM_USE_AITER=1\n{SERVE}", "VLLM_USE_AITER"),
        (f"# vLLM 0.19.0\nexport SGLANG_USE_AITER=1\n{SERVE}", "SGLANG_USE_AITER"),
        (SERVE.replace("--trust", "--disaggregation-mode prefill --trust"), "--disaggregation-mode"),
        (ASCEND.replace("-a3 ", " "), "quay.io/ascend/vllm-ascend:v0.13.0"),
    ],
)
def test_it_is_not_read_or_does_not_run(text: str, where: str) -> None:
    assert [each.where for each in found(text)] == [where]


@pytest.mark.parametrize(
    "text",
    [
        f"export VLLM_NIXL_SIDE_CHANNEL_HOST=10.0.0.1 VLLM_ROCM_USE_AITER=1\n{SERVE}",
        f"export USE_DEEP_GEMM=1\nexport VLLM_USE_DEEP_GEMM=$USE_DEEP_GEMM\n{SERVE}",
        f"export SGLANG_USE_AITER=1\npython3 -m sglang.launch_server --model-path moonshotai/Kimi-K2.5 --tp 8\n{SERVE}",
        f"export VLLM_VERSION=0.19.0 VLLM_HOST=0.0.0.0\n{SERVE}",
        "python3 -m dynamo.vllm --model moonshotai/Kimi-K2.5 --tensor-parallel-size 8 --disaggregation-mode prefill\n",
        ASCEND,
        ASCEND.replace("A3 (64G x 16)", "A2 (64G x 8)").replace("-a3 ", " "),
    ],
)
def test_it_is_read(text: str) -> None:
    assert found(text) == []
