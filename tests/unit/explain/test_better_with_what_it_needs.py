"""A better setting that a report speaks against comes with what the report asks for beside it, or not at all."""

import json

from tests.unit.explain.judging import ask_one

K3 = (
    "vllm serve moonshotai/Kimi-K3 --tensor-parallel-size 8 --trust-remote-code"
    " --enable-auto-tool-choice --tool-call-parser kimi_k3 --reasoning-parser kimi_k3"
)
QUERY = "--attention-config"


def with_fp8(command: str, on: str, version: str = "0.33.0") -> list[tuple[str, ...]]:
    judged = ask_one(command, on=on, version=version)
    return [line.argv for each in judged.better for line in each.lines if "--kv-cache-dtype" in line.argv]


def test_fp8_cache_of_k3_comes_with_the_query_that_its_prefill_asserts() -> None:
    lines = with_fp8(K3, "8xB300")
    assert lines
    for argv in lines:
        keys = json.loads(argv[argv.index(QUERY) + 1])
        assert keys["use_prefill_query_quantization"] is True
        assert "mla_prefill_backend" in keys


def test_devices_that_the_report_is_not_about_get_the_cache_alone() -> None:
    lines = with_fp8(K3, "8xMI355X")
    assert lines
    assert not any(QUERY in argv for argv in lines)


def test_no_fp8_cache_is_proposed_where_its_remedy_would_change_what_is_written() -> None:
    written = f"{K3} {QUERY} '{{\"use_prefill_query_quantization\": false}}'"
    assert not with_fp8(written, "8xB300")


def test_other_models_get_it_without() -> None:
    lines = with_fp8(K3.replace("Kimi-K3", "Kimi-K2.5").replace("kimi_k3", "kimi_k2"), "8xB300")
    assert lines
    assert not any(QUERY in argv for argv in lines)


def test_without_a_release_what_the_newest_has_mended_is_not_told_of() -> None:
    """Kimi-K3 has decode context parallelism since vLLM 0.28.0, and the newest release judges."""
    judged = ask_one(K3, on="8xB300", version="")
    dealt = [each for each in judged.better if "--decode-context-parallel-size" in each.lines[0].argv]
    assert dealt
    assert not any("0.28.0" in finding.message for each in dealt for finding in each.but)
