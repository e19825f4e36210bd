"""A remedy of one known fault that leads into another one of the same release is not made in the corrected command."""

from __future__ import annotations

import pytest

from .judging import ask

SERVE = "vllm serve nvidia/Kimi-K2.6-NVFP4 --tensor-parallel-size 8 --trust-remote-code"
RAGGED = """--attention-config '{"mla_prefill_backend": "TRTLLM_RAGGED"}'"""


@pytest.mark.parametrize("more", ["", " --no-enable-prefix-caching"])
def test_what_keeps_the_engine_alive_stays(more: str) -> None:
    (judged,) = ask(f"{SERVE} {RAGGED}{more}\n", "8xB200", "0.25.1")
    assert judged.corrected
    assert any("TRTLLM_RAGGED" in word for word in judged.corrected[0].argv)
    (finding,) = [each for each in judged.findings if "exclamation marks" in each.message]
    assert finding.remedy.startswith("take 0.27.0 or later")
    assert "leads into another fault" in finding.remedy
    assert "FlashAttention 4" in finding.remedy


def test_it_is_made_where_no_other_fault_follows() -> None:
    (judged,) = ask(f"{SERVE} {RAGGED}\n", "8xB200", "0.26.0")
    assert judged.corrected
    assert not any("TRTLLM_RAGGED" in word for word in judged.corrected[0].argv)


def test_what_ends_the_engine_is_mended_all_the_same() -> None:
    (judged,) = ask(f"{SERVE} --no-enable-prefix-caching\n", "8xB200", "0.25.1")
    assert any("TRTLLM_RAGGED" in word for word in judged.corrected[0].argv)
