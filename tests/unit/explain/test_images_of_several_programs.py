"""llama.cpp's images whose entry point asks for a program, its old place, and young models."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Finding, Severity
from tests.unit.explain.judging import ask

NEW = "ghcr.io/ggml-org/llama.cpp"
OLD = "ghcr.io/ggerganov/llama.cpp"


def findings(text: str) -> list[Finding]:
    return [each for judged in ask(text) for each in judged.findings]


def told(text: str, words: str) -> list[Finding]:
    return [each for each in findings(text) if words in each.message]


@pytest.mark.parametrize("tag", ["full", "full-cuda", "full-rocm-b6500"])
@pytest.mark.parametrize("first", ["-m /models/a.gguf", "--hf-repo ggml-org/gemma-3-1b-it-GGUF"])
def test_the_first_argument_of_a_full_image_is_a_program(tag: str, first: str) -> None:
    (finding,) = told(f"docker run --gpus all {NEW}:{tag} {first} -c 8192", "Unknown command")
    assert finding.severity is Severity.ERROR
    assert "--server" in finding.remedy


@pytest.mark.parametrize(
    "text",
    [
        f"docker run --gpus all {NEW}:full-cuda --server -m /models/a.gguf -c 8192",
        f"docker run --gpus all {NEW}:full-cuda --run -m /models/a.gguf -c 8192",
        f"docker run --gpus all {NEW}:server-cuda -m /models/a.gguf -c 8192",
        f"docker run --gpus all --entrypoint /app/llama-server {NEW}:full-cuda -m /models/a.gguf -c 8192",
        "docker run --gpus all registry.example/llama.cpp:full-cuda -m /models/a.gguf -c 8192",
    ],
)
def test_where_a_program_is_named_or_the_image_starts_one(text: str) -> None:
    assert not told(text, "Unknown command")


def test_the_place_that_the_project_has_left() -> None:
    (finding,) = told(f"docker run --gpus all {OLD}:server-cuda -m /models/a.gguf -c 8192", "was left in")
    assert finding.severity is Severity.WARNING
    assert f"{NEW}:server-cuda" in finding.remedy
    assert not told(f"docker run --gpus all {NEW}:server-cuda -m /models/a.gguf -c 8192", "was left in")


def test_corrected_takes_the_place_of_today() -> None:
    judged = ask(f"docker run --gpus all -p 127.0.0.1:8080:8080 {OLD}:server-cuda -m /models/a.gguf --jinja -c 8192")
    assert judged[0].corrected is not None
    assert any(NEW in str(word) for word in judged[0].corrected)


def test_layers_in_a_container_without_devices() -> None:
    asked = f"docker run {NEW}:server -m /models/a.gguf -ngl 99"
    assert told(asked, "gets no device either")
    assert not told(asked.replace("run ", "run --gpus all "), "gets no device either")
    assert not told(asked.replace("-ngl 99", "-ngl 0"), "gets no device either")
    assert not told(asked.replace(" -ngl 99", ""), "gets no device either")


def test_the_newest_build_serves_linear_attention() -> None:
    text = "llama-server -hf bartowski/Kimi-Linear-48B-A3B-Instruct-GGUF:Q4_K_M -c 8192"
    assert not told(text, "is not known to serve")
    assert not told("llama-server --model moonshotai/Kimi-Linear-48B-A3B-Instruct", "is not known to serve")
