"""What the readers took for something else: redirections, stand-ins for files, texts outside of fences, sentences."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_script
from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

CONNECTOR = r"'{\"kv_connector\":\"LMCacheConnectorV1\",\"kv_role\":\"kv_both\"}'"


def errors(text: str) -> list[str]:
    return [each.message for judged in ask(text) for each in judged.findings if each.severity is Severity.ERROR]


def warnings(text: str) -> list[str]:
    return [
        each.message
        for judged in ask(text)
        for each in judged.findings
        if each.severity is Severity.WARNING and each.code.value != "insecure"
    ]


def servers(text: str) -> list[list[str]]:
    return [
        [word.text for word in command.words]
        for command in read_script(text).commands
        if command.program in ("vllm serve", "llama-server", "fragment")
    ]


def in_box(log: str) -> str:
    return f'docker exec -d box bash -c "export A=1; \\\nvllm serve org/model --port 8000 \\\n> {log} 2>&1"\n'


def test_two_logs_at_the_beginning_of_lines_are_no_prompts() -> None:
    assert (
        servers(in_box("/logs/a.log") + in_box("/logs/b.log")) == [["vllm", "serve", "org/model", "--port", "8000"]] * 2
    )


def test_prompts_of_a_paste_are_still_none_of_the_command() -> None:
    text = "vllm serve org/model \\\n> --port 8000 \\\n> --max-model-len 4096 > out.log 2>&1\n"
    assert servers(text) == [["vllm", "serve", "org/model", "--port", "8000", "--max-model-len", "4096"]]


@pytest.mark.parametrize("fence", ["", "```bash\nvllm serve org/other\n```\n\n"])
def test_a_command_in_quotes_outside_of_fences(fence: str) -> None:
    text = (
        f'# Start\n\n{fence}docker exec -d box bash -c "export A=1; \\\n vllm serve org/model \\\n'
        f' --kv-transfer-config {CONNECTOR} \\\n --port 8000 > /logs/a.log 2>&1"\n'
    )
    assert errors(text) == []
    assert servers(text)[-1][-4:] == [
        "--kv-transfer-config",
        '{"kv_connector":"LMCacheConnectorV1","kv_role":"kv_both"}',
        "--port",
        "8000",
    ]


@pytest.mark.parametrize(
    ("written", "model"),
    [
        ("llama-server -m <model.gguf> --port 8090", "<model.gguf>"),
        ("llama-server -m <path/to/model.gguf> --port 8090", "<path/to/model.gguf>"),
        ("llama-server -m <model.gguf> \\\n --port 8090", "<model.gguf>"),
    ],
)
def test_a_file_to_be_filled_in(written: str, model: str) -> None:
    assert servers(written) == [["llama-server", "-m", model, "--port", "8090"]]


def test_a_file_that_is_read_is_no_stand_in() -> None:
    assert servers("llama-server -m /a.gguf --port 8090 <in.txt >out.txt") == [
        ["llama-server", "-m", "/a.gguf", "--port", "8090"]
    ]


def test_a_cell_with_a_file_to_be_filled_in() -> None:
    text = (
        "| engine | start |\n|---|---|\n| llama.cpp | `llama-server --metrics --port 8090 -m <model.gguf> \u2026` |\n"
    )
    assert warnings(text) == []


def test_a_path_of_a_program_is_no_start() -> None:
    text = (
        "server:\n  exe_path: /opt/llama-server\n  log_path: /a.log\nclient:\n  base_url: http://localhost:13141/v1\n"
    )
    assert servers(text) == []


def test_a_name_in_a_list_is_no_start() -> None:
    assert servers("terms:\n  - vram\n  - llama-server\nrules:\n  - from: llama\n    to: llama-server\n") == []


def test_a_program_alone_under_a_key_that_runs_it() -> None:
    assert servers("services:\n  one:\n    image: org/llama\n    command: llama-server\n") == [["llama-server"]]


def test_a_command_under_a_key_is_one() -> None:
    assert servers("server:\n  cmd: /opt/llama-server -m /a.gguf --port 13141\n") != []


def test_a_sentence_of_a_log() -> None:
    text = 'import subprocess\nlog.info(f"llama-server started. PID={process.pid}")\n'
    assert servers(text) == []


def test_options_that_a_list_explains() -> None:
    text = (
        "# Guide\n\nStart options:\n\n- `--mode MODE` - which engine\n- `--model PATH` - where the weights are\n"
        "- `--no-asr` - without speech\n"
    )
    assert servers(text) == []


def test_options_with_their_values() -> None:
    text = "# Guide\n\nFlags:\n\n- `--tensor-parallel-size 8`\n- `--max-model-len 4096`\n- `--enforce-eager`\n"
    assert servers(text) == [["--tensor-parallel-size", "8", "--max-model-len", "4096", "--enforce-eager"]]


KEYS = (
    "# vLLM serving\nserving:\n  model_path: org/model\n  tensor_parallel_size: 4\n  gpu_memory_utilization: 0.9\n"
    "  tool_call_parser: qwen3_coder\n  max_model_len: {}\n"
)


@pytest.mark.parametrize("value", ["null", "~"])
def test_a_key_without_a_value(value: str) -> None:
    assert warnings(KEYS.format(value)) == []


def test_a_key_with_a_wrong_value() -> None:
    assert any("does not take" in message for message in warnings(KEYS.format("many")))


def releases(text: str) -> list[str]:
    return [judged.version for judged in ask(text)]


SERVE = '\nCMD ["vllm", "serve", "org/model"]\n'


@pytest.mark.parametrize(
    ("lines", "built"),
    [
        ("RUN git clone https://github.com/vllm-project/vllm.git /v && \\\n cd /v && \\\n git checkout v0.11.0", True),
        ("RUN git clone -b v0.11.0 --depth 1 https://github.com/vllm-project/vllm.git", True),
        ("RUN git clone --branch v0.11.0 https://github.com/someone/other.git", False),
        ("RUN git clone https://github.com/someone/other.git && cd other && git checkout v0.11.0", False),
        ("RUN git clone https://github.com/vllm-project/vllm.git && cd vllm && git checkout my-branch", False),
    ],
)
def test_the_release_that_is_checked_out(lines: str, *, built: bool) -> None:
    assert releases(f"FROM nvidia/cuda:12.8.0-devel-ubuntu22.04\n{lines}{SERVE}")[0].startswith("0.11.0") == built


def test_an_error_of_another_release() -> None:
    text = (
        "# Guide\n\n> vLLM 0.7.1 does not have it: error `Model architectures ['Qwen3ForCausalLM'] are not supported"
        " for now`.\n> vLLM 0.8.5 has it.\n\n```bash\nvllm serve Qwen/Qwen3-8B\n```\n"
    )
    assert not any("architecture" in message for message in warnings(text))


def test_an_error_of_this_release() -> None:
    text = (
        "# Help\n\nWith vLLM 0.7.1 I get `ValueError: Model architectures ['Qwen3ForCausalLM'] are not supported for"
        " now`.\n\n```bash\nvllm serve Qwen/Qwen3-8B\n```\n"
    )
    assert any("architecture" in message for message in warnings(text))


def test_two_codes_of_one_line() -> None:
    text = "# Help\n\n- `pip install` is slow: `export PIP_DEFAULT_TIMEOUT=300`\n\n```bash\nvllm serve org/model\n```\n"
    assert not any("requirement" in message for message in warnings(text))


def test_one_sign_of_equality() -> None:
    text = "# Help\n\n```bash\npip install vllm=0.11.0\nvllm serve org/model\n```\n"
    assert any("requirement" in message for message in warnings(text))


def test_a_template_of_supervisord() -> None:
    text = "[program:one]\ncommand=llama-server -m %(ENV_DIR)s/a.gguf --port %(ENV_PORT)d\nautostart=true\n"
    assert servers(text) == [["llama-server", "-m", "%(ENV_DIR)s/a.gguf", "--port", "%(ENV_PORT)d"]]
    assert errors(text) == []
