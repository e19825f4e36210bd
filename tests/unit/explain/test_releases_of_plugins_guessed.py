"""`VLLM_VERSION=0.9.1` names a release of vLLM, for which the plugin has several: what one alone has is a note."""

from __future__ import annotations

from moonpad.explain.results import Judged
from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask_one

KEY = "expert_tensor_parallel_size"
"""vLLM-Ascend 0.9.1rc1 reads it, and 0.9.1 does not (vllm_ascend/ascend_config.py of both tags)."""
SERVE = f"""export TASK_QUEUE_ENABLE=1
python -m vllm.entrypoints.openai.api_server --model=/mnt/DeepSeek-R1-W8A8 --quantization ascend -tp=8 -dp=2 \\
  --trust-remote-code --additional-config '{{"ascend_scheduler_config":{{"enabled":true}},"{KEY}":16}}'"""
BASE = "export VLLM_VERSION=0.9.1\n"


def about(judged: Judged, word: str) -> list[Severity]:
    return [each.severity for each in judged.findings if word in each.message]


def test_a_key_that_another_release_reads_is_a_note_and_stays() -> None:
    judged = ask_one(BASE + SERVE, on="")
    assert judged.engine == "vllm-ascend"
    assert about(judged, KEY) == [Severity.NOTE]
    assert all(KEY in " ".join(line.argv) for line in judged.corrected)


def test_of_the_release_that_is_named_it_is_a_warning_and_goes() -> None:
    judged = ask_one(f"pip install vllm-ascend==0.9.1\n{BASE}{SERVE}", on="")
    assert about(judged, KEY) == [Severity.WARNING]
    assert judged.corrected
    assert all(KEY not in " ".join(line.argv) for line in judged.corrected)


def test_a_slip_in_each_of_them_is_a_warning() -> None:
    judged = ask_one(BASE + SERVE.replace('"enabled"', '"enabeld"').replace(f',"{KEY}":16', ""), on="")
    (severity,) = about(judged, 'no key "enabeld"')
    assert severity is not Severity.NOTE
