"""Several machines of one engine: the same rank twice, which ranks are missing, and what all must have in common."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Finding
from tests.unit.explain.judging import ask, ask_one

MP = "vllm serve moonshotai/Kimi-K2.6 -tp 8 -pp 2 --nnodes 2 --master-addr 192.0.2.1 --trust-remote-code"
WIDE = "vllm serve moonshotai/Kimi-K2-Instruct --data-parallel-size 16 --data-parallel-size-local 8 \
--data-parallel-address 192.0.2.1 --enable-expert-parallel --trust-remote-code"


def found(text: str, where: str) -> list[Finding]:
    return [finding for each in ask(text, "2x8xH200") for finding in each.findings if finding.where == where]


def test_the_same_rank_twice() -> None:
    findings = found(f"# left box\n{MP} --node-rank 0\n# right box\n{MP} --node-rank 0 --headless", "--node-rank")
    assert findings
    assert all("starts the same rank 0" in each.message for each in findings)


def test_one_rank_alone() -> None:
    (finding,) = found(f"{MP} --node-rank 0", "--node-rank")
    assert "the only command is that of rank 0" in finding.message


def test_both_ranks() -> None:
    assert not found(f"{MP} --node-rank 0\n{MP} --node-rank 1 --headless", "--node-rank")


def test_the_second_machine_alone_lacks_the_first() -> None:
    (finding,) = found(f"{WIDE} --data-parallel-start-rank 8 --headless", "--data-parallel-start-rank")
    assert (
        finding.remedy == "start the ranks from 0 on with --data-parallel-size-local 8 on the head, without --headless"
    )


def test_a_machine_in_the_middle_lacks_both() -> None:
    text = f"{WIDE.replace('16', '32')} --data-parallel-start-rank 8 --headless"
    (finding,) = found(text, "--data-parallel-start-rank")
    assert finding.remedy.endswith("and those from 16 on")


def test_the_first_machine_alone_lacks_the_second() -> None:
    (finding,) = found(WIDE, "--data-parallel-start-rank")
    assert "--data-parallel-start-rank 8 on the next node" in finding.remedy


def test_a_rank_of_its_own_is_not_counted_by_what_it_must_not_say() -> None:
    findings = ask_one(f"{WIDE} --data-parallel-rank 3", "2x8xH200").findings
    assert any(each.where == "--data-parallel-size-local" for each in findings)
    assert not any("start the others" in each.remedy for each in findings)


def test_ranks_of_a_loop_whose_first_is_not_known() -> None:
    text = """for i in $(seq 0 7); do
  vllm serve moonshotai/Kimi-K2-Instruct --port $((9000 + i)) --data-parallel-size 32 \\
    --data-parallel-rank $((FIRST + i)) --data-parallel-address 192.0.2.1 --enable-expert-parallel --trust-remote-code &
done"""
    (judged,) = ask(text, "4x8xH200")
    assert len(judged.commands) == 8
    assert judged.layout is not None
    assert judged.layout.dp == 32


def test_redundant_experts_of_all_machines() -> None:
    other = """--enable-eplb --eplb-config '{"num_redundant_experts": 48}'"""
    text = f"{WIDE} {other}\n{WIDE} {other.replace('48', '32')} --headless --data-parallel-start-rank 8"
    (finding,) = found(text, "--eplb-config")
    assert finding.message.startswith("num_redundant_experts of --eplb-config: 32 here, 48 on the first node")


def test_a_switch_of_one_branch() -> None:
    for rest in (
        'MORE=""\nif [ "$RANK" != 0 ]; then MORE="--headless"; fi',
        'if [ "$RANK" = 0 ]; then MORE=""; else MORE=--headless; fi',
        'MORE=\n[ "$RANK" -gt 0 ] && MORE=--headless',
    ):
        judged = ask_one(f"{rest}\n{MP} --node-rank $RANK $MORE", "2x8xH200")
        assert not judged.unknown, rest
        assert judged.memory is not None
        assert "${MORE:+--headless}" in judged.corrected[0].argv
        assert not any(each.where == "--headless" for each in judged.findings)


def test_a_switch_that_changes_the_layout_is_not_known() -> None:
    text = 'MORE=""\nif [ "$WIDE" = 1 ]; then MORE="--enable-expert-parallel"; fi\n'
    assert ask_one(f"{text}{MP} --node-rank 0 $MORE", "2x8xH200").unknown


@pytest.mark.parametrize(
    "start",
    [
        "sglang serve --model-path moonshotai/Kimi-K2-Instruct --tp 16 --nnodes 2 --dist-init-addr 192.0.2.1:5000 ",
        "python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2-Instruct --tp 16 --nnodes 2 "
        "--dist-init-addr=192.0.2.1:5000 ",
        f"{MP} ",
    ],
)
def test_two_commands_of_rank_1_and_none_of_rank_0(start: str) -> None:
    text = f"first box\n{start}--node-rank 1\nsecond box\n{start}--port 30000 --node-rank 1\nboth hang"
    (finding,) = found(text, "--node-rank")
    assert "no command has rank 0" in finding.message
    assert finding.remedy == "write --node-rank 0 on the machine that has this address"


@pytest.mark.parametrize(
    "text",
    [
        f"{MP} --node-rank 1\n{MP} --node-rank 1\nThe same with --node-rank 0 on the first box.",
        f"{MP} --node-rank 1\n{MP.replace('192.0.2.1', '192.0.2.9')} --node-rank 1",
        f"{MP} --node-rank 1",
        f"{MP} --node-rank $RANK\n{MP} --node-rank 1\n{MP} --node-rank 1",
    ],
)
def test_where_rank_0_may_be_elsewhere(text: str) -> None:
    assert not [each for each in found(text, "--node-rank") if "no command has rank 0" in each.message]
