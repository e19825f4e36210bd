"""A word behind a switch, which takes none."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Finding, Severity
from tests.unit.explain.judging import ask

SERVE = "vllm serve moonshotai/Kimi-K2-Thinking -tp 8 --trust-remote-code"


def found(text: str) -> list[Finding]:
    return [each for one in ask(text, version="0.33.0") for each in one.findings if "takes no value" in each.message]


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        (f'EAGER=true\n{SERVE} --enforce-eager "$EAGER"', "leave the value out"),
        (f"EAGER=False\n{SERVE} --enforce-eager $EAGER", "write --no-enforce-eager"),
        (f"{SERVE} --enforce-eager true --port 8001", "leave the value out"),
    ],
)
def test_the_switch_is_named(text: str, remedy: str) -> None:
    (finding,) = found(text)
    assert finding.severity is Severity.ERROR
    assert (finding.where, finding.remedy) == ("--enforce-eager", remedy)


@pytest.mark.parametrize(
    "text",
    [
        f'{SERVE} --enforce-eager "$EAGER"',
        f"EAGER=\n{SERVE} --enforce-eager $EAGER",
        f"EAGER=--enforce-eager\n{SERVE} $EAGER --port 8001",
        f"{SERVE} --enforce-eager --port 8001",
    ],
)
def test_what_is_not_known_or_right(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize("behind", ["--no-such-option 1", "--no-such-option"])
def test_an_option_that_no_release_has_elsewhere_leaves_it_a_warning(behind: str) -> None:
    (finding,) = found(f"{SERVE} --enforce-eager false --port 8001 {behind}")
    assert finding.severity is Severity.WARNING
    assert not found(f"{SERVE} --no-such-option false --port 8001")


def test_an_invented_module_is_read_as_the_server_that_is_meant() -> None:
    text = (
        "python3 -m lmcache.vllm.entrypoints.openai.api_server --model moonshotai/Kimi-K2.5 "
        "--tensor-parallel-size 8 --trust-remote-code --lmcache-config-file /tmp/l.yaml\n"
    )
    (judged,) = ask(text)
    said = {finding.where for finding in judged.findings}
    assert {"--lmcache-config-file", "lmcache.vllm.entrypoints.openai.api_server"} <= said


def test_the_file_that_the_command_names_is_no_server_of_its_own() -> None:
    text = (
        "cat > /tmp/l.yaml <<'EOF'\nvllm:\n  tensor_parallel_size: 8\n  max_model_len: 4096\n"
        "model:\n  name: moonshotai/Kimi-K2.5\nEOF\n"
        "vllm serve /models/mine -tp 8 {}\n"
    )
    assert len(ask(text.format("--lmcache-config-file /tmp/l.yaml"))) == 1
    assert len(ask(text.format("--port 8001"))) == 2


@pytest.mark.parametrize(
    ("given", "remedy", "written"),
    [
        ("--enable-chunked-prefill=false", "write --no-enable-chunked-prefill", "--no-enable-chunked-prefill"),
        ("--enable-prefix-caching=0", "write --no-enable-prefix-caching", "--no-enable-prefix-caching"),
        ("--async-scheduling=no", "write --no-async-scheduling", "--no-async-scheduling"),
        ("--async-scheduling False", "write --no-async-scheduling", "--no-async-scheduling"),
        ("--enforce-eager=True", "leave the value out", "--enforce-eager"),
    ],
)
def test_the_mend_keeps_what_the_value_says(given: str, remedy: str, written: str) -> None:
    (judged,) = ask(f"{SERVE} {given}", version="0.12.0")
    (finding,) = [each for each in judged.findings if "takes no value" in each.message]
    assert (finding.severity, finding.remedy) == (Severity.ERROR, remedy)
    assert written in judged.corrected[0].argv


def test_a_switch_without_an_opposite_is_left_out() -> None:
    text = "python -m sglang.launch_server --model-path moonshotai/Kimi-K2-Thinking --tp 8 --disable-cuda-graph=false"
    (judged,) = ask(text, version="0.5.10")
    (finding,) = [each for each in judged.findings if "takes no value" in each.message]
    assert (finding.severity, finding.remedy) == (Severity.ERROR, "leave the switch out with its value")
    assert "--disable-cuda-graph" not in judged.corrected[0].argv


def test_the_arguments_of_a_manifest_keep_what_the_value_says() -> None:
    text = """
apiVersion: v1
kind: Pod
metadata: {name: k2}
spec:
  containers:
  - name: engine
    image: vllm/vllm-openai:v0.12.0
    args: ["--model", "moonshotai/Kimi-K2-Thinking", "--tensor-parallel-size=8", "--enable-prefix-caching=false"]
"""
    (finding,) = [each for one in ask(text) for each in one.findings if "takes no value" in each.message]
    assert (finding.severity, finding.remedy) == (Severity.ERROR, "write --no-enable-prefix-caching")


def test_a_value_that_is_not_known_changes_nothing() -> None:
    (judged,) = ask(f"{SERVE} --enforce-eager=$EAGER", version="0.12.0")
    assert not [each for each in judged.remarks if each.edits and each.finding.where == "--enforce-eager"]


OLD = "The log says vLLM {}.\n\n```bash\nvllm serve deepseek-ai/DeepSeek-V2 -tp 16 --enable-chunked-prefill{}\n```\n"


@pytest.mark.parametrize("value", ["=False", "=true", " False"])
@pytest.mark.parametrize("release", ["0.5.3.post1", "0.7.3"])
def test_a_release_that_reads_true_and_false_is_told_of_nothing(release: str, value: str) -> None:
    (judged,) = ask(OLD.format(release, value))
    assert not [each for each in judged.findings if each.where == "--enable-chunked-prefill"]
    assert not any("--no-enable-chunked-prefill" in line.argv for line in judged.corrected)


def test_the_first_release_that_refuses_them_ends() -> None:
    (judged,) = ask(OLD.format("0.8.5", "=False"))
    (finding,) = [each for each in judged.findings if each.where == "--enable-chunked-prefill"]
    assert (finding.severity, finding.remedy) == (Severity.ERROR, "write --no-enable-chunked-prefill")


def test_releases_in_between_are_not_known() -> None:
    (judged,) = ask(OLD.format("0.8.2", "=False"))
    (finding,) = [each for each in judged.findings if each.where == "--enable-chunked-prefill"]
    assert finding.severity is Severity.WARNING
    assert "vLLM up to 0.7.3 takes true and false there" in finding.message
