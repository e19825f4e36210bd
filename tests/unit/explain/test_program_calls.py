"""Programs that use the engine as a library: arguments that its classes do not have, and what they leave out."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

PROGRAM = """from vllm import LLM, SamplingParams
llm = LLM(model="moonshotai/Moonlight-16B-A3B-Instruct", trust_remote_code=True{made})
{rest}
"""


def program(rest: str, made: str = "") -> str:
    return PROGRAM.format(rest=rest, made=made)


def told(text: str, where: str, version: str = "") -> list[str]:
    found = [finding for each in ask(text, version=version) for finding in each.findings if finding.where == where]
    return [f"{finding.message} => {finding.remedy}" for finding in found]


@pytest.mark.parametrize(
    ("given", "where", "remedy"),
    [
        ("max_new_tokens=512", "max_new_tokens", "write max_tokens"),
        ("temperature=0.2,\n    num_return_sequences=4,\n", "num_return_sequences", "write n"),
        ("do_sample=False", "do_sample", "leave it out"),
    ],
)
def test_parameters_of_other_libraries(given: str, where: str, remedy: str) -> None:
    (message,) = told(program(f"print(llm.generate(['hi'], SamplingParams({given})))"), where)
    assert message.endswith(f"TypeError => {remedy}")


@pytest.mark.parametrize(
    "rest",
    [
        "print(llm.generate(['hi'], SamplingParams(max_tokens=512, stop=['a'], n=2, seed=1)))",
        "out = hf_model.generate(**inputs, max_new_tokens=512, do_sample=True)",
        "# SamplingParams(max_new_tokens=512)",
        "params = SamplingParams(max_tokens=len(tokenizer.encode(text, max_length=8)))",
    ],
)
def test_parameters_that_are_right(rest: str) -> None:
    assert not [each for name in ("max_new_tokens", "do_sample", "max_length") for each in told(program(rest), name)]


@pytest.mark.parametrize(
    ("made", "where", "remedy"),
    [
        (", tensor_parallel=8", "tensor_parallel", "write tensor_parallel_size"),
        (",\n    mem_fraction_static=0.9", "mem_fraction_static", "write gpu_memory_utilization"),
        (", device_map='auto'", "device_map", "leave it out"),
        (", enable_auto_tool_choice=True", "enable_auto_tool_choice", "leave it out"),
    ],
)
def test_arguments_that_no_engine_has(made: str, where: str, remedy: str) -> None:
    (message,) = told(program("", made), where)
    assert message.endswith(f"=> {remedy}")


def test_arguments_that_are_right() -> None:
    made = ", tensor_parallel_size=8, seed=1, chat_template='x.jinja', hf_overrides={'a': 1}, **more"
    assert not [each for judged in ask(program("", made)) for each in judged.findings if "TypeError" in each.message]


def test_an_argument_that_the_release_has_dropped() -> None:
    text = "from vllm import AsyncEngineArgs\nargs = AsyncEngineArgs(model='Qwen/Qwen3-8B', max_model_len=8192, "
    text += "disable_log_requests=True)\n"
    (message,) = told(text, "disable_log_requests", "0.32.0")
    assert "AsyncEngineArgs() of vLLM 0.32.0 has no argument" in message
    assert told(text, "disable_log_requests", "0.10.0") == []
    assert told(text, "disable_log_requests") == []


def test_a_number_with_letters_is_read_on_a_command_line_alone() -> None:
    (message,) = told(program("", ", max_model_len='32k'"), "max_model_len")
    assert 'max_model_len="32k" is not a whole number' in message
    assert not told(program("", ", max_model_len=32768"), "max_model_len")


def test_an_adapter_is_asked_for_and_none_are_enabled() -> None:
    asks = "out = llm.generate(['hi'], SamplingParams(max_tokens=8), lora_request=LoRARequest('a', 1, '/a'))"
    (message,) = told(program(asks), "lora_request")
    assert "has no enable_lora" in message
    assert told(program(asks, ", enable_lora=True"), "lora_request") == []
    assert told(program(asks, ", **options"), "lora_request") == []
    assert told(program("out = llm.generate(['hi'], lora_request=None)"), "lora_request") == []


def test_an_engine_is_asked_to_sleep_and_cannot() -> None:
    (message,) = told(program("llm.sleep(level=1)\nllm.wake_up()"), "sleep")
    assert message.endswith("=> add enable_sleep_mode=True to it")
    assert told(program("llm.sleep(level=1)", ", enable_sleep_mode=True"), "sleep") == []
    assert told(program("import time\ntime.sleep(2)"), "sleep") == []
    assert told(program("llm.sleep(level=0)"), "sleep") == []


@pytest.mark.parametrize(
    ("rest", "where"),
    [
        ("llm.generate(['hi'], temperature=0.2, max_tokens=8)", "temperature"),
        ("messages = [{'role': 'user', 'content': 'hi'}]\nllm.generate(messages, SamplingParams())", "generate"),
        ("chat: list[dict] = [[{'role': 'user', 'content': 'hi'}]]\nllm.generate(prompts=chat)", "generate"),
        ("llm.generate([{'role': 'user', 'content': 'hi'}])", "generate"),
    ],
)
def test_what_generate_does_not_take(rest: str, where: str) -> None:
    assert len(told(program(rest), where)) == 1


@pytest.mark.parametrize(
    "rest",
    [
        "messages = [{'role': 'user', 'content': 'hi'}]\nllm.chat(messages, SamplingParams())",
        "messages = [{'role': 'user', 'content': 'hi'}]\nllm.generate(tok.apply_chat_template(messages))",
        "prompts = [{'prompt': 'hi', 'multi_modal_data': {}}]\nllm.generate(prompts, SamplingParams(temperature=0))",
        "other.generate(['hi'], temperature=0.2)",
    ],
)
def test_what_generate_takes(rest: str) -> None:
    assert not [each for name in ("generate", "temperature") for each in told(program(rest), name)]


SPAWN = "VLLM_WORKER_MULTIPROC_METHOD"


def test_processes_that_read_the_program_again() -> None:
    spawns = f"import os\nos.environ['{SPAWN}'] = 'spawn'\n"
    (message,) = told(spawns + program("print(llm.generate(['hi']))"), SPAWN)
    assert 'if __name__ == "__main__":' in message
    assert told(program("print(llm.generate(['hi']))"), SPAWN) == []


MADE = "llm = LLM(model='Qwen/Qwen3-8B', max_model_len=8192)\n"
SPAWNS = f"import os\nos.environ['{SPAWN}'] = 'spawn'\nfrom vllm import LLM\n"


@pytest.mark.parametrize(
    "text",
    [
        f"{SPAWNS}def main():\n    {MADE}if __name__ == '__main__':\n    main()\n",
        f"%pip install vllm\n{SPAWNS}{MADE}",
        SPAWNS.replace("'spawn'", "'fork'") + MADE,
    ],
)
def test_programs_that_are_read_once(text: str) -> None:
    assert told(text, SPAWN) == []
