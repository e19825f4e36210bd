"""What a program in Python does around the engine that it makes: arguments of other engines, what comes too late."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask


def told(text: str, where: str) -> list[str]:
    found = [finding for judged in ask(text) for finding in judged.findings if finding.where == where]
    return [f"{finding.severity} {finding.message} => {finding.remedy}" for finding in found]


MODEL = "moonshotai/Moonlight-16B-A3B-Instruct"
SGLANG = f'import sglang as sgl\nllm = sgl.Engine(model_path="{MODEL}", trust_remote_code=True{{made}})\n{{rest}}\n'
VLLM = f'from vllm import LLM, SamplingParams\nllm = LLM(model="{MODEL}", trust_remote_code=True{{made}})\n{{rest}}\n'
TENSORRT = f'from tensorrt_llm import LLM, SamplingParams\nllm = LLM(model="{MODEL}"{{made}})\n{{rest}}\n'


@pytest.mark.parametrize(
    ("text", "where", "remedy"),
    [
        (SGLANG.format(made=", tensor_parallel_size=4", rest=""), "tensor_parallel_size", "write tp_size"),
        (SGLANG.format(made=", max_model_len=8192", rest=""), "max_model_len", "write context_length"),
        (TENSORRT.format(made=", max_model_len=8192", rest=""), "max_model_len", "write max_seq_len"),
        (TENSORRT.format(made=", tp_size=4", rest=""), "tp_size", "write tensor_parallel_size"),
        (
            f'from sglang.srt.server_args import ServerArgs\na = ServerArgs(model_path="{MODEL}", tp=4)\n',
            "tp",
            "write tp_size",
        ),
    ],
)
def test_an_argument_of_another_engine(text: str, where: str, remedy: str) -> None:
    (message,) = told(text, where)
    assert message.endswith(f"has no argument {where}: the program ends by an error => {remedy}")


@pytest.mark.parametrize(
    "text",
    [
        SGLANG.format(made=", tp_size=4, context_length=8192", rest=""),
        TENSORRT.format(made=", tensor_parallel_size=4, max_seq_len=8192", rest=""),
        # another class of that name
        f'from mine import Engine\nimport sglang\ne = Engine(model_path="{MODEL}", tensor_parallel_size=4)\n',
    ],
)
def test_its_own_arguments_are_not_told(text: str) -> None:
    assert told(text, "tensor_parallel_size") == told(text, "max_model_len") == []


def test_what_is_meant_by_the_argument_is_judged() -> None:
    (judged,) = ask(VLLM.format(made=", tensor_parallel=4", rest=""))
    assert judged.layout is not None
    assert judged.layout.tp == 4


@pytest.mark.parametrize(
    "rest",
    [
        'llm.generate(["a"], {"temperature": 0.5, "max_tokens": 64})',
        'p = {"max_tokens": 64}\nllm.generate(["a"], sampling_params=p)',
    ],
)
def test_parameters_of_another_engine_in_a_dictionary(rest: str) -> None:
    (message,) = told(SGLANG.format(made="", rest=rest), "max_tokens")
    assert "SGLang have no max_tokens" in message
    assert message.endswith("write max_new_tokens")


def test_parameters_of_another_engine_in_its_class() -> None:
    rest = 'llm.generate(["a"], SamplingParams(max_new_tokens=5))'
    (message,) = told(TENSORRT.format(made="", rest=rest), "max_new_tokens")
    assert message.endswith("write max_tokens")


def test_parameters_that_are_right_are_not_told() -> None:
    assert told(SGLANG.format(made="", rest='llm.generate(["a"], {"max_new_tokens": 64})'), "max_tokens") == []
    other = 'client.generate(["a"], {"max_tokens": 64})'
    assert told(SGLANG.format(made="", rest=other), "max_tokens") == []


@pytest.mark.parametrize(("text", "tokens"), [(VLLM, 16), (TENSORRT, 32)])
def test_answers_of_a_few_tokens(text: str, tokens: int) -> None:
    (message,) = told(text.format(made="", rest='llm.generate(["a"], SamplingParams(temperature=0.5))'), "max_tokens")
    assert message.startswith("note")
    assert f"after {tokens} tokens" in message


@pytest.mark.parametrize(
    "rest",
    [
        'llm.generate(["a"], SamplingParams(temperature=0.5, max_tokens=None))',
        'llm.generate(["a"], SamplingParams(**options))',
        'p = SamplingParams(temperature=0.5)\np.max_tokens = 64\nllm.generate(["a"], p)',
        'llm.generate(["a"], SamplingParams(prompt_logprobs=1))',
        "p = SamplingParams(temperature=0.5)",
    ],
)
def test_answers_whose_length_is_given(rest: str) -> None:
    assert told(VLLM.format(made="", rest=rest), "max_tokens") == []


def test_copies_of_a_model_in_one_process() -> None:
    (message,) = told(VLLM.format(made=", data_parallel_size=2", rest=""), "data_parallel_size")
    assert "one copy of the model: data_parallel_size 2 is refused" in message
    launched = ', data_parallel_size=2, distributed_executor_backend="external_launcher"'
    assert told(VLLM.format(made=launched, rest=""), "data_parallel_size") == []
    assert told(VLLM.format(made=", data_parallel_size=1", rest=""), "data_parallel_size") == []


@pytest.mark.parametrize("text", [SGLANG, TENSORRT, VLLM])
def test_messages_are_no_prompts(text: str) -> None:
    messages = 'messages = [\n    {"role": "user", "content": "Hi"},\n]\n'
    (message,) = told(text.format(made="", rest=f"{messages}llm.generate(messages)"), "generate")
    assert "takes prompts" in message
    assert told(text.format(made="", rest=f'{messages}llm.generate(["Hi"])'), "generate") == []


def test_a_variable_behind_the_engine() -> None:
    late = 'import os\nos.environ["CUDA_VISIBLE_DEVICES"] = "3"'
    (message,) = told(VLLM.format(made="", rest=late), "CUDA_VISIBLE_DEVICES")
    assert "line 4: CUDA_VISIBLE_DEVICES is set behind the engine, which line 2 has made" in message


@pytest.mark.parametrize(
    "text",
    [
        'import os\nos.environ["CUDA_VISIBLE_DEVICES"] = "3"\n' + VLLM.format(made="", rest=""),
        # for another engine, and for a process
        VLLM.format(made="", rest=f'import os\nos.environ["CUDA_VISIBLE_DEVICES"] = "1"\nb = LLM(model="{MODEL}")'),
        VLLM.format(
            made="", rest='import os, subprocess\nos.environ["CUDA_VISIBLE_DEVICES"] = "1"\nsubprocess.run(["nvtop"])'
        ),
        # what is downloaded later reads it
        VLLM.format(made="", rest='import os\nos.environ["HF_HUB_OFFLINE"] = "1"'),
        # no variable of an engine
        VLLM.format(made="", rest='import os\nos.environ["MY_NAME"] = "1"'),
    ],
)
def test_a_variable_that_something_reads(text: str) -> None:
    assert told(text, "CUDA_VISIBLE_DEVICES") == told(text, "MY_NAME") == told(text, "HF_HUB_OFFLINE") == []


@pytest.mark.parametrize(
    "text",
    [
        SGLANG.format(made="", rest=""),
        "import torch\nprint(torch.cuda.get_device_name(0))\n" + VLLM.format(made="", rest=""),
    ],
)
def test_processes_that_import_the_program_again(text: str) -> None:
    (message,) = told(text, "__main__")
    assert "import this program again" in message


@pytest.mark.parametrize(
    "text",
    [
        VLLM.format(made="", rest=""),
        "import torch\nprint(torch.cuda.is_available())\n" + VLLM.format(made="", rest=""),
        f'import sglang as sgl\nif __name__ == "__main__":\n    e = sgl.Engine(model_path="{MODEL}")\n',
        f'import sglang as sgl\ndef main():\n    e = sgl.Engine(model_path="{MODEL}")\nmain()\n',
        "from fastapi import FastAPI\n" + SGLANG.format(made="", rest="app = FastAPI()"),
        "# %%\n" + SGLANG.format(made="", rest=""),
        "Offline:\n\n```python\n" + SGLANG.format(made="", rest="") + "```\n",
    ],
)
def test_programs_that_are_not_imported_again(text: str) -> None:
    assert told(text, "__main__") == []


def test_an_engine_in_each_worker() -> None:
    run = 'import uvicorn\nuvicorn.run("app:app", port=8000, workers={workers})'
    (message,) = told(VLLM.format(made="", rest=run.format(workers=4)), "workers")
    assert "each of the 4 workers imports the module" in message
    assert told(VLLM.format(made="", rest=run.format(workers=1)), "workers") == []
    guarded = VLLM.format(made="", rest="").replace("llm =", "def make():\n    llm =")
    assert told(guarded + run.format(workers=4), "workers") == []
