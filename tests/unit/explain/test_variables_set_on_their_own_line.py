"""What is set in front of a command is set for the command, and not for the words of its own line.

The oracle is the shell: it prints what the words of the same line become.
"""

from __future__ import annotations

import subprocess

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

_LINUX = "moonshotai/Kimi-Linear-48B-A3B-Instruct --trust-remote-code -tp 1"


def _as_the_shell_has_it(text: str) -> list[str]:
    script = text.replace("vllm serve", "echo")
    done = subprocess.run(["/bin/sh", "-c", script], capture_output=True, text=True, check=True, env={})
    return done.stdout.split()


@pytest.mark.parametrize(
    ("text", "severity"),
    [
        (f"N=32768 vllm serve {_LINUX} --max-model-len $N --port 8000", Severity.ERROR),
        (f"N=8000 vllm serve {_LINUX} --port ${{N}}", Severity.ERROR),
        (f"N=8000 \\\n  vllm serve {_LINUX} --port $N", Severity.ERROR),
        (f"env N=8000 vllm serve {_LINUX} --port $N", Severity.ERROR),
        (f"N=7000\nN=8000 vllm serve {_LINUX} --port $N", Severity.WARNING),
        (f"export N=8000\nvllm serve {_LINUX} --port $N", None),
        (f"N=8000; vllm serve {_LINUX} --port $N", None),
        (f"N=8000\nN=8000 vllm serve {_LINUX} --port $N", None),
        (f"N=8000 sh -c 'vllm serve {_LINUX} --port $N'", None),
    ],
)
def test_what_the_line_sees(text: str, severity: Severity | None) -> None:
    (judged,) = ask(text)
    told = [finding for finding in judged.findings if "fills in $N" in finding.message]
    assert [finding.severity for finding in told] == ([severity] if severity else [])
    wanted = "32768" if "32768" in text else "8000"
    seen = _as_the_shell_has_it(text)
    assert (wanted in seen) is (severity is None)


def test_all_its_uses_are_mended() -> None:
    (judged,) = ask(f"N=77 vllm serve {_LINUX} --max-num-seqs $N --port $N\n")
    for line in judged.commands:
        assert line.argv.count("$N") == 2
    (told,) = (remark for remark in judged.remarks if "fills in $N" in remark.finding.message)
    assert [edit.words for edit in told.edits] == [("77",), ("77",)]


def test_what_a_file_may_have_set_is_no_error() -> None:
    (judged,) = ask(f"source settings.sh\nN=8000 vllm serve {_LINUX} --port $N\n")
    assert not any(finding.severity is Severity.ERROR for finding in judged.findings)
