"""Words with substitutions and line breaks are typed so that a shell makes of them what it made of the text."""

from __future__ import annotations

import json
import subprocess

import pytest

from moonpad.report.shell_line import quoted, typed_lines
from tests.unit.explain.judging import ask

PRINTED = '$(\n  printf \\\n    \'{"model":"%s","n":7}\' \\\n    "$DRAFT"\n)'


def as_bash_reads(word: str) -> str:
    """The one argument that bash makes of it."""
    script = f'DRAFT=/m/draft PORT=8000 LEADER=node-0; set -- {word}; echo -n "$#:$1"'
    return subprocess.run(["bash", "-c", script, "bash", "/m/draft"], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(
    ("word", "unresolved", "read"),
    [
        (PRINTED, {PRINTED}, '1:{"model":"/m/draft","n":7}'),
        ('{\n\t"port": "$PORT",\n\t"id": 0\n}', {"PORT"}, '1:{ "port": "8000", "id": 0 }'),
        ("$(LEADER):20000", {"$(LEADER)"}, "1:node-0:20000"),
        ("a\n$NOT_KNOWN", set(), "1:a\n$NOT_KNOWN"),
    ],
    ids=["printf", "json", "manifest", "no variable"],
)
def test_word_is_read_again(word: str, unresolved: set[str], read: str) -> None:
    assert as_bash_reads(quoted(word, unresolved)) == read
    assert "\n" not in quoted(word, unresolved)


def test_draft_of_a_variable_that_is_printed_over_lines() -> None:
    printed = PRINTED.replace('"n"', '"num_speculative_tokens"')
    text = (
        f'DRAFT=$1\nCONFIG="{printed}"\n'
        "vllm serve moonshotai/Kimi-K2.5 --tensor-parallel-size 8 --trust-remote-code --enable-expert-paralel \\\n"
        '  --speculative-config "$CONFIG"\n'
    )
    (judged,) = ask(text, on="8xH200", version="0.28.0")
    typed = [row for line in judged.corrected for row in typed_lines(line)]
    (config,) = [row.strip().removesuffix(" \\") for row in typed if "--speculative-config" in row]
    count, _, value = as_bash_reads(config.partition(" ")[2]).partition(":")
    assert count == "1"
    assert json.loads(value) == {"model": "/m/draft", "num_speculative_tokens": 7}


def test_variable_is_not_set_to_itself() -> None:
    text = (
        "export NCCL_DEBUG =1\nvllm serve moonshotai/Kimi-K2-Instruct -tp 8 --trust-remote-code --max-modl-len 4096\n"
    )
    (judged,) = ask(text, on="8xH200", version="0.28.0")
    typed = [row.strip() for line in judged.corrected for row in typed_lines(line)]
    assert any(row.startswith("vllm serve") for row in typed)
    assert not any(row.startswith("NCCL_DEBUG=") for row in typed)


@pytest.mark.parametrize(("ranks", "told"), [("'<1_2_OR_3>'", False), ("<RANK>", False), ("1", True)])
def test_stand_in_for_the_rank_is_the_command_of_several_machines(ranks: str, told: bool) -> None:
    shared = "vllm serve moonshotai/Kimi-K2-Instruct --trust-remote-code -tp 16 -dp 4 --data-parallel-size-local 1"
    shared += " --data-parallel-address 10.0.0.1 --data-parallel-rpc-port 13389 --data-parallel-start-rank"
    text = f"```bash\n{shared} 0\n```\n\n```bash\n{shared} {ranks} --headless\n```\n"
    judged = ask(text, on="4x16xA3", version="0.23.0")
    assert any("start 2 of them" in each.message for one in judged for each in one.findings) is told
