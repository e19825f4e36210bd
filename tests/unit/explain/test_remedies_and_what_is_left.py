"""Remedies that do not contradict each other, and what a corrected command leaves is said of it."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_script
from moonpad.report.explain_view import explain_view
from tests.unit.explain.judging import ask

GLM = (
    "vllm serve /w/GLM-5.2-w8a8 \\\n  --tensor-parallel-size 16 \\\n  --quantization ascend \\\n"
    "  {}--speculative-config '{}'\n"
)
MTP = '{"method":"deepseek_mtp","num_speculative_tokens":3}'
LARGE = (
    "On 4x8xRTX4090. {}\n\n```sh\nvllm serve deepseek-ai/DeepSeek-V3 --trust-remote-code "
    "--gpu-memory-utilization 0.98 --max-model-len 128 --tensor-parallel-size 8 --pipeline-parallel-size 4 "
    "--enforce-eager\n```\n"
)


def view(text: str, on: str = "", version: str = "") -> str:
    return " ".join(explain_view(ask(text, on, version), read_script(text), 2_000).plain.split())


def test_a_key_that_a_remedy_names_with_its_option_is_written() -> None:
    (judged,) = ask(GLM.format("", MTP), "16xA3", "0.21.0rc1")
    (line,) = judged.corrected
    assert line.argv[-1] == '{"method": "deepseek_mtp", "num_speculative_tokens": 3, "enforce_eager": true}'


def test_no_other_object_gets_the_key() -> None:
    graphs = '--compilation-config \'{"cudagraph_mode":"FULL_DECODE_ONLY"}\' '
    (judged,) = ask(GLM.format(graphs, MTP), "16xA3", "0.21.0rc1")
    (line,) = judged.corrected
    words = [word for word in line.argv if "cudagraph_mode" in word]
    assert words
    assert not any("enforce_eager" in word for word in words)


def test_memory_that_a_corrected_command_still_lacks_is_said_of_it() -> None:
    shown = view(LARGE.format(""))
    assert "Corrected" in shown
    assert "Not mended in it: --gpu-memory-utilization, see above" in shown


@pytest.mark.parametrize("stated", ["24GB 4090", "24G RTX 4090", "RTX4090 (24GB)", "24 GB GeForce RTX 4090"])
def test_cards_of_a_stated_size_are_not_taken_for_larger_ones(stated: str) -> None:
    assert "48G" not in view(LARGE.format(f"The cards: {stated}."))


@pytest.mark.parametrize("stated", ["RTX 4090", "48GB 4090", "4090, 512GB of RAM"])
def test_cards_of_no_or_another_size_may_be_the_larger_ones(stated: str) -> None:
    assert "4x8xRTX4090-48G" in view(LARGE.format(f"The cards: {stated}."))


def test_a_smaller_share_is_no_remedy_where_the_weights_fill_it() -> None:
    (judged,) = ask(LARGE.format("The cards: 24GB 4090."))
    remedies = [each.remedy for each in judged.findings if each.where == "--gpu-memory-utilization"]
    assert len(remedies) == 2
    assert not any("utilization" in remedy and "or less" in remedy for remedy in remedies)


def test_a_smaller_share_is_a_remedy_where_the_weights_leave_room() -> None:
    command = (
        "vllm serve moonshotai/Kimi-K2.5 --trust-remote-code --tensor-parallel-size 8 --gpu-memory-utilization 0.99"
    )
    (judged,) = ask(f"{command} --max-model-len 4096", "8xH200")
    remedies = [each.remedy for each in judged.findings if each.where == "--gpu-memory-utilization"]
    assert any("or less" in remedy for remedy in remedies)


CHAT = "python -m ktransformers.local_chat --model_path /m/DeepSeek-V3 --gguf_path /m/Q4 --optimize_config_path {}"
SERVER = CHAT.replace("local_chat", "server.main")


def test_the_chat_is_not_told_to_take_an_option_of_the_server() -> None:
    (judged,) = ask(CHAT.format("rules/DeepSeek-V3-Chat-serve.yaml"), "1xRTX4090", "0.3.1")
    told = [each for each in judged.findings if "backend_type" in each.remedy]
    assert [each.remedy.partition(",")[0] for each in told] == ["take the file without -serve"]


def test_the_server_is_told_of_its_option() -> None:
    (judged,) = ask(SERVER.format("rules/DeepSeek-V3-Chat-serve.yaml"), "1xRTX4090", "0.3.1")
    assert "add --backend_type balance_serve" in [each.remedy for each in judged.findings]
