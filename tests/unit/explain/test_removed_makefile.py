"""An engine built by `make` in a clone whose repository has no Makefile any more."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

CLONE = "git clone https://github.com/ggml-org/llama.cpp"
START = "./llama-server -m m/Kimi-K2.5-Q4_K_M.gguf"


def told(text: str) -> list[str]:
    findings = [finding for judged in ask(text) for finding in judged.findings]
    return [f"{each.message} => {each.remedy}" for each in findings if each.where == "make"]


@pytest.mark.parametrize(
    "text",
    [
        f"{CLONE}\ncd llama.cpp && make -j$(nproc)\n{START}",
        f"git clone git@github.com:ggerganov/llama.cpp.git\ncd llama.cpp\nGGML_CUDA=1 make llama-server\n{START}",
        f"{CLONE} && cd llama.cpp && make\n{START}",
        f"{CLONE} /opt/llama.cpp\nmake -C /opt/llama.cpp -j\n/opt/llama.cpp/llama-server -m m/Qwen3-8B-Q4_K_M.gguf",
        f"# Build\n\n```bash\n{CLONE}\ncd llama.cpp\nmake clean\n```\n\n# Run\n\n```bash\n{START}\n```\n",
    ],
)
def test_make_builds_nothing(text: str) -> None:
    (only,) = told(text)
    assert "builds nothing any more" in only
    assert "start build/bin/llama-server" in only


@pytest.mark.parametrize(
    "text",
    [
        f"{CLONE}\ncd llama.cpp\ncmake -B build && make -C build\n{START}",
        f"{CLONE}\ncd llama.cpp && mkdir build && cd build\ncmake ..\nmake -j\n{START}",
        f"git clone -b b4500 https://github.com/ggml-org/llama.cpp\ncd llama.cpp && make\n{START}",
        f"{CLONE}\ncd llama.cpp && git checkout 3b1f9a2\nmake -j\n{START}",
        f"{CLONE}\ncd ../driver\nmake -j\n{START}",
        f"git clone https://github.com/ikawrakow/ik_llama.cpp\ncd ik_llama.cpp && make\n{START}",
        f"{CLONE}\ncd llama.cpp\n# make -j\n{START}",
        f"make -j\n{START}",
        f"{CLONE}\ncd llama.cpp && make help-me\nvllm serve Qwen/Qwen3-8B",
    ],
)
def test_other_builds_are_left_alone(text: str) -> None:
    assert not told(text)
