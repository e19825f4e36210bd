"""Builds that are called after a day or lie between two releases, and servers of images with a name of their own."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

OLD_CHAT = """services:
  chat:
    image: registry.example.com/own/ktransformers:{tag}
    ports: ["10002:10002"]
    entrypoint: [python, -m, ktransformers.{module}, --model_path=/m/DeepSeek-V3, --gguf_path=/m/DeepSeek-V3-GGUF]
"""
OWN_IMAGE = """services:
  server:
    image: {image}
    command: >
      {model}
      --tensor-parallel-size 8
      --tool-call-parser glm47
      --served-model-name glm
"""


@pytest.mark.parametrize("tag", ["v2025.04.12-action", "v2025.4.12-action", "2025-04-12"])
@pytest.mark.parametrize("module", ["local_chat", "server.main"])
def test_an_image_of_a_day_has_the_programs_of_that_time(tag: str, module: str) -> None:
    (judged,) = ask(OLD_CHAT.format(tag=tag, module=module))
    assert judged.version == "0.2.4.post1"
    assert "2025-04-12" in judged.version_because
    assert not [finding for finding in judged.findings if "by default" in finding.message]
    assert not [finding for finding in judged.findings if "its default" in finding.message]
    assert not [finding for finding in judged.findings if "archived" in finding.message]


def test_an_image_of_a_later_release_has_them_no_more() -> None:
    (judged,) = ask(OLD_CHAT.format(tag="v0.5.1", module="server.main"))
    assert [finding.severity for finding in judged.findings if "archived" in finding.message] == [Severity.ERROR]


@pytest.mark.parametrize(
    ("version", "severity"), [("0.5.1.post2", Severity.ERROR), ("0.5.1", Severity.ERROR), ("0.1.5", Severity.NOTE)]
)
def test_an_option_that_no_release_ever_had(version: str, severity: Severity) -> None:
    (judged,) = ask(
        f"docker run lmsysorg/sglang:v{version} python3 -m sglang.launch_server --model-path /m --post 8000\n"
    )
    (finding,) = [finding for finding in judged.findings if finding.where == "--post"]
    assert finding.severity is severity
    assert severity is Severity.NOTE or "--port" in finding.remedy


def test_an_option_of_older_releases_stays_a_note_in_a_build_between() -> None:
    """Releases before 0.5 had it: a build between may have it still."""
    (judged,) = ask(
        "docker run lmsysorg/sglang:v0.4.6.post3 python3 -m sglang.launch_server --model-path /m "
        "--disable-outlines-disk-cache\n"
    )
    assert not [finding for finding in judged.findings if finding.severity is Severity.ERROR]


@pytest.mark.parametrize("image", ["vllm-glm5:cu130-nightly", "registry.example.com/own/vllm-serve:1"])
@pytest.mark.parametrize("model", ["/data/GLM-5-FP8", "zai-org/GLM-5-FP8"])
def test_a_model_and_options_behind_an_own_image(image: str, model: str) -> None:
    (judged,) = ask(OWN_IMAGE.format(image=image, model=model))
    assert (judged.engine, judged.model_written) == ("vllm", model)
    assert judged.layout is not None
    assert judged.layout.tp == 8


@pytest.mark.parametrize("program", ["/usr/local/bin/serve-glm", "/opt/entrypoint", "/app/start.sh", "bash"])
def test_a_program_behind_an_own_image_is_none_of_its_models(program: str) -> None:
    assert not [
        judged for judged in ask(OWN_IMAGE.format(image="vllm-glm5:1", model=program)) if judged.kind == "serve"
    ]
