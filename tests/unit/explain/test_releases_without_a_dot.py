"""Releases of which a dot was left out: `ktransformers 0.24post1` is 0.2.4.post1, and no release of years to come."""

from __future__ import annotations

import pytest

from moonpad.explain.documents.text_hints import versions_of
from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

OLD_SERVER = (
    "{} on one machine, 8 tokens/s\n\n```\npython ktransformers/server/main.py --model_path /srv/DeepSeek-R1"
    " --gguf_path /srv/DeepSeek-R1-GGUF --port 10002 --cpu_infer 30 --backend_type balance_serve\n```\n"
)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("ktransformers 0.24post1", {"ktransformers": "0.2.4.post1"}),
        ("KTransformers 0.21post1", {"ktransformers": "0.2.1.post1"}),
        ("ktransformers v0.23", {"ktransformers": "0.2.3"}),
        ("sglang 0.59", {"sglang": "0.5.9"}),
        ("sglang 0.510", {"sglang": "0.5.10"}),
        ("vllm 0.110", {"vllm": "0.11.0"}),
        ("vllm 0.24", {"vllm": "0.24"}),  # 0.24.0 was released
        ("vllm 0.98", {"vllm": "0.98"}),  # none was called 0.9.8
        ("ktransformers 0.7.2", {"ktransformers": "0.7.2"}),
    ],
)
def test_figures_of_a_release_get_their_dot(text: str, named: dict[str, str]) -> None:
    assert versions_of(text)[0] == named


def test_a_server_of_that_release_is_not_called_removed() -> None:
    (judged,) = ask(OLD_SERVER.format("ktransformers 0.24post1"))
    assert not [each for each in judged.findings if each.severity is Severity.ERROR]


def test_a_server_of_a_release_without_it_is() -> None:
    (judged,) = ask(OLD_SERVER.format("ktransformers 0.5.1"))
    assert [each for each in judged.findings if each.severity is Severity.ERROR]
