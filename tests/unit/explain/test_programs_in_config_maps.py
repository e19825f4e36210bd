"""Programs in Python that a ConfigMap holds: they are read as the same text in a file is."""

from __future__ import annotations

import textwrap

import pytest

from moonpad.explain.script import read_script

MODEL = "deepseek-ai/DeepSeek-R1"
ON_ONE_LINE = f"""\
import subprocess
command = ["vllm", "serve", "{MODEL}", "--tensor-parallel-size", "8", "--seed", "3"]
subprocess.run(command)
"""
ON_MANY_LINES = f"""\
import ray, subprocess

@ray.remote
def start():
    command = [
        "vllm",
        "serve",
        "{MODEL}",
        "--tensor-parallel-size",
        "8",
        "--seed",
        "3",
    ]
    subprocess.Popen(command).wait()

ray.get(start.remote())
"""
FOR_A_SHELL = f'''\
import os

SCRIPT = """
vllm serve {MODEL} \\
  --tensor-parallel-size 8 --seed 3
"""
os.system(SCRIPT)
'''
PROGRAMS = {"one line": ON_ONE_LINE, "many lines": ON_MANY_LINES, "a text for a shell": FOR_A_SHELL}


def held(program: str, name: str = "start.py") -> str:
    block = textwrap.indent(program, "    ")
    return f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c}}\ndata:\n  {name}: |\n{block}"


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_it_starts_what_the_file_starts(program: str) -> None:
    (command,) = read_script(held(program)).commands
    assert command.program == "vllm serve"
    words = [word.text for word in command.argv]
    assert words == [MODEL, "--tensor-parallel-size", "8", "--seed", "3"]
    assert command.more == ""
    (of_file,) = read_script(program).commands
    above = held(program).split("\n").index(f"    {program.split(chr(10))[0]}")
    wanted = of_file.argv[0].line + above
    assert command.argv[0].line in (wanted, wanted - 1)  # of a string over several lines that of its beginning


def test_each_word_has_its_place_in_the_block() -> None:
    text = held(ON_MANY_LINES)
    lines = text.split("\n")
    (command,) = read_script(text).commands
    for word in command.argv:
        assert lines[word.line - 1][word.column : word.end_column].strip('"') == word.text


def pod(program: str, start: str, devices: int) -> str:
    return (
        "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - name: a\n    image: registry.internal/team/server:7\n"
        f"    command: {start}\n    resources: {{limits: {{nvidia.com/gpu: '{devices}'}}}}\n---\n{held(program)}"
    )


def test_it_runs_in_the_container_that_names_it_and_once() -> None:
    (command,) = read_script(pod(ON_ONE_LINE, '["python3", "/opt/start.py"]', 4)).commands
    assert command.container is not None
    assert command.container.devices == 4
    assert command.container.image is not None
    assert command.container.image.text == "registry.internal/team/server:7"


def test_a_program_among_the_words_of_a_container() -> None:
    code = f"import subprocess\\nsubprocess.run(['vllm', 'serve', '{MODEL}', '--seed', '3'])"
    text = (
        "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - name: a\n    image: vllm/vllm-openai:v0.10.0\n"
        f'    command: ["python3", "-c", "{code}"]\n    resources: {{limits: {{nvidia.com/gpu: "4"}}}}\n'
    )
    (command,) = read_script(text).commands
    assert [word.text for word in command.argv] == [MODEL, "--seed", "3"]
    assert command.container is not None
    assert command.container.devices == 4


@pytest.mark.parametrize(
    "program",
    [
        'import torch\nprint("no server")\n',
        "class Deployment:\n    def __init__(self, model: str, tensor_parallel_size: int):\n        pass\n",
    ],
)
def test_a_program_that_starts_nothing_starts_nothing(program: str) -> None:
    assert not [command for command in read_script(held(program)).commands if command.program == "vllm serve"]


def test_a_shell_script_stays_a_shell_script() -> None:
    script = f"#!/bin/bash\nimport -window root x.png\nvllm serve {MODEL} --seed 3\n"
    (command,) = (each for each in read_script(held(script, "start.sh")).commands if each.program == "vllm serve")
    assert [word.text for word in command.argv] == [MODEL, "--seed", "3"]


def test_a_template_in_its_text_is_a_value_that_is_not_known() -> None:
    program = f'import os\n\nos.system("vllm serve {MODEL} -tp {{{{ .Values.tp }}}} --seed 3")\n'
    (command,) = read_script(held(program)).commands
    model, flag, value, *rest = command.argv
    assert [model.text, flag.text, *(word.text for word in rest)] == [MODEL, "-tp", "--seed", "3"]
    assert value.unresolved
    assert model.line == held(program).split("\n").index(f"    {program.split(chr(10))[2]}") + 1
