"""Parsers that came after a release, and models that think aloud without one."""

from __future__ import annotations

import pytest

from moonpad.catalog.first_parsers import first_parsers
from moonpad.catalog.options import values_of, versions
from moonpad.values.finding import Severity
from moonpad.values.versions import order
from tests.unit.explain.judging import ask, ask_one


def told(text: str, part: str, version: str = "") -> Severity | None:
    """How severe the finding is that says this; None where there is none."""
    findings = [finding for judged in ask(text, "", version) for finding in judged.findings]
    return next((each.severity for each in findings if part in f"{each.where} {each.message} {each.remedy}"), None)


@pytest.mark.parametrize(
    ("line", "version", "part"),
    [
        ("vllm serve Qwen/Qwen3-8B --reasoning-parser qwen3", "0.8.5", "write --reasoning-parser deepseek_r1"),
        ("vllm serve Qwen/QwQ-32B --reasoning-parser deepseek_r1", "0.7.0", "came in 0.7.1"),
        (
            "vllm serve Qwen/Qwen3-Coder-480B-A35B-Instruct --enable-auto-tool-choice --tool-call-parser qwen3_coder",
            "0.9.2",
            "take 0.10.0 or later",
        ),
        ("vllm serve moonshotai/Kimi-K2-Instruct --tool-call-parser kimi_k2", "0.9.2", "came in 0.10.0"),
        (
            "sglang serve --model-path Qwen/Qwen3-8B --reasoning-parser qwen3",
            "0.4.6",
            "write --reasoning-parser deepseek-r1",
        ),
    ],
)
def test_a_parser_that_came_later_is_refused(line: str, version: str, part: str) -> None:
    assert told(line, part, version) is Severity.ERROR


@pytest.mark.parametrize(
    ("line", "version"),
    [
        ("vllm serve Qwen/Qwen3-8B --reasoning-parser qwen3", "0.9.0"),
        ("vllm serve Qwen/Qwen3-8B --reasoning-parser deepseek_r1", "0.8.5"),
        ("vllm serve Qwen/Qwen3-8B --reasoning-parser qwen3", ""),
        ("vllm serve Qwen/Qwen3-8B --reasoning-parser qwen3 --reasoning-parser-plugin /p/mine.py", "0.8.5"),
        ("sglang serve --model-path Qwen/Qwen3-8B --reasoning-parser qwen3", "0.4.8"),
    ],
)
def test_one_that_the_release_has_is_not(line: str, version: str) -> None:
    assert told(line, "has no parser", version) is None


def test_a_text_that_names_a_later_release_too_is_not_certain() -> None:
    line = "\n\n```\nvllm serve Qwen/Qwen3-8B --reasoning-parser qwen3\n```\n"
    assert told(f"It runs on vLLM 0.8.4.{line}", "has no parser") is Severity.ERROR
    assert told(f"It runs on vLLM 0.8.4.{line}\nvLLM v0.9.2 takes it.\n", "another build too, 0.9.2") is (
        Severity.WARNING
    )


def test_the_table_joins_the_recorded_releases() -> None:
    for (program, option), table in first_parsers().items():
        assert table.first.keys() == table.lacks.keys()
        assert all(order(table.lacks[parser]) < order(table.first[parser]) for parser in table.first)
        oldest = versions(program)[0]
        recorded = values_of(program, oldest, option.removeprefix("--").replace("-", "_"))
        assert {parser for parser in table.first if order(table.first[parser]) <= order(oldest)} <= set(recorded)


TOOLS = "--enable-auto-tool-choice --tool-call-parser"
OFF = "--default-chat-template-kwargs '{\"enable_thinking\": false}'"


@pytest.mark.parametrize(
    ("line", "part"),
    [
        (f"vllm serve Qwen/Qwen3.6-27B {TOOLS} qwen3_coder", "add --reasoning-parser qwen3"),
        (f"vllm serve /m/Qwen3-30B-A3B-FP8 {TOOLS} hermes", "add --reasoning-parser qwen3"),
        (f"vllm serve zai-org/GLM-4.6-FP8 {TOOLS} glm45", "add --reasoning-parser glm45"),
        (f"vllm serve /model --served-model-name MiniMax-M2.1 {TOOLS} minimax_m2", "minimax_m2_append_think"),
        (
            "sglang serve --model-path deepseek-ai/DeepSeek-R1-0528 --tool-call-parser deepseekv3",
            "add --reasoning-parser deepseek-r1",
        ),
    ],
)
def test_a_model_that_thinks_aloud_is_remarked(line: str, part: str) -> None:
    assert told(line, part) is Severity.NOTE


@pytest.mark.parametrize(
    "line",
    [
        f"vllm serve Qwen/Qwen3.6-27B {TOOLS} qwen3_coder --reasoning-parser qwen3",
        "vllm serve Qwen/Qwen3.6-27B",  # nobody takes anything out of its answers
        f"vllm serve Qwen/Qwen3-Coder-30B-A3B-Instruct {TOOLS} qwen3_coder",
        f"vllm serve Qwen/Qwen3-235B-A22B-Instruct-2507 {TOOLS} hermes",
        f"vllm serve Qwen/Qwen3.6-27B {TOOLS} qwen3_coder {OFF}",
    ],
)
def test_one_that_does_not_is_not(line: str) -> None:
    assert told(line, "thinks aloud") is None


POD = """\
apiVersion: v1
kind: Pod
metadata: {{name: a}}
spec:
  containers:
    - name: s
      image: vllm/vllm-openai:v0.20.0
      args: ["--model", "zai-org/{model}"{more}, "--served-model-name", "chat"]
"""


@pytest.mark.parametrize(
    ("model", "more", "severity"),
    [
        ("GLM-4.6", "", Severity.NOTE),
        ("GLM-4.6", ', "--reasoning-parser", "glm45"', None),
        ("glm-4-9b-chat", "", None),
    ],
)
def test_an_object_of_a_cluster_serves_clients(model: str, more: str, severity: Severity | None) -> None:
    text = POD.format(model=model, more=more)
    assert told(text, "thinks aloud") is severity
    assert told(text.replace(', "--served-model-name", "chat"', ""), "thinks aloud") is None
    assert told(f"vllm serve zai-org/{model}", "thinks aloud") is None


@pytest.mark.parametrize(
    ("words", "severity", "told"),
    [
        ("--tool-call-parser no_such", "warning", "with --enable-auto-tool-choice the start ends at it"),
        ("--tool-call-parser no_such --enable-auto-tool-choice", "error", "some releases refuse it"),
    ],
)
def test_a_parser_of_tools_that_no_switch_turns_on_is_not_read(words: str, severity: str, told: str) -> None:
    judged = ask_one(f"vllm serve moonshotai/Kimi-K2-Instruct --trust-remote-code -tp 8 {words}", version="0.11.0")
    (finding,) = [each for each in judged.findings if "has no parser" in each.message]
    assert finding.severity == severity
    assert told in finding.message


ON_ASCEND = "# vLLM-Ascend\nexport VLLM_ASCEND_ENABLE_FLASHCOMM1=0\nvllm serve /m/MiniMax-M2.1"


def parser_in(text: str, flag: str) -> list[str]:
    """What the corrected commands of a text give the option."""
    lines = [line.argv for one in ask(text) for line in one.corrected]
    return [words[words.index(flag) + 1] for words in lines if flag in words]


@pytest.mark.parametrize(
    ("line", "flag", "right"),
    [
        (
            f"{ON_ASCEND} -tp 8 --reasoning-parser minimax_m2_thinking",
            "--reasoning-parser",
            "minimax_m2",
        ),
        (f"vllm serve MiniMaxAI/MiniMax-M2.5 -tp 4 {TOOLS} minimax", "--tool-call-parser", "minimax_m2"),
    ],
)
def test_the_parser_of_the_model_is_in_the_corrected_command_of_no_release(line: str, flag: str, right: str) -> None:
    assert parser_in(line, flag) == [right]
    assert any(each.ends_start for one in ask(line) for each in one.remarks if "has no parser" in each.finding.message)


def test_a_parser_of_another_name_of_a_plugin_stays() -> None:
    line = f"{ON_ASCEND} -tp 8 --reasoning-parser house_style"
    assert "minimax_m2" not in parser_in(line, "--reasoning-parser")
    assert told(line, "has no parser") is Severity.WARNING


def test_what_nothing_reads_does_not_end_the_start() -> None:
    line = "vllm serve MiniMaxAI/MiniMax-M2.5 -tp 4 --tool-call-parser minimax"
    assert not any(each.ends_start for one in ask(line) for each in one.remarks)


@pytest.mark.parametrize(
    ("version", "more", "remedy"),
    [
        ("0.7.3", "", "add --enable-reasoning --reasoning-parser deepseek_r1"),
        ("0.8.5", "", "add --enable-reasoning --reasoning-parser deepseek_r1"),
        ("0.8.5", ", --enable-reasoning", "add --reasoning-parser deepseek_r1"),
        ("0.9.0", "", "add --reasoning-parser deepseek_r1"),
        ("0.12.0", "", "add --reasoning-parser deepseek_r1"),
    ],
)
def test_older_releases_want_a_switch_beside_the_parser(version: str, more: str, remedy: str) -> None:
    text = (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: r1}\nspec:\n  containers:\n  - name: r1\n"
        f"    image: vllm/vllm-openai:v{version}\n"
        f"    command: [vllm, serve, deepseek-ai/DeepSeek-R1, --served-model-name, chat, -tp, '8'{more}]\n"
    )
    found = [each.remedy for one in ask(text) for each in one.findings if "thinks aloud" in each.message]
    assert found == [remedy]


OSS = "python3 -m sglang.launch_server --model-path openai/gpt-oss-120b --tp 4"
BOTH = "add --reasoning-parser gpt-oss --tool-call-parser gpt-oss"


def test_a_model_that_answers_in_marks_needs_both_parsers_wherever_it_serves() -> None:
    assert told(f"{OSS} --port 8000\n", BOTH, "0.5.10") is Severity.NOTE


@pytest.mark.parametrize(
    "text",
    [
        f"{OSS} --reasoning-parser gpt-oss --tool-call-parser gpt-oss\n",
        f"{OSS} --port 8000 &\npython3 -m sglang.bench_serving --backend sglang --num-prompts 10\n",
        "vllm serve openai/gpt-oss-120b -tp 4\n",
        "python3 -m sglang.launch_server --model-path Qwen/Qwen3-8B --tp 4\n",
    ],
    ids=["given", "measured", "an engine that reads them itself", "another model"],
)
def test_no_parser_of_marks_is_missing(text: str) -> None:
    assert told(text, "marks of its format") is None
