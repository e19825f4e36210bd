"""The release that a banner, a trace or a mark behind an image shows."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

ARGUMENTS = "non-default args: {'model': 'moonshotai/Kimi-K2.6', 'tensor_parallel_size': 8, 'trust_remote_code': True}"
SERVE = "trtllm-serve /data/DeepSeek-V3 --backend pytorch --tp_size 8 --max_batch_size 128"
ASCEND = "vllm serve /w/DeepSeek-R1 --tensor-parallel-size 32 --disable-log-requests --distributed-executor-backend ray"


def versions(text: str) -> list[str]:
    return [each.version for each in ask(text) if each.layout is not None]


@pytest.mark.parametrize(
    "banner",
    [
        "version 0.19.1\nmodel   moonshotai/Kimi-K2.6",
        "INFO [utils.py:299]  █▄   ▄█  version 0.19.1\nINFO [utils.py:299]   █▄█▀  model   moonshotai/Kimi-K2.6",
    ],
)
def test_banner_of_the_server(banner: str) -> None:
    assert versions(f"```text\n{banner}\n\n{ARGUMENTS}\n```\n") == ["0.19.1"]


def test_version_of_something_else() -> None:
    other = "a tool version 0.19.1\nmodel   moonshotai/Kimi-K2.6"
    assert versions(f"```text\n{other}\n\n{ARGUMENTS}\n```\n") != ["0.19.1"]


@pytest.mark.parametrize(
    ("first", "second", "judged"),
    [
        ("rc1 (runs)", "rc2 (does not)", "1.0.0rc2"),
        ("rc2 (fails)", "rc1 (works fine)", "1.0.0rc2"),
        ("rc1", "rc2", "1.0.0rc1"),
    ],
)
def test_image_that_runs_is_not_the_one_that_is_asked_about(first: str, second: str, judged: str) -> None:
    images = "".join(f"image: nvcr.io/nvidia/tensorrt-llm/release:1.0.0{each}\n" for each in (first, second))
    assert versions(f"```sh\n{SERVE}\n```\n\n{images}") == [judged]


@pytest.mark.parametrize(
    ("file", "judged"),
    [("vllm/worker/worker_base.py", "0.7.3.post1"), ("vllm/v1/worker/worker_base.py", "0.16.0rc1")],
)
def test_worker_of_the_former_engine(file: str, judged: str) -> None:
    log = f'(NPURayWorkerWrapper pid=42) ERROR 04-08   File "/usr/lib/{file}", line 573, in execute_method'
    text = f"四台 910B2，每台 8 卡\n\n```\n{ASCEND}\n\n{log}\n```\n"
    assert versions(text) == [judged]
