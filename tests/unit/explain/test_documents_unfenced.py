"""Commands of a document that stand outside of its fences, as where the first fence was cut off."""

from __future__ import annotations

from moonpad.explain.script import read_script

PIECE = """\
    vllm serve /models/DeepSeek-V3.2 \\
        --tensor-parallel-size 16 \\
        --profiler-config \\
        '{"profiler": "torch",
        "torch_profiler_dir": "./profile"}' \\
        --seed 1024 \\
        --max-num-seqs 4
    ```

It answers at port 8000; see `--seed` above.
"""


def words_of(text: str) -> list[str]:
    (command,) = (command for command in read_script(text).commands if command.program == "vllm serve")
    return [word.text for word in command.argv]


def test_a_quote_over_several_lines_is_one_word() -> None:
    words = words_of(PIECE)
    assert '"torch_profiler_dir": "./profile"}' in words[words.index("--profiler-config") + 1]
    assert words[-2:] == ["--max-num-seqs", "4"]


def test_an_apostrophe_that_nothing_closes_takes_no_more_lines() -> None:
    words = words_of(PIECE.replace("'{", "{").replace("}'", "}").replace("/models/", "/it's/"))
    assert not any("answers at port" in word for word in words)


def test_a_sentence_may_end_with_the_first_line_of_a_command() -> None:
    text = (
        "# A report\n\nIt fails on Windows. What I ran: .\\build\\bin\\llama-server ^\n  --model D:/gguf/kimi.gguf ^\n"
        "  --ctx-size 4096\n\n```\na log\n```\n"
    )
    (command,) = [each for each in read_script(text).commands if each.program != "other"]
    assert command.program == "llama-server"
    assert [word.text for word in command.argv] == ["--model", "D:/gguf/kimi.gguf", "--ctx-size", "4096"]
    assert command.line == 3


def test_a_sentence_about_a_command_is_none() -> None:
    text = "# A report\n\nWhat I mean: llama-server with many options is slow\n\n```\na log\n```\n"
    assert all(each.program == "other" for each in read_script(text).commands)
