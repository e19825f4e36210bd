"""Files of people who build on an engine: options of their own, a few layers with random weights, lists of processes,
templates, and texts that only speak of a command."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_script
from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

K3 = "vllm serve moonshotai/Kimi-K3 --trust-remote-code --load-format dummy --tensor-parallel-size 2"
JSON = '{"method":"mtp","num_speculative_tokens":2}'


def said(text: str) -> list[tuple[Severity, str]]:
    return [(finding.severity, finding.message) for judged in ask(text) for finding in judged.findings]


def told(text: str, words: str) -> bool:
    return any(words in message for _, message in said(text))


def errors(text: str) -> list[str]:
    return [message for severity, message in said(text) if severity is Severity.ERROR]


def test_options_of_an_own_build_are_no_errors() -> None:
    own = "--tiered-moe-backend uva --tiered-moe-numa-strict --enable-tiered-moe"
    assert not errors(f"vllm serve m {own}")
    assert errors("vllm serve m --tiered-moe-backend uva"), "alone it is a slip of another option"


@pytest.mark.parametrize(
    ("sizes", "counted"),
    [('{"text_config": {"num_hidden_layers": 12}}', False), ('{"max_position_embeddings": 8192}', True)],
)
def test_a_few_layers_are_not_counted_as_the_model(sizes: str, *, counted: bool) -> None:
    assert told(f"{K3} --hf-overrides '{sizes}'", "GiB of weights") == counted


@pytest.mark.parametrize(("key", "expected"), [("num_experts_per_token", False), ("num_experts_per_toks", True)])
def test_keys_of_both_kinds_of_configuration(key: str, *, expected: bool) -> None:
    assert told(f"{K3} --hf-overrides '{{\"{key}\": 2}}'", "no config has a key") == expected


def test_a_sentence_is_no_command() -> None:
    lines = "#!/bin/bash\n# Needs: vllm serve started with --profiler-config (see run.sh)\n"
    assert not ask(f"{lines}curl localhost:8000/health\n")


@pytest.mark.parametrize(("program", "expected"), [("python3 /opt/disagg_proxy.py", False), ("./serve_all.sh", True)])
def test_a_proxy_of_a_file_is_no_server(program: str, *, expected: bool) -> None:
    options = "--model moonshotai/Kimi-K2.5 --port 8000 --prefill http://a:8000 --tensor-parallel-size 8"
    assert bool(ask(f"{program} {options}")) == expected


@pytest.mark.parametrize(
    "line",
    [
        "Prompts may exceed llama-server capacity",
        "llama-server → the answer is made",
        "   llama-server / serve_embedding → files",
        "| full | low | llama-server fits them to device memory |",
    ],
)
def test_a_program_in_a_sentence(line: str) -> None:
    assert not ask(f"### State\n\n**Now:** it runs\n{line}\n")
    assert ask(f"### State\n\n{line}\nllama-server -m model.gguf --port 8080\n")


@pytest.mark.parametrize(("launcher", "expected"), [("./launch-cluster.sh exec ", False), ("", True)])
def test_a_launcher_of_its_own_joins_machines(launcher: str, *, expected: bool) -> None:
    text = f"{launcher}vllm serve moonshotai/Kimi-K2.5 --trust-remote-code --tensor-parallel-size 16"
    judged = ask(text, on="2x8xH200")
    assert any("reach each other" in each.message for one in judged for each in one.findings) == expected


def test_code_that_goes_over_two_lines() -> None:
    text = "- it is started by (`mpirun -n 16\n  trtllm-serve /models/Kimi-K3 --backend pytorch`).\n- and more\n"
    assert not told(text, "pytorch`")


@pytest.mark.parametrize(("count", "expected"), [("4*[max-concurrency]", False), ("four", True)])
def test_a_number_to_be_counted_out(count: str, *, expected: bool) -> None:
    start = "vllm serve m\n"
    assert told(f"{start}vllm bench serve --model m --num-prompts {count}", "does not take") == expected


@pytest.mark.parametrize(
    ("program", "expected"), [("/usr/bin/python3 /usr/local/bin/vllm serve", False), ("vllm serve", True)]
)
def test_quotes_in_a_list_of_processes(program: str, *, expected: bool) -> None:
    assert told(f"{program} /models/m --speculative-config {JSON}", "takes its quotes away") == expected


@pytest.mark.parametrize(("language", "expected"), [("text", False), ("bash", True)])
def test_arguments_in_a_block_of_text(language: str, *, expected: bool) -> None:
    lines = "vllm serve /models/m\n  --host 0.0.0.0\n  --port 8000\n  --speculative-config " + JSON
    text = f"# It runs\n\n```{language}\n{lines}\n```\n"
    assert told(text, "takes its quotes away") == expected
    assert bool(read_script(text).problems) == expected


def test_doubled_braces_behind_a_field() -> None:
    text = "defaults:\n  port: 8000\n  count: 2\ncommand: |\n  vllm serve m --port {port} \\\n    --speculative-config "
    text += '\'{{"method":"mtp","num_speculative_tokens":{count}}}\'\n'
    assert not errors(text)


def test_a_substitution_in_a_script_for_another_shell() -> None:
    far = 'ssh host "\n  free=\\$(df -Pk /)\n  echo done\n"\nvllm serve m\n'
    assert not told(far, "a dollar and a bracket")
    assert told("free=\\$(df -Pk /)\nvllm serve m\n", "a dollar and a bracket")


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("VLLM_NIXL_SIDE_CHANNEL_PORT=5600", True),
        ("settings=(\n  VLLM_NIXL_SIDE_CHANNEL_PORT=5600\n)", False),
        ('SETTINGS="${SETTINGS:-CUDA_VISIBLE_DEVICES= CUDA_MODULE_LOADING=LAZY}"', False),
    ],
)
def test_what_is_set_without_export(lines: str, *, expected: bool) -> None:
    assert told(f"{lines}\nvllm serve m\n", "without export") == expected


@pytest.mark.parametrize(("method", "expected"), [("FP8", False), ("fp8", False), ("FP7", True)])
def test_the_case_of_a_quantisation_method(method: str, *, expected: bool) -> None:
    assert told(f"vllm serve m --quantization {method}", "no quantisation method") == expected


def test_a_list_of_options_of_another_program() -> None:
    text = (
        "# Measuring\n\nThe address is given by\n\n```bash\n--api-key=EMPTY \\\n--api-url=http://127.0.0.1:8000/v1 \\\n"
    )
    assert not any(judged.engine == "vllm" and judged.findings for judged in ask(f"{text}--eval-type=server\n```\n"))


def test_the_version_of_an_image_that_another_section_runs() -> None:
    start = "vllm serve m --gpu-memory-utilization-gb 80"
    own = f"# Ours\n\n## Start\n\n```bash\n{start}\n```\n"
    other = (
        "\n## With NVIDIA's image\n\n```bash\ndocker run --gpus all nvcr.io/nvidia/vllm:26.01-py3 vllm serve m\n```\n"
    )
    first, second = ask(own + other)
    assert first.version != second.version == "0.13.0"


def test_a_series_that_is_older_than_the_model() -> None:
    text = "# Build\n\nvLLM 0.11 has a new frontend.\n\n```bash\nvllm serve {} --port 8000\n```\n"
    (late,) = ask(text.format("deepseek-ai/DeepSeek-V4-Flash"))
    (early,) = ask(text.format("deepseek-ai/DeepSeek-R1"))
    assert early.version.startswith("0.11.")
    assert not late.version.startswith("0.11.")
    assert late.version_because == "none is named: judged by the newest"


@pytest.mark.parametrize(("backend", "expected"), [("FLASH_ATTN_V100", False), ("FLASH_ATTENTION", True)])
def test_a_backend_called_after_one_of_the_release(backend: str, *, expected: bool) -> None:
    start = f"pip install vllm==0.21.0\nvllm serve m --attention-backend {backend}\n"
    assert bool(errors(start)) == expected
    assert told(start, "attention backend named")


@pytest.mark.parametrize(("parser", "expected"), [("example", False), ("exemplary", True)])
def test_the_parser_of_an_example(parser: str, *, expected: bool) -> None:
    assert told(f"vllm serve m --reasoning-parser {parser}", "has no parser") == expected


@pytest.mark.parametrize(("port", "expected"), [("server-port", False), ("eighty", True)])
def test_a_port_in_words(port: str, *, expected: bool) -> None:
    text = f"vllm serve m\nvllm bench serve --model m --port {port} --num-prompts 5"
    assert told(text, "--port does not take") == expected


def test_a_process_as_a_list_shows_it() -> None:
    offload = r"-ot blk\.([0-9]|1[0-3])\.ffn_.*_exps\.weight=CPU"
    assert not told(f"./build/bin/llama-server -m /models/m.gguf {offload} --port 8000 \n", "names no place")
    assert told("llama-server -m /models/m.gguf -ot blk.1 --port '8000'\n", "names no place")


def test_a_sentence_in_another_language() -> None:
    assert not ask("#!/bin/bash\n# - llama-server ログ tail -F\nllama-server 本体 を見る --port 1\n")


def test_a_command_in_an_array() -> None:
    array = "SERVE=(\n  vllm serve moonshotai/Kimi-K2.5\n  --tensor-parallel-size 8 --trust-remote-code\n)\n"
    text = f'#!/bin/bash\n{array}start() {{\n  local all=(docker run x "${{SERVE[@]}}")\n}}\n'
    (judged,) = ask(text)
    assert judged.layout is not None
    assert judged.layout.tp == 8
    assert "what the array is used with" in judged.unjudged


def test_patterns_of_case_are_no_flags() -> None:
    cases = 'case "$a" in\n  --dry-run) a=1 ;;\n  --x | -y) b=1 ;;\nesac\n'
    assert not read_script(f"{cases}vllm serve m\n").problems
    assert read_script("vllm serve m\n  --port 8000\n").problems


@pytest.mark.parametrize(("devices", "kind"), [("'\"device=0,1\"'", ""), ("all", "GB10")])
def test_a_container_with_more_devices_than_such_a_machine(devices: str, kind: str) -> None:
    start = f"docker run --gpus {devices} vllm/vllm-openai:v0.25.1 --model m --tensor-parallel-size 2"
    (judged,) = ask(f"# Settings for GB10\n{start}\n")
    assert kind in judged.cluster.name if judged.cluster else not kind


def test_words_in_brackets_are_filled_in() -> None:
    (judged,) = ask("vllm serve [YOUR MODEL or MODEL PATH] --port 8000")
    assert not told("vllm serve [YOUR MODEL or MODEL PATH] --port 8000", "takes no such argument")
    assert any("YOUR_MODEL" in finding.message for finding in judged.findings)


def test_a_file_of_settings_exports_nothing_by_itself() -> None:
    lines = 'VLLM_DEEP_GEMM_WARMUP="skip"\nVLLM_ARGS="--tensor-parallel-size 2 --max-model-len 8192"\n'
    assert not told(lines, "without export")


def test_a_list_of_arguments_of_powershell() -> None:
    start = "$p = Start-Process -PassThru \"$build\\llama-server.exe\" -ArgumentList `\n  '--model', $model, `\n"
    text = f"{start}  '--host', '127.0.0.1', '--gpu-layers', '99', `\n  '--parallel', '1', '--jinja'\n"
    assert not errors(text)
    assert not told(text, "has no -Argum")
