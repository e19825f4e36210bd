"""A fork that the text clones and installs runs in the place of the release that its image holds."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Code, Severity
from tests.unit.explain.judging import ask_one

SERVE = (
    "vllm serve /weights/Kimi-K2.5-W4A8 --tool-call-parser kimi_k2 --reasoning-parser kimi_k2 --quantization ascend"
    " --trust-remote-code --tensor-parallel-size 8 --data-parallel-size 2 --enable-expert-parallel"
    " --max-model-len 32768"
)
IMAGE = "docker pull quay.io/ascend/vllm-ascend:v0.14.0rc1-a3"
CLONE = "git clone -b main https://github.com/Someone/vllm-ascend.git\ncd vllm-ascend\npip install -v -e ."


def guide(*blocks: str) -> str:
    return "\n".join(f"```shell\n{block}\n```\n" for block in (*blocks, SERVE))


@pytest.mark.parametrize(
    "installs",
    [
        CLONE,
        f"pip uninstall -y vllm vllm_ascend\n{CLONE}",
        "pip install git+https://github.com/Someone/vllm-ascend.git@main",
        "git clone git@github.com:Someone/vllm-ascend.git\ncd vllm-ascend && python setup.py develop",
    ],
)
def test_what_is_known_of_the_release_may_be_mended_in_the_fork(installs: str) -> None:
    judged = ask_one(guide(IMAGE, installs), "16xA3")
    assert "builds Someone/vllm-ascend in its place" in judged.version_because
    reports = [each for each in judged.findings if each.code is Code.KNOWN_REPORT]
    assert reports
    assert all(each.severity is Severity.NOTE for each in reports)
    assert judged.corrected, "one flag is missing, and the fault of the image's release is not in the way"
    assert "--enable-auto-tool-choice" in judged.corrected[0].argv


@pytest.mark.parametrize(
    "installs",
    [
        "",
        "git clone https://github.com/vllm-project/vllm-ascend.git\ncd vllm-ascend\npip install -e .",
        "git clone https://github.com/Someone/vllm-ascend.git",  # its examples, perhaps
        "git clone https://github.com/Someone/vllm-ascend-tools.git\ncd vllm-ascend-tools\npip install -e .",
        f"{CLONE}\ngit clone https://github.com/Other/vllm-ascend.git\ncd vllm-ascend\npip install -e .",
    ],
)
def test_the_release_of_the_image_runs_where_no_fork_is_built(installs: str) -> None:
    judged = ask_one(guide(IMAGE, installs), "16xA3")
    assert "in its place" not in judged.version_because
    assert any(each.code is Code.KNOWN_REPORT and each.severity is Severity.WARNING for each in judged.findings)


def test_a_command_in_a_container_has_what_the_image_holds() -> None:
    text = f"```shell\n{CLONE}\n```\n```shell\ndocker run quay.io/ascend/vllm-ascend:v0.14.0rc1-a3 {SERVE}\n```\n"
    assert "in its place" not in ask_one(text, "16xA3").version_because


IK_OPTIONS = "-m /w/Kimi-K2-Q4_K_M.gguf -ngl 99 -ot exps=CPU -mla 3 -amb 512 -fmoe"


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        ("git clone https://github.com/ggml-org/llama.cpp\n./llama.cpp/build/bin/llama-server", True),
        ("docker run --gpus all ghcr.io/ggml-org/llama.cpp:server-cuda", True),
        ("./build/bin/llama-server", False),
        ("git clone https://github.com/ikawrakow/ik_llama.cpp\n./ik_llama.cpp/build/bin/llama-server", False),
        ("# ik_llama.cpp is a fork of ghcr.io/ggml-org/llama.cpp\n./build/bin/llama-server", False),
    ],
)
def test_options_of_a_fork_are_not_the_engines(start: str, *, expected: bool) -> None:
    findings = ask_one(f"{start} {IK_OPTIONS}\n", "1xRTX4090").findings
    assert any("has no -mla, which is ik_llama.cpp's" in each.message for each in findings) == expected
