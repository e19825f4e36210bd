"""A better setting that a report speaks against comes with what the report asks for beside it, or not at all."""

import json

import pytest

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


DRAFT = """ --speculative-config '{"method": "eagle3", "model": "lightseekorg/kimi-k2.5-eagle3-mla", \
"num_speculative_tokens": 3}'"""
K25 = (
    "vllm serve moonshotai/Kimi-K2.5 --tensor-parallel-size 8 --trust-remote-code --enable-auto-tool-choice"
    " --tool-call-parser kimi_k2 --reasoning-parser kimi_k2"
)


@pytest.mark.parametrize(
    ("on", "draft", "first"),
    [("8xB200", DRAFT, "0.29.0"), ("8xB300", DRAFT, "0.29.0"), ("8xB200", "", "0.25.0")],
)
def test_decode_context_parallelism_from_the_release_that_has_it_beside_a_draft(
    on: str, draft: str, first: str
) -> None:
    """FlashInfer's mask for several tokens of a request over ranks came by vllm-project/vllm#54012, after 0.28.0."""
    judged = ask_one(K25 + draft, on=on, version="")
    dealt = [each.why for each in judged.better if ("dcp", "8") in each.changes]
    assert dealt
    assert all(f"from vLLM {first} on" in why for why in dealt)


@pytest.mark.parametrize(("version", "offered"), [("0.27.0", False), ("0.28.0", False), ("0.29.0", True)])
def test_no_decode_context_parallelism_beside_a_draft_in_a_release_without_both(version: str, offered: bool) -> None:
    judged = ask_one(K25 + DRAFT, on="8xB200", version=version)
    assert any(("dcp", "8") in each.changes for each in judged.better) is offered


ASCEND = (
    "# vllm-ascend 0.19.1rc1 on 16x A3\nvllm serve Eco-Tech/Kimi-K2.6-W4A8 --quantization ascend --trust-remote-code"
    " --enable-expert-parallel --tensor-parallel-size 4 --data-parallel-size 4 --max-model-len 133120"
    " --max-num-batched-tokens 16384 --max-num-seqs 1 --gpu-memory-utilization 0.92 --enforce-eager"
)
HANDS_ON = """ --kv-transfer-config '{"kv_connector": "MooncakeConnectorV1", "kv_role": "kv_producer",
 "kv_port": "46000",
 "engine_id": "0", "kv_connector_extra_config": {"prefill": {"dp_size": 4, "tp_size": 4},
 "decode": {"dp_size": 8, "tp_size": 4}}}'"""


@pytest.mark.parametrize(("connector", "needed"), [(HANDS_ON, True), ("", False)])
def test_a_cache_that_is_handed_on_is_divided_by_whole_blocks(connector: str, needed: bool) -> None:
    """vllm_ascend/platform.py raises where cp_kv_cache_interleave_size is not the size of a block, 128 by default."""
    judged = ask_one(ASCEND + connector, on="16xA3", version="")
    dealt = [each for each in judged.better if any(name == "dcp" for name, _ in each.changes)]
    assert dealt
    for each in dealt:
        argv = each.lines[0].argv
        assert ("--cp-kv-cache-interleave-size" in argv) is needed
        assert not needed or argv[argv.index("--cp-kv-cache-interleave-size") + 1] == "128"
    remedies = [each.remedy for each in judged.findings if "decode context parallelism" in each.remedy]
    assert all(("--cp-kv-cache-interleave-size 128" in each) is needed for each in remedies)


@pytest.mark.parametrize("written", ["version:0.7.2", "version: 0.7.2", "Version：0.7.2"])
def test_a_release_without_options_is_not_offered_them(written: str) -> None:
    text = f"env: 16*H800\nmodel: DeepSeek-R1\n{written}\n\nvllm serve deepseek-ai/DeepSeek-R1 -tp 8 -pp 2\n"
    judged = ask_one(text, version="")
    assert judged.version == "0.7.2"
    assert not any("--decode-context-parallel-size" in line.argv for each in judged.better for line in each.lines)
