"""Variables of the shell that starts a container."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

IMAGE = "vllm/vllm-openai:v0.20.0 moonshotai/Kimi-K2.5 -tp 8 --trust-remote-code"
RUN = "docker run --gpus all --ipc=host"


def told(text: str) -> list[str]:
    words = "docker run hands none of the shell's variables on"
    return [finding.message for one in ask(text, on="8xH200") for finding in one.findings if words in finding.message]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (f"export NCCL_DEBUG=INFO\n{RUN} {IMAGE}\n", "NCCL_DEBUG stays"),
        (f"export CUDA_VISIBLE_DEVICES=0,1,2,3\nsudo {RUN} {IMAGE}\n", "CUDA_VISIBLE_DEVICES stays"),
        (f"VLLM_LOGGING_LEVEL=DEBUG {RUN} {IMAGE}\n", "VLLM_LOGGING_LEVEL stays"),
        (
            f"Start it:\n\n```bash\nexport VLLM_USE_DEEP_GEMM=1 NCCL_IB_DISABLE=1\n{RUN} \\\n  {IMAGE}\n```\n",
            "VLLM_USE_DEEP_GEMM, NCCL_IB_DISABLE stay",
        ),
    ],
)
def test_an_export_stays_outside(text: str, names: str) -> None:
    (message,) = told(text)
    assert names in message


@pytest.mark.parametrize(
    "text",
    [
        f"export NCCL_DEBUG=INFO\n{RUN} -e NCCL_DEBUG {IMAGE}\n",
        f"export NCCL_DEBUG=INFO\n{RUN} -e NCCL_DEBUG=$NCCL_DEBUG {IMAGE}\n",
        f"export CUDA_VISIBLE_DEVICES=0,1\ndocker run --gpus device=$CUDA_VISIBLE_DEVICES --ipc=host {IMAGE}\n",
        f"export NCCL_DEBUG=INFO\n{RUN} --env-file .env {IMAGE}\n",
        f"cat > run.sh <<'EOF'\nexport NCCL_DEBUG=INFO\nvllm serve a/b\nEOF\n{RUN} -v $PWD:/w {IMAGE}\n",
        f"export MODEL=a HF_HOME=/data\n{RUN} {IMAGE}\n",
        f"{RUN} {IMAGE}\nexport NCCL_DEBUG=INFO\n",
        f"```bash\nexport NCCL_DEBUG=INFO\nvllm serve a/b\n```\n\n```bash\n{RUN} {IMAGE}\n```\n",
        "export NCCL_DEBUG=INFO\nvllm serve moonshotai/Kimi-K2.5 -tp 8\n",
        f"{RUN} --entrypoint bash vllm/vllm-openai:v0.20.0 -c 'export NCCL_DEBUG=INFO; vllm serve a/b'\n",
    ],
)
def test_what_is_handed_on_or_is_not_read_does_not(text: str) -> None:
    assert told(text) == []
