"""Ports of two servers on one machine, limits of the exchange of tokens, and contexts that the model does not reach."""

from __future__ import annotations

from moonpad.explain.script import read_script
from moonpad.report.explain_verdict import verdict
from moonpad.values.finding import Code, Severity
from tests.unit.explain.judging import ask, ask_one

SERVE = "vllm serve moonshotai/Kimi-K2-Thinking -tp 8 --trust-remote-code --max-model-len 32768"
PAIR = """CUDA_VISIBLE_DEVICES=0,1,2,3,4,5,6,7 {serve} --port 9001 --kv-transfer-config '{{
"kv_connector":"P2pNcclConnector","kv_role":"kv_producer","kv_port":"{first}"}}' &
CUDA_VISIBLE_DEVICES=8,9,10,11,12,13,14,15 {serve} --port 9002 --kv-transfer-config '{{
"kv_connector":"P2pNcclConnector","kv_role":"kv_consumer","kv_port":"{second}"}}' &
"""
SGLANG = (
    "python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2-Instruct --tp 16 --dp 16 --enable-dp-attention \
--ep-size 16 --moe-a2a-backend deepep --nnodes 2 --node-rank 0 --dist-init-addr 192.0.2.1:5000 --trust-remote-code"
)
TOKENS = "SGLANG_DEEPEP_NUM_MAX_DISPATCH_TOKENS_PER_RANK"


def test_one_port_of_ranks_for_two_servers() -> None:
    found = [each for one in ask(PAIR.format(serve=SERVE, first=21001, second=21001)) for each in one.findings]
    assert [each.where for each in found if "address already in use" in each.message] == ["kv_port"]
    found = [each for one in ask(PAIR.format(serve=SERVE, first=21001, second=22001)) for each in one.findings]
    assert not [each for each in found if each.where == "kv_port"]


def test_tokens_that_a_rank_sends_at_once() -> None:
    judged = ask_one(f"{TOKENS}=4096 {SGLANG} --deepep-mode low_latency", "2x8xH200", "0.5.9")
    (finding,) = [each for each in judged.findings if each.where == TOKENS]
    assert finding.severity is Severity.ERROR
    for text in (f"{TOKENS}=1024 {SGLANG}", f"{TOKENS}=4096 {SGLANG} --deepep-mode normal"):
        assert not [each for each in ask_one(text, "2x8xH200", "0.5.9").findings if each.where == TOKENS]


def test_a_context_that_the_model_does_not_reach_and_the_memory_holds() -> None:
    text = "vllm serve moonshotai/Kimi-K2-Instruct -tp 8 --trust-remote-code --max-model-len 262144"
    judged = ask_one(text, "8xB200", "0.20.0")
    assert verdict(judged)[0].startswith("Error: --max-model-len")
    assert Code.DOES_NOT_FIT not in {each.code for each in judged.findings}
    assert verdict(ask_one(text, "8xH200", "0.20.0"))[0].startswith("Does not fit")


def test_a_connector_under_its_former_name() -> None:
    transfer = '{"kv_connector":"LMCacheConnector","kv_role":"kv_both"}'
    judged = ask_one(f"{SERVE} --kv-transfer-config '{transfer}'", version="0.12.0")
    assert '"kv_connector":"LMCacheConnectorV1"' in " ".join(judged.corrected[0].argv)


def test_caches_in_ram_that_the_text_tells() -> None:
    text = "python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2-Thinking --tp 8 --trust-remote-code"
    judged = ask_one(f"# 512 GB RAM\n{text} --enable-hierarchical-cache --hicache-size 100 --context-length 65536")
    (finding,) = [each for each in judged.findings if each.where == "host memory"]
    assert finding.severity is Severity.WARNING
    assert "the text speaks of 512 GB" in finding.message


def test_devices_of_a_job_are_told_once() -> None:
    text = f"#!/bin/bash\n#SBATCH --nodes=1\n#SBATCH --gpus-per-node=4\n#SBATCH --constraint=h200\n{SERVE}\n"
    (judged,) = ask(text)
    assert len([each for each in judged.findings if "4 devices" in each.message]) == 1


def test_a_sentence_in_chinese_is_not_read_by_a_shell() -> None:
    assert not read_script(f"两台机器(每台 8 张 H200),想这样部署:\n\n{SERVE}\n").problems


def test_serve_behind_an_entrypoint_is_left_out() -> None:
    text = """services:
  one:
    image: vllm/vllm-openai:v0.20.0
    command: [serve, moonshotai/Kimi-K2-Thinking, --tensor-parallel-size=8, --trust-remote-code,
              --max-model-len, "65536"]
"""
    (judged,) = ask(text)
    assert judged.corrected[0].argv[0] == "moonshotai/Kimi-K2-Thinking"
