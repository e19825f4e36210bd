"""Each `vllm serve` and `vllm bench serve` line of the seed documents, put to vLLM's own argument parser.

Nothing is started: parsing is all that is asked, and parsing is not validity. What is expected was written by hand,
from the project's notes on the engines and from reading each command line; none of it was taken from the answers.
docs/seeds.md rests on COMMANDS: tests/unit/docs/test_seeds.py holds that each of its parsed flags stands here.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from string import Template
from typing import Any

import pytest

# The shell variables of the seeds, which leave them open.
VARIABLES = {
    "CONCURRENCY": "8",
    "INPUT_LEN": "1024",
    "MASTER_IP": "10.0.0.1",
    "MODEL_NAME": "moonshotai/Kimi-K2-Thinking",
    "MODEL_PATH": "/models/Kimi-K2-Instruct",
    "NUM_PROMPTS": "80",
    "OUTPUT_LEN": "1024",
    "PORT": "13345",
}

# The keys begin with the number of the seed. Where a seed lists flags without a command, they are put behind
# `vllm serve MODEL`; SEED_2's command is hidden behind a directive there, so its list of flags is all there is.
COMMANDS = {
    "0 parameters of the launch script": """vllm serve moonshotai/Kimi-K2-Thinking
        --tensor-parallel-size 8 --max-model-len 262144 --max-num-batched-tokens 32768 --max-num-seqs 4
        --gpu-memory-utilization 0.95 --enable-chunked-prefill --enable-prefix-caching
        --load-format compressed-tensors""",
    "0 working configuration": """vllm serve moonshotai/Kimi-K2-Thinking
        --max-model-len 12288 --max-num-batched-tokens 4096 --max-num-seqs 1 --gpu-memory-utilization 0.95
        --enforce-eager""",
    "0 in the text": """vllm serve moonshotai/Kimi-K2-Thinking
        --reasoning-parser kimi_k2 --gpu-memory-utilization 0.90 --max-model-len 131072""",
    "1 TP8 PP2": """vllm serve moonshotai/Kimi-K2-Instruct --trust-remote-code --tokenizer-mode auto
        --tensor-parallel-size 8 --pipeline-parallel-size 2 --dtype bfloat16 --quantization fp8 --max-model-len 2048
        --max-num-seqs 1 --max-num-batched-tokens 1024 --enable-chunked-prefill --disable-log-requests
        --kv-cache-dtype fp8 -dcp 8""",
    "1 DP16 EP, node 0": """vllm serve moonshotai/Kimi-K2-Instruct --port 8000 --served-model-name kimi-k2
        --trust-remote-code --data-parallel-size 16 --data-parallel-size-local 8 --data-parallel-address $MASTER_IP
        --data-parallel-rpc-port $PORT --enable-expert-parallel --max-num-batched-tokens 8192 --max-num-seqs 256
        --gpu-memory-utilization 0.85 --enable-auto-tool-choice --tool-call-parser kimi_k2""",
    "1 DP16 EP, node 1": """vllm serve moonshotai/Kimi-K2-Instruct --headless --data-parallel-start-rank 8 --port 8000
        --served-model-name kimi-k2 --trust-remote-code --data-parallel-size 16 --data-parallel-size-local 8
        --data-parallel-address $MASTER_IP --data-parallel-rpc-port $PORT --enable-expert-parallel
        --max-num-batched-tokens 8192 --max-num-seqs 256 --gpu-memory-utilization 0.85 --enable-auto-tool-choice
        --tool-call-parser kimi_k2""",
    "1 in the text": """vllm serve moonshotai/Kimi-K2-Instruct
        --max-model-len=65536 --max-num-batched-tokens=32768 --gpu-memory-utilization=0.95""",
    "1 ROCm": """vllm serve moonshotai/Kimi-K2-Instruct
        --tensor-parallel-size 8 --no-enable-prefix-caching --trust-remote-code""",
    "1 bench 16xH800": """vllm bench serve --model moonshotai/Kimi-K2-Instruct --dataset-name random
        --random-input-len 1000 --random-output-len 512 --request-rate 1.0 --num-prompts 8 --ignore-eos
        --trust-remote-code""",
    "1 bench 16xH200": """vllm bench serve --model moonshotai/Kimi-K2-Instruct --dataset-name random
        --random-input-len 8000 --random-output-len 1000 --request-rate 10000 --num-prompts 16 --ignore-eos
        --trust-remote-code""",
    "2 flags of the Ascend server": """vllm serve moonshotai/Kimi-K2-Thinking
        --tensor-parallel-size 16 --max-model-len 8192 --max-num-batched-tokens 8192 --max-num-seqs 12
        --gpu-memory-utilization 0.9 --trust-remote-code --enable-expert-parallel --no-enable-prefix-caching""",
    "2 in the text": """vllm serve moonshotai/Kimi-K2-Thinking
        --served-model-name Kimi-K2-Thinking --decode-context-parallel-size 16""",
    "2 bench": """vllm bench serve --backend openai-chat --model moonshotai/Kimi-K2-Thinking
        --endpoint /v1/chat/completions --dataset-name random --random-input-len 1024 --random-output-len 1024
        --num-prompts 10 --request-rate 1""",
    "2 bench sweep": """vllm bench serve --backend openai-chat --model "$MODEL_NAME" --endpoint /v1/chat/completions
        --dataset-name random --random-input-len "$INPUT_LEN" --random-output-len "$OUTPUT_LEN"
        --num-prompts "$NUM_PROMPTS" --request-rate inf --max-concurrency "$CONCURRENCY" """,
    "3 TP8": """vllm serve moonshotai/Kimi-K2-Thinking --tensor-parallel-size 8 --enable-auto-tool-choice
        --tool-call-parser kimi_k2 --reasoning-parser kimi_k2 --trust-remote-code""",
    "3 TP8 DCP8": """vllm serve moonshotai/Kimi-K2-Thinking --tensor-parallel-size 8 --decode-context-parallel-size 8
        --enable-auto-tool-choice --tool-call-parser kimi_k2 --reasoning-parser kimi_k2 --trust-remote-code""",
    "3 ROCm": """vllm serve moonshotai/Kimi-K2-Thinking --tensor-parallel-size 8 --no-enable-prefix-caching
        --enable-auto-tool-choice --tool-call-parser kimi_k2 --reasoning-parser kimi_k2 --trust-remote-code""",
    "3 bench": """vllm bench serve --model moonshotai/Kimi-K2-Thinking --dataset-name random --random-input 8000
        --random-output 4000 --request-rate 100 --num-prompt 1000 --trust-remote-code""",
    "3 bench ROCm": """vllm bench serve --model "moonshotai/Kimi-K2-Thinking" --dataset-name random
        --random-input-len 8192 --random-output-len 1024 --request-rate 10000 --num-prompts 16 --ignore-eos
        --trust-remote-code""",
    "4 TP16": """vllm serve $MODEL_PATH --port 8000 --served-model-name kimi-k2 --trust-remote-code
        --tensor-parallel-size 16 --enable-auto-tool-choice --tool-call-parser kimi_k2""",
    "4 DP16 EP, node 0": """vllm serve $MODEL_PATH --port 8000 --served-model-name kimi-k2 --trust-remote-code
        --data-parallel-size 16 --data-parallel-size-local 8 --data-parallel-address $MASTER_IP
        --data-parallel-rpc-port $PORT --enable-expert-parallel --max-num-batched-tokens 8192 --max-num-seqs 256
        --gpu-memory-utilization 0.85 --enable-auto-tool-choice --tool-call-parser kimi_k2""",
    "4 DP16 EP, node 1": """vllm serve $MODEL_PATH --headless --data-parallel-start-rank 8 --port 8000
        --served-model-name kimi-k2 --trust-remote-code --data-parallel-size 16 --data-parallel-size-local 8
        --data-parallel-address $MASTER_IP --data-parallel-rpc-port $PORT --enable-expert-parallel
        --max-num-batched-tokens 8192 --max-num-seqs 256 --gpu-memory-utilization 0.85 --enable-auto-tool-choice
        --tool-call-parser kimi_k2""",
}
MADE_UP = "control: a flag that nobody has"
UNPAIRED = "control: tool choice without a parser"
CONTROLS = {
    MADE_UP: "vllm serve MODEL --tensor-parallel-size 8 --moonshot-speed",
    UNPAIRED: "vllm serve MODEL --enable-auto-tool-choice",
}


@dataclass(frozen=True)
class Expected:
    """By hand. `values` holds every flag of the command that is not refused, under the name that vLLM gives it."""

    values: dict[str, Any]
    refused: tuple[str, ...] = ()
    prefixes: dict[str, str] = field(default_factory=dict)


TOOLS = {"enable_auto_tool_choice": True, "tool_call_parser": "kimi_k2"}
DP16 = {
    "port": 8000,
    "served_model_name": ["kimi-k2"],
    "trust_remote_code": True,
    "data_parallel_size": 16,
    "data_parallel_size_local": 8,
    "data_parallel_address": "10.0.0.1",
    "data_parallel_rpc_port": 13345,
    "enable_expert_parallel": True,
    "max_num_batched_tokens": 8192,
    "max_num_seqs": 256,
    "gpu_memory_utilization": 0.85,
    **TOOLS,
}
NODE_0 = {**DP16, "headless": False, "data_parallel_start_rank": None}
NODE_1 = {**DP16, "headless": True, "data_parallel_start_rank": 8}
THINKING = {"tensor_parallel_size": 8, "reasoning_parser": "kimi_k2", "trust_remote_code": True, **TOOLS}


def bench(model: str, inputs: int, outputs: int, rate: float, prompts: int, **more: Any) -> dict[str, Any]:
    return {
        "model": model,
        "dataset_name": "random",
        "random_input_len": inputs,
        "random_output_len": outputs,
        "request_rate": rate,
        "num_prompts": prompts,
        **more,
    }


K2_INSTRUCT, K2_THINKING = "moonshotai/Kimi-K2-Instruct", "moonshotai/Kimi-K2-Thinking"
CHAT = {"backend": "openai-chat", "endpoint": "/v1/chat/completions"}
RAW = {"ignore_eos": True, "trust_remote_code": True}
EXPECTED = {
    "0 parameters of the launch script": Expected(
        {
            "tensor_parallel_size": 8,
            "max_model_len": 262144,
            "max_num_batched_tokens": 32768,
            "max_num_seqs": 4,
            "gpu_memory_utilization": 0.95,
            "enable_chunked_prefill": True,
            "enable_prefix_caching": True,
            "load_format": "compressed-tensors",
        }
    ),
    "0 working configuration": Expected(
        {
            "max_model_len": 12288,
            "max_num_batched_tokens": 4096,
            "max_num_seqs": 1,
            "gpu_memory_utilization": 0.95,
            "enforce_eager": True,
        }
    ),
    "0 in the text": Expected({"reasoning_parser": "kimi_k2", "gpu_memory_utilization": 0.9, "max_model_len": 131072}),
    "1 TP8 PP2": Expected(
        {
            "trust_remote_code": True,
            "tokenizer_mode": "auto",
            "tensor_parallel_size": 8,
            "pipeline_parallel_size": 2,
            "dtype": "bfloat16",
            "quantization": "fp8",
            "max_model_len": 2048,
            "max_num_seqs": 1,
            "max_num_batched_tokens": 1024,
            "enable_chunked_prefill": True,
            "kv_cache_dtype": "fp8",
            "decode_context_parallel_size": 8,
        },
        refused=("--disable-log-requests",),
    ),
    "1 DP16 EP, node 0": Expected(NODE_0),
    "1 DP16 EP, node 1": Expected(NODE_1),
    "1 in the text": Expected(
        {"max_model_len": 65536, "max_num_batched_tokens": 32768, "gpu_memory_utilization": 0.95}
    ),
    "1 ROCm": Expected({"tensor_parallel_size": 8, "enable_prefix_caching": False, "trust_remote_code": True}),
    "1 bench 16xH800": Expected(bench(K2_INSTRUCT, 1000, 512, 1.0, 8, **RAW)),
    "1 bench 16xH200": Expected(bench(K2_INSTRUCT, 8000, 1000, 10000.0, 16, **RAW)),
    "2 flags of the Ascend server": Expected(
        {
            "tensor_parallel_size": 16,
            "max_model_len": 8192,
            "max_num_batched_tokens": 8192,
            "max_num_seqs": 12,
            "gpu_memory_utilization": 0.9,
            "trust_remote_code": True,
            "enable_expert_parallel": True,
            "enable_prefix_caching": False,
        }
    ),
    "2 in the text": Expected({"served_model_name": ["Kimi-K2-Thinking"], "decode_context_parallel_size": 16}),
    "2 bench": Expected(bench(K2_THINKING, 1024, 1024, 1.0, 10, **CHAT)),
    "2 bench sweep": Expected(bench(K2_THINKING, 1024, 1024, float("inf"), 80, max_concurrency=8, **CHAT)),
    "3 TP8": Expected({**THINKING, "decode_context_parallel_size": 1}),
    "3 TP8 DCP8": Expected({**THINKING, "decode_context_parallel_size": 8}),
    "3 ROCm": Expected({**THINKING, "enable_prefix_caching": False}),
    "3 bench": Expected(
        bench(K2_THINKING, 8000, 4000, 100.0, 1000, trust_remote_code=True, ignore_eos=False),
        prefixes={
            "--random-input": "--random-input-len",
            "--random-output": "--random-output-len",
            "--num-prompt": "--num-prompts",
        },
    ),
    "3 bench ROCm": Expected(bench(K2_THINKING, 8192, 1024, 10000.0, 16, **RAW)),
    "4 TP16": Expected(
        {
            "port": 8000,
            "served_model_name": ["kimi-k2"],
            "trust_remote_code": True,
            "tensor_parallel_size": 16,
            **TOOLS,
        }
    ),
    "4 DP16 EP, node 0": Expected(NODE_0),
    "4 DP16 EP, node 1": Expected(NODE_1),
}

# Runs in the engine's environment: {name: argv} in, what the parser makes of each out. One import for all (11 s).
ASK_VLLM = r"""
import contextlib, io, json, sys

jobs = json.load(sys.stdin)
answer_to, sys.stdout = sys.stdout, sys.stderr
sys.argv = ["vllm", "bench"]  # vLLM builds the parsers below `bench` only when it is asked for
import vllm.entrypoints.cli.benchmark.main as bench
import vllm.entrypoints.cli.serve as serve
from vllm import envs
from vllm.model_executor.model_loader import _LOAD_FORMAT_TO_MODEL_LOADER
from vllm.reasoning import ReasoningParserManager
from vllm.tool_parsers import ToolParserManager
from vllm.utils.argparse_utils import FlexibleArgumentParser

parser = FlexibleArgumentParser(prog="vllm")
subparsers = parser.add_subparsers(dest="subparser")
commands = {}
for command in serve.cmd_init() + bench.cmd_init():
    command.subparser_init(subparsers)
    commands[command.name] = command


def plain(value):
    return value is None or isinstance(value, (bool, int, float, str, list))


def options_of(argv):
    chosen = subparsers.choices[argv[0]]
    for action in chosen._actions:
        if argv[0] == "bench" and action.dest == "bench_type":
            chosen = action.choices[argv[1]]
    return chosen._option_string_actions


def parse(argv):
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
            args = parser.parse_args(argv)
            commands[args.subparser].validate(args)
        return args, ""
    except SystemExit:
        return None, said.getvalue().strip().splitlines()[-1]
    except (TypeError, ValueError) as error:
        return None, str(error)


def ask(argv):
    args, error = parse(argv)
    refused = error.partition("unrecognized arguments: ")[2].split()
    rest = [word for word in argv if word not in refused]
    if refused:
        args, error = parse(rest)
    options = options_of(rest)
    flags = [word.partition("=")[0] for word in rest if word.startswith("-")]
    found = {flag: [flag] if flag in options else [o for o in options if o.startswith(flag)] for flag in flags}
    return {
        "refused": refused,
        "error": error,
        "prefixes": {flag: full for flag, full in found.items() if full != [flag]},
        "names": sorted({options[full].dest for every in found.values() for full in every}),
        "values": {key: value for key, value in vars(args).items() if plain(value)} if args else {},
    }


asked = {name: ask(argv) for name, argv in jobs.items()}
answer = {
    "version": __import__("vllm").__version__,
    "asked": asked,
    "load_formats": sorted(_LOAD_FORMAT_TO_MODEL_LOADER),
    "env": sorted(envs.environment_variables),
    "tool_parsers": sorted(ToolParserManager.list_registered()),
    "reasoning_parsers": sorted(ReasoningParserManager.list_registered()),
}
print(json.dumps(answer, default=repr), file=answer_to)
"""


def argv_of(command: str) -> list[str]:
    words = shlex.split(Template(command).substitute(VARIABLES))
    assert words[0] == "vllm"
    return words[1:]


@pytest.fixture(scope="module")
def vllm(engine_python: Path) -> Any:
    """vLLM's answers to all the command lines, from one process."""
    jobs = {name: argv_of(command) for name, command in {**COMMANDS, **CONTROLS}.items()}
    done = subprocess.run(
        (str(engine_python), "-c", ASK_VLLM),
        input=json.dumps(jobs),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, "PYTHONPATH": "", "HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1", "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def test_version(vllm: Any) -> None:
    """What is expected here was written for this version; another one has to be read again."""
    assert vllm["version"].startswith("0.32.0")


@pytest.mark.parametrize("name", COMMANDS)
def test_command_line(vllm: Any, name: str) -> None:
    """Each flag arrives with its value; what is refused, or is only the prefix of a flag, is exactly as expected."""
    answer, expected = vllm["asked"][name], EXPECTED[name]
    assert answer["error"] == ""
    assert {key: answer["values"].get(key, "absent") for key in expected.values} == expected.values
    assert set(answer["names"]) <= set(expected.values), "a flag of the command has no expected value"
    assert tuple(answer["refused"]) == expected.refused
    assert answer["prefixes"] == {short: [long] for short, long in expected.prefixes.items()}


def test_the_parser_can_refuse(vllm: Any) -> None:
    """The controls: this test could not fail if everything were let through."""
    assert vllm["asked"][MADE_UP]["refused"] == ["--moonshot-speed"]
    assert "requires --tool-call-parser" in vllm["asked"][UNPAIRED]["error"]


def test_compressed_tensors_is_no_load_format(vllm: Any) -> None:
    """Seed 0's flag passes the parser and fails later: no loader has that name."""
    assert vllm["asked"]["0 parameters of the launch script"]["values"]["load_format"] == "compressed-tensors"
    assert "compressed-tensors" not in vllm["load_formats"]
    assert {"auto", "safetensors"} <= set(vllm["load_formats"])


def test_kimi_k2_names_both_parsers(vllm: Any) -> None:
    """The parser lets any name of a tool parser through, so the engine's own register is asked."""
    assert "kimi_k2" in vllm["tool_parsers"]
    assert "kimi_k2" in vllm["reasoning_parsers"]


def test_dead_environment_variables(vllm: Any) -> None:
    """Set by seed 3 for ROCm; vLLM no longer declares them."""
    assert not {"VLLM_USE_V1", "VLLM_USE_TRITON_FLASH_ATTN"} & set(vllm["env"])
    assert "VLLM_HOST_IP" in vllm["env"]
