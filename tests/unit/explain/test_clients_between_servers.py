"""A benchmark in a loop that starts a server in each pass: one client, told once."""

from __future__ import annotations

from tests.unit.explain.judging import ask

LOOP = """export VLLM_USE_FLASHINFER_MOE_FP4=1
for n in 1 2 3; do
  vllm serve moonshotai/Kimi-K2-Instruct --tensor-parallel-size 8 --max-num-seqs $n &
  vllm bench serve --model moonshotai/Kimi-K2-Instruct --max-concurrency $n --num-prompts 10
done
"""


def test_it_is_one_client_with_one_note_about_a_variable() -> None:
    (client,) = [each for each in ask(LOOP) if each.kind == "client"]
    notes = [each for each in client.findings if each.where == "VLLM_USE_FLASHINFER_MOE_FP4"]
    assert len(notes) == 1


def test_another_benchmark_is_a_client_of_its_own() -> None:
    text = f"{LOOP}vllm bench serve --model moonshotai/Kimi-K2-Instruct --num-prompts 99\n"
    assert len([each for each in ask(text) if each.kind == "client"]) == 2
