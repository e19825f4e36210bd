"""Inputs as people paste them: terminals with answers, sentences around a command, slips of a script."""

from __future__ import annotations

import pytest

from .judging import ask

K2T = "moonshotai/Kimi-K2-Thinking"
SERVE = f"vllm serve {K2T} --tensor-parallel-size 8 --trust-remote-code"


def told(text: str) -> list[str]:
    return [f"{each.where}: {each.message}" for judged in ask(text) for each in judged.all_findings]


def test_a_lone_dollar_is_a_prompt() -> None:
    (judged,) = ask(f"$ {SERVE}\nINFO it loads\n")
    assert judged.corrected[0].argv[:2] == ("vllm", "serve") or "$" not in judged.corrected[0].argv


def test_prompts_of_powershell_go_on_with_two_arrows() -> None:
    text = "PS D:\\ai> .\\llama-server.exe `\n>>   -m D:\\gguf\\Kimi-K2-Instruct-UD-TQ1_0-00001-of-00005.gguf `\n"
    (judged,) = ask(text + ">>   -ngl 99 --n-cpu-moe 60 -c 8192\n")
    assert judged.checkpoint is not None
    assert "UD-TQ1_0" in judged.checkpoint.name
    assert not any("no such argument" in each for each in told(text))


def test_what_nvidia_smi_shows_is_read_by_no_shell() -> None:
    text = "ops@node:~$ nvidia-smi -L\nGPU 0: NVIDIA H20 (UUID: GPU-1)\nGPU 1: NVIDIA H20 (UUID: GPU-2)\n"
    from moonpad.explain.script import read_script

    assert not read_script(f"{text}ops@node:~$ {SERVE}\n").problems


@pytest.mark.parametrize(
    "asked",
    [
        'python3 -c "import vllm; print(vllm.__version__)"\n0.11.2\n',
        "vllm --version\n0.11.2\n",
        "pip show vllm\nName: vllm\nVersion: 0.11.2\nSummary: x\n",
        "python\n>>> vllm.__version__\n'0.11.2'\n",
    ],
)
def test_a_release_that_was_printed_counts(asked: str) -> None:
    (judged,) = ask(f"ops@node:~$ {asked}ops@node:~$ {SERVE}\n")
    assert judged.version == "0.11.2"


@pytest.mark.parametrize(
    "said",
    [
        "with the 0.11.2 release of vLLM",
        "this is version 0.11.2 of vLLM",
        "用的是 0.11.2 的 vllm",
        "vllm.__version__: 0.11.2",
    ],
)
def test_a_release_of_the_engine_counts(said: str) -> None:
    (judged,) = ask(f"# {said}\n{SERVE}\n")
    assert judged.version == "0.11.2"


@pytest.mark.parametrize("said", ["this is 0.11.2 of the vLLM fork", 'if vllm.__version__ == "0.11.2": patch()'])
def test_what_names_no_release_in_use(said: str) -> None:
    (judged,) = ask(f"# {said}\n{SERVE}\n")
    assert judged.version != "0.11.2"


@pytest.mark.parametrize("line", ["Setup: 0.5.4 sglang, 8x H200", "we are on 0.5.4 sglang here"])
def test_a_release_in_front_of_the_engine_counts(line: str) -> None:
    (judged,) = ask(f"# {line}\npython -m sglang.launch_server --model-path {K2T} --tp 8 --trust-remote-code\n")
    assert judged.version == "0.5.4"


def test_the_number_of_another_package_is_no_release() -> None:
    (judged,) = ask(f"# flashinfer 0.5.2 vllm 0.11.2\n{SERVE}\n")
    assert judged.version == "0.11.2"


def test_a_sentence_that_goes_on_is_no_argument() -> None:
    (judged,) = ask(f"hi, I'm stuck: we run {SERVE} --max-model-len 65536 and it dies after loading, why?\n")
    assert not [each for each in judged.all_findings if each.severity == "error"]
    assert judged.corrected[0].argv[-1] != "why?"
    assert "and" not in judged.corrected[0].argv


def test_brackets_in_a_sentence_are_no_subshell() -> None:
    from moonpad.explain.script import read_script

    text = f"Trying it on two boxes (96 GB each) with vLLM 0.15.1:\n\n{SERVE}\n"
    assert not read_script(text).problems
    small = f"pip install of vLLM 0.18.0 (rocm wheel) on bare metal\n\n$ {SERVE}\n"
    assert not read_script(small).problems


def test_a_bracket_in_a_command_is_told() -> None:
    from moonpad.explain.script import read_script

    for line in ("pip install vllm (rocm)", "echo waits for the server (a while) --now"):
        assert read_script(f"#!/bin/bash\n{line}\n{SERVE}\n").problems


def test_a_program_glued_to_a_variable_is_told_and_parted() -> None:
    from moonpad.explain.script import read_script

    text = f"NCCL_DEBUG=1python -m sglang.launch_server --model-path {K2T} --tp-size 8 --trust-remote-code\n"
    assert [each.code for each in read_script(text).problems] == ["missing-blank"]
    (judged,) = ask(text)
    (line,) = judged.corrected
    assert line.env["NCCL_DEBUG"] in ("1", "NCCL_DEBUG=1")


def test_workers_of_other_machines_are_no_illegal_layout() -> None:
    text = "# 4x DGX Spark\nllama-server -m Kimi-K2-Thinking-UD-TQ1_0-00001-of-00006.gguf -ngl 99 -c 8192"
    assert any("serves from one machine" in each for each in told(f"{text} --tensor-split 1,1,1\n"))
    assert not any("serves from one machine" in each for each in told(f"{text} --rpc a:1,b:1 --tensor-split 1,1,1\n"))


@pytest.mark.parametrize(("ram", "short"), [("128GB RAM", True), ("512GB RAM", False), ("1.15TB RAM", False)])
def test_host_memory_is_held_against_the_text(ram: str, *, short: bool) -> None:
    weights = "Kimi-K2-Instruct-UD-TQ1_0-00001-of-00005.gguf"
    text = f"# RTX 4090, {ram}\nllama-server -m {weights} -ngl 99 --n-cpu-moe 61 -c 8192\n"
    found = told(text)
    assert any("the text speaks of" in each for each in found) is short
    assert not any("is not known" in each for each in found)


@pytest.mark.parametrize("blocks", [("100000", True), ("1000", False)])
def test_more_blocks_than_a_device_holds(blocks: tuple[str, bool]) -> None:
    count, wrong = blocks
    found = told(f"# 8xH200\n{SERVE} --block-size 64 --num-gpu-blocks-override {count}\n")
    assert any("blocks of 64 tokens" in each for each in found) is wrong


def test_gguf_files_of_k25_have_a_size() -> None:
    (judged,) = ask("# RTX 5090\nllama-server -hf unsloth/Kimi-K2.5-GGUF:UD-Q2_K_XL -ngl 99 -ot exps=CPU -c 8192\n")
    assert judged.memory is not None


def test_what_a_sentence_says_in_front_of_its_command_is_no_part_of_it() -> None:
    (judged,) = ask("请教一下，单机8卡H20（141G），" + SERVE.replace("-tp 8", "-tp 16") + "，是哪里有问题？\n")
    assert [line.argv[:2] for line in judged.corrected] in ([], [("vllm", "serve")])
    assert judged.sources[0].prefix[0].text == "vllm"
