"""Images whose tag is a day: judged by the release of that day, and by the next one where only that has it."""

from __future__ import annotations

import pytest

from moonpad.catalog.release_days import release_days, releases_around
from moonpad.explain.image_days import day_of
from moonpad.values.finding import Severity
from moonpad.values.versions import order
from tests.unit.explain.judging import ask

RUN = "docker run --gpus all lmsysorg/sglang:{tag} python3 -m sglang.launch_server --model-path Qwen/Qwen3-8B {more}\n"


@pytest.mark.parametrize(
    ("image", "day"),
    [
        ("lmsysorg/sglang:nightly-dev-cu13-20260710-1a2b3c4", "2026-07-10"),
        ("lmcache/vllm-openai:2025-05-05-v1", "2025-05-05"),
        ("a/b:main_20251231", "2025-12-31"),
        ("a/b:v0.5.4", ""),
        ("a/b:20261399", ""),
        ("a/b:120260710", ""),
        ("a/b:sha-2026-0710", ""),
        ("a/20260710:latest", ""),
        ("a/b@sha256:20260710", ""),
    ],
)
def test_the_day_of_a_tag(image: str, day: str) -> None:
    assert day_of(image) == day


def test_releases_around_a_day() -> None:
    """PyPI has vLLM 0.11.0 since 2025-10-04 and 0.11.1 since 2025-11-19."""
    assert releases_around("vllm", "2025-10-20") == ("0.11.0", "0.11.1")
    assert releases_around("vllm", "2020-01-01") is None
    assert releases_around("vllm", "2099-01-01") is None
    assert releases_around("llama-cpp", "2025-10-20") is None


def test_the_days_are_in_order() -> None:
    for engine, recorded in release_days().items():
        for release, day in recorded.releases.items():
            around = releases_around(engine, day)
            assert around is None or order(around[0]) >= order(release)


def test_an_option_of_that_day_is_right_and_one_that_came_later_is_not() -> None:
    (judged,) = ask(RUN.format(tag="nightly-dev-cu13-20260710-1a2b3c4", more="--cuda-graph-max-bs 64"))
    assert judged.version == "0.5.15"
    assert "2026-07-10" in judged.version_because
    assert not any(finding.severity is Severity.ERROR for finding in judged.findings)
    (newest,) = ask(RUN.format(tag="latest", more="--cuda-graph-max-bs 64"))
    assert newest.version != "0.5.15"


def test_a_release_in_the_tag_comes_before_its_day() -> None:
    text = "docker run --gpus all rocm/vllm:rocm7.0.0_vllm_0.11.1_20251103 vllm serve Qwen/Qwen3-8B\n"
    (judged,) = ask(text)
    assert judged.version == "0.11.1"


KEYS = "vllm serve zai-org/GLM-5.2 --tensor-parallel-size 8 --speculative-config '{config}'\n"


@pytest.mark.parametrize(
    ("config", "severity"),
    [
        ('{"method": "mtp", "num_speculative_tokens": 1, "draft_attention_backend": "X"}', Severity.WARNING),
        ('{"method": "mtp", "num_speculative_token": 1}', Severity.ERROR),
    ],
)
def test_a_key_that_no_release_has(config: str, severity: Severity) -> None:
    """Without a release a key of its own may be that of somebody's build; a slip is one everywhere."""
    found = [f for judged in ask(KEYS.format(config=config)) for f in judged.findings if "has no key" in f.message]
    assert [finding.severity for finding in found] == [severity]


GUIDE = """Use `{first}`.

```bash
vllm serve Qwen/Qwen3-8B
```

On another machine: `vllm/vllm-tpu:nightly-20260330-2f7c8b6`.
"""


@pytest.mark.parametrize(
    ("first", "of_that_day"),
    [
        ("vllm/vllm-tpu:nightly-20260330-2f7c8b6", True),
        ("vllm/vllm-openai:latest", False),
        ("vllm/vllm-openai:nightly-20260110", False),
    ],
)
def test_without_a_container_all_images_of_a_text_are_of_one_day(first: str, *, of_that_day: bool) -> None:
    (judged,) = ask(GUIDE.format(first=first))
    assert ("2026-03-30" in judged.version_because) == of_that_day


@pytest.mark.parametrize(
    ("day", "behind"),
    [("20260820", True), ("20260808", False), ("20260901", False)],  # 0.5.17 is of 2026-08-08, 0.5.18 of 2026-08-21
)
def test_a_later_day_behind_a_release_is_a_build_after_it(day: str, *, behind: bool) -> None:
    image = f"lmsysorg/sglang-rocm:v0.5.17-rocm724-mi35x-{day}"
    serve = "sglang serve --model-path moonshotai/Kimi-K3 --tp-size 8 --trust-remote-code"
    for text in (f"docker run --device /dev/kfd {image} {serve}\n", f"IMAGE={image}\nSIF=k3.sif\n{serve}\n"):
        (judged,) = ask(text)
        assert judged.version == "0.5.17"
        assert ("built after" in judged.version_because or "build after" in judged.version_because) == behind


LOG = "/sgl-workspace/sglang/python/sglang/srt/utils/common.py:558: UserWarning: Using a slow tokenizer."


@pytest.mark.parametrize("log", ["", LOG])
def test_a_line_of_a_source_in_a_log_is_no_image(log: str) -> None:
    image = "Image: rocm/sgl-dev:v0.5.9-rocm720-mi35x-20260310"
    text = f"{image}\n\n```\npython3 -m sglang.launch_server --model-path Qwen/Qwen3-8B\n```\n\n{log}\n"
    (judged,) = ask(text)
    assert "its image is of 2026-03-10" in judged.version_because
