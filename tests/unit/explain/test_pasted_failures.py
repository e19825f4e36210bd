"""Errors in a text: those that an engine had are named with their cause; what a guide says of errors is none."""

from __future__ import annotations

import pytest

from moonpad.explain.judge import judge
from moonpad.explain.script import read_script
from moonpad.explain.target_detection import Question
from moonpad.values.finding import Code

SERVE = "vllm serve moonshotai/Kimi-K2.5 --tensor-parallel-size 8 --pipeline-parallel-size 2 --trust-remote-code"
PIPELINE = "KeyError: 'language_model.model.layers.30.self_attn.attn' [repeated 49x across cluster]"
REPORTS = [
    f"```bash\n{SERVE}\n```\n\nIt fails with **{PIPELINE}** after loading.\n",
    f"```bash\n{SERVE}\n```\n\n报错：{PIPELINE}\n",
    f"{SERVE}\n{PIPELINE}\n",
    f"# [Bug]: {PIPELINE}\n\n```\n{SERVE}\n```\n",
    f"I run\n```\n{SERVE}\n```\nI can see:\n```\n(Worker pid=4) ERROR 03-24 15:39:40 [a.py:74] {PIPELINE}\n```\n",
    f'{SERVE}\nTraceback (most recent call last):\n  File "x.py", line 3, in f\n    raise KeyError(\n{PIPELINE}\n',
]
GUIDES = [
    f"```bash\n{SERVE}\n```\n\n## Known issues\n\n### Pipelines\n\nError:\n```\n{PIPELINE}\n```\n",
    f"```bash\n{SERVE}\n```\n\n## Troubleshooting\n\n```\n{PIPELINE}\n```\n",
    f"```bash\n{SERVE}\n```\n\n<summary>Failure cases</summary>\n\nFails with:\n```\n{PIPELINE}\n```\n",
    f"```bash\n{SERVE}\n```\n\n## Limitations\n\nIt fails with\n```\n{PIPELINE}\n```\n",
    f"```bash\n{SERVE}\n```\n\nIf you see this error:\n\n```\n{PIPELINE}\n```\n\ntake another release.\n",
    f"```bash\n{SERVE}\n```\n\nYou may get `{PIPELINE}`.\n",
    f"```bash\n{SERVE}\n```\n\n- `{PIPELINE}`: take another release\n",
    f"```bash\n{SERVE}\n```\n\n| {PIPELINE} | take another release |\n",
    f'{SERVE} 2>&1 | tee log\nif grep -q "{PIPELINE}" log; then echo "{PIPELINE}"; fi\n',
    f"{SERVE}\n# {PIPELINE}\n",
]


def failures(text: str) -> list[list[str]]:
    judged = judge(read_script(text), Question())
    return [
        [finding.where for finding in each.findings if finding.code is Code.LOGGED_FAILURE]
        for each in judged
        if each.layout is not None
    ]


@pytest.mark.parametrize("text", REPORTS)
def test_a_reported_error_has_its_line_and_cause(text: str) -> None:
    number = next(number for number, line in enumerate(text.split("\n"), 1) if PIPELINE in line)
    assert failures(text) == [[f"line {number}"]]


@pytest.mark.parametrize("text", GUIDES)
def test_a_guide_has_not_had_the_error(text: str) -> None:
    assert failures(text) == [[]]


def test_an_error_is_that_of_the_command_above() -> None:
    other = "python -m sglang.launch_server --model-path moonshotai/Kimi-K2-Instruct --tp 8"
    assert failures(f"{other}\n{SERVE}\n{PIPELINE}\n") == [[], ["line 3"]]


def test_the_remedy_names_flags_of_the_engine() -> None:
    text = f"{SERVE}\nERROR 11-18 18:07:28 engine.py:366] ValueError: No available memory for the cache blocks.\n"
    (judged,) = judge(read_script(text), Question())
    remedy = next(finding.remedy for finding in judged.findings if finding.code is Code.LOGGED_FAILURE)
    assert remedy.startswith("raise --gpu-memory-utilization, lower --max-num-batched-tokens")


def test_many_error_lines_are_judged() -> None:
    line = "(Worker pid=4) ERROR 03-24 15:39:40 [core.py:74] RuntimeError: CUDA error: failed " + "x" * 200
    assert failures(SERVE + "\n" + "\n".join([line] * 1_000)) == [["line 2"]]


def test_a_message_that_is_broken_into_lines_is_one() -> None:
    text = (
        f"{SERVE}\n\nValueError: Free memory on device cuda:0 (110.73/121.63 GiB) on startup is\n"
        "less than desired GPU memory utilization (0.92, 111.9 GiB).\n"
    )
    (judged,) = judge(read_script(text), Question())
    (finding,) = [finding for finding in judged.findings if finding.code is Code.LOGGED_FAILURE]
    assert finding.where == "line 3"
    assert "another process" in finding.message


def test_what_only_says_that_there_was_another_error_is_none() -> None:
    line = "vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue. See stack trace (above)."
    assert failures(f"{SERVE}\nERROR 08-21 10:24:34 [async_llm.py:704] {line}\n") == [[]]


def test_a_sentence_far_above_in_a_log_introduces_nothing() -> None:
    rows = "INFO 10-31 16:32:15 [model.py:1510] Using max model len 40960\n" * 6
    text = f"{SERVE}\nsome ranks may be slow here\n{rows}ERROR 10-31 16:32:25 [core.py:708] {PIPELINE}\n"
    assert failures(text) == [["line 9"]]


def test_a_process_of_the_engine_that_speaks_outside_of_a_log() -> None:
    text = (
        "vllm serve vendor/model -tp 4 --max-model-len 131072\n\n"
        "`start.py:1395 (EngineCore pid=1713) ValueError: To serve at least one request with the model's max seq len "
        "(131072), (1.34 GiB KV cache is needed, which is larger than the available KV cache memory (0.3 GiB). Based "
        "on the available memory, the estimated maximum model length is 720.`\n"
    )
    (one,) = judge(read_script(text), Question(), ())
    assert [finding.code for finding in one.findings if "1.34 GiB" in finding.message] == [Code.LOGGED_FAILURE]


def test_a_line_with_its_time_outside_of_a_fence() -> None:
    line = (
        "[2026-03-25 05:44:29,435 W 39 39] (raylet) store_runner.cc:83: System memory request exceeds memory available "
        "in /dev/shm. The request is for 10200547328 bytes, and the amount available is 9663676416 bytes."
    )
    (one,) = judge(read_script(f"vllm serve vendor/model -tp 8 -pp 2\n\n{line}\n"), Question(), ())
    assert any("10200547328 bytes in /dev/shm" in finding.message for finding in one.findings)


def test_an_exception_as_python_prints_it_is_pasted_even_behind_a_hash() -> None:
    error = "ValueError(\"type fp8e4nv not supported in this architecture. The supported fp8 dtypes are ('fp8e5')\")"
    assert failures(f"{SERVE}\n\n# {error}\n") == [["line 3"]]
    assert failures(f"{SERVE}\n\n# {error[11:]}\n") == [[]]


def test_an_answer_that_refuses_a_request() -> None:
    refused = (
        "Error code: 400 - {'object': 'error', 'message': '\"auto\" tool choice requires --enable-auto-tool-choice"
    )
    refused += " and --tool-call-parser to be set', 'type': 'BadRequestError', 'param': None, 'code': 400}"
    assert len(failures(f"{SERVE}\n\n2. it says\n`{refused}`\n")[0]) == 1
    assert failures(f"{SERVE}\n\n## Troubleshooting\n\n`{refused}`\n") == [[]]


def test_a_text_that_a_program_looks_for_has_not_been_seen() -> None:
    error = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB"
    assert failures(f"{SERVE}\n\n{error}\n") == [["line 3"]]
    assert failures(f'{SERVE}\n\nPATTERNS = [\n    "{error}",\n]\n') == [[]]


LACKS = (
    "ValueError: To serve at least one request with the models's max seq len (262144), (17.16 GiB KV cache is needed, "
    "which is larger than the available KV cache memory (10.05 GiB)."
)


@pytest.mark.parametrize(
    "lead", ["but it says ", "I get this: ", "It ends at startup with ", "Here is the full error message: "]
)
def test_an_error_behind_the_words_of_its_author(lead: str) -> None:
    assert failures(f"{SERVE}\n\n{lead}{LACKS}\n") == [["line 3"]]
    assert not read_script(f"{SERVE}\n\n{lead}{LACKS}\n").problems


@pytest.mark.parametrize("lead", ["This avoids the ", "If you see ", "The flag is the way around "])
def test_an_error_that_a_sentence_speaks_of(lead: str) -> None:
    assert failures(f"{SERVE}\n\n{lead}{LACKS}\n") == [[]]


def test_an_apostrophe_in_a_command_opens_a_quote() -> None:
    assert [each.code for each in read_script(f"{SERVE} --served-model-name kimi's\n").problems] == ["unclosed"]
