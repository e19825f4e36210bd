"""Settings that do not arrive: colons for blanks, variables in the place of options, files for folders."""

from __future__ import annotations

import pytest

from moonpad.explain.judge import judge
from moonpad.explain.script import read_script
from moonpad.explain.target_detection import Question
from moonpad.values.finding import Finding, Severity

K2 = "vllm serve moonshotai/Kimi-K2-Thinking -tp 8 --trust-remote-code"
CHAT = "python -m ktransformers.local_chat"


def found(text: str, words: str) -> list[Finding]:
    findings = [finding for each in judge(read_script(text), Question()) for finding in each.findings]
    return [finding for finding in findings if words in f"{finding.where} {finding.message} {finding.remedy}"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"{CHAT} --model_path /m --gguf_path /g --cpu_infer:33", "write --cpu_infer 33"),
        (f"{CHAT} --model_path /m --gguf_path /g --max_new_tokens\uff1a512", "write --max_new_tokens 512"),
        (f"export VLLM_TENSOR_PARALLEL_SIZE=8\n{K2}", "-tensor-parallel-size is given"),
        (f"VLLM_MAX_NUM_SEQS=64 {K2}", "write --max-num-seqs in the command"),
        (f"{CHAT} --model_path /m/R1-Q4_K_M-00001.gguf --gguf_path /m", "is a file of weights"),
        (f"{K2} --quantization gptq".replace("moonshotai", "/models"), "unless these are GPTQ weights"),
    ],
)
def test_it_does_not_arrive(text: str, words: str) -> None:
    assert [finding.severity for finding in found(text, words)] == [Severity.WARNING]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"{CHAT} --model_path /m --gguf_path /g --cpu_infer 33", "a colon stands"),
        (f"{K2} --host ::1 --served-model-name k2:latest", "a colon stands"),
        (f"VLLM_USE_V1=1 VLLM_PORT=8000 VLLM_API_KEY=k VLLM_LOGGING_LEVEL=INFO {K2}", "reads no variable"),
        (f"export VLLM_MAX_MODEL_LEN=4096\n{K2} --max-model-len $VLLM_MAX_MODEL_LEN", "reads no variable"),
        (f"VLLM_OF_MY_PLUGIN=1 {K2}", "reads no variable"),
        (f"{CHAT} --model_path /m/DeepSeek-R1 --gguf_path /m/R1-Q4_K_M.gguf", "is a file of weights"),
        ("llama-server -m /m/R1-Q4_K_M.gguf", "is a file of weights"),
        ("vllm serve /models/Kimi-K2-Thinking-AWQ -tp 8 --quantization awq", "refuses another method"),
        ("vllm serve /models/Kimi-K2-Thinking-mine -tp 8 --quantization awq", "refuses another method"),
        (f"{K2} --quantization compressed-tensors".replace("moonshotai", "/models"), "refuses another method"),
    ],
)
def test_it_arrives_or_is_not_known(text: str, words: str) -> None:
    assert found(text, words) == []


@pytest.mark.parametrize(("release", "severity"), [("# vLLM 0.32.0\n", Severity.ERROR), ("", Severity.WARNING)])
def test_a_colon_is_said_once(release: str, severity: Severity) -> None:
    (only,) = found(f"{release}{K2} --max-model-len:131072", "--max-model-len:131072")
    assert only.severity is severity


@pytest.mark.parametrize("line", ['os.environ["OMP_NUM_THREADS"] = 8', "os.environ.setdefault('A', True)  # all"])
def test_a_number_is_no_variable(line: str) -> None:
    text = f"import os\n\nfrom vllm import LLM\n\n{line}\nLLM(model='moonshotai/Kimi-K2-Thinking')\n"
    assert [finding.severity for finding in found(text, "with a TypeError")] == [Severity.ERROR]


@pytest.mark.parametrize(
    "line",
    ['os.environ["A"] = "8"', 'os.environ["A"] = str(8)', 'os.environ["A"] == 8', 'n = 8; os.environ["A"] = f"{n}"'],
)
def test_a_string_is_one(line: str) -> None:
    text = f"import os\n\nfrom vllm import LLM\n\n{line}\nLLM(model='moonshotai/Kimi-K2-Thinking')\n"
    assert found(text, "with a TypeError") == []
