"""Data-parallel ranks beyond their number, of the engine and of a program that starts a script once a rank."""

from __future__ import annotations

import pytest

from moonpad.explain.judge import judge
from moonpad.explain.script import read_script
from moonpad.explain.target_detection import Question
from moonpad.values.finding import Finding, Severity

SERVE = "vllm serve moonshotai/Kimi-K2-Thinking -tp 1 --enable-expert-parallel --trust-remote-code"
TEMPLATE = "vllm serve /models/Kimi-K2-W8A8 --data-parallel-size $3 --data-parallel-rank $4 --tensor-parallel-size $7"
LAUNCH = "python launch_online_dp.py --dp-address 192.0.2.1 --dp-rpc-port 12321"
KV = """--kv-transfer-config '{"kv_connector": "MooncakeConnectorV1", "kv_role": "kv_consumer",
 "kv_connector_extra_config": {"prefill": {"dp_size": 2, "tp_size": 8}, "decode": {"dp_size": 4, "tp_size": 4}}}'"""


def found(text: str, words: str) -> list[Finding]:
    findings = [finding for each in judge(read_script(text), Question()) for finding in each.findings]
    return [finding for finding in findings if words in f"{finding.where} {finding.message} {finding.remedy}"]


@pytest.mark.parametrize(
    ("options", "where", "words"),
    [
        ("-dp 16 --data-parallel-size-local 8 --data-parallel-start-rank 12", "--data-parallel-start-rank", "12 to 19"),
        ("-dp 16 -dpl 8 -dpr 16 --headless", "--data-parallel-start-rank", "16 to 23 of 16"),
        ("-dp 8 --data-parallel-rank 8", "--data-parallel-rank", "rank 8 of 8, which are 0 to 7"),
        ("--data-parallel-size 4 --data-parallel-start-rank 4", "--data-parallel-start-rank", "rank 4 of 4"),
    ],
)
def test_the_engine_has_no_such_rank(options: str, where: str, words: str) -> None:
    (finding,) = found(f"{SERVE} {options}", "which are 0 to")
    assert (finding.severity, finding.where) == (Severity.ERROR, where)
    assert words in finding.message


@pytest.mark.parametrize(
    "options",
    [
        "-dp 16 --data-parallel-size-local 8 --data-parallel-start-rank 8 --headless",
        "-dp 16 --data-parallel-size-local 8 --data-parallel-start-rank 0",
        "-dp 8 --data-parallel-rank 7",
        "-dp $DP --data-parallel-rank 8",
        "-dp 8 --data-parallel-rank $RANK",
        "--data-parallel-rank 8",
        "-dp 16 --data-parallel-size-local $LOCAL --data-parallel-start-rank 8",
    ],
)
def test_the_engine_has_it(options: str) -> None:
    assert found(f"{SERVE} {options}", "which are 0 to") == []


@pytest.mark.parametrize(
    ("options", "where", "words"),
    [
        ("--dp-size 4 --tp-size 4 --dp-size-local 4 --dp-rank-start 4", "--dp-rank-start", "ranks 4 to 7 of 4"),
        ("--dp-size=2 --tp-size=8 --dp-size-local=2 --dp-rank-start=1", "--dp-size-local", "ranks 1 to 2 of 2"),
        ("--dp-size 4 --tp-size 4 --dp-rank-start 2", "--dp-rank-start", "ranks 2 to 5 of 4"),
    ],
)
def test_the_launcher_starts_too_many(options: str, where: str, words: str) -> None:
    (finding,) = found(f"```bash\n{TEMPLATE}\n```\n```bash\n{LAUNCH} {options}\n```\n", "which are 0 to")
    assert (finding.severity, finding.where) == (Severity.ERROR, where)
    assert words in finding.message


def test_the_launcher_wants_more_devices_than_a_machine_has() -> None:
    text = f"{TEMPLATE}\n{LAUNCH} --dp-size 8 --tp-size 4 --dp-size-local 8"
    (finding,) = found(text, "on one machine")
    assert (finding.severity, finding.where) == (Severity.WARNING, "--dp-size-local")


@pytest.mark.parametrize(
    "options",
    [
        "--dp-size 8 --tp-size 4 --dp-size-local 4 --dp-rank-start 4",
        "--dp-size 4 --tp-size 4",
        "--dp-size 4 --tp-size 4 --dp-size-local -1 --dp-rank-start 0",
        "--dp-size $DP --tp-size 4 --dp-size-local 4 --dp-rank-start 4",
        "--dp-size 8 --tp-size 4 --dp-size-local 4 --dp-rank-start $START",
    ],
)
def test_the_launcher_starts_what_there_is(options: str) -> None:
    assert found(f"{TEMPLATE}\n{LAUNCH} {options}", "--dp-") == []


@pytest.mark.parametrize(
    ("firsts", "local", "said"), [((0, 1), 1, 1), ((0, 2), 2, 0), ((0, 1, 2, 3), 1, 0), ((0,), 1, 0), ((0, 0), 1, 0)]
)
def test_the_launchers_of_all_machines_start_all_ranks(firsts: tuple[int, ...], local: int, said: int) -> None:
    """Where more than one machine is shown."""
    starts = "".join(
        f"{LAUNCH} --dp-size 4 --tp-size 4 --dp-size-local {local} --dp-rank-start {first} --dp-rpc-port 16591\n"
        for first in firsts
    )
    assert len(found(f"{TEMPLATE}\n{starts}", "together they start 2 of 4 ranks")) == said


def test_options_of_another_program() -> None:
    text = f"{TEMPLATE}\npython train.py --dp-size 4 --dp-size-local 4 --dp-rank-start 4"
    assert found(text, "which are 0 to") == []


def test_the_script_gets_the_sizes_of_its_role() -> None:
    """Two scripts for one role, and the start of the other role above: not one start for each script."""
    starts = [f"{LAUNCH} --dp-size 2 --tp-size 8 --dp-size-local 2", f"{LAUNCH} --dp-size 4 --tp-size 4"]
    text = "\n".join(f"```bash\n{part}\n```" for part in (f"{TEMPLATE} {KV}", f"{TEMPLATE} {KV} --seed 1", *starts))
    judged = judge(read_script(text), Question())
    assert [(each.layout.dp, each.layout.tp) for each in judged if each.layout] == [(4, 4), (4, 4)]


@pytest.mark.parametrize(
    "start",
    [
        "python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2-Instruct --tp 16 --dist-init-addr 192.0.2.1:5",
        "vllm serve moonshotai/Kimi-K2-Instruct -tp 8 -pp 2 --master-addr 192.0.2.1 --headless",
    ],
)
def test_machines_count_from_0(start: str) -> None:
    (finding,) = found(f"{start} --nnodes 2 --node-rank 2 --trust-remote-code", "which are 0 to 1")
    assert (finding.severity, finding.where) == (Severity.ERROR, "--node-rank")
    assert not found(f"{start} --nnodes 3 --node-rank 2 --trust-remote-code", "which are 0 to 2")
    assert not found(f"{start} --nnodes $N --node-rank 2 --trust-remote-code", "which are 0 to")


def test_a_machine_that_joins_later_counts_on() -> None:
    start = "sglang serve --model-path moonshotai/Kimi-K2-Instruct --tp 16 --nnodes 2 --node-rank 2"
    assert not found(f"{start} --elastic-ep-backend mooncake --trust-remote-code", "which are 0 to")
