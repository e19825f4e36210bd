"""A preset in the variables of a shell, which a program that is not there makes an engine's options of, is read."""

from moonpad.explain.results import Judged
from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

PRESET = """#!/bin/bash
export MODEL_PATH="${MODEL_PATH:-moonshotai/Kimi-K2-Instruct}"
export CONTEXT_LENGTH="${CONTEXT_LENGTH:-256000}"
export TOOL_CALL_PARSER="${TOOL_CALL_PARSER:-kimi_k2}"
export TRUST_REMOTE_CODE="${TRUST_REMOTE_CODE:-true}"
export TP_SIZE="${TP_SIZE:-16}"
export NNODES="${NNODES:-2}"
export MEM_FRACTION_STATIC="${MEM_FRACTION_STATIC:-0.70}"
export ROUTER_QUEUE_SIZE="${ROUTER_QUEUE_SIZE:-64}"
export SGLANG_ENABLE_JIT_DEEPGEMM="${SGLANG_ENABLE_JIT_DEEPGEMM:-0}"
exec /app/entrypoint.sh
"""


def only(text: str) -> Judged:
    (judged,) = ask(text)
    return judged


def test_engine_model_layout_and_context_are_read() -> None:
    judged = only(PRESET)
    assert judged.engine == "sglang"
    assert judged.checkpoint is not None
    assert judged.checkpoint.name == "moonshotai/Kimi-K2-Instruct"
    assert judged.layout is not None
    assert judged.layout.tp == 16
    assert judged.settings is not None
    assert judged.settings.max_model_len == 256_000
    beyond = [each for each in judged.findings if "131,072" in each.message]  # its max_position_embeddings
    assert [each.severity for each in beyond] == [Severity.WARNING]


def test_no_machine_is_missed_in_a_list_that_all_of_them_read() -> None:
    assert not any(each.where == "--node-rank" for each in only(PRESET).findings)


def test_plain_assignments_and_defaults_of_colons_are_read_too() -> None:
    plain = "MODEL_PATH=moonshotai/Kimi-K2-Instruct\nTP_SIZE=8\nCONTEXT_LENGTH=65536\nMAX_RUNNING_REQUESTS=32\n"
    text = f'# vLLM or SGLang\n{plain}: "${{MEM_FRACTION_STATIC:=0.8}}"\nTOOL_CALL_PARSER=kimi_k2\n. ./serve-sglang\n'
    judged = only(text)
    assert judged.layout is not None
    assert judged.layout.tp == 8
    assert judged.settings is not None
    assert judged.settings.max_model_len == 65_536


def test_few_variables_and_those_of_other_programs_start_nothing() -> None:
    assert not ask("export MODEL_PATH=moonshotai/Kimi-K2-Instruct\nexport PORT=8000\nexport HOST=0.0.0.0\n./run\n")
    assert not ask("export TP_SIZE=8\nexport ROUTER_QUEUE_SIZE=1\nexport WORLD=3\nexport EPOCHS=4\nexport LR=5\n./t\n")


def test_training_and_texts_of_no_engine_are_left_alone() -> None:
    plain = "export MODEL_PATH=moonshotai/Kimi-K2-Instruct\nexport TP_SIZE=8\nexport PP_SIZE=2\n"
    plain += "export CONTEXT_LENGTH=8192\nexport MAX_RUNNING_REQUESTS=8\nexport MEM_FRACTION_STATIC=0.8\n"
    assert ask(f"{plain}# for the sglang entrypoint\n./run\n")
    assert not ask(f"{plain}./run\n")
    assert not ask(f"{plain}export SGLANG_LOG_LEVEL=info\n./verl/train GRPO\n")


def test_variables_in_front_of_a_command_over_several_lines_are_its_own() -> None:
    names = ("MAX_NUM_SEQS=32", "MAX_MODEL_LEN=65536", "GPU_MEMORY_UTILIZATION=0.82", "PORT=8000", "MODEL=m/k", "TP=8")
    assert not ask("# vLLM\n" + " \\\n".join((*names, "./start")) + "\n")


DEFAULTS = """The launcher of our vLLM for Kimi-K2-Instruct:

```
MODEL="${MODEL:-moonshotai/Kimi-K2-Instruct}"
TP_SIZE="${TP_SIZE:-1}"
DCP_SIZE="${DCP_SIZE:-8}"
MAX_MODEL_LEN="${MAX_MODEL_LEN:-131072}"
MAX_NUM_SEQS="${MAX_NUM_SEQS:-8}"
TOOL_CALL_PARSER="${TOOL_CALL_PARSER:-kimi_k2}"
```
"""


def test_defaults_of_a_launcher_whose_line_is_not_shown_are_no_command() -> None:
    for text in (DEFAULTS, DEFAULTS.replace('TP_SIZE="${TP_SIZE:-1}"\n', "")):
        judged = only(text)
        assert judged.unknown
        assert "launcher" in judged.unjudged
        assert judged.corrected == judged.better == ()
        assert judged.memory is None
        assert {each.severity for each in judged.findings} <= {Severity.NOTE}


def test_what_reaches_another_program_is_one() -> None:
    handed_on = [
        DEFAULTS.replace("```\nMODEL", "```\nset -a\nMODEL"),
        DEFAULTS.replace('-kimi_k2}"\n', '-kimi_k2}"\nexport MODEL TP_SIZE\n'),
    ]
    for text in handed_on:
        assert "launcher" not in only(text).unjudged
