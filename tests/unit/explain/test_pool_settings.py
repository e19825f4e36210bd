"""What the two sides of SGLang compare when they meet."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Finding, Severity
from tests.unit.explain.judging import ask

SERVE = "python -m sglang.launch_server --model-path moonshotai/Kimi-K2.5 --trust-remote-code --tp-size 8"


def of_pair(prefill: str, decode: str, release: str = "0.5.23") -> list[Finding]:
    text = f"# SGLang {release} on 8x H200 each\n"
    text += f"{SERVE} --host 10.0.0.1 --port 30000 --disaggregation-mode prefill {prefill}\n"
    text += (
        f"{SERVE} --host 10.0.0.2 --port 30000 --disaggregation-mode decode --attention-backend flashinfer {decode}\n"
    )
    words = ("checksums of the cache", "takes no cache from a prefill side")
    return [each for one in ask(text) for each in one.findings if any(word in each.message for word in words)]


def test_checksums_on_one_side_alone() -> None:
    flag = "--disaggregation-enable-kv-checksum"
    (found,) = of_pair(flag, "")
    assert found.severity is Severity.WARNING
    assert "only the server for prefill" in found.message
    (other,) = of_pair("", flag)
    assert "only the server for decode" in other.message
    assert of_pair(flag, flag) == []


@pytest.mark.parametrize("prefill", ["--attn-cp-size 8", "--enable-kv-cache-sharding"])
def test_decode_context_takes_no_cache_that_is_cut_otherwise(prefill: str) -> None:
    (found,) = of_pair(prefill, "--dcp-size 8")
    assert found.severity is Severity.ERROR
    assert "on the prefill side" in found.remedy
    assert of_pair(prefill, "") == []
    assert of_pair("", "--dcp-size 8") == []


def test_of_a_release_that_was_not_read_it_is_a_warning() -> None:
    (found,) = of_pair("--attn-cp-size 8", "--dcp-size 8", "0.5.20")
    assert found.severity is Severity.WARNING
