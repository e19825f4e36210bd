"""A correction of one machine's command says what the other machines still lack."""

from moonpad.explain.spoiling import left_in
from tests.unit.explain.judging import ask_one

SERVE = "vllm serve moonshotai/Kimi-K2-Thinking --tensor-parallel-size 16 --trust-remote-code"


def left(command: str) -> set[str]:
    judged = ask_one(command, on="2x8xH100", version="0.33.0")
    assert judged.corrected
    assert any("--reasoning-parser" in line.argv for line in judged.corrected)
    return {remark.finding.where for remark in left_in(judged)}


def test_the_other_rank_and_the_address_are_named() -> None:
    assert left(f"{SERVE} --nnodes 2 --node-rank 0") >= {"--node-rank", "--master-addr"}


def test_nothing_is_named_of_machines_that_are_all_there() -> None:
    joined = f"{SERVE} --nnodes 2 --master-addr 10.0.0.1"
    both = f"{joined} --node-rank 0\n{joined} --node-rank 1 --headless\n"
    assert not left(both) & {"--node-rank", "--master-addr"}


def test_one_machine_lacks_none() -> None:
    judged = ask_one(SERVE.replace("16", "8"), on="8xH200", version="0.33.0")
    assert not list(left_in(judged))
