"""What images lack, as charts and services of Compose start them; selectors of routers; refusals of former settings."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Finding, Severity
from tests.unit.explain.judging import ask

CHART = """\
servingEngineSpec:
  modelSpec:
  - name: "q"
    repository: "{repository}"
    tag: "{tag}"
    modelURL: "Qwen/Qwen3-8B"
    replicaCount: 1
    requestGPU: 1
    vllmConfig:
      tensorParallelSize: 1
      pipelineParallelSize: 2
    raySpec:
      enabled: {enabled}
      headNode:
        requestCPU: 1
"""


def found(text: str, words: str) -> list[Finding]:
    return [each for judged in ask(text) for each in judged.findings if words in each.message]


@pytest.mark.parametrize(
    ("repository", "tag", "enabled", "count"),
    [
        ("vllm/vllm-openai", "latest", "true", 1),
        ("vllm/vllm-openai", "v0.20.0", "true", 1),
        ("vllm/vllm-openai", "v0.10.0", "true", 0),
        ("vllm/vllm-openai", "latest", "false", 0),
        ("lmcache/vllm-openai", "latest", "true", 0),
    ],
)
def test_a_chart_that_starts_ray(repository: str, tag: str, enabled: str, count: int) -> None:
    text = CHART.format(repository=repository, tag=tag, enabled=enabled)
    assert len(found(text, "brings no Ray")) == count


def test_ray_of_another_model_of_the_chart() -> None:
    other = CHART.format(repository="lmcache/vllm-openai", tag="latest", enabled="true").split("\n", 2)[2]
    text = CHART.format(repository="vllm/vllm-openai", tag="latest", enabled="false") + other
    assert not found(text, "brings no Ray")


@pytest.mark.parametrize(
    ("image", "program", "count"),
    [
        ("lmcache/vllm-openai:nightly-2025-06-24", "vllm serve", 1),
        ("lmcache/vllm-openai:2025-05-17-v1", "vllm serve", 1),
        ("lmcache/vllm-openai:nightly-2025-10-02", "vllm serve", 0),
        ("lmcache/vllm-openai:nightly-2025-06-24", "/opt/venv/bin/vllm serve", 0),
        ("vllm/vllm-openai:latest", "vllm serve", 0),
    ],
)
@pytest.mark.parametrize("whole", [True, False])
def test_a_program_outside_of_path(image: str, program: str, count: int, whole: bool) -> None:
    service = f"  s:\n    image: {image}\n    entrypoint: {program} Qwen/Qwen3-8B\n    command: --port 8000\n"
    text = f"services:\n{service}" if whole else f"My service:\n\n```\n{service}```\n"
    assert len(found(text, "not in its PATH")) == count


def test_each_selector_is_told() -> None:
    router = (
        'smg --service-discovery --pd-disaggregation --prefill-selector "app=s,r=p" --decode-selector "app=s,r=d"\n'
    )
    said = found(router + "sglang serve --model-path Qwen/Qwen3-8B\n", "takes each label")
    assert {finding.where for finding in said} == {"--prefill-selector", "--decode-selector"}


CHUNKS = """vllm serve vllm-ascend/DeepSeek-V3.1-W8A8 --quantization ascend --max-model-len 32768 \
--max-num-batched-tokens {tokens} --additional-config '{{"ascend_scheduler_config":{{"enabled":{on}}}}}'"""


@pytest.mark.parametrize(("tokens", "on", "count"), [("4096", "true", 1), ("32768", "true", 0), ("4096", "false", 0)])
def test_a_setting_that_only_former_releases_have(tokens: str, on: str, count: int) -> None:
    said = found(CHUNKS.format(tokens=tokens, on=on), "does not chunk by itself")
    assert [finding.severity for finding in said] == [Severity.NOTE] * count


M3 = "vllm serve $MODEL --tensor-parallel-size $TP --kv-cache-dtype fp8 {parsers}\n"
BOTH = "--tool-call-parser minimax_m3 --reasoning-parser minimax_m3 --enable-auto-tool-choice"


@pytest.mark.parametrize(
    ("head", "parsers", "count"),
    [
        ("# MI325X", BOTH, 1),
        ("# MI300X (gfx942)", BOTH, 1),
        ("# MI355X", BOTH, 0),
        ("# MI300X and H200", BOTH, 0),
        ("# MI300X", "--tool-call-parser minimax_m3", 0),
    ],
)
def test_a_generation_and_a_family_where_variables_hold_the_rest(head: str, parsers: str, count: int) -> None:
    assert len(found(f"{head}\n{M3.format(parsers=parsers)}", "has no scales for an FP8 cache")) == count
