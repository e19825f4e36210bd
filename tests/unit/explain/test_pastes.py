"""What a paste does to a command: cut lines, fences of other kinds, files written on the way, sentences behind it."""

from __future__ import annotations

import pytest

from moonpad.explain.judge import judge
from moonpad.explain.results import Judged
from moonpad.explain.script import read_files, read_script
from moonpad.explain.target_detection import Question
from moonpad.values.finding import Severity

MODEL = "moonshotai/Kimi-K2.5"
FLAGS = "--tensor-parallel-size 8 --max-model-len 131072 --tool-call-parser kimi_k2 --trust-remote-code"
COMMAND = f"vllm serve {MODEL} {FLAGS}"


def only(text: str) -> Judged:
    (judged,) = judge(read_script(text), Question())
    return judged


def is_whole(judged: Judged) -> bool:
    """It is COMMAND, and there is nothing wrong with it."""
    errors = [finding for finding in judged.findings if finding.severity is Severity.ERROR]
    layout, settings = judged.layout, judged.settings
    return (
        not errors
        and layout is not None
        and layout.tp == 8
        and settings is not None
        and settings.max_model_len == 131072
    )


@pytest.mark.parametrize("width", [60, 61, 64, 70, 75])
def test_lines_that_a_terminal_has_cut(width: int) -> None:
    long = f"{COMMAND} --served-model-name kimi --gpu-memory-utilization 0.9 --host 127.0.0.1"
    lines = [long[at : at + width] for at in range(0, len(long), width)]
    if any(line.endswith(" ") or line.startswith(" ") for line in lines):
        pytest.skip("a blank at the cut is lost in most pastes, and nothing tells of it")
    assert is_whole(only("\n".join(lines) + "\n"))


def test_two_commands_of_one_length_are_two() -> None:
    text = f"{COMMAND} --port 8000\n{COMMAND} --port 8001\n{COMMAND} --port 8002\n"
    assert len(judge(read_script(text), Question())) >= 1
    assert [command.argv[0].text for command in read_script(text).commands] == [MODEL] * 3


@pytest.mark.parametrize(
    "text",
    [
        f"Mine:\n\n'''\n{COMMAND}\n'''\n\nand it stops.\n",
        f"# K2.5\n\n```python\n{COMMAND}\n```\n",
        f"# K2.5\n\n```text\nA=1 {COMMAND}\n```\n",
        f"# K2.5\n\n```plaintext\n$ {COMMAND}\n```\n",
        f"cat > start.sh <<'EOF'\n{COMMAND}\nEOF\n",
        f"cat > start.sh <<'EOF'\n{COMMAND.replace('8', '$1', 1)}\nEOF\nbash start.sh 8\n",
        f"N=8\ntee /opt/start.sh > /dev/null <<EOF\n{COMMAND.replace('8', '$N', 1)}\nEOF\n",
        f"{COMMAND} ，卡住了\n",
        COMMAND.replace(" --max", "\n\\ --max") + "\n",
        f"VLLM_LOGGING_LEVEL=INFO\n--model {MODEL}\n" + FLAGS.replace(" --", "\n--") + "\n",
    ],
)
def test_it_is_read(text: str) -> None:
    assert is_whole(only(text))


def test_the_launcher_says_what_the_arguments_are() -> None:
    template = (
        "#!/bin/bash\nvllm serve /models/Kimi-K2.5-W4A8 --port $2 --data-parallel-size $3 --tensor-parallel-size $7\n"
    )
    start = "python launch_online_dp.py --dp-size 4 --tp-size 4 --dp-size-local 4 --dp-address 192.0.2.1\n"
    (judged,) = judge(read_files([("run_dp_template.sh", template), ("start.sh", start)]), Question())
    assert judged.layout is not None
    assert (judged.layout.tp, judged.layout.dp) == (4, 4)
    (alone,) = judge(read_files([("run_dp_template.sh", template)]), Question())
    assert {"tp", "dp"} <= alone.unknown


def test_a_path_that_is_cut_is_joined_where_the_text_has_it_whole() -> None:
    path = "/data/cache/hub/models--nvidia--Kimi-K2.5-NVFP4/snapshots/574f"
    torn = path.replace("cache/hub", "cac\nhe/hub")
    serve = f"```\ntrtllm-serve --tp_size 8 {torn}\n```\n"
    joined = read_script(f"{serve}```\nlm_eval --model_args model={path}/,num=1\n```\n")
    assert path in [word.text for command in joined.commands for word in command.words]
    assert any("cut inside a path" in problem.message for problem in joined.problems)
    alone = read_script(serve)
    assert path not in [word.text for command in alone.commands for word in command.words]


@pytest.mark.parametrize("arrow", ["> ", "  > ", ">  "])
def test_an_arrow_before_a_command_is_no_file_to_write_to(arrow: str) -> None:
    script = read_script(f"{arrow}python -m sglang.launch_server --model-path m --tp 8\n")
    (command,) = (command for command in script.commands if command.program != "other")
    assert [word.text for word in command.prefix] == ["python", "-m", "sglang.launch_server"]


@pytest.mark.parametrize("before", ["--trust-remote-code", "--max-model-len 131072", '--served-model-name "kimi"'])
def test_two_lines_that_are_one_word(before: str) -> None:
    start = f"python -m sglang.launch_server --model-path {MODEL} {before}\\\n--tp-size 8 \\\n--port 30000\n"
    script = read_script(start)
    (judged,) = judge(script, Question())
    assert judged.layout is not None
    assert judged.layout.tp == 8
    assert [problem.code for problem in script.problems] == ["missing-blank"]


@pytest.mark.parametrize(
    "start",
    [
        f"vllm serve {MODEL} --trust-remote-code \\\n--tensor-parallel-size 8\n",
        f"vllm serve {MODEL} --trust-remote-code\\\n  --tensor-parallel-size 8\n",
        f"# --trust-remote-code\\\n--not-an-option\nvllm serve {MODEL}\n",
    ],
)
def test_two_lines_that_are_two_words(start: str) -> None:
    assert "missing-blank" not in [problem.code for problem in read_script(start).problems]
