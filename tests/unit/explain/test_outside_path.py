"""A program by its bare name in an image that has it outside of PATH."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Finding, Severity
from tests.unit.explain.judging import ask

GGUF = "ghcr.io/ggml-org/llama.cpp:server-cuda"
SERVER = "llama-server -m /m/k2-q4_k_m.gguf -ngl 99"


def found(text: str) -> list[Finding]:
    return [finding for each in ask(text) for finding in each.findings if "not in its PATH" in finding.message]


def service(image: str, line: str, more: str = "") -> str:
    return (
        f"services:\n  k2:\n    image: {image}\n{more}    entrypoint:\n      - bash\n      - -c\n      - |\n"
        f"        set -e\n        {line}\n"
    )


@pytest.mark.parametrize(
    "text",
    [
        service(GGUF, f"exec {SERVER}"),
        service("ghcr.io/ggml-org/llama.cpp:full-cuda-b9246", SERVER),
        f"docker run --gpus all --entrypoint llama-server {GGUF} -m /m/k2-q4_k_m.gguf",
        f'docker run --gpus all --entrypoint bash {GGUF} -c "{SERVER}"',
    ],
)
def test_it_is_not_found(text: str) -> None:
    (finding,) = found(text)
    assert (finding.severity, finding.remedy) == (Severity.WARNING, "write /app/llama-server")


@pytest.mark.parametrize(
    "text",
    [
        service(GGUF, f"exec /app/{SERVER}"),
        service(GGUF, f"./{SERVER}"),
        service(GGUF, SERVER, "    environment:\n      - PATH=/app:/usr/bin:/bin\n"),
        service("ghcr.io/somebody/llama.cpp:server-cuda", SERVER),
        f"docker run --gpus all {GGUF} -m /m/k2-q4_k_m.gguf -ngl 99",
        SERVER,
    ],
)
def test_it_is_found(text: str) -> None:
    assert found(text) == []
