"""Scripts, documents and command lines as a whole: problems, places and hints."""

from __future__ import annotations

from pathlib import Path

import pytest

from moonpad.explain.commands import Command, Script
from moonpad.explain.script import read_command, read_script

SEEDS = sorted((Path(__file__).resolve().parents[2] / "seeds").glob("*.md"))


def only(script: Script) -> Command:
    (command,) = [command for command in script.commands if command.program != "other"]
    return command


def argv(command: Command) -> list[str]:
    return [word.text for word in command.argv]


# --- mistakes of copying: what was meant is read, and said ---

MISTAKES = {
    "doubled-backslash": ("vllm serve m \\\\\n  --port 1\n", 1, "\\\\"),
    "space-after-backslash": ("vllm serve m \\ \n  --port 1\n", 1, "\\ "),
    "comment-after-backslash": ("vllm serve m \\  # eight GPUs\n  --port 1\n", 1, "\\  # eight GPUs"),
    "comment-in-command": ("vllm serve m \\\n  # --eager \\\n  --port 1\n", 2, "# --eager \\"),
    "missing-backslash": ("vllm serve m\n  --port 1\n", 1, "m"),
}


@pytest.mark.parametrize("code", MISTAKES)
def test_a_command_that_a_shell_would_cut(code: str) -> None:
    text, line, shown = MISTAKES[code]
    script = read_script(text)
    assert argv(only(script)) == ["m", "--port", "1"]
    (problem,) = script.problems
    assert (problem.code, problem.line) == (code, line)
    assert script.lines[problem.line - 1][problem.column : problem.end_column] == shown


def test_the_same_commands_without_the_mistake_have_no_problem() -> None:
    for text in (
        "vllm serve m \\\n  --port 1\n",
        "vllm serve m  # eight\n\nls\n# --eager\n",
        "vllm serve m \\\n\n# a comment\nls\n",
        'vllm serve "a\\ \n b"\n',
        "cat <<E\nvllm \\ \n--port\nE\n",
    ):
        assert read_script(text).problems == ()


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("vllm serve \\\n  # the weights\n  m \\\n  --port 1\n", 2, ["m", "--port", "1"]),
        (
            "  vllm serve m \\\n    --port 1 \\\n    #--seed 3\n    # and\n    --tp 2\n",
            3,
            ["m", "--port", "1", "--tp", "2"],
        ),
        ("vllm serve m \\\n  --served-model-name \\\n# both\n  a b \\\n", 3, ["m", "--served-model-name", "a", "b"]),
        (
            "vllm serve m \\\n  --port 1 \\\n  # x\n  -tp 2 \\\n  --seed 3\n",
            3,
            ["m", "--port", "1", "-tp", "2", "--seed", "3"],
        ),
    ],
)
def test_a_comment_among_continued_lines(text: str, line: int, words: list[str]) -> None:
    script = read_script(text)
    assert argv(only(script)) == words
    (problem,) = script.problems
    assert (problem.code, problem.line) == ("comment-in-command", line)


def test_an_image_below_a_comment_is_of_the_same_container() -> None:
    script = read_script("docker run --gpus all \\\n  # of today\n  vllm/vllm-openai:v0.11.0 \\\n  --model m\n")
    assert [problem.code for problem in script.problems] == ["comment-in-command"]
    assert argv(only(script)) == ["--model", "m"]


@pytest.mark.parametrize(
    "behind",
    [
        "ls\n",
        "\n  ls\n",  # an empty line
        "vllm serve n\n",
        "  echo started\n",
        "  vllm serve n \\\n    --port 2\n",
        "  sleep 5 && \\\n  ls\n",
        "  PORT=1 \\\n  ls\n",
    ],
)
def test_a_comment_below_the_last_option_ends_the_command_as_it_should(behind: str) -> None:
    script = read_script(f"vllm serve m \\\n  --port 1 \\\n  # --seed 3\n{behind}")
    assert script.problems == ()
    assert argv(script.commands[0]) == ["m", "--port", "1"]
    inside = "if true; then\n  vllm serve m \\\n    --port 1 \\\n    # --seed 3\n  ls\nfi\n"
    assert read_script(inside).problems == ()


def test_characters_of_a_text_processor() -> None:
    script = read_script("vllm serve m –port 8000 --name “k2” --a\u00a0b\n")
    assert [(problem.code, problem.column) for problem in script.problems] == [
        ("dash", 13),
        ("quotes", 31),
        ("invisible-character", 39),
    ]
    assert argv(only(script))[-2:] == ["--a", "b"]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("vllm serve m --port 1\n# less with \u200b--enforce-eager\n", []),
        ("  # K2\u00a0below\n  vllm serve m --port 1\n", []),
        ("vllm serve m --port 1  # on\u00a0port\u200e1\n", []),
        ("# \u200babove\nvllm serve m \u200b--port 1\n", [2]),
        ("vllm serve m --a#b\u200b --port 1\n", [1]),
        ("vllm serve m --name '# \u200bk2'\n", [1]),
        ("vllm serve m --port 1\n\u00a0# below\n", [2]),
    ],
)
def test_what_is_invisible_in_a_comment_is_nothing(text: str, lines: list[int]) -> None:
    told = [problem for problem in read_script(text).problems if problem.code == "invisible-character"]
    assert [problem.line for problem in told] == lines


@pytest.mark.parametrize(
    ("text", "shown"),
    [("vllm serve 'm --port 1\nls\n", "'"), ('vllm serve "m\nls\n', '"'), ("vllm serve $(m\nls\n", "$(")],
)
def test_what_is_not_closed_ends_with_its_line(text: str, shown: str) -> None:
    script = read_script(text)
    (problem,) = script.problems
    assert problem.code == "unclosed"
    assert script.lines[0][problem.column : problem.end_column] == shown
    assert [command.prefix[0].text for command in script.commands if command.program == "other"] == ["ls"]


def test_a_heredoc_without_an_end_and_one_whose_end_is_indented() -> None:
    (problem,) = read_script("vllm serve m\ncat > f <<EOF\na: 1\n").problems
    assert (problem.code, problem.line) == ("unclosed", 2)
    script = read_script("cat > f <<EOF\na: 1\n  EOF\nvllm serve m\n")
    assert [problem.code for problem in script.problems] == ["heredoc-end"]
    assert script.files["f"].text == "a: 1\n"
    assert only(script).line == 4


def test_blocks_without_an_end() -> None:
    script = read_script("for i in 1 2; do\nvllm serve $i\n")
    assert [problem.code for problem in script.problems] == ["syntax"]
    assert [argv(command) for command in script.commands] == [["1"], ["2"]]


# --- what only running would tell ---


def test_both_sides_of_a_condition_are_read() -> None:
    script = read_script(
        'if [ "$RANK" = 0 ]; then\n  vllm serve m\nelse\n  vllm serve m --headless\nfi\n'
        "case $1 in a) vllm serve a;; *) vllm serve b;; esac\nwhile true; do vllm serve c; done\n"
    )
    assert [argv(command) for command in script.commands] == [["m"], ["m", "--headless"], ["a"], ["b"], ["c"]]


def test_a_variable_that_depends_on_a_condition() -> None:
    script = read_script(
        "TP=8\nARGS=(--a)\n"
        'if [ "$1" = big ]; then TP=16; ARGS+=(--b); SEQS=4; fi\n'
        "if $X; then PORT=1; NAME=k2; else PORT=2; NAME=k2; fi\n"
        "while [ $# -gt 0 ]; do case $1 in --model) MODEL=$2; shift 2;; esac; done\n"
        'vllm serve ${MODEL:-m} --tp $TP --port $PORT --name $NAME --seqs $SEQS "${ARGS[@]}"\n'
    )
    command = only(script)
    assert argv(command) == ["m", "--tp", "$TP", "--port", "$PORT", "--name", "k2", "--seqs", "$SEQS", "--a"]
    assert command.unresolved == ("TP", "PORT", "SEQS")


def test_a_default_survives_the_parsing_of_arguments() -> None:
    script = read_script(
        "MODEL=m\nwhile [ $# -gt 0 ]; do case $1 in --model) MODEL=$2; shift 2;; esac; done\nvllm serve $MODEL\n"
    )
    assert argv(only(script)) == ["m"]


def test_branches_that_add_different_flags() -> None:
    script = read_script('ARGS=(--a 1)\nif $HEAD; then ARGS+=(--b); else ARGS+=(--c); fi\nvllm serve m "${ARGS[@]}"\n')
    assert argv(only(script)) == ["m", "--a", "1", "${ARGS[@]:2}"]
    assert only(script).unresolved == ("ARGS",)


def test_commands_that_are_not_run() -> None:
    script = read_script(
        "IP=$(hostname -I | awk '{print $1}')\nN=`nproc`\n"
        'vllm serve m --host $IP --n $N --rank $((RANK + 1)) --file <(ls) --url "http://${IP}:1" ${A%%/*}\n'
    )
    assert argv(only(script)) == [
        *("m", "--host", "$(hostname -I | awk '{print $1}')", "--n", "`nproc`", "--rank", "$((RANK + 1))"),
        *("--file", "<(ls)", "--url", "http://$(hostname -I | awk '{print $1}'):1", "${A%%/*}"),
    ]
    assert only(script).unresolved == (
        *("$(hostname -I | awk '{print $1}')", "`nproc`", "$((RANK + 1))", "<(ls)", "${A%%/*}"),
    )


def test_nothing_is_executed(tmp_path: Path) -> None:
    """Every way to run a command that bash has; none of them leaves a trace."""
    trace = tmp_path / "trace"
    touch = f"touch {trace}"
    read_script(
        f'{touch}\n$({touch})\n`{touch}`\nA=$({touch})\nvllm serve <({touch}) "$({touch})" ${{A:-$({touch})}}\n'
        f"eval '{touch}'\nbash -c '{touch}'\ncat <<EOF > {tmp_path}/file\n$({touch})\nEOF\necho x > {trace}\n"
        f"trap '{touch}' EXIT\nexec {touch}\n"
    )
    read_command(["bash", "-c", touch])
    assert list(tmp_path.iterdir()) == []


def test_functions() -> None:
    script = read_script(
        'start() { vllm serve m --rank "$1"; }\nnever() { vllm serve n --rank "$1"; }\n'
        "again() { vllm serve r; again; }\nstart 0\nstart 1\nagain\n"
    )
    assert [argv(command) for command in script.commands] == [
        ["m", "--rank", "0"],
        ["m", "--rank", "1"],
        ["r"],
        ["n", "--rank", "$1"],
    ]


def test_a_loop_over_what_is_not_written() -> None:
    script = read_script("for i in $(seq 0 2); do vllm serve $i; done\nfor i in $(ls); do vllm serve x$i; done\n")
    assert [argv(command) for command in script.commands] == [["0"], ["1"], ["2"], ["x$i"]]
    assert script.commands[-1].unresolved == ("i",)
    many = " ".join(str(n) for n in range(33))
    assert len(read_script(f"for i in {many}; do vllm serve $i; done\n").commands) == 1
    nested = read_script("for i in 1 2 3 4 5 6 7 8 9; do for j in 1 2 3 4 5 6 7 8; do vllm serve $i $j; done; done\n")
    assert [argv(command) for command in nested.commands] == [[str(n), "$j"] for n in range(1, 10)]


# --- places ---


def test_places_through_arrays_strings_and_inner_shells() -> None:
    text = (
        "ARGS=(--a '1')\n"
        'FLAGS="--b 2"\n'
        "ONE=3\n"
        'bash -c "vllm serve m \\\n'
        '    --c $ONE"\n'
        'vllm serve "${ARGS[@]}" $FLAGS --d $ONE\n'
        "ssh host 'vllm serve --e 4'\n"
    )
    script = read_script(text)
    places = {
        word.text: (word.line, script.lines[word.line - 1][word.column : word.end_column])
        for command in script.commands
        for word in command.argv
    }
    assert places["--a"] == (1, "--a")
    assert places["1"] == (1, "'1'")
    assert places["--b"] == (2, "--b")
    assert places["2"] == (2, "2")
    assert places["--c"] == (5, "--c")
    assert places["--d"] == (6, "--d")
    assert places["3"] == (6, "$ONE")
    assert places["--e"] == (7, "--e")
    assert places["4"] == (7, "4")


def test_places_after_control_characters_and_carriage_returns() -> None:
    script = read_script("ls\r\n\x1b[1mvllm\x1b[0m serve m\x00x \\\r\n  --port\t\x071\r\n")
    command = only(script)
    assert argv(command) == ["mx", "--port", "1"]
    assert script.problems == ()
    port = command.argv[1]
    assert script.lines[port.line - 1][port.column : port.end_column] == "--port"
    assert all(line.isprintable() for line in (line.replace("\t", " ") for line in script.lines))


# --- documents ---


def test_only_shell_blocks_of_a_document_are_read() -> None:
    script = read_script(
        "# Guide\nvllm serve prose\n\n```python\nprint('vllm serve python')\n```\n\n``` bash\nvllm serve a\n```\n"
        "~~~\nvllm serve b\n~~~\n  ```{code-block} bash\n  :linenos:\n\n  vllm serve c\n  ```\n"
        "````sh\n```\nvllm serve d\n````\n> ```shell\n> vllm serve e \\\n>   --port 1\n> ```\n```yaml\nvllm serve no\n"
    )
    assert script.markdown
    assert [argv(command) for command in script.commands if command.program != "other"] == [
        ["a"],
        ["b"],
        ["c"],
        ["d"],
        ["e", "--port", "1"],
    ]


def test_a_session_with_prompts() -> None:
    script = read_script(
        "```console\n$ export A=1\n$ vllm serve m \\\n>   --port 1 \\\n    --eager\nINFO: vllm serve output\n"
        "(venv) user@host:~/x$ vllm serve n\n```\n"
        "```console\n# vllm serve root\nvllm serve output\n```\n"
        "```console\n# a comment\nvllm serve typed\n```\n"
        "```bash\n$ vllm serve o\n# a comment\n```\n"
    )
    assert [argv(command) for command in script.commands] == [
        ["m", "--port", "1", "--eager"],
        ["n"],
        ["root"],
        ["typed"],
        ["o"],
    ]
    assert script.commands[0].env["A"].text == "1"
    port = script.commands[0].argv[1]
    assert script.lines[port.line - 1][port.column : port.end_column] == "--port"


def test_headings_and_the_line_above() -> None:
    script = read_script(
        "## First\n\nOn the head node:\n\n```bash\nvllm serve a\n```\n\n<summary>Second</summary>\n\n"
        "**On the worker:**\n```bash\n# other\n\nvllm serve b\n```\n"
    )
    assert [(command.heading, command.label) for command in script.commands] == [
        ("First", "On the head node"),
        ("Second", "On the worker"),
    ]
    assert script.commands[1].comments == ("other",)


def test_a_list_that_explains_a_command_is_no_fragment() -> None:
    explained = "```bash\nvllm serve m --port 1 --eager\n```\n\n- `--port 1`: the port\n- `--eager`: slow\n"
    assert [command.program for command in read_script(explained).commands] == ["vllm serve"]
    more = explained + "- `--new 1`: may be tried\n"
    assert [command.program for command in read_script(more).commands] == ["vllm serve"]
    other = explained + "\n## Four devices\n\n- `--tensor-parallel-size 4`\n- `--new 1`\n"
    assert [command.program for command in read_script(other).commands] == ["vllm serve", "fragment"]
    before = (
        "- `--tensor-parallel-size 4`\n- `--eager`\n\n```bash\nvllm serve m --eager --tensor-parallel-size 4\n```\n"
    )
    assert [command.program for command in read_script(before).commands] == ["vllm serve"]


def test_labels_of_comments() -> None:
    script = read_script(
        "#!/bin/bash\n# Copyright\n\n# node 0:\nexport A=1\n\nvllm serve a\nvllm serve b\n\n## Node 1\nvllm serve c\n"
        "\n# start it\nvllm serve d # behind\n\nvllm serve e\n"
    )
    assert [command.label for command in script.commands] == ["node 0", "node 0", "Node 1", "start it", None]
    assert script.commands[0].comments == ()
    assert script.commands[2].comments == ("Node 1",)


# --- a command line ---


def test_a_command_line() -> None:
    words = ["A=1", "B=two words", "sudo", "-E", "vllm", "serve", "it's", "--json", '{"a": 1}', "$HOME", "", "x\ny"]
    script = read_command(words)
    command = only(script)
    assert argv(command) == words[6:]
    assert {name: word.text for name, word in command.env.items()} == {"A": "1", "B": "two words"}
    assert command.unresolved == ()
    assert script.lines[0].startswith("A=1 'B=two words' sudo -E vllm serve ")
    quoted = command.argv[2]
    assert script.lines[0][quoted.column : quoted.end_column] == "'{\"a\": 1}'"


def test_bytes_of_a_command_line_that_are_no_text() -> None:
    assert argv(only(read_command(["vllm", "serve", "m\udcff"]))) == ["m\ufffd"]


def test_a_command_line_with_an_inner_shell() -> None:
    script = read_command(["bash", "-c", "vllm serve m --port $PORT"])
    command = only(script)
    assert argv(command) == ["m", "--port", "$PORT"]
    port = command.argv[1]
    assert script.lines[0][port.column : port.end_column] == "--port"
