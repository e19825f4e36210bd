"""A pod is called after the model that it serves, and its name is not the model's."""

from __future__ import annotations

import pytest

from moonpad.explain.documents.spoken_models import spoken_model
from moonpad.explain.script import read_script

from .judging import ask

_SERVE = 'vllm serve "$MODEL_DIR" --tensor-parallel-size 8\n'


@pytest.mark.parametrize(
    "pod",
    [
        "minimax-m2-decode-5d59d67564-vx8tq",
        "qwen3-coder-prod-7c9f6b8d4-2lmzp",
        "deepseek-v3.1-agg-66b7cfd9b5-kq4wn",
    ],
)
def test_a_pods_name_is_not_a_model(pod: str) -> None:
    assert not spoken_model(read_script(f"# {pod} server (EngineCore pid=77) ERROR\n{_SERVE}"))


@pytest.mark.parametrize(
    ("spoken", "name"),
    [
        ("Qwen3-Coder-30B-A3B-Instruct", "Qwen3-Coder-30B-A3B-Instruct"),
        ("GLM5.2-Air", "GLM-5.2-Air"),
        ("GLM4.7", "GLM-4.7"),
        ("glm47", ""),
    ],
)
def test_names_with_and_without_a_hyphen(spoken: str, name: str) -> None:
    assert spoken_model(read_script(f"# {spoken} on our cluster\n{_SERVE}")) == name


def test_the_title_names_it_where_a_log_has_the_pod() -> None:
    pod = "glm-5-3-flash-decode-6f4c9d7b58-zt2xv engine (EngineCore pid=12) INFO 10-02 08:11:39 [core.py:90] ready"
    text = f"# GLM5.3-Flash answers slowly\n\n```bash\n{_SERVE}```\n\n```\n{pod}\n```\n"
    (judged,) = ask(text)
    assert "GLM-5.3-Flash" in str(judged)
