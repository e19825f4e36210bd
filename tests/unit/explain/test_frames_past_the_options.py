# ruff: noqa: E501 - lines of tracebacks are as long as they are
"""A traceback of what is called with the parsed command line shows that its options were taken; one of the parser, of
an import or of other code does not. vLLM has --swap-space through 0.17.1, SGLang --cuda-graph-max-bs through 0.5.19."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask_one

VLLM = "vllm serve moonshotai/Kimi-K2-Instruct -tp 8 --swap-space 4"
SGLANG = "python3 -m sglang.launch_server --model-path Qwen/Qwen3-32B --tp 4 --cuda-graph-max-bs 64"
PLACE = '  File "/usr/lib/python3.12/site-packages/'


def version_of(serve: str, trace: str) -> str:
    return ask_one(f"```\n{serve}\n```\n\n```\nTraceback (most recent call last):\n{trace}\n```\n").version


@pytest.mark.parametrize(
    "trace",
    [
        f'{PLACE}vllm/entrypoints/openai/api_server.py", line 1102, in run_server',
        f'{PLACE}vllm/entrypoints/openai/api_server.py", line 77, in build_async_engine_client_from_engine_args',
        f'{PLACE}vllm/entrypoints/cli/serve.py", line 42, in cmd',
        f'[rank0]: {PLACE}vllm/entrypoints/openai/api_server.py", line 12, in <module>\n[rank0]:     uvloop.run(run_server(args))',
        f'{PLACE}vllm/entrypoints/cli/main.py", line 73, in main\n    args.dispatch_function(args)',
    ],
)
def test_frames_of_the_server_show_what_was_taken(trace: str) -> None:
    assert version_of(VLLM, trace) == "0.17.1"


def test_the_server_of_sglang_is_called_with_what_was_read() -> None:
    trace = f'{PLACE}sglang/launch_server.py", line 30, in <module>\n    run_server(server_args)'
    assert version_of(SGLANG, trace) == "0.5.19"


@pytest.mark.parametrize(
    "trace",
    [
        f'{PLACE}vllm/entrypoints/openai/api_server.py", line 12, in <module>\n    from vllm.config import VllmConfig',
        f'{PLACE}vllm/entrypoints/cli/main.py", line 60, in main\n    args = parser.parse_args()',
        f'{PLACE}vllm/entrypoints/openai/api_server.py", line 1102, in run_server\nvllm: error: unrecognized arguments: --swap-space',
    ],
)
def test_other_frames_do_not(trace: str) -> None:
    assert version_of(VLLM, trace) not in ("0.17.1",)


def test_the_parser_of_sglang_is_not_what_it_calls() -> None:
    trace = (
        f'{PLACE}sglang/launch_server.py", line 28, in <module>\n    server_args = prepare_server_args(sys.argv[1:])'
    )
    assert version_of(SGLANG, trace) != "0.5.19"
