"""Pages whose blocks of code were copied as one line each."""

from __future__ import annotations

from moonpad.explain.script import read_script

from .judging import ask

PAGE = """\
Ways to use org/Kimi
- vLLM
# Get it by pip: pip install vllm # Start the server: vllm serve "moonshotai/Kimi-K2.5" # Ask it: curl \
http://localhost:8000/v1/models
- SGLang
# Get it by pip: pip install sglang # Start the server: python3 -m sglang.launch_server \\ --model-path \
"moonshotai/Kimi-K2.5" \\ --tp 8 # Ask it: curl http://localhost:30000/v1/models
- Containers
docker run --gpus all \\ -p 127.0.0.1:30000:30000 \\ --ipc=host \\ lmsysorg/sglang:latest \\ python3 -m \
sglang.launch_server \\ --model-path "moonshotai/Kimi-K2.5" \\ --tp 4
"""


def test_each_command_of_a_line_is_read() -> None:
    judged = ask(PAGE)
    assert [(each.engine, each.layout_words) for each in judged] == [
        ("vllm", "TP1"),
        ("sglang", "TP8"),
        ("sglang", "TP4"),
    ]
    assert [each.sources[0].line for each in judged] == [3, 5, 7]
    assert all(each.checkpoint is not None for each in judged)


def test_a_backslash_inside_a_line_is_told_of_a_line_alone() -> None:
    """Where no other line shows that the page lost its breaks, it is what the shell reads."""
    (line,) = (line for line in PAGE.split("\n") if line.startswith("docker"))
    assert [problem.code for problem in read_script(f"{line}\n").problems]
    assert not read_script(PAGE).problems


def test_a_comment_with_a_command_in_it_is_left_alone() -> None:
    text = "# Once per machine: pip install vllm\n# Then: vllm serve moonshotai/Kimi-K2.5 --tensor-parallel-size 8\n"
    whole = f"{text}vllm serve moonshotai/Kimi-K2.5 --tensor-parallel-size 16\n"
    assert [each.layout_words for each in ask(whole)] == ["TP16"]
