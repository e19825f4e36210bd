"""A path into the cache of Hugging Face is read like the name of the repository that it holds."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

COMMIT = "30333038ada1f1dacb294a93270305a890b50c14"
REPOSITORIES = (
    "zai-org/GLM-5.3",
    "Qwen/Qwen3-Coder-480B-A35B-Instruct-FP8",
    "MiniMaxAI/MiniMax-M2",
    "moonshotai/Kimi-K3",
)
REST = "--port 8000 --tensor-parallel-size 16 --nnodes 2 --tool-call-parser deepseekv3 --pipeline-parallel-size 2"


def said(model: str) -> set[tuple[str, str]]:
    judged = ask(f"sglang serve --model-path {model} {REST}", "2x8xH200", "0.5.10")
    return {(finding.code.value, finding.where) for each in judged for finding in each.findings}


@pytest.mark.parametrize("repository", REPOSITORIES)
def test_a_cached_checkpoint_is_judged_like_its_repository(repository: str) -> None:
    cached = f"/data/hub/models--{repository.replace('/', '--')}/snapshots/{COMMIT}/"
    assert said(repository) <= said(cached)
