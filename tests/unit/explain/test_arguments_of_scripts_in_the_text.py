"""A script that the text holds runs with the arguments that another part of the text calls it with."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from moonpad.explain.commands import Script
from moonpad.explain.programs import is_server
from moonpad.explain.script import read_files, read_script

K2 = "moonshotai/Kimi-K2-Instruct"
SERVE = """#!/bin/bash
if [ "$#" -lt 2 ]; then
    echo "Usage: $0 <model> <tp> [port]"
    exit 1
fi
MODEL=$1
TP_SIZE=$2
vllm serve "$MODEL" --tensor-parallel-size "$TP_SIZE" --port "${3:-8000}" --trust-remote-code
"""
OPTIONS = """#!/bin/bash
TP=1
while [[ $# -gt 0 ]]; do
  case "$1" in
    --model) MODEL="$2"; shift 2 ;;
    --tp=*|--never) TP="${2}"; shift ;;
    -t|--tp) TP="$2"; shift 2 ;;
    *) echo "unknown $1"; exit 1 ;;
  esac
done
vllm serve "$MODEL" --tensor-parallel-size "$TP" --port 8000 --trust-remote-code
"""
LETTERS = """#!/bin/bash
while getopts "m:t:v" opt; do
  case $opt in
    m) MODEL=$OPTARG ;;
    t) TP=$OPTARG ;;
    v) set -x ;;
  esac
done
vllm serve "$MODEL" --tensor-parallel-size "$TP" --port 8000 --trust-remote-code
"""
EXPECTED = ["serve", K2, "--tensor-parallel-size", "8", "--port", "8000", "--trust-remote-code"]


def servers(script: Script) -> list[list[str]]:
    commands = (command for command in script.commands if is_server(command.program))
    return [["serve", *(word.text for word in command.argv)] for command in commands]


def by_bash(folder: Path, files: list[tuple[str, str]], first: str) -> list[list[str]]:
    """What bash itself starts, with a `vllm` and an `sbatch` that only say what they were given."""
    programs = {"vllm": "printf '%s\\n' \"$@\"; echo", "sbatch": 'shift $(($#-3)); bash "$@"'}
    for name, text in (*files, *((name, f"#!/bin/bash\n{text}\n") for name, text in programs.items())):
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    path = {"PATH": f"{folder}:/usr/bin:/bin"}
    done = subprocess.run(["bash", first], cwd=folder, env=path, capture_output=True, text=True, check=True)
    return [start.split("\n") for start in done.stdout.strip().split("\n\n")]


@pytest.mark.parametrize(
    ("script", "call"),
    [
        (SERVE, f'MODEL={K2}\nTP=8\nbash serve.sh "$MODEL" $TP\n'),
        (SERVE, f"./serve.sh {K2} 8\n"),
        (SERVE, f"sbatch -N 1 --gres gpu:8 serve.sh {K2} 8\n"),
        (SERVE, f"source serve.sh {K2} 8\n"),
        (SERVE, f". ./serve.sh {K2} 8\n"),
        (SERVE, f'start() {{ bash "$(pwd)/serve.sh" "$1" 8; }}\nstart {K2}\n'.replace("$(pwd)/", "./")),
        (SERVE, f"set -e\ncd .\nbash -e ./serve.sh '{K2}' 8 8000 > /dev/stdout\n"),
        (OPTIONS, f"bash serve.sh --tp 8 --model {K2}\n"),
        (OPTIONS, f"bash serve.sh --model {K2} -t 8\n"),
        (LETTERS, f"bash serve.sh -v -m {K2} -t8\n"),
        ('vllm serve "$@"\n', f"bash serve.sh {' '.join(EXPECTED[1:])}\n"),
        ("TP=$1\n", f"source serve.sh 8\nvllm serve {K2} --tensor-parallel-size $TP --port 8000 --trust-remote-code\n"),
    ],
)
def test_files_given_together(script: str, call: str, tmp_path: Path) -> None:
    files = [("run.sh", call), ("serve.sh", script)]
    assert by_bash(tmp_path, files, "run.sh") == [EXPECTED]
    assert servers(read_files(files)) == [EXPECTED]
    assert servers(read_files([*reversed(files)])) == [EXPECTED]


@pytest.mark.parametrize(
    "text",
    [
        f"$ cat run.sh\nbash /srv/serve.sh {K2} 8\n\n$ cat bin/serve.sh\n{SERVE}\n$ nvidia-smi\n",
        f"user@host:~$ cat serve.sh\n{SERVE}user@host:~$ ./serve.sh {K2} 8\n",
        f"==> run.sh <==\n#!/bin/bash\nbash serve.sh {K2} 8\n\n==> serve.sh <==\n{SERVE}",
        f"# Serving\n\nserve.sh:\n\n```bash\n{SERVE}```\n\nRun it:\n\n```bash\nbash serve.sh {K2} 8\n```\n",
        f"# Serving\n\n```bash\n{SERVE}```\n\nRun it by `bash serve.sh {K2} 8`.\n",
        f"# Serving\n\n```bash\n{SERVE}```\n\nI started it with\n\n    bash serve.sh {K2} 8\n",
        f"# Serving\n\nStart: bash start.sh {K2} 8\n\n```bash\n# start.sh\n{SERVE}```\n",
        f"# Serving\n\n`bash serve.sh <model> <tp>`, here `bash serve.sh {K2} 8`:\n\n```bash\n{SERVE}```\n",
    ],
)
def test_parts_of_one_text(text: str) -> None:
    assert servers(read_script(text)) == [EXPECTED]


def test_each_call_is_a_start() -> None:
    calls = "".join(f"ssh node{rank} bash serve.sh {K2} {size}\n" for rank, size in enumerate((8, 16)))
    found = servers(read_files([("all.sh", calls), ("serve.sh", SERVE)]))
    assert [words[3] for words in found] == ["8", "16"]


@pytest.mark.parametrize(
    "beside",
    [
        "chmod +x serve.sh 8 16\n",
        "# bash serve.sh m 8\n",
        'echo "Usage: bash serve.sh m 8"\n',
        "bash other-serve.sh m 8\n",
        "cat serve.sh\n",
    ],
)
def test_what_runs_no_script_of_the_text_hands_nothing_over(beside: str) -> None:
    ((_, model, _, size, *_),) = servers(read_files([("run.sh", beside), ("serve.sh", SERVE)]))
    assert (model, size) == ("$1", "$2")


@pytest.mark.parametrize("call", ["bash serve.sh <model> <tp>", "bash serve.sh", "echo bash serve.sh m 8"])
def test_a_document_that_tells_only_how_to_call_it_gives_no_values(call: str) -> None:
    text = f"# Serving\n\nserve.sh:\n\n```bash\n{SERVE}```\n\n```bash\n{call}\n```\n"
    assert [(words[1], words[3]) for words in servers(read_script(text))] == [("$1", "$2")]


@pytest.mark.parametrize(
    ("call", "block"),
    [
        ("bash install_deps.sh 12.4", "vllm serve $1 -tp $SIZE"),
        ("bash tune.sh 12.4", "IP=$(hostname -I | awk '{print $1}')\nvllm serve m -tp $SIZE --host $IP"),
        ("bash tune.sh 12.4", "serve() {\n  vllm serve $1 -tp $SIZE\n}\nserve m"),
    ],
)
def test_a_block_without_a_name_is_not_any_script_that_is_run(call: str, block: str) -> None:
    alone = f"# Serving\n\n```bash\nSIZE=8\n```\n\n```bash\n{block}\n```\n"
    assert servers(read_script(f"{alone}\n```bash\n{call}\n```\n")) == servers(read_script(alone))
    assert "8" in servers(read_script(alone))[0]


@pytest.mark.parametrize("arguments", ['"$@"', '"${ARGS[@]}"', f'{K2} "$@"'])
def test_arguments_of_which_the_number_is_not_known(arguments: str) -> None:
    ((_, model, _, size, *_),) = servers(read_files([("run.sh", f"bash serve.sh {arguments}\n"), ("serve.sh", SERVE)]))
    assert (model, size) == ("$1", "$2")


def test_of_two_files_of_one_name_neither_is_meant_for_sure() -> None:
    files = [("run.sh", f"bash serve.sh {K2} 8\n"), ("a/serve.sh", SERVE), ("b/serve.sh", SERVE)]
    assert {words[3] for words in servers(read_files(files))} == {"$2"}


def test_a_script_that_runs_itself_is_read_once() -> None:
    again = f"{SERVE}bash serve.sh $1 $2\n"
    assert servers(read_files([("run.sh", f"bash serve.sh {K2} 8\n"), ("serve.sh", again)])) == [EXPECTED]
