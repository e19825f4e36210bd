"""Devices by their generation, by what a form tells, by the names of jobs and files."""

from __future__ import annotations

import pytest

from moonpad.explain.judge import judge
from moonpad.explain.script import read_files, read_script
from moonpad.explain.target_detection import Question

SERVE = "```bash\nVLLM_ROCM_USE_AITER=1 vllm serve moonshotai/Kimi-K2-Instruct -tp 8 --trust-remote-code\n```\n"
PLAIN = "vllm serve moonshotai/Kimi-K2-Instruct -tp 8 --trust-remote-code\n"


def devices(text: str) -> str:
    (judged,) = judge(read_script(text), Question())
    return judged.cluster.name if judged.cluster is not None else ""


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("Right on MI300X, wrong on MI355X.\n\n`rocm/vllm-dev:nightly-mi35x-0601`", "8xMI355X"),
        ("Right on MI355X, wrong on MI300X.\n\n`rocm/sgl-dev:v0.5.9-rocm700-mi30x`", "8xMI300X"),
        ("The port is there for MI300X and not here for MI355X:", "8xMI355X"),
        ("For MI350X and\nMI355X alike:", "8xMI355X"),
        ("Crash on gfx950:", "8xMI355X"),
        ("Crash on gfx942:", ""),
        ("Built for gfx942 and gfx950:", ""),
        ("Crash on gfx950, on NVIDIA all is well:", ""),
    ],
)
def test_generation_of_amd(words: str, expected: str) -> None:
    assert devices(f"{words}\n\n{SERVE}") == expected


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("Seen on MI300X and MI300A.\n\n- GPU: AMD MI300X", "8xMI300X"),
        ("Right on H100.\n\n- GPU: NVIDIA H200", "8xH200"),
        ("Seen on MI300A.", ""),
        ("Right on H100.\n\nWrong on H200.", ""),
    ],
)
def test_what_a_form_tells(words: str, expected: str) -> None:
    serve = SERVE.replace("VLLM_ROCM_", "MY_")
    assert devices(f"# Crash\n\n## Summary\n\n{words}\n\n## To see it\n{chr(10) * 8}{serve}") == expected


@pytest.mark.parametrize(
    ("words", "expected"), [("**Device**: Dual A100 + Xeon", "2xA100"), ("Dual Xeon, one A100", "1xA100")]
)
def test_dual(words: str, expected: str) -> None:
    local = "ktransformers --gguf_path Kimi-K2-Q4 --model_path Kimi-K2 --optimize_config_path two.yaml"
    assert devices(f"{words}\n\n```\n{local}\n```\n") == expected


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("recipes/k2-h200-agg.sh", PLAIN, "8xH200"),
        ("k2_mi355x_fp4.sh", PLAIN, "8xMI355X"),
        ("h100/serve.sh", PLAIN, ""),
        ("h100-or-h200.sh", PLAIN, ""),
        ("k2-h200.sh", f"# on H100\n{PLAIN}", "8xH100"),
        ("serve.yaml", f"runs-on: [self-hosted, h200]\nsteps:\n  - run: {PLAIN}", "8xH200"),
        ("serve.yaml", f"runs-on: ubuntu-latest\nsteps:\n  - run: {PLAIN}", ""),
        ("serve.yaml", f"test_name: k2_W8A8_A3\ncmd: {PLAIN.rstrip()} --quantization ascend\n", "8xA3"),
        ("serve.yaml", f"instance: a3-highgpu-8g\ncmd: {PLAIN.rstrip()} --quantization ascend\n", ""),
    ],
)
def test_names_of_jobs_and_files(name: str, text: str, expected: str) -> None:
    (judged,) = judge(read_files([(name, text)]), Question())
    assert (judged.cluster.name if judged.cluster is not None else "") == expected


def test_each_of_several_files_by_its_own_name() -> None:
    judged = judge(read_files([("p-h200.sh", PLAIN), ("d-b200.sh", PLAIN.replace("-tp 8", "-tp 4"))]), Question())
    assert [each.cluster.name for each in judged if each.cluster is not None] == ["8xH200", "4xB200"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [("We have 2x H100 NVL.\n\ntwo H100:", "2xH100-NVL"), ("We have 2x H100.\n\ntwo H100:", "2xH100")],
)
def test_the_full_name_is_meant(words: str, expected: str) -> None:
    assert devices(f"{words}\n\n{SERVE.replace('VLLM_ROCM_', 'MY_').replace('-tp 8', '-tp 2')}") == expected
