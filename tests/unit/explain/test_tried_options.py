"""Tables of what a benchmark is to try, beside the options that all its runs have."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

TABLE = """model:
  name: moonshotai/Kimi-K2.6
servers:
  first:
    enabled: true
    {key}: {program}
    fixed_flags:
      {tp}: 8
      trust_remote_code: true
      {tokens}: 8192
    {space}:
      {sequences}:
      - 24
      - 40
"""
VLLM = {"program": "vllm serve", "tp": "tensor_parallel_size", "tokens": "max_num_batched_tokens"}
SGLANG = {"program": "python3 -m sglang.launch_server", "tp": "tp_size", "tokens": "chunked_prefill_size"}
TRTLLM = {"program": "trtllm-serve serve", "tp": "tp_size", "tokens": "max_num_tokens"}
SEQUENCES = {"vllm serve": "max_num_seqs", "trtllm-serve serve": "max_batch_size"}


@pytest.mark.parametrize("given", [VLLM, SGLANG, TRTLLM], ids=["vllm", "sglang", "trtllm"])
@pytest.mark.parametrize("space", ["search_space", "param-grid", "sweepSpace"])
def test_values_to_try_are_no_command_and_the_program_is_that_of_its_options(given: dict[str, str], space: str) -> None:
    sequences = SEQUENCES.get(given["program"], "max_running_requests")
    judged = ask(TABLE.format(**given, key="server_command", space=space, sequences=sequences))
    findings = [finding for each in judged for finding in each.findings]
    assert not [finding for finding in findings if finding.severity is Severity.ERROR]
    assert not [finding for finding in findings if "none is given" in finding.message]


def test_a_start_beside_other_keys_is_read() -> None:
    (judged,) = ask("name: a\ncommand: vllm serve moonshotai/Kimi-K2.6 -tp 8\nbenchmark:\n  runs: 2\n")
    assert judged.layout is not None
    assert judged.layout.tp == 8
