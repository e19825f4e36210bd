"""Releases that paths, tags for ROCm, `pip show`, days of logs and lists of refused options give away."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask, found, only_server

START = "python3 -m sglang.launch_server --model-path deepseek-ai/DeepSeek-R1 --tp-size 8"
SERVE = "vllm serve Qwen/Qwen3-8B"


@pytest.mark.parametrize(
    ("text", "release"),
    [
        (f"```bash\nSGLANG_DG_CACHE_DIR=/data/sglang_v0.5.10/sm90 {START}\n```", "0.5.10"),
        (f"```\nINFO - Starting server: /var/lib/bin/vllm_v0.10.0\n{SERVE}\n```", "0.10.0"),
        (f"# image\n```\nDOCKER=lmsysorg/sglang:v0.4.9-rocm630\n```\n# start\n```\n{START}\n```", "0.4.9"),
        (f"Image: `lmsysorg/sglang:v0.5.6-rocm700-mi35x`\n## start\n```\n{START}\n```", "0.5.6"),
        (f"version 0.17.1\n\n{SERVE}", "0.17.1"),
        (f"On v0.5.5 `{START}` it stops", "0.5.5"),
        (f"```\n{SERVE}\n```\n\nWith v0.23.0:\n\n```\nERROR\n```", "0.23.0"),
        (f"sglang:v0.4.4 is OK, v0.4.6 is not.\n\nlmsysorg/sglang:v0.4.6\n\n```\n{START}\n```", "0.4.6"),
        (f"```\n$ pip show vllm\nName: vllm\nVersion: 0.11.0\n```\n```\n{SERVE}\n```", "0.11.0"),
        (f"pip show sglang\nVersion: 0.5.6.post1\n\n```\n{START}\n```", "0.5.6.post1"),
        (f"launch server on  v0.5.6   ` {START}`", "0.5.6"),
        (f"We started it with v0.5.6:\n```\n{START}\n```", "0.5.6"),
        (f"# [Bug] the server hangs on v0.5.6.post1\n```\n{START}\n```", "0.5.6.post1"),
    ],
)
def test_the_release_is_read(text: str, release: str) -> None:
    assert only_server(text).version == release


@pytest.mark.parametrize(
    "text",
    [
        # The only image is that of another maker's devices.
        f"# On H100\n```\n{START}\n```\n# On AMD\nlmsysorg/sglang:v0.4.9-rocm630, or CUDA",
        # What lies in that folder is of another program.
        f"DATA=/data/other_v0.5.10/x {START}",
        # A line of its source.
        f"[its layer](https://github.com/sgl-project/sglang/blob/v0.4.8/python/layer.py#L27)\n```\n{START}\n```",
        f"# [Feature] support it in v0.5.6\n```\n{START}\n```",
        f"It was started on FlashInfer v0.5.6:\n```\n{START}\n```",
        # A version of something else.
        f"version 2.1.0\n\n{START}",
        f"pip show torch\nVersion: 2.9.1\n\n```\n{START}\n```",
    ],
)
def test_other_numbers_are_not_it(text: str) -> None:
    assert "judged by the newest" in only_server(text).version_because


def test_a_log_is_not_of_a_release_that_came_later() -> None:
    """0.5.19, the last with this option, came in autumn 2026, and 0.5.11 was the newest on 2026-05-05."""
    log = "[2026-05-05 04:41:51 DP2 TP2 EP2] Capture cuda graph begin."
    judged = only_server(f"```\n{START} --cuda-graph-max-bs 128\n```\n\n```\n{log}\n```")
    assert judged.version == "0.5.11"
    assert "2026-05-05" in judged.version_because


def test_a_new_name_is_not_advised_where_the_release_is_only_the_last_possible() -> None:
    """0.5.13 and older take the old name and not the new one."""
    log = "[2026-11-05 04:41:51 TP2] Capture cuda graph begin."
    text = f"```\n{START} --cuda-graph-max-bs 128\n```\n\n```\n{log}\n```"
    (finding,) = found(text, "--cuda-graph-max-bs ")
    assert finding.severity is Severity.NOTE
    assert "have it alone" in finding.message
    (named,) = found(f"SGLang 0.5.19\n\n{text}", "--cuda-graph-max-bs ")
    assert named.severity is Severity.WARNING


REFUSED = "vllm: error: unrecognized arguments: --enable-reasoning"


def test_what_the_parser_does_not_list_it_has() -> None:
    command = f"{SERVE} --swap-space 16 --enable-reasoning --reasoning-parser deepseek_r1"
    assert not found(f"```\n{command}\n{REFUSED}\n```", "has no --swap-space")
    assert found(f"```\n{command}\n```", "has no --swap-space")
    # A list of another command says nothing of this one.
    assert found(f"```\n{SERVE} --swap-space 16\n{REFUSED}\n```", "has no --swap-space")


@pytest.mark.parametrize(
    ("variable", "reading"),
    [
        ("VLLM_ATTENTION_BACKEND=FLASHINFER", "0.10.0 to 0.14.1 read it"),
        ("VLLM_USE_V1=1", "0.10.0 to 0.11.0 read it"),
        ("VLLM_TEST_ENABLE_EP=1", "releases before 0.8.0 read it"),
    ],
)
def test_a_variable_of_former_releases_is_told_with_them(variable: str, reading: str) -> None:
    name = variable.partition("=")[0]
    (unnamed,) = found(f"{variable} {SERVE}", name)
    assert reading in unnamed.message
    (judged,) = ask(f"{variable} {SERVE}", version="0.33.0")
    (named,) = [each for each in judged.findings if name in f"{each.where} {each.message}"]
    assert "read it" not in named.message


def test_a_backend_that_the_release_lacks_is_not_advised() -> None:
    """DUAL_CHUNK_FLASH_ATTN was a backend of 0.10 and 0.11 alone."""
    (finding,) = found(f"VLLM_ATTENTION_BACKEND=DUAL_CHUNK_FLASH_ATTN {SERVE}", "VLLM_ATTENTION_BACKEND")
    assert finding.remedy.startswith("Leave it out")


def test_the_executors_of_the_former_engine_bound_the_release() -> None:
    trace = '  File "/usr/lib/python3/dist-packages/vllm/{}ray_distributed_executor.py", line 396, in _init'
    start = f"```\n{SERVE} --tensor-parallel-size 8\n{{}}\n```"
    assert only_server(start.format(trace.format("executor/"))).version == "0.11.0"
    assert "newest" in only_server(start.format(trace.format("v1/executor/"))).version_because
