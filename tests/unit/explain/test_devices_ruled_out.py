"""Devices that a text names only as not supported are not those of its command."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

ASCEND = "vllm serve moonshotai/Kimi-K2-Thinking --tensor-parallel-size 8 --enable-expert-parallel"
SGLANG = "python -m sglang.launch_server --model-path moonshotai/Kimi-K2-Thinking --tp 8"


def of_310p(sentence: str) -> bool:
    (judged,) = ask(f"vllm-ascend 0.21.0rc1\n\n{sentence}\n```bash\n{ASCEND}\n```\n")
    return any("310P" in finding.message for finding in judged.findings)


@pytest.mark.parametrize(
    "sentence",
    [
        "On A2 (Ascend 910B, 64 GB). 310P is not supported.",
        "On A2 (Ascend 910B, 64 GB). Not supported on 310P.",
        "Atlas 800 A2 (64G). Atlas 300I Duo cards are not supported yet.".replace(" yet", ""),
        "Atlas 800 A2 (64G)；310P 暂不支持。",
        "A2 (64 GB), A3; it does not support Atlas 300I.",
        "Atlas 800T A2/A3. Not supported: 310P.",
        "Atlas 800T A2/A3. **Unsupported devices:** 910A, 310P",
        "Some cards. Unsupported: 310P",
        "| card | |\n|---|---|\n| **310P** | ❌ 不支持 |",
        "| card | |\n|---|---|\n| Atlas 300I Duo | ❌ |",
        "It was tried with A2, A3, 310P.",
        "| card | |\n|---|---|\n| A2 (64 GB) | fast |\n| A3 | fast |\n\n## On others\n310P is slow.\n\n## The start",
        "Here on 8x A2 (64 GB). 310P is slower.",
    ],
)
def test_no_fault_of_what_is_not_supported(sentence: str) -> None:
    assert not of_310p(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "On Atlas 300I Duo (310P).",
        "310P is supported.",
        "310P is not fast. Not supported: A5.",
        "| card | |\n|---|---|\n| 310P | ❌ | ✅ |",
        "A2 and A3 have another page.\n\n## Start on 310P",
    ],
)
def test_its_faults_where_it_is_meant(sentence: str) -> None:
    assert of_310p(sentence)


def test_a_kind_that_is_not_supported_is_not_chosen() -> None:
    (judged,) = ask(f"8 GPUs. H100 is not supported.\n\nUse H200.\n```bash\n{SGLANG}\n```\n")
    assert judged.cluster is not None
    assert judged.cluster.name == "8xH200"


def test_the_switch_for_310p_is_not_asked_for_where_the_release_sets_it() -> None:
    # vllm-project/vllm-ascend#10874, first in 0.25.1rc1.
    for release, told in (("0.24.0rc1", True), ("0.25.1rc1", False), ("0.30.0rc2", False)):
        (judged,) = ask(f"vllm-ascend {release} on Atlas 300I Duo (310P).\n```bash\n{ASCEND}\n```\n")
        assert any("enable_npugraph_ex is on by default" in finding.message for finding in judged.findings) is told


@pytest.mark.parametrize(
    ("said", "cluster"),
    [
        ("# On MI350X VF nodes.\n# They have 2 TB of RAM (not the\n# MI355X's 2.7 TB).", "8xMI350X"),
        ("# On MI350X, instead of the MI355X of the recipe.", "8xMI350X"),
        ("# Here with 8x MI350X rather than 8x MI355X.", "8xMI350X"),
        ("# On MI355X: not the fastest.", "8xMI355X"),
    ],
)
def test_what_the_own_devices_are_set_against_is_not_meant(said: str, cluster: str) -> None:
    (judged,) = ask(f"{said}\nVLLM_ROCM_USE_AITER=1 vllm serve amd/Kimi-K2.5-MXFP4 --tensor-parallel-size 8\n")
    assert judged.cluster is not None
    assert judged.cluster.name == cluster
