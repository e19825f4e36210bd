"""Releases that a text gives in other ways than by a pin, an image's tag or the engine's name in front."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

VLLM = "vllm serve deepseek-ai/DeepSeek-V3 --tensor-parallel-size 8 --trust-remote-code"
SGLANG = "python -m sglang.launch_server --model-path moonshotai/Kimi-K2-Thinking --tp 8 --trust-remote-code"
CHAT = "python -m ktransformers.local_chat --model_path /opt/V3 --gguf_path /opt/V3-GGUF --cpu_infer 70"


def version_of(text: str) -> str:
    (judged,) = ask(text)
    return judged.version


@pytest.mark.parametrize(
    ("said", "release"),
    [
        ("I use vLLM, the latest version (0.6.6):", "0.6.6"),
        ("I use the latest version of vLLM, 0.6.6:", "0.6.6"),
        ("Here is my script, and I am using the latest version (0.6.6):", "0.6.6"),
        ("On vLLM in the newest release 0.10.2:", "0.10.2"),
        ("vllm0.10.2版本:", "0.10.2"),
        ("vLLM 0.11, from last year:", "0.11.2"),
    ],
)
def test_of_vllm(said: str, release: str) -> None:
    assert version_of(f"{said}\n\n```sh\n{VLLM}\n```\n") == release


@pytest.mark.parametrize(
    "said", ["The latest version of CUDA, 12.4.1:", "I use the latest version:", "The latest version (12.4.1) of CUDA:"]
)
def test_a_release_of_something_else_is_none_of_vllm(said: str) -> None:
    (judged,) = ask(f"{said}\n\n```sh\n{VLLM}\n```\n")
    assert judged.version_because.startswith("none is named")


@pytest.mark.parametrize(
    ("said", "release"),
    [
        ("已经安装了ktransformer0.24版本，", "0.2.4"),
        ("On KTransformers 0.32:", "0.3.2"),
        ("On ktransformers 0.2.4:", "0.2.4"),
    ],
)
def test_a_point_is_left_out(said: str, release: str) -> None:
    assert version_of(f"{said}\n\n```sh\n{CHAT}\n```\n") == release


@pytest.mark.parametrize("tag", ["nightly-releases-v0.27.1rc-openeuler", "releases-v0.27.1rc", "nightly-v0.27.1rc1"])
def test_images_of_the_branch_of_a_release(tag: str) -> None:
    text = f"docker run quay.io/ascend/vllm-ascend:{tag} vllm serve /model --tensor-parallel-size 8"
    assert version_of(text) == "0.27.1rc1"


def test_nightly_images_of_main_name_no_release() -> None:
    (judged,) = ask("docker run quay.io/ascend/vllm-ascend:nightly-main vllm serve /model --tensor-parallel-size 8")
    assert "0.27" not in judged.version_because


@pytest.mark.parametrize(
    "folder",
    [
        "SGLANG_DG_CACHE_DIR=/data/caches/v0.5.10-team/sm90",
        "SGLANG_DG_CACHE_DIR=/v0.5.10/cache",
        "DG_CACHE=/data/sglang_compile_caches/v0.5.10/sm90",
    ],
)
def test_a_folder_is_called_after_the_release(folder: str) -> None:
    assert version_of(f"# 8xH200\n{folder} {SGLANG}\n") == "0.5.10"


@pytest.mark.parametrize(
    "folder",
    [
        "MODEL_DIR=/data/models/v0.5.10/weights",
        "SGLANG_CACHE=/caches/v0.5.10/a OTHER=/sglang/v0.5.9/b",
        "SGLANG_CACHE=/caches/v0.5.10.tar/a",
    ],
)
def test_other_folders_are_not(folder: str) -> None:
    (judged,) = ask(f"# 8xH200\n{folder} {SGLANG}\n")
    assert judged.version_because.startswith("none is named")


@pytest.mark.parametrize(
    "line",
    [
        "ERROR 08-07 08:09:51 [engine.py:467]     engine = MQLLMEngine.from_vllm_config(",
        '  File "/usr/lib/python3/vllm/engine/multiprocessing/engine.py", line 455, in run_mp_engine',
        "(VllmWorkerProcess pid=21574) ERROR 08-07 08:09:51 [multiproc_worker_utils.py:232] TypeError: no",
    ],
)
def test_the_first_engine_of_vllm_is_of_a_release_before_0_11(line: str) -> None:
    assert version_of(f"```sh\nvllm serve /data/m --tensor-parallel-size 4\n```\n\n```text\n{line}\n```\n") == "0.10.2"
    named = f"vLLM 0.9.2:\n\n```sh\nvllm serve /data/m --tensor-parallel-size 4\n```\n\n```text\n{line}\n```\n"
    assert version_of(named) == "0.9.2"


@pytest.mark.parametrize(
    ("options", "because"),
    [("-mla 3 -fmoe", "it runs ik_llama.cpp, a fork of llama.cpp"), ("-fa on", "the text names llama-cpp b3871")],
)
def test_a_fork_counts_its_builds_by_itself(options: str, because: str) -> None:
    text = f"```sh\n./llama-server -m /m/DeepSeek-V3-Q4_K_M.gguf -ngl 64 {options}\n```\n\nversion: 3871 (d10d90ae)\n"
    (judged,) = ask(text)
    assert judged.version_because.startswith(because)


@pytest.mark.parametrize(
    ("said", "build"),
    [
        ("version: 3871 (d10d90ae)", ", build 3871 by its own count"),
        ('INFO [ main] build info | tid="140" timestamp=1749 build=3728 commit="8ffad187"', ", build 3728 by its own"),
        ("build: 4012 (0123abcd) with cc", ", build 4012 by its own count"),
        ("version: 3871 (d10d90ae)\nversion: 3900 (0123abcd)", ":"),
        ("since yesterday", ":"),
    ],
)
def test_the_build_of_a_fork_is_named(said: str, build: str) -> None:
    (judged,) = ask(f"```sh\n./llama-server -m /m/K2.gguf -ngl 64 -mla 3 -fmoe\n```\n\n```text\n{said}\n```\n")
    assert judged.version_because.startswith(f"it runs ik_llama.cpp, a fork of llama.cpp{build}")


@pytest.mark.parametrize(
    ("image", "command", "release"),
    [
        ("quay.io/ascend/vllm-ascend:glm5", "vllm serve /weights/GLM-5", "0.15.0rc1"),
        ("lmsysorg/sglang:glm5", "python3 -m sglang.launch_server --model-path zai-org/GLM-5-FP8", "0.5.8.post1"),
        (
            "lmsysorg/sglang:glm5-hopper",
            "python3 -m sglang.launch_server --model-path zai-org/GLM-5-FP8",
            "0.5.8.post1",
        ),
    ],
)
def test_images_called_after_a_model_of_few_letters(image: str, command: str, release: str) -> None:
    (judged,) = ask(f"docker run --gpus all {image} {command}\n")
    assert judged.version == release
    assert not any("asks for transformers" in finding.message for finding in judged.findings)


def test_an_image_called_after_another_model_says_nothing() -> None:
    (judged,) = ask("docker run lmsysorg/sglang:glm5 python3 -m sglang.launch_server --model-path Qwen/Qwen3-235B-A22B")
    assert judged.version_because.startswith("none is named")


@pytest.mark.parametrize(
    "said", ["since vLLM `v0.11.0` and later.", "is there in vLLM 0.11.0 and newer.", "in vLLM **0.11.0** or later:"]
)
def test_from_a_release_on_is_none_that_runs(said: str) -> None:
    (judged,) = ask(f"The parser {said}\n\n```bash\n{VLLM}\n```\n")
    assert judged.version_because == "the text asks for vllm 0.11.0 or later: judged by the newest"


def test_a_sentence_that_goes_on_behind_a_release_is_of_that() -> None:
    (judged,) = ask(f"Measured on vLLM 0.11.0 and higher batches than before:\n\n```bash\n{VLLM}\n```\n")
    assert judged.version == "0.11.0"
