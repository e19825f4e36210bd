"""Which folders of checks a text is put to: the others are not imported."""

from __future__ import annotations

import subprocess
import sys

import pytest

from moonpad.explain.checks.command_checks import all_checks, checks_of

PLAIN = "vllm serve moonshotai/Kimi-K2-Instruct --tensor-parallel-size 8 --trust-remote-code"
SIGNS = {
    "installs": "pip install vllm==0.11.0",
    "dynamo": "python -m dynamo.vllm --model moonshotai/Kimi-K2-Instruct",
    "manifests": "      containers:\n      - name: main",
    "containers": "docker run --gpus all vllm/vllm-openai:v0.11.0",
    "pools": "# the decode pool",
    "clients": "curl http://localhost:8000/v1/models",
}


def folders(*lines: str, words: tuple[str, ...] = ()) -> set[str]:
    return {
        check.__module__.removeprefix("moonpad.explain.checks.").partition(".")[0] for check in checks_of(lines, words)
    }


@pytest.mark.parametrize("folder", SIGNS)
def test_a_sign_in_the_text_or_in_its_words_asks_a_folder(folder: str) -> None:
    assert folder not in folders(PLAIN)
    assert folder in folders(PLAIN, *SIGNS[folder].splitlines())
    assert folder in folders(PLAIN, words=(SIGNS[folder],))


def test_a_text_with_every_sign_is_put_to_all() -> None:
    every = all_checks()
    assert len(set(every)) == len(every)
    assert checks_of((PLAIN, *"\n".join(SIGNS.values()).splitlines())) == every


def test_a_plain_command_imports_no_folder_without_a_sign() -> None:
    code = (
        "import sys\n"
        "from moonpad.explain.judge import judge\n"
        "from moonpad.explain.script import read_script\n"
        "from moonpad.explain.target_detection import Question\n"
        f"assert judge(read_script({PLAIN!r}), Question())\n"
        "print(*(name for name in sys.modules if name.endswith('.family')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    imported = {name.split(".")[-2] for name in done.stdout.split()}
    assert "models" in imported
    assert imported.isdisjoint(SIGNS)
