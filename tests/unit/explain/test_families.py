"""Which folders of checks a text is put to: the others are not imported."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from moonpad.explain.checks import command_checks
from moonpad.explain.checks.command_checks import all_checks, checks_of
from moonpad.explain.judge import judge
from moonpad.explain.script import read_files
from moonpad.explain.target_detection import Question
from tests.drawn import some

CORPUS = sorted(path for path in (Path(__file__).parents[2] / "explain_corpus").iterdir() if path.is_dir())

PLAIN = "vllm serve moonshotai/Kimi-K2-Instruct --tensor-parallel-size 8 --trust-remote-code"
SIGNS = {
    "installs": "pip install vllm==0.11.0",
    "dynamo": "python -m dynamo.vllm --model moonshotai/Kimi-K2-Instruct",
    "manifests": "      containers:\n      - name: main",
    "containers": "docker run --gpus all vllm/vllm-openai:v0.11.0",
    "pools": "# the decode pool",
    "programs": "import subprocess",
    "starters": "[program:kimi]",
    "clients": "curl http://localhost:8000/v1/models",
}

ALL_SIGNS = (PLAIN, *"\n".join(SIGNS.values()).splitlines())


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
    assert checks_of(ALL_SIGNS) == every


@pytest.mark.parametrize("folder", some(CORPUS[::60]), ids=lambda path: path.name)
def test_nothing_is_lost_of_a_text(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def told() -> list[str]:
        script = read_files([(str(path), path.read_text(errors="replace")) for path in folder.glob("input*")])
        judged = judge(script, Question())
        return sorted(f"{each.where} {each.message} {each.remedy}" for one in judged for each in one.findings)

    asked, every = told(), command_checks.checks_of(ALL_SIGNS)
    monkeypatch.setattr(command_checks, "checks_of", lambda *_: every)
    assert asked == told()


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
