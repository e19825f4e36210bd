"""KTransformers of 2025: its chat and its server, and what llama.cpp's fork reads."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity

from .judging import ask, refused

OPTIONS = "--model_path deepseek-ai/DeepSeek-R1 --gguf_path /m/R1-GGUF --cpu_infer 65"


@pytest.mark.parametrize(
    "start",
    [
        "python -m ktransformers.local_chat",
        "python ktransformers/local_chat.py",
        "python3 ./local_chat.py",
        "USE_NUMA=1 python -m ktransformers.local_chat",
        "python3 ktransformers/server/main.py",
        "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True python server/main.py",
        "ktransformers",
    ],
)
def test_its_programs(start: str) -> None:
    texts = [f"{start} {OPTIONS}\n", f"```\n{start} {OPTIONS}\n```\n"]
    if "ktransformers" in start and "python" in start:
        texts.append(f"It stops:\n`{start} {OPTIONS}`\n")
    for text in texts:
        (judged,) = ask(text)
        assert judged.engine == "ktransformers"
        assert "DeepSeek-R1" in judged.model_written
        assert any("archived" in finding.message for finding in judged.findings)
        assert not refused(judged)


@pytest.mark.parametrize("start", ["python local_chat.py", "python server/main.py"])
def test_programs_of_others_with_such_names(start: str) -> None:
    assert not ask(f"{start} --model foo --max-len 3\n")


@pytest.mark.parametrize("option", ["--cache_lens 32768", "--total_context 32768"])
def test_the_context(option: str) -> None:
    (judged,) = ask(f"python ktransformers/server/main.py {OPTIONS} {option}\n")
    assert judged.settings is not None
    assert judged.settings.max_model_len == 32768


def test_a_chat_gets_no_advice_for_servers() -> None:
    (judged,) = ask(f"python -m ktransformers.local_chat {OPTIONS} --force_think true --max_new_tokens 1000\n")
    assert not judged.corrected
    assert "--tool-call-parser" not in {finding.where for finding in judged.findings}


def test_the_name_of_a_wheel_is_a_version() -> None:
    wheel = "pip install ~/ktransformers-0.3.0rc0+cu126torch26fancy-cp311-cp311-linux_x86_64.whl\n"
    (judged,) = ask(f"{wheel}python -m ktransformers.local_chat {OPTIONS}\n")
    assert judged.version == "0.3.0rc0"
    (judged,) = ask(
        "uv pip install https://wheels/vllm-0.11.1-cp38-abi3-manylinux1_x86_64.whl\n"
        "vllm serve moonshotai/Kimi-K2-Thinking -tp 8\n"
    )
    assert judged.version == "0.11.1"


GGUF = "-m /m/Kimi-K2-Q4.gguf -c 8192 -ngl 99"


@pytest.mark.parametrize(
    "text",
    [
        f"./llama-server {GGUF} -mla 3 -fmoe -amb 512 -rtr\n",
        f"~/ik_llama.cpp/build/bin/llama-server {GGUF} --split-mode graph -fa\n",
        f"# built from ikawrakow/ik_llama.cpp\nllama-server {GGUF} -ger -ctk q8_KV\n",
    ],
)
def test_what_the_fork_reads_is_no_error(text: str) -> None:
    (judged,) = ask(text)
    assert not [finding for finding in judged.findings if finding.severity is not Severity.NOTE]
    assert any("ik_llama.cpp" in finding.message for finding in judged.findings)


def test_without_the_fork_a_slip_is_named() -> None:
    (judged,) = ask(f"llama-server {GGUF} --split-mode graph\n")
    assert refused(judged)


def test_a_package_that_cannot_be_run_is_told() -> None:
    (judged,) = ask("python -m ktransformers.server --config /etc/kt.yaml --port 8000 --workers 1\n")
    told = {finding.where: finding.message for finding in judged.findings}
    assert "no module of that name to start" in told["ktransformers.server"]
    assert "has no --config" in told["--config"]
    assert "has no --workers" in told["--workers"]
    assert judged.model_written == ""
    (right,) = ask("python -m ktransformers.server.main --model_path /m --gguf_path /g-GGUF --port 8000\n")
    assert not [finding for finding in right.findings if "no module" in finding.message]


@pytest.mark.parametrize(("host", "expected"), [("", "0.0.0.0"), (" --host 127.0.0.1", "127.0.0.1")])
def test_its_successor_listens_where_it_did(host: str, expected: str) -> None:
    (judged,) = ask(f"python ktransformers/server/main.py {OPTIONS} --port 10002{host}\n")
    (line,) = judged.corrected
    assert line.argv[line.argv.index("--host") + 1] == expected
