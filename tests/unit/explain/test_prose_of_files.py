"""A report and a script given as two files: sentences of the report are not commands with mistakes."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_files

REPORT = (
    "kimi-k2-mi325x: choose the backend (#12)\n\n"
    "* kimi-k2-mi325x: choose the backend\n\n"
    "full attention moved from one kernel to the other on ROCm (between v0.18 and v0.21),\n"
    "which doesn't help (org/repo#43).\n\n"
    "  - export A_VARIABLE=1 (asm kernels\n    are found by themselves)\n"
    "  - pass --attention-backend ROCM_AITER_FA (see above)\n"
)
SERVE = "#!/usr/bin/env bash\nset -e\nvllm serve moonshotai/Kimi-K2-Instruct -tp 8 --trust-remote-code\n"
PLAIN = SERVE.partition("\n")[2]
BROKEN = "echo (one\nvllm serve moonshotai/Kimi-K2-Instruct -tp 8\n"


@pytest.mark.parametrize("serve", [SERVE, PLAIN])
@pytest.mark.parametrize("name", ["report.md", "NOTES.txt", "pull/12.rst"])
def test_sentences_have_no_mistakes_of_a_shell(serve: str, name: str) -> None:
    files = [(name, REPORT), ("run.sh", serve)]
    for given in (files, files[::-1]):
        script = read_files(given)
        assert [each.program for each in script.commands if each.program != "other"] == ["vllm serve"]
        assert not script.problems


@pytest.mark.parametrize("given", [[("report.md", REPORT), ("run.sh", BROKEN)], [("run.sh", BROKEN), ("a.md", REPORT)]])
def test_the_script_beside_it_keeps_its_own(given: list[tuple[str, str]]) -> None:
    script = read_files(given)
    assert [script.place(problem.line) for problem in script.problems] == [("run.sh", 1)]
