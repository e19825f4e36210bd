"""Branches of a condition and passes of a loop: one judgement with its differences."""

from __future__ import annotations

from moonpad.explain.alternatives import differences
from moonpad.explain.script import read_script
from moonpad.report.explain_json import explain_json
from moonpad.report.explain_view import explain_view
from tests.unit.explain.judging import ask

K2T = "moonshotai/Kimi-K2-Thinking"
CASE = f"""
case $MODE in
  plain) vllm serve {K2T} -tp 8 --enforce-eager ;;
  ep) vllm serve {K2T} -tp 8 --enable-expert-parallel --bogus ;;
  long) EXTRA="--max-model-len 262144"; vllm serve {K2T} -tp 8 $EXTRA ;;
esac
"""


def test_branches_are_one_judgement() -> None:
    (main,) = ask(CASE, "8xH200")
    assert [differences(other, main) for other in main.alternatives] == [
        ["--enable-expert-parallel", "--bogus", "no --enforce-eager"],
        ["--max-model-len 262144", "no --enforce-eager"],
    ]
    script = read_script(CASE)
    view = explain_view((main,), script, 100).plain
    assert "Or, line 4: --enable-expert-parallel, --bogus, no --enforce-eager" in view
    assert "vLLM 0.33.0 has no --bogus" in view
    (row,) = explain_json((main,), script)["deployments"]
    assert [other["places"][0]["line"] for other in row["alternatives"]] == [4, 5]
    assert row["alternatives"][0]["findings"]


def test_an_error_of_an_alternative_is_an_error() -> None:
    (main,) = ask(CASE, "8xH200")
    assert "unknown-flag" not in [finding.code for finding in main.findings]
    assert "unknown-flag" in [finding.code for finding in main.all_findings]


def test_sixteen_passes_are_one_judgement() -> None:
    text = f"for tp in 1 2 4 8; do for n in 1 2 3 4; do\nvllm serve {K2T} -tp $tp --max-num-seqs $n\ndone; done"
    (main,) = ask(text, "8xH200")
    assert len(main.alternatives) == 15
    in_a_case = CASE.replace("case", "for tp in 4 8; do\ncase", 1).replace("esac", "esac\ndone")
    (main,) = ask(in_a_case, "8xH200")
    assert len(main.alternatives) == 2  # the passes of the loop say nothing new


def test_what_runs_beside_is_no_alternative() -> None:
    beside = f"vllm serve {K2T} -tp 8 &\nvllm serve {K2T} -tp 8 --port 8001\n"
    assert len(ask(beside, "8xH200")) == 2
    ports = f"for p in 8000 8001; do vllm serve {K2T} -tp 8 --port $p & done"
    assert len(ask(ports, "8xH200")) == 2
    after = f"if [ $A ]; then vllm serve {K2T} -tp 8; fi\nif [ $B ]; then vllm serve {K2T} -tp 4; fi"
    assert len(ask(after, "8xH200")) == 2


def test_ranks_and_roles_are_no_alternatives() -> None:
    ranks = (
        f"if [ $RANK = 0 ]; then vllm serve {K2T} -tp 8 -pp 2 --nnodes 2 --node-rank 0 --master-addr a\n"
        f"else vllm serve {K2T} -tp 8 -pp 2 --nnodes 2 --node-rank 1 --master-addr a --headless; fi"
    )
    (both,) = ask(ranks, "2x8xH200")
    assert len(both.sources) == 2
    assert both.alternatives == ()
    server = f"python -m sglang.launch_server --model-path {K2T} --tp-size 8 --disaggregation-mode"
    roles = ask(f"case $ROLE in p) {server} prefill;; d) {server} decode;; esac", "8xH200")
    assert [judged.kind for judged in roles] == ["prefill", "decode"]


def test_another_engine_is_another_deployment() -> None:
    text = f"case $E in v) vllm serve {K2T} -tp 8;; s) sglang serve --model-path {K2T} --tp-size 8;; esac"
    assert [judged.engine for judged in ask(text, "8xH200")] == ["vllm", "sglang"]


CALLED = f"""
run() {{
  vllm serve {K2T} -tp 8 --max-num-seqs ${{2:-64}} > log_$1 2>&1 &
}}
run 1
run 2
run 3 EXTRA
"""


def test_a_function_that_is_called_again_says_nothing_new() -> None:
    (main,) = ask(CALLED.replace("EXTRA", ""), "8xH200")
    assert main.alternatives == ()
    (main,) = ask(CALLED.replace("EXTRA", "128"), "8xH200")
    assert [differences(other, main) for other in main.alternatives] == [["--max-num-seqs 128"]]
