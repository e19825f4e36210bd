"""Slips in the commands of guides: settings in a block of their own, words left over, a dollar before a placeholder."""

from __future__ import annotations

from moonpad.explain.judge import judge
from moonpad.explain.script import read_files
from moonpad.explain.target_detection import Question
from moonpad.values.finding import Severity

SERVE = "vllm serve Qwen/Qwen2.5-0.5B-Instruct"


def said(text: str, words: str, name: str = "run.sh") -> list[tuple[Severity, str]]:
    found = [finding for each in judge(read_files([(name, text)]), Question()) for finding in each.findings]
    return [(finding.severity, finding.message) for finding in found if words in finding.message]


def test_a_blank_before_the_sign_in_another_block() -> None:
    settings = "```bash\nexport HCCL_DETERMINISTIC = 1\n```\n"
    guide = f"# Guide\n\n```bash\n{SERVE}\n```\n\n{settings}"
    assert len(said(guide, "a blank before the sign", "guide.md")) == 1
    assert len(said(f"{settings}\n```bash\n{SERVE}\n```\n", "a blank before the sign", "guide.md")) == 1
    assert not said(guide.replace(" = ", "="), "a blank before", "guide.md")
    assert not said(guide.replace("```bash\nexport", "```make\nexport"), "a blank before", "guide.md")


def test_a_word_behind_a_value_beside_an_unknown_option() -> None:
    command = "docker run --gpus all vllm/vllm-openai:v0.10.0 --model a/b 0.7 --port 8000 --own-option x"
    ((severity, _),) = said(command, "takes no such argument")
    assert severity is Severity.WARNING
    assert not said(command.replace("b 0.7", "b").replace("option x", "option x y"), "takes no such argument")
    ((severity, _),) = said(command.replace(" --own-option x", ""), "takes no such argument")
    assert severity is Severity.ERROR


def test_a_placeholder_of_many_words() -> None:
    folder = "<Hugging face cache dir on your local machine>"
    command = f"docker run --gpus all -v {folder}:/root -p 8000:8000 vllm/vllm-openai:v0.10.0 --model a/b 0.7"
    assert len(said(command, "takes no such argument")) == 1
    assert not said(command, "8000:8000")


def test_a_dollar_before_a_placeholder() -> None:
    def problems(text: str) -> list[str]:
        return [problem.message for problem in read_files([("run.sh", text)]).problems]

    (message,) = problems(f"{SERVE} -tp $<TP_SIZE> --dtype bfloat16")
    assert message == "a $ stands before <TP_SIZE>: with 8 in its place the shell reads $8, which is empty"
    assert not problems(f"{SERVE} -tp <TP_SIZE> --dtype bfloat16")
    assert not problems(f'{SERVE} -tp "$<TP_SIZE>" --dtype bfloat16')


def test_options_of_the_other_server() -> None:
    command = "python -m vllm.entrypoints.api_server --model meta-llama/Llama-2-7b-hf --enable-lora"
    ((severity, message),) = said(f"{command} --lora-modules sql=/adapters/sql", "has /generate alone")
    assert severity is Severity.ERROR
    assert message.startswith("vllm.entrypoints.api_server")
    assert not said(command, "has /generate alone")
    openai = command.replace("entrypoints.", "entrypoints.openai.")
    assert not said(f"{openai} --lora-modules sql=/adapters/sql", "has /generate alone")
