"""What a text writes behind a command stays behind the corrected one, and what opens the host and is left is named."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_script
from moonpad.report.explain_view import explain_view
from tests.unit.explain.judging import ask

SERVE = "vllm serve moonshotai/Kimi-K2.6 --tensor-parallel-size 8 --trust-remote-code"
LACKS = "Corrected vllm serve moonshotai/Kimi-K2.6 --tensor-parallel-size 8 --trust-remote-code "


def shown(text: str) -> str:
    plain = explain_view(ask(text), read_script(text), 100).plain
    return " ".join(plain.replace("\\\n", "").split())


@pytest.mark.parametrize(
    "behind",
    [
        "2>&1 | tee logs/kimi.log",
        "> server.log 2>&1 &",
        "2>&1 | tee -a out.txt",
        '2>&1 | tee "logs/k-$(date +%s).log"',
        "&> server.log",
    ],
)
@pytest.mark.parametrize("apart", [" ", " \\\n  "])
def test_it_stays(behind: str, apart: str) -> None:
    plain = shown(f"{SERVE}{apart}{behind}\n")
    assert LACKS in plain
    assert f"--reasoning-parser kimi_k2 {behind} " in plain


@pytest.mark.parametrize("behind", ["| tee $LOG", "> $OUT/a.log", "&& echo done", "# 8 GPUs", "&"])
def test_what_needs_the_script_around_it_is_no_part_of_the_line(behind: str) -> None:
    plain = shown(f"{SERVE} {behind}\n")
    assert LACKS in plain
    assert f"--reasoning-parser kimi_k2 {behind[:3]}" not in plain


def test_what_is_sent_to_a_file_by_nohup_is_left_out_with_it() -> None:
    assert "server.log" not in shown(f"nohup {SERVE} > server.log 2>&1 &\n").partition("Corrected")[2]


def test_options_that_open_the_host_are_called_unmended() -> None:
    run = "docker run --gpus all --ipc=host --privileged --security-opt seccomp=unconfined vllm/vllm-openai:v0.33.0 "
    plain = shown(f"{run}--model moonshotai/Kimi-K2.6 --tensor-parallel-size 8 --trust-remote-code\n")
    assert "Not mended in it: --privileged, --security-opt, see above" in plain


def test_a_name_that_a_terminal_has_broken_is_not_half_of_it() -> None:
    words = f"{SERVE} --port 8000 --host 127.0.0.1 --max-num-seqs 64 > /srv/data/logs/of/it/server.log"
    broken = [words[:60], words[60:120], words[120:]]
    assert "/srv" not in shown("\n".join(broken) + "\n").partition("Corrected")[2]
