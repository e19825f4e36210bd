"""An image of another publisher whose tag names no release is a build of its own: what no release has, it may have."""

from __future__ import annotations

import pytest

from moonpad.explain.target_detection import BY_NEWEST
from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

_RUN = "docker run --gpus all --ipc=host {image} vllm serve /m/DeepSeek-V4-Flash -tp 2 --attention-backend {name}\n"


@pytest.mark.parametrize(
    ("image", "is_own"),
    [
        ("someone/vllm:lucifer", True),
        ("someone/vllm", True),
        ("registry.example.com:5000/team/engine:sm120", True),
        ("vllm/vllm-openai:latest", False),
        ("mirror.example.com/vllm/vllm-openai:stable", False),
        ("someone/vllm:0.25.0-sm120", False),
        ("vllm/vllm-openai-cpu:latest", False),
    ],
)
def test_whose_build_it_is(image: str, *, is_own: bool) -> None:
    (judged,) = ask(_RUN.format(image=image, name="SPARSE_MLA_SM120"))
    assert ("names no release" in judged.version_because) is is_own
    (finding,) = (each for each in judged.findings if each.where == "--attention-backend")
    assert (finding.severity is Severity.NOTE) is is_own
    assert finding.remedy.startswith("leave it out") is not is_own
    if is_own:
        assert judged.version_because.endswith(BY_NEWEST)
        assert not any("--attention-backend" not in line.argv for line in judged.corrected)


def test_without_a_container_it_is_a_warning() -> None:
    (judged,) = ask("vllm serve /m/DeepSeek-V4-Flash -tp 2 --attention-backend SPARSE_MLA_SM120\n")
    (finding,) = (each for each in judged.findings if each.where == "--attention-backend")
    assert finding.severity is Severity.WARNING
