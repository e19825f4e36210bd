"""Versions in tags of images, in lines that a program prints, and after the engine's name."""

from __future__ import annotations

import pytest

from moonpad.explain.documents.text_hints import build_of_fork, versions_of
from tests.unit.explain.judging import ask


@pytest.mark.parametrize(
    ("text", "engine", "expected"),
    [
        ("lmsysorg/sglang-rocm:v0.5.18-rocm720-mi35x-20260903", "sglang", "0.5.18"),
        ("rocm/sgl-dev:v0.5.8.post1-rocm720-mi35x-20260218", "sglang", None),
        ("lmsysorg+sglang+v0.5.5.post2.sqsh", "sglang", "0.5.5.post2"),
        ("rocm/vllm:rocm6.3.1_mi300_ubuntu22.04_py3.12_vllm_0.6.6", "vllm", "0.6.6"),
        ("rocm/vllm:rocm6.3.1_mi300_ubuntu22.04_py3.12", "vllm", None),
        ("SGLang version/commit: 0.5.17", "sglang", "0.5.17"),
        ("tensorrt_llm-release:v0.20.0rc0", "tensorrt-llm", "0.20.0rc0"),
        ("KT 0.6.2 on", "ktransformers", "0.6.2"),
        ("kt 0.6.2 on", "ktransformers", None),
        ("version: 6097 (9515c613)", "llama-cpp", "b6097"),
        ("built from tag b7830", "llama-cpp", "b7830"),
        ("ik_llama.cpp\nversion: 4428 (d4824131)", "llama-cpp", None),
        ("version: 6097", "llama-cpp", None),
        ("llama.cpp b6380, one RTX 4090", "llama-cpp", "b6380"),
        ("llama.cpp (b7830) on four cards", "llama-cpp", "b7830"),
        ("llama.cpp version: 7917, RX 6900 XT", "llama-cpp", "b7917"),
        ("llama.cpp 0.3.0-dev (build 10621, commit c1d0e7a00)", "llama-cpp", "b10621"),
        ("llama-b9330-bin-win-cpu-x64.zip", "llama-cpp", "b9330"),
        ("llama.cpp 6291 (44b1efa41), CPU", "llama-cpp", "b6291"),
        ("Name and version: b8935-f454bd7eb", "llama-cpp", "b8935"),
        ("Version 8823 (4fbdabdc6), ten P40", "llama-cpp", "b8823"),
        ("version: 0.4.0-dev (build 10883, commit 91f6a6cf3)", "llama-cpp", "b10883"),
        ("ghcr.io/ggml-org/llama.cpp:server-cuda-b5478", "llama-cpp", "b5478"),
        ("it needs llama.cpp b6097 or later", "llama-cpp", None),
        ("there since llama.cpp b6097", "llama-cpp", None),
        ("llama-server 4096 tokens", "llama-cpp", None),
        ("TensorRT LLM 1.1.0 on B200", "tensorrt-llm", "1.1.0"),
        ("vLLM Ascend 0.18.0rc1, eight 910B3", "vllm-ascend", "0.18.0rc1"),
        ("vLLM Version                 : 0.27.1", "vllm", "0.27.1"),
        (
            "vllm                 0.9.1\nvllm_ascend          0.9.1rc1      /home/me/vllm-ascend\n",
            "vllm-ascend",
            "0.9.1rc1",
        ),
        ("Package   Version\nsglang    0.5.10\n", "sglang", "0.5.10"),
        ("we saw vllm  0.9.1 times the speed", "vllm", None),
        ("The model is first supported in `vllm-ascend:v0.10.0rc1`.", "vllm-ascend", None),
        ("It is supported since vLLM 0.15.0; we run vLLM 0.16.0", "vllm", "0.16.0"),
        ("Upgraded from vLLM 0.9.0 to vLLM 0.11.0", "vllm", "0.11.0"),
        ("FROM vllm/vllm-openai:v0.11.0", "vllm", "0.11.0"),
        ("I deployed it with vllm=0.10.0. The command:", "vllm", "0.10.0"),
        ("0.4.10.post2 sglang, two nodes", "sglang", "0.4.10.post2"),
        ("we are on 0.11.0 vLLM with eight", "vllm", "0.11.0"),
        ("it went from 0.10.0 to 0.11.0 vllm was slow", "vllm", None),
        ("on 0.5.9 sglang 0.5.10 was slow", "sglang", "0.5.10"),
        ("torch 2.8.0 vllm 0.11.0", "vllm", "0.11.0"),
        ("torch, 2.8.0 vllm", "vllm", None),
        ("vllm版本：0.10.0", "vllm", "0.10.0"),
        ("vllm 版本 0.10.0", "vllm", "0.10.0"),
        ("- vLLM: `0.10.0`", "vllm", "0.10.0"),
        ("| vLLM | 0.10.0 |", "vllm", "0.10.0"),
        ("**vLLM Version**: 0.10.0rc2", "vllm", "0.10.0rc2"),
        ("vLLM API server version 0.8.5.post1", "vllm", "0.8.5.post1"),
        ("vLLM ROCm v0.21.0 on eight", "vllm", "0.21.0"),
        ("vLLM (ROCm) 0.21.0 on eight", "vllm", "0.21.0"),
        ("vLLM ROCm 7.0 on eight", "vllm", None),
        ("my vllm version is the latest (0.10.0).", "vllm", "0.10.0"),
        ("env: sglang-0.5.4, torch 2.8", "sglang", "0.5.4"),
        ("| vLLM | 0.95 | 1.20 |", "vllm", None),
        ("| vLLM | 12.10.300 |", "vllm", None),
        ("vllm-0.10.0-patched", "vllm", None),
        ("/src/sglang-0.4.7/python", "sglang", None),
        ("requires vLLM: `0.10.0`", "vllm", None),
        ("build: 6097 (9515c613)\nbuild: 6200 (9515c614)", "llama-cpp", None),
    ],
)
def test_versions(text: str, engine: str, expected: str | None) -> None:
    named, _ = versions_of(text)
    assert named.get(engine) == expected


SERVE = "```bash\nvllm serve moonshotai/Kimi-K2.5 -tp 8\n```\n"
CUDA = "```bash\ndocker pull vllm/vllm-openai:v0.17.0\n```\n"


@pytest.mark.parametrize(
    ("text", "version"),
    [
        (f"# Guide\n## NVIDIA\nvLLM 0.18.0:\n{SERVE}## Old\nvLLM 0.15.0:\n{SERVE}", ["0.18.0", "0.15.0"]),
        (f"# Guide\n## Install\n{CUDA}## Run\n{SERVE}", ["0.17.0"]),
        (f"# Guide\n## Install\n{CUDA}## Run on AMD (ROCm)\n{SERVE}", [""]),
        (f"# Guide\n## Run\n{SERVE}## Benchmark\n- vLLM version: 0.15.0\n", [""]),
        (f"# Guide\n## Benchmark\n- vLLM version: 0.15.0\n{SERVE}", ["0.15.0"]),
        (f"### Your environment\nvLLM version: 0.15.0\n### The bug\n{SERVE}", ["0.15.0"]),
        (
            f"# Guide\n## CUDA\n{CUDA}## New\n```bash\ndocker run --gpus all vllm/vllm-openai:latest --model m\n```\n",
            [""],
        ),
    ],
)
def test_the_version_of_the_own_part(text: str, version: list[str]) -> None:
    named = [one for one in ask(text) if one.kind == "serve"]
    assert [one.version if "the text names" in one.version_because else "" for one in named] == version


def test_a_build_is_told_by_its_program_in_another_part() -> None:
    text = (
        "### Name and version\nversion: 10900 (9515c613)\n### The bug\n```bash\nllama-server -m k2.gguf -c 8192\n```\n"
    )
    (judged,) = ask(text)
    assert judged.version == "b10900"


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("vLLM 0.11.0, 8 x Ascend 910B3", "0.11.0"),
        ("vllm-ascend main, vLLM 0.20.2, 16 x Ascend 910C", "0.20.2rc1"),
        ("vLLM 0.6.2, 8 x Ascend 910B3", ""),
        ("vLLM 0.11.0, vllm-ascend 0.11.0rc1, 8 x Ascend 910B3", "0.11.0rc1"),
    ],
)
def test_a_plugin_bears_the_number_of_what_it_plugs_into(text: str, version: str) -> None:
    (judged,) = ask(f"{text}\n\nvllm serve /models/DeepSeek-R1-W8A8 -tp 8 --quantization ascend\n")
    assert (judged.version if "the text names" in judged.version_because else "") == version


@pytest.mark.parametrize(
    ("text", "build"),
    [
        ("ik_llama.cpp\nversion: 4428 (d4824131)", "b4428"),
        ("ik_llama.cpp build 4306, RTX 3070", "b4306"),
        ("ik_llama.cpp b4306 and version: 4428 (d4824131)", "b4428"),
        ("version: 4428 (d4824131)", ""),
        ("ik_llama.cpp of March 2026", ""),
    ],
)
def test_the_build_of_a_fork(text: str, build: str) -> None:
    assert build_of_fork("llama-cpp", text) == build


def test_v_in_front_of_other_options_asks_for_no_version() -> None:
    assert len(ask("llama-server -v -m m.gguf\n")) == 1
    assert ask("llama-server -v\n") == ()


def test_a_release_of_the_engine_by_its_short_name() -> None:
    text = "SGL version: 0.5.5\npython3 -m sglang.launch_server --model-path moonshotai/Kimi-K2-Instruct --tp-size 16\n"
    assert [judged.version for judged in ask(text)] == ["0.5.5"]
