"""What a remedy names is taken by the model, the release and the engine that it is for."""

from __future__ import annotations

import re

import pytest

from tests.unit.explain.judging import ask_one

SGLANG = "python -m sglang.launch_server --model-path"
WIDTHS = {"DeepSeek-R1-Distill-Qwen-1.5B": (12, 8960), "Qwen2.5-7B-Instruct": (28, 18944)}
"""Attention heads and columns of the MLP, by the models' config.json."""


@pytest.mark.parametrize(("model", "tp"), [("DeepSeek-R1-Distill-Qwen-1.5B", 24), ("Qwen2.5-7B-Instruct", 16)])
def test_tensor_parallelism_that_is_offered_cuts_heads_and_columns(model: str, tp: int) -> None:
    judged = ask_one(f"{SGLANG} /m/{model} --tp-size {tp}", on="3x8xH200", version="0.5.9")
    (told,) = [each for each in judged.findings if "attention heads" in each.message]
    offered = re.search(r"write --tp-size (\d+)", told.remedy)
    assert offered is not None
    assert [width % int(offered[1]) for width in WIDTHS[model]] == [0, 0]
    assert int(offered[1]) > 1


@pytest.mark.parametrize(("nodes", "alone"), [(3, True), (2, False)])
def test_ranks_that_machines_do_not_share_out_stay_on_one(nodes: int, alone: bool) -> None:
    text = f"{SGLANG} /m/DeepSeek-R1-Distill-Qwen-1.5B --tp-size {nodes * 8} --nnodes {nodes} --node-rank 0"
    judged = ask_one(f"{text} --dist-init-addr 10.0.0.1:5000", on=f"{nodes}x8xH200", version="0.5.9")
    (told,) = [each for each in judged.findings if "attention heads" in each.message]
    assert ("without --nnodes" in told.remedy) is alone


@pytest.mark.parametrize(
    ("version", "listed"), [("0.8.5.post1", False), ("0.10.0", True)], ids=["before all that are known", "known"]
)
def test_choices_are_listed_of_the_release_itself(version: str, listed: bool) -> None:
    text = "vllm serve a/b --reasoning-parser kimi_k2"
    told = [each for each in ask_one(text, version=version).findings if 'does not take "kimi_k2"' in each.message]
    assert [("glm4_moe" in each.remedy, "0.11" in each.remedy) for each in told] == [(listed, True)]


@pytest.mark.parametrize(
    ("model", "parser", "refused"),
    [
        ("openai/gpt-oss-120b", "openai", False),
        ("mistralai/Mistral-Large-Instruct-2411", "mistral", False),
        ("moonshotai/Kimi-K2-Instruct", "kimi_k2", True),
    ],
)
def test_requests_with_tools_are_refused_of_models_without_their_own_way(
    model: str, parser: str, refused: bool
) -> None:
    judged = ask_one(f"vllm serve {model} -tp 8 --trust-remote-code --tool-call-parser {parser}", version="0.28.0")
    (told,) = [each for each in judged.findings if "alone does nothing" in each.message]
    assert ("are refused" in told.message) is refused
    assert told.remedy == "add --enable-auto-tool-choice"


MET = f"{SGLANG} deepseek-ai/DeepSeek-R1 --tp-size 16 --trust-remote-code --node-rank 0"


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("--num-nodes 2 --master-addr 10.0.0.1 --master-port 20000", "--nnodes 2 --dist-init-addr 10.0.0.1:20000"),
        ("--num-nodes=2 --master_port=20000 --master_addr=10.0.0.1", "--nnodes=2 --dist-init-addr 10.0.0.1:20000"),
        ("--nnodes 2 --dist-init-addr 10.0.0.1:20000 --master-port 9", "--nnodes 2 --dist-init-addr 10.0.0.1:20000"),
    ],
)
def test_machines_meet_by_the_options_of_the_engine(written: str, meant: str) -> None:
    judged = ask_one(f"{MET} {written}", on="2x8xH200", version="0.5.12")
    (line,) = judged.corrected
    assert line.argv[-len(meant.split()) :] == tuple(meant.split())


def test_machines_without_a_port_are_told_what_lacks() -> None:
    judged = ask_one(f"{MET} --nnodes 2 --master-addr 10.0.0.1", on="2x8xH200", version="0.5.12")
    (told,) = [each for each in judged.findings if each.where == "--master-addr"]
    assert told.remedy.startswith("write --dist-init-addr 10.0.0.1:PORT")


@pytest.mark.parametrize(
    ("value", "option"), [("chat_template_simple.jinja", "--chat-template-file"), ("exaone4", "--chat-template")]
)
def test_name_nearest_to_that_of_an_option_for_files(value: str, option: str) -> None:
    judged = ask_one(f"llama-server -m /m/Kimi-K2-Q4.gguf --jinja --chat-template-format {value}", on="1xH200")
    (told,) = [each for each in judged.findings if each.where == "--chat-template-format"]
    assert told.remedy == f"did you mean {option}?"


@pytest.mark.parametrize(
    ("experts", "option"), [("--enable-expert-parallel", "--data-parallel-size"), ("", "--tensor-parallel-size")]
)
def test_more_devices_for_experts_that_all_ranks_share(experts: str, option: str) -> None:
    judged = ask_one(f"vllm serve moonshotai/Kimi-K3 --trust-remote-code --tensor-parallel-size 4 {experts}", on="")
    (told,) = [each for each in judged.findings if "the largest device known holds" in each.message]
    assert re.match(rf"(?:add|write) {option} \d+ or more", told.remedy)


@pytest.mark.parametrize(("parser", "waits"), [("deepseek-v3", False), ("deepseek-r1", True)])
def test_parser_that_waits_for_no_thoughts(parser: str, waits: bool) -> None:
    judged = ask_one(f"{SGLANG} deepseek-ai/DeepSeek-V3-0324 --tp-size 8 --reasoning-parser {parser}", version="0.5.9")
    (told,) = [each for each in judged.findings if "does not think" in each.message]
    assert ("never come" in told.message) is waits
    assert told.remedy == "leave it out"


@pytest.mark.parametrize(
    ("start", "told"),
    [
        ("vllm serve moonshotai/Kimi-K2-Instruct -tp 16 --reasoning-parser kimi_k2", True),
        ("vllm serve moonshotai/Kimi-K2-Instruct-0905 -tp 16 --reasoning-parser deepseek_r1", True),
        ("vllm serve nvidia/Kimi-K2-Instruct-NVFP4 -tp 8 --reasoning-parser kimi_k2", True),
        (f"{SGLANG} moonshotai/Kimi-K2-Instruct --tp-size 16 --reasoning-parser kimi_k2", True),
        ("vllm serve moonshotai/Kimi-K2-Thinking -tp 8 --reasoning-parser kimi_k2", False),
        ("vllm serve moonshotai/Kimi-K2.5 -tp 8 --reasoning-parser kimi_k2", False),
        ("vllm serve someone/Kimi-K2-Instruct-Reasoner -tp 16 --reasoning-parser kimi_k2", False),
        ("vllm serve moonshotai/Kimi-K2-Instruct -tp 16", False),
    ],
)
def test_parser_of_reasoning_for_an_instruct_model(start: str, told: bool) -> None:
    judged = ask_one(start, on="")
    found = [each for each in judged.findings if "does not think" in each.message]
    assert [each.where for each in found] == ["--reasoning-parser"] * told
    assert all("empty content" in each.message and each.severity == "warning" for each in found)


@pytest.mark.parametrize(
    "model",
    [
        "Qwen/Qwen3-235B-A22B-Instruct-2507",
        "Qwen/Qwen3-30B-A3B-Instruct-2507-FP8",
        "Qwen/Qwen3-4B-Instruct-2507",
        "/models/Qwen3-Coder-480B-A35B-Instruct",
        "Qwen/Qwen3-Next-80B-A3B-Instruct",
        "Qwen/Qwen3-VL-235B-A22B-Instruct",
    ],
)
def test_parser_that_begins_in_thought_for_models_of_others_that_do_not_think(model: str) -> None:
    judged = ask_one(f"vllm serve {model} -tp 8 --reasoning-parser qwen3 --port 8000", on="")
    (told,) = [each for each in judged.findings if "does not think" in each.message]
    assert "empty content" in told.message
    assert judged.corrected is None or "--reasoning-parser" not in str(judged.corrected)


@pytest.mark.parametrize(
    ("start", "version", "told"),
    [
        ("vllm serve Qwen/Qwen3-Coder-30B-A3B-Instruct --reasoning-parser qwen3", "0.11.0", "has no effect"),
        ("vllm serve Qwen/Qwen3-Coder-30B-A3B-Instruct --reasoning-parser qwen3", "0.17.0", "empty content"),
        (f"{SGLANG} Qwen/Qwen3-Coder-30B-A3B-Instruct --reasoning-parser qwen3", "0.5.9", "has no effect"),
        (f"{SGLANG} Qwen/Qwen3-Coder-30B-A3B-Instruct --reasoning-parser qwen3-thinking", "0.5.9", "empty content"),
        ("vllm serve Qwen/Qwen3-235B-A22B --reasoning-parser qwen3", "0.32.0", ""),
        ("vllm serve Qwen/Qwen3-235B-A22B-Thinking-2507 --reasoning-parser qwen3", "0.32.0", ""),
        ("vllm serve me/Qwen3-4B-Instruct-2507-Reasoner --reasoning-parser qwen3", "0.32.0", ""),
    ],
)
def test_what_such_a_parser_does_by_engine_and_release(start: str, version: str, told: str) -> None:
    judged = ask_one(start, on="", version=version)
    found = [each for each in judged.findings if "does not think" in each.message]
    assert [told in each.message for each in found] == [True] * bool(told)
