"""A server copied out of its build without the shared libraries beside it."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

HEAD = (
    "FROM nvidia/cuda:12.8.0-devel-ubuntu24.04{}\nRUN apt-get update && rm -rf /var/lib/apt/lists/*\nWORKDIR /build\n"
)
MAKE = "RUN git clone https://github.com/ggml-org/llama.cpp && cmake llama.cpp -B llama.cpp/build {} \\\n"
BUILD = MAKE + "    && cmake --build llama.cpp/build -j8"
SERVE = '\nENTRYPOINT ["llama-server", "-m", "/models/Kimi-K2-Instruct-Q2_K-00001-of-00008.gguf", "--port", "8080"]\n'
COPY = " \\\n    && cp llama.cpp/build/bin/llama-server /usr/local/bin/"
STAGE = "\nFROM ubuntu:24.04\nCOPY --from=made /build/llama.cpp/build/bin/{} /usr/local/bin/{}"


def told(text: str) -> list[str]:
    findings = [each for one in ask(text) for each in one.findings]
    return [each.where for each in findings if "while loading shared libraries" in each.message]


@pytest.mark.parametrize(
    "text",
    [
        HEAD.format("") + BUILD.format("-DGGML_CUDA=ON") + COPY + " && rm -rf /build" + SERVE,
        HEAD.format("") + BUILD.format("-DGGML_CUDA=ON") + COPY + " && rm -rf llama.cpp" + SERVE,
        HEAD.format(" AS made") + BUILD.format("") + STAGE.format("llama-server", "") + SERVE,
    ],
)
def test_the_program_alone_is_taken_along(text: str) -> None:
    assert told(text) == ["llama-server"]


@pytest.mark.parametrize(
    "text",
    [
        HEAD.format("") + BUILD.format("-DBUILD_SHARED_LIBS=OFF") + COPY + " && rm -rf /build" + SERVE,
        HEAD.format("") + BUILD.format("") + COPY + SERVE,  # where they are is written into the program
        HEAD.format("")
        + BUILD.format("")
        + COPY
        + " && cp llama.cpp/build/bin/*.so* /usr/lib/ && rm -rf /build"
        + SERVE,
        HEAD.format(" AS made") + BUILD.format("") + STAGE.format("", "") + SERVE,
        HEAD.format("")
        + BUILD.format("").replace("&& cmake l", "&& git -C llama.cpp checkout b3000 && cmake l")
        + COPY
        + " && rm -rf /build"
        + SERVE,
    ],
)
def test_the_libraries_are_there_or_not_needed(text: str) -> None:
    assert told(text) == []
