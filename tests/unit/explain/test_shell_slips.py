"""What a shell makes of JSON, of requirements and of broken lines."""

from __future__ import annotations

import pytest

from moonpad.explain.judge import judge
from moonpad.explain.results import Judged
from moonpad.explain.script import read_script
from moonpad.explain.target_detection import Question
from moonpad.values.finding import Finding, Severity

SERVE = "vllm serve moonshotai/Kimi-K2-Thinking -tp 8"
CONFIG = '{"method": "eagle3", "model": "x/y", "num_speculative_tokens": 3}'


def judged(text: str) -> Judged:
    (only,) = judge(read_script(text), Question(version="0.22.0"))
    return only


def of(text: str, where: str) -> list[Finding]:
    return [finding for finding in judged(text).findings if finding.where == where]


# --- JSON ---


@pytest.mark.parametrize(
    "written",
    [
        '{"method": "eagle3", "model": "x/y", "num_speculative_tokens": 3}',
        '{"method":"eagle3","model":"x/y","num_speculative_tokens":3}',
        "'{'method': 'eagle3', 'model': 'x/y', 'num_speculative_tokens': 3}'",
        '"{"method": "eagle3", "model": "x/y", "num_speculative_tokens": 3}"',
        "\"{'method': 'eagle3', 'model': 'x/y', 'num_speculative_tokens': 3}\"",
        "{method: eagle3, model: x/y, num_speculative_tokens: 3}",
        "{method:eagle3,model:x/y,num_speculative_tokens:3}",
        "‘{“method”: “eagle3”, “model”: “x/y”, “num_speculative_tokens”: 3}’",
        '\'{"method": "eagle3", "model": "x/y", "num_speculative_tokens": 3,}\'',
        '{"method": "eagle3", \\\n  "model": "x/y", \\\n  "num_speculative_tokens": 3}',
    ],
)
@pytest.mark.parametrize("between", [" ", "="])
def test_an_object_that_a_shell_spoils_is_one_error_and_read_as_meant(written: str, between: str) -> None:
    one = judged(f"{SERVE} --speculative-config{between}{written} --max-model-len 4096")
    errors = [finding for finding in one.findings if finding.severity is Severity.ERROR]
    assert [finding.where for finding in errors] == ["--speculative-config"]
    assert "not JSON" in errors[0].message or "bash makes 3 " in errors[0].message
    assert one.settings is not None
    assert one.settings.draft_tokens == 3
    assert one.settings.max_model_len == 4096
    argv = one.corrected[0].argv
    assert CONFIG in argv or f"--speculative-config={CONFIG}" in argv


@pytest.mark.parametrize(
    "written",
    [
        f"'{CONFIG}'",
        '"{\\"method\\": \\"eagle3\\"}"',
        '{\\"method\\":\\"eagle3\\"}',
        '\'{"method": "eagle3",\n  "model": "x/y", "num_speculative_tokens": 3}\'',
        '"$CONFIG"',
        '"{\\"model\\": \\"$DRAFT\\"}"',
    ],
)
def test_an_object_that_arrives_is_left_alone(written: str) -> None:
    assert of(f"{SERVE} --speculative-config {written}", "--speculative-config") == []


@pytest.mark.parametrize("before", ["command is ", "2026-07-01 INFO start: python -m ", "root 4711 0.1 python "])
def test_what_a_program_has_printed_had_its_quotes(before: str) -> None:
    """It is read as it was, and nothing is said of it."""
    one = judged(f"The log:\n\n{before}{SERVE} --speculative-config {CONFIG}\n")
    assert one.settings is not None
    assert one.settings.draft_tokens == 3
    assert [finding.where for finding in one.findings if finding.severity is Severity.ERROR] == []


@pytest.mark.parametrize("before", ["", "$ ", "A=1 ", "export A=1; ", "nohup ", "cd x && ", "RUN ", "  "])
def test_what_was_typed_had_none(before: str) -> None:
    (finding,) = of(f"{before}{SERVE} --speculative-config {CONFIG}\n", "--speculative-config")
    assert finding.severity is Severity.ERROR


def test_a_variable_that_is_split_at_its_blanks() -> None:
    (finding,) = of(f"CFG='{CONFIG}'\n{SERVE} --speculative-config $CFG", "--speculative-config")
    assert "splits this object at its blanks" in finding.message
    assert of(f"CFG='{CONFIG}'\n{SERVE} --speculative-config \"$CFG\"", "--speculative-config") == []


def test_braces_that_are_no_object() -> None:
    for words in ("--chat-template '{% if x %}{{ x }}{% endif %}'", "--served-model-name {name}", "--port {{ port }}"):
        assert not [f for f in judged(f"{SERVE} {words}").findings if "JSON" in f.message]


# --- requirements ---


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("pip install vllm>=0.11", ["=0.11"]),
        ("pip3 install -U vllm>=0.11.0 transformers<5", ["=0.11.0", "file 5"]),
        ("uv pip install vllm>0.10", ["0.10"]),
        ("RUN pip install --no-cache-dir sglang[all]>=0.5.9", ["=0.5.9"]),
        ("apt-get update && pip install vllm>=0.11", ["=0.11"]),
        ("$ python3 -m pip install vllm>=0.11", ["=0.11"]),
        ("uv add vllm>=0.11", ["=0.11"]),
        ("pip install 'vllm>=0.11'", []),
        ('pip install "vllm>=0.11,<0.13"', []),
        ("pip install vllm\\>=0.11", []),
        ("pip install vllm==0.11.0 > install.log", []),
        ("pip install vllm 2>&1 | tee log", []),
        ("pip install vllm>log.txt", []),
        ("pip install vllm  # at least vllm>=0.11", []),
        ("vllm>=0.11", []),
        ("# then pip install vllm>=0.11 if you like", []),
    ],
)
def test_unquoted_requirements(line: str, names: list[str]) -> None:
    found = of(f"{line}\n{SERVE}", "pip install")
    assert len(found) == len(names)
    assert all(name in finding.message for name, finding in zip(names, found, strict=True))
    assert all(finding.severity is Severity.WARNING for finding in found)


def test_said_once_and_behind_the_line() -> None:
    both = judge(read_script(f"pip install vllm>=0.11\n{SERVE}\nvllm serve moonshotai/Kimi-K2.5 -tp 8"), Question())
    assert [sum(finding.where == "pip install" for finding in one.findings) for one in both] == [1, 0]


# --- lines ---


def test_a_line_that_a_terminal_broke_inside_a_word() -> None:
    text = (
        "python3 -m sglang.launch_server --host 0.0.0.0 --model-path /models/huggingface/moonshotai--Ki\n"
        "mi-K2-Thinking --tp 8 --trust-remote-code\n"
    )
    one = judged(text)
    assert [finding.severity for finding in one.findings if finding.where == "line break"] == [Severity.WARNING]
    assert one.corrected == ()
    assert one.unjudged


@pytest.mark.parametrize(
    "following",
    ["./bench.py --model x --port 8000", "python bench.py --port 8000", "bench.sh --port 8000", "", "kimi is served",
     "curl http://localhost --port 8000", "# note --port 8000", "wait"],
)  # fmt: skip
def test_another_command_behind_a_long_line(following: str) -> None:
    line = f"{SERVE} --trust-remote-code --tool-call-parser kimi_k2 --enable-auto-tool-choice --max-model-len 65536"
    script = read_script(f"{line}\n{following}\n")
    assert not [
        finding for one in judge(script, Question()) for finding in one.findings if finding.where == "line break"
    ]


OPTIONS = "--model moonshotai/Kimi-K2-Thinking --tensor-parallel-size 8"


@pytest.mark.parametrize(
    "text",
    [
        f"docker run --gpus all -p 127.0.0.1:8000:8000 \\\n  --ipc=host\n  vllm/vllm-openai:v0.33.0 \\\n  {OPTIONS}\n",
        f"docker run --gpus all\n  --ipc=host\n  vllm/vllm-openai:v0.33.0\n  {OPTIONS}\n",
        f"docker run -v data/models:/models --name x\n  quay.io:443/vllm/vllm-openai:v0.33.0 {OPTIONS}\n",
        f"podman run --name x\n  vllm/vllm-openai:v0.33.0\n  {OPTIONS}\n",
        "vllm serve\n  moonshotai/Kimi-K2-Thinking\n  --tensor-parallel-size 8\n",
        "vllm serve\n  /models/moonshotai/Kimi-K2-Thinking \\\n  --tensor-parallel-size 8\n",
    ],
)
def test_a_lost_backslash_before_the_image_or_the_model(text: str) -> None:
    script = read_script(text)
    (one,) = judge(script, Question())
    assert one.layout is not None
    assert one.layout.tp == 8
    assert one.checkpoint is not None
    assert "missing-backslash" in [problem.code for problem in script.problems]


@pytest.mark.parametrize(
    "text",
    [
        f"docker run --rm alpine\n  vllm/vllm-openai:v0.33.0 {OPTIONS}\n",
        f"docker run --rm $IMAGE\n  vllm/vllm-openai:v0.33.0 {OPTIONS}\n",
        f"docker run --rm library/alpine:3\n  vllm/vllm-openai:v0.33.0 {OPTIONS}\n",
        "# docker run --rm\n  vllm/vllm-openai:v0.33.0\n",
        "docker run --rm \\\n  vllm/vllm-openai:v0.33.0 --model x\necho a/b\n",
        "vllm serve --help\n  a/b\n",
    ],
)
def test_lines_that_are_commands_of_their_own(text: str) -> None:
    assert "missing-backslash" not in [problem.code for problem in read_script(text).problems]


def test_an_option_without_its_dashes() -> None:
    one = judged(f"{SERVE} attention-backend FLASHMLA --trust-remote-code")
    (finding,) = [finding for finding in one.findings if finding.where == "attention-backend"]
    assert finding.remedy == "write --attention-backend"
    argv = one.corrected[0].argv
    assert argv[argv.index("--attention-backend") + 1] == "FLASHMLA"


def test_lines_that_all_lack_the_backslash_are_told_once() -> None:
    none = "vllm serve moonshotai/Kimi-K2-Thinking\n  --tensor-parallel-size 8\n  --port 8000\n  --trust-remote-code\n"
    apart = none.replace("8\n  --port 8000\n", "8 \\\n  --port 8000\n")
    assert [(problem.line, problem.message[:24]) for problem in read_script(none).problems] == [
        (1, "none of the lines 1 to 3")
    ]
    assert [problem.line for problem in read_script(f"{none}\n{none}").problems] == [1, 6]
    assert [problem.line for problem in read_script(apart).problems] == [1, 3]
    (one,) = judge(read_script(none), Question())
    assert one.layout is not None
    assert one.layout.tp == 8
