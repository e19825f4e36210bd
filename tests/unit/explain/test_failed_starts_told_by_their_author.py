"""The first line says that a start failed where its author says so: in inline code, in a block without a language, in a
sentence. What happened to an earlier attempt, or was mended since, is not the state of the command."""

from __future__ import annotations

import pytest

from moonpad.explain.missing_engine import missing_engine
from moonpad.explain.script import read_script
from moonpad.report.explain_verdict import verdict
from tests.unit.explain.judging import ask, only_server

SERVE = "vllm serve moonshotai/Kimi-K2.6 --tensor-parallel-size 8 --trust-remote-code"
HEAD = f"8x H200\n\n```bash\n{SERVE}\n```\n\n"


def first_line(text: str) -> str:
    return verdict(only_server(text))[0]


@pytest.mark.parametrize(
    "told",
    [
        "**Symptom:** `FrobnicateError: the frob was lost` while the weights load.",
        "`FrobnicateError: the frob was lost`",
        "**Symptom**: `FrobnicateError: the frob was lost`",
        "**Symptom:** after the load:\n```\nfrobInternalError: check failed.\nno frob\n```",
        "vLLM crashed while profiling with:\n\n```text\nno frob is to be had\n```",
        "All eight ranks died at engine init: the frob is full",
        "The server does not come up; the last line is `frob`.",
        "两台机器各起一次，启动即崩。",
    ],
)
def test_a_start_that_failed_is_told_first(told: str) -> None:
    assert first_line(HEAD + told + "\n").startswith("Failed (line ")


@pytest.mark.parametrize(
    ("told", "cause"),
    [
        ("**Symptom:** `RuntimeError: PTX compilation failed` during the load", "the driver"),
        ("```\nncclInternalError: check\nFailed to initialize any NET plugin\n```", "network plugin"),
        ("Three cells died at engine init: madvise fails EFAULT", "/dev/shm"),
        ("The points died mid-warmup: HSA has Available Free mem : 0 MB", "out of memory"),
        ("`numHeadsQ/numHeadsKv is not supported` (`fmhaKernels.cuh:444`)", "query heads"),
        ('every worker exited with "unrecognized arguments" (`--device-ids`)', "--device-ids"),
        ("两次启动均在加载阶段 OOM：", "out of memory"),
    ],
)
def test_a_cause_that_is_known_is_told_with_it(told: str, cause: str) -> None:
    sentence = first_line(HEAD + told + "\n")
    assert sentence.startswith("Stopped (line ")
    assert cause in sentence.partition(" The command: ")[0]


@pytest.mark.parametrize(
    "told",
    [
        "It no longer crashes at start.",
        "An earlier release crashed at engine init.",
        "If a worker dies at start, look at its log.",
        "The server may crash at start with less memory.",
        "Without this flag the engine crashes at start.",
        "The engine crashed at start with 1M of context; this was solved by a shorter one.",
        "The client exited with status 3 while the server went on.",
        "```text\nINFO the server is ready\nFailed requests: 0\n```",
        "```bash\ngrep Error server.log\n```",
        "| run | result |\n|---|---|\n| 1 | the engine crashed at start |",
    ],
)
def test_other_sentences_tell_of_no_failed_start(told: str) -> None:
    assert first_line(HEAD + told + "\n").startswith("Fits")


def test_what_its_author_proposes_instead_has_not_failed() -> None:
    text = f"It ran out of memory at start on our 8x H200.\n\nTry another share:\n\n```bash\n{SERVE}\n```\n"
    assert first_line(text).startswith("Fits")


LOG = "```\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 59.00 GiB.\n```\n"


@pytest.mark.parametrize(
    "part",
    [
        f"### What failed and why\n\n#### OOM at 1M of context\n\n{LOG}\n**Fix**: a shorter one.\n",
        f"### What failed\n\nWith 1048576 tokens it ran out of memory:\n\n{LOG}\n**Fix:** a shorter one.\n",
        f"### Working configuration\n\nthe one above\n\n### Attempt 1: DP=8\n\n{LOG}\n**Lesson**: not here.\n",
    ],
)
def test_the_log_of_an_earlier_attempt_is_not_of_the_command(part: str) -> None:
    assert first_line(f"# Notes\n\n{HEAD}{part}").startswith("Fits")


PLUGIN = "```\nncclInternalError: check failed.\nFailed to initialize any NET plugin\n```\n"


@pytest.mark.parametrize(
    "told",
    [
        "**What DID fix it:** the plugin's folder was removed.",
        "**What finally worked:** the plugin's folder was removed.",
        "How we solved it: the plugin's folder was removed.",
        "**The only reliable fix:** remove the plugin's folder.",
    ],
)
def test_a_failure_with_what_mended_it_is_past(told: str) -> None:
    part = f"## The network\n\n**Root cause:** a plugin of the image.\n\n{PLUGIN}\n{{}}\n"
    assert first_line(f"# Notes\n\n{HEAD}{part.format(told)}").startswith("Fits")
    what_did_not = "**What did NOT fix it:** another variable."
    assert first_line(f"# Notes\n\n{HEAD}{part.format(what_did_not)}").startswith("Stopped (line ")


def test_issues_beside_the_configuration_that_works_are_past() -> None:
    head = f"# Notes\n\n## {{}}\n\n{HEAD}"
    issues = f"## Issue 1: the network\n\n{PLUGIN}\n## Issue 2: memory\n\n{LOG}\n"
    assert first_line(head.format("Final working config") + issues).startswith("Fits")
    assert first_line(head.format("The command") + issues).startswith("Stopped (line ")
    still = f"{issues}It still happens at times.\n"
    assert first_line(head.format("Final working config") + still).startswith("Stopped (line ")


def test_a_log_below_the_command_is_its_own_though_a_fix_is_told() -> None:
    text = f"# Notes\n\n8x H200\n\n## OOM\n\n```bash\n{SERVE}\n```\n\n{LOG}\n**Fix:** a shorter context.\n"
    assert first_line(text).startswith("Stopped (line ")


def test_failures_told_as_solved_are_counted_where_nothing_is_started() -> None:
    parts = (f"### {number}\n\n**Symptom:**\n\n{LOG}\n**Fix:** `--frob`.\n\n" for number in (1, 2, 3))
    message, _ = missing_engine(read_script(f"# vLLM, Kimi-K3\n\n{''.join(parts)}"))
    assert "3 failures as solved" in message
    assert "out of memory" in message


def test_a_text_without_them_says_nothing_of_failures() -> None:
    message, _ = missing_engine(read_script("# vLLM, Kimi-K3\n\nNothing is started here.\n"))
    assert message.endswith("a command of one")


def test_what_is_told_of_a_deployment_is_told_of_both_its_pools() -> None:
    role = '      kv-transfer-config: \'{"kv_connector": "NixlConnector", "kv_role": "kv_both"}\''
    text = f"""8x B300

```yaml
name: two-pools
model: {{path: nvidia/Kimi-K2.6-NVFP4, container: vllm/vllm-openai:v0.22.0}}
resources:
  {{gpu_type: b300, gpus_per_node: 8, prefill_nodes: 1, decode_nodes: 1, prefill_workers: 1, decode_workers: 1}}
backend:
  type: vllm
  vllm_config:
    prefill:
{role}
      tensor-parallel-size: 8
    decode:
{role}
      tensor-parallel-size: 8
```

every worker crashed at start
"""
    sentences = [verdict(judged)[0] for judged in ask(text) if judged.layout is not None]
    assert len(sentences) == 2
    assert all(sentence.startswith("Failed (line ") for sentence in sentences)
