"""Folders of the Hugging Face cache, and what they hold."""

from __future__ import annotations

import pytest

from moonpad.catalog.cached_names import repository_of

COMMIT = "30333038ada1f1dacb294a93270305a890b50c14"


@pytest.mark.parametrize(
    ("written", "named"),
    [
        (f"/data/hub/models--zai-org--GLM-5.3/snapshots/{COMMIT}/", "zai-org/GLM-5.3"),
        (f"/data/hub/models--zai-org--GLM-5.3/snapshots/{COMMIT}", "zai-org/GLM-5.3"),
        ("models--Qwen--Qwen3-Coder-480B-A35B-Instruct-FP8", "Qwen/Qwen3-Coder-480B-A35B-Instruct-FP8"),
        ("~/.cache/models--a--b-c/snapshots/main", "a/b-c"),
        (f"/models/DeepSeek-V3/{COMMIT}", "/models/DeepSeek-V3"),
        ("/data/.cache/modelscope/hub/models/ZhipuAI/GLM-4___5", "/data/.cache/modelscope/hub/models/ZhipuAI/GLM-4.5"),
        ("zai-org/GLM-5.3", "zai-org/GLM-5.3"),
        ("/models/GLM-5.3/", "/models/GLM-5.3/"),
        (COMMIT, COMMIT),
        ("", ""),
        ("$MODEL", "$MODEL"),
    ],
)
def test_folder_of_a_cache_means_its_repository(written: str, named: str) -> None:
    assert repository_of(written) == named
