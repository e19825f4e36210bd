"""Servers that a Python program hands to a harness as a list of arguments, and defaults of tables of elsewhere."""

from __future__ import annotations

import pytest

from moonpad.explain.commands import Command
from moonpad.explain.script import read_script

LISTS = """from harness import ModelLaunchSettings, run
MODEL = "org/m"
BASE = ["--trust-remote-code", "--mem-fraction-static=0.8", "--attention-backend=triton"]
"""


def known(text: str) -> list[Command]:
    return [command for command in read_script(text).commands if command.program not in ("other", "docker")]


def argv(command: Command) -> str:
    return " ".join(word.text for word in command.argv)


def test_each_variant_is_a_server() -> None:
    text = LISTS + (
        "VARIANTS = [\n"
        '    ModelLaunchSettings(MODEL, tp_size=8, extra_args=BASE, variant="TP8"),\n'
        '    ModelLaunchSettings(MODEL, tp_size=8, extra_args=BASE + ["--dp=8", "--enable-dp-attention"], name="DP"),\n'
        "]\nrun(models=VARIANTS, seconds=3600)\n"
    )
    first, second = known(text)
    base = "--model-path org/m --tp-size 8 --trust-remote-code --mem-fraction-static=0.8 --attention-backend=triton"
    assert (first.program, argv(first)) == ("sglang", base)
    assert argv(second) == f"{base} --dp=8 --enable-dp-attention"


def test_what_a_test_starts_with_other_arguments() -> None:
    text = LISTS + (
        "class TestIt:\n    def setup(self):\n"
        "        self.process = popen_launch_server(MODEL, URL, timeout=600,\n"
        '            other_args=[*BASE, "--tp", "4"], env={"A_B": "1"})\n'
    )
    (command,) = known(text)
    assert argv(command).startswith("--model-path org/m --trust-remote-code")
    assert argv(command).endswith("--tp 4")
    assert command.env["A_B"].text == "1"


@pytest.mark.parametrize(
    ("imported", "program"),
    [
        ("from sglang.test.test_utils import DEFAULT_URL_FOR_TEST", "sglang"),
        ("import vllm.utils", "vllm serve"),
        ("import os", "sglang"),
    ],
    ids=["sglang", "vllm", "by the shortened flag"],
)
def test_the_engine_that_is_imported_is_meant(imported: str, program: str) -> None:
    flags = '"--trust-remote-code", "--tp=8", "--tool-call-parser=kimi_k2", "--reasoning-parser=kimi_k2"'
    (command,) = known(f"{imported}\nLaunch('org/m', tp_size=8, extra_args=[{flags}])\n")
    assert command.program == program


@pytest.mark.parametrize(
    "call",
    [
        'Run("org/m", extra_args=["--color", "--verbose", "--tp"])',
        'Run("org/m", extra_args=["--trust-remote-code"])',
        "Run(MODEL, extra_args=BASE)",
    ],
    ids=["of another program", "too few", "no layout"],
)
def test_lists_of_others_start_nothing(call: str) -> None:
    assert known(f"{LISTS}{call}\n") == []


def test_a_program_that_starts_one_itself_is_read_by_that() -> None:
    text = (
        "import subprocess\n"
        'args = ["--tensor-parallel-size", "8", "--max-model-len", "4096", "--trust-remote-code"]\n'
        'values = {"model": "org/m", "args": args}\n'
        'subprocess.run(["vllm", "serve", "org/m", *args])\n'
    )
    (command,) = known(text)
    assert argv(command).startswith("org/m --tensor-parallel-size 8")


VALUES = """import json, sys
given = json.loads(open("run.json").read()).get("recommended") or {}
args = [
    f"--tensor-parallel-size={given.get('tp', %s)}",
    "--tool-call-parser=kimi_k2",
    "--port=8000",
]
if given.get("trust", True):
    args.insert(len(args) - 1, "--trust-remote-code")
json.dump({"vllm": {"args": args}}, sys.stdout)
"""


def test_the_default_of_a_table_that_is_elsewhere() -> None:
    (command,) = known(VALUES % 8)
    assert "--tensor-parallel-size=8" in argv(command)
    assert "--trust-remote-code" in argv(command)


def test_one_is_no_choice() -> None:
    (command,) = known(VALUES % 1)
    assert "--tensor-parallel-size=1" not in argv(command)
    assert any(word.unresolved for word in command.argv)
