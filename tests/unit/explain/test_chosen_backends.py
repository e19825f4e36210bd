"""What a log says of an attention backend belongs to the start that chooses it, and is mended with that choice."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_script
from moonpad.report.explain_view import explain_view
from moonpad.values.finding import Code
from tests.unit.explain.judging import ask

SPARSE = "vllm serve deepseek-ai/DeepSeek-V3.2 -tp 8 --tokenizer-mode deepseek_v32"
REFUSED = (
    "ValueError: Selected backend AttentionBackendEnum.{} is not valid for this configuration. "
    "Reason: ['sparse not supported']"
)
ONE = """vLLM 0.13.0 on 8xH200

## First

```bash
export VLLM_ATTENTION_BACKEND={first}
{serve}
```

{log}

## Second

```bash
export VLLM_ATTENTION_BACKEND={second}
```

{other}
"""


def text_of(first: str, logged: str, second: str) -> str:
    return ONE.format(serve=SPARSE, first=first, log=REFUSED.format(first), second=second, other=REFUSED.format(logged))


def failures(text: str) -> list[str]:
    found = [finding for judged in ask(text) for finding in judged.findings]
    return [f"{each.message} => {each.remedy}" for each in found if each.code is Code.LOGGED_FAILURE]


def test_a_log_of_another_backend_is_of_another_start() -> None:
    told = failures(text_of("CUTLASS_MLA", "FLASHMLA", "FLASHMLA"))
    assert len(told) == 1
    assert "FLASHMLA does not serve" not in told[0]


def test_a_log_of_a_backend_that_the_text_chooses_nowhere_stays() -> None:
    assert len(failures(text_of("CUTLASS_MLA", "TRITON_MLA", "FLASHMLA"))) == 2


def test_the_remedy_names_what_the_command_has_and_mends_the_log_too() -> None:
    text = text_of("CUTLASS_MLA", "FLASHMLA", "FLASHMLA")
    (told,) = failures(text)
    assert "leave the variable out" in told
    assert "--attention-backend" not in told
    assert "Not mended in it" not in explain_view(ask(text), read_script(text), 100).plain


SINKS = "TypeError: XFormersImpl.__init__() got an unexpected keyword argument 'sinks'"


@pytest.mark.parametrize(
    ("variable", "expected"),
    [("VLLM_ATTENTION_BACKEND=XFORMERS ", "leave the variable out"), ("", "start it on V1")],
)
def test_the_old_engine_that_a_backend_chose(variable: str, expected: str) -> None:
    text = f"vLLM 0.10.2\n\n```bash\n{variable}vllm serve openai/gpt-oss-120b -tp 2\n```\n\n{SINKS}\n"
    (told,) = failures(text)
    assert expected in told


FLASHINFER = "VLLM_ATTENTION_BACKEND=FLASHINFER vllm serve openai/gpt-oss-120b -tp 2"


@pytest.mark.parametrize(
    ("on", "release", "refused"),
    [("2xH100", "0.10.2", True), ("2xB200", "0.10.2", False), ("2xH100", "0.10.1.1", False)],
)
def test_sinks_by_flashinfer_on_hopper(on: str, release: str, refused: bool) -> None:
    (judged,) = ask(f"```bash\n{FLASHINFER}\n```\n", on, release)
    told = [each for each in judged.findings if "attention sinks through its TRT-LLM kernels" in each.message]
    assert bool(told) is refused
    assert ("VLLM_ATTENTION_BACKEND" in judged.corrected[0].env if judged.corrected else False) is not refused
