"""What ends the start of the release that a command is judged by: it comes first, and Corrected keeps nothing of it."""

from __future__ import annotations

import pytest

from moonpad.report.explain_verdict import verdict
from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask, ask_one

SGLANG = "python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2-Thinking --tp 8 --trust-remote-code"
NODES = "vllm serve moonshotai/Kimi-K2-Instruct --data-parallel-size 16 --data-parallel-size-local 8 \
--data-parallel-address 192.0.2.1 --data-parallel-rpc-port 13345 --enable-expert-parallel --trust-remote-code"
POOL = "python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2-Instruct --tp 16 --nnodes 2 --node-rank 0 \
--dist-init-addr 192.0.2.1:5000 --trust-remote-code"


def words(text: str, on: str = "8xH200") -> list[str]:
    return [" ".join(line.argv) for each in ask(text, on) for line in each.corrected]


def test_two_options_that_exclude_each_other_are_not_corrected_to_themselves() -> None:
    judged = ask_one(f"{SGLANG} --enable-hierarchical-cache --disable-radix-cache")
    assert judged.corrected == ()
    assert verdict(judged)[0].startswith("Does not start with sglang")


def test_what_can_be_left_out_is_left_out() -> None:
    text = f"{NODES} --data-parallel-start-rank 8 --headless --api-server-count 4"
    (line,) = words(text, "2x8xH200")
    assert "--api-server-count" not in line
    assert "--headless" in line


def test_a_named_release_that_takes_it_is_as_before() -> None:
    judged = ask_one(f"{SGLANG} --enable-hierarchical-cache", version="0.5.6")
    assert verdict(judged)[0].startswith("Fits")


def test_a_release_before_the_model_is_not_corrected() -> None:
    text = "vllm serve moonshotai/Kimi-K2.5 -tp 8 --trust-remote-code  # vllm==0.13.0"
    (judged,) = ask(text)
    assert judged.cluster is None
    assert judged.corrected == ()


def test_another_method_than_that_of_the_weights() -> None:
    text = "python3 -m sglang.launch_server --tp 4 --trust-remote-code --quantization modelopt_fp4 --model-path "
    judged = ask_one(f"{text}cyankiwi/Kimi-Linear-48B-A3B-Instruct-AWQ-4bit", "4xB200")
    assert any(each.severity is Severity.ERROR and each.where == "--quantization" for each in judged.findings)
    assert "modelopt_fp4" not in " ".join(judged.corrected[0].argv)


def test_keys_that_the_plugin_does_not_read() -> None:
    options = '{"torchair_graph_config": {"enabled": true}, "ascend_scheduler_config": {"enabled": true}, "x": 1}'
    text = f"vllm serve /w/Kimi-K2-W8A8 -tp 16 --quantization ascend --additional-config '{options}'"
    (judged,) = ask(f"# vllm-ascend 0.13.0, 16 x 910C\n{text}")
    assert judged.engine == "vllm-ascend"
    assert "_config" not in " ".join(judged.corrected[0].argv)


def test_two_keys_that_a_release_lacks() -> None:
    options = '{"kv_connector":"NixlConnector","kv_role":"kv_both","kv_buffer_size":1,"kv_connector_module_paths":""}'
    text = f"vllm serve moonshotai/Kimi-K2-Thinking -tp 8 --trust-remote-code --kv-transfer-config '{options}'"
    judged = ask_one(text, version="0.33.0")
    gone = [each for each in judged.findings if "has no key" in each.message]
    assert gone
    assert judged.corrected
    assert "kv_buffer_size" not in " ".join(judged.corrected[0].argv)


def test_a_rank_that_two_machines_start_gets_its_number() -> None:
    first, second = words(f"{NODES}\n{NODES} --data-parallel-start-rank 4 --headless", "2x8xH200")
    assert "--data-parallel-start-rank" not in first
    assert "--data-parallel-start-rank 8" in second


def test_a_variable_that_became_an_option_keeps_its_value() -> None:
    text = f"# vLLM 0.33.0\nVLLM_ALL2ALL_BACKEND=deepep_low_latency {NODES}\n"
    text += f"VLLM_ALL2ALL_BACKEND=deepep_low_latency {NODES} --data-parallel-start-rank 8 --headless"
    lines = words(text, "2x8xH200")
    assert len(lines) == 2
    assert all("--all2all-backend deepep_low_latency" in line for line in lines)


def test_a_value_that_the_option_does_not_take_is_not_written() -> None:
    (line,) = words(f"VLLM_ALL2ALL_BACKEND=mine {NODES} --data-parallel-start-rank 8 --headless", "2x8xH200")
    assert "--all2all-backend" not in line


@pytest.mark.parametrize(("option", "kept"), [("mooncake", "mooncake"), ("nixl", "mooncake")])
def test_decode_gets_the_transfer_of_prefill(option: str, kept: str) -> None:
    text = f"{POOL} --disaggregation-mode prefill --disaggregation-transfer-backend mooncake --host 192.0.2.1\n"
    text += f"{POOL.replace('192.0.2.1', '192.0.2.3')} --disaggregation-mode decode --host 192.0.2.3 "
    text += f"--disaggregation-transfer-backend {option}"
    decode = words(text, "2x8xH200")[-1]
    assert f"--disaggregation-transfer-backend {kept}" in decode


def test_what_no_word_mends_between_two_pools_leaves_no_corrected() -> None:
    text = f"{POOL} --disaggregation-mode prefill --kv-cache-dtype fp8_e4m3 --host 192.0.2.1\n"
    text += f"{POOL.replace('192.0.2.1', '192.0.2.3')} --disaggregation-mode decode --host 192.0.2.3"
    prefill, decode = ask(text, "2x8xH200")
    assert any(each.severity is Severity.ERROR for each in decode.findings)
    assert prefill.corrected
    assert decode.corrected == ()
