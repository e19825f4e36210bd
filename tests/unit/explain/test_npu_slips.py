"""Variables of NPUs that are nearly one, their values, and what a container is given of the driver."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Finding
from tests.unit.explain.judging import ask

SERVE = "# vllm-ascend 0.14.0rc1, Atlas 800 A3 (64G x 16)\n{}\nvllm serve /data/Kimi-K2-Thinking -tp 16\n"
RUN = """# Kimi-K2-Thinking on one Atlas 800 A3 (64G x 16)

```bash
docker run --rm --net=host --shm-size=64g --device /dev/davinci0 --device /dev/davinci1 \\
  --device /dev/davinci_manager --device /dev/devmm_svm --device /dev/hisi_hdc \\
  -v /usr/local/Ascend/driver/lib64/:/usr/local/Ascend/driver/lib64/ \\
  -v /usr/local/Ascend/driver/version.info:/usr/local/Ascend/driver/version.info \\
  -v /data:/data -it quay.io/ascend/vllm-ascend:v0.14.0rc1-a3 vllm serve /data/Qwen3-8B -tp 2
```
"""
LIBRARIES = "  -v /usr/local/Ascend/driver/lib64/:/usr/local/Ascend/driver/lib64/ \\\n"
WORDS = (
    *("no library that moonpad knows", "and queue of operators", "levels 0, 1 and 2", "the plugin reads it as a whole"),
    *("its libraries are not at", "no driver makes a file"),
)


def found(text: str) -> list[Finding]:
    return [each for one in ask(text) for each in one.findings if any(words in each.message for words in WORDS)]


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (SERVE.format("export HCCL_BUFFERSIZE=1024"), "HCCL_BUFFERSIZE"),
        (SERVE.format("export HCCL_OP_EXPANSION=AIV"), "HCCL_OP_EXPANSION"),
        (SERVE.format("export TASK_QUEUE_ENABLE=3"), "TASK_QUEUE_ENABLE"),
        (SERVE.format("export VLLM_ASCEND_ENABLE_MLAPO=true"), "VLLM_ASCEND_ENABLE_MLAPO"),
        (RUN.replace(LIBRARIES, ""), "--volume"),
        (RUN.replace(":/usr/local/Ascend/driver/lib64/", ":/usr/local/Ascend/lib64/"), "--volume"),
        (RUN.replace("hisi_hdc", "hisi_hcd"), "/dev/hisi_hcd"),
    ],
)
def test_it_is_not_read_or_not_there(text: str, where: str) -> None:
    assert [each.where for each in found(text)] == [where]


@pytest.mark.parametrize(
    "text",
    [
        SERVE.format("export HCCL_BUFFSIZE=1024\nexport HCCL_EVENT_TIMEOUT=60\nexport HCCL_ASYNC_ERROR_HANDLING=0"),
        SERVE.format("export TASK_QUEUE_ENABLE=1\nexport VLLM_ASCEND_ENABLE_MLAPO=1\nexport VLLM_ASCEND_ENABLE_NZ=2"),
        RUN,
        RUN.replace(LIBRARIES, "  -v /usr/local/Ascend/driver:/usr/local/Ascend/driver \\\n"),
        RUN.replace(LIBRARIES, "  -v /usr/local/Ascend:/usr/local/Ascend:ro \\\n"),
        RUN.replace("--device /dev/hisi_hdc", "--device /dev/hisi_hdc --device /dev/infiniband"),
    ],
)
def test_it_is_right(text: str) -> None:
    assert found(text) == []
