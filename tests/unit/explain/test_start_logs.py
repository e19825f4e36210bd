# ruff: noqa: E501 - lines of logs are as long as they are
"""A pasted start log is the deployment that it says; with the command in the same text there is one deployment."""

from __future__ import annotations

import contextlib
import textwrap

import pytest

from moonpad.explain.judge import judge
from moonpad.explain.results import Judged
from moonpad.explain.script import read_script
from moonpad.explain.target_detection import Question
from moonpad.values.errors import UsageError

ARGUMENTS = (
    "{'model_tag': 'moonshotai/Kimi-K2-Instruct', 'host': '0.0.0.0', 'api_key': ['not-to-be-seen-1234'], "
    "'model': 'moonshotai/Kimi-K2-Instruct', 'trust_remote_code': True, 'max_model_len': 32768, "
    "'enable_prefix_caching': False, 'served_model_name': ['kimi'], 'tensor_parallel_size': 8, "
    "'pipeline_parallel_size': 2, 'gpu_memory_utilization': 0.92}"
)
SAYS = "INFO 11-20 09:10:15 [utils.py:233] non-default args: "
SERVER_ARGS = (
    "model_path='moonshotai/Kimi-K2-Instruct', tokenizer_mode='auto', trust_remote_code=True, context_length=None, "
    "mem_fraction_static=0.849, tp_size=16, pp_size=1, dp_size=1, nnodes=2, node_rank=0, dist_init_addr='10.0.0.1:5000', "
    "attention_backend='fa3', tool_call_parser='kimi_k2', disable_radix_cache=False"
)


def judged(text: str) -> list[Judged]:
    return [each for each in judge(read_script(text), Question()) if each.layout is not None]


def wrapped(prefix: str, text: str, width: int = 76, more: str = "") -> str:
    rows = [text[at : at + width] for at in range(0, len(text), width)]
    return "\n".join([prefix + rows[0], *(more + row for row in rows[1:])]) + "\n"


@pytest.mark.parametrize(
    "text",
    [
        SAYS + ARGUMENTS + "\n",
        f"vllm-1  | {SAYS}{ARGUMENTS}\n",
        f"(APIServer pid=1) {SAYS}{ARGUMENTS}\n",
        f"[pod/kimi-0/vllm] (APIServer pid=1) {SAYS}{ARGUMENTS}\n",
        f"2025-11-20T09:10:15.123456789Z {SAYS}{ARGUMENTS}\n",
        f"2025-11-20T09:10:15.123456789Z stdout F {SAYS}{ARGUMENTS}\n",
        "non-default args: " + ARGUMENTS.replace("{", "{ ").replace("}", " }") + "\n",
        "non-default args: " + ARGUMENTS.replace(", ", ",").replace(": ", ":") + "\n",
        wrapped(SAYS, ARGUMENTS),
        wrapped(f"vllm-1  | {SAYS}", ARGUMENTS, 60, "vllm-1  | "),
        "```\n" + wrapped(SAYS, ARGUMENTS, 50) + "```\n",
        "\x1b[1;36m(APIServer pid=1)\x1b[0;0m " + SAYS + ARGUMENTS + "\n",
        '{"log":"' + (SAYS + ARGUMENTS).replace('"', '\\"') + '\\n","stream":"stderr"}\n',
        SAYS + textwrap.fill(ARGUMENTS, 60, break_long_words=False) + "\nINFO 11-20 09:10:18 [config.py:1] next\n",
    ],
)
def test_arguments_however_they_are_pasted(text: str) -> None:
    (one,) = judged(text)
    assert one.layout is not None
    assert one.settings is not None
    assert (one.layout.tp, one.layout.pp, one.settings.max_model_len) == (8, 2, 32768)
    assert one.settings.gpu_memory_utilization == 0.92
    assert one.settings.prefix_caching is False
    assert one.checkpoint is not None
    assert one.checkpoint.name == "moonshotai/Kimi-K2-Instruct"
    assert not any("without a key" in finding.message for finding in one.findings)
    assert not any("not-to-be-seen" in word for line in (*one.commands, *one.corrected) for word in line.argv)


@pytest.mark.parametrize(
    "text",
    [
        f"[2025-11-08 12:00:01] server_args=ServerArgs({SERVER_ARGS})\n",
        wrapped("[2025-11-08 12:00:01] server_args=ServerArgs(", SERVER_ARGS + ")"),
        '[2025-11-08 12:00:01] server_args={"model_path": "moonshotai/Kimi-K2-Instruct", "tp_size": 16, "nnodes": 2, '
        '"node_rank": 0, "trust_remote_code": true, "context_length": null, "mem_fraction_static": 0.849}\n',
    ],
)
def test_server_args_of_sglang(text: str) -> None:
    (one,) = judged("sglang==0.5.5\n" + text)
    assert one.engine == "sglang"
    assert one.version == "0.5.5"
    assert one.layout is not None
    assert (one.layout.tp, one.layout.dp) == (16, 1)
    assert one.checkpoint is not None


def test_all_arguments_with_their_defaults() -> None:
    text = (
        "INFO 03-22 13:13:27 [api_server.py:978] args: Namespace(subparser='serve', model_tag='/model', config='', "
        "allowed_origins=['*'], model='/model', trust_remote_code=True, tensor_parallel_size=8, pipeline_parallel_size=2, "
        "enable_expert_parallel=False, max_model_len=98304, served_model_name=['DeepSeek-R1'], "
        "dispatch_function=<function ServeSubcommand.cmd at 0x7f>)\n"
    )
    (one,) = judged(text)
    assert one.layout is not None
    assert one.settings is not None
    assert (one.layout.words, one.settings.max_model_len) == ("TP8 PP2", 98304)
    assert not [finding for finding in one.findings if finding.severity == "error"]


def test_other_engines() -> None:
    (one,) = judged(
        "[TensorRT-LLM] TensorRT-LLM version: 1.1.0\n[11/20/2025-23:56:52] [TRT-LLM] [I] LLM Args: "
        "model='nvidia/Kimi-K2-Thinking-NVFP4' tokenizer=None trust_remote_code=True tensor_parallel_size=8 "
        "moe_expert_parallel_size=8 max_seq_len=131072 kv_cache_config=KvCacheConfig(free_gpu_memory_fraction=0.8)\n"
    )
    assert (one.engine, one.layout_words) == ("tensorrt-llm", "TP8 EP8")
    assert one.settings is not None
    assert (one.settings.max_model_len, one.settings.kv_free_fraction) == (131072, 0.8)
    (one,) = judged(
        "build: 10200 (abcdef01) with cc (Ubuntu 13.3.0) for x86_64-linux-gnu\n"
        "llama_model_loader: loaded meta data with 43 key-value pairs and 1096 tensors from "
        "/models/Kimi-K2-Instruct-UD-TQ1_0.gguf (version GGUF V3 (latest))\n"
        "llama_context: n_ctx         = 16384\n"
    )
    assert one.engine == "llama-cpp"
    assert one.memory is None, "which experts stay in host memory is not in the log"


def test_what_only_the_configuration_says_is_not_judged() -> None:
    text = (
        "INFO 05-02 10:00:00 [core.py:77] Initializing a V1 LLM engine (v0.11.0) with config: "
        "model='moonshotai/Kimi-K2-Instruct', max_seq_len=131072, tensor_parallel_size=8, pipeline_parallel_size=2, "
        "data_parallel_size=1, served_model_name=moonshotai/Kimi-K2-Instruct\nGPU 0: NVIDIA H100 80GB HBM3\n"
    )
    (one,) = judged(text)
    assert one.layout_words.startswith("TP8 PP2")
    assert one.memory is None
    assert not one.corrected


COMMAND = "vllm serve $MODEL --tensor-parallel-size $TP --pipeline-parallel-size 2 --max-model-len 32768"


def test_a_log_settles_what_its_command_leaves_open() -> None:
    text = f"```bash\n{COMMAND}\n```\n\n```\nINFO 11-20 09:10:15 [a.py:1] vLLM API server version 0.11.2\n{SAYS}{ARGUMENTS}\n```\n"
    (one,) = judged(text)
    assert one.layout_words == "TP8 PP2"
    assert one.version == "0.11.2"
    assert one.checkpoint is not None
    assert one.sources[0].prefix[0].line == 2


def test_arguments_in_an_array_are_those_of_the_log() -> None:
    (one,) = judged(f'vllm serve moonshotai/Kimi-K2-Instruct "$@"\n{SAYS}{ARGUMENTS}\n')
    assert one.layout_words == "TP8 PP2"
    assert not one.unknown


@pytest.mark.parametrize("size", ["4", "16"])
def test_a_log_of_another_layout_is_another_deployment(size: str) -> None:
    text = f"vllm serve moonshotai/Kimi-K2-Instruct --tensor-parallel-size {size}\n{SAYS}{ARGUMENTS}\n"
    assert [one.layout_words for one in judged(text)] == [f"TP{size}", "TP8 PP2"]


def test_devices_that_the_log_lists() -> None:
    devices = "".join(f"GPU {number}: NVIDIA H200\n" for number in range(8))
    (one,) = judged(f"{SAYS}{ARGUMENTS}\n{devices}")
    assert one.cluster is not None
    assert one.cluster.name == "2x8xH200"


def test_lines_of_a_log_are_no_shell() -> None:
    log = (
        "(Worker_TP0 pid=3) INFO 11-20 09:10:15 [a.py:1] it's loading (shard 1\n"
        'Traceback (most recent call last):\n  File "/x.py", line 3, in f\n    raise ValueError(f\'{a\n'
        "ValueError: can't go on `\n"
    )
    script = read_script(f"{log}vllm serve moonshotai/Kimi-K2-Instruct --tensor-parallel-size 16\n{log}")
    assert script.problems == ()
    assert [command.program for command in script.commands if command.program != "other"] == ["vllm serve"]


@pytest.mark.parametrize(
    "text",
    [
        "non-default args: {" * 20_000,
        "args: Namespace(" + "(" * 50_000,
        ("server_args=ServerArgs(a='\n" * 20_000),
        "non-default args: {'model': '" + "x" * 400_000,
        "\n".join(f"{SAYS}{{'tensor_parallel_size': {number}}}" for number in range(5_000)),
    ],
)
def test_hostile_logs_end(text: str) -> None:
    with contextlib.suppress(UsageError):
        assert len(judge(read_script(text), Question())) < 500


@pytest.mark.parametrize(
    "devices",
    [
        "".join(f"GPU {number}: NVIDIA H200\n" for number in range(8)),
        "GPU 0-7: NVIDIA H200\n",
        "".join(f"|   {number}  NVIDIA H200          On  |   00000000:1B:00.0 Off |  0 |\n" for number in range(8)),
    ],
)
def test_devices_that_tools_list(devices: str) -> None:
    (one,) = judged(f"```\n{devices}```\n\n```\nvllm serve moonshotai/Kimi-K2.5 --tensor-parallel-size 8\n```\n")
    assert one.cluster is not None
    assert one.cluster.name == "8xH200"


def test_a_start_that_the_log_shows_is_no_error() -> None:
    command = "vllm serve moonshotai/Kimi-K2-Instruct --tensor-parallel-size 8"
    text = f"On 8x H100:\n\n```\n{command}\n```\n"
    assert judged(text)[0].fits is False
    log = (
        "```\n(EngineCore_0 pid=3) INFO 07-20 10:00:40 [kv_cache_utils.py:1711] GPU KV cache size: 61,120 tokens\n```\n"
    )
    (one,) = judged(text + log)
    assert one.memory is None
    assert "61,120 tokens" in one.unjudged
    assert not [finding for finding in one.findings if finding.severity == "error"]


def test_a_log_that_is_cut_off_leaves_the_rest_open() -> None:
    text = (
        f"server_args=ServerArgs({SERVER_ARGS[:90]}\n\n[... truncated ...]\n\nvllm serve x/y --tensor-parallel-size 2\n"
    )
    first, second = judged(text)
    assert first.unknown
    assert second.layout_words == "TP2"


def test_a_log_in_one_line_with_its_command() -> None:
    text = (
        "vllm serve moonshotai/Kimi-K2-Instruct --tensor-parallel-size 8 --pipeline-parallel-size 2 INFO 11-03 05:51:41 "
        f"[__init__.py:216] Automatically detected platform cuda. {SAYS}{ARGUMENTS} (APIServer pid=5385) The\n"
    )
    (one,) = judged(text)
    assert one.layout_words == "TP8 PP2"
    assert not [finding for finding in one.findings if "INFO" in finding.message]


def test_what_a_log_shows_that_was_read_is_not_refused() -> None:
    log = (
        "[2025-08-18 02:44:10] server_args=ServerArgs(model_path='moonshotai/Kimi-K2-Instruct', tp_size=16, nnodes=2,"
        " node_rank=0, sampling_backend='odd')"
    )
    (each,) = judged(log)
    assert [finding for finding in each.findings if finding.severity == "error"] == []
    command = "python -m sglang.launch_server --model-path moonshotai/Kimi-K2-Instruct --tp 16 --sampling-backend odd\n"
    (alone,) = judged(command)
    assert any(finding.where == "--sampling-backend" for finding in alone.findings)
    (both,) = judged(command + log)
    assert not any(finding.where == "--sampling-backend" for finding in both.findings)


def test_members_of_enumerations_are_what_they_are_worth() -> None:
    log = (
        "INFO 02-12 13:31:04 api_server.py:841] args: Namespace(model='moonshotai/Kimi-K2-Instruct', port=6006,"
        " tensor_parallel_size=8, config_format=<ConfigFormat.AUTO: 'auto'>, dispatch_function=<function cmd at 0x7f>)"
    )
    (each,) = judged(log)
    assert each.layout is not None
    assert each.layout.tp == 8
    assert not any("<" in finding.message or "<" in finding.where for finding in each.findings)


def test_the_configuration_of_speculation_has_the_names_of_its_option() -> None:
    log = (
        "(EngineCore pid=663) INFO 07-31 10:04:33 [core.py:109] Initializing a V1 LLM engine (v0.20.0) with config:"
        " model='moonshotai/Kimi-K2.6', speculative_config=SpeculativeConfig(method='eagle3', model='a/b',"
        " num_spec_tokens=3), max_seq_len=131072, tensor_parallel_size=8"
    )
    (each,) = judged(log)
    assert [finding for finding in each.findings if finding.severity == "error"] == []


def test_an_example_in_a_warning_is_no_command() -> None:
    text = (
        "/opt/venv/lib/python3.12/site-packages/sglang/launch_server.py:56: UserWarning: 'python -m"
        " sglang.launch_server' is still supported, but 'sglang serve' is the recommended entrypoint.\n"
        "  Example: sglang serve --model-path <model> [options]\n  warnings.warn(\n"
        "[2026-08-01 22:25:19] server_args=ServerArgs(model_path='moonshotai/Kimi-K2-Instruct', tp_size=16)\n"
    )
    (each,) = judged(text)
    assert each.layout is not None
    assert each.layout.tp == 16


def test_lines_of_a_log_that_are_not_known_have_no_mistakes_of_a_shell() -> None:
    rows = "INFO 10-31 16:32:15 [model.py:1510] Using max model len 40960\n" * 30
    script = read_script(f"vllm serve moonshotai/Kimi-K2-Instruct -tp 8\n{rows}score=0.8 (447/500)\nit's done\n")
    assert script.problems == ()
    assert read_script("vllm serve moonshotai/Kimi-K2-Instruct -tp 8\nscore=0.8 (447/500)\n").problems
