"""How a program in Python starts a server: its list of words, its environment, its pipes."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask


def told(text: str, where: str) -> list[str]:
    found = [finding for judged in ask(text) for finding in judged.findings if finding.where == where]
    return [f"{finding.message} => {finding.remedy}" for finding in found]


WORDS = '"vllm", "serve", "moonshotai/Moonlight-16B-A3B-Instruct", "--trust-remote-code"'
START = f"import json, os, subprocess\n{{before}}\np = subprocess.Popen([{WORDS}{{more}}]{{given}})\n{{rest}}\n"


def program(more: str = "", given: str = "", before: str = "", rest: str = "p.wait()") -> str:
    return START.format(more=more, given=given, before=before, rest=rest)


def test_a_list_for_a_shell() -> None:
    (message,) = told(program(given=", shell=True"), "shell=True")
    assert "only the first item of the list is the command" in message
    assert told(program(given=", shell=False"), "shell=True") == []
    assert (
        told(f'import subprocess\nsubprocess.run(["vllm serve {"a" * 4}/b -tp 2", "x"], shell=True)', "shell=True")
        == []
    )


@pytest.mark.parametrize("written", ["str(spec)", 'f"{spec}"', "repr(spec)"])
def test_a_dictionary_is_not_json(written: str) -> None:
    before = 'spec = {"method": "mtp", "num_speculative_tokens": 1}'
    (message,) = told(program(more=f', "--speculative-config", {written}', before=before), "str")
    assert message.endswith("write json.dumps(…)")


@pytest.mark.parametrize("written", ["json.dumps(spec)", "str(port)", 'f"{port}"'])
def test_other_texts_are_not_told(written: str) -> None:
    before = 'spec = {"method": "mtp"}\nport = 8000'
    assert told(program(more=f', "--port", {written}', before=before), "str") == []


@pytest.mark.parametrize("given", [', env={"CUDA_VISIBLE_DEVICES": "1"}', ", env=mine"])
def test_an_environment_in_place_of_the_whole(given: str) -> None:
    (message,) = told(program(given=given, before='mine = {"VLLM_LOGGING_LEVEL": "INFO"}'), "env")
    assert "PATH, HOME and LD_LIBRARY_PATH are gone" in message


@pytest.mark.parametrize(
    ("given", "before"),
    [
        (', env={**os.environ, "CUDA_VISIBLE_DEVICES": "1"}', ""),
        (', env={"PATH": os.environ["PATH"], "A": "1"}', ""),
        (', env=dict(os.environ, A="1")', ""),
        (", env=mine", 'mine = {"A": "1"}\nmine.update(os.environ)'),
        (", env=mine", "mine = os.environ.copy()"),
    ],
)
def test_an_environment_with_the_rest(given: str, before: str) -> None:
    assert told(program(given=given, before=before), "env") == []


def test_a_pipe_that_nothing_reads() -> None:
    (message,) = told(program(given=", stdout=subprocess.PIPE"), "stdout")
    assert "after 64 KiB of log the server stands still" in message
    assert (
        told(program(given=", stdout=subprocess.PIPE", rest="for line in p.stdout:\n    print(line)"), "stdout") == []
    )
    handed = program(given=", stdout=subprocess.PIPE", rest="watch(p)")
    assert told(handed, "stdout") == []
    assert told(program(given=", stdout=open('a.log', 'w')"), "stdout") == []


def test_settings_of_a_shell_that_ends() -> None:
    start = 'os.system("vllm serve moonshotai/Moonlight-16B-A3B-Instruct --trust-remote-code")\n'
    (message,) = told(f'import os\nos.system("export HF_HOME=/data")\n{start}', "HF_HOME")
    assert message.endswith('write os.environ["HF_HOME"] = "…"')
    (message,) = told(f'import os\nos.system("source /opt/venv/bin/activate")\n{start}', "source")
    assert message.endswith("join both by && in one call")
    both = start.replace('("vllm', '("export HF_HOME=/data && vllm')
    assert told(f"import os\n{both}", "HF_HOME") == []


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("PORT = 8000", True),
        ('PORT = "8000"', False),
        ("PORT = 8000\nPORT = str(PORT)", False),
        ("PORT = find()", False),
    ],
)
def test_a_number_under_a_name(before: str, expected: bool) -> None:
    from moonpad.explain.script import read_script

    script = read_script(program(more=', "--port", PORT', before=before))
    told_numbers = [each.remedy for each in script.problems if each.code == "number-as-word"]
    assert told_numbers == (["write str(PORT), and so for the others"] if expected else [])
